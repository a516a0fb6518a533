//! Sorted records and their indexes, compared with samtools.

use std::fs;
use std::path::Path;

use super::{contigs, fasta, fastq, reads};
use merganser_test_support::reads::Random;
use merganser_test_support::tools::{installed, shell};
use merganser_test_support::{Dir, gunzip};

/// Returns a directory with a reference, single reads and pairs; some are random, many share their position.
pub(super) fn world(number: usize) -> Dir {
    let random = &mut Random(11);
    let contigs = contigs(random);
    let dir = Dir::new();
    dir.write("ref.fa", fasta(&contigs));
    let all = reads(random, &contigs, number, 4);
    dir.write("reads.fq", fastq(&all));
    let ends = |mate: usize| -> Vec<_> {
        let all = &all[..all.len() / 2];
        let pair = all.iter().enumerate().map(|(at, (name, letters))| {
            let cut = letters.len() * 2 / 3;
            let own = match mate {
                0 => letters[..cut].to_vec(),
                // Every tenth mate is random.
                _ if at % 10 == 0 => random_like(cut, at),
                _ => merganser_test_support::oracles::map::naive::reverse_complement(
                    &letters[letters.len() - cut..],
                ),
            };
            (name.clone(), own)
        });
        pair.collect()
    };
    dir.write("one.fq", fastq(&ends(0)));
    dir.write("two.fq", fastq(&ends(1)));
    dir.run("index ref.fa -o ref.mgi").ok();
    dir
}

fn random_like(len: usize, seed: usize) -> Vec<u8> {
    Random(seed as u64 + 1).bases(len)
}

pub(super) const PAIRS: &str = "map ref.mgi -1 one.fq -2 two.fq reads.fq -e 4 --device cpu";

/// Returns the output of samtools in the directory.
fn said(dir: &Dir, command: &str) -> String {
    String::from_utf8(shell(dir.root(), &format!("samtools {command} 2>> log"))).unwrap()
}

/// Returns the records of a file, without its header.
fn records(dir: &Dir, file: &str) -> String {
    said(dir, &format!("view {file}"))
}

#[test]
fn the_order_is_that_of_samtools_sort() {
    if !installed(&["samtools"]) {
        return;
    }
    let dir = world(6000);
    for select in ["", " --best", " --best-strata --no-unmapped"] {
        dir.run(&format!("{PAIRS}{select} -o plain.bam")).ok();
        dir.run(&format!("{PAIRS}{select} -o own.bam --sort")).ok();
        shell(dir.root(), "samtools sort -o theirs.bam plain.bam 2>> log");
        let own = records(&dir, "own.bam");
        assert!(own.lines().count() > 6000);
        assert!(own == records(&dir, "theirs.bam"), "{select}");
        said(&dir, "quickcheck -v own.bam");
        let header = said(&dir, "view -H own.bam");
        assert!(header.starts_with("@HD\tVN:1.6\tSO:coordinate\n"), "{header}");
        assert!(header.contains(" --sort -"), "{header}");
        for command in ["stats", "flagstat"] {
            let [own, theirs] = ["own", "theirs"].map(|name| {
                let text = said(&dir, &format!("{command} {name}.bam"));
                let lines = text.lines().filter(|line| !line.contains("command line"));
                lines.map(str::to_owned).collect::<Vec<_>>()
            });
            assert_eq!(own, theirs);
        }
        let pileups =
            ["own", "theirs"].map(|name| said(&dir, &format!("mpileup -f ref.fa {name}.bam")));
        assert!(pileups[0].len() > 10_000 && pileups[0] == pileups[1]);
    }
}

