//! Counts of real reads and genomes are those of KMC and Jellyfish.

use std::path::PathBuf;

use merganser_test_support::tools::{installed, shell};
use merganser_test_support::{Dir, gunzip, shared, small_reads};

/// Values of k for the repository's reads, and whether KMC counts canonical k-mers. Jellyfish counts the others.
const EVERY_K: [(usize, bool); 10] = [
    (1, true),
    (7, false),
    (16, true),
    (21, false),
    (31, true),
    (32, true),
    (33, false),
    (64, true),
    (65, false),
    (128, true),
];

/// Returns a directory with the concatenated text of the files as `reads`.
fn with_reads(files: &[PathBuf]) -> Dir {
    let dir = Dir::new();
    dir.write("reads", files.iter().flat_map(|path| gunzip(path)).collect::<Vec<u8>>());
    dir
}

/// Counts with our program; returns sorted `KMER<TAB>COUNT` lines and the histogram.
fn ours(dir: &Dir, k: usize, strands: &str) -> (Vec<u8>, Vec<u8>) {
    let args =
        format!("count -k {k} {strands} --min-count 1 --format tsv -o - --histogram h reads");
    let text = dir.run(&args).ok().into_bytes();
    (text, dir.read("h"))
}

/// Returns the largest count of a histogram, which the other tools need as an option.
fn last_count(histogram: &[u8]) -> u32 {
    let text = String::from_utf8_lossy(histogram);
    let last = text.lines().last().and_then(|line| line.split('\t').next());
    last.map_or(1, |count| count.parse().unwrap())
}

fn equal_to_kmc(dir: &Dir, format: &str, k: usize, canonical: bool) {
    let (strands, b) = if canonical { ("", "") } else { ("--forward-only", "-b") };
    let (text, histogram) = ours(dir, k, strands);
    let (most, last) = (u32::MAX, last_count(&histogram));
    let p = if k < 9 { "-p5" } else { "" };
    shell(
        dir.root(),
        &format!(
            "mkdir -p tmp && kmc -hp -t2 -m2 -k{k} {p} -ci1 -cs{most} -cx{most} {b} {format} reads x tmp \
             && kmc_tools -hp transform x dump -s dump.txt && kmc_tools -hp transform x histogram hist.txt -cx{last}"
        ),
    );
    assert!(dir.read("dump.txt") == text, "k {k} {strands}: k-mers differ from KMC's");
    let theirs = String::from_utf8(dir.read("hist.txt")).unwrap();
    let theirs: String = theirs
        .lines()
        .filter(|line| !line.ends_with("\t0"))
        .map(|line| format!("{line}\n"))
        .collect();
    assert_eq!(theirs.into_bytes(), histogram, "k {k} {strands}: not KMC's histogram");
}

/// `--histogram-format jellyfish` has the bytes of `jellyfish histo`, with every command that writes histograms.
#[test]
fn histograms_in_jellyfishs_format_are_its_own() {
    if !installed(&["jellyfish"]) {
        return;
    }
    let dir = with_reads(&small_reads());
    // Counts above 10,000, which Jellyfish collects in its last row.
    let mut reads = dir.read("reads");
    reads.extend(b"@a\n");
    reads.extend(vec![b'A'; 30_000]);
    reads.extend(b"\n+\n");
    reads.extend(vec![b'I'; 30_000]);
    reads.extend(b"\n");
    dir.write("reads", reads);
    shell(dir.root(), "jellyfish count -m 21 -s 10M -C -o x.jf reads");
    let jellyfish = "--histogram-format jellyfish";
    for (theirs, count, table) in [
        ("", "", ""),
        ("-h 5", "--hist-max 5", "--max 5"),
        ("-h 10001", "--hist-max 10001", "--max 10001"),
        ("-h 100000", "--hist-max 100000", "--max 100000"),
    ] {
        let theirs = shell(dir.root(), &format!("jellyfish histo {theirs} x.jf"));
        let run = format!("count -k 21 --min-count 1 -o t.mgk --histogram h {count} {jellyfish}");
        dir.run(&format!("{run} -q reads")).ok();
        assert_eq!(String::from_utf8_lossy(&dir.read("h")), String::from_utf8_lossy(&theirs));
        let ran = dir.run(&format!("kmers histogram {table} {jellyfish} t.mgk"));
        assert_eq!(ran.stderr, "");
        assert!(ran.ok().into_bytes() == theirs, "{table}");
    }
    let theirs = shell(dir.root(), "jellyfish histo x.jf");
    let run = format!("kmers union t.mgk t.mgk:9.. --counts max --format none {jellyfish}");
    assert!(dir.run(&format!("{run} --histogram - -q")).ok().into_bytes() == theirs);
}

