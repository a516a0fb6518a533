//! `classify --shard` and `classify join`: joined shards have the bytes of a single run.

use super::world::World;
use merganser_test_support::Dir;
use merganser_test_support::tools::shell;

/// Options of reports about all reads, of both `classify` and `classify join`.
const REPORTS: &str = "--report OUT.kreport --report-bases OUT.bases --bases --report-zero-counts --mpa OUT.mpa \
                       --krona OUT.krona --abundance OUT.tsv --cami OUT.cami --min-reads 3";

/// Returns the options with this name of the reports.
fn reports(name: &str) -> String {
    REPORTS.replace("OUT", name)
}

/// Asserts that classifying in shards and joining them has the outputs of one run. `end` is the suffix of the lines.
fn joined_is_classified(dir: &Dir, run: &str, shards: usize, end: &str) {
    let one = format!("classify -q {run} -o one{end} {}", reports("one"));
    dir.run(&one).ok();
    let (mut partials, mut lines) = (String::new(), String::new());
    // The order of the shards does not matter.
    for at in (1..=shards).rev() {
        let threads = 1 + at % 3;
        let outputs = format!("-o s{at}{end} --partial s{at}.partial");
        dir.run(&format!("classify -q {run} -t {threads} --shard {at}/{shards} {outputs}")).ok();
        partials += &format!(" s{at}.partial");
        lines += &format!(" s{at}{end}");
    }
    let joined = format!("-o joined{end} {}", reports("joined"));
    dir.run(&format!("classify join {partials} --lines {lines} {joined}")).ok();
    for file in [end, ".kreport", ".bases", ".mpa", ".krona", ".tsv", ".cami"] {
        let [one, joined] = ["one", "joined"].map(|name| dir.read(&format!("{name}{file}")));
        assert!(one == joined, "{run}: {shards} shards: {file}");
    }
}

#[test]
fn shards_are_joined_to_one_run() {
    let world = World::built();
    let dir = &world.dir;
    dir.run("build -q --format kraken2 --taxonomy tax -o k2 genomes").ok();
    let pairs = "-1 1.fq -2 2.fq";
    for (run, shards, end) in [
        (format!("refs.mgdb {pairs}"), 3, ".lines"),
        (format!("refs.mgdb {pairs} -U 1.fq 2.fq --report-minimizer-data"), 4, ".lines.gz"),
        (format!("refs.mgdb {pairs} -U 2.fq --mapped-only --use-names"), 2, ".lines"),
        ("refs.mgdb 1.fq --format metacache --queryids --tophits".into(), 3, ".lines"),
        (format!("refs.mgdb {pairs} --format metacache --mapped-only"), 5, ".lines"),
        ("refs.mgdb 1.fq 2.fq".into(), 1, ".lines"),
        (format!("k2 {pairs} 1.fq"), 3, ".lines"),
        ("k2 1.fq --confidence 0.1 --use-names".into(), 4, ".lines.gz"),
    ] {
        joined_is_classified(dir, &run, shards, end);
    }
    // Fewer reads than shards, and no reads.
    dir.write("two.fq", "@a\nACGT\n+\nIIII\n@b\nAC\n+\nII\n");
    dir.write("none.fq", "");
    joined_is_classified(dir, "refs.mgdb two.fq none.fq", 7, ".lines");
    joined_is_classified(dir, "refs.mgdb none.fq", 2, ".lines");
    joined_is_classified(dir, "k2 two.fq --report-minimizer-data", 3, ".lines");
}

/// Kraken's estimates depend on blocks of 10,000 pairs or 3 MiB, so that shards are cut at their boundaries.
#[test]
fn estimates_of_distinct_minimizers_are_those_of_one_run() {
    let world = World::built();
    let dir = &world.dir;
    dir.run("build -q --format kraken2 --taxonomy tax -o k2 genomes").ok();
    let [one, two] = world.pairs(35_000, 3);
    dir.write("1.fq", one);
    dir.write("2.fq", two);
    for (reads, shards) in [("-1 1.fq -2 2.fq", 3), ("1.fq 2.fq", 2), ("-1 1.fq -2 2.fq 2.fq", 9)] {
        let run = format!("k2 {reads} --report-minimizer-data");
        joined_is_classified(dir, &run, shards, ".lines");
    }
}

/// With a sample sheet, a shard consists of complete samples.
#[test]
fn samples_of_a_sheet_are_divided() {
    let world = World::built();
    let dir = &world.dir;
    let sheet: String = (0..7).map(|at| format!("s{at},1.fq,2.fq\ns{at},1.fq\n")).collect();
    dir.write("sheet.csv", sheet);
    let run = "classify -q refs.mgdb --sample-sheet sheet.csv";
    dir.run(&format!("{run} -o whole.{{}}.tsv --report whole.{{}}.kreport")).ok();
    for shard in 1..=3 {
        let outputs = "-o part.{}.tsv --report part.{}.kreport";
        dir.run(&format!("{run} --shard {shard}/3 {outputs} --json {shard}.json")).ok();
    }
    for file in (0..7).flat_map(|at| [format!("s{at}.tsv"), format!("s{at}.kreport")]) {
        let [whole, part] = ["whole", "part"].map(|name| dir.read(&format!("{name}.{file}")));
        assert!(whole == part, "{file}");
    }
    let samples = |shard: usize| -> Vec<String> {
        let summary: serde_json::Value =
            serde_json::from_slice(&dir.read(&format!("{shard}.json"))).unwrap();
        summary["results"]["samples"].as_object().unwrap().keys().cloned().collect()
    };
    assert_eq!([1, 2, 3].map(|shard| samples(shard).len()), [3, 2, 2]);
}

