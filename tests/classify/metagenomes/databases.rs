//! `db add`, `db taxa`, `db merge-results`, parts, pruning.

use merganser_test_support::reads::Random;

use super::world::{World, lines};

/// A database with genomes added is, byte for byte, the one built from all genomes in that order.
#[test]
fn adding_equals_building_all() {
    let world = World::built();
    let dir = &world.dir;
    for preset in ["sensitive", "metacache"] {
        dir.run(&format!("build -q --taxonomy tax --preset {preset} -o refs.mgdb genomes")).ok();
        dir.run(&format!("build -q --taxonomy tax --preset {preset} -o x.mgdb genomes/a.fa")).ok();
        dir.run("db add -q --taxonomy tax x.mgdb genomes/b.fa -o y.mgdb").ok();
        let two = dir.read("y.mgdb");
        dir.run("db add -q --taxonomy tax y.mgdb genomes/c.fa --threads 1").ok();
        assert!(dir.read("y.mgdb") == dir.read("refs.mgdb"), "{preset}");
        assert!(dir.read("y.mgdb") != two);
        // Without the taxonomy dump, only the database's own taxa are known.
        dir.write("more.fa", [dir.read("genomes/c.fa"), dir.read("genomes/a.fa")].concat());
        let own = dir.run("db add x.mgdb more.fa -o z.mgdb --allow-unmapped --unmapped list");
        assert_eq!(own.warnings().len(), 2, "{}", own.stderr);
        own.ok();
        assert_eq!(dir.read("list"), b"c.1|kraken:taxid|21\ttaxid 21 is not in the taxonomy\n");
        dir.run("db verify x.mgdb y.mgdb z.mgdb").ok();
    }
    dir.run("db add -q x.mgdb genomes/c.fa --strict -o w.mgdb").fails(1);
    dir.run("build -q --taxonomy tax --drop-ambiguous species -o p.mgdb genomes").ok();
    let pruned = dir.run("db add -q --taxonomy tax p.mgdb genomes/c.fa").fails(1);
    assert!(pruned.starts_with("error: p.mgdb: was built with features left out"), "{pruned}");
    assert!(!dir.path("w.mgdb").exists());
}

/// Features of several taxa can be left out. Two species share half a genome, whose features do not distinguish them.
#[test]
fn features_of_several_taxa_can_be_left_out() {
    let world = World::built();
    let dir = &world.dir;
    let info = |name: &str| -> serde_json::Value {
        serde_json::from_str(&dir.run(&format!("db info {name} --json")).ok()).unwrap()
    };
    dir.run("build -q --taxonomy tax --drop-ambiguous species -o s.mgdb genomes").ok();
    dir.run("build -q --taxonomy tax --drop-ambiguous genus -o g.mgdb genomes").ok();
    dir.run("build -q --taxonomy tax --drop-ambiguous species --max-ambiguous 2 -o t.mgdb genomes")
        .ok();
    let features = |name| info(name)["features"].as_u64().unwrap();
    let (all, species) = (features("refs.mgdb"), features("s.mgdb"));
    assert!(species < all * 9 / 10 && species > all / 2, "{species} of {all}");
    assert_eq!((features("g.mgdb"), features("t.mgdb")), (all, all));
    assert_eq!(info("s.mgdb")["pruned"], true);
    let found = lines(&dir.run("classify s.mgdb -1 1.fq -2 2.fq -q").ok());
    assert!(found.iter().all(|line| line.taxid != 10), "no read is of the genus alone");
}

