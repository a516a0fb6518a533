//! `deplete filter --confirm`: no kept read is near the host's haplotypes, which an independent script checks.

use merganser_test_support::Dir;
use merganser_test_support::oracle::complement;
use merganser_test_support::reads::Random;
use merganser_test_support::tools::{installed, shell};
use serde_json::Value;

const EDITS: usize = 3;

/// Returns bases with `count` edits: substitutions, insertions and deletions at places far apart.
fn edited(random: &mut Random, bases: &[u8], count: usize) -> Vec<u8> {
    let mut read = bases.to_vec();
    for edit in 0..count {
        let at = (edit + 1) * read.len() / (count + 1);
        let other = b"ACGT".iter().copied().find(|base| !read[at - 1..=at + 1].contains(base));
        match (random.below(3), other) {
            (0, Some(other)) => read.insert(at, other),
            (1, _) if read[at - 1] != read[at] && read[at + 1] != read[at] => drop(read.remove(at)),
            (_, other) => read[at] = other.unwrap_or(b'N'),
        }
    }
    read
}

/// Writes a set that knows nothing of the host (`none.mgd`), the host's haplotypes (`haplotypes.fa`, `.mgi`), and reads
/// (`reads.fq`): of the host with each number of edits up to 6, on both strands, and others.
fn write(dir: &Dir) {
    let mut random = Random(5);
    let haplotypes: Vec<Vec<u8>> = [4_000, 2_500].map(|bases| random.bases(bases)).to_vec();
    let fasta = haplotypes.iter().zip(1..).map(|(bases, number)| {
        format!(">h{number} haplotype\n{}\n", String::from_utf8_lossy(bases))
    });
    dir.write("haplotypes.fa", fasta.collect::<String>());
    dir.write("other.fa", format!(">o\n{}\n", String::from_utf8(random.bases(300)).unwrap()));
    dir.run("index -q haplotypes.fa -o haplotypes.mgi").ok();
    dir.run("deplete index -q other.fa -o none.mgd").ok();
    let mut reads = String::new();
    let mut put = |name: String, bases: Vec<u8>| {
        let bases = String::from_utf8(bases).unwrap();
        reads.push_str(&format!("@{name}\n{bases}\n+\n{}\n", "I".repeat(bases.len())));
    };
    for number in 0..140 {
        let (edits, haplotype) = (number % 7, &haplotypes[number % 2]);
        let from = random.below(haplotype.len() - 110);
        let bases = edited(&mut random, &haplotype[from..from + 110], edits);
        let is_reverse = random.below(2) == 0;
        put(format!("e{edits}.{number}"), if is_reverse { complement(&bases) } else { bases });
        put(format!("other.{number}"), random.bases(100));
    }
    dir.write("reads.fq", reads);
}

fn text(dir: &Dir, name: &str) -> String {
    String::from_utf8(dir.read(name)).unwrap()
}

fn names(fastq: &str) -> Vec<&str> {
    fastq.lines().step_by(4).map(|line| &line[1..]).collect()
}

fn said_by(dir: &Dir, command: &str) -> String {
    String::from_utf8(shell(&dir.path("."), command)).unwrap()
}

const CONFIRM: &str = "deplete filter none.mgd --confirm haplotypes.mgi -e 3 --certificate c.json";

#[test]
fn planted_reads_decide_and_the_certificate_holds() {
    let dir = Dir::new();
    write(&dir);
    dir.run(&format!("{CONFIRM} reads.fq -o kept.fq")).ok();
    let kept = text(&dir, "kept.fq");
    let kept = names(&kept);
    for edits in 0..7 {
        let count = kept.iter().filter(|name| name.starts_with(&format!("e{edits}."))).count();
        assert_eq!(count, if edits <= EDITS { 0 } else { 20 }, "{edits} edits");
    }
    assert_eq!(kept.iter().filter(|name| name.starts_with("other")).count(), 140);
    let certificate: Value = serde_json::from_str(&text(&dir, "c.json")).unwrap();
    assert_eq!(certificate["reads_removed_by_confirmation"], 80);
    assert_eq!(certificate["nearest_kept_edits"], 4);
    assert_eq!(
        certificate["kept_reads_by_edits"],
        serde_json::json!([{ "edits": 4, "reads": 20 }])
    );
    let contigs = certificate["removed_reads_by_contig"].as_array().unwrap();
    let reads: Vec<u64> = contigs.iter().map(|contig| contig["reads"].as_u64().unwrap()).collect();
    assert_eq!(reads, [40, 40]);
    // The same whatever the number of threads.
    let before = text(&dir, "c.json");
    dir.run(&format!("{CONFIRM} reads.fq -o kept.fq --threads 3")).ok();
    assert_eq!(text(&dir, "c.json"), before);
    if !installed(&["python3"]) {
        return;
    }
    let script =
        concat!(env!("CARGO_MANIFEST_DIR"), "/../../workflow/scripts/check_certificate.py");
    let check = format!("python3 {script} c.json haplotypes.fa");
    let said = said_by(&dir, &check);
    assert_eq!(said, "200 kept reads: none is within 3 edits; nearest: 4\n");
    // A read of the host that was put back is found.
    let all = text(&dir, "reads.fq");
    let first: Vec<&str> = all.lines().take(4).collect();
    dir.write("kept.fq", text(&dir, "kept.fq") + &first.join("\n") + "\n");
    let said = said_by(&dir, &format!("{check} 2>&1 || true"));
    assert!(said.contains("kept.fq: is not the file of the certificate"), "{said}");
    assert!(said.contains("1 kept reads are within 3 edits"), "{said}");
}

