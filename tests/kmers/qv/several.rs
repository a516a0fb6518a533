//! `kmers qv` with three and more assemblies of one genome.

use std::collections::BTreeSet;

use super::{Counts, K, Sample, count, fasta, general, lines, qv};
use merganser_test_support::Dir;

/// Returns reads and their table, and three assemblies: `one`, `other` and `third`, the last being a part of each.
fn prepared(seed: u64) -> (Dir, Sample, Vec<Vec<u8>>) {
    let dir = Dir::new();
    let sample = Sample::new(seed);
    sample.write(&dir);
    let third = vec![
        sample.assemblies[0][0][..4000].to_vec(),
        sample.assemblies[1][0][1000..2500].to_vec(),
    ];
    dir.write("third.fa", fasta(&third));
    dir.run(&format!("count -q -k {K} --min-count 1 reads.fa -o reads.mgk")).ok();
    (dir, sample, third)
}

#[test]
fn classes_and_sums_are_as_defined() {
    let (dir, sample, third) = prepared(51);
    dir.run("kmers qv -q -o s reads.mgk one.fasta other.fa third.fa --json s.json").ok();
    let reads = count(&sample.reads);
    let names = ["one", "other", "third"];
    let counts: Vec<Counts> =
        [&sample.assemblies[0], &sample.assemblies[1], &third].map(count).into();
    let mut all = Counts::new();
    for (kmer, number) in counts.iter().flatten() {
        *all.entry(kmer.clone()).or_default() += number;
    }
    let together = || names.iter().copied().zip(&counts).chain([("all", &all)]);

    let expected: Vec<String> = together()
        .map(|(name, counts)| {
            let missing = counts.iter().filter(|(kmer, _)| !reads.contains_key(*kmer));
            let (missing, kmers) = (missing.map(|of| of.1).sum(), counts.values().sum());
            let name = if name == "all" { "All" } else { name };
            format!("{name}\t{missing}\t{kmers}\t{}", qv(missing, kmers))
        })
        .collect();
    assert_eq!(lines(&dir, "s.qv"), expected);

    let solid: u64 = lines(&dir, "s.reads.filt")[0].parse().unwrap();
    let genome: Vec<&Vec<u8>> =
        reads.iter().filter(|row| *row.1 > solid).map(|row| row.0).collect();
    let expected: Vec<String> = together()
        .map(|(name, counts)| {
            let found = genome.iter().filter(|kmer| counts.contains_key(**kmer)).count();
            let part = general(100.0 * found as f64 / genome.len() as f64);
            format!("{name}\tall\t{found}\t{}\t{part}", genome.len())
        })
        .collect();
    assert_eq!(lines(&dir, "s.completeness.stats"), expected);

    // The class of a k-mer by the assemblies that have it.
    let class = |kmer: &Vec<u8>| {
        let having: Vec<&str> = names
            .iter()
            .zip(&counts)
            .filter(|of| of.1.contains_key(kmer))
            .map(|of| *of.0)
            .collect();
        match &having[..] {
            [] => "read-only".to_owned(),
            [one] => format!("{one}-only"),
            [_, _] => "shared-some".to_owned(),
            _ => "shared-all".to_owned(),
        }
    };
    let titles = ["read-only", "one-only", "other-only", "third-only", "shared-some", "shared-all"];
    let mut expected = vec!["Assembly\tkmer_multiplicity\tCount".to_owned()];
    let depths: BTreeSet<u64> = reads.values().copied().collect();
    for title in titles {
        for depth in &depths {
            let of = reads.iter().filter(|row| row.1 == depth && class(row.0) == title).count();
            expected.extend((of > 0).then(|| format!("{title}\t{depth}\t{of}")));
        }
    }
    assert_eq!(lines(&dir, "s.spectra-asm.hist"), expected);
    assert!(
        titles[1..]
            .iter()
            .filter(|title| expected.iter().any(|line| line.starts_with(**title)))
            .count()
            > 3
    );
    let expected = titles[1..].iter().map(|title| {
        let only = all.keys().filter(|kmer| !reads.contains_key(*kmer) && class(kmer) == *title);
        format!("{title}\t0\t{}", only.count())
    });
    assert_eq!(lines(&dir, "s.dist_only.hist"), expected.collect::<Vec<_>>());

    // All copies together.
    let mut expected = vec!["Copies\tkmer_multiplicity\tCount".to_owned()];
    for (copies, title) in ["read-only", "1", "2", "3", "4", ">4"].iter().enumerate() {
        for depth in &depths {
            let is =
                |kmer: &Vec<u8>| all.get(kmer).map_or(0, |&copies| copies.min(5)) == copies as u64;
            let of = reads.iter().filter(|row| row.1 == depth && is(row.0)).count();
            expected.extend((of > 0).then(|| format!("{title}\t{depth}\t{of}")));
        }
    }
    assert_eq!(lines(&dir, "s.spectra-cn.hist"), expected);

    let drawn = String::from_utf8(dir.read("s.spectra-asm.fl.svg")).unwrap();
    titles.iter().for_each(|title| assert!(drawn.contains(&format!(">{title}<")), "{title}"));
    let json: serde_json::Value = serde_json::from_slice(&dir.read("s.json")).unwrap();
    assert_eq!(json["results"]["assemblies"][3]["name"], "all");
}