#[test]
fn taxa_and_sequences_of_a_database() {
    let world = World::built();
    let dir = &world.dir;
    let taxa = dir.run("db taxa refs.mgdb").ok();
    assert_eq!(
        taxa.lines().next(),
        Some("taxid\trank\tname\tparent\tsequences\tbases\tclade_sequences\tclade_bases")
    );
    assert_eq!(taxa.lines().count(), 13);
    assert!(taxa.contains("\n10\tgenus\tEscherichia\t6\t0\t0\t2\t60000\n"), "{taxa}");
    assert!(taxa.contains("\n13\tstrain\tEscherichia coli K-12\t11\t1\t30000\t1\t30000\n"));
    let genera = dir.run("db taxa refs.mgdb --rank genus").ok();
    assert_eq!(genera.lines().count(), 3, "{genera}");
    let sequences = dir.run("db taxa refs.mgdb --sequences").ok();
    assert!(
        sequences.contains("\nc.1|kraken:taxid|21\t21\tspecies\tSalmonella enterica\t30000\t"),
        "{sequences}"
    );
    dir.run("db taxa 1.fq").fails(1);
}

/// Merged results of separate databases equal those of one database (section 4.3 of the paper).
#[test]
fn merged_results_equal_those_of_one_database() {
    let world = World::built();
    let dir = &world.dir;
    for (preset, options) in [
        ("sensitive", ""),
        ("metacache", ""),
        ("metacache", "--lowest species --max-cand 1 --hitdiff 50"),
        ("sensitive", "--lowest genus --hitmin 9"),
    ] {
        let build = |output: &str, genomes: &str| {
            dir.run(&format!("build -q --taxonomy tax --preset {preset} -o {output} {genomes}"))
                .ok();
        };
        build("refs.mgdb", "genomes");
        build("parts.mgdb", "--parts 3 genomes");
        build("a.mgdb", "genomes/a.fa");
        build("b.mgdb", "genomes/b.fa genomes/c.fa");
        let run = |database: &str, output: &str| {
            let report = format!("--report {output}.k --abundance {output}.a");
            dir.run(&format!(
                "classify {database} -1 1.fq -2 2.fq -q {options} -o {output} {report}"
            ))
            .ok();
        };
        run("refs.mgdb", "all");
        run("parts.mgdb", "parts");
        run("a.mgdb", "one.gz");
        run("b.mgdb", "two");
        assert!(dir.read("parts") == dir.read("all"));
        let merged = dir.run(&format!(
            "db merge-results -d a.mgdb -d b.mgdb one.gz two -o joined --report joined.k {options}"
        ));
        assert!(dir.read("joined") == dir.read("all"), "{preset} {options}");
        // Lines do not show reads that belong to a single strain, so that the joined report ends at species.
        let report = |name: &str| String::from_utf8(dir.read(name)).unwrap();
        let expected = match (preset, options.contains("genus")) {
            ("sensitive", false) => ending_at(&report("all.k"), "S"),
            ("sensitive", true) => ending_at(&report("all.k"), "G"),
            _ => report("all.k"),
        };
        assert_eq!(report("joined.k"), expected, "{preset} {options}");
        let warned = merged.stderr.contains("warning: reads are counted at the taxa in the lines");
        assert!(merged.code == Some(0) && warned == (expected != report("all.k")), "{merged:?}");
    }
}

