//! Kraken 2 databases: results have the bytes of Kraken 2, and all other outputs work, too.

use std::path::PathBuf;

use super::world::{GENOMES, World};
use merganser_test_support::tools::{installed, shell};
use merganser_test_support::{Dir, MERGANSER, gunzip, root, shared};

/// Returns the folder with the database, the reads and the outputs of Kraken 2.17.1.
fn data() -> Option<PathBuf> {
    shared("kraken2/database/hash.k2d").and_then(|file| Some(file.parent()?.parent()?.to_owned()))
}

#[test]
fn lines_and_reports_are_those_of_2_17_1() {
    let Some(data) = data() else { return };
    let dir = Dir::new();
    let cases = [
        ("default", ""),
        ("confidence_0.1", "--confidence 0.1"),
        ("groups_4", "--minimum-hit-groups 4"),
        ("quality_10", "--minimum-base-quality 10"),
        ("names", "--use-names"),
        ("minimizer_data", "--report-minimizer-data"),
        ("zero_counts", "--report-zero-counts"),
        ("pairs", "--report-minimizer-data --classified-out c#.fq --unclassified-out u#.fq"),
    ];
    let mut compared = 0;
    for (name, options) in cases {
        let reads = match name {
            "pairs" => "-1 {}/pairs_1.fq.gz -2 {}/pairs_2.fq.gz",
            _ => "{}/reads.fq.gz",
        };
        let reads = reads.replace("{}", &data.display().to_string());
        let database = data.join("database");
        for threads in [1, 3] {
            dir.run(&format!(
                "classify {} {reads} -q -t {threads} -o o.tsv --report o.report {options}",
                database.display()
            ))
            .ok();
            for kind in ["tsv", "report"] {
                let expected = data.join(format!("expected/{name}.{kind}.gz"));
                if expected.exists() {
                    assert!(dir.read(&format!("o.{kind}")) == gunzip(&expected), "{name} {kind}");
                    compared += 1;
                }
            }
        }
    }
    assert_eq!(compared, 26);
    for file in ["classified_1", "unclassified_2"] {
        let expected = gunzip(&data.join(format!("expected/pairs.{file}.fq.gz")));
        let ours = file.replacen("classified", "c", 1).replacen("unc_", "u_", 1);
        assert!(dir.read(&format!("{ours}.fq")) == expected, "{file}");
    }
}

/// Builds a database of the genomes of a world with the installed kraken2-build.
fn build(world: &World, options: &str) {
    let root = world.dir.root();
    shell(
        root,
        "mkdir -p k2/taxonomy && cp tax/*.dmp k2/taxonomy && touch k2/taxonomy/x.accession2taxid",
    );
    for (name, _) in GENOMES {
        let add = format!("kraken2-build --db k2 --no-masking --add-to-library genomes/{name}.fa");
        shell(root, &format!("{add} 2>&1"));
    }
    shell(root, &format!("kraken2-build --db k2 --build --threads 1 {options} 2>&1"));
}

/// Returns the rows of a report without rank codes, of which Debian's build of Kraken 2 writes only a part.
fn without_ranks(report: &[u8]) -> Vec<Vec<String>> {
    let text = String::from_utf8(report.to_vec()).unwrap();
    let cells = text.lines().map(|line| line.split('\t').map(str::to_owned).collect());
    let mut rows: Vec<Vec<String>> = cells.collect();
    for row in &mut rows {
        row.remove(row.len() - 3);
    }
    rows
}

#[test]
fn the_installed_program_writes_the_same() {
    if !installed(&["kraken2", "kraken2-build"]) {
        return;
    }
    for built in ["", "--kmer-len 31 --minimizer-len 31 --minimizer-spaces 0"] {
        let world = World::built();
        let dir = &world.dir;
        build(&world, built);
        for options in ["", "--confidence 0.3 --use-names", "--quick", "--report-zero-counts"] {
            for (theirs, ours) in [("--paired 1.fq 2.fq", "-1 1.fq -2 2.fq"), ("1.fq", "1.fq")] {
                let out = "--output t.tsv --report t.report";
                shell(dir.root(), &format!("kraken2 --db k2 {options} {out} {theirs} 2>&1"));
                dir.run(&format!("classify k2 {ours} -q -o o.tsv --report o.report {options}"))
                    .ok();
                assert!(dir.read("t.tsv") == dir.read("o.tsv"), "{built} {options} {theirs}");
                let reports = ["t.report", "o.report"].map(|name| without_ranks(&dir.read(name)));
                assert_eq!(reports[0], reports[1], "{built} {options} {theirs}");
            }
        }
    }
}