#[test]
fn the_index_leads_to_the_records_of_a_region() {
    if !installed(&["samtools"]) {
        return;
    }
    let dir = world(6000);
    for kind in ["bai", "csi"] {
        dir.run(&format!("{PAIRS} -o own.bam --sort --index-format {kind}")).ok();
        assert!(dir.names().contains(&format!("own.bam.{kind}")));
        fs::copy(dir.path("own.bam"), dir.path("theirs.bam")).unwrap();
        let flag = if kind == "bai" { "-b" } else { "-c" };
        shell(dir.root(), &format!("samtools index {flag} theirs.bam"));
        assert_eq!(said(&dir, "idxstats own.bam"), said(&dir, "idxstats theirs.bam"));
        let names = said(&dir, "view -H own.bam");
        let names: Vec<&str> = names
            .lines()
            .filter_map(|line| line.strip_prefix("@SQ\tSN:")?.split('\t').next())
            .collect();
        let mut found = 0;
        for name in names {
            for (from, to) in [(1, 100), (700, 701), (1500, 2500), (3000, 100_000)] {
                let region = format!("'{{{name}}}:{from}-{to}'");
                let own = records(&dir, &format!("own.bam {region}"));
                assert!(own == records(&dir, &format!("theirs.bam {region}")), "{region}");
                found += own.lines().count();
            }
        }
        assert!(found > 1000);
        assert_eq!(records(&dir, "own.bam '*'"), records(&dir, "theirs.bam '*'"));
        fs::remove_file(dir.path(&format!("own.bam.{kind}"))).unwrap();
        fs::remove_file(dir.path(&format!("theirs.bam.{kind}"))).unwrap();
    }
}

#[test]
fn the_bytes_depend_on_neither_threads_nor_memory() {
    let dir = world(12_000);
    let many = PAIRS.replace("reads.fq", &"reads.fq ".repeat(12));
    let run = |name: &str, options: &str| {
        let ran = dir.run(&format!("{many} --sort -o {name}.bam --tmp-dir tmp {options}"));
        let spilled = ran.stderr.contains("went to disk");
        ran.ok();
        (spilled, dir.read(&format!("{name}.bam")), dir.read(&format!("{name}.bam.bai")))
    };
    let one = run("one", "--threads 1 --memory 2G");
    let four = run("four", "--threads 4 --memory 2G");
    let small = run("small", "--threads 2 --memory 142M");
    let smaller = run("smaller", "--threads 1 --memory 92M");
    assert!(!one.0 && !four.0 && small.0 && smaller.0);
    for other in [&four, &small, &smaller] {
        assert!(other.1 == one.1 && other.2 == one.2);
    }
    let cram = |name: &str, options: &str| {
        let many = format!("{many} --sort --reference ref.fa");
        dir.run(&format!("{many} -o {name}.cram --tmp-dir tmp {options}")).ok();
        (dir.read(&format!("{name}.cram")), dir.read(&format!("{name}.cram.crai")))
    };
    let one = cram("one", "--threads 1 --memory 2G");
    assert!(one == cram("four", "--threads 4 --memory 2G"));
    assert!(one == cram("small", "--threads 2 --memory 142M"));
    // Temporary files are removed.
    assert!(!dir.names().contains(&"tmp".to_owned()), "{:?}", dir.names());
}

#[test]
fn no_reads_give_an_empty_file_with_an_index() {
    if !installed(&["samtools"]) {
        return;
    }
    let dir = world(10);
    dir.write("none.fq", "");
    dir.run("map ref.mgi none.fq -e 2 --sort -o none.bam").ok();
    said(&dir, "quickcheck -v none.bam");
    assert_eq!(records(&dir, "none.bam"), "");
    assert_eq!(said(&dir, "idxstats none.bam").lines().count(), 4);
}

#[test]
fn sorted_records_on_stdout_are_bam_without_an_index() {
    if !installed(&["samtools"]) {
        return;
    }
    let dir = world(300);
    dir.run("map ref.mgi reads.fq -e 2 --sort -o own.bam").ok();
    let piped = dir.run("map ref.mgi reads.fq -e 2 --sort");
    assert_eq!(piped.code, Some(0));
    assert!(piped.stdout == dir.read("own.bam"));
    dir.run("map ref.mgi reads.fq -e 2 --sort -o /dev/null").ok();
    assert!(!Path::new("/dev/null.bai").exists());
}

/// Options for sorted CRAM.
const CRAM: &str = "--sort --reference ref.fa -o own.cram";

