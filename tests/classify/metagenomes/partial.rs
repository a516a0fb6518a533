//! Partial results of `classify --partial`, joined by `report merge`, give the reports of a single run.

use super::world::World;
use merganser_test_support::{Dir, gunzip, root};

/// Formats of `report merge`, the option of `classify` for the same report, and further options of both.
const FORMATS: [(&str, &str, &str); 8] = [
    ("kreport", "--report", ""),
    ("kreport", "--report", "--report-zero-counts"),
    ("mpa", "--mpa", ""),
    ("mpa", "--mpa", "--report-zero-counts"),
    ("krona", "--krona", ""),
    ("abundance", "--abundance", ""),
    ("abundance", "--abundance", "--min-reads 20"),
    ("cami", "--cami", "--sample-id me"),
];

/// Cuts FASTQ files of mates into parts of different lengths: `p0_1.fq` and so on.
fn cut(dir: &Dir, parts: usize) {
    for mate in [1, 2] {
        let text = String::from_utf8(dir.read(&format!("{mate}.fq"))).unwrap();
        let lines: Vec<&str> = text.split_inclusive('\n').collect();
        let reads = lines.len() / 4;
        for part in 0..parts {
            let [from, to] = [part, part + 1].map(|at| reads * at * at / (parts * parts));
            dir.write(&format!("p{part}_{mate}.fq"), lines[4 * from..4 * to].concat());
        }
    }
}

/// Asserts that every report joined from `parts` parts is that of a single run.
fn check(dir: &Dir, database: &str, options: &str, parts: usize) {
    let (mut all, mut files) = (String::new(), String::new());
    for part in 0..parts {
        let mates = format!("-1 p{part}_1.fq -2 p{part}_2.fq");
        // Some partial results are compressed.
        let file = format!("{part}.partial{}", [".gz", ""][part % 2]);
        let threads = 1 + part % 3;
        let run = format!("classify {database} {mates} -q --no-map {options} -t {threads}");
        dir.run(&format!("{run} --partial {file}")).ok();
        all = format!("{all} {mates}");
        files = format!("{file} {files}");
    }
    for (format, option, also) in FORMATS {
        let out = if option == "--report" { "" } else { "--report r" };
        dir.run(&format!(
            "classify {database} {all} -q --no-map {options} {option} one {out} {also}"
        ))
        .ok();
        let ran = dir.run(&format!("report merge -q --format {format} {also} {files}"));
        assert!(ran.ok().as_bytes() == dir.read("one"), "{database} {options} {format} {also}");
    }
}

#[test]
fn reports_are_those_of_one_run() {
    let world = World::built();
    let dir = &world.dir;
    dir.run("build -q --taxonomy tax --preset metacache -o meta.mgdb genomes").ok();
    cut(dir, 3);
    for options in ["--report-minimizer-data", "--lowest genus --hitmin 2 --min-qual 22"] {
        check(dir, "refs.mgdb", options, 3);
    }
    check(dir, "meta.mgdb", "--report-minimizer-data", 3);
    dir.run("build -q --format kraken2 --taxonomy tax -o k2 genomes").ok();
    for options in ["--report-minimizer-data", "--confidence 0.2"] {
        check(dir, "k2", options, 3);
    }
    // A single part, and a part without reads.
    check(dir, "refs.mgdb", "--report-minimizer-data", 1);
    dir.write("p0_1.fq", "");
    dir.write("p0_2.fq", "");
    check(dir, "refs.mgdb", "--report-minimizer-data", 2);
    check(dir, "k2", "--report-minimizer-data", 1);
}

/// Partial results are samples in tables, together with reports, and Bracken accepts the merged report.
#[test]
fn tables_and_other_reports() {
    let world = World::built();
    let dir = &world.dir;
    cut(dir, 2);
    dir.write("sheet", "a,p0_1.fq,p0_2.fq\nb,p1_1.fq,p1_2.fq\n");
    let outputs = "--partial {}.partial --report {}.kreport --report-minimizer-data";
    dir.run(&format!("classify -q refs.mgdb --sample-sheet sheet --no-map {outputs}")).ok();
    let table = |files: &str| dir.run(&format!("report merge --no-headers {files}")).ok();
    let expected = table("a.kreport b.kreport");
    assert_eq!(table("a.partial b.partial"), expected);
    assert_eq!(table("a.partial b.kreport"), expected);
    dir.run("report merge -q --format kreport a.partial b.partial -o all.kreport.gz").ok();
    let one = "classify -q refs.mgdb -1 p0_1.fq -1 p1_1.fq -2 p0_2.fq -2 p1_2.fq --no-map";
    dir.run(&format!("{one} --report one.kreport --report-minimizer-data --krona one.krona")).ok();
    assert!(gunzip(&dir.path("all.kreport.gz")) == dir.read("one.kreport"));
    let both = ["all.kreport.gz", "one.kreport"]
        .map(|report| dir.run(&format!("report filter --rank S {report}")).ok());
    assert_eq!(both[0], both[1]);
    // Reports without the columns of minimizers have a warning when they are merged; partial results have the
    // columns.
    let plain = dir.run("report merge --format kreport a.kreport b.kreport -o plain.kreport");
    assert!(plain.warnings()[0].contains("minimizers are left out"), "{}", plain.stderr);
}