#[test]
fn each_assembly_has_the_files_of_its_own_run() {
    let (dir, ..) = prepared(52);
    dir.run("kmers qv -q -o s reads.mgk one.fasta other.fa third.fa").ok();
    for (file, name) in [("one.fasta", "one"), ("other.fa", "other"), ("third.fa", "third")] {
        dir.run(&format!("kmers qv -q -o x reads.mgk {file}")).ok();
        for end in [
            ".qv",
            "_only.bed",
            "_only.wig",
            ".spectra-cn.hist",
            ".only.hist",
            ".spectra-cn.st.svg",
        ] {
            assert!(
                dir.read(&format!("s.{name}{end}")) == dir.read(&format!("x.{name}{end}")),
                "{name}{end}"
            );
        }
    }
    let expected: Vec<(String, Vec<u8>)> = dir
        .names()
        .into_iter()
        .filter(|name| name.starts_with("s."))
        .map(|name| (name.clone(), dir.read(&name)))
        .collect();
    for number in 1..=2 {
        let range = format!("--range {number}/2 -o {number}.mgq");
        dir.run(&format!("kmers qv -q reads.mgk one.fasta other.fa third.fa {range}")).ok();
    }
    dir.run("kmers qv -q -o s one.fasta other.fa third.fa --ranges 1.mgq 2.mgq").ok();
    for (name, bytes) in &expected {
        assert!(dir.read(name) == *bytes, "{name}");
    }
}

#[test]
fn names_differ_and_copies_are_noticed() {
    let (dir, ..) = prepared(53);
    std::fs::create_dir(dir.path("f")).unwrap();
    dir.write("f/one.fa", dir.read("other.fa"));
    dir.write("again.fa", dir.read("one.fasta"));
    dir.write("twin.fa", dir.read("one.fasta"));
    let message = dir.run("kmers qv -o s reads.mgk one.fasta third.fa f/one.fa").fails(2);
    assert!(message.contains("two assemblies are called one: rename"), "{message}");
    let message = dir.run("kmers qv -o s reads.mgk third.fa one.fasta other.fa one.fasta").fails(2);
    assert!(message.contains("two assemblies are one: give two files"), "{message}");
    let run = dir.run("kmers qv --no-plots -o s reads.mgk one.fasta again.fa twin.fa");
    assert!(run.stderr.contains("all assemblies have the same k-mers"), "{}", run.stderr);
    let run = dir.run("kmers qv --no-plots -o s reads.mgk one.fasta again.fa other.fa");
    assert!(!run.stderr.contains("have the same k-mers"), "{}", run.stderr);
    // More classes than colours.
    let mut files = String::new();
    for number in 0..9 {
        dir.write(&format!("a{number}.fa"), dir.read("third.fa"));
        files += &format!(" a{number}.fa");
    }
    dir.run(&format!("kmers qv -q -o many reads.mgk {files} one.fasta")).ok();
    let drawn = String::from_utf8(dir.read("many.spectra-asm.ln.svg")).unwrap();
    for title in ["a0-only", "a8-only", "one-only", "shared-some", "shared-all"] {
        assert!(drawn.contains(&format!(">{title}<")), "{title}");
    }
}
