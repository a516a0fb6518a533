//! No output takes the place of an input, whatever its kind and whatever way leads to it.

use std::fs;
use std::os::unix::fs::symlink;

use merganser_test_support::Dir;

/// A command, its options that name an output (as `%`), and the files that it reads.
struct Case {
    command: &'static str,
    outputs: &'static [&'static str],
    inputs: &'static [&'static str],
}

const REPORTS: [&str; 13] = [
    "-o %",
    "--report %",
    "--mpa %",
    "--krona %",
    "--abundance %",
    "--cami %",
    "--bracken x.kmer_distrib --bracken-output %",
    "--bracken x.kmer_distrib --bracken-output b --bracken-report %",
    "--hits-per-ref %",
    "--partial %",
    "--classified-out %",
    "--unclassified-out %",
    "--json %",
];

const CASES: [Case; 43] = [
    Case {
        command: "count -k 21 --reference g0.fa @list 2.fq",
        outputs: &["-o %", "-o new --histogram %", "-o new --json %", "--format tsv -o %"],
        inputs: &["list", "1.fq", "2.fq", "g0.fa", "g0.fa.fai"],
    },
    Case {
        command: "count -k 21 reads.kmc_pre reads.kmc_suf",
        outputs: &["--format kmc -o reads"],
        inputs: &["reads.kmc_pre", "reads.kmc_suf"],
    },
    Case { command: "kmers dump t.mgk", outputs: &["-o %"], inputs: &["t.mgk"] },
    Case {
        command: "kmers dump k",
        outputs: &["-o %", "--format fasta -o %"],
        inputs: &["k.kmc_pre", "k.kmc_suf"],
    },
    Case { command: "kmers dump t.tsv", outputs: &["-o %"], inputs: &["t.tsv"] },
    Case { command: "kmers histogram t.mgk", outputs: &["-o %"], inputs: &["t.mgk"] },
    Case {
        command: "kmers histogram --model k.kmc_suf",
        outputs: &["-o %", "--plot %"],
        inputs: &["k.kmc_pre", "k.kmc_suf"],
    },
    Case {
        command: "kmers histogram --model -k 21 hist",
        outputs: &["-o %", "--plot %"],
        inputs: &["hist"],
    },
    Case {
        command: "kmers compare t.mgk k t.tsv",
        outputs: &["-o %"],
        inputs: &["t.mgk", "k.kmc_pre", "k.kmc_suf", "t.tsv"],
    },
    Case {
        command: "kmers union t.mgk k t.tsv",
        outputs: &["-o %", "-o new --histogram %", "-o new --json %", "--format tsv -o %"],
        inputs: &["t.mgk", "k.kmc_pre", "k.kmc_suf", "t.tsv"],
    },
    Case {
        command: "kmers intersect t.mgk k",
        outputs: &["--format kmc -o k"],
        inputs: &["k.kmc_pre", "k.kmc_suf"],
    },
    Case { command: "kmers subtract t.mgk t.tsv", outputs: &["-o %"], inputs: &["t.tsv"] },
    Case { command: "kmers counters-subtract t.mgk k", outputs: &["-o %"], inputs: &["t.mgk"] },
    Case {
        command: "kmers eval union(t.mgk,k)",
        outputs: &["-o %"],
        inputs: &["t.mgk", "k.kmc_suf"],
    },
    Case { command: "kmers reduce t.mgk", outputs: &["-o %"], inputs: &["t.mgk"] },
    Case { command: "kmers set-counts 1 t.mgk", outputs: &["-o %"], inputs: &["t.mgk"] },
    Case {
        command: "kmers filter-reads k @list 2.fq --interleaved --reference g0.fa",
        outputs: &["-o %", "-o new --output2 %"],
        inputs: &["k.kmc_pre", "k.kmc_suf", "list", "1.fq", "2.fq", "g0.fa"],
    },
    Case {
        command: "kmers filter-reads t.mgk -1 @list -2 2.fq",
        outputs: &["-o %", "-o new --output2 %"],
        inputs: &["t.mgk", "list", "1.fq", "2.fq"],
    },
    Case {
        command: "kmers profile t.mgk @list",
        outputs: &["-o %"],
        inputs: &["t.mgk", "list", "1.fq"],
    },
    Case {
        command: "filter -e 5 @pairs",
        outputs: &["-o %", "--json %"],
        inputs: &["pairs", "p.filter"],
    },
    Case {
        command: "filter -e 5 p.filter --format gatekeeper",
        outputs: &["-o p"],
        inputs: &["p.filter"],
    },
    Case {
        command: "build -t tax --map ids @genomes",
        outputs: &["-o %", "-o new --unmapped %", "-o new --json %"],
        inputs: &[
            "genomes",
            "g0.fa",
            "g1.fa",
            "ids",
            "tax/nodes.dmp",
            "tax/names.dmp",
            "tax/merged.dmp",
            "tax/delnodes.dmp",
            "tax/nucl.accession2taxid",
            "assembly_summary.txt",
        ],
    },
    Case {
        command: "db add refs.mgdb -t tax --map ids @genomes",
        outputs: &["-o %", "--unmapped %", "-o new --json %"],
        inputs: &["genomes", "g0.fa", "ids", "tax/nodes.dmp", "assembly_summary.txt"],
    },
    Case {
        command: "db add refs.mgdb g1.fa -o new",
        outputs: &["--unmapped %", "--json %"],
        inputs: &["refs.mgdb"],
    },
    Case {
        command: "db prepare downloads --assembly-summary list.txt --md5 sums --taxonomy tax",
        outputs: &["-o %", "-o new --missing %", "-o new --json %"],
        inputs: &["downloads/GCF_000000001.1.fa", "list.txt", "sums", "tax/nodes.dmp"],
    },
    Case {
        command: "build --taxonomy tax library.tsv",
        outputs: &["-o %", "-o new --unmapped %", "-o new --json %"],
        inputs: &["downloads/GCF_000000001.1.fa", "library.tsv"],
    },
    Case { command: "db taxa refs.mgdb", outputs: &["-o %"], inputs: &["refs.mgdb"] },
    Case {
        command: "db merge-results -d refs.mgdb -d refs.mgdb one two",
        outputs: &["-o %", "--report %", "--mpa %", "--krona %", "--abundance %", "--cami %"],
        inputs: &["refs.mgdb", "one", "two"],
    },
    Case {
        command: "report merge a.kreport b.kreport",
        outputs: &["-o %", "--format kreport -o %"],
        inputs: &["a.kreport", "b.kreport"],
    },
    Case {
        command: "report merge p.partial --format krona",
        outputs: &["-o %"],
        inputs: &["p.partial"],
    },
    Case {
        command: "report mpa a.kreport b.kreport",
        outputs: &["-o %"],
        inputs: &["a.kreport", "b.kreport"],
    },
    Case {
        command: "report krona a.kreport b.kreport",
        outputs: &["-o {}.kreport"],
        inputs: &["b.kreport"],
    },
    Case {
        command: "report filter a.kreport --taxid 2",
        outputs: &["-o %"],
        inputs: &["a.kreport"],
    },
    Case {
        command: "extract reads --taxid 11 --lines l.tsv -1 1.fq -2 2.fq -U g0.fa --reference g1.fa @list",
        outputs: &["-o %"],
        inputs: &["l.tsv", "1.fq", "2.fq", "g0.fa", "g1.fa", "list"],
    },
    Case {
        command: "extract reads --taxid 11 --lines l.tsv --include-children --report a.kreport -1 1.fq -2 2.fq",
        outputs: &["-o %", "-o new --output2 %"],
        inputs: &["l.tsv", "a.kreport", "1.fq", "2.fq"],
    },
    Case {
        command: "classify refs.mgdb -1 1.fq -2 2.fq -U g0.fa --reference g1.fa @list",
        outputs: &REPORTS,
        inputs: &["refs.mgdb", "1.fq", "2.fq", "g0.fa", "g1.fa", "list"],
    },
    Case {
        command: "classify refs.mgdb 1.fq --bracken x.kmer_distrib --bracken-output new",
        outputs: &["-o %", "--report %", "--bracken-report %"],
        inputs: &["refs.mgdb", "1.fq", "x.kmer_distrib"],
    },
    Case {
        command: "report bracken -d x.kmer_distrib r.kreport",
        outputs: &["-o %", "-o new --out-report %"],
        inputs: &["x.kmer_distrib", "r.kreport"],
    },
    Case {
        command: "db bracken --read-lengths 50 refs.mgdb @genomes",
        outputs: &["--unmapped %"],
        inputs: &["refs.mgdb", "genomes", "g0.fa"],
    },
    Case {
        command: "build --taxonomy gtdb.tsv --taxonomy more.tsv --bracken 50 @genomes",
        outputs: &["-o %", "-o new --unmapped %", "-o new --json %"],
        inputs: &["genomes", "g0.fa", "gtdb.tsv", "more.tsv"],
    },
    Case {
        command: "classify --references @genomes -t tax --map ids 1.fq",
        outputs: &["-o %", "--report %", "--unmapped %", "--json %"],
        inputs: &["genomes", "g0.fa", "ids", "tax/nodes.dmp", "assembly_summary.txt", "1.fq"],
    },
    Case { command: "index g0.fa", outputs: &["-o %"], inputs: &["g0.fa"] },
    Case {
        command: "map -e 3 ref.mgi @list -2 2.fq",
        outputs: &["-o %", "--unmapped %", "--json %"],
        inputs: &["ref.mgi", "list", "1.fq", "2.fq"],
    },
];