/// A warning names estimates of distinct minimizers that may differ, because Kraken 2's depend on its blocks of
/// input.
#[test]
fn estimates_that_may_be_others_are_named() {
    let dir = Dir::new();
    let data = root().join("tests/data");
    let [database, genome] = ["kraken2", "genomes/SARS-CoV-2_Wuhan-Hu-1.fna.gz"]
        .map(|name| data.join(name).display().to_string());
    let text = String::from_utf8(gunzip(genome.as_ref())).unwrap();
    let letters: String = text.lines().skip(1).collect();
    let [head, tail] = [&letters[..15_000], &letters[14_000..]];
    dir.write("a.fa", format!(">a\n{head}\n"));
    dir.write("b.fa", format!(">b\n{tail}\n"));
    for name in ["a", "b"] {
        let options = "--no-map --report-minimizer-data --partial";
        dir.run(&format!("classify -q {database} {name}.fa {options} {name}.partial")).ok();
    }
    let merge = "report merge --format kreport";
    let ran = dir.run(&format!("{merge} a.partial b.partial -o r"));
    let warnings = ran.warnings().join("\n");
    assert!(warnings.contains("the distinct minimizers of 1 taxon are Kraken's"), "{warnings}");
    let info = "2 files: classified 2 of 2 reads (100.00 %)";
    assert!(ran.stderr.contains(info), "{}", ran.stderr);
    assert_eq!(dir.run(&format!("{merge} a.partial -o r")).warnings(), [""; 0]);
    assert_eq!(dir.run("report merge --format mpa a.partial b.partial").warnings(), [""; 0]);
}

/// Partial results that do not belong together are refused in one line with the file and the difference; no output
/// is left.
#[test]
fn what_does_not_go_together() {
    let world = World::built();
    let dir = &world.dir;
    cut(dir, 2);
    dir.run("build -q --taxonomy tax -o other.mgdb genomes/a.fa genomes/b.fa").ok();
    dir.run("build -q --format kraken2 --taxonomy tax -o k2 genomes").ok();
    let run = |name: &str, rest: &str| {
        dir.run(&format!("classify -q --no-map --partial {name}.partial {rest}")).ok()
    };
    run("a", "refs.mgdb p0_1.fq");
    run("b", "refs.mgdb p1_1.fq");
    run("hits", "refs.mgdb p1_1.fq --hitmin 9");
    run("length", "refs.mgdb p1_1.fq --min-read-len 50");
    run("other", "other.mgdb p1_1.fq");
    run("kraken", "k2 p1_1.fq");
    dir.run("classify -q refs.mgdb p1_1.fq --no-map --report b.kreport").ok();
    dir.write("sheet", "a,p0_1.fq,p0_2.fq\n");
    dir.write("cut.partial", &dir.read("b.partial")[..300]);
    let before = dir.names();
    let mut said = String::new();
    let mut refuse = |code: i32, args: &str| {
        said += &format!("$ merganser {args}\n{}", dir.run(args).fails(code));
        assert_eq!(dir.names(), before, "{args}");
    };
    for name in ["hits", "length", "other", "kraken", "a", "cut", "missing"] {
        refuse(1, &format!("report merge --format abundance a.partial {name}.partial -o o"));
    }
    refuse(1, "report merge --format kreport a.partial b.kreport -o o");
    for options in [
        "--format mpa b.kreport",
        "--format krona a.partial --report-zero-counts",
        "--format kreport b.kreport --report-zero-counts",
        "--format kreport a.partial --min-reads 3",
        "--format abundance a.partial --sample-id me",
        "--format mpa a.partial --no-headers",
    ] {
        refuse(2, &format!("report merge {options} -o o"));
    }
    refuse(2, "classify refs.mgdb 1.fq --partial p --cov-percentile 5");
    refuse(2, "classify --references genomes --taxonomy tax 1.fq --partial p");
    refuse(2, "classify refs.mgdb --sample-sheet sheet --no-map --partial p");
    refuse(1, "report mpa a.partial -o o");
    insta::assert_snapshot!(said);
}
