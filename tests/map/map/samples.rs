//! Several inputs and samples: read groups and sample sheets.

use std::collections::BTreeMap;

use merganser_test_support::Dir;
use merganser_test_support::reads::Random;

const LETTERS: usize = 80;

/// Returns a directory with a reference and three files of reads; the first two are mates.
fn world() -> Dir {
    let dir = Dir::new();
    let contig = Random(7).bases(5000);
    let text = String::from_utf8(contig.clone()).unwrap();
    dir.write("ref.fa", format!(">c\n{text}\n"));
    for (number, file) in ["a_1.fq", "a_2.fq", "b.fq"].iter().enumerate() {
        let mut reads = String::new();
        for at in 0..20 {
            let from = 100 * at + 120 * (number % 2);
            let letters = match number {
                1 => merganser_test_support::oracles::map::naive::reverse_complement(
                    &contig[from..from + LETTERS],
                ),
                _ => contig[from..from + LETTERS].to_vec(),
            };
            let letters = String::from_utf8(letters).unwrap();
            reads += &format!("@{at}\n{letters}\n+\n{}\n", "I".repeat(LETTERS));
        }
        dir.write(file, reads);
    }
    dir.run("index ref.fa -o ref.mgi").ok();
    dir
}

/// Returns the lines of read groups, and the number of records of each.
fn groups(sam: &str) -> (Vec<&str>, BTreeMap<&str, usize>) {
    let lines = sam.lines().filter(|line| line.starts_with("@RG")).collect();
    let mut counts = BTreeMap::new();
    for record in sam.lines().filter(|line| !line.starts_with('@')) {
        let group = record.split('\t').find_map(|field| field.strip_prefix("RG:Z:"));
        *counts.entry(group.unwrap_or("none")).or_default() += 1;
    }
    (lines, counts)
}

fn mapped(dir: &Dir, options: &[&str]) -> String {
    let all = "map ref.mgi b.fq -1 a_1.fq -2 a_2.fq -e 2 --threads 3";
    dir.run_with(all.split(' ').chain(options.iter().copied()), b"").ok()
}

#[test]
fn records_have_the_read_group_of_their_file() {
    let dir = world();
    let sam = mapped(&dir, &["-R", "@RG\\tID:{}\\tSM:one"]);
    let lines = vec!["@RG\tID:a\tSM:one", "@RG\tID:b\tSM:one"];
    assert_eq!(groups(&sam), (lines, BTreeMap::from([("a", 40), ("b", 20)])));
    let sam = mapped(&dir, &["-R", "@RG\\tID:x", "-R", "@RG\\tID:y\\tPL:z"]);
    let lines = vec!["@RG\tID:x", "@RG\tID:y\tPL:z"];
    assert_eq!(groups(&sam), (lines, BTreeMap::from([("x", 40), ("y", 20)])));
    let sam = mapped(&dir, &["-R", "@RG\\tID:{}1", "-R", "@RG\\tID:y{}\\tPL:z"]);
    let lines = vec!["@RG\tID:a1", "@RG\tID:yb\tPL:z"];
    assert_eq!(groups(&sam), (lines, BTreeMap::from([("a1", 40), ("yb", 20)])));
    let sam = mapped(&dir, &["-R", "@RG\\tID:all"]);
    assert_eq!(groups(&sam), (vec!["@RG\tID:all"], BTreeMap::from([("all", 60)])));
    assert_eq!(groups(&mapped(&dir, &[])), (vec![], BTreeMap::from([("none", 60)])));
}

#[test]
fn read_groups_that_do_not_fit_are_refused() {
    let dir = world();
    let group = |id: &str| format!(" -R @RG\\tID:{id}");
    let run = |groups: String| {
        dir.run(&format!("map ref.mgi b.fq -1 a_1.fq -2 a_2.fq -e 2 -o x.sam{groups}")).fails(2)
    };
    assert_eq!(run(group("x") + &group("x")), "error: -R: the ID x is given twice\n");
    assert_eq!(
        run(group("x") + &group("y") + &group("z")),
        "error: there are 3 of -R and 2 inputs: give one for all, or one for each input\n"
    );
    assert!(!dir.names().contains(&"x.sam".to_owned()));
}

