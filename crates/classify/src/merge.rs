//! Joins the results for the same reads from separately built databases (Kobus et al., 2021, section 4.3).

use std::io::Write;
use std::path::{Path, PathBuf};

use merganser_run::ConfigError;

use crate::Error;
use crate::candidates::Candidate;
use crate::database::Database;
use crate::decide::{Thresholds, Verdict};
use merganser_io::Lines;
use merganser_taxonomy::{Rank, Taxonomy};
use merganser_taxreport::report::{Tally, TaxonBases};

/// Joins results from several databases as if all genomes, in the order of the databases, were in a single database,
/// except that candidates are not pooled.
#[derive(Debug)]
pub struct Merger {
    tree: Taxonomy,
    thresholds: Thresholds,
}

/// The reads of joined results, and their bases, by taxon.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct MergedCounts {
    /// The reads.
    pub tally: Tally,
    /// The bases, by the lengths in the lines.
    pub bases: TaxonBases,
}

/// A line of results.
struct Line {
    id: Vec<u8>,
    length: Vec<u8>,
    bases: u64,
    /// Taxid and hits of each candidate, best first.
    candidates: Vec<(u32, u32)>,
}

impl Merger {
    /// Creates a merger for results from `databases`.
    ///
    /// # Errors
    /// If there is no database, or if the parameters of the databases differ.
    pub fn new(databases: &[Database], thresholds: Thresholds) -> Result<Merger, Error> {
        let Some((first, others)) = databases.split_first() else {
            return Err(Error::Config(ConfigError::new("give at least one database")));
        };
        if others.iter().any(|other| other.params() != first.params()) {
            return Err(Error::Config(ConfigError::new(
                "the databases have different parameters (`db info` shows them), so their hits \
                 cannot be compared",
            )));
        }
        let mut tree = first.taxonomy().clone();
        for other in others {
            tree = tree.united(other.taxonomy());
        }
        Ok(Merger { tree, thresholds })
    }

    /// Returns the taxa of all databases.
    pub fn taxonomy(&self) -> &Taxonomy {
        &self.tree
    }

    /// Joins the lines of `results` and writes them to `output`. There must be one file for each database, in the
    /// order of the databases. All files must be in Kraken's format, with the same reads in the same order. The output
    /// has the same format.
    ///
    /// # Errors
    /// If the files have different reads or another format, or if a taxid is in none of the databases.
    pub fn merge(
        &self,
        results: &[PathBuf],
        output: &mut dyn Write,
    ) -> Result<MergedCounts, Error> {
        let mut files = Vec::new();
        for path in results {
            files.push((path.as_path(), Lines::open(path)?));
        }
        let mut counts = MergedCounts::default();
        let mut text = Vec::new();
        let Some(((path, lines), others)) = files.split_first_mut() else { return Ok(counts) };
        loop {
            let first = next(path, lines)?;
            let mut candidates = Vec::new();
            for (number, (other_path, other)) in others.iter_mut().enumerate() {
                let line = next(other_path, other)?;
                check_same(&first, path, &line, other_path)?;
                candidates.extend(line.map(|line| (number + 1, line.candidates)));
            }
            let Some(first) = first else { break };
            candidates.insert(0, (0, first.candidates.clone()));
            self.read(&first, &candidates, results, &mut text, &mut counts)?;
            if text.len() > 1 << 16 {
                output.write_all(&text)?;
                text.clear();
            }
        }
        output.write_all(&text)?;
        Ok(counts)
    }

