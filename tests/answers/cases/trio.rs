//! Trios with true or wrong parents: switch error rates, or `na` with a warning that names the parent.

use super::cases;
use merganser_test_support::Dir;
use merganser_test_support::oracle::complement;
use merganser_test_support::reads::{Random, Record, fasta};

/// Returns the letters of a FASTA file with one sequence.
fn letters(text: &[u8]) -> Vec<u8> {
    let lines = text.split(|&byte| byte == b'\n').filter(|line| !line.starts_with(b">"));
    lines.collect::<Vec<_>>().concat()
}

/// Returns a copy with another base at one position in 100.
fn relative(random: &mut Random, letters: &[u8]) -> Vec<u8> {
    let mut other = letters.to_vec();
    for letter in &mut other {
        if random.below(100) == 0 {
            let code = b"ACGT".iter().position(|base| base == letter).unwrap();
            *letter = b"ACGT"[(code + 1 + random.below(3)) % 4];
        }
    }
    other
}

/// Writes reads of two haplotypes, with this total coverage, and their table `NAME.mgk`.
fn write_reads(dir: &Dir, name: &str, haplotypes: [&[u8]; 2], coverage: usize, seed: u64) {
    let mut random = Random(seed);
    let read = |number: usize| {
        let haplotype = haplotypes[number % 2];
        let from = random.below(haplotype.len() - 150);
        let mut sequence = haplotype[from..from + 150].to_vec();
        if random.below(3) == 0 {
            sequence[random.below(150)] = b"ACGT"[random.below(4)];
        }
        let sequence = if random.below(2) == 0 { complement(&sequence) } else { sequence };
        Record { sequence, quality: None }
    };
    let reads: Vec<Record> = (0..coverage * haplotypes[0].len() / 150).map(read).collect();
    dir.write(&format!("{name}.fa"), fasta(&reads, 200, "\n"));
    dir.run(&format!("count -q -k 21 --min-count 1 {name}.fa -o {name}.mgk")).ok();
}

/// Returns a directory with a child, whose haplotypes are `tm.fa` and `tf.fa`, its parents, and unrelated genomes.
fn family() -> Option<Dir> {
    let folder = cases("kmers")?;
    let dir = Dir::new();
    for name in ["tm.fa", "tf.fa", "sw1.fa", "sw2.fa"] {
        dir.write(name, std::fs::read(folder.join(name)).unwrap());
    }
    let mut random = Random(11);
    let [tm, tf] = ["tm.fa", "tf.fa"].map(|name| letters(&dir.read(name)));
    let [m2, f2] = [&tm, &tf].map(|own| relative(&mut random, own));
    let other = [relative(&mut random, &tf), relative(&mut random, &tf)];
    let stranger = [random.bases(tm.len()), random.bases(tm.len())];
    write_reads(&dir, "child", [&tm, &tf], 60, 1);
    write_reads(&dir, "mother", [&tm, &m2], 30, 2);
    write_reads(&dir, "father", [&tf, &f2], 30, 3);
    write_reads(&dir, "low", [&tf, &f2], 3, 4);
    write_reads(&dir, "other", [&other[0], &other[1]], 30, 5);
    write_reads(&dir, "stranger", [&stranger[0], &stranger[1]], 30, 6);
    dir.write("short.fa", ">a\nACGT\n");
    dir.run("count -q -k 21 --min-count 1 short.fa -o none.mgk").ok();
    std::fs::copy(dir.path("mother.mgk"), dir.path("again.mgk")).unwrap();
    Some(dir)
}

/// Runs `kmers qv` on a pair of assemblies; returns the warnings about parents, the rates of the first assembly in
/// the summary, and the last column of its statistics.
fn judged(
    dir: &Dir,
    parents: [&str; 2],
    assemblies: &str,
) -> (Vec<String>, [Option<f64>; 2], String) {
    let [mother, father] = parents;
    let parents = format!("--maternal {mother}.mgk --paternal {father}.mgk");
    let ran = dir
        .run(&format!("kmers qv --no-plots -o x child.mgk {assemblies} {parents} --json x.json"));
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let warnings = ran.warnings().into_iter().filter(|line| line.contains("cannot be determined"));
    let warnings: Vec<String> = warnings.map(str::to_owned).collect();
    assert_eq!(ran.stderr.contains("% of the markers"), warnings.is_empty(), "{}", ran.stderr);
    let summary: serde_json::Value = serde_json::from_slice(&dir.read("x.json")).unwrap();
    let first = &summary["results"]["assemblies"][0];
    let rates = ["switch_rate", "hamming_rate"].map(|rate| first[rate].as_f64());
    let name = assemblies.split('.').next().unwrap();
    let stats = dir.read(&format!("x.{name}.100_20000.phased_block.stats"));
    let stats = String::from_utf8(stats).unwrap();
    (warnings, rates, stats.trim_end().rsplit('\t').next().unwrap().to_owned())
}

#[test]
fn rates_of_a_sound_trio_are_the_true_ones() {
    let Some(dir) = family() else { return };
    let (warnings, rates, _) = judged(&dir, ["mother", "father"], "tm.fa tf.fa");
    assert_eq!((warnings, rates[1]), (Vec::new(), Some(0.0)));
    let (warnings, rates, _) = judged(&dir, ["mother", "father"], "sw1.fa sw2.fa");
    assert_eq!(warnings, Vec::<String>::new());
    assert!((0.47..0.5).contains(&rates[1].unwrap()), "{rates:?}");
}

#[test]
fn rates_are_na_where_a_parent_cannot_be_the_childs() {
    let Some(dir) = family() else { return };
    for (parents, named) in [
        (["mother", "none"], "the father (none) has no k-mers"),
        (["none", "father"], "the mother (none) has no k-mers"),
        (["mother", "low"], "the father (low) lacks k-mers that it passed on"),
        (["mother", "other"], "the father (other) lacks k-mers that it passed on"),
        (["mother", "stranger"], "the father (stranger) has 0 hap-mers"),
        (["mother", "again"], "the mother (mother) and the father (again) have the same k-mers"),
        (["child", "father"], "the mother (child) has all k-mers of the child"),
    ] {
        for assemblies in ["tm.fa tf.fa", "sw1.fa sw2.fa"] {
            let (warnings, rates, stats) = judged(&dir, parents, assemblies);
            assert!(
                warnings.len() == 1 && warnings[0].contains(named),
                "{parents:?}: {warnings:?}"
            );
            assert_eq!((rates, &stats[..]), ([None; 2], "na"), "{parents:?}");
        }
    }
    let message =
        dir.run("kmers qv -o x child.mgk tm.fa --maternal mother.mgk --paternal mother.mgk");
    assert!(message.fails(2).contains("both parents are mother: give two files"));
}