#[test]
fn mates_and_alignments_go_together() {
    let dir = Dir::new();
    write(&dir);
    let all = text(&dir, "reads.fq");
    let records: Vec<&str> = all.split_inclusive('\n').collect();
    let (mut ones, mut twos) = (String::new(), String::new());
    for (number, pair) in records.chunks(8).enumerate() {
        // The first mate is of the host, the second one is not.
        ones += &format!("@p{number}/1\n{}", pair[1..4].concat());
        twos += &format!("@p{number}/2\n{}", pair[5..8].concat());
    }
    dir.write("1.fq", ones);
    dir.write("2.fq", twos);
    dir.run(&format!("{CONFIRM} -1 1.fq -2 2.fq -o kept_#.fq")).ok();
    let kept: Vec<String> = [1, 2].map(|mate| text(&dir, &format!("kept_{mate}.fq"))).to_vec();
    let expected: Vec<String> =
        (0..140).filter(|number| number % 7 > EDITS).map(|number| format!("p{number}")).collect();
    for (mate, text) in kept.iter().enumerate() {
        let wanted: Vec<String> =
            expected.iter().map(|name| format!("{name}/{}", mate + 1)).collect();
        assert_eq!(names(text), wanted);
    }
    let certificate: Value = serde_json::from_str(&text(&dir, "c.json")).unwrap();
    assert_eq!(certificate["reads_removed_by_confirmation"], 160);
    dir.run(&format!("{CONFIRM} -1 1.fq -2 2.fq -o kept.sam")).ok();
    let sam = text(&dir, "kept.sam");
    let found: Vec<&str> = sam
        .lines()
        .filter(|line| !line.starts_with('@'))
        .filter_map(|line| line.split('\t').next())
        .collect();
    assert_eq!(found, expected.iter().flat_map(|name| [&name[..]; 2]).collect::<Vec<_>>());
    assert!(sam.contains(" --confirm haplotypes.mgi --edits 3 "), "{sam}");
    // Mates that do not lie side by side cannot be searched pair by pair.
    let (headers, records): (Vec<&str>, Vec<&str>) =
        sam.split_inclusive('\n').partition(|line| line.starts_with('@'));
    let halves =
        [0, 1].map(|half| records.iter().skip(half).step_by(2).copied().collect::<String>());
    let headers = headers.concat().replace("GO:query", "GO:none");
    dir.write("apart.sam", headers + &halves.concat());
    let error = dir.run(&format!("{CONFIRM} apart.sam -o out.sam")).fails(1);
    assert!(error.contains("samtools collate"), "{error}");
}

#[test]
fn what_cannot_be_confirmed_is_refused() {
    let dir = Dir::new();
    write(&dir);
    // Reads of no more bases than the search has edits align anywhere; empty ones hold nothing.
    dir.write("short.fq", "@four\nACGT\n+\nIIII\n@empty\n\n+\n\n");
    dir.run(&format!("{CONFIRM} short.fq -o kept.fq")).ok();
    assert_eq!(names(&text(&dir, "kept.fq")), ["empty"]);
    let certificate: Value = serde_json::from_str(&text(&dir, "c.json")).unwrap();
    assert_eq!(certificate["reads_too_short_to_tell"], 1);
    let long = format!("@a\nACGT\n+\nIIII\n@long\n{0}\n+\n{0}\n", "C".repeat(16_385));
    dir.write("long.fq", long);
    std::fs::remove_file(dir.path("kept.fq")).unwrap();
    let error = dir.run(&format!("{CONFIRM} long.fq -o kept.fq")).fails(1);
    assert!(
        error.contains("long.fq: record 2: 16385 bases: reads may have up to 16384"),
        "{error}"
    );
    assert!(!dir.path("kept.fq").exists());
    let ran = dir.run("deplete filter none.mgd --confirm haplotypes.mgi reads.fq");
    assert_eq!(ran.code, Some(2));
    assert!(ran.stderr.contains("--edits <N|N%>"), "{}", ran.stderr);
    let error =
        dir.run("deplete filter none.mgd --confirm haplotypes.mgi -e 99% reads.fq").fails(2);
    assert!(error.contains("0% to 98%"), "{error}");
    let error = dir.run("deplete filter none.mgd --confirm reads.fq -e 2 reads.fq").fails(1);
    assert!(error.contains("reads.fq"), "{error}");
}
