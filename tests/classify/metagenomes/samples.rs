//! Several kinds of reads in a run, several samples in a run, and sessions.

use super::world::{World, lines};
use merganser_test_support::tools::shell;

/// Pairs, single reads and interleaved reads in one run have the lines of three runs, in order.
#[test]
fn pairs_and_single_and_interleaved_reads_in_one_run() {
    let world = World::built();
    let dir = &world.dir;
    let both = [dir.read("1.fq"), dir.read("2.fq")].map(|text| String::from_utf8(text).unwrap());
    let fours = both.each_ref().map(|text| text.lines().collect::<Vec<_>>());
    let mates = fours[0].chunks(4).zip(fours[1].chunks(4));
    let text: String =
        mates.flat_map(|(a, b)| [a, b]).flatten().map(|l| format!("{l}\n")).collect();
    dir.write("il.fq", text);
    let run = |reads: &str| dir.run(&format!("classify refs.mgdb {reads} -q")).ok();
    let pairs = run("-1 1.fq -2 2.fq");
    assert_eq!(run("--interleaved il.fq"), pairs);
    assert_eq!(
        run("-1 1.fq -2 2.fq -U 2.fq --interleaved il.fq"),
        [pairs.clone(), run("2.fq"), pairs.clone()].concat()
    );
    assert_eq!(run("-U 2.fq 1.fq -1 1.fq -2 2.fq"), [pairs, run("2.fq"), run("1.fq")].concat());
    dir.write("odd.fq", "@a\nACGT\n+\nIIII\n");
    let odd = dir.run("classify refs.mgdb --interleaved odd.fq -o x").fails(1);
    assert!(odd.contains("odd.fq: record 1, the last one, has no mate"), "{odd}");
    assert!(!dir.path("x").exists());
}

/// Samples of a sheet have the outputs of separate runs; a failed sample does not prevent others.
#[test]
fn sample_sheets() {
    let world = World::built();
    let dir = &world.dir;
    let [one, two] = world.pairs(100, 9);
    dir.write("b.fq", one);
    dir.write("broken.fq", &two[..two.len() - 50]);
    dir.write("empty.fq", "");
    dir.write(
        "sheet.csv",
        "sample,fastq_1,fastq_2\nfirst,1.fq,2.fq\nbad,broken.fq,\nnone,empty.fq\nfirst,b.fq,\n",
    );
    let options = "--report {}.kreport --abundance {}.tsv --cami {}.cami --unclassified-out {}#.fq";
    let ran = dir.run(&format!(
        "classify refs.mgdb --sample-sheet sheet.csv -o {{}}.out {options} --json j"
    ));
    assert_eq!(ran.code, Some(1), "{}", ran.stderr);
    let errors: Vec<&str> = ran.stderr.lines().filter(|line| line.starts_with("error: ")).collect();
    assert!(errors.len() == 1 && errors[0].starts_with("error: bad: broken.fq: "), "{errors:?}");
    assert!(ran.stderr.contains("warning: none: there are no reads in the input"));
    assert!(dir.names().iter().all(|name| !name.starts_with("bad") && !name.starts_with('.')));
    assert_eq!(dir.read("none.out"), b"");
    assert!(String::from_utf8(dir.read("none.kreport")).unwrap().starts_with("  0.00\t0\t0\tU"));
    assert!(String::from_utf8(dir.read("first.cami")).unwrap().starts_with("@SampleID:first\n"));
    let alone = dir
        .run("classify refs.mgdb -1 1.fq -2 2.fq b.fq -q --report r --unclassified-out u#.fq")
        .ok();
    assert!(
        dir.read("first.out") == alone.as_bytes() && dir.read("first.kreport") == dir.read("r")
    );
    for (ours, theirs) in [("first_1.fq", "u_1.fq"), ("first_2.fq", "u_2.fq"), ("first.fq", "u.fq")]
    {
        assert!(dir.read(ours) == dir.read(theirs), "{ours}");
    }
    let json: serde_json::Value = serde_json::from_slice(&dir.read("j")).unwrap();
    assert_eq!(json["results"]["failed"], serde_json::json!(["bad"]));
    assert_eq!(json["results"]["samples"]["first"]["reads"], 800);
    assert_eq!(json["results"]["samples"]["none"]["reads"], 0);
    assert!(json["results"]["samples"]["bad"].is_null());
}

