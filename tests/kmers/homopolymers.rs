//! `--hpc`: tables of homopolymer-compressed reads.

use merganser_test_support::Dir;
use merganser_test_support::oracle::{self, Rule};
use merganser_test_support::reads::{Random, Record, fasta};

/// Returns sequences with homopolymers and with letters other than bases.
fn sample(random: &mut Random, records: usize, runs: usize) -> Vec<Record> {
    let mut record = || {
        let mut sequence = Vec::new();
        for _ in 0..runs {
            let letter = b"ACGTACGTACGTACGTacgtN"[random.below(21)];
            sequence.resize(sequence.len() + 1 + random.below(4) * random.below(3), letter);
        }
        Record { sequence, quality: None }
    };
    (0..records).map(|_| record()).collect()
}

/// Returns the records with each homopolymer reduced to one letter, by the definition.
fn compressed(records: &[Record]) -> Vec<Record> {
    let left = |record: &Record| {
        let mut sequence = record.sequence.to_ascii_uppercase();
        sequence.dedup_by(|one, other| one == other && *one != b'N');
        Record { sequence, quality: None }
    };
    records.iter().map(left).collect()
}

fn text(records: &[Record], k: usize) -> String {
    let counts = oracle::count(records, Rule::new(k, true));
    counts.iter().map(|(kmer, n)| format!("{}\t{n}\n", String::from_utf8_lossy(kmer))).collect()
}

#[test]
fn tables_are_those_of_compressed_reads() {
    let dir = Dir::new();
    let mut random = Random(11);
    // Sequences longer than a chunk, and short ones.
    let records = [sample(&mut random, 3, 400_000), sample(&mut random, 500, 60)].concat();
    dir.write("reads.fa", fasta(&records, 70, "\n"));
    let left = compressed(&records);
    for k in [7, 21, 41] {
        for limits in ["-t 1", "-t 3", "-t 2 --memory 100M"] {
            dir.run(&format!("count -q --hpc -k {k} --min-count 1 {limits} reads.fa -o t.mgk"))
                .ok();
            assert!(dir.run("kmers dump -q t.mgk").ok() == text(&left, k), "k {k} {limits}");
        }
    }
    assert!(dir.run("kmers info t.mgk").ok().contains("hpc             yes"));
}

#[test]
fn reads_are_held_against_them_compressed() {
    let dir = Dir::new();
    let records = sample(&mut Random(12), 200, 60);
    dir.write("reads.fa", fasta(&records, 70, "\n"));
    dir.write("left.fa", fasta(&compressed(&records), 70, "\n"));
    dir.run("count -q --hpc -k 15 --min-count 1 reads.fa -o hpc.mgk").ok();
    dir.run("count -q -k 15 --min-count 1 left.fa -o left.mgk").ok();
    let profile = dir.run("kmers profile -q hpc.mgk reads.fa").ok();
    assert!(profile == dir.run("kmers profile -q left.mgk left.fa").ok());
    let kept = dir.run("kmers filter-reads -q hpc.mgk --min-hits 30 -o - reads.fa").ok();
    let wanted = dir.run("kmers filter-reads -q left.mgk --min-hits 30 -o - left.fa").ok();
    let names = |text: &str| -> Vec<String> {
        text.lines().filter(|line| line.starts_with('>')).map(str::to_owned).collect()
    };
    assert_eq!(names(&kept), names(&wanted));
    assert!(!kept.is_empty());
    // Other formats do not store whether they are compressed.
    dir.run("kmers convert -q hpc.mgk --format tsv -o hpc.tsv").ok();
    assert!(dir.run("kmers profile -q --hpc hpc.tsv reads.fa").ok() == profile);
    assert_eq!(dir.run("kmers subtract -q --hpc hpc.tsv hpc.mgk --format tsv -o -").ok(), "");
}

