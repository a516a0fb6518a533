//! Estimates: distributes the reads of higher taxa to the taxa of a level by Bracken's rule. The results equal
//! those of its est_abundance.py to the last digit, because sums are computed in the same order.

use std::collections::{HashMap, HashSet, VecDeque};
use std::fmt;
use std::io::{self, Write};
use std::path::Path;
use std::str::FromStr;

use merganser_run::{Warnings, counted, thousands};

use super::{Distribution, Share};
use crate::Error;
use crate::report::{KrakenReport, rank_code};

/// The letters of ranks in Bracken, the highest first.
const LETTERS: &[u8; 9] = b"RKDPCOFGS";
/// The header line of the table.
const HEADING: &str = "name\ttaxonomy_id\ttaxonomy_lvl\tkraken_assigned_reads\tadded_reads\tnew_est_reads\t\
                       fraction_total_reads";
/// The further columns of a table with bases.
const OF_BASES: &str = "\tbases\tnew_est_bases\tfraction_total_bases";

/// The level at which reads are estimated: the letter of a rank in Kraken-style reports (`S`), or with a number,
/// taxa that many steps below the rank (`S1`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Level {
    code: String,
    letter: u8,
    /// The number of steps below the rank.
    steps: u64,
}

impl Level {
    /// Returns the level of species.
    pub fn species() -> Level {
        Level { code: "S".into(), letter: b'S', steps: 0 }
    }

    /// Returns the code of the level as in reports.
    pub fn code(&self) -> &str {
        &self.code
    }
}

impl FromStr for Level {
    type Err = String;

    fn from_str(code: &str) -> Result<Level, String> {
        let wrong = || {
            "give one of D, K, P, C, O, F, G, S, or steps below one, as S1, or a name, as species"
                .to_owned()
        };
        let code = rank_code(code).map_err(|_| wrong())?;
        let (&letter, steps) = code.as_bytes().split_first().ok_or_else(wrong)?;
        let is_level = LETTERS[1..].contains(&letter) && steps.iter().all(u8::is_ascii_digit);
        if !is_level || steps.len() > 9 || steps.first() == Some(&b'0') {
            return Err(wrong());
        }
        let steps = code[1..].parse().unwrap_or(0);
        Ok(Level { code, letter, steps })
    }
}

impl fmt::Display for Level {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.code)
    }
}

/// Counts of taxa and reads of an estimate, in whole reads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct EstimateNotes {
    /// The number of taxa of the level with enough reads.
    pub taxa: u64,
    /// The number of taxa of the level with fewer reads, which are left out.
    pub left_out: u64,
    /// The number of reads of the taxa that are left out.
    pub left_out_reads: u64,
    /// The number of reads of higher taxa that were distributed to taxa of the level.
    pub distributed: u64,
    /// The number of reads of higher taxa that were not distributed, because no remaining taxon of the level
    /// shares reads with their taxon.
    pub not_distributed: u64,
    /// The number of taxa of the level with enough reads of which the distribution has no genome, neither theirs nor that
    /// of a taxon below them.
    pub unknown: u64,
    /// The number of reads of these unknown taxa.
    pub unknown_reads: u64,
}

/// A row of Bracken's table: a taxon of the level.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct EstimateRow<'e> {
    /// The name of the taxon.
    pub name: &'e [u8],
    /// The taxid.
    pub taxid: u64,
    /// The reads.
    pub reads: EstimatedNumber,
    /// The bases of the reads, if they are known.
    pub bases: Option<EstimatedNumber>,
}

/// The reads or bases of a taxon of the level.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct EstimatedNumber {
    /// The number of the clade in the report.
    pub before: u64,
    /// The number with those that were added, rounded down as in Bracken.
    pub after: u64,
    /// `after` as a fraction of the sum over all taxa of the level that are kept.
    pub fraction: f64,
}

impl EstimatedNumber {
    fn new(before: u64, after: f64, sum: f64) -> EstimatedNumber {
        let after = after as u64;
        EstimatedNumber { before, after, fraction: share(after as f64, sum.trunc()) }
    }
}

