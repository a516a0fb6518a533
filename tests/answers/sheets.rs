//! Sample sheets of pipelines in all commands that take them: results of separate runs, `--resume`, and refusals.

use serde_json::Value;

use merganser_test_support::{Dir, two_species};

/// A command, and the outputs of the samples `A` (two pairs of files) and `B` (single reads).
struct Case {
    /// Everything but the reads and outputs.
    command: &'static str,
    outputs: &'static str,
    /// The arguments of separate runs.
    pairs: &'static str,
    single: &'static str,
    /// The names of the outputs, with `{}` for the sample.
    names: &'static [&'static str],
}

const CASES: [Case; 5] = [
    Case {
        command: "count -k 21",
        outputs: "-o {}.mgk --histogram {}.hist",
        pairs: "1.fq 2.fq 3.fq 4.fq",
        single: "u.fq",
        names: &["{}.mgk", "{}.hist"],
    },
    Case {
        command: "deplete filter host.mgd",
        outputs: "-o {}.clean.fq --output-matching {}.host.fq",
        pairs: "-1 1.fq -1 3.fq -2 2.fq -2 4.fq",
        single: "u.fq",
        names: &["{}.clean.fq", "{}.host.fq"],
    },
    Case {
        command: "map -e 4 ref.mgi",
        outputs: "-o {}.sam --unmapped {}.rest.fq",
        pairs: "-1 1.fq -1 3.fq -2 2.fq -2 4.fq",
        single: "u.fq",
        names: &["{}.rest.fq"],
    },
    Case {
        command: "classify refs.mgdb",
        outputs: "-o {}.tsv --report {}.kreport",
        pairs: "-1 1.fq -1 3.fq -2 2.fq -2 4.fq",
        single: "u.fq",
        names: &["{}.tsv", "{}.kreport"],
    },
    Case {
        command: "kmers qv -k 15 --no-plots",
        outputs: "-o {}",
        pairs: "@list g0.fa",
        single: "u.fq g0.fa",
        names: &["{}.qv", "{}.g0.spectra-cn.hist"],
    },
];

/// A sheet as nf-core's rnaseq and taxprofiler have them, saved by a spreadsheet.
const SHEET: &str = "\u{feff}sample,run_accession,fastq_1,\"fastq_2\",assembly,strandedness\r\n\
                     A,r1, 1.fq ,\"2.fq\",g0.fa,auto\r\nB,,u.fq,,g0.fa,auto\r\n,,,,,\r\n\
                     \"A\",r2,3.fq,4.fq,g0.fa,auto\r\n";

fn prepared() -> Dir {
    let dir = two_species::prepared();
    let lines = |name: &str| -> Vec<String> {
        String::from_utf8(dir.read(name)).unwrap().lines().map(str::to_owned).collect()
    };
    for (from, [first, second]) in [("1.fq", ["a1.fq", "3.fq"]), ("2.fq", ["a2.fq", "4.fq"])] {
        let lines = lines(from);
        let half = lines.len() / 8 * 4;
        dir.write(first, lines[..half].join("\n") + "\n");
        dir.write(second, lines[half..].join("\n") + "\n");
    }
    for (from, to) in [("a1.fq", "1.fq"), ("a2.fq", "2.fq"), ("3.fq", "u.fq")] {
        std::fs::copy(dir.path(from), dir.path(to)).unwrap();
    }
    dir.write("list", "1.fq\n2.fq\n3.fq\n4.fq\n");
    dir.write("sheet.csv", SHEET);
    dir.run("deplete index -o host.mgd g0.fa").ok();
    dir.run("index -o ref.mgi g0.fa").ok();
    dir
}

fn results(dir: &Dir) -> Value {
    let json: Value = serde_json::from_slice(&dir.read("j.json")).unwrap();
    json["results"].clone()
}