#[test]
fn cram_gives_the_records_of_bam() {
    if !installed(&["samtools"]) {
        return;
    }
    let dir = world(6000);
    // Reads without qualities, and with letters other than bases.
    dir.write("bare.fa", ">x\nACGTTGCAACGTRYKNACGT\n>y\nNNNNNNNNNNNN\n");
    shell(dir.root(), "head -n 400 reads.fq | sed -n '1~4s/^@/>bare/p;2~4p' >> bare.fa");
    dir.write("other.fa", fasta(&[Random(77).bases(500)]));
    dir.run("deplete index -q other.fa -o other.mgd").ok();
    for options in [
        " bare.fa",
        " --best",
        " --best --clip --rescue 20%",
        " --best-strata -R @RG\\tID:{}\\tSM:s",
        " --no-unmapped",
    ] {
        dir.run(&format!("{PAIRS}{options} --sort -o own.bam")).ok();
        dir.run(&format!("{PAIRS}{options} {CRAM}")).ok();
        said(&dir, "quickcheck -v own.cram");
        let own = records(&dir, "-T ref.fa own.cram");
        assert!(own.lines().count() > 6000);
        assert!(own == records(&dir, "own.bam"), "{options}");
        // Our own reader gives the same; it invents qualities for reads without them, so these are skipped.
        if options == " bare.fa" {
            continue;
        }
        let [cram, bam] = ["own.cram", "own.bam"].map(|file| {
            let filter = format!("deplete filter -q other.mgd {file} --reference ref.fa");
            dir.run(&format!("{filter} --output-format sam")).ok()
        });
        let records = |text: &'_ str| -> Vec<String> {
            text.lines().filter(|line| !line.starts_with('@')).map(str::to_owned).collect()
        };
        assert!(records(&cram) == records(&bam));
        assert!(cram.lines().count() > 1000);
    }
    assert_eq!(said(&dir, "idxstats own.cram"), said(&dir, "idxstats own.bam"));
    for region in ["'{}:100-900'", "'{}:2000-2300'"] {
        let name = said(&dir, "view -H own.bam");
        let name = name.lines().find_map(|line| line.strip_prefix("@SQ\tSN:")?.split('\t').next());
        let region = region.replace("{}", &format!("{{{}}}", name.unwrap()));
        let [cram, bam] = ["-T ref.fa own.cram", "own.bam"]
            .map(|file| records(&dir, &format!("{file} {region}")));
        assert!(cram == bam && !bam.is_empty());
    }
    let pileup = |file| said(&dir, &format!("mpileup -f ref.fa {file}"));
    assert!(pileup("own.cram") == pileup("own.bam"));
    // The index is the one that samtools makes.
    fs::copy(dir.path("own.cram"), dir.path("theirs.cram")).unwrap();
    shell(dir.root(), "samtools index theirs.cram");
    let [own, theirs] =
        ["own", "theirs"].map(|name| gunzip(&dir.path(&format!("{name}.cram.crai"))));
    let placed = |text: &[u8]| {
        let text = String::from_utf8(text.to_vec()).unwrap();
        text.lines().filter(|line| !line.starts_with("-1")).map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(placed(&own), placed(&theirs));
}

