//! Sequences without minimizers or seeds.

use std::fs;

use super::{Small, cases, run, sound, taxids, warned};
use merganser_test_support::Dir;

/// An index without minimizers is not written, and the message names the reason (case 05).
#[test]
fn hosts_without_minimizers() {
    if let Some(cases) = cases("classify/05-empty-host") {
        let dir = Dir::new();
        for (file, why) in [
            ("prot.faa", "no minimizers: it has protein sequences"),
            ("empty.fa", "no minimizers: there are no sequences in it"),
            ("rnahost.fa", "of its letters are U, which is no base here: write them as T"),
            ("shorthost.fa", "letters, but a window of -k and -w has 45"),
        ] {
            let said = run(&dir, &cases, &format!("deplete index -o h.mgd $C/{file}")).fails(1);
            assert!(said.contains(file) && said.contains(why), "{said}");
            assert!(!dir.path("h.mgd").exists());
        }
        let kraken =
            "build --format kraken2 --taxonomy $C/taxonomy --map $C/prot.map -o x $C/prot.faa";
        let said = run(&dir, &cases, kraken).fails(1);
        assert!(
            said.contains(
                "nothing to build: there are no minimizers: letters are those of proteins"
            )
        );
        assert!(!dir.path("x").exists());
        let own = run(&dir, &cases, &kraken.replace("--format kraken2 ", "")).fails(1);
        assert!(
            own.contains("has 19 bases in a row: protein letters and N do not count as bases"),
            "{own}"
        );
    }
    let small = Small::new();
    let dir = &small.dir;
    small.write_reads();
    small.write("a.fa", &[("a", 0)]);
    dir.write("n.fa", format!(">n\n{}\n", "ACGTN".repeat(100)));
    let said = dir.run("deplete index -o h.mgd n.fa").fails(1);
    assert!(said.contains("it has no 45 bases in a row; of 500 letters 400 are bases"), "{said}");
    for suffix in ["mgd", "idx"] {
        let index = |name: &str, file: &str| {
            dir.run(&format!("deplete index -q -o {name}.{suffix} {file}"))
        };
        index("a", "a.fa").ok();
        small.write("b.fa", &[("b", 1)]);
        index("b", "b.fa").ok();
        for (verb, one, two, says) in [
            ("diff", "a", "a", "the first set has no minimizers that the others lack"),
            ("intersect", "a", "b", "the sets have no minimizers in common"),
        ] {
            let command = format!("deplete {verb} {one}.{suffix} {two}.{suffix} -o x.{suffix}");
            let said = dir.run(&command).fails(1);
            assert!(said.contains(says), "{said}");
            assert!(!dir.path(&format!("x.{suffix}")).exists());
        }
    }
    // With an empty set of Deacon's, all reads are kept, with a warning.
    dir.write("none.idx", b"\x03\x1f\x0f\0\0\0\0\0\0\0\0");
    let ran = dir.run("deplete filter none.idx r.fa -o o.fa --json j");
    assert_eq!(ran.warnings().len(), 1, "{}", ran.stderr);
    assert!(
        ran.warnings()[0].contains("none.idx: there are no minimizers in it"),
        "{}",
        ran.stderr
    );
    ran.ok();
    let json: serde_json::Value = serde_json::from_slice(&dir.read("j")).unwrap();
    assert_eq!(json["warnings"].as_array().unwrap().len(), 1);
    // A genome with both U and T.
    let rna = small.genomes[1].replacen('T', "U", 7);
    dir.write("rna.fa", format!(">a\n{}\n>b\n{rna}\n", small.genomes[0]));
    let warning = "warning: rna.fa: 7 letters are U, which is no base";
    for command in [
        "deplete index -o h.mgd rna.fa",
        "build --format kraken2 --taxonomy tax --map m -o k2 rna.fa",
    ] {
        dir.write("m", "a\t101\nb\t102\n");
        let ran = dir.run(command);
        assert_eq!(ran.warnings().len(), 1, "{}", ran.stderr);
        assert!(ran.warnings()[0].starts_with(warning), "{}", ran.stderr);
        ran.ok();
    }
}

/// Kraken 2 databases without minimizers, which other programs write.
#[test]
fn kraken2_databases_without_minimizers() {
    let small = Small::new();
    let dir = &small.dir;
    small.write("g.fa", &[("kraken:taxid|101|a", 0)]);
    small.write_reads();
    dir.run("build -q --format kraken2 --taxonomy tax -o k2 g.fa").ok();
    let mut table = dir.read("k2/hash.k2d");
    table[8..16].fill(0);
    table[32..].fill(0);
    dir.write("k2/hash.k2d", table);
    let ran = dir.run("classify k2 r.fa");
    assert!(
        ran.warnings()[0].contains("k2/hash.k2d: there are no minimizers in it"),
        "{}",
        ran.stderr
    );
    assert_eq!(taxids(&ran.ok()), ["0"; 3]);
    small.write("short.fa", &[]);
    dir.write("short.fa", ">kraken:taxid|101|a\nACGTACGTTGCA\n");
    let said = dir.run("build --format kraken2 --taxonomy tax -o x short.fa").fails(1);
    assert!(said.contains("the longest sequence has 12 letters, and -k is 35"), "{said}");
    dir.write("low.fa", format!(">kraken:taxid|101|a\n{}\n", "A".repeat(300)));
    let said = dir.run("build --format kraken2 --taxonomy tax -o x low.fa").fails(1);
    assert!(
        said.contains("there are no 35 consecutive bases that are not masked (--masked)"),
        "{said}"
    );
}

