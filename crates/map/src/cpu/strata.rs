//! Which hits are looked for. If all are wanted, all; else stratum by stratum: as soon as the hits with
//! up to so many edits are known that no others count, the rest of the work is left undone.

use std::ops::Range;

use merganser_run::Cancel;

use super::mapper::Mapper;
use super::verify::lanes;
use crate::hits::{Hit, NEXT_STRATA};
use crate::index::IndexView;
use crate::pairs::{Mates, Pairing};
use crate::queries::Queries;
use crate::search::Plan;
use crate::{Config, Error, Select};

/// Hits that are kept while others of the same batch are looked for.
const MAX_HITS: usize = if cfg!(test) { 1 << 6 } else { 1 << 20 };
/// Seeds of so many bases occur where the read lies and in its repeats: longer ones would not occur more seldom.
const LONG_SEED: usize = 50;

/// A thread's memory of how far it got with the reads of a batch.
pub(crate) struct Strata<'r> {
    config: &'r Config,
    /// Whether letters of the reference match everything, so that each search looks around all of them.
    has_gaps: bool,
    pairing: Pairing<'r>,
    reads: Vec<Progress>,
    /// The reads to look for next, and how far they are sought.
    open: Vec<usize>,
    /// The hits of reads, in any order of these; some belong to none any more.
    hits: Vec<Hit>,
    found: Vec<Hit>,
    bounds: Vec<usize>,
}

/// How far a read is.
#[derive(Clone, Debug)]
struct Progress {
    /// All hits with up to so many edits are known; `None`: none was looked for.
    known: Option<usize>,
    /// The edits up to which hits are to be known.
    wanted: usize,
    /// The edits that a hit may have.
    most: usize,
    /// The read's bases.
    len: usize,
    /// Where its hits are.
    hits: Range<usize>,
}

impl Progress {
    fn is_open(&self) -> bool {
        self.known.is_none_or(|known| known < self.wanted)
    }

    fn known(&self) -> usize {
        self.known.unwrap_or(0)
    }

    fn is_exhausted(&self) -> bool {
        self.known == Some(self.most)
    }

    /// Wants as many edits as the next hit may have, and those that count beside it; more if that are many, so that
    /// all searches together take a few times as long as the last one.
    fn go_on(&mut self) {
        let known = self.known();
        let more = (1 + NEXT_STRATA as usize).max(known / 2);
        let wanted = (known + more).max(by_long_seeds(self.len));
        self.wanted = if wanted + more / 2 > self.most { self.most } else { wanted };
    }

    fn want(&mut self, edits: usize) {
        self.wanted = self.wanted.max(edits.min(self.most));
    }
}

/// The edits up to which hits of a read of so many bases are found by long seeds: more of them are found as fast.
fn by_long_seeds(len: usize) -> usize {
    (len / LONG_SEED).saturating_sub(1)
}

