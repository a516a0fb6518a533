//! Runs every example of the library as a program, with small inputs, and checks its output.
//!
//! `cargo test` builds the examples, too, but not if only this test is selected: then run `cargo build --examples`
//! before. A new example needs a name in the list below and a test in the module of its area.
#![allow(clippy::unwrap_used, reason = "helpers of tests panic on errors")]

#[path = "examples/classify.rs"]
mod classify;
#[path = "examples/kmers.rs"]
mod kmers;
#[path = "examples/reads.rs"]
mod reads;

use std::env::{consts::EXE_SUFFIX, current_exe};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use merganser_test_support::gunzip;
use tempfile::TempDir;

/// Makes a test for each example, and the list of their names.
macro_rules! tests {
    ($($area:ident: $($name:ident)+;)+) => {
        /// The names of all examples that have a test.
        const TESTED: &[&str] = &[$($(stringify!($name)),+),+];
        $($(
            #[test]
            fn $name() {
                $area::$name(&Runs::new());
            }
        )+)+
    };
}

tests! {
    kmers:
        count_kmers count_in_memory count_with_progress count_within_memory count_plan count_histogram
        spectrum_model
        kmers_query kmers_combine kmers_compare kmers_convert kmers_matrix kmers_filter_reads
        assembly_quality;
    reads:
        read_records count_pairs bam_to_fastq filter_in_memory filter_pairs map_index map_reads map_in_memory
        map_pairs deplete_build deplete_reads list_devices handle_errors;
    classify:
        classify_build classify_reads classify_in_memory kraken2_classify kraken2_build bracken_distribution
        bracken_estimate extract_reads;
}

#[test]
fn every_example_has_a_test() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples");
    let files = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut examples: Vec<String> =
        files.map(|path| path.file_stem().unwrap().to_str().unwrap().to_owned()).collect();
    examples.sort();
    let mut tested = TESTED.to_vec();
    tested.sort_unstable();
    assert_eq!(tested, examples, "the tests (left) and the files in `examples` (right)");
}

/// Without arguments, each example prints its usage, which begins with its own name.
#[test]
fn every_example_prints_its_usage() {
    let runs = Runs::new();
    for name in TESTED.iter().filter(|&&name| name != "list_devices") {
        let error = runs.fails(name);
        assert!(error.starts_with(&format!("Error: \"usage: {name} ")), "{error}");
    }
}

/// Each example begins with a line about its task, and names the command that runs it.
#[test]
fn every_example_says_how_to_run_it() {
    for name in TESTED {
        let path = format!("{}/examples/{name}.rs", env!("CARGO_MANIFEST_DIR"));
        let text = fs::read_to_string(path).unwrap();
        let command = text.lines().find(|line| line.starts_with("//! `cargo run --release "));
        let command = command.unwrap_or_else(|| panic!("{name}: no command"));
        assert!(command.contains(&format!("--example {name}")), "{command}");
    }
}

/// A temporary folder in which examples run. `data` in it is the folder of test data.
struct Runs(TempDir);

impl Runs {
    fn new() -> Runs {
        let folder = TempDir::new().unwrap();
        let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/data");
        std::os::unix::fs::symlink(data.canonicalize().unwrap(), folder.path().join("data"))
            .unwrap();
        Runs(folder)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn write(&self, name: &str, text: impl AsRef<[u8]>) {
        fs::write(self.path(name), text).unwrap();
    }

    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap()
    }

    /// Runs an example: its name and arguments, separated by blanks.
    fn run(&self, command: &str) -> Output {
        let mut words = command.split_whitespace();
        let name = words.next().unwrap();
        // The test is in `deps`, beside the folder of examples.
        let folder = current_exe().unwrap().parent().unwrap().with_file_name("examples");
        let program = folder.join(format!("{name}{EXE_SUFFIX}"));
        let source = format!("{}/examples/{name}.rs", env!("CARGO_MANIFEST_DIR"));
        let time = |path: &Path| fs::metadata(path).and_then(|file| file.modified()).ok();
        assert!(
            time(&program) > time(Path::new(&source)),
            "{} is missing or older than its source: run `cargo build -p merganser --examples` before",
            program.display()
        );
        Command::new(program).args(words).current_dir(&self.0).output().unwrap()
    }

    /// Runs an example that succeeds; returns what it prints.
    fn ok(&self, command: &str) -> String {
        let output = self.run(command);
        let error = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{command}: {error}");
        String::from_utf8(output.stdout).unwrap()
    }

    /// Runs an example that fails; returns its error.
    fn fails(&self, command: &str) -> String {
        let output = self.run(command);
        assert_eq!(output.status.code(), Some(1), "{command}");
        String::from_utf8(output.stderr).unwrap()
    }

    /// Returns the letters of the genome of phage lambda: 48,502 bases.
    fn lambda(&self) -> String {
        let text = gunzip(&self.path("data/genomes/Escherichia_phage_lambda.fna.gz"));
        let text = String::from_utf8(text).unwrap();
        text.lines().skip(1).collect()
    }
}

/// Returns stretches of `len` bases that begin at every `step`th base, as FASTA. They are named by their positions.
fn stretches(genome: &str, len: usize, step: usize) -> String {
    let starts = (0..=genome.len() - len).step_by(step);
    starts.map(|start| format!(">{start}\n{}\n", &genome[start..start + len])).collect()
}

fn reverse_complement(letters: &str) -> String {
    let complement = |letter| match letter {
        'A' => 'T',
        'C' => 'G',
        'G' => 'C',
        _ => 'A',
    };
    letters.chars().rev().map(complement).collect()
}