/// Shards that do not belong together are refused in one line with the file and the difference; no output is left.
#[test]
fn what_does_not_go_together() {
    let world = World::built();
    let dir = &world.dir;
    let shard = |name: &str, rest: &str| {
        dir.run(&format!("classify -q refs.mgdb -o {name}.tsv --partial {name}.partial {rest}"))
            .ok()
    };
    shard("a", "--shard 1/3 1.fq");
    shard("b", "--shard 2/3 1.fq");
    shard("c", "--shard 3/3 1.fq");
    shard("other", "--shard 3/3 2.fq");
    shard("four", "--shard 3/4 1.fq");
    shard("options", "--shard 3/3 1.fq --hitmin 9");
    shard("names", "--shard 3/3 1.fq --use-names");
    shard("pairs", "--shard 3/3 -1 1.fq -2 2.fq");
    shard("whole", "1.fq");
    dir.write("cut.tsv", &dir.read("b.tsv")[..300]);
    dir.write("sheet.csv", "a,1.fq\n");
    let before = dir.names();
    let mut said = String::new();
    let mut refuse = |code: i32, args: &str| {
        said += &format!("$ merganser {args}\n{}", dir.run(args).fails(code));
        assert_eq!(dir.names(), before, "{args}");
    };
    for name in ["other", "four", "options", "names", "pairs", "whole", "b", "missing"] {
        refuse(1, &format!("classify join a.partial b.partial {name}.partial --report o"));
    }
    let join = "classify join a.partial b.partial c.partial";
    refuse(1, "classify join a.partial b.partial --report o");
    refuse(1, "classify join whole.partial a.partial --report o");
    refuse(1, &format!("{join} --lines a.tsv b.tsv -o o"));
    refuse(1, &format!("{join} --lines a.tsv c.tsv b.tsv -o o"));
    refuse(1, &format!("{join} --lines a.tsv cut.tsv c.tsv -o o"));
    refuse(1, &format!("{join} --lines a.tsv missing c.tsv -o o"));
    refuse(1, &format!("{join} --lines a.tsv b.tsv c.tsv -o a.tsv"));
    refuse(2, &format!("{join} --lines a.tsv b.tsv c.tsv"));
    refuse(2, join);
    let run = "classify refs.mgdb 1.fq --no-map --partial p --shard";
    for options in ["--report o", "--hits-per-ref o", "--plot -", "--cov-percentile 5"] {
        refuse(2, &format!("{run} 1/3 {options}"));
    }
    refuse(2, "classify refs.mgdb 1.fq --shard 1/3 -o o");
    refuse(1, "classify refs.mgdb - --no-map --partial p --shard 1/3");
    insta::assert_snapshot!(said);
}

/// A job is identified by the content of its files: copies with other paths and times are the same job; reads or a
/// Kraken table of the same size whose middle differs are another job.
#[test]
fn copies_of_files_are_one_job_and_other_content_is_not() {
    let world = World::built();
    let dir = &world.dir;
    dir.run("build -q --format kraken2 --taxonomy tax -o k2 genomes").ok();
    let text = world.pairs(4000, 3)[0].clone();
    dir.write("r.fq", &text);
    let changed = |bytes: &[u8]| {
        let mut bytes = bytes.to_vec();
        let middle = bytes.len() / 2;
        let letter = (middle..).find(|&at| b"ACGT".contains(&bytes[at])).unwrap();
        bytes[letter] = if bytes[letter] == b'A' { b'C' } else { b'A' };
        bytes
    };
    dir.write("other.fq", changed(text.as_bytes()));
    shell(
        dir.root(),
        "mkdir elsewhere && cp r.fq elsewhere/copy && cp -r k2 elsewhere/copy.k2 &&
         cp refs.mgdb elsewhere/copy.mgdb && cp -r k2 other.k2 && touch -d 2001-02-03 elsewhere/* elsewhere/copy.k2/*",
    );
    // Another taxon in a cell of the table, which keeps its size.
    let mut table = dir.read("k2/hash.k2d");
    let cells = (table.len() - 32) / 4;
    let cell = |at: usize| 32 + 4 * at;
    let is_filled = |at: &usize| table[cell(*at)..cell(*at) + 4] != [0; 4];
    let [one, two] = [(0..cells).find(is_filled), (0..cells).rfind(is_filled)].map(Option::unwrap);
    let taxon = table[cell(two)];
    assert_ne!(table[cell(one)], taxon, "these cells have different taxa");
    table[cell(one)] = taxon;
    dir.write("other.k2/hash.k2d", table);
    for (database, copy) in [("refs.mgdb", "elsewhere/copy.mgdb"), ("k2", "elsewhere/copy.k2")] {
        let shard = |name: &str, args: &str| {
            let outputs = format!("-o {name}.tsv --partial {name}.partial");
            dir.run(&format!("classify -q {args} {outputs}")).ok();
        };
        shard("one", &format!("{database} r.fq --shard 1/2"));
        shard("two", &format!("{database} r.fq --shard 2/2"));
        shard("copy", &format!("{copy} elsewhere/copy --shard 2/2"));
        shard("reads", &format!("{database} other.fq --shard 2/2"));
        assert!(dir.read("two.partial") == dir.read("copy.partial"), "{database}");
        let join = |other: &str| {
            dir.run(&format!("classify join -q one.partial {other}.partial --report joined"))
        };
        join("copy").ok();
        dir.run(&format!("classify -q {database} r.fq --no-map --report whole")).ok();
        assert!(dir.read("joined") == dir.read("whole"));
        let said = join("reads").fails(1);
        assert!(said.contains("reads.partial: "), "{said}");
        if database == "k2" {
            shard("table", "other.k2 r.fq --shard 2/2");
            let said = join("table").fails(1);
            assert!(said.contains("table.partial: ") && said.contains("checksum"), "{said}");
        }
    }
}