impl<'r> Strata<'r> {
    pub(crate) fn new(view: IndexView<'r>, config: &'r Config, cancel: &Cancel) -> Strata<'r> {
        Strata {
            config,
            has_gaps: !view.gaps(config.n_mode).is_empty(),
            pairing: Pairing::new(view, config, cancel),
            reads: Vec::new(),
            open: Vec::new(),
            hits: Vec::new(),
            found: Vec::new(),
            bounds: Vec::new(),
        }
    }

    /// Replaces `hits` by hits of the first ones of some reads, whose mates come in turn if `unit` is 2, and
    /// `bounds` by where those of each read end; says before which read that is. If all hits are wanted,
    /// these are all; else those of the first strata, enough for all that is said of the read or pair.
    ///
    /// # Errors
    /// If the filter fails, or the run is cancelled.
    pub(crate) fn map(
        &mut self,
        mapper: &mut Mapper<'_>,
        reads: Range<usize>,
        unit: usize,
        hits: &mut Vec<Hit>,
        bounds: &mut Vec<usize>,
    ) -> Result<usize, Error> {
        if self.config.select == Select::All {
            self.open.clear();
            self.open.extend(reads.clone());
            let count = mapper.seek(&self.open, unit)?;
            mapper.flush()?;
            mapper.hits(&self.open[..count], hits, bounds)?;
            return Ok(reads.start + count);
        }
        self.begin(mapper, reads.clone());
        loop {
            self.open.clear();
            let open = (0..).zip(&self.reads).filter(|(_, read)| read.is_open());
            self.open.extend(open.map(|(number, _)| reads.start + number));
            if self.open.is_empty() {
                break;
            }
            self.look(mapper, reads.start, unit)?;
            self.judge(reads.start, unit, &mapper.queries);
            mapper.cancel.check()?;
        }
        self.put_in_order();
        std::mem::swap(hits, &mut self.hits);
        bounds.clear();
        bounds.extend(self.reads.iter().map(|read| read.hits.end));
        Ok(reads.start + self.reads.len())
    }

    /// Takes up reads of which nothing is known.
    fn begin(&mut self, mapper: &Mapper<'_>, reads: Range<usize>) {
        self.hits.clear();
        self.reads.clear();
        let first = reads.start;
        for read in reads {
            let query = mapper.queries.get(2 * read);
            let (most, len) = (query.most, query.len);
            // Of long reads a window takes many times as long if lanes cannot decide it.
            let quick = by_long_seeds(len).min(lanes::MAX_EDITS);
            let wanted = most.min(quick.max(NEXT_STRATA as usize));
            self.reads.push(Progress { known: None, wanted, most, len, hits: 0..0 });
        }
        for number in 0..self.reads.len() {
            self.skip_scans(number, first, &mapper.queries);
        }
    }

    /// Sees to it that what needs a look at the whole reference, or at all gaps of it, is done once.
    fn skip_scans(&mut self, number: usize, first: usize, queries: &Queries) {
        let read = &mut self.reads[number];
        if !read.is_open() || read.wanted == read.most {
            return;
        }
        let query = queries.get(2 * (first + number)).up_to(read.wanted);
        if self.has_gaps || Plan::of(&query, self.config.n_mode) == Plan::Scan {
            read.wanted = read.most;
        }
    }

    /// Looks for the hits of the open reads. If these are too many, the last reads are given up.
    fn look(&mut self, mapper: &mut Mapper<'_>, first: usize, unit: usize) -> Result<(), Error> {
        let open = std::mem::take(&mut self.open);
        for &read in &open {
            mapper.queries.look_for(read, self.reads[read - first].wanted);
        }
        let (mut from, mut end) = (0, open.len());
        while from < end {
            let to = from + mapper.seek(&open[from..end], 1)?;
            mapper.flush()?;
            mapper.hits(&open[from..to], &mut self.found, &mut self.bounds)?;
            let mut start = 0;
            for (&number, &end) in open[from..to].iter().zip(&self.bounds) {
                let at = self.hits.len();
                self.hits.extend_from_slice(&self.found[start..end]);
                start = end;
                let read = &mut self.reads[number - first];
                (read.known, read.hits) = (Some(read.wanted), at..self.hits.len());
            }
            self.give_up(unit, mapper.room().hits(0));
            end = open.partition_point(|&read| read < first + self.reads.len());
            from = to;
        }
        self.open = open;
        Ok(())
    }

    /// If there are too many hits, or more than there is `room` for, forgets those that belong to no read, and the last reads with half of the
    /// others; at least the first read or pair is kept.
    fn give_up(&mut self, unit: usize, room: usize) {
        let most = room.min(MAX_HITS);
        if self.hits.len() <= most {
            return;
        }
        let mut kept = 0;
        let fit = self.reads.iter().take_while(|read| {
            kept += read.hits.len();
            kept <= most / 2
        });
        let count = (fit.count() / unit * unit).max(unit);
        self.reads.truncate(count);
        self.put_in_order();
    }

    /// Leaves the hits of reads alone, in the order of these.
    fn put_in_order(&mut self) {
        let mut behind = 0;
        let is_next =
            |read: &Progress| read.hits.start == std::mem::replace(&mut behind, read.hits.end);
        if self.reads.iter().all(is_next)
            && self.reads.last().map_or(0, |read| read.hits.end) == self.hits.len()
        {
            return;
        }
        let mut hits = Vec::with_capacity(self.reads.iter().map(|read| read.hits.len()).sum());
        for read in &mut self.reads {
            let at = hits.len();
            hits.extend_from_slice(&self.hits[read.hits.clone()]);
            read.hits = at..hits.len();
        }
        self.hits = hits;
    }

    /// Decides how far the reads that were open are to be looked for.
    fn judge(&mut self, first: usize, unit: usize, queries: &Queries) {
        let open = std::mem::take(&mut self.open);
        let units = open.chunk_by(|a, b| (a - first) / unit == (b - first) / unit);
        for of_unit in units {
            let number = (of_unit[0] - first) / unit * unit;
            if number >= self.reads.len() {
                break;
            }
            match unit {
                1 => self.judge_read(number),
                _ => self.judge_pair(number, first, queries),
            }
            for read in number..number + unit {
                self.skip_scans(read, first, queries);
            }
        }
        self.open = open;
    }

    /// Decides how far a read is to be looked for: until its best hits are known, and whether there are
    /// others in the next strata.
    fn judge_read(&mut self, number: usize) {
        let read = &mut self.reads[number];
        let hits = &self.hits[read.hits.clone()];
        let Some(best) = hits.first() else { return read.go_on() };
        let next = hits.get(1).map_or(u32::MAX, |hit| hit.edits);
        read.want(next.min(best.edits + NEXT_STRATA) as usize);
    }

    /// Decides how far the mates of a pair are to be looked for.
    fn judge_pair(&mut self, number: usize, first: usize, queries: &Queries) {
        let [none, exhausted] = [0, 1].map(|what| {
            [number, number + 1].map(|mate| match what {
                0 => self.reads[mate].hits.is_empty(),
                _ => self.reads[mate].is_exhausted(),
            })
        });
        for mate in 0..2 {
            // A mate that lies nowhere leaves the other one alone.
            if none[mate] && exhausted[mate] {
                return self.judge_read(number + 1 - mate);
            }
        }
        if none != [false; 2] {
            for mate in (0..2).filter(|&mate| none[mate]) {
                self.reads[number + mate].go_on();
            }
            return;
        }
        let hits = [number, number + 1].map(|mate| &self.hits[self.reads[mate].hits.clone()]);
        self.pairing.combine(&Mates { queries, read: first + number, hits, scripts: &[] });
        let strata = self.pairing.strata();
        let Some(&(best, count)) = strata.first() else {
            self.reads[number].go_on();
            self.reads[number + 1].go_on();
            return;
        };
        let next = match count {
            1 => strata.get(1).map_or(u32::MAX, |&(next, _)| next),
            _ => best,
        };
        let sum = next.min(best + NEXT_STRATA);
        // Of so many edits in all the other mate has its fewest at least.
        let fewest = hits.map(|hits| hits[0].edits);
        for mate in 0..2 {
            self.reads[number + mate].want((sum - fewest[1 - mate]) as usize);
        }
    }
}

#[cfg(test)]
mod tests;