/// Databases written by `build --format kraken2` have the results of those written by kraken2-build, in both
/// programs.
#[test]
fn databases_that_we_build() {
    if !installed(&["kraken2", "kraken2-build"]) {
        return;
    }
    for (theirs, ours) in [
        ("", ""),
        (
            "--kmer-len 25 --minimizer-len 20 --minimizer-spaces 3 --max-db-size 100000",
            "-k 25 --minimizer-len 20 --minimizer-spaces 3 --max-db-size 100000",
        ),
    ] {
        let world = World::built();
        let dir = &world.dir;
        build(&world, theirs);
        let to = "build --format kraken2 --masked none --taxonomy tax";
        for (folder, threads) in [("one", 1), ("three", 3)] {
            dir.run(&format!("{to} -q -t {threads} {ours} -o new/{folder} genomes")).ok();
            for file in ["hash.k2d", "opts.k2d", "taxo.k2d"] {
                let built = dir.read(&format!("new/{folder}/{file}"));
                assert!(built == dir.read(&format!("new/one/{file}")), "{file}");
            }
        }
        assert!(dir.read("new/one/taxo.k2d") == dir.read("k2/taxo.k2d"));
        assert_eq!(dir.read("new/one/hash.k2d").len(), dir.read("k2/hash.k2d").len());
        let expected = dir.run("classify k2 -1 1.fq -2 2.fq -q").ok();
        assert_eq!(dir.run("classify new/one -1 1.fq -2 2.fq -q").ok(), expected);
        shell(dir.root(), "kraken2 --db new/one --paired --output t.tsv 1.fq 2.fq 2>&1");
        assert_eq!(String::from_utf8(dir.read("t.tsv")).unwrap(), expected);
    }
    let world = World::built();
    let failing = |options: &str, code: i32| {
        // A genome that is masked completely has a warning.
        let line = "build -q --format kraken2 --taxonomy tax -o none/k2 genomes";
        let said = world.dir.run(&format!("{line} {options}")).fails(code);
        assert!(!world.dir.path("none").exists());
        said
    };
    assert!(
        failing("-k 20", 2).contains("error: -k 20 is out of range: --minimizer-len, which is 31")
    );
    assert!(failing("--memory 20M", 1).contains("or give --max-db-size, a limit for the table"));
    assert!(failing("--density 3", 2).contains("cannot be used with --format kraken2"));
    // An error after all files have been written.
    world.dir.write("odd.fa", format!(">odd kraken:taxid|999999\n{}\n", "ACGTTGCAAC".repeat(9)));
    assert!(
        failing("odd.fa --strict", 1).contains("1 sequences have no taxon (--strict), first odd")
    );
}

/// Returns the third column.
fn taxids(lines: &str) -> Vec<u32> {
    lines.lines().map(|line| line.split('\t').nth(2).unwrap().parse().unwrap()).collect()
}

