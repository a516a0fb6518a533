//! Databases and taxonomies as users have them: sequences without a taxon, unusual ranks, maps, Kraken 2 databases,
//! and minimizer sets of a host.

mod genomes;
mod kraken2;
mod seeds;
mod taxonomies;
mod unmapped;

use std::fs;
use std::path::Path;

use merganser_test_support::reads::Random;
use merganser_test_support::{Dir, Ran};

use super::cases;

/// Runs a command of the cases, in which `$C` is their folder.
fn run(dir: &Dir, cases: &Path, args: &str) -> Ran {
    dir.run(&args.replace("$C", cases.to_str().unwrap()))
}

/// Returns the taxid of each read from Kraken-style lines.
fn taxids(lines: &str) -> Vec<String> {
    let taxid = |line: &str| line.split('\t').nth(2).unwrap().to_owned();
    lines.lines().map(taxid).collect()
}

/// Returns the result of `db info --json`.
fn info(dir: &Dir, database: &str) -> serde_json::Value {
    serde_json::from_str(&dir.run(&format!("db info --json {database}")).ok()).unwrap()
}

/// Returns a record of nodes.dmp or names.dmp.
fn record(fields: &[&str]) -> String {
    fields.join("\t|\t") + "\t|\n"
}

/// A taxonomy in `tax` with two species of a genus, 101 and 102, and a genome of each.
struct Small {
    dir: Dir,
    genomes: [String; 3],
}

impl Small {
    fn new() -> Small {
        let dir = Dir::new();
        fs::create_dir(dir.path("tax")).unwrap();
        let taxa = [
            ("1", "1", "no rank"),
            ("2", "1", "superkingdom"),
            ("14", "2", "genus"),
            ("101", "14", "species"),
            ("102", "14", "species"),
        ];
        let nodes = taxa.map(|(taxid, parent, rank)| record(&[taxid, parent, rank, "", "0"]));
        let names =
            taxa.map(|taxon| record(&[taxon.0, &format!("t{}", taxon.0), "", "scientific name"]));
        dir.write("tax/nodes.dmp", nodes.concat());
        dir.write("tax/names.dmp", names.concat());
        let mut random = Random(38);
        let genomes = [0; 3].map(|_| String::from_utf8(random.bases(6000)).unwrap());
        Small { dir, genomes }
    }

    /// Writes sequences with these headers; the number selects the genome.
    fn write(&self, name: &str, sequences: &[(&str, usize)]) {
        let text =
            sequences.iter().map(|(header, at)| format!(">{header}\n{}\n", self.genomes[*at]));
        self.dir.write(name, text.collect::<String>());
    }

    /// Writes reads of each genome.
    fn write_reads(&self) {
        let reads = self.genomes.iter().enumerate();
        let text = reads.map(|(at, letters)| format!(">r{at}\n{}\n", &letters[1000..1150]));
        self.dir.write("r.fa", text.collect::<String>());
    }
}

/// Runs a command that succeeds with exactly one warning, and returns the warning.
#[track_caller]
fn warned(dir: &Dir, command: &str) -> String {
    let ran = dir.run(command);
    assert_eq!(ran.warnings().len(), 1, "{command}: {}", ran.stderr);
    let warning = ran.warnings()[0].to_owned();
    ran.ok();
    warning
}

/// Runs a command that succeeds without a warning, and returns stdout.
#[track_caller]
fn sound(dir: &Dir, command: &str) -> String {
    let ran = dir.run(command);
    assert_eq!(ran.warnings(), Vec::<&str>::new(), "{command}");
    ran.ok()
}