/// An estimate of the reads of each taxon of a level.
#[derive(Clone, Debug)]
pub struct Estimate<'r> {
    report: &'r KrakenReport,
    level: Level,
    /// The reads that a taxon of the level needs.
    threshold: u64,
    /// The rank code of each row, with recomputed steps.
    codes: Vec<String>,
    /// The taxon of the level that each row's reads belong to, unless it was left out.
    members: Vec<Option<usize>>,
    /// The reads that were added to each row; only taxa of the level have any.
    added: Vec<f64>,
    /// The estimated reads of all taxa of the level.
    sum: f64,
    /// The bases of the reads, if they are known.
    bases: Option<Bases>,
    notes: EstimateNotes,
}

impl<'r> Estimate<'r> {
    /// Distributes the reads of taxa above `level` to the taxa at the level. Taxa with fewer than `threshold` reads
    /// are left out with all taxa below them. The reads of a higher taxon are divided among the genomes that the
    /// distribution lists for it, in proportion to the share of a genome's reads that are assigned to the taxon,
    /// times the reads that the genome seems to have, judging by those assigned to the genome itself. A taxon of the
    /// level gets the reads of its genomes. A taxon of a lower rank that is not below any taxon of the level belongs
    /// to the last taxon of the level before it in the report, as in Bracken.
    ///
    /// # Errors
    /// If a taxon has a rank code whose letter is not the letter of any rank.
    pub fn new(
        report: &'r KrakenReport,
        distribution: &Distribution,
        level: &Level,
        threshold: u64,
    ) -> Result<Estimate<'r>, Error> {
        Estimate::of((report, None), distribution, level, threshold)
    }

    /// Distributes reads as [`new`](Self::new) does, and their bases with them: the bases of a taxon itself are divided
    /// among the same taxa in the same proportions as its reads. `bases` is the report of the bases of the same reads.
    ///
    /// # Errors
    /// The errors of [`new`](Self::new). If `bases` has a taxon that `report` lacks.
    pub fn with_bases(
        report: &'r KrakenReport,
        bases: &KrakenReport,
        distribution: &Distribution,
        level: &Level,
        threshold: u64,
    ) -> Result<Estimate<'r>, Error> {
        Estimate::of((report, Some(Bases::new(report, bases)?)), distribution, level, threshold)
    }

    fn of(
        (report, bases): (&'r KrakenReport, Option<Bases>),
        distribution: &Distribution,
        level: &Level,
        threshold: u64,
    ) -> Result<Estimate<'r>, Error> {
        let rows = report.rows().len();
        let mut estimate = Estimate {
            report,
            level: level.clone(),
            threshold,
            codes: codes(report, level)?,
            members: vec![None; rows],
            added: vec![0.0; rows],
            sum: 0.0,
            bases,
            notes: EstimateNotes::default(),
        };
        estimate.choose();
        estimate.look_up(distribution);
        estimate.distribute(distribution);
        let kept = (0..rows).filter(|&row| estimate.members[row] == Some(row));
        let kept: Vec<usize> = kept.collect();
        estimate.sum = kept.iter().fold(0.0, |sum, &row| sum + estimate.estimated(row));
        if let Some(bases) = &mut estimate.bases {
            bases.sum = kept.iter().fold(0.0, |sum, &row| sum + bases.estimated(row));
        }
        Ok(estimate)
    }

    /// Returns the counts of taxa and reads.
    pub fn notes(&self) -> EstimateNotes {
        self.notes
    }

    /// Returns a warning if the distribution lacks taxa of the level that have more than a hundredth of the reads:
    /// then it belongs to another database, or to only a part of the genomes, and all reads of higher taxa go to the
    /// other taxa.
    pub fn doubt(&self) -> Option<String> {
        let EstimateNotes { taxa, unknown, unknown_reads, .. } = self.notes;
        let kept = (0..self.members.len()).filter(|&row| self.members[row] == Some(row));
        let reads: u64 = kept.map(|row| self.report.rows()[row].clade).sum();
        // Genomes shorter than the reads, such as plasmids, are in no distribution.
        if reads >= 100 * unknown_reads {
            return None;
        }
        let is_all = unknown == taxa;
        let [unknown, taxa, unknown_reads, reads] =
            [unknown, taxa, unknown_reads, reads].map(thousands);
        let (level, remedy) =
            (&self.level, "give that of the database that the reads were classified with");
        Some(match is_all {
            true => format!(
                "no genome of the report's {taxa} taxa of level {level} ({reads} reads) is in it: {remedy}"
            ),
            false => format!(
                "{unknown} of the report's {taxa} taxa of level {level}, with {unknown_reads} of {reads} reads, \
                 have no genome in it, and get no reads of higher taxa: {remedy}"
            ),
        })
    }

    /// Warns of a [`doubt`](Self::doubt), of reads that are not distributed, and of an empty table. `report` is the file
    /// of the report, if it was read from one, and `distribution` that of the distribution.
    pub fn warn(&self, report: Option<&Path>, distribution: &Path, warnings: &Warnings) {
        let EstimateNotes { taxa, distributed, not_distributed, .. } = self.notes;
        let doubt = self.doubt().or_else(|| {
            (taxa > 0 && not_distributed > distributed).then(|| {
                format!(
                    "{} of {} of higher taxa were not distributed, because genomes have no reads of these taxa: is it of this \
                     database, and of the length of the reads?",
                    thousands(not_distributed),
                    counted(distributed + not_distributed, "read")
                )
            })
        });
        if let Some(doubt) = doubt {
            warnings.push(format!("{}: {doubt}", distribution.display()));
        }
        if taxa == 0 {
            let file = report.map(|path| format!("{}: ", path.display())).unwrap_or_default();
            warnings.push(format!(
                "{file}no taxon of level {} has {} or more, so the table is empty",
                self.level,
                counted(self.threshold, "read")
            ));
        }
    }

    /// Counts the taxa of the level that the distribution lacks.
    fn look_up(&mut self, distribution: &Distribution) {
        let rows = self.report.rows();
        let places: HashMap<u64, usize> = rows
            .iter()
            .zip(&self.members)
            .filter_map(|(row, member)| Some((row.taxid, (*member)?)))
            .collect();
        let of = |taxid: u32| places.get(&u64::from(taxid));
        let shares = distribution.rows.iter().flat_map(|row| &row.1);
        let genomes = shares.map(|share| share.genome);
        // The reads of a genome that is not in the report, such as a strain, may have been classified as its species.
        let classified = distribution.rows.iter().filter(|(taxid, shares)| {
            shares.iter().any(|share| of(share.genome).is_none_or(|at| Some(at) == of(*taxid)))
        });
        let known: HashSet<u64> =
            genomes.chain(classified.map(|row| row.0)).map(u64::from).collect();
        let members = self.members.iter().zip(rows).filter(|(_, row)| known.contains(&row.taxid));
        let found: HashSet<usize> = members.filter_map(|(member, _)| *member).collect();
        for (at, row) in rows.iter().enumerate() {
            if self.members[at] == Some(at) && !found.contains(&at) {
                self.notes.unknown += 1;
                self.notes.unknown_reads += row.clade;
            }
        }
    }

    /// Finds the taxa of the level and the rows that belong to each.
    fn choose(&mut self) {
        let place = |letter: u8| LETTERS.iter().position(|&one| one == letter);
        let mut last = None;
        for (at, row) in self.report.rows().iter().enumerate() {
            if row.depth == 0 {
                continue;
            }
            let code = &self.codes[at];
            if *code == self.level.code {
                let enough = row.clade >= self.threshold;
                last = enough.then_some(at);
                self.notes.taxa += u64::from(enough);
                self.notes.left_out += u64::from(!enough);
                self.notes.left_out_reads += if enough { 0 } else { row.clade };
                self.members[at] = last;
            } else if self.level.steps > 0 && steps(code) > self.level.steps
                || place(code.as_bytes()[0]) >= place(self.level.letter)
            {
                self.members[at] = last;
            }
        }
    }

    /// Distributes the reads of all taxa above the level.
    fn distribute(&mut self, distribution: &Distribution) {
        let rows = self.report.rows();
        let numbered = rows.iter().enumerate().filter(|(at, _)| self.members[*at].is_some());
        let genomes: HashMap<u64, usize> = numbered.map(|(at, row)| (row.taxid, at)).collect();
        let place = |share: &Share| Some((*genomes.get(&u64::from(share.genome))?, *share));
        let shares: HashMap<u64, Vec<(usize, Share)>> = distribution
            .rows
            .iter()
            .map(|(taxid, shares)| (u64::from(*taxid), shares.iter().filter_map(place).collect()))
            .filter(|(_, shares): &(u64, Vec<_>)| !shares.is_empty())
            .collect();
        let mut given = vec![0.0; rows.len()];
        let mut given_bases = vec![0.0; rows.len()];
        let children = self.report.children();
        let tops = (0..rows.len()).filter(|&at| rows[at].depth == 0 && !rows[at].is_unclassified());
        let mut queue: VecDeque<usize> = tops.collect();
        while let Some(at) = queue.pop_front() {
            let above = |&&child: &&usize| self.codes[child] != self.level.code;
            queue.extend(children[at].iter().filter(above));
            let reads = rows[at].own;
            if reads == 0 {
                continue;
            }
            let own = shares.get(&rows[at].taxid).map_or(&[][..], Vec::as_slice);
            let Some(fractions) = fractions(own, &shares, rows) else {
                self.notes.not_distributed += reads;
                continue;
            };
            self.notes.distributed += reads;
            let bases = self.bases.as_ref().map_or(0, |bases| bases.rows[at][1]);
            for ((place, _), fraction) in own.iter().zip(fractions) {
                given[*place] += fraction * reads as f64;
                given_bases[*place] += fraction * bases as f64;
            }
        }
        for (at, (given, bases)) in given.into_iter().zip(given_bases).enumerate() {
            if let Some(taxon) = self.members[at] {
                self.added[taxon] += given;
                if let Some(own) = &mut self.bases {
                    own.added[taxon] += bases;
                }
            }
        }
    }

    /// Returns the reads of a taxon of the level, including those that were added.
    fn estimated(&self, row: usize) -> f64 {
        self.report.rows()[row].clade as f64 + self.added[row]
    }

    /// Returns the rows of Bracken's table: the taxa of the level, in the order of the report.
    pub fn rows(&self) -> impl Iterator<Item = EstimateRow<'_>> {
        let rows = self.report.rows().iter().enumerate();
        let kept = rows.filter(|(at, _)| self.members[*at] == Some(*at));
        kept.map(|(at, row)| EstimateRow {
            name: row.name.trim_ascii_end(),
            taxid: row.taxid,
            reads: EstimatedNumber::new(row.clade, self.estimated(at), self.sum),
            bases: self.bases.as_ref().map(|bases| {
                EstimatedNumber::new(bases.rows[at][0], bases.estimated(at), bases.sum)
            }),
        })
    }

    /// Writes Bracken's table: a line for each of the [`rows`](Self::rows). If bases are known, three
    /// columns follow those of Bracken: the bases of the clade, these with the bases that were added, and their
    /// fraction of the sum over all taxa that are kept.
    ///
    /// # Errors
    /// If writing fails.
    pub fn write_table(&self, output: &mut dyn Write) -> io::Result<()> {
        output.write_all(HEADING.as_bytes())?;
        output.write_all(self.bases.as_ref().map_or("", |_| OF_BASES).as_bytes())?;
        output.write_all(b"\n")?;
        for row in self.rows() {
            let EstimatedNumber { before, after, fraction } = row.reads;
            output.write_all(row.name)?;
            write!(
                output,
                "\t{}\t{}\t{before}\t{}\t{after}\t{fraction:.5}",
                row.taxid,
                self.level,
                after - before
            )?;
            if let Some(EstimatedNumber { before, after, fraction }) = row.bases {
                write!(output, "\t{before}\t{after}\t{fraction:.5}")?;
            }
            output.write_all(b"\n")?;
        }
        Ok(())
    }

    /// Writes a new report with the estimated reads of the taxa of the level and of those above.
    ///
    /// # Errors
    /// If writing fails.
    pub fn write_report(&self, output: &mut dyn Write) -> io::Result<()> {
        let rows = self.report.rows();
        let (sums, keys) = self.sums();
        let children = self.report.children();
        let tops = (0..rows.len()).filter(|&at| rows[at].depth == 0 && !rows[at].is_unclassified());
        let mut stack: Vec<usize> = tops.collect();
        stack.reverse();
        while let Some(at) = stack.pop() {
            let level = self.level.code();
            let is_listed = |&&child: &&usize| {
                let code = &self.codes[child];
                &code[..1] != level || code == level
            };
            let mut below: Vec<usize> = children[at].iter().filter(is_listed).copied().collect();
            below.sort_by(|one, other| keys[*one].total_cmp(&keys[*other]));
            let is_lowest = below.is_empty();
            stack.extend(below);
            let Some(reads) = sums[at] else { continue };
            let (percent, whole) = (share(reads, self.sum) * 100.0, reads as u64);
            let (row, own) = (&rows[at], if is_lowest { whole } else { 0 });
            let blanks = " ".repeat(2 * row.depth);
            write!(
                output,
                "{percent:.2}\t{whole}\t{own}\t{}\t{}\t{blanks}",
                self.codes[at], row.taxid
            )?;
            output.write_all(row.name.trim_ascii_end())?;
            output.write_all(b"\n")?;
        }
        Ok(())
    }

    /// Returns, for each row, the new reads (for taxa of the level and those above) and the sort key.
    fn sums(&self) -> (Vec<Option<f64>>, Vec<f64>) {
        let rows = self.report.rows();
        let mut sums: Vec<Option<f64>> = vec![None; rows.len()];
        let mut keys: Vec<f64> = rows.iter().map(|row| row.clade as f64).collect();
        let taxa = (0..rows.len()).filter(|&at| !rows[at].is_unclassified());
        let taxa: Vec<usize> = taxa.collect();
        for (place, &at) in taxa.iter().enumerate() {
            let next = taxa.get(place + 1);
            if next.is_some_and(|&next| rows[next].depth == rows[at].depth + 1) {
                continue;
            }
            let mut above = std::iter::successors(Some(at), |&at| rows[at].parent);
            let Some(taxon) = above.find(|&at| self.codes[at] == self.level.code) else { continue };
            if self.members[taxon] != Some(taxon) || sums[taxon].is_some() {
                continue;
            }
            let reads = self.estimated(taxon);
            sums[taxon] = Some(reads);
            for at in above {
                let sum = sums[at].unwrap_or_else(|| {
                    keys[at] = 0.0;
                    0.0
                });
                sums[at] = Some(sum + reads);
                keys[at] += reads;
            }
        }
        (sums, keys)
    }
}

