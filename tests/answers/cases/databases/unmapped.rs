//! Sequences without a taxon.

use super::{Small, cases, info, run, taxids};
use merganser_test_support::reads::Random;
use merganser_test_support::{Dir, gunzip, root};

/// A genome of a strain without a taxon does not take reads from its species (case 02).
#[test]
fn a_genome_without_a_taxon_is_left_out() {
    let Some(cases) = cases("classify/02-unmapped-genome") else { return };
    let dir = Dir::new();
    let taxonomy = root().join("../shared/data/taxonomy");
    for options in ["", "--preset metacache", "--parts 2", "--masked low-complexity"] {
        let build = format!(
            "build --taxonomy {} --map $C/z.map {options} -o a.mgdb --json j $C/two",
            taxonomy.display()
        );
        let built = run(&dir, &cases, &build);
        let warnings = built.warnings();
        assert_eq!(warnings.len(), 1, "{}", built.stderr);
        assert!(warnings[0].contains("1 sequences have no taxon and are left out, first "));
        assert!(built.stderr.contains("--unmapped FILE lists all"), "{}", built.stderr);
        built.ok();
        let json: serde_json::Value = serde_json::from_slice(&dir.read("j")).unwrap();
        assert_eq!(json["results"]["unmapped"], 1);
        assert_eq!(json["results"]["database"]["left_out"], 1);
        assert_eq!(json["warnings"].as_array().unwrap().len(), 1);
        let found = info(&dir, "a.mgdb");
        assert_eq!((&found["left_out"], &found["without_taxon"]), (&1.into(), &0.into()));
        let classified = run(&dir, &cases, "classify a.mgdb $C/zr.fa --no-map");
        assert!(classified.stderr.contains("400 of 400 reads"), "{}", classified.stderr);
        assert!(classified.warnings().is_empty(), "{}", classified.stderr);
    }
}

/// Databases with and without sequences that are left out are equal, for any number of threads, order of sequences
/// and method of building.
#[test]
fn databases_are_those_of_the_other_sequences() {
    let small = Small::new();
    let dir = &small.dir;
    let sequences = [
        ("u1", 2),
        ("a taxid|101", 0),
        ("u2", 0),
        ("u3 taxid|7", 1),
        ("b taxid|102", 1),
        ("u4 taxid|1", 2),
    ];
    small.write("all.fa", &sequences);
    small.write("two.fa", &[sequences[1], sequences[4]]);
    small.write("one.fa", &[sequences[1]]);
    small.write("rest.fa", &sequences[2..]);
    small.write_reads();
    for options in ["", "--preset metacache", "--parts 2", "--drop-ambiguous species"] {
        let build = |name: &str, genomes: &str| {
            dir.run(&format!("build --taxonomy tax {options} --unmapped u -o {name} {genomes}"))
        };
        build("two.mgdb", "two.fa").ok();
        assert_eq!(dir.read("u"), b"");
        for threads in [1, 3] {
            build("all.mgdb", &format!("all.fa -t {threads}")).ok();
            assert_eq!(
                String::from_utf8(dir.read("u")).unwrap(),
                "u1\tno taxid found\nu2\tno taxid found\nu3\ttaxid 7 is not in the taxonomy\n\
                 u4\ttaxid 1 is the root, which is not a taxon\n"
            );
            // Everything except the header, which stores their number.
            assert!(dir.read("all.mgdb")[4096..] == dir.read("two.mgdb")[4096..], "{options}");
            assert_eq!(info(dir, "all.mgdb")["left_out"], 4);
            assert_eq!(info(dir, "two.mgdb")["left_out"], 0);
        }
        let lines = dir.run("classify -q two.mgdb r.fa").ok();
        assert_eq!(taxids(&lines), ["101", "102", "0"]);
        assert_eq!(dir.run("classify -q all.mgdb r.fa").ok(), lines);
        dir.run("db verify all.mgdb two.mgdb").ok();
        if options.contains("drop") {
            continue;
        }
        let references = format!("classify --references all.fa --taxonomy tax {options} r.fa");
        if !options.contains("parts") {
            let ran = dir.run(&references);
            assert_eq!(ran.warnings().len(), 1, "{}", ran.stderr);
            assert_eq!(ran.ok(), lines);
        }
        // When such sequences are added to a database, an error names them; with --allow-unmapped they are left out.
        build("one.mgdb", "one.fa").ok();
        let refused = dir.run("db add --taxonomy tax one.mgdb rest.fa -o x.mgdb").fails(1);
        assert_eq!(
            refused,
            "error: 3 of 4 sequences have no taxon, first u2: no taxid found; give a table of their \
             taxids with --map, or leave them out with --allow-unmapped\n"
        );
        let add = "db add --taxonomy tax --allow-unmapped one.mgdb";
        dir.run(&format!("{add} rest.fa -o x.mgdb")).ok();
        assert_eq!(info(dir, "x.mgdb")["left_out"], 3);
        if options.is_empty() {
            assert!(dir.read("x.mgdb")[4096..] == dir.read("two.mgdb")[4096..], "{options}");
        }
        assert_eq!(dir.run("classify -q x.mgdb r.fa").ok(), lines);
        small.write("none.fa", &[("u1", 2)]);
        let none = dir.run(&format!("{add} none.fa -o y.mgdb")).fails(1);
        assert!(
            none.contains("nothing to add: none of 1 sequences has a taxon, first u1"),
            "{none}"
        );
        let strict = dir.run("db add -q --taxonomy tax one.mgdb rest.fa --strict -o y.mgdb");
        assert!(strict.fails(1).contains("(--strict)"));
        assert!(!dir.path("y.mgdb").exists());
    }
}

