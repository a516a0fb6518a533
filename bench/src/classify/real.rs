//! Real reads of known organisms.

use super::accuracy::{Args, Contestant, judged};
use super::data::Reads;
use super::tools::Tools;
use anyhow::{Context, Result};
use merganser_io::decompress;
use serde_json::Value;
use std::fmt::Write as _;
use std::fs::File;
use std::io::{BufRead, BufReader, BufWriter, Write};
use std::path::{Path, PathBuf};

/// Returns a table with a row per file and tool: the shares of right and other taxa.
pub(super) fn table(
    args: &Args,
    tools: &Tools,
    contestants: &[Contestant],
    folder: &Path,
) -> Result<String> {
    let mut text = String::from(
        "## Real reads\n\n| reads | tool | right species | other species | right genus | other genus \
         | no taxon |\n|---|---|---:|---:|---:|---:|---:|\n",
    );
    for real in &args.real {
        let (file, taxid) = real.rsplit_once('=').context("--real takes FILE=TAXID")?;
        let reads = Reads { file: PathBuf::from(file), truth: folder.join("real.tsv") };
        let number = write_truth(&reads, taxid)?;
        let name = reads.file.file_name().unwrap_or_default().to_string_lossy().into_owned();
        for tool in contestants {
            let found = judged(args, tools, tool, &reads, folder)?;
            let cells = shares(&found, taxid == "0");
            let _ = writeln!(text, "| {number} of {name} | {} | {cells} |", tool.name);
        }
    }
    Ok(text + "\nPer cent of all reads.\n\n")
}

/// Returns the shares of right and of other taxa at species and at genus, and of unclassified reads, in per cent.
/// All taxa count as others for reads of an unknown organism.
fn shares(found: &Value, unknown: bool) -> String {
    let reads = found["reads"].as_f64().unwrap_or(f64::NAN);
    let percent = |number: f64| format!("{:.2}", 100.0 * number / reads);
    let mut cells = Vec::new();
    for rank in ["species", "genus"] {
        let of = |key: &str| found["ranks"][rank][key].as_f64().unwrap_or(0.0);
        cells.push(if unknown { "".to_owned() } else { percent(of("right")) });
        cells.push(percent(of("assigned") - of("right")));
    }
    cells.push(percent(reads - found["classified"].as_f64().unwrap_or(0.0)));
    cells.join(" | ")
}

/// Writes the taxid, or the root if it is 0, as the truth of each read of a FASTQ file; returns the number of reads.
fn write_truth(reads: &Reads, taxid: &str) -> Result<u64> {
    let file =
        File::open(&reads.file).with_context(|| format!("cannot open {}", reads.file.display()))?;
    let mut truth = BufWriter::new(File::create(&reads.truth)?);
    let taxid = if taxid == "0" { "1" } else { taxid };
    let mut number = 0;
    for line in BufReader::new(decompress(file)?).lines().step_by(4) {
        let line = line?;
        let name = line.trim_start_matches('@').split_ascii_whitespace().next();
        writeln!(truth, "{}\t{taxid}", name.unwrap_or_default())?;
        number += 1;
    }
    truth.flush()?;
    Ok(number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_of_all_reads() {
        let found = serde_json::json!({"reads": 10, "classified": 8, "ranks": {
            "species": {"assigned": 6, "right": 5}, "genus": {"assigned": 7, "right": 7}}});
        assert_eq!(shares(&found, false), "50.00 | 10.00 | 70.00 | 0.00 | 20.00");
    }

    #[test]
    fn the_truth_names_each_read_once() {
        let folder = tempfile::tempdir().unwrap();
        let reads = Reads { file: folder.path().join("r.fq"), truth: folder.path().join("t") };
        std::fs::write(&reads.file, "@a x\nA\n+\nI\n@b\nC\n+\nI\n").unwrap();
        assert_eq!(write_truth(&reads, "7").unwrap(), 2);
        assert_eq!(std::fs::read_to_string(&reads.truth).unwrap(), "a\t7\nb\t7\n");
    }
}