/// A reference without seeds is indexed and used, with a warning.
#[test]
fn references_without_seeds() {
    let small = Small::new();
    let dir = &small.dir;
    small.write_reads();
    dir.write("n.fa", format!(">n\n{}\n", "ACGTNN".repeat(100)));
    let warning = "the index has no positions, because the reference nowhere has 8 bases in a row";
    for command in
        ["index n.fa -o n.mgi", "map -e 2 n.mgi r.fa -o o.sam", "map -e 2 n.fa r.fa -o o.sam"]
    {
        let ran = dir.run(command);
        assert_eq!(ran.warnings().len(), 1, "{}", ran.stderr);
        assert!(ran.warnings()[0].contains(warning), "{}", ran.stderr);
        ran.ok();
    }
    small.write("g.fa", &[("g", 0)]);
    assert!(dir.run("map -e 2 g.fa r.fa -o o.sam").warnings().is_empty());
}

/// Some of several genomes have no minimizers: one warning names the first one and the reason.
#[test]
fn files_without_minimizers_among_others() {
    let small = Small::new();
    let dir = &small.dir;
    small.write("a.fa", &[("a", 0)]);
    small.write("b.fa", &[("b", 1)]);
    dir.write("empty.fa", "");
    dir.write("prot.fa", format!(">p\n{}\n>q\n{}\n", "MKLVEFIP".repeat(30), "MSTV".repeat(9)));
    dir.write("uracil.fa", format!(">r\n{}\n", small.genomes[2][..600].replace('T', "U")));
    dir.write("short.fa", ">s\nACGTACGTACGT\n");
    dir.write("m", "a\t101\nb\t102\np\t101\nq\t101\nr\t101\ns\t101\n");
    let index = "deplete index -o h.mgd";
    let kraken = "build --format kraken2 --taxonomy tax --map m -o k2";
    let own = "build --taxonomy tax --map m -o x.mgdb";
    for (files, count, first, deplete, kraken2, merganser) in [
        (
            "a.fa prot.fa",
            "1 of 2",
            "prot.fa",
            "it has protein sequences: give the genome (.fna)",
            "letters are those of proteins: give genomes (.fna)",
            "protein letters and N do not count as bases",
        ),
        (
            "empty.fa a.fa prot.fa b.fa",
            "2 of 4",
            "empty.fa",
            "there are no sequences in it",
            "there are no sequences in it",
            "there are no sequences",
        ),
        (
            "b.fa a.fa short.fa",
            "1 of 3",
            "short.fa",
            "its longest sequence has 12 letters, but a window of -k and -w has 45",
            "the longest sequence has 12 letters, and -k is 35",
            "the longest has 12 letters",
        ),
    ] {
        let said = format!("warning: {count} inputs have no minimizers, first {first}: ");
        assert_eq!(warned(dir, &format!("{index} {files}")), format!("{said}{deplete}"));
        assert_eq!(warned(dir, &format!("{kraken} {files}")), format!("{said}{kraken2}"));
        assert_eq!(
            warned(dir, &format!("{own} {files}")),
            format!(
                "warning: {count} input files have no sequence with 19 bases in a row, first {first}: {merganser}"
            )
        );
    }
    // In our own databases, U counts as T.
    let rna = "warning: 1 of 2 inputs have no minimizers, first uracil.fa: ";
    for command in [index, kraken] {
        let warning = warned(dir, &format!("{command} a.fa uracil.fa"));
        assert!(warning.starts_with(rna) && warning.contains(" letters are U"), "{warning}");
    }
    sound(dir, &format!("{own} a.fa uracil.fa"));
    for command in [index, kraken, own] {
        sound(dir, &format!("{command} a.fa b.fa"));
    }
    dir.run(&format!("{own} a.fa")).ok();
    fs::rename(dir.path("x.mgdb"), dir.path("one.mgdb")).unwrap();
    let add = "db add --taxonomy tax --map m one.mgdb b.fa prot.fa -o x.mgdb";
    assert!(
        warned(dir, add).contains("1 of 2 input files have no sequence with 19 bases in a row")
    );
    small.write_reads();
    let classify =
        "classify --references prot.fa --references a.fa --taxonomy tax --map m r.fa -o l";
    assert!(warned(dir, classify).contains("first prot.fa"));
}