/// A sequence longer than a block of input is left out as a whole, also with little memory for features.
#[test]
fn long_sequences_are_left_out_as_a_whole() {
    let small = Small::new();
    let dir = &small.dir;
    let mut random = Random(5);
    let mut long = |header: &str| {
        format!(">{header}\n{}\n", String::from_utf8(random.bases(2_500_000)).unwrap())
    };
    let (unknown, known) = (long("u"), long("k taxid|101"));
    let short = format!(">s taxid|102\n{}\n", small.genomes[1]);
    dir.write("all.fa", format!("{short}{unknown}{known}"));
    dir.write("two.fa", format!("{short}{known}"));
    let build = |name: &str, options: &str| {
        dir.run(&format!("build -q --taxonomy tax {options} -o {name}.mgdb {name}.fa")).ok();
    };
    build("two", "");
    for options in ["-t 1", "-t 4", "-t 1 --memory 160M"] {
        build("all", options);
        assert!(dir.read("all.mgdb")[4096..] == dir.read("two.mgdb")[4096..], "{options}");
    }
}

/// A database without any taxon is refused, and no files are left.
#[test]
fn no_taxon_at_all_is_an_error() {
    let small = Small::new();
    let dir = &small.dir;
    small.write("g.fa", &[("a", 0), ("b taxid|9", 1)]);
    for build in [
        "build",
        "build --preset metacache",
        "build --format kraken2",
        "classify --references g.fa r.fa",
    ] {
        let genomes = if build.starts_with("build") { "g.fa -o x" } else { "-o x" };
        small.write_reads();
        let said = dir.run(&format!("{build} --taxonomy tax {genomes}")).fails(1);
        let none = "nothing to build: none of 2 sequences has a taxon, first a: no taxid found";
        assert!(said.contains(none), "{said}");
        assert!(!dir.path("x").exists());
    }
}

/// Databases of earlier versions contain sequences without a taxon: these are ignored, with one warning.
#[test]
fn earlier_databases_with_such_sequences() {
    let dir = Dir::new();
    for preset in ["sensitive", "metacache"] {
        let file = root().join(format!("tests/data/unmapped/{preset}.mgdb.gz"));
        dir.write("old.mgdb", gunzip(&file));
        // Equal numbers of reads of two species; for each genome there is also a sequence without a taxon.
        dir.write("r.fa", gunzip(&root().join("tests/data/unmapped/reads.fa.gz")));
        dir.write("x2.fa", dir.read("r.fa"));
        let found = info(&dir, "old.mgdb");
        assert_eq!((&found["without_taxon"], &found["left_out"]), (&3.into(), &0.into()));
        let ran =
            dir.run("classify old.mgdb r.fa x2.fa --json j --report k --report-minimizer-data");
        assert_eq!(
            ran.warnings(),
            [
                "warning: old.mgdb: 3 of 5 sequences have no taxon and are ignored: build it again to leave them out"
            ]
        );
        let json: serde_json::Value = serde_json::from_slice(&dir.read("j")).unwrap();
        assert_eq!(json["warnings"].as_array().unwrap().len(), 1);
        let lines = ran.ok();
        assert_eq!(taxids(&lines), ["101", "102", "0", "101", "102", "0"]);
        assert!(!lines.contains("\t1:") && !lines.contains(" 1:"), "{lines}");
        // Lines of the earlier version name such taxa; joining ignores them.
        dir.write("old.tsv", "U\tr0\t0\t150\t1:54 101:54\nU\tr2\t0\t150\t1:57\n");
        let joined = dir.run("db merge-results -q -d old.mgdb old.tsv -o -").ok();
        assert_eq!(joined, "C\tr0\t101\t150\t101:54\nU\tr2\t0\t150\t0:0\n");
        let confident = dir.run("classify -q old.mgdb r.fa --confidence 0.3").ok();
        assert_eq!(taxids(&confident), ["101", "102", "0"]);
        assert!(!String::from_utf8(dir.read("k")).unwrap().contains("\tR\t1\troot"), "no root");
    }
}
