//! `deplete filter --mask`: the host's stretches are masked, and no read is removed.

use std::collections::BTreeSet;

use merganser_deplete::Params;
use merganser_test_support::Dir;
use merganser_test_support::oracles::deplete::naive;
use merganser_test_support::reads::Random;

/// Returns the reads with the windows masked whose minimizer the host has, if the host has two minimizers of the read or
/// of its mates.
fn masked(known: &BTreeSet<u128>, reads: &[Vec<u8>], mask: fn(u8) -> u8) -> Vec<Vec<u8>> {
    let params = Params::default();
    let found = reads.iter().flat_map(|read| naive::minimizers(params, read));
    let found: BTreeSet<u128> = found.filter(|value| known.contains(value)).collect();
    if found.len() < 2 {
        return reads.to_vec();
    }
    let one = |read: &Vec<u8>| {
        let mut letters = read.clone();
        for (at, window) in read.windows(params.bases()).enumerate() {
            if naive::minimizers(params, window).iter().any(|value| known.contains(value)) {
                let end = at + params.bases();
                letters[at..end]
                    .copy_from_slice(&read[at..end].iter().map(|&l| mask(l)).collect::<Vec<_>>());
            }
        }
        letters
    };
    reads.iter().map(one).collect()
}

fn fastq(reads: &[Vec<u8>]) -> String {
    let one = |(number, read): (usize, &Vec<u8>)| {
        let bases = String::from_utf8_lossy(read);
        format!("@{}\n{bases}\n+\n{}\n", number / 2, "J".repeat(read.len()))
    };
    reads.iter().enumerate().map(one).collect()
}

#[test]
fn stretches_of_the_host_are_masked() {
    let dir = Dir::new();
    let mut random = Random(3);
    let host = random.bases(6_000);
    // Pairs whose first mate is partly the host's, and of which every third one is not at all.
    let mut reads = Vec::new();
    for number in 0..90 {
        let (from, own) = (random.below(host.len() - 150), 30 + random.below(120));
        let own = if number % 3 == 0 { &[] } else { &host[from..from + own] };
        let before = random.below(60);
        let mut first = [random.bases(before), own.to_vec(), random.bases(40)].concat();
        if number % 5 == 0 {
            let at = random.below(first.len());
            first[at] = b'N';
        }
        reads.push(first);
        reads.push(random.bases(80));
    }
    dir.write("host.fa", format!(">h\n{}\n", String::from_utf8_lossy(&host)));
    dir.write("reads.fq", fastq(&reads));
    dir.run("deplete index -q host.fa -o host.mgd").ok();
    let known = naive::minimizers(Params::default(), &host).into_iter().collect();
    for (name, mask) in
        [("n", (|_| b'N') as fn(u8) -> u8), ("lower", |letter: u8| letter.to_ascii_lowercase())]
    {
        let run = format!("deplete filter host.mgd reads.fq -o o.fq --mask {name}");
        let single: Vec<Vec<u8>> = reads
            .iter()
            .flat_map(|read| masked(&known, std::slice::from_ref(read), mask))
            .collect();
        assert_ne!(single, reads);
        dir.run(&run).ok();
        assert_eq!(String::from_utf8(dir.read("o.fq")).unwrap(), fastq(&single));
        let pairs: Vec<Vec<u8>> =
            reads.chunks(2).flat_map(|pair| masked(&known, pair, mask)).collect();
        let ran = dir.run(&format!("{run} --interleaved --threads 3"));
        let changed = |(one, other): &(&Vec<u8>, &Vec<u8>)| one != other;
        let count = reads.iter().zip(&pairs).filter(changed).count();
        assert!(
            ran.stderr.contains(&format!(" bases of {count} reads were masked")),
            "{}",
            ran.stderr
        );
        ran.ok();
        assert_eq!(String::from_utf8(dir.read("o.fq")).unwrap(), fastq(&pairs));
    }
    dir.run("deplete filter host.mgd reads.fq -o o.bam --mask n").fails(2);
    assert_eq!(dir.run("deplete filter host.mgd reads.fq --mask n --keep").code, Some(2));
}
