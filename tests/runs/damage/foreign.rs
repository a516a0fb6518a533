//! Tables in other formats, which have no checksums: `kmers verify` refuses whatever other commands refuse. It can
//! only miss a k-mer that is in order at its position, or a count within the bounds.

use std::collections::BTreeMap;

use super::{flipped, moved};
use merganser_test_support::Dir;
use merganser_test_support::reads::{Random, fastq, untidy};
use merganser_test_support::tools::{installed, shell};

/// Parses a dump into k-mers and counts.
fn parsed(dump: &str) -> BTreeMap<String, u64> {
    let line = |line: &str| {
        let (kmer, count) = line.split_once('\t').unwrap();
        (kmer.to_owned(), count.parse().unwrap())
    };
    dump.lines().map(line).collect()
}

/// Asserts that damage that `verify` misses is undetectable: either all k-mers or all counts are unchanged.
fn check(dir: &Dir, table: &str, file: &str, damages: usize) {
    let sound = dir.read(file);
    let expected = dir.run(&format!("kmers dump {table}")).ok();
    assert_eq!(dir.run(&format!("kmers verify {table}")).ok(), format!("{table}: ok\n"));
    let (kmers, mut sums) = (parsed(&expected), Vec::from_iter(parsed(&expected).into_values()));
    sums.sort_unstable();
    let third = sound.len() / 3;
    let regions = [0..third, third..2 * third, 2 * third..sound.len()];
    let mut damaged = flipped(&sound, &regions, damages);
    damaged.extend(moved(&sound, damages, 200));
    let (mut seen, all) = (0, damaged.len());
    for (what, bytes) in damaged {
        dir.write(file, bytes);
        let verified = dir.run(&format!("kmers verify {table}"));
        let dumped = dir.run(&format!("kmers dump {table}"));
        if verified.code == Some(1) {
            let message = verified.fails(1);
            assert!(message.contains(table.trim_end_matches(".kff")), "{what}: {message}");
            seen += 1;
            continue;
        }
        let found = dumped.ok();
        if found == expected {
            continue;
        }
        let found = parsed(&found);
        let mut counts = Vec::from_iter(found.values().copied());
        counts.sort_unstable();
        let same_kmers = found.keys().eq(kmers.keys());
        assert!(same_kmers || counts == sums, "{file}: {what}");
    }
    eprintln!("{file}: {seen} of {all} damaged copies are refused");
    dir.write(file, sound);
    assert_eq!(dir.run(&format!("kmers verify {table}")).ok(), format!("{table}: ok\n"));
}

#[test]
fn damaged_tables_that_we_write() {
    let dir = Dir::new();
    dir.write("r.fq", fastq(&untidy(150, 8), "\n"));
    dir.run("count -k 21 --format kmc -o one r.fq").ok();
    dir.run("count -k 21 --format kff -o k.kff r.fq").ok();
    dir.run("count -k 21 -o k.jf r.fq").ok();
    check(&dir, "one", "one.kmc_pre", 15);
    check(&dir, "one", "one.kmc_suf", 15);
    check(&dir, "k.kff", "k.kff", 15);
    check(&dir, "k.jf", "k.jf", 15);
}

#[test]
fn damaged_tables_that_kmc_writes() {
    if !installed(&["kmc", "kmc_tools"]) {
        return;
    }
    let dir = Dir::new();
    dir.write("r.fq", fastq(&untidy(150, 9), "\n"));
    shell(dir.root(), "kmc -k21 -ci1 -p5 -r r.fq two . && kmc -k21 -ci1 -okff r.fq k .");
    // Small look-up tables, so that damage hits the important parts.
    check(&dir, "two", "two.kmc_pre", 8);
    check(&dir, "two", "two.kmc_suf", 15);
    check(&dir, "k.kff", "k.kff", 15);
    // Tables counted with other options are valid, too.
    for (number, command) in [
        "kmc -k21 -ci1 -b r.fq x .",
        "kmc -k9 -ci2 -cx9 -cs7 r.fq x .",
        "kmc -k40 -ci1 -p9 -cs1000000 r.fq x .",
        "kmc_tools transform two sort x",
        "kmc_tools transform two reduce x -ci2",
        "kmc_tools transform two set_counts 3 x",
        "kmc_tools simple two two union x -ocsum",
        "kmc_tools simple two two intersect x -ocmin",
        "kmc -k21 -ci1 -okff -b r.fq x .",
    ]
    .into_iter()
    .enumerate()
    {
        let command = command.replace(" x", &format!(" x{number}"));
        shell(dir.root(), &command);
        let kff = dir.path(&format!("x{number}.kff")).exists();
        let table = format!("x{number}{}", if kff { ".kff" } else { "" });
        let ran = dir.run(&format!("kmers verify {table}"));
        assert_eq!(ran.stderr, "", "{command}");
        assert_eq!(ran.ok(), format!("{table}: ok\n"));
    }
}

/// The two cases of damage that revealed missing checks.
#[test]
fn a_flipped_entry_and_moved_records() {
    let dir = Dir::new();
    let letters = String::from_utf8(Random(4).bases(60_000)).unwrap();
    dir.write("r.fa", format!(">r\n{letters}\n"));
    dir.run("count -k 31 --min-count 1 --format kmc -o x r.fa").ok();
    let (table, records) = (dir.read("x.kmc_pre"), dir.read("x.kmc_suf"));
    let mut flipped = table.clone();
    flipped[4000.min(table.len() - 100)] ^= 4;
    dir.write("x.kmc_pre", flipped);
    let message = dir.run("kmers verify x").fails(1);
    assert!(message.starts_with("error: x.kmc_"), "{message}");
    dir.write("x.kmc_pre", table);
    let mut moved = records.clone();
    moved.copy_within(4..4100, 50_000);
    dir.write("x.kmc_suf", moved);
    let message = dir.run("kmers verify x").fails(1);
    assert!(message.contains(" is not greater than the previous one: "), "{message}");
    dir.write("x.kmc_suf", records);
    assert_eq!(dir.run("kmers verify x").ok(), "x: ok\n");
}
