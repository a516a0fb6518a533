//! No output replaces an input, whatever its kind and its path.

use std::fs;
use std::os::unix::fs::symlink;

use merganser_test_support::Dir;
use merganser_test_support::commands::{ROWS, Row};
use merganser_test_support::two_species::{NAMES, NODES};
use merganser_test_support::world::{self, SMALL, names_below};

/// A command, its options that name an output (as `%`), and the files that it reads.
struct Case {
    command: &'static str,
    outputs: &'static [&'static str],
    inputs: &'static [&'static str],
}

/// Cases that the table of commands lacks: sets of files with a common prefix, and files that are found beside
/// others.
const CASES: [Case; 14] = [
    Case {
        command: "count -k 21 letters.kmc_pre letters.kmc_suf",
        outputs: &["--format kmc -o letters"],
        inputs: &["letters.kmc_pre", "letters.kmc_suf"],
    },
    Case {
        command: "kmers histogram --model k.kmc_suf",
        outputs: &["-o %", "--plot %"],
        inputs: &["k.kmc_pre", "k.kmc_suf"],
    },
    Case {
        command: "kmers intersect t.mgk k",
        outputs: &["--format kmc -o k"],
        inputs: &["k.kmc_pre", "k.kmc_suf"],
    },
    Case {
        command: "kmers filter-reads k @list 2.fq --interleaved --reference g0.fa",
        outputs: &["-o %", "-o new --output2 %"],
        inputs: &["k.kmc_pre", "k.kmc_suf", "list", "1.fq", "2.fq", "g0.fa"],
    },
    Case {
        command: "filter -e 5 p.filter --format gatekeeper",
        outputs: &["-o p"],
        inputs: &["p.filter"],
    },
    Case {
        command: "build -t labels --map ids @genomes",
        outputs: &["-o %", "-o new --unmapped %", "-o new --json %"],
        inputs: &["genomes", "g1.fa", "labels/nucl.accession2taxid", "assembly_summary.txt"],
    },
    Case {
        command: "db add refs.mgdb -t tax --map ids @genomes",
        outputs: &["-o %", "--unmapped %", "-o new --json %"],
        inputs: &["genomes", "g0.fa", "ids", "tax/nodes.dmp", "assembly_summary.txt"],
    },
    Case {
        command: "db merge-results -d part1.mgdb -d part2.mgdb part1.tsv part2.tsv",
        outputs: &["-o %", "--report %", "--mpa %", "--krona %", "--abundance %", "--cami %"],
        inputs: &["part1.mgdb", "part1.tsv", "part2.tsv"],
    },
    Case {
        command: "report merge p1.partial --format krona",
        outputs: &["-o %"],
        inputs: &["p1.partial"],
    },
    Case {
        command: "report krona a.kreport b.kreport",
        outputs: &["-o {}.kreport"],
        inputs: &["b.kreport"],
    },
    Case {
        command: "extract reads --taxid 11 --lines l.tsv -1 1.fq -2 2.fq -U g0.fa --reference g1.fa @first",
        outputs: &["-o %"],
        inputs: &["l.tsv", "1.fq", "2.fq", "g0.fa", "g1.fa", "first"],
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
];

/// Returns rows whose outputs are single files.
fn rows() -> impl Iterator<Item = &'static Row> {
    ROWS.iter().filter(|row| !row.is_apart() && !row.outputs().is_empty() && row.stdin().is_none())
}

/// Returns command lines of a row with one output replaced by `%`, each with an input that it must not replace.
fn replacing(row: &Row, dir: &Dir) -> impl Iterator<Item = (String, String)> + use<> {
    let mut lines: Vec<String> = row.outputs().iter().map(|output| row.with(output, "%")).collect();
    lines.extend(row.takes_json().then(|| format!("{} --json %", row.with("", ""))));
    let inputs = row.inputs(dir.root());
    // The suffixes of other inputs would be refused as output formats.
    let is_named = ["--sort", "map join", "report plot"].iter().any(|word| row.line.contains(word));
    let adds = row.line.starts_with("db add");
    let all = lines
        .into_iter()
        .flat_map(move |line| inputs.clone().into_iter().map(move |input| (line.clone(), input)));
    all.filter(move |(line, input)| {
        // A database may be replaced by its extended version.
        !(line.contains("-o %") && (is_named || adds && input == "refs.mgdb"))
    })
}