#[test]
fn samples_have_the_outputs_of_separate_runs_and_are_resumed() {
    let dir = prepared();
    for Case { command, outputs, pairs, single, names } in CASES {
        let run = format!(
            "{command} --sample-sheet sheet.csv {outputs} --report-html {{}}.html --json j.json \
             --resume journal"
        );
        let skipped = |count: usize| {
            let ran = dir.run(&run);
            let text = format!("{count} of 2 samples were skipped");
            assert!(ran.stderr.contains(&text), "{command}: {}", ran.stderr);
            ran.ok();
        };
        let name = |name: &str, sample: &str| name.replace("{}", sample);
        skipped(0);
        let first = results(&dir);
        assert_eq!(first["failed"].as_array().map(Vec::len), Some(0), "{command}");
        assert!(first["samples"]["A"].is_object() && first["samples"]["B"].is_object());
        for (sample, reads) in [("A", pairs), ("B", single)] {
            assert!(dir.path(&format!("{sample}.html")).exists(), "{command}");
            let own = name(outputs, &format!("own{sample}"));
            dir.run(&format!("{command} {reads} {own}")).ok();
            for file in names {
                let [of_sheet, own] = [sample, &format!("own{sample}")].map(|of| name(file, of));
                assert!(dir.read(&of_sheet) == dir.read(&own), "{command}: {of_sheet}");
            }
        }
        skipped(2);
        assert_eq!(results(&dir), first, "{command}");
        // A changed output, and changed reads, are done again.
        dir.write(&name(names[0], "A"), "changed");
        skipped(1);
        assert_eq!(results(&dir), first, "{command}");
        let reads = dir.read("u.fq");
        dir.write("u.fq", &reads[..reads.len() / 8]);
        let ran = dir.run(&run);
        // The end of these reads is damaged or not; in any case they are not those of the journal.
        assert!(ran.stderr.contains("1 of 2 samples were skipped"), "{command}: {}", ran.stderr);
        dir.write("u.fq", &reads);
        std::fs::remove_file(dir.path("journal")).unwrap();
    }
}

/// The summary is of all samples.
#[test]
fn a_summary_is_not_named_by_a_sample() {
    let dir = prepared();
    let before = dir.names();
    for Case { command, outputs, .. } in CASES {
        let args = format!("{command} --sample-sheet sheet.csv {outputs} --json {{}}.json");
        let said = dir.run(&args).fails(2);
        assert!(
            said.contains("--json {}.json: the summary is of all samples"),
            "{command}: {said}"
        );
        assert_eq!(dir.names(), before, "{command}");
    }
}

/// A name without `{}` is that of one page of all samples, also if an earlier run did some of them.
#[test]
fn a_page_has_all_samples_of_a_sheet() {
    let dir = prepared();
    for Case { command, outputs, .. } in CASES {
        let each = "--report-data {}.json --report-html {}.html";
        dir.run(&format!("{command} --sample-sheet sheet.csv {outputs} {each}")).ok();
        let lines = ["A.json", "B.json"].map(|name| String::from_utf8(dir.read(name)).unwrap());
        let expected = format!("[{},{}]", lines[0].trim_end(), lines[1].trim_end());
        let expected = expected.replace('<', "\\u003c").replace('>', "\\u003e");
        let run = |options: &str, skipped: usize| {
            let all = "--report-html all.html --report-data all.json --resume journal";
            let line = format!("{command} --sample-sheet sheet.csv {outputs} {all} {options}");
            let ran = dir.run(&line);
            let text = format!("{skipped} of 2 samples were skipped");
            assert!(ran.stderr.contains(&text), "{command}: {}", ran.stderr);
            ran
        };
        let check = || {
            let page = String::from_utf8(dir.read("all.html")).unwrap();
            let (_, data) = page.split_once("id=\"data\">").unwrap();
            assert!(data.starts_with(&format!("{expected}</script>")), "{command}");
            assert!(dir.read("all.json") == lines.concat().as_bytes(), "{command}");
            std::fs::remove_file(dir.path("all.html")).unwrap();
        };
        run("", 0).ok();
        check();
        run("", 2).ok();
        check();
        // One sample is done again; the other is still on the page, after it.
        let changed = outputs.split_whitespace().nth(1).unwrap().replace("{}", "A");
        dir.write(&if command.contains("qv") { "A.qv".to_owned() } else { changed }, "changed");
        run("", 1).ok();
        check();
        // A sample without reads that can be read is on the page as such.
        let reads = dir.read("u.fq");
        dir.write("u.fq", "@r\nACGT\n+\nII\n");
        let ran = run("", 1);
        assert_eq!(ran.code, Some(1), "{command}: {}", ran.stderr);
        let page = String::from_utf8(dir.read("all.html")).unwrap();
        assert!(page.contains("This sample failed, and has no results here."), "{command}");
        assert!(page.contains("\"sample\":\"A\"") && page.contains("\"sample\":\"B\""));
        dir.write("u.fq", &reads);
        std::fs::remove_file(dir.path("journal")).unwrap();
        // Without the page, its results are not noted, so that adding it does the samples again.
        let line = format!("{command} --sample-sheet sheet.csv {outputs} --resume journal");
        dir.run(&line).ok();
        run("", 0).ok();
        check();
        std::fs::remove_file(dir.path("journal")).unwrap();
    }
    // No page replaces an input.
    let said =
        dir.run("count -k 21 --sample-sheet sheet.csv -o {}.mgk --report-html u.fq").fails(1);
    assert!(said.contains("u.fq: is an input, and will not be replaced"), "{said}");
}