#[test]
fn the_samples_of_a_sheet_are_mapped_one_by_one() {
    let dir = world();
    dir.write("sheet.tsv", "sample\treads\np\ta_1.fq\ta_2.fq\ns\tb.fq\np\tb.fq\n");
    let map = "map ref.mgi --sample-sheet sheet.tsv -e 2";
    dir.run(&format!("{map} -o {{}}.sam --unmapped {{}}.none.fq --json run.json")).ok();
    let [pair, single] = ["p.sam", "s.sam"].map(|name| String::from_utf8(dir.read(name)).unwrap());
    let lines = vec!["@RG\tID:p.1\tSM:p", "@RG\tID:p.2\tSM:p"];
    assert_eq!(groups(&pair), (lines, BTreeMap::from([("p.1", 40), ("p.2", 20)])));
    let own = (vec!["@RG\tID:s\tSM:s"], BTreeMap::from([("s", 20)]));
    assert_eq!(groups(&single), own);
    // A sample has the same output as when it is mapped alone.
    let alone = ["map", "ref.mgi", "b.fq", "-e", "2", "-R", "@RG\\tID:s\\tSM:s"];
    assert_eq!(dir.run_with(alone, b"").ok(), single);
    assert!(dir.names().contains(&"p.none.fq".to_owned()));
    let json: serde_json::Value = serde_json::from_slice(&dir.read("run.json")).unwrap();
    assert_eq!(json["results"]["samples"]["p"]["reads"], 60);
    assert_eq!(json["results"]["failed"], serde_json::json!([]));
    // Another library name.
    let given =
        format!("{map} --max-insert 300 --sort -o {{}}.bam -R @RG\\tID:{{}}\\tLB:l\\tSM:{{}}");
    dir.run(&given).ok();
    for name in ["p.bam", "p.bam.bai", "s.bam", "s.bam.bai"] {
        assert!(dir.names().contains(&name.to_owned()), "{name}");
    }
}

#[test]
fn a_sample_that_fails_does_not_keep_the_others() {
    let dir = world();
    dir.write("bad.fq", "@x\nACGT\nno plus\n");
    dir.write("sheet.csv", "bad,bad.fq\ngood,b.fq\n");
    let ran = dir.run("map ref.mgi --sample-sheet sheet.csv -e 2 -o {}.sam -q --json run.json");
    assert_eq!(ran.code, Some(1));
    assert!(ran.stderr.starts_with("error: bad: bad.fq: record 1"), "{}", ran.stderr);
    assert!(dir.names().contains(&"good.sam".to_owned()));
    assert!(!dir.names().contains(&"bad.sam".to_owned()));
    let json: serde_json::Value = serde_json::from_slice(&dir.read("run.json")).unwrap();
    assert_eq!(json["results"]["failed"], serde_json::json!(["bad"]));
}

#[test]
fn sheets_that_do_not_go_are_refused() {
    let dir = world();
    dir.write("sheet.csv", "a,a_1.fq\nb,b.fq\n");
    let before = dir.names();
    let map = "map ref.mgi --sample-sheet sheet.csv -e 2";
    assert_eq!(
        dir.run(&format!("{map} -o x.sam")).fails(2),
        "error: -o x.sam: with --sample-sheet, put {} where the sample's name belongs\n"
    );
    dir.write("pairs.csv", "a,a_1.fq,a_2.fq\n");
    assert_eq!(
        dir.run("map ref.mgi --sample-sheet pairs.csv -e 2 -o {}.sam --strand forward").fails(2),
        "error: --strand cannot be used with pairs: mates are on opposite strands\n"
    );
    std::fs::remove_file(dir.path("pairs.csv")).unwrap();
    let ran = dir.run("map ref.mgi b.fq --sample-sheet sheet.csv -e 2 -o {}.sam");
    assert_eq!(ran.code, Some(2), "{}", ran.stderr);
    dir.write("gone.csv", "a,a_1.fq\nb,gone.fq\n");
    let message = dir.run("map ref.mgi --sample-sheet gone.csv -e 2 -o {}.sam").fails(1);
    assert!(message.starts_with("error: gone.csv: line 2: gone.fq: "), "{message}");
    std::fs::remove_file(dir.path("gone.csv")).unwrap();
    assert_eq!(dir.names(), before);
}
