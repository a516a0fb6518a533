//! Every example in the README, the user guide and the help runs as it is printed.

mod sandbox;

use std::path::{Path, PathBuf};
use std::process::Command;

use merganser_test_support::commands::commands;
use merganser_test_support::examples::{Example, find_pages, of_help, of_page};
use merganser_test_support::{Dir, MERGANSER, root, tools};

/// Parts of examples that cannot run everywhere, each with the reason.
const LEFT_OUT: [(&str, &str); 3] = [
    ("--device cuda", "needs a GPU"),
    ("merganser man | man -l -", "man may not be installed, and would wait for a key"),
    ("kmers verify a.mgk b.mgk", "shows a damaged table, and ends with 1"),
];

/// Warnings that examples may have here, each with the reason. Any other warning is a failure.
const WARNINGS: [(&str, &str); 14] = [
    ("the table holds only k-mers that occur 2 times", "tables lack rare k-mers by default"),
    ("no k-mer of this histogram occurs once", "the same"),
    ("of the k-mers up to the main peak lie where the model has none", "a genome of 20 kb at 40x"),
    (
        "the coverage, 7.8 per haplotype, is low",
        "reads of one haplotype are taken for those of two",
    ),
    ("should have once occurs 7.8 times", "the same"),
    ("the result has no k-mers", "all tables belong to one genome"),
    ("QV is infinite", "error-free reads of the assembly itself"),
    ("switch and Hamming error rates cannot be determined", "the child is its own mother"),
    ("have an id that an earlier one has, first mine", "the database has it already"),
    ("not in the report: 2 taxids, first 9606", "the sample has no human reads"),
    ("no taxon of the report has rank S1", "its taxa are species"),
    ("no read was extracted", "all reads are of the species"),
    ("no taxid of the database found", "genomes of another database"),
    ("taxa of the database have no read in these genomes", "the same"),
];

/// Programs in examples other than ours and the usual Unix tools.
const TOOLS: [&str; 4] = ["samtools", "curl", "kmc_tools", "jq"];

/// Runs the examples of one text in order, in a copy of the folder `filled`, and adds the failures.
fn run(examples: &[Example], filled: &Dir, failures: &mut Vec<String>) {
    let dir = Dir::new();
    tools::shell(filled.root(), &format!("cp -a . '{}'", dir.root().display()));
    let path = std::env::var("PATH").unwrap();
    let bin = Path::new(&*MERGANSER).parent().unwrap().display();
    for Example { place, command } in examples {
        if let Some((_, reason)) = LEFT_OUT.iter().find(|(part, _)| command.contains(part)) {
            eprintln!("{place}: left out, {reason}: {command}");
            continue;
        }
        let needed = |tool: &&&str| command.split_whitespace().any(|word| word == **tool);
        if !TOOLS.iter().filter(needed).all(|tool| tools::by_chance(tool)) {
            continue;
        }
        let output = Command::new("bash")
            .args(["-e", "-o", "pipefail", "-c", command])
            .current_dir(dir.root())
            .env("PATH", format!("{bin}:{path}"))
            .env("HOME", dir.path("home"))
            .env("URL", format!("file://{}", dir.path("reads.fq.gz").display()))
            .env_remove("TMPDIR")
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        if !output.status.success() {
            failures.push(format!("{place}: {}\n  {command}\n{said}", output.status));
        }
        let warnings = said.lines().filter(|line| line.starts_with("warning: "));
        let expected = |line: &&str| WARNINGS.iter().any(|(expected, _)| line.contains(expected));
        for warning in warnings.filter(|line| !expected(line)) {
            failures.push(format!("{place}: {command}\n  {warning}"));
        }
    }
}

/// Runs the examples of every `step`th page from page `first` on. Returns their number and the failures.
fn run_pages(pages: &[PathBuf], filled: &Dir, first: usize, step: usize) -> (usize, Vec<String>) {
    let (mut failures, mut all) = (Vec::new(), 0);
    for page in pages.iter().skip(first).step_by(step) {
        let examples = of_page(page);
        all += examples.len();
        run(&examples, filled, &mut failures);
    }
    (all, failures)
}

#[test]
fn pages() {
    let mut pages = vec![root().join("README.md")];
    find_pages(&root().join("docs"), &mut pages);
    pages.sort();
    // One thread would need longer than all other tests of this file together.
    let filled = sandbox::fill();
    let ((all, failures), (others, more)) = std::thread::scope(|scope| {
        let others = scope.spawn(|| run_pages(&pages, &filled, 1, 2));
        (run_pages(&pages, &filled, 0, 2), others.join().unwrap())
    });
    assert!(all + others > 60, "{all} and {others}");
    assert!(failures.is_empty() && more.is_empty(), "{}", [failures, more].concat().join("\n"));
}

/// A command, and the output that a page shows for it.
struct Shown {
    command: String,
    output: String,
}

/// Returns the commands after `$ ` in a page's code blocks, each with the lines below it.
fn shown(page: &str) -> Vec<Shown> {
    let mut all: Vec<Shown> = Vec::new();
    for block in page.split("```console\n").skip(1) {
        let (block, _) = block.split_once("```").unwrap();
        for line in block.lines() {
            match (line.strip_prefix("$ "), all.last_mut()) {
                (Some(command), _) => {
                    all.push(Shown { command: command.to_owned(), output: String::new() });
                }
                (None, Some(last)) => last.output += &format!("{line}\n"),
                (None, None) => panic!("a block without a command at its start: {line}"),
            }
        }
    }
    all
}

/// Commands of the quick start have exactly the output that it shows.
#[test]
fn quick_start() {
    let page = std::fs::read_to_string(root().join("docs/guide/quickstart.md")).unwrap();
    let dir = Dir::new();
    std::os::unix::fs::symlink(root().join("tests"), dir.path("tests")).unwrap();
    let path = std::env::var("PATH").unwrap();
    let bin = Path::new(&*MERGANSER).parent().unwrap().display();
    let shown = shown(&page);
    assert!(shown.iter().filter(|it| !it.output.is_empty()).count() >= 6);
    for Shown { command, output } in shown {
        if command.contains("samtools") && !tools::by_chance("samtools") {
            continue;
        }
        let run = Command::new("bash")
            .args(["-e", "-o", "pipefail", "-c", &command])
            .current_dir(dir.root())
            .env("PATH", format!("{bin}:{path}"))
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&run.stderr);
        assert!(run.status.success(), "{command}\n{said}");
        assert_eq!(String::from_utf8_lossy(&run.stdout), output, "{command}");
    }
}

/// Files that the architecture page names exist.
#[test]
fn files_that_the_architecture_names() {
    let text = std::fs::read_to_string(root().join("docs/develop/architecture.md")).unwrap();
    let code = text.split('`').skip(1).step_by(2);
    let named = code.filter(|path| path.starts_with("crates/") && !path.contains([' ', '{']));
    let named: Vec<&str> = named.collect();
    assert!(named.len() > 30, "{named:?}");
    let missing: Vec<_> = named.iter().filter(|path| !root().join(path).exists()).collect();
    assert!(missing.is_empty(), "{missing:?}");
}

#[test]
fn helps() {
    let mut failures = Vec::new();
    let nouns = ["", "kmers", "db", "report", "extract", "deplete"].map(str::to_owned);
    let all: Vec<Example> =
        nouns.into_iter().chain(commands()).flat_map(|name| of_help(&name)).collect();
    assert!(all.len() > 60, "{}", all.len());
    run(&all, &sandbox::fill(), &mut failures);
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}
