//! Which reads, and what of them, stay: by their k-mers that a table has.

use merganser_io::{Input, Output};

use super::Resources;
use super::batch::{self, Counts, Work};
use super::records::Record;
use super::units::Units;
use crate::Error;

/// A number of k-mers, or a part of the k-mers of a read: that many, rounded down, as kmc_tools has
/// it. No part but 0 is reached by a read without k-mers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Limit {
    /// So many.
    Number(u64),
    /// Such a part, 0 to 1.
    Part(f64),
}

impl Limit {
    /// Whether `hits` of `kmers` are as many as this, or more.
    fn reached(self, hits: u64, kmers: u64) -> bool {
        match self {
            Limit::Number(number) => hits >= number,
            Limit::Part(part) if kmers == 0 => part == 0.0,
            Limit::Part(part) => hits >= (part * kmers as f64) as u64,
        }
    }

    /// Whether `hits` of `kmers` are more than this.
    fn passed(self, hits: u64, kmers: u64) -> bool {
        match self {
            Limit::Number(number) => hits > number,
            Limit::Part(part) => hits > (part * kmers as f64) as u64,
        }
    }
}

/// What is done to reads.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Action {
    /// Reads stay whole or go: those with hits from the first to the second limit stay.
    Select(Limit, Option<Limit>),
    /// Reads end before the first k-mer that is not in the table is complete; what is left with less
    /// than k bases goes.
    Trim,
    /// Every base of a k-mer that is not in the table becomes N.
    MaskHard,
    /// The same become lower case, all others upper case.
    MaskSoft,
}

/// When a pair stays.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mates {
    /// If either mate would stay.
    Any,
    /// If both would.
    Both,
    /// By the hits of both mates together.
    Together,
}

/// What to filter by.
#[derive(Clone, Copy, Debug)]
pub struct FilterConfig {
    /// What is done.
    pub action: Action,
    /// The k-mers that are in the table take the place of those that are not, and the reads that
    /// would go that of those that would stay.
    pub invert: bool,
    /// When a pair stays.
    pub mates: Mates,
}

/// What was filtered. A pair is two reads.
#[derive(Clone, Copy, Debug, Default)]
#[non_exhaustive]
pub struct Filtered {
    /// Reads of the input,
    pub reads: u64,
    /// those that stay,
    pub kept: u64,
    /// and bases that were cut off or masked in them.
    pub changed_bases: u64,
}

/// Filters the reads of `inputs`: one list of inputs of single reads, or with `interleaved` of pairs;
/// or two, of first and second mates. As many outputs as lists take what stays, in order.
///
/// Progress stage: `filtering`, in bytes of input.
///
/// # Errors
/// Bad input, mates that do not belong together, an output that cannot be written.
pub fn filter_reads(
    config: &FilterConfig,
    resources: Resources<'_>,
    inputs: &[Vec<Input>],
    interleaved: bool,
    outputs: &mut [Output],
) -> Result<Filtered, Error> {
    let units = Units::open(inputs, interleaved, resources.cancel)?;
    resources.progress.stage("filtering", units.bytes_total());
    let filter = Filter { config, k: resources.lookup.k(), outputs: outputs.len() };
    let parts = batch::run(resources, &filter, units, outputs)?;
    Ok(parts.into_iter().fold(Filtered::default(), |sum, part| Filtered {
        reads: sum.reads + part.reads,
        kept: sum.kept + part.kept,
        changed_bases: sum.changed_bases + part.changed_bases,
    }))
}

struct Filter<'f> {
    config: &'f FilterConfig,
    k: usize,
    outputs: usize,
}

impl Work for Filter<'_> {
    type Tally = Filtered;

    fn outputs(&self) -> usize {
        self.outputs
    }

    fn unit(
        &self,
        reads: &mut [Record],
        counts: Counts<'_>,
        texts: &mut [Vec<u8>],
        done: &mut Filtered,
    ) {
        done.reads += reads.len() as u64;
        if self.keeps(reads, counts, done) {
            done.kept += reads.len() as u64;
            for (mate, read) in reads.iter().enumerate() {
                read.write(&mut texts[mate % self.outputs]);
            }
        }
    }
}

impl Filter<'_> {
    /// Changes the reads of a unit, and says whether it stays.
    fn keeps(&self, unit: &mut [Record], mut counts: Counts<'_>, done: &mut Filtered) -> bool {
        let FilterConfig { action, invert, mates, .. } = *self.config;
        if let Action::Select(least, most) = action {
            let mut hits = [(0, 0); 2];
            let hits = &mut hits[..unit.len()];
            for (hits, read) in hits.iter_mut().zip(&*unit) {
                let counts = counts.next(read);
                let found = counts.iter().filter(|&&count| count > 0).count();
                *hits = (found as u64, counts.len() as u64);
            }
            let within = |(hits, kmers): (u64, u64)| {
                least.reached(hits, kmers) && !most.is_some_and(|most| most.passed(hits, kmers))
            };
            let stays = match mates {
                Mates::Any => hits.iter().any(|&one| within(one)),
                Mates::Both => hits.iter().all(|&one| within(one)),
                Mates::Together => {
                    within(hits.iter().fold((0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1)))
                }
            };
            return stays != invert;
        }
        let mut left = 0;
        let before = done.changed_bases;
        for read in &mut *unit {
            let counts = counts.next(read);
            left += usize::from(self.change(read, counts, done));
        }
        let stays = if mates == Mates::Both { left == unit.len() } else { left > 0 };
        if !stays {
            done.changed_bases = before;
        }
        stays
    }

    /// Trims or masks a read; false if nothing of use is left.
    fn change(&self, read: &mut Record, counts: &[u32], done: &mut Filtered) -> bool {
        let k = self.k;
        let invert = self.config.invert;
        let is_bad = |count: &u32| (*count == 0) != invert;
        if self.config.action == Action::Trim {
            let whole = read.sequence.len();
            if whole < k {
                return false;
            }
            let length = match counts.iter().position(is_bad) {
                Some(0) => 0,
                Some(first) => first + k - 1,
                None => whole,
            };
            done.changed_bases += (whole - length) as u64;
            read.sequence.truncate(length);
            if let Some(quality) = &mut read.quality {
                quality.truncate(length);
            }
            return length > 0;
        }
        let soft = self.config.action == Action::MaskSoft;
        let mut until = 0;
        for (at, letter) in read.sequence.iter_mut().enumerate() {
            if counts.get(at).is_some_and(is_bad) {
                until = at + k;
            }
            let masked = at < until;
            done.changed_bases += u64::from(masked);
            match (masked, soft) {
                (true, false) => *letter = b'N',
                (true, true) => letter.make_ascii_lowercase(),
                (false, true) => letter.make_ascii_uppercase(),
                (false, false) => {}
            }
        }
        true
    }
}
