//! Evaluation of classifications: compares assignments of reads with the truth, rank by rank.

mod assignment;

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};
use std::path::Path;

use crate::Error;
use assignment::{Assigned, Format};
use merganser_io::Lines;
use merganser_taxonomy::{Rank, Taxonomy};

/// The true taxon of each read.
#[derive(Debug)]
pub struct Truth {
    reads: HashMap<Vec<u8>, TrueRead>,
}

#[derive(Debug)]
struct TrueRead {
    node: u32,
    seen: bool,
}

/// The numbers of reads by their true and assigned taxon.
type Pairs = BTreeMap<(u32, Option<u32>), u64>;

/// The meaning of names in results.
#[derive(Clone, Copy, Debug)]
pub struct Names<'a> {
    /// The taxonomy of all taxids.
    pub taxonomy: &'a Taxonomy,
    /// The taxids of reference sequences, for results at the rank of sequences without taxids.
    pub sequences: &'a HashMap<String, u32>,
}

/// The score at one rank.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RankScore {
    /// The rank.
    pub rank: Rank,
    /// The number of reads whose true lineage has a taxon of this rank.
    pub with_rank: u64,
    /// The number of reads that were assigned a taxon of this rank or below.
    pub assigned: u64,
    /// The number of assigned reads whose taxon of this rank is the true one.
    pub right: u64,
    /// The accumulated deviation of the abundances (Kobus et al., §6.5), 0 to 2: the sum, over all taxa of this
    /// rank, of the absolute difference between the taxon's share of `assigned` and its share of
    /// `with_rank`.
    pub deviation: f64,
    /// The share of `assigned` with a taxon that no read truly has (false positives).
    pub false_share: f64,
}

impl RankScore {
    /// Returns the share of assigned reads that are right; `None` if no reads are assigned.
    pub fn precision(&self) -> Option<f64> {
        (self.assigned > 0).then(|| self.right as f64 / self.assigned as f64)
    }

    /// Returns the share of all reads that are right.
    pub fn sensitivity(&self, reads: u64) -> f64 {
        self.right as f64 / reads.max(1) as f64
    }
}

/// The evaluation of one file of results.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Evaluation {
    /// The number of reads of the truth; other reads of the results do not count.
    pub reads: u64,
    /// The number of reads that were assigned any taxon.
    pub classified: u64,
    /// The number of reads of the truth that are missing in the results; they count as unclassified.
    pub missing: u64,
    /// The number of reads of the results that are not in the truth, and the first of them.
    pub unknown: (u64, Option<String>),
    /// The scores by rank, the lowest first, without ranks that occur in neither the truth nor the assignments.
    pub ranks: Vec<RankScore>,
}

impl Truth {
    /// Reads lines of read name and taxid, separated by a tab; skips empty lines and lines that begin with `#`. Only
    /// the first word of a name counts.
    ///
    /// # Errors
    /// If the file cannot be read; if a line is malformed, a read occurs twice with different taxids, or a taxid
    /// is not in the taxonomy. The error names the line.
    pub fn read(path: &Path, taxonomy: &Taxonomy) -> Result<Truth, Error> {
        let mut lines = Lines::open(path)?;
        let mut reads = HashMap::new();
        while let Some((number, line)) = lines.next_line()? {
            if line.is_empty() || line.starts_with(b"#") {
                continue;
            }
            let (name, node) = true_taxon(line, taxonomy)
                .map_err(|reason| Error::content(path, format!("line {number}: {reason}")))?;
            let own = TrueRead { node, seen: false };
            if reads.insert(name.to_vec(), own).is_some_and(|other: TrueRead| other.node != node) {
                let name = String::from_utf8_lossy(name);
                return Err(Error::content(
                    path,
                    format!("line {number}: {name} has another taxid in an earlier line"),
                ));
            }
        }
        Ok(Truth { reads })
    }

    /// Returns the number of reads.
    pub fn len(&self) -> usize {
        self.reads.len()
    }

    /// Whether there are no reads.
    pub fn is_empty(&self) -> bool {
        self.reads.is_empty()
    }