    /// Chooses the taxon of one read and appends its line to `text`.
    fn read(
        &self,
        line: &Line,
        found: &[(usize, Vec<(u32, u32)>)],
        results: &[PathBuf],
        text: &mut Vec<u8>,
        counts: &mut MergedCounts,
    ) -> Result<(), Error> {
        let sequences = self.thresholds.lowest == Rank::Sequence;
        let mut nodes = Vec::new();
        let mut candidates: Vec<Candidate> = Vec::new();
        for (file, own) in found {
            for &(taxid, hits) in own {
                let Some(node) = self.tree.node(taxid) else {
                    let id = String::from_utf8_lossy(&line.id);
                    return Err(Error::content(
                        &results[*file],
                        format!(
                            "read {id}: taxid {taxid} is in none of the databases; the file was \
                             made with a different database"
                        ),
                    ));
                };
                // Candidates at the root are ignored: older databases place sequences without a taxon there.
                if node == self.tree.root() {
                    continue;
                }
                // Candidates are numbered in the order of the files and of the lines.
                let target = nodes.len() as u32;
                let taxon = if sequences { self.tree.len() as u32 + target } else { node };
                nodes.push(node);
                // The files contain no pooled counts, so the hits are used instead.
                let (pooled, window, last, nodes) = (hits, 0, 0, [node; 2]);
                candidates.push(Candidate { target, taxon, hits, pooled, window, last, nodes });
            }
        }
        // The sort is stable: with the same hits, candidates of earlier files come first.
        candidates.sort_by_key(|candidate| std::cmp::Reverse(candidate.hits));
        let mut taxa = Vec::new();
        candidates.retain(|candidate| {
            let new = !taxa.contains(&candidate.taxon);
            taxa.push(candidate.taxon);
            new
        });
        candidates.truncate(self.thresholds.max_cand);
        let node = match self.thresholds.decide(&candidates, line.bases, &self.tree, &nodes) {
            Verdict::Unclassified => None,
            Verdict::Target(target) => Some(nodes[target as usize]),
            Verdict::Taxon(node) => Some(node),
        };
        counts.tally.count(node, None);
        counts.bases.tally.count_bases(node, None, line.bases);
        counts.bases.by_genome.count_bases(node, None, line.bases);
        text.extend_from_slice(if node.is_some() { b"C\t" } else { b"U\t" });
        text.extend_from_slice(&line.id);
        let _ = write!(text, "\t{}\t", node.map_or(0, |node| self.tree.taxid(node)));
        text.extend_from_slice(&line.length);
        for (number, candidate) in candidates.iter().enumerate() {
            let taxid = self.tree.taxid(nodes[candidate.target as usize]);
            let separator = if number == 0 { '\t' } else { ' ' };
            let _ = write!(text, "{separator}{taxid}:{}", candidate.hits);
        }
        text.extend_from_slice(if candidates.is_empty() { b"\t0:0\n" } else { b"\n" });
        Ok(())
    }
}

fn check_same(
    one: &Option<Line>,
    path: &Path,
    other: &Option<Line>,
    other_path: &Path,
) -> Result<(), Error> {
    let shown = |line: &Option<Line>| match line {
        Some(line) => format!("read {}", String::from_utf8_lossy(&line.id)),
        None => "no further read".to_owned(),
    };
    let same = match (one, other) {
        (Some(one), Some(other)) => one.id == other.id && one.length == other.length,
        (None, None) => true,
        _ => false,
    };
    if same {
        return Ok(());
    }
    Err(Error::content(
        other_path,
        format!(
            "has {} where {} has {}: results must be for the same reads in the same order",
            shown(other),
            path.display(),
            shown(one)
        ),
    ))
}

fn next(path: &Path, lines: &mut Lines) -> Result<Option<Line>, Error> {
    let Some((number, line)) = lines.next_line()? else { return Ok(None) };
    parse(line).map(Some).map_err(|what| Error::content(path, format!("line {number}: {what}")))
}

fn parse(line: &[u8]) -> Result<Line, String> {
    let cells: Vec<&[u8]> = line.split(|&byte| byte == b'\t').collect();
    let number = |text: &[u8]| std::str::from_utf8(text).ok()?.trim().parse::<u32>().ok();
    let &[state, id, _, length, found] = &cells[..] else {
        // Users sometimes give the report instead of the lines (KrakenTools#42, #95).
        let report = matches!(cells.len(), 6 | 8) && number(cells[1]).is_some();
        return Err(if report {
            "this is a report; give the output of `classify -o`, which has one line per read".into()
        } else {
            "not the five columns of Kraken's format".into()
        });
    };
    if state != b"C" && state != b"U" {
        return Err("the first column is neither C nor U".into());
    }
    let mut bases = 0;
    for mate in length.split(|&byte| byte == b'|') {
        bases += u64::from(number(mate).ok_or("the fourth column is not a length")?);
    }
    let mut candidates = Vec::new();
    for candidate in found.split(|&byte| byte == b' ').filter(|text| *text != b"0:0") {
        let pair = candidate
            .iter()
            .position(|&byte| byte == b':')
            .and_then(|at| Some((number(&candidate[..at])?, number(&candidate[at + 1..])?)));
        candidates.push(pair.ok_or("no TAXID:HITS in the fifth column")?);
    }
    Ok(Line { id: id.to_vec(), length: length.to_vec(), bases, candidates })
}