#[test]
fn sheets_that_cannot_be_done_are_refused_before_any_work() {
    let dir = prepared();
    dir.write("case.csv", "sample,fastq_1,assembly\nS1,1.fq,g0.fa\ns1,2.fq,g0.fa\n");
    dir.write("path.csv", "sample,fastq_1,assembly\na/b,1.fq,g0.fa\n");
    dir.write("gone.csv", "sample,fastq_1,assembly\na,gone.fq,g0.fa\n");
    dir.write("url.csv", "sample,fastq_1,assembly\na,s3://x/1.fq,g0.fa\n");
    dir.write("none.csv", "sample,fastq_1,assembly\na,,\n");
    let before = dir.names();
    for Case { command, outputs, .. } in CASES {
        let run = |sheet: &str| dir.run(&format!("{command} --sample-sheet {sheet} {outputs}"));
        for (sheet, expected) in [
            ("case.csv", "case.csv: samples S1 and s1 differ only in case"),
            ("path.csv", "path.csv: line 2: the name 'a/b' has / or NUL in it"),
            ("gone.csv", "gone.csv: line 2: gone.fq: "),
            ("url.csv", "url.csv: line 2: s3://x/1.fq is a URL: download the file"),
            ("none.csv", "none.csv: line 2: there are no reads"),
        ] {
            let said = run(sheet).fails(1);
            assert!(said.contains(expected), "{command}: {said}");
            assert_eq!(said.lines().filter(|line| line.starts_with("error: ")).count(), 1);
        }
        let shared = outputs.replace("{}", "x");
        let said = dir.run(&format!("{command} --sample-sheet sheet.csv {shared}")).fails(2);
        assert!(said.contains("put {} where the sample's name belongs"), "{command}: {said}");
        let ran = dir.run(&format!("{command} {outputs} --resume j 1.fq"));
        assert_eq!(ran.code, Some(2), "{command}: {}", ran.stderr);
        assert!(ran.stderr.contains("--sample-sheet"), "{command}: {}", ran.stderr);
        assert_eq!(dir.names(), before, "{command}");
    }
    // A sample of pairs and single reads has no single kind of output.
    dir.write("mixed.csv", "sample,fastq_1,fastq_2\na,1.fq,2.fq\na,u.fq,\n");
    let said = dir.run("deplete filter host.mgd --sample-sheet mixed.csv -o {}.fq").fails(1);
    assert!(said.contains("a: this sample has pairs and single reads: make two samples"), "{said}");
    dir.write("plain.csv", "a,1.fq,2.fq\n");
    let said = dir.run("kmers qv --sample-sheet plain.csv -o {}").fails(1);
    assert!(said.contains("plain.csv: line 1: give the columns names: sample"), "{said}");
}

/// Runs a line, checks the number of skipped samples, and returns its messages.
fn skipped(dir: &Dir, line: &str, expected: &str) -> String {
    let ran = dir.run(line);
    assert!(ran.stderr.contains(&format!("{expected} samples were skipped")), "{}", ran.stderr);
    ran.stderr
}

#[test]
fn all_files_of_a_table_are_watched() {
    let dir = prepared();
    dir.run("count -k 15 --min-count 1 -o t.mgk 1.fq 2.fq").ok();
    dir.run("kmers convert --format kmc -o k t.mgk").ok();
    dir.write("qv.csv", "sample,reads,assembly\nA,k,g0.fa\n");
    dir.write("count.csv", "A,1.fq\n");
    let suffixes = dir.read("k.kmc_suf");
    for line in [
        "kmers qv --no-plots --sample-sheet qv.csv -o {} --resume j1",
        "count -k 15 --panel k.kmc_pre --sample-sheet count.csv -o {}.tsv --resume j2",
        "count -k 15 --panel k --sample-sheet count.csv -o {}.txt --format tsv --resume j3",
    ] {
        let said = skipped(&dir, line, "0 of 1");
        assert!(!said.contains("not noted"), "{said}");
        skipped(&dir, line, "1 of 1");
        // The counter of the first k-mer.
        let mut changed = suffixes.clone();
        let counter = changed.iter().position(|&byte| byte == 1).unwrap();
        changed[counter] = 9;
        dir.write("k.kmc_suf", &changed);
        skipped(&dir, line, "0 of 1");
        dir.write("k.kmc_suf", &suffixes);
    }
    // No output replaces the second file.
    let said = dir.run("count -k 15 --panel k --format kmc -o k 1.fq").fails(1);
    assert!(said.contains("is an input, and will not be replaced"), "{said}");
    let said = dir.run("count -k 15 --panel - --sample-sheet count.csv -o {}.tsv").fails(2);
    assert!(said.contains("--panel -: with --sample-sheet, each sample reads the panel"), "{said}");
}