fn prepared() -> Dir {
    let dir = merganser_test_support::two_species::prepared();
    for (name, text) in [
        ("list", "1.fq\n"),
        ("genomes", "g0.fa\ng1.fa\n"),
        ("pairs", "p.filter\n"),
        ("p.filter", "ACGTACGT\tACGTACGT\n"),
        ("ids", "g0\t11\n"),
        ("assembly_summary.txt", "#\tx\n"),
        ("tax/merged.dmp", ""),
        ("tax/delnodes.dmp", ""),
        ("tax/nucl.accession2taxid", "accession\taccession.version\ttaxid\tgi\n"),
        ("g0.fa.fai", "x\t1\t1\t1\t2\n"),
        ("x.kmer_distrib", "mapped_taxid\tgenome_taxids:kmers_mapped:total_genome_kmers\n"),
        ("r.kreport", "100.00\t9\t9\tU\t0\tunclassified\n"),
        ("gtdb.tsv", "g0\td__A\n"),
        ("more.tsv", "g1\td__B\n"),
        ("hist", "1\t1000\n2\t10\n3\t20\n4\t30\n5\t20\n6\t10\n"),
    ] {
        dir.write(name, text);
    }
    for (from, to) in [("1.fq", "reads.kmc_pre"), ("2.fq", "reads.kmc_suf")] {
        fs::copy(dir.path(from), dir.path(to)).unwrap();
    }
    fs::create_dir(dir.path("downloads")).unwrap();
    fs::copy(dir.path("g0.fa"), dir.path("downloads/GCF_000000001.1.fa")).unwrap();
    dir.write("list.txt", "#assembly_accession\ttaxid\nGCF_000000001.1\t11\n");
    dir.write("sums", "");
    let lists = "--assembly-summary list.txt --md5 sums --taxonomy tax";
    dir.run(&format!("db prepare -q downloads {lists} -o library.tsv")).ok();
    dir.run("count -q -k 21 -o t.mgk 1.fq").ok();
    dir.run("kmers convert -q --format kmc -o k t.mgk").ok();
    dir.run("kmers dump -o t.tsv t.mgk").ok();
    dir.run("index -q g0.fa -o ref.mgi").ok();
    for name in ["a", "b"] {
        dir.run(&format!("classify -q refs.mgdb 1.fq --no-map --report {name}.kreport")).ok();
    }
    dir.run("classify -q refs.mgdb 1.fq -o l.tsv --partial p.partial").ok();
    let table = "--format metacache --tophits --queryids --taxids";
    for name in ["one", "two"] {
        dir.run(&format!("classify -q refs.mgdb 1.fq {table} -o {name}")).ok();
    }
    dir
}

