//! Habits of other tools: names of taxa in place of numbers, defaults in the environment, and tips.

use merganser_test_support::{Dir, Ran, program, two_species};

/// Runs the program with environment variables.
fn run_in(dir: &Dir, variables: &[(&str, &str)], args: &str) -> Ran {
    let mut command = program();
    command.args(args.split(' ')).current_dir(dir.root()).envs(variables.iter().copied());
    Ran::new(&command.output().unwrap(), dir.root())
}

#[test]
fn taxa_have_names() {
    let dir = two_species::prepared();
    dir.run("classify refs.mgdb 1.fq -o l.tsv --report r.kreport").ok();
    for (taxa, names) in [("11", "One"), ("2", "bacteria"), ("11,0", "ONE,0")] {
        let filtered =
            |taxa: &str| dir.run(&format!("report filter --taxid {taxa} r.kreport")).ok();
        assert_eq!(filtered(taxa), filtered(names));
        for tree in ["--report r.kreport", "--taxonomy tax", "--database refs.mgdb"] {
            let extracted = |taxa: &str| {
                let options = format!("--include-children {tree} --lines l.tsv 1.fq");
                dir.run(&format!("extract reads --taxid {taxa} {options}")).ok()
            };
            let of_number = extracted(taxa);
            assert!(!of_number.is_empty() && of_number == extracted(names), "{tree}: {names}");
        }
    }
    // A name needs no relatives.
    let by_name = dir.run("extract reads --taxid One --report r.kreport --lines l.tsv 1.fq").ok();
    assert_eq!(by_name, dir.run("extract reads --taxid 11 --lines l.tsv 1.fq").ok());
    for (line, expected) in [
        (
            "report filter --taxid Bacter r.kreport",
            "r.kreport, which has 2 (Bacteria, D): give a taxid",
        ),
        ("extract reads --taxid Xy --taxonomy tax --lines l.tsv 1.fq", "named 'Xy' in tax: give a"),
        (
            "extract reads --taxid One --lines l.tsv 1.fq",
            "the names of taxa are unknown: give taxids",
        ),
    ] {
        let said = dir.run(line).fails(2);
        assert!(said.contains(expected), "{said}");
    }
    for line in
        ["report filter --taxid 11, r.kreport", "extract reads --taxid ,2 --lines l.tsv 1.fq"]
    {
        let ran = dir.run(line);
        assert_eq!(ran.code, Some(2), "{line}");
        assert!(ran.stderr.contains("a taxon is empty"), "{}", ran.stderr);
    }
}

#[test]
fn variables_are_defaults_of_options() {
    let dir = Dir::new();
    dir.write("g.fa", ">g\nACGTTGCAACGATCGATTAGC\n");
    let count = "count -k 5 --min-count 1 -o t.mgk --json j.json g.fa";
    let parameter = |name: &str| {
        let json: serde_json::Value = serde_json::from_slice(&dir.read("j.json")).unwrap();
        json["parameters"][name].clone()
    };
    let set = [
        ("MERGANSER_THREADS", "3"),
        ("MERGANSER_MEMORY", "700M"),
        ("MERGANSER_TMPDIR", "scratch"),
        ("MERGANSER_DEVICE", "cpu"),
    ];
    run_in(&dir, &set, count).ok();
    assert_eq!(parameter("threads"), 3);
    assert_eq!(parameter("memory"), 700 << 20);
    assert_eq!(parameter("tmp_dir"), "scratch");
    // Options have precedence, also over wrong values.
    run_in(&dir, &[("MERGANSER_THREADS", "x")], &format!("{count} -t 2")).ok();
    assert_eq!(parameter("threads"), 2);
    for (name, value) in
        [("MERGANSER_THREADS", "0"), ("MERGANSER_MEMORY", "much"), ("MERGANSER_DEVICE", "tpu")]
    {
        let ran = run_in(&dir, &[(name, value)], count);
        assert_eq!(ran.code, Some(2));
        assert!(ran.stderr.starts_with(&format!("error: {name}='{value}': ")), "{}", ran.stderr);
        // Commands without the option do not use it.
        run_in(&dir, &[(name, value)], "kmers info t.mgk").ok();
        run_in(&dir, &[(name, value)], "--version").ok();
    }
}

#[test]
fn folders_are_their_reads() {
    let dir = Dir::new();
    std::fs::create_dir(dir.path("run")).unwrap();
    for (name, letters) in [("b.fq", "ACGTTGCAACG"), ("a.fq", "TTGACCAGT"), ("notes.txt", "x")] {
        dir.write(
            &format!("run/{name}"),
            format!("@r\n{letters}\n+\n{}\n", "I".repeat(letters.len())),
        );
    }
    let dumped = |reads: &str| {
        dir.run(&format!("count -k 5 --min-count 1 -o t.mgk {reads}")).ok();
        dir.run("kmers dump t.mgk").ok()
    };
    assert_eq!(dumped("run"), dumped("run/a.fq run/b.fq"));
    dir.write("run/a.bam", "");
    let said = dir.run("count -k 5 -o t.mgk run").fails(1);
    assert!(said.contains("run: cannot open: it is a directory with files of"), "{said}");
}

#[test]
fn the_former_option_of_the_taxonomy_leaves_the_variable() {
    let dir = two_species::prepared();
    let build = "build -t tax -o x.mgdb --json j.json g0.fa g1.fa";
    run_in(&dir, &[("MERGANSER_THREADS", "3")], build).ok();
    let json: serde_json::Value = serde_json::from_slice(&dir.read("j.json")).unwrap();
    assert_eq!(json["parameters"]["threads"], 3);
    run_in(&dir, &[("MERGANSER_THREADS", "3")], &format!("{build} --threads 2")).ok();
    let json: serde_json::Value = serde_json::from_slice(&dir.read("j.json")).unwrap();
    assert_eq!(json["parameters"]["threads"], 2);
    let ran = run_in(&dir, &[("MERGANSER_THREADS", "x")], build);
    assert_eq!(ran.code, Some(2));
    assert!(ran.stderr.contains("MERGANSER_THREADS='x': give a number"), "{}", ran.stderr);
}

#[test]
fn help_shows_one_default() {
    let dir = Dir::new();
    let set = [("MERGANSER_THREADS", "7"), ("MERGANSER_DEVICE", "cpu")];
    let help = run_in(&dir, &set, "count --help").ok();
    assert!(!help.contains("[default: 7]") && help.contains("[default: cpu]"), "{help}");
}

#[test]
fn tips_name_the_command() {
    let dir = Dir::new();
    for (line, tip) in [
        ("merge a b", "merganser kmers union joins tables of k-mers"),
        ("kmers merge a b", "merganser kmers union adds the counts of tables"),
        ("histo a", "merganser kmers histogram is the command"),
        ("kmers stats a", "merganser kmers info describes a table"),
        ("kmers print a", "merganser kmers dump is the command"),
        ("bracken a", "merganser report bracken estimates"),
        ("db build a", "merganser build is the command"),
        ("align a", "merganser map is the command"),
        ("count -i a", "inputs are arguments: give the files without an option"),
        ("count -n a", "--dry-run checks a run and writes nothing"),
        ("classify -i a", "inputs are arguments: give the files without an option"),
        ("deplete filter -d host.idx a", "the set is the first argument"),
        ("map -d a.mmi ref.fa", "merganser index REFERENCE -o FILE.mgi writes an index"),
    ] {
        let ran = dir.run(line);
        assert_eq!(ran.code, Some(2), "{line}");
        assert!(ran.stderr.contains(&format!("tip: {tip}")), "{line}: {}", ran.stderr);
    }
}