fn equal_to_jellyfish(dir: &Dir, k: usize, canonical: bool) {
    let (strands, c) = if canonical { ("", "-C") } else { ("--forward-only", "") };
    let (text, histogram) = ours(dir, k, strands);
    let last = last_count(&histogram);
    let dump = shell(
        dir.root(),
        &format!(
            "jellyfish count -t 2 -m {k} -s 4M {c} -o j reads && jellyfish dump -c -t j | LC_ALL=C sort \
             && jellyfish histo -h {last} j > hist.txt"
        ),
    );
    assert!(dump == text, "k {k} {strands}: k-mers differ from Jellyfish's");
    let theirs = String::from_utf8(dir.read("hist.txt")).unwrap().replace(' ', "\t");
    assert_eq!(theirs.into_bytes(), histogram, "k {k} {strands}: not Jellyfish's histogram");
}

#[test]
fn kmc_on_the_reads_of_the_repository() {
    if !installed(&["kmc", "kmc_tools"]) {
        return;
    }
    let dir = with_reads(&small_reads());
    for (k, canonical) in EVERY_K {
        equal_to_kmc(&dir, "-fq", k, canonical);
    }
}

#[test]
fn jellyfish_on_the_reads_of_the_repository() {
    if !installed(&["jellyfish"]) {
        return;
    }
    let dir = with_reads(&small_reads());
    for (k, canonical) in EVERY_K {
        equal_to_jellyfish(&dir, k, !canonical);
    }
}

#[test]
fn both_on_more_reads() {
    let names = ["ERR1438863_1.fastq.gz", "ont_wfmetagenomics_barcode03.fastq.gz"];
    let [Some(short), Some(long)] = names.map(|name| shared(&format!("reads/{name}"))) else {
        return;
    };
    if !installed(&["kmc", "kmc_tools", "jellyfish"]) {
        return;
    }
    for (reads, k) in [(&short, 31), (&long, 21)] {
        let dir = with_reads(std::slice::from_ref(reads));
        equal_to_kmc(&dir, "-fq", k, true);
        equal_to_jellyfish(&dir, k, true);
    }
}

#[test]
fn both_on_genomes() {
    let names = ["Blochmannia_vafer_BVAF", "SARS-CoV-2_Wuhan-Hu-1"];
    let [Some(bacterium), Some(virus)] =
        names.map(|name| shared(&format!("genomes/{name}.fna.gz")))
    else {
        return;
    };
    if !installed(&["kmc", "kmc_tools", "jellyfish"]) {
        return;
    }
    let dir = with_reads(&[bacterium, virus]);
    for k in [15, 28, 55] {
        equal_to_kmc(&dir, "-fm", k, true);
        equal_to_jellyfish(&dir, k, false);
    }
}

/// kmc_tools reads the databases that our program writes.
#[test]
fn kmc_tools_reads_our_database() {
    if !installed(&["kmc_tools"]) {
        return;
    }
    let dir = with_reads(&small_reads()[..1]);
    for (k, _) in EVERY_K {
        for options in ["--min-count 1", "--min-count 2 --forward-only", "--max-count 3"] {
            let args = format!("count -k {k} {options} reads");
            dir.run(&format!("{args} --format kmc -o x")).ok();
            let text = dir.run(&format!("{args} --format tsv -o -")).ok();
            dir.run(&format!("{args} -o t.mgk")).ok();
            let ours = dir.run("kmers histogram t.mgk -q").ok();
            let last = last_count(ours.as_bytes());
            shell(
                dir.root(),
                &format!("kmc_tools -hp transform x dump -s dump.txt histogram hist.txt -cx{last}"),
            );
            assert!(dir.read("dump.txt") == text.as_bytes(), "k {k} {options}");
            let theirs = String::from_utf8(dir.read("hist.txt")).unwrap();
            let theirs: Vec<&str> = theirs.lines().filter(|line| !line.ends_with("\t0")).collect();
            assert_eq!(theirs, ours.lines().collect::<Vec<_>>(), "k {k} {options}");
        }
    }
}