/// Everything that works with our own databases works with Kraken 2 databases.
#[test]
fn reports_samples_and_sessions() {
    if !installed(&["kraken2", "kraken2-build"]) {
        return;
    }
    let world = World::built();
    let dir = &world.dir;
    build(&world, "");
    let out = "--krona k --mpa m --abundance a --cami c --json j --classified-out p.fq";
    let all = dir.run(&format!("classify k2 -1 1.fq -2 2.fq -q --report r {out}")).ok();
    let found = taxids(&all);
    let classified = found.iter().filter(|&&taxid| taxid != 0).count();
    assert!(classified > 500, "{classified}");
    let text = |name: &str| String::from_utf8(dir.read(name)).unwrap();
    // Without `#` in the name, mates are interleaved.
    assert_eq!(text("p.fq").lines().count(), 8 * classified);
    assert!(text("p.fq").lines().next().unwrap().contains(" kraken:taxid|"));
    let sum = |text: &str, column: usize| -> u64 {
        let rows = text.lines().filter(|line| !line.starts_with('#'));
        rows.map(|line| line.split('\t').nth(column).unwrap().parse::<u64>().unwrap()).sum()
    };
    assert_eq!(sum(&text("k"), 0), found.len() as u64);
    assert_eq!(sum(&text("r"), 2), found.len() as u64);
    assert!(text("a").starts_with("rank\ttaxid\tname\treads\testimated\tpercent\nunclassified\t0"));
    assert!(text("c").contains("@@TAXID\tRANK"));
    assert!(text("m").lines().all(|line| line.contains("__")));
    let json: serde_json::Value = serde_json::from_str(&text("j")).unwrap();
    assert_eq!(json["results"]["classified"], classified);
    assert_eq!(json["parameters"]["minimum_hit_groups"], 2);
    let mapped = dir.run("classify k2 -1 1.fq -2 2.fq -q --mapped-only").ok();
    assert_eq!(taxids(&mapped).len(), classified);
    dir.write("sheet.tsv", "s1\t1.fq\t2.fq\ns2\t1.fq\n");
    dir.run("classify k2 --sample-sheet sheet.tsv -q -o {}.tsv").ok();
    assert_eq!(text("s1.tsv"), all);
    let session = "printf '1.fq -o i.tsv --confidence 0.5\\n' | ";
    shell(dir.root(), &format!("{session} {MERGANSER} classify k2 --interactive -q"));
    assert_eq!(text("i.tsv"), dir.run("classify k2 1.fq -q --confidence 0.5").ok());
    assert_eq!(dir.run("db verify k2").ok(), "k2: ok\n");
    assert!(dir.run("db taxa k2").ok().starts_with("taxid\trank\tname\tparent"));
    let info: serde_json::Value = serde_json::from_str(&dir.run("db info --json k2").ok()).unwrap();
    assert_eq!((&info["k"], &info["minimizer_len"]), (&35.into(), &31.into()));
}

#[test]
fn what_cannot_be_is_said_in_a_line() {
    let dir = Dir::new();
    shell(dir.root(), &format!("cp -r {} k2", root().join("tests/data/kraken2").display()));
    dir.write("r.fq", "@r\nACGT\n+\nIIII\n");
    for (options, code, message) in [
        ("--hitmin 3", 2, "--hitmin requires a database of merganser (.mgdb), and this is one of"),
        ("--confidence 1.5", 2, "--confidence 1.5 is out of range: 0 to 1"),
        ("--memory 64M", 1, "by this database needs at least"),
        ("--format metacache", 2, "--format metacache requires a database of merganser"),
    ] {
        let said = dir.run(&format!("classify k2 r.fq {options}")).fails(code);
        assert!(said.contains(message), "{said}");
        assert_eq!(said.lines().count(), 1, "{said}");
    }
    // Empty inputs and too short reads give complete outputs.
    dir.write("none.fq", "");
    dir.run("classify k2 none.fq -q -o none.tsv --report none.report").ok();
    assert_eq!((dir.read("none.tsv").len(), dir.read("none.report").len()), (0, 0));
    assert_eq!(dir.run("classify k2 r.fq -q").ok(), "U\tr\t0\t4\t0:0\n");
    // A cell with an unknown taxon is reported by `db verify` and by a read with this minimizer.
    let mut table = dir.read("k2/hash.k2d");
    let filled = table[32..].chunks_exact(4).position(|cell| cell != [0; 4]).unwrap();
    table[32 + 4 * filled] |= 0x7f;
    dir.write("k2/hash.k2d", &table);
    let said = dir.run("db verify k2").fails(1);
    assert!(said.contains("k2/hash.k2d: a cell has taxon"), "{said}");
    for cut in [0, 31, 1000] {
        dir.write("k2/hash.k2d", &table[..cut]);
        let said = dir.run("classify k2 r.fq").fails(1);
        assert!(said.starts_with("error: k2/hash.k2d: "), "{said}");
    }
    dir.run("db info k2").fails(1);
}