/// The bases of the rows of a report of reads.
#[derive(Clone, Debug)]
struct Bases {
    /// The bases of each row's clade and of its taxon itself.
    rows: Vec<[u64; 2]>,
    /// The bases that were added to each row; only taxa of the level have any.
    added: Vec<f64>,
    /// The estimated bases of all taxa of the level.
    sum: f64,
}

impl Bases {
    /// Takes the bases of the rows of `report` from a report of bases.
    ///
    /// # Errors
    /// If a taxon has bases and no row.
    fn new(report: &KrakenReport, bases: &KrakenReport) -> Result<Bases, Error> {
        let mut of_taxa: HashMap<u64, [u64; 2]> =
            bases.rows().iter().map(|row| (row.taxid, [row.clade, row.own])).collect();
        let take = |row: &crate::report::ReportRow| of_taxa.remove(&row.taxid).unwrap_or_default();
        let rows: Vec<[u64; 2]> = report.rows().iter().map(take).collect();
        let other = of_taxa.iter().filter(|(_, bases)| bases[0] > 0).map(|(taxid, _)| taxid).min();
        if let Some(taxid) = other {
            return Err(Error::Input(format!(
                "the report of bases has taxid {taxid}, and the report of reads does not: give those of the same run"
            )));
        }
        Ok(Bases { added: vec![0.0; rows.len()], rows, sum: 0.0 })
    }