/// Which 254 locations of a feature are kept is decided over all genomes: parts of one database give the result of
/// the whole, whereas separately built databases cannot.
#[test]
fn parts_are_joined_to_the_whole_where_features_are_full() {
    let world = World::new();
    let dir = &world.dir;
    let mut random = Random(5);
    let (repeat, genomes) = (random.bases(280), [("a", 13, 350), ("b", 12, 60), ("c", 21, 9)]);
    for (name, taxid, copies) in genomes {
        let mut letters = Vec::new();
        for _ in 0..copies {
            letters.extend_from_slice(&repeat);
            letters.extend(random.bases(300));
        }
        let letters = String::from_utf8_lossy(&letters);
        dir.write(
            &format!("genomes/{name}.fa"),
            format!(">{name}.1|kraken:taxid|{taxid}\n{letters}\n"),
        );
    }
    let build = |output: &str, genomes: &str| {
        dir.run(&format!("build -q --taxonomy tax -o {output} {genomes}")).ok();
    };
    let all = "genomes/a.fa genomes/b.fa genomes/c.fa";
    build("refs.mgdb", all);
    build("parts.mgdb", &format!("--parts 2 {all}"));
    build("one.mgdb", "genomes/a.fa");
    build("two.mgdb", "genomes/b.fa genomes/c.fa");
    dir.run("db split parts.mgdb -o part{}.mgdb").ok();
    dir.run("db verify part1.mgdb part2.mgdb").ok();
    let reads: String = (0..200)
        .map(|at| {
            let from = random.below(150);
            let mut letters = repeat[from..from + 120].to_vec();
            letters[random.below(120)] = b'N';
            format!(">r{at}\n{}\n", String::from_utf8_lossy(&letters))
        })
        .collect();
    dir.write("reads.fa", reads);
    let run = |database: &str, output: &str| {
        dir.run(&format!("classify -q {database} reads.fa --near 0 -o {output}")).ok();
    };
    run("refs.mgdb", "whole");
    let joined = |one: &str, two: &str| {
        run(one, "1.tsv");
        run(two, "2.tsv");
        let merge = format!("db merge-results -q -d {one} -d {two} 1.tsv 2.tsv -o joined");
        dir.run(&merge).ok();
        dir.read("joined")
    };
    assert!(joined("part1.mgdb", "part2.mgdb") == dir.read("whole"));
    assert!(joined("one.mgdb", "two.mgdb") != dir.read("whole"));
    // Genomes cannot be added to a single part, because the other parts have information that it lacks.
    dir.run("db add part1.mgdb genomes/c.fa").fails(1);
    dir.run("db split parts.mgdb -o part.mgdb").fails(2);
    dir.run("db split parts.mgdb -o part{}/x").fails(1);
}

/// Returns a report in which all reads below taxa of a rank are assigned to these taxa.
fn ending_at(report: &str, code: &str) -> String {
    let mut text = String::new();
    let mut end: Option<usize> = None;
    for row in report.lines() {
        let mut cells: Vec<&str> = row.split('\t').collect();
        let depth = cells[5].len() - cells[5].trim_start().len();
        if end.is_some_and(|end| depth > end) {
            continue;
        }
        end = (cells[3] == code).then_some(depth);
        if end.is_some() {
            cells[2] = cells[1];
        }
        text += &(cells.join("\t") + "\n");
    }
    text
}

#[test]
fn results_that_cannot_be_merged() {
    let world = World::built();
    let dir = &world.dir;
    dir.run("build -q --taxonomy tax -o a.mgdb genomes/a.fa").ok();
    dir.run("build -q --taxonomy tax --preset metacache -o m.mgdb genomes/b.fa").ok();
    dir.run("classify a.mgdb 1.fq -q -o a --report k").ok();
    dir.run("classify a.mgdb 2.fq -q -o other").ok();
    let text = String::from_utf8(dir.read("a")).unwrap();
    let (head, _) = text.trim_end().rsplit_once('\n').unwrap();
    dir.write("short", format!("{head}\n"));
    dir.write("foreign", text.replace("11:", "999:"));
    let merge = |args: &str, code| dir.run(&format!("db merge-results {args} -o x")).fails(code);
    let cases = [
        ("-d a.mgdb -d m.mgdb a a", 1, "its parameters differ from those of"),
        ("-d a.mgdb a a", 2, "1 databases (-d) and 2 files"),
        ("-d a.mgdb -d a.mgdb a other", 1, "results must be for the same reads"),
        ("-d a.mgdb -d a.mgdb a short", 1, "short: has no further read where a has read r699"),
        ("-d a.mgdb -d a.mgdb short a", 1, "a: has read r699"),
        ("-d a.mgdb -d a.mgdb a k", 1, "k: line 1: this is a report"),
        ("-d a.mgdb 1.fq", 1, "1.fq: line 1: not the five columns"),
        ("-d a.mgdb foreign", 1, "taxid 999 is in none of the databases"),
        ("-d a.mgdb gone", 1, "gone: "),
    ];
    for (args, code, expected) in cases {
        let message = merge(args, code);
        assert!(message.contains(expected), "{args}: {message}");
    }
    assert!(!dir.path("x").exists());
}