    /// Scores one file of results: Kraken's five columns, as written by merganser and Kraken 2 (also with
    /// `--use-names`), or MetaCache's table. The taxon of a pair counts for each of its mates, NAME/1 and NAME/2, that the
    /// truth lists.
    ///
    /// # Errors
    /// If the file cannot be read or is cut short; if a line has neither format, names a taxon that is not in the taxonomy,
    /// or repeats a read (the error names the line); if the file has none of the reads.
    pub fn evaluate(mut self, path: &Path, names: &Names<'_>) -> Result<Evaluation, Error> {
        let mut pairs = Pairs::new();
        let mut result = Evaluation { reads: self.len() as u64, ..Evaluation::default() };
        let mut lines = Lines::open(path)?;
        let mut format = Format::default();
        while let Some((number, line)) = lines.next_line()? {
            let failed = |reason| Error::content(path, format!("line {number}: {reason}"));
            let Some(Assigned { name, node }) = format.parse(line, names).map_err(failed)? else {
                continue;
            };
            let mut found = 0;
            for name in self.names_of(name) {
                let Some(read) = self.reads.get_mut(&*name) else { continue };
                if read.seen {
                    let name = String::from_utf8_lossy(&name);
                    return Err(failed(format!("{name} is in an earlier line already")));
                }
                read.seen = true;
                found += 1;
                *pairs.entry((read.node, node)).or_default() += 1;
            }
            if found == 0 {
                let (count, first) = &mut result.unknown;
                *count += 1;
                first.get_or_insert_with(|| String::from_utf8_lossy(name).into_owned());
            }
        }
        if lines.is_open() {
            return Err(Error::content(
                path,
                "its last line has no line end: the file is cut short",
            ));
        }
        for read in self.reads.values().filter(|read| !read.seen) {
            result.missing += 1;
            *pairs.entry((read.node, None)).or_default() += 1;
        }
        if result.missing == result.reads && result.unknown.0 > 0 {
            let what = "none of the reads of the truth is in it: it is of other reads";
            return Err(Error::content(path, what));
        }
        result.score(&pairs, names.taxonomy);
        Ok(result)
    }

    /// Returns the names that the truth may have for a read of the results: its own, or those of the mates of the pair.
    fn names_of<'n>(&self, name: &'n [u8]) -> Vec<Cow<'n, [u8]>> {
        if self.reads.contains_key(name) {
            return vec![Cow::Borrowed(name)];
        }
        [b"/1", b"/2"].map(|mate| Cow::Owned([name, mate].concat())).into()
    }
}

impl Evaluation {
    /// Computes the scores of all ranks from the pairs of true and assigned taxa.
    fn score(&mut self, pairs: &Pairs, tree: &Taxonomy) {
        self.classified = pairs.iter().filter(|(pair, _)| pair.1.is_some()).map(|(_, n)| n).sum();
        let ranks = Rank::all().filter(|&rank| rank != Rank::Sequence && rank != Rank::Root);
        let scores = ranks.map(|rank| RankScore::new(rank, pairs, tree));
        self.ranks = scores.filter(|score| score.with_rank + score.assigned > 0).collect();
    }
}

impl RankScore {
    fn new(rank: Rank, pairs: &Pairs, tree: &Taxonomy) -> RankScore {
        // For each taxon, the number of reads that truly have it and the number assigned to it.
        let mut taxa: BTreeMap<u32, (u64, u64)> = BTreeMap::new();
        let mut right = 0;
        for (&(truth, assigned), &count) in pairs {
            let truth = tree.at_rank(truth, rank);
            let assigned = assigned.and_then(|node| tree.at_rank(node, rank));
            truth.into_iter().for_each(|taxon| taxa.entry(taxon).or_default().0 += count);
            assigned.into_iter().for_each(|taxon| taxa.entry(taxon).or_default().1 += count);
            right += count * u64::from(assigned.is_some() && assigned == truth);
        }
        let with_rank = taxa.values().map(|counts| counts.0).sum();
        let assigned = taxa.values().map(|counts| counts.1).sum();
        let share = |count: u64, all: u64| count as f64 / all.max(1) as f64;
        let gap = |&(has, given): &(u64, u64)| share(has, with_rank) - share(given, assigned);
        let deviation = taxa.values().map(|counts| gap(counts).abs()).sum();
        let falsely = taxa.values().filter(|counts| counts.0 == 0).map(|counts| counts.1).sum();
        let false_share = share(falsely, assigned);
        RankScore { rank, with_rank, assigned, right, deviation, false_share }
    }
}

fn true_taxon<'a>(line: &'a [u8], taxonomy: &Taxonomy) -> Result<(&'a [u8], u32), String> {
    let mut cells = line.split(|&byte| byte == b'\t');
    let name = assignment::first_word(cells.next().unwrap_or_default());
    let taxid = cells.next().and_then(|cell| std::str::from_utf8(cell).ok());
    let taxid: u32 = taxid
        .and_then(|cell| cell.trim().parse().ok())
        .ok_or("not a read name, a tab and a taxid")?;
    if taxid == 0 {
        return Err("taxid 0 is no taxon: remove reads without a true taxon".to_owned());
    }
    let node = taxonomy.node(taxid).ok_or(format!(
        "taxid {taxid} is not in the taxonomy, or deleted: give the taxonomy that the truth is from, or \
         remove the line"
    ))?;
    Ok((name, node))
}

#[cfg(test)]
mod tests;
