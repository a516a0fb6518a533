//! Estimates: the reads of higher taxa given back to the taxa of a level, by Bracken's rule, as its
//! est_abundance.py computes and writes it, to the last digit: sums are made in its order.

use std::collections::{HashMap, HashSet, VecDeque};
use std::fmt;
use std::io::{self, Write};
use std::str::FromStr;

use merganser_run::thousands;

use super::{Distribution, Share};
use crate::Error;
use crate::report::KrakenReport;

/// The letters of ranks, the highest first, as Bracken has them.
const LETTERS: &[u8; 9] = b"RKDPCOFGS";
/// The heading of the table.
const HEADING: &str = "name\ttaxonomy_id\ttaxonomy_lvl\tkraken_assigned_reads\tadded_reads\tnew_est_reads\t\
                       fraction_total_reads\n";

/// The level at which reads are estimated: a rank's letter in Kraken's reports (`S`), or that of taxa some
/// steps below one (`S1`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Level {
    code: String,
    letter: u8,
    /// Steps below the rank.
    steps: u64,
}

impl Level {
    /// Species.
    pub fn species() -> Level {
        Level { code: "S".into(), letter: b'S', steps: 0 }
    }

    /// The code as it is in reports.
    pub fn code(&self) -> &str {
        &self.code
    }
}

impl FromStr for Level {
    type Err = String;

    fn from_str(code: &str) -> Result<Level, String> {
        let wrong = || "give one of D, K, P, C, O, F, G, S, or steps below one, as S1".to_owned();
        let (&letter, steps) = code.as_bytes().split_first().ok_or_else(wrong)?;
        let is_level = LETTERS[1..].contains(&letter) && steps.iter().all(u8::is_ascii_digit);
        if !is_level || steps.len() > 9 || steps.first() == Some(&b'0') {
            return Err(wrong());
        }
        Ok(Level { code: code.into(), letter, steps: code[1..].parse().unwrap_or(0) })
    }
}

impl fmt::Display for Level {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.code)
    }
}

/// What happened to the reads of a report, in whole reads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct EstimateNotes {
    /// Taxa of the level with enough reads,
    pub taxa: u64,
    /// and those with fewer, which are left out,
    pub left_out: u64,
    /// with so many reads.
    pub left_out_reads: u64,
    /// Reads of higher taxa that were given to taxa of the level,
    pub distributed: u64,
    /// and those that were not, as nothing that is left has any in common with their taxon.
    pub not_distributed: u64,
    /// Taxa of the level with enough reads that the distribution has no row and no genome of, nor of any
    /// taxon below them,
    pub unknown: u64,
    /// with so many reads.
    pub unknown_reads: u64,
}

/// An estimate of the reads of each taxon of a level.
#[derive(Clone, Debug)]
pub struct Estimate<'r> {
    report: &'r KrakenReport,
    level: Level,
    /// By row: the rank code, with steps counted anew;
    codes: Vec<String>,
    /// the taxon of the level that its reads belong to, if that was not left out;
    members: Vec<Option<usize>>,
    /// of taxa of the level, the reads that were added.
    added: Vec<f64>,
    /// All reads of the taxa of the level.
    sum: f64,
    notes: EstimateNotes,
}