/// Cuts and masks are where the bases of the original read are.
#[test]
fn reads_are_cut_and_masked_at_their_own_bases() {
    let dir = Dir::new();
    dir.write("s.fa", ">a\nACCGTTAGGCATTC\n");
    dir.run("count -q -k 4 --hpc --min-count 1 -o h.mgk s.fa").ok();
    let read = |letters: &str| format!("@r\n{letters}\n+\n{}\n", "I".repeat(letters.len()));
    // ACGTAGCATC has only k-mers of the table, ACGTAGCGTC has none after the fourth.
    dir.write("all.fq", read("ACCGTTTTAGGCATTC"));
    dir.write("some.fq", read("ACCGTTTTAGGCGTTC"));
    for (args, letters) in [
        ("--trim h.mgk some.fq", "ACCGTTTTAGGC"),
        ("--trim h.mgk all.fq", "ACCGTTTTAGGCATTC"),
        ("--mask soft h.mgk some.fq", "ACCGTTTTaggcgttc"),
        ("--mask hard h.mgk some.fq", "ACCGTTTTNNNNNNNN"),
        ("--mask hard --invert h.mgk all.fq", "NNNNNNNNNNNNNNNN"),
        ("--mask soft --invert h.mgk some.fq", "accgttttaggcGTTC"),
    ] {
        assert_eq!(dir.run(&format!("kmers filter-reads -q {args}")).ok(), read(letters), "{args}");
    }
}

#[test]
fn they_do_not_go_with_others() {
    let dir = Dir::new();
    dir.write("reads.fa", fasta(&sample(&mut Random(13), 20, 60), 70, "\n"));
    dir.run("count -q --hpc -k 15 --min-count 1 reads.fa -o hpc.mgk").ok();
    dir.run("count -q -k 15 --min-count 1 reads.fa -o plain.mgk").ok();
    let error = dir.run("kmers union -q hpc.mgk plain.mgk -o u.mgk").fails(1);
    assert!(error.contains("homopolymer-compressed"), "{error}");
    let error = dir.run("kmers profile -q --hpc plain.mgk reads.fa").fails(1);
    assert!(error.contains("leave --hpc out"), "{error}");
    let error = dir.run("kmers query -q hpc.mgk ACGTAACGTACGTAC").fails(1);
    assert!(error.contains("equal neighbouring bases"), "{error}");
    let error = dir.run("kmers qv -q --hpc -o q plain.mgk reads.fa").fails(1);
    assert!(error.contains("--hpc"), "{error}");
    // Older versions refuse the table as a newer format.
    assert_eq!((dir.read("hpc.mgk")[8], dir.read("plain.mgk")[8]), (2, 1));
}

#[test]
fn assemblies_are_judged_where_their_bases_are() {
    let dir = Dir::new();
    let mut random = Random(14);
    let genome = sample(&mut random, 1, 3000).remove(0).sequence;
    let genome: Vec<u8> = genome.to_ascii_uppercase().into_iter().filter(|&l| l != b'N').collect();
    let mut assembly = genome.clone();
    // An additional base in a homopolymer, which compressed k-mers do not see, and a wrong base.
    assembly.insert(500, assembly[500]);
    let at = (1000..1100)
        .find(|&at| genome[at - 1..at + 2].windows(2).all(|two| two[0] != two[1]))
        .unwrap();
    let other = b"ACGT".iter().find(|base| !genome[at - 1..at + 2].contains(base)).unwrap();
    assembly[at + 1] = *other;
    let record = |sequence: &[u8]| Record { sequence: sequence.to_vec(), quality: None };
    dir.write("reads.fa", fasta(&[record(&genome)], 70, "\n").repeat(6));
    dir.write("asm.fa", fasta(&[record(&assembly)], 70, "\n"));
    dir.run("kmers qv -q --no-plots --hpc -k 15 -o q reads.fa asm.fa").ok();
    let qv = String::from_utf8(dir.read("q.qv")).unwrap();
    assert!(qv.starts_with("asm\t15\t"), "{qv}");
    // From the first run of the first k-mer with the wrong base to the last run of the last such k-mer.
    let begins = |at: usize| at == 0 || assembly[at - 1] != assembly[at];
    let start = (0..=at + 1).rev().filter(|&at| begins(at)).nth(14).unwrap();
    let end = (at + 2..assembly.len()).filter(|&at| begins(at)).nth(14).unwrap();
    let bed = String::from_utf8(dir.read("q.asm_only.bed")).unwrap();
    let fields: Vec<&str> = bed.trim().split('\t').collect();
    assert_eq!(fields[1..], [start.to_string(), end.to_string()], "{bed}");
    assert_eq!(bed.lines().count(), 1);
    dir.run("count -q --hpc -k 15 --min-count 1 reads.fa -o reads.mgk").ok();
    dir.run("kmers qv -q --no-plots -o t reads.mgk asm.fa").ok();
    assert_eq!(dir.read("t.qv"), dir.read("q.qv"));
}