/// Finished samples with complete outputs are skipped; all others are classified again.
#[test]
fn runs_are_resumed() {
    let world = World::built();
    let dir = &world.dir;
    dir.write("bad.fq", "@r\nACGT\n");
    dir.write("sheet", "a\t1.fq\t2.fq\nbad\tbad.fq\nb\t1.fq\nc\t2.fq\n");
    let outputs = "-o {}.tsv.gz --report {}.kreport --classified-out {}.out#.fq";
    let run = format!("classify refs.mgdb --sample-sheet sheet {outputs}");
    let state = || -> Vec<(String, Vec<u8>)> {
        let names =
            ["a.tsv.gz", "a.kreport", "a.out_1.fq", "b.tsv.gz", "b.out.fq", "c.kreport", "json"];
        names.map(|name| (name.to_owned(), dir.read(name))).into()
    };
    let resume = |expected: usize, options: &str| {
        let ran = dir.run(&format!("{run} --resume journal --json json {options}"));
        assert_eq!(ran.code, Some(1), "{}", ran.stderr);
        assert!(ran.stderr.contains("bad.fq"), "{}", ran.stderr);
        let said = format!("{expected} of 4 samples were skipped");
        assert!(ran.stderr.contains(&said), "{said}: {}", ran.stderr);
        let mut state = state();
        let mut json: serde_json::Value = serde_json::from_slice(&state.pop().unwrap().1).unwrap();
        (state, json["results"].take())
    };
    let first = resume(0, "");
    assert_eq!(resume(3, "-t 2"), first);
    // A missing output, a changed one, and a truncated line.
    std::fs::remove_file(dir.path("a.out_2.fq")).unwrap();
    assert_eq!(resume(2, ""), first);
    let mut report = dir.read("c.kreport");
    report[3] ^= 1;
    dir.write("c.kreport", report);
    assert_eq!(resume(2, ""), first);
    let journal = dir.read("journal");
    let lines = journal.iter().filter(|&&byte| byte == b'\n').count();
    assert_eq!(lines, 5);
    let last = journal.iter().rposition(|&byte| byte == b'{').unwrap();
    dir.write("journal", &journal[..last + 9]);
    assert_eq!(resume(3, ""), first, "the line before belongs to the same job");
    // Other options, another database, other reads.
    assert_eq!(resume(0, "--hitmin 60").1["failed"], serde_json::json!(["bad"]));
    resume(0, "");
    dir.run("build -q --taxonomy tax -o refs.mgdb genomes/a.fa genomes/b.fa").ok();
    resume(0, "");
    dir.write("other", "no journal\n");
    let said = dir.run(&format!("{run} --resume other")).fails(1);
    assert!(said.contains("other: is not a journal of --resume"), "{said}");
    dir.run(&format!("{run} --resume sheet")).fails(1);
}

#[test]
fn sample_sheets_that_cannot_be_done_are_refused_at_once() {
    let world = World::built();
    let dir = &world.dir;
    let before = dir.names();
    dir.write("missing.tsv", "a\t1.fq\t2.fq\nb\tgone.fq\n");
    dir.write("same.tsv", "a\t1.fq\n");
    dir.write("bad.tsv", "a\t1.fq\nb\n");
    let run = |args: &str| dir.run(&format!("classify refs.mgdb {args}"));
    let missing = run("--sample-sheet missing.tsv -o {}.out").fails(1);
    let expected = "missing.tsv: line 2: gone.fq: cannot open: no such file or directory";
    assert!(missing.contains(expected), "{missing}");
    let name = run("--sample-sheet same.tsv -o out").fails(2);
    assert!(name.contains("-o out: with --sample-sheet, put {} where"), "{name}");
    run("--sample-sheet same.tsv").fails(2);
    run("--sample-sheet same.tsv -o {}.out 1.fq").fails(2);
    let bad = run("--sample-sheet bad.tsv -o {}.out").fails(1);
    assert!(bad.contains("bad.tsv: line 2: not SAMPLE"), "{bad}");
    run("--sample-sheet gone.tsv -o {}.out").fails(1);
    for name in ["missing.tsv", "same.tsv", "bad.tsv"] {
        std::fs::remove_file(dir.path(name)).unwrap();
    }
    assert_eq!(dir.names(), before);
}

/// Lines of stdin are queries; the database is loaded once.
#[test]
fn sessions() {
    let world = World::built();
    let dir = &world.dir;
    shell(dir.root(), "cp 1.fq 'with blank.fq'");
    let script = "# a comment\n\n-1 1.fq -2 2.fq -o pairs.tsv --report pairs.kreport\n\
                  'with blank.fq' -o single.tsv --hitmin 30\nquit\ngone.fq -o never.tsv\n";
    let session = |args: &str, script: &str| dir.run_with(args.split(' '), script.as_bytes());
    session("classify refs.mgdb --interactive", script).ok();
    assert_eq!(
        dir.run("classify refs.mgdb -1 1.fq -2 2.fq -q").ok().as_bytes(),
        dir.read("pairs.tsv")
    );
    let strict = dir.run("classify refs.mgdb 1.fq -q --hitmin 30").ok();
    assert_eq!(strict.as_bytes(), dir.read("single.tsv"));
    assert!(dir.path("pairs.kreport").exists() && !dir.path("never.tsv").exists());
    // Options on the command line are the defaults of queries.
    session("classify refs.mgdb --interactive --hitmin 30", "1.fq -o inherited.tsv\n").ok();
    assert!(dir.read("inherited.tsv") == strict.as_bytes());
    let options = "1.fq --no-map --classified-out";
    session("classify refs.mgdb --interactive --hitmin 30", &format!("{options} a.sam\n")).ok();
    dir.run(&format!("classify refs.mgdb -q --hitmin 30 {options} b.sam")).ok();
    assert!(dir.read("a.sam") == dir.read("b.sam"));
    // Failed queries are reported, and the session continues.
    let ran = session(
        "classify refs.mgdb --interactive",
        "gone.fq -o x\n--nonsense\n1.fq -o x 'open\n- -o x\nhelp\n1.fq -o after.tsv\n",
    );
    assert_eq!(ran.code, Some(1));
    let errors: Vec<&str> = ran.stderr.lines().filter(|line| line.starts_with("error: ")).collect();
    assert_eq!(errors.len(), 4, "{}", ran.stderr);
    assert!(errors[0].contains("gone.fq") && errors[1].contains("--nonsense"), "{errors:?}");
    assert!(errors[2].contains("a quote is not closed") && errors[3].contains("stdin is used"));
    assert_eq!(lines(&String::from_utf8(dir.read("after.tsv")).unwrap()).len(), 700);
    assert!(!dir.path("x").exists());
    // Results on stdout.
    let shown = session("classify refs.mgdb --interactive -q", "1.fq\n").ok();
    assert_eq!(shown, dir.run("classify refs.mgdb 1.fq -q").ok());
    session("classify refs.mgdb --interactive -o x", "").fails(2);
}
