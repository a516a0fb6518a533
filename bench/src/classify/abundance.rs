//! Compares estimated abundances of a mixture (reads of higher taxa distributed to lower ones) with its composition.

use super::accuracy::{Args, Contestant};
use super::data::Reads;
use super::tools::{Tools, run as call, words};
use anyhow::{Context, Result, bail};
use std::collections::HashMap;
use std::fs;
use std::path::Path;

/// The parent and the rank of each node in nodes.dmp.
type Nodes = HashMap<String, (String, String)>;

/// Returns a tool's cells: deviation and share of false taxa at species and at genus, in per cent (MetaCache-GPU,
/// §6.5). Returns `None` for Kraken 2, which estimates no abundances.
pub(super) fn estimated(
    args: &Args,
    tools: &Tools,
    tool: &Contestant,
    reads: &Reads,
    folder: &Path,
) -> Result<Option<String>> {
    let Some(options) = &tool.options else { return Ok(None) };
    let table = folder.join("abundance.tsv");
    let mut command = words([&tools.merganser, &"classify", &"-q", &tool.database, &reads.file]);
    command.extend(words([&"--no-map", &"--abundance", &table]));
    command.extend(options.iter().cloned());
    call(&command)?;
    let nodes = read_nodes(&args.taxonomy.join("nodes.dmp"))?;
    let truth = fs::read_to_string(&reads.truth)?;
    let found = fs::read_to_string(&table)?;
    let mut cells = Vec::new();
    for rank in ["species", "genus"] {
        let truth = truth.lines().filter_map(|line| line.split_once('\t'));
        let truth = shares(truth.map(|(_, taxid)| (ancestor(&nodes, taxid, rank), 1.0)));
        let rows = found.lines().filter_map(|line| row_of_rank(line, rank));
        let (deviation, false_share) = compare(&truth, &shares(rows));
        cells.push(format!("{:.2} | {:.2}", 100.0 * deviation, 100.0 * false_share));
    }
    Ok(Some(cells.join(" | ")))
}

/// Parses taxid and estimated reads of a line of this rank; `None` for other ranks and for unclassified reads.
fn row_of_rank(line: &str, rank: &str) -> Option<(String, f64)> {
    let cells: Vec<&str> = line.split('\t').collect();
    let [of, taxid, _, _, estimated, _] = cells[..] else { return None };
    (of == rank && taxid != "0").then(|| Some((taxid.to_owned(), estimated.parse().ok()?)))?
}

fn shares(rows: impl Iterator<Item = (String, f64)>) -> HashMap<String, f64> {
    let mut shares: HashMap<String, f64> = HashMap::new();
    rows.for_each(|(taxid, reads)| *shares.entry(taxid).or_default() += reads);
    let sum: f64 = shares.values().sum();
    shares.values_mut().for_each(|share| *share /= sum);
    shares
}

/// Returns the sum of all differences, and the share of taxa that are not in the sample.
fn compare(truth: &HashMap<String, f64>, found: &HashMap<String, f64>) -> (f64, f64) {
    let of = |shares: &HashMap<String, f64>, taxid: &str| shares.get(taxid).copied().unwrap_or(0.0);
    let known = truth.iter().map(|(taxid, share)| (share - of(found, taxid)).abs());
    let others = found.iter().filter(|(taxid, _)| !truth.contains_key(*taxid));
    let false_share: f64 = others.map(|(_, share)| share).sum();
    (known.sum::<f64>() + false_share, false_share)
}

fn read_nodes(path: &Path) -> Result<Nodes> {
    let text =
        fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
    let mut nodes = Nodes::new();
    for line in text.lines() {
        let mut cells = line.split('|').map(|cell| cell.trim().to_owned());
        let (Some(taxid), Some(parent), Some(rank)) = (cells.next(), cells.next(), cells.next())
        else {
            bail!("{}: invalid line of nodes.dmp: {line}", path.display());
        };
        nodes.insert(taxid, (parent, rank));
    }
    Ok(nodes)
}

/// Returns the ancestor of `taxid` with this rank, or `none`.
fn ancestor(nodes: &Nodes, taxid: &str, rank: &str) -> String {
    let mut at = taxid;
    while let Some((parent, of)) = nodes.get(at) {
        if of == rank {
            return at.to_owned();
        }
        if parent == at {
            break;
        }
        at = parent;
    }
    "none".to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn deviations_are_sums_of_differences() {
        let of = |rows: &[(&str, f64)]| shares(rows.iter().map(|&(t, n)| (t.to_owned(), n)));
        let (deviation, lost) =
            compare(&of(&[("1", 6.0), ("2", 2.0)]), &of(&[("1", 2.0), ("3", 2.0)]));
        assert!((deviation - 1.0).abs() < 1e-9 && (lost - 0.5).abs() < 1e-9);
        assert_eq!(row_of_rank("genus\t7\tX\t3\t5\t50.0", "genus"), Some(("7".into(), 5.0)));
        assert_eq!(row_of_rank("genus\t0\t-\t3\t5\t50.0", "genus"), None);
        assert_eq!(row_of_rank("species\t7\tX\t3\t5\t50.0", "genus"), None);
    }

    #[test]
    fn ancestors_are_of_a_rank() {
        let node = |taxid: &str, parent: &str, rank: &str| {
            (taxid.to_owned(), (parent.to_owned(), rank.to_owned()))
        };
        let nodes: Nodes =
            [node("1", "1", "no rank"), node("2", "1", "genus"), node("3", "2", "species")].into();
        let found = ["species", "genus", "phylum"].map(|rank| ancestor(&nodes, "3", rank));
        assert_eq!(found, ["3", "2", "none"]);
    }
}
