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
        pairs: "-1 1.fq 3.fq -2 2.fq 4.fq",
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
            ("gone.csv", "gone.fq: "),
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