#[test]
fn options_without_effect_on_results_do_not_count() {
    let dir = prepared();
    dir.write("count.csv", "A,1.fq\n");
    let line = "count -k 21 --sample-sheet count.csv -o {}.mgk --resume j";
    skipped(&dir, line, "0 of 1");
    skipped(&dir, &format!("{line} --bins 64 --storage disk --signature hash"), "1 of 1");
    skipped(&dir, &format!("{line} --hpc"), "0 of 1");
    let ran = dir.run("count -k 21 --sample-sheet count.csv --format none --model");
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
}

#[test]
fn journals_that_were_cut_are_continued() {
    let dir = prepared();
    dir.write("count.csv", "A,1.fq\n");
    let line = "count -k 21 --sample-sheet count.csv -o {}.mgk --resume j";
    skipped(&dir, line, "0 of 1");
    let journal = dir.read("j");
    for length in [0, 1, 9, 10, 11, 60, journal.len() - 2] {
        dir.write("j", &journal[..length]);
        skipped(&dir, line, "0 of 1");
        skipped(&dir, line, "1 of 1");
    }
    for other in ["\n", "{\n", "{}", "x"] {
        dir.write("j", other);
        let said = dir.run(line).fails(1);
        assert!(said.contains("j: is not a journal of --resume"), "{said}");
        assert_eq!(dir.read("j"), other.as_bytes());
    }
}

#[test]
fn marks_of_mates_are_not_those_in_names_of_samples() {
    let dir = prepared();
    dir.write("lanes.csv", "7_1#1,1.fq,2.fq\n");
    for (line, expected) in [
        ("deplete filter host.mgd -o {}.a.fq", &["7_1#1.a.fq"][..]),
        ("deplete filter host.mgd -o {}_#.b.fq", &["7_1#1_1.b.fq", "7_1#1_2.b.fq"]),
        ("classify refs.mgdb --no-map --classified-out {}.c.fq", &["7_1#1.c.fq"]),
        (
            "classify refs.mgdb --no-map --unclassified-out {}#.d.fq",
            &["7_1#1_1.d.fq", "7_1#1_2.d.fq"],
        ),
    ] {
        let before = dir.names();
        dir.run(&format!("{line} --sample-sheet lanes.csv")).ok();
        let mut names = dir.names();
        names.retain(|name| !before.contains(name));
        assert_eq!(names, expected, "{line}");
    }
}

#[test]
fn shards_of_a_sheet_are_whole_samples() {
    let dir = prepared();
    let options = "-k 21 --max-count 99 --histogram {}.hist --sample-sheet sheet.csv -o {}.tsv";
    dir.run(&format!("count {options} --report-html {{}}.html")).ok();
    let names = ["A.tsv", "A.hist", "B.tsv", "B.hist"];
    let whole = names.map(|name| dir.read(name));
    names.iter().for_each(|name| std::fs::remove_file(dir.path(name)).unwrap());
    for shard in ["1/2", "2/2"] {
        dir.run(&format!("count {options} --report-html {{}}.html --shard {shard}")).ok();
    }
    assert!(names.map(|name| dir.read(name)) == whole);
}

#[test]
fn haplotypes_may_have_rows_of_their_own() {
    let dir = prepared();
    dir.write("rows.csv", "sample,reads,assembly\nA,1.fq,g0.fa\nA,1.fq,g1.fa\n");
    dir.write("cells.csv", "sample,reads,hap1,hap2\nA,1.fq,g0.fa,g1.fa\n");
    let qv = |sheet: &str| {
        let ran = dir.run(&format!("kmers qv -k 15 --no-plots --sample-sheet {sheet} -o {{}}"));
        assert!(!ran.stderr.contains("repeated"), "{}", ran.stderr);
        ran.ok();
        dir.read("A.qv")
    };
    assert!(qv("rows.csv") == qv("cells.csv"));
}

#[test]
fn certificates_of_samples_have_the_digests_of_the_set() {
    let dir = prepared();
    let filter = "deplete filter host.mgd --confirm ref.mgi --edits 4";
    let json = |name: &str| -> Value { serde_json::from_slice(&dir.read(name)).unwrap() };
    let sheet = "--sample-sheet sheet.csv -o {}.fq --certificate {}.json";
    dir.run(&format!("{filter} {sheet}")).ok();
    dir.run(&format!("{filter} u.fq -o own.fq --certificate own.json")).ok();
    let own = json("own.json");
    assert!(own["index"]["sha256"].is_string());
    for key in ["program", "set", "index"] {
        assert_eq!(json("A.json")[key], own[key]);
        assert_eq!(json("B.json")[key], own[key]);
    }
    assert_eq!(json("B.json")["inputs"], own["inputs"]);
}