    /// Returns the bases of a taxon of the level, including those that were added.
    fn estimated(&self, row: usize) -> f64 {
        self.rows[row][0] as f64 + self.added[row]
    }
}

/// Returns the fraction of a taxon's reads that each genome of its shares gets; `None` if no genome could get any.
fn fractions(
    own: &[(usize, Share)],
    shares: &HashMap<u64, Vec<(usize, Share)>>,
    rows: &[crate::report::ReportRow],
) -> Option<Vec<f64>> {
    let fraction = |share: &Share| share.reads as f64 / share.total as f64;
    // The reads that a genome seems to have: those assigned to itself, divided by the share of such reads.
    let seeming = |&(at, ref share): &(usize, Share)| {
        let itself = shares.get(&u64::from(share.genome)).into_iter().flatten();
        // An entry of 0 reads does not count, as Bracken would divide by it.
        let mut unique = itself.map(|(_, one)| one);
        let unique = unique.find(|one| one.genome == share.genome && one.reads > 0);
        rows[at].own as f64 / unique.map_or(1.0, fraction)
    };
    let seeming: Vec<f64> = own.iter().map(seeming).collect();
    let all = seeming.iter().fold(0.0, |all, reads| all + reads);
    if all == 0.0 {
        return None;
    }
    let weights: Vec<f64> = own
        .iter()
        .zip(&seeming)
        .map(|((_, share), reads)| fraction(share) * (reads / all))
        .collect();
    let sum = weights.iter().fold(0.0, |sum, weight| sum + weight);
    if sum == 0.0 {
        return None;
    }
    Some(weights.into_iter().map(|weight| weight / sum).collect())
}