/// Returns a directory with all files that the rows and cases read.
fn prepared() -> Dir {
    let dir = world::prepared(SMALL, ROWS.iter());
    fs::create_dir(dir.path("labels")).unwrap();
    for (name, text) in [
        ("p.filter", "ACGTACGT\tACGTACGT\n"),
        ("assembly_summary.txt", "#\tx\n"),
        ("labels/nodes.dmp", NODES),
        ("labels/names.dmp", NAMES),
        ("labels/nucl.accession2taxid", "accession\taccession.version\ttaxid\tgi\n"),
        ("gtdb.tsv", "g0\td__A\n"),
        ("more.tsv", "g1\td__B\n"),
    ] {
        dir.write(name, text);
    }
    for (from, to) in [("1.fq", "letters.kmc_pre"), ("2.fq", "letters.kmc_suf")] {
        fs::copy(dir.path(from), dir.path(to)).unwrap();
    }
    dir
}

/// Returns all files with their contents.
fn contents(dir: &Dir) -> Vec<(String, Vec<u8>)> {
    let names = names_below(dir.root()).into_iter();
    let files = names.filter(|name| !name.ends_with('/'));
    files.map(|name| (name.clone(), dir.read(&name))).collect()
}

#[track_caller]
fn refused(dir: &Dir, args: &str, output: &str) {
    let ran = dir.run(&format!("{args} -q"));
    assert_eq!(ran.code, Some(1), "{args}: {}", ran.stderr);
    let message = ran.fails(1);
    let end = ": is an input, and will not be replaced by an output\n";
    // The message may name either file of a KMC database.
    let named = message.contains(output) || message.contains(&output.replace("_suf", "_pre"));
    assert!(message.ends_with(end) && named, "{args}: {message}");
}

#[test]
fn no_output_takes_the_place_of_an_input() {
    let dir = prepared();
    let before = contents(&dir);
    for row in rows() {
        for (line, input) in replacing(row, &dir) {
            refused(&dir, &line.replace('%', &input), &input);
        }
        assert!(contents(&dir) == before, "{}", row.line);
    }
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
    let of_row = |row: &Row| replacing(row, &dir).last();
    let of_case = |case: &Case| {
        let option = case.outputs.iter().find(|option| option.contains('%'))?;
        let input = case.inputs[case.inputs.len() - 1];
        Some((format!("{} {option}", case.command), input.to_owned()))
    };
    for (line, input) in rows().filter_map(of_row).chain(CASES.iter().filter_map(of_case)) {
        symlink(dir.path(&input), dir.path("soft")).unwrap();
        fs::hard_link(dir.path(&input), dir.path("hard")).unwrap();
        for link in ["soft", "hard", "./tax/../hard"] {
            refused(&dir, &line.replace('%', link), link);
        }
        fs::remove_file(dir.path("soft")).unwrap();
        fs::remove_file(dir.path("hard")).unwrap();
        assert!(contents(&dir) == before, "{line}");
    }
}

/// Inputs and outputs that the shell opened as stdin and stdout are recognized.
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

/// An output of one sample replaces neither an input of another sample, nor the sheet, nor another output.
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

/// A database may be replaced by its extended version, and a device may be named as several outputs.
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

/// An output that is mapped while it is written cannot be a device.
#[test]
fn what_is_read_again_goes_to_no_device() {
    let dir = prepared();
    let reason = "cannot create this output file: a pipe, a device or an open stream cannot be read \
                  again: name a file";
    for command in ["build -t tax g0.fa", "index g0.fa"] {
        let message = dir.run(&format!("{command} -q -o /dev/null")).fails(1);
        assert_eq!(message, format!("error: /dev/null: {reason}\n"));
    }
}