/// All files with their contents.
fn contents(dir: &Dir) -> Vec<(String, Vec<u8>)> {
    let mut all: Vec<(String, Vec<u8>)> = Vec::new();
    let mut names = dir.names();
    names.extend(
        merganser_test_support::names(&dir.path("tax")).iter().map(|name| format!("tax/{name}")),
    );
    for name in names {
        let is_file = dir.path(&name).is_file();
        let bytes = if is_file { dir.read(&name) } else { Vec::new() };
        all.push((name, bytes));
    }
    all
}

#[track_caller]
fn refused(dir: &Dir, args: &str, output: &str) {
    let message = dir.run(&format!("{args} -q")).fails(1);
    let end = ": is an input, and will not be replaced by an output\n";
    // Either file of a KMC database names both.
    let named = message.contains(output) || message.contains(&output.replace("_suf", "_pre"));
    assert!(message.ends_with(end) && named, "{args}: {message}");
}

#[test]
fn no_output_takes_the_place_of_an_input() {
    let dir = prepared();
    let before = contents(&dir);
    for Case { command, outputs, inputs } in CASES {
        for option in outputs {
            if !option.contains('%') {
                refused(&dir, &format!("{command} {option}"), "");
                continue;
            }
            for input in inputs {
                refused(&dir, &format!("{command} {}", option.replace('%', input)), input);
            }
        }
        assert!(contents(&dir) == before, "{command}");
    }
}