#[test]
fn cram_has_the_letters_of_the_reference() {
    if !installed(&["samtools"]) {
        return;
    }
    let dir = Dir::new();
    let mut contig = Random(3).bases(3000);
    for (at, letter) in [(150, b'R'), (151, b'N'), (500, b'm'), (1200, b'y'), (2000, b'k')] {
        contig[at] = letter;
    }
    let text = String::from_utf8(contig.clone()).unwrap();
    dir.write("ref.fa", format!(">c one\n{}\n{}\n>d\nACGTRACGTA\n", &text[..1500], &text[1500..]));
    let mut reads = String::new();
    for at in (0..2900).step_by(20) {
        reads += &format!(">{at}\n{}\n", text[at..at + 80].to_uppercase());
    }
    dir.write("reads.fa", reads);
    dir.run("index ref.fa -o ref.mgi").ok();
    let map = "reads.fa -e 3 --sort";
    dir.run(&format!("map ref.mgi {map} -o own.bam")).ok();
    let message = dir.run(&format!("map ref.mgi {map} -o own.cram")).fails(1);
    assert!(message.contains("name the FASTA file with --reference"), "{message}");
    dir.run(&format!("map ref.mgi {map} -o own.cram --reference ref.fa")).ok();
    assert_eq!(records(&dir, "-T ref.fa own.cram"), records(&dir, "own.bam"));
    // A FASTA reference on the command line is used, too.
    dir.run(&format!("map ref.fa {map} -o other.cram --cram-uri http://host/ref.fa")).ok();
    assert_eq!(records(&dir, "-T ref.fa other.cram"), records(&dir, "-T ref.fa own.cram"));
    assert!(said(&dir, "view -H other.cram").contains("\tUR:http://host/ref.fa\n"));
    assert!(!said(&dir, "view -H own.cram").contains("\tUR:"));
    let header = said(&dir, "view -H own.cram");
    let theirs = said(&dir, "dict ref.fa");
    let sums = |text: &str| {
        let lines = text.lines().filter(|line| line.starts_with("@SQ"));
        let sum = lines
            .map(|line| line.split('\t').find(|field| field.starts_with("M5:")).map(str::to_owned));
        sum.collect::<Vec<_>>()
    };
    assert_eq!(sums(&header), sums(&theirs));
    dir.write("other.fa", ">c\nACGT\n");
    let message = dir.run(&format!("map ref.mgi {map} -o own.cram --reference other.fa")).fails(1);
    let expected = "error: other.fa: it is not the reference that the index was made of\n";
    assert_eq!(message, expected);
    let message = dir.run("map ref.mgi reads.fa -e 3 -o x.cram --reference ref.fa").fails(2);
    assert!(
        message.contains("CRAM is written in the order of the reference: add --sort"),
        "{message}"
    );
}

#[test]
fn what_cannot_be_is_refused() {
    let dir = world(50);
    let before = dir.names();
    let message = dir.run("map ref.mgi reads.fq -e 2 --sort -o x.sam").fails(2);
    assert_eq!(message, "error: --sort requires BAM or CRAM: name the output .bam or .cram\n");
    let csi = "map ref.mgi reads.fq -e 2 --sort --index-format csi";
    for output in ["x.cram", "-"] {
        let message = dir.run(&format!("{csi} -o {output}")).fails(2);
        assert!(message.starts_with("error: --index-format requires BAM in a file"), "{message}");
    }
    let message = dir.run("map ref.mgi reads.fq -e 2 --sort -o nowhere/x.bam").fails(1);
    assert!(message.contains("the directory nowhere does not exist"), "{message}");
    let ran = dir.run("map ref.mgi reads.fq -e 2 --sort -o x.bam --json x.bam.bai");
    assert_eq!(ran.fails(1), "error: x.bam.bai: two outputs cannot go to the same file\n");
    std::os::unix::fs::symlink("/dev/full", dir.path("full.bam")).unwrap();
    let full = dir.run("map ref.mgi reads.fq -e 2 --sort -o full.bam").fails(1);
    assert_eq!(full, "error: full.bam: cannot write: no space left on device\n");
    fs::remove_file(dir.path("full.bam")).unwrap();
    // If the index cannot be written because of a directory with its name, the records do not appear either.
    fs::create_dir(dir.path("y.bam.bai")).unwrap();
    let message = dir.run("map ref.mgi reads.fq -e 2 --sort -o y.bam").fails(1);
    assert!(message.contains("y.bam.bai"), "{message}");
    fs::remove_dir(dir.path("y.bam.bai")).unwrap();
    let message = dir.run("map ref.mgi reads.fq -e 2 --sort -o x.bam --memory 60M").fails(1);
    assert!(message.contains("--memory gives 60.0 MiB"), "{message}");
    let ran = dir.run("map ref.mgi reads.fq -e 2 --tmp-dir t -o x.bam");
    assert!(ran.code == Some(2) && ran.stderr.contains("--sort"), "{}", ran.stderr);
    assert_eq!(dir.names(), before);
}