/// Returns the steps of a code as Bracken counts them: by the last digit; a 0 is the last digit of 10.
fn steps(code: &str) -> u64 {
    match code.as_bytes() {
        [_] => 0,
        [.., b'0'] => 10,
        [.., digit] => u64::from(digit - b'0'),
        [] => 0,
    }
}

/// Returns `part` / `whole`, or 0 if `whole` is 0.
fn share(part: f64, whole: f64) -> f64 {
    if whole > 0.0 { part / whole } else { 0.0 }
}

/// Computes the rank codes of all rows. A taxon without a main rank gets its parent's code, one step further;
/// steps are counted only in the last digit. A domain without a code is treated as one if domains are estimated;
/// Bracken finds no taxa there.
fn codes(report: &KrakenReport, level: &Level) -> Result<Vec<String>, Error> {
    let mut codes: Vec<String> = Vec::new();
    for row in report.rows() {
        let above = row.parent.map(|parent| codes[parent].clone());
        codes.push(match above {
            _ if row.is_unclassified() => "U".into(),
            None => "R".into(),
            Some(_) if level.letter == b'D' && row.letter() == Some('D') => "D".into(),
            Some(above) if row.rank.len() > 1 => match above.len() {
                1 => above + "1",
                len => {
                    let (before, last) = above.split_at(len - 1);
                    format!("{before}{}", last.parse::<u8>().unwrap_or(0) + 1)
                }
            },
            Some(_) if row.rank.bytes().all(|letter| LETTERS.contains(&letter)) => row.rank.clone(),
            Some(_) => {
                return Err(Error::Input(format!(
                    "the report has taxid {} with rank code {}, and the letters of ranks are R, D, K, P, \
                     C, O, F, G and S",
                    row.taxid, row.rank
                )));
            }
        });
    }
    Ok(codes)
}