#[test]
fn links_to_inputs_are_seen() {
    let dir = prepared();
    let before = contents(&dir);
    for Case { command, outputs, inputs } in CASES {
        let Some(option) = outputs.iter().find(|option| option.contains('%')) else { continue };
        let input = inputs[inputs.len() - 1];
        symlink(dir.path(input), dir.path("soft")).unwrap();
        fs::hard_link(dir.path(input), dir.path("hard")).unwrap();
        for link in ["soft", "hard", "./tax/../hard"] {
            refused(&dir, &format!("{command} {}", option.replace('%', link)), link);
        }
        fs::remove_file(dir.path("soft")).unwrap();
        fs::remove_file(dir.path("hard")).unwrap();
        assert!(contents(&dir) == before, "{command}");
    }
}

/// Stdin and stdout are files too, if the shell makes them so.
#[test]
fn a_file_that_the_shell_opened_is_seen() {
    let dir = prepared();
    let before = contents(&dir);
    for (args, name) in [
        ("kmers dump t.tsv >> t.tsv", "stdout"),
        ("map -e 3 ref.mgi 1.fq >> 1.fq", "stdout"),
        ("kmers dump - -o t.tsv < t.tsv", "t.tsv"),
        ("count -k 21 - --format tsv -o 1.fq < 1.fq", "1.fq"),
    ] {
        let line = format!("{} {args}", merganser_test_support::MERGANSER);
        let output = std::process::Command::new("sh")
            .args(["-c", &line])
            .current_dir(dir.root())
            .output()
            .unwrap();
        let message = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(1), "{message}");
        let end = "is an input, and will not be replaced by an output";
        assert_eq!(message, format!("error: {name}: {end}\n"));
        assert!(contents(&dir) == before, "{args}");
    }
}

/// The outputs of one sample are none of the inputs of another, nor the sheet, nor each other.
#[test]
fn samples_of_a_sheet_stay_apart() {
    let dir = prepared();
    dir.write("a.tsv", "a\t1.fq\n2\tg0.fa\n");
    dir.write("b", "2\tg0.fa\nb\t2.fq\n");
    dir.write("one.two", "x\t1.fq\nx.fq\t2.fq\n");
    let before = contents(&dir);
    let sheet = |name: &str| format!("classify refs.mgdb --sample-sheet {name}");
    refused(&dir, &format!("{} -o {{}}.tsv", sheet("a.tsv")), "a.tsv");
    refused(&dir, &format!("{} -o {{}}.fq", sheet("b")), "2.fq");
    refused(&dir, &format!("{} -o {{}}.x --json b", sheet("b")), "b");
    let message = dir.run(&format!("{} -o {{}}.fq --report {{}}", sheet("one.two"))).fails(1);
    assert_eq!(message, "error: x.fq: two outputs cannot go to the same file\n");
    assert!(contents(&dir) == before);
}

#[test]
fn a_session_replaces_nothing_that_it_reads() {
    let dir = prepared();
    let before = contents(&dir);
    let queries = b"1.fq -o 1.fq\n1.fq -o refs.mgdb\n@list --no-map --report list\n";
    let args = ["classify", "refs.mgdb", "--interactive", "-q"];
    let ran = dir.run_with(args, queries);
    assert_eq!(ran.code, Some(1));
    assert_eq!(ran.stderr.matches(": is an input, and will not be replaced").count(), 3);
    assert!(contents(&dir) == before);
}

/// A database may be replaced by what it becomes; devices may be given as often as one likes.
#[test]
fn what_is_no_slip_goes_on() {
    let dir = prepared();
    dir.run("db add -q refs.mgdb -t tax g1.fa").ok();
    dir.run("db add -q refs.mgdb -t tax g1.fa -o refs.mgdb").ok();
    dir.run("db verify refs.mgdb").ok();
    dir.run("classify -q refs.mgdb 1.fq -o /dev/null --report /dev/null --json /dev/null").ok();
    let message = dir.run("db add -q refs.mgdb g1.fa --json refs.mgdb").fails(1);
    assert_eq!(message, "error: refs.mgdb: two outputs cannot go to the same file\n");
}

/// What is mapped when it is written goes to no device.
#[test]
fn what_is_read_again_goes_to_no_device() {
    let dir = prepared();
    let reason = "cannot create this output file: a pipe, a device or an open stream cannot hold what is \
                  read again: name a file";
    for command in ["build -t tax g0.fa", "index g0.fa"] {
        let message = dir.run(&format!("{command} -q -o /dev/null")).fails(1);
        assert_eq!(message, format!("error: /dev/null: {reason}\n"));
    }
}