impl<'r> Estimate<'r> {
    /// Gives the reads of taxa above `level` to the taxa at it: those with fewer than `threshold` reads
    /// are left out, with all below them. Reads of a higher taxon are divided among the genomes that the
    /// distribution has for it, by the share of a genome's reads that are assigned to the taxon, times
    /// the reads that the genome seems to have by those that are assigned to itself; a taxon of the
    /// level has what its genomes are given. A taxon of a lower rank that stands below none of the
    /// level belongs to the last taxon of the level before it in the report, as it does in Bracken.
    ///
    /// # Errors
    /// If a taxon has a rank code whose letter is no rank's.
    pub fn new(
        report: &'r KrakenReport,
        distribution: &Distribution,
        level: &Level,
        threshold: u64,
    ) -> Result<Estimate<'r>, Error> {
        let rows = report.rows().len();
        let mut estimate = Estimate {
            report,
            level: level.clone(),
            codes: codes(report, level)?,
            members: vec![None; rows],
            added: vec![0.0; rows],
            sum: 0.0,
            notes: EstimateNotes::default(),
        };
        estimate.choose(threshold);
        estimate.look_up(distribution);
        estimate.distribute(distribution);
        let kept = (0..rows).filter(|&row| estimate.members[row] == Some(row));
        estimate.sum = kept.map(|row| estimate.estimated(row)).fold(0.0, |sum, reads| sum + reads);
        Ok(estimate)
    }

    /// What happened to the reads.
    pub fn notes(&self) -> EstimateNotes {
        self.notes
    }

    /// What is doubtful about the distribution, if it lacks taxa of the level with more than half of the
    /// reads of all: it is of another database, then.
    pub fn doubt(&self) -> Option<String> {
        let EstimateNotes { taxa, unknown, unknown_reads, .. } = self.notes;
        let kept = (0..self.members.len()).filter(|&row| self.members[row] == Some(row));
        let reads: u64 = kept.map(|row| self.report.rows()[row].clade).sum();
        if reads >= 2 * unknown_reads {
            return None;
        }
        let is_all = unknown == taxa;
        let [unknown, taxa, unknown_reads, reads] =
            [unknown, taxa, unknown_reads, reads].map(thousands);
        let (level, remedy) =
            (&self.level, "give that of the database that the reads were classified by");
        Some(match is_all {
            true => format!(
                "no genome of the report's {taxa} taxa of level {level} ({reads} reads) is in it: {remedy}"
            ),
            false => format!(
                "{unknown} of the report's {taxa} taxa of level {level}, with {unknown_reads} of {reads} reads, \
                 have no genome in it: {remedy}"
            ),
        })
    }

    /// Counts taxa of the level that the distribution lacks.
    fn look_up(&mut self, distribution: &Distribution) {
        let rows = self.report.rows();
        let shares = distribution.rows.iter().flat_map(|row| &row.1);
        let known: HashSet<u64> = shares
            .map(|share| u64::from(share.genome))
            .chain(distribution.rows.iter().map(|row| u64::from(row.0)))
            .collect();
        let members = self.members.iter().zip(rows).filter(|(_, row)| known.contains(&row.taxid));
        let found: HashSet<usize> = members.filter_map(|(member, _)| *member).collect();
        for (at, row) in rows.iter().enumerate() {
            if self.members[at] == Some(at) && !found.contains(&at) {
                self.notes.unknown += 1;
                self.notes.unknown_reads += row.clade;
            }
        }
    }

    /// Finds the taxa of the level, and what belongs to each.
    fn choose(&mut self, threshold: u64) {
        let place = |letter: u8| LETTERS.iter().position(|&one| one == letter);
        let mut last = None;
        for (at, row) in self.report.rows().iter().enumerate() {
            if row.depth == 0 {
                continue;
            }
            let code = &self.codes[at];
            if *code == self.level.code {
                let enough = row.clade >= threshold;
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

    /// Divides the reads of all taxa above the level.
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
        let children = self.report.children();
        let tops = (0..rows.len()).filter(|&at| rows[at].depth == 0 && !rows[at].is_unclassified());
        let mut queue: VecDeque<usize> = tops.collect();
        while let Some(at) = queue.pop_front() {
            let above = |&&child: &&usize| self.codes[child] != self.level.code;
            queue.extend(children[at].iter().filter(above));
            let reads = rows[at].own;
            match shares.get(&rows[at].taxid) {
                _ if reads == 0 => {}
                Some(own) if divide(reads, own, &shares, rows, &mut given) => {
                    self.notes.distributed += reads;
                }
                _ => self.notes.not_distributed += reads,
            }
        }
        for (at, given) in given.into_iter().enumerate() {
            if let Some(taxon) = self.members[at] {
                self.added[taxon] += given;
            }
        }
    }

    /// The reads of a taxon of the level, with those that were added.
    fn estimated(&self, row: usize) -> f64 {
        self.report.rows()[row].clade as f64 + self.added[row]
    }

    /// Writes Bracken's table: a line for each taxon of the level, in the order of the report.
    ///
    /// # Errors
    /// As writing.
    pub fn write_table(&self, output: &mut dyn Write) -> io::Result<()> {
        output.write_all(HEADING.as_bytes())?;
        for (at, row) in self.report.rows().iter().enumerate() {
            if self.members[at] != Some(at) {
                continue;
            }
            let (before, after) = (row.clade, self.estimated(at) as u64);
            let fraction = share(after as f64, self.sum.trunc());
            output.write_all(row.name.trim_ascii_end())?;
            writeln!(
                output,
                "\t{}\t{}\t{before}\t{}\t{after}\t{fraction:.5}",
                row.taxid,
                self.level,
                after - before
            )?;
        }
        Ok(())
    }

    /// Writes the report anew, with the taxa of the level and those above, and the estimated reads.
    ///
    /// # Errors
    /// As writing.
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

    /// By row: the new reads of taxa of the level and those above; by what rows are ordered.
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

/// Divides reads of a taxon among the genomes of its shares; whether there was anyone to have them.
fn divide(
    reads: u64,
    own: &[(usize, Share)],
    shares: &HashMap<u64, Vec<(usize, Share)>>,
    rows: &[crate::report::ReportRow],
    given: &mut [f64],
) -> bool {
    let fraction = |share: &Share| share.reads as f64 / share.total as f64;
    // Reads that a genome seems to have: those assigned to itself, by the share that is.
    let seeming = |&(at, ref share): &(usize, Share)| {
        let itself = shares.get(&u64::from(share.genome)).into_iter().flatten();
        // An entry of 0 reads is none: Bracken divides by it.
        let mut unique = itself.map(|(_, one)| one);
        let unique = unique.find(|one| one.genome == share.genome && one.reads > 0);
        rows[at].own as f64 / unique.map_or(1.0, fraction)
    };
    let seeming: Vec<f64> = own.iter().map(seeming).collect();
    let all = seeming.iter().fold(0.0, |all, reads| all + reads);
    if all == 0.0 {
        return false;
    }
    let weights: Vec<f64> = own
        .iter()
        .zip(&seeming)
        .map(|((_, share), reads)| fraction(share) * (reads / all))
        .collect();
    let sum = weights.iter().fold(0.0, |sum, weight| sum + weight);
    if sum == 0.0 {
        return false;
    }
    for ((at, _), weight) in own.iter().zip(weights) {
        given[*at] += weight / sum * reads as f64;
    }
    true
}

/// The steps of a code as Bracken counts them: by the last digit, which may be the 0 of a 10.
fn steps(code: &str) -> u64 {
    match code.as_bytes() {
        [_] => 0,
        [.., b'0'] => 10,
        [.., digit] => u64::from(digit - b'0'),
        [] => 0,
    }
}

/// `part` of `whole`; 0 of nothing.
fn share(part: f64, whole: f64) -> f64 {
    if whole > 0.0 { part / whole } else { 0.0 }
}

/// The rank codes of all rows: that of a taxon without a main rank is its parent's, a step further, in
/// whose last digit alone steps are counted. A domain whose code is none counts as one where domains are
/// estimated; Bracken finds none there.
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
