//! Search strategy. If all hits are reported, all are searched at once. Otherwise hits are searched stratum by
//! stratum: the search of a read ends as soon as its hits with up to k edits determine the report.

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

/// The maximum number of hits that are kept while other reads of the batch are searched.
const MAX_HITS: usize = if cfg!(test) { 1 << 6 } else { 1 << 20 };
/// Seeds of at least this many bases only occur at the read's place and in its repeats; longer ones are not
/// rarer.
const LONG_SEED: usize = 50;

/// The progress of the reads of a batch, one for each thread.
pub(crate) struct Strata<'r> {
    config: &'r Config,
    /// Whether ambiguous letters of the reference match everything, so that each search has to verify around
    /// all of them.
    has_gaps: bool,
    pairing: Pairing<'r>,
    /// Whether all strata are searched together.
    at_once: bool,
    reads: Vec<Progress>,
    /// The reads to search next.
    open: Vec<usize>,
    /// The hits of all reads, in any order. Some may belong to no read any more.
    hits: Vec<Hit>,
    found: Vec<Hit>,
    bounds: Vec<usize>,
}

/// The progress of a read.
#[derive(Clone, Debug)]
struct Progress {
    /// The number of edits up to which all hits are known; `None` before the first search.
    known: Option<usize>,
    /// The number of edits up to which hits are to be searched.
    wanted: usize,
    /// The maximum number of edits of a hit.
    most: usize,
    /// The number of bases of the read.
    len: usize,
    /// The range of its hits in [`Strata::hits`].
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

    /// Requests the next stratum and those after it that affect mapping qualities. The more edits are already
    /// searched, the larger the steps, so that all searches together take only a few times as long as the last
    /// one.
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

/// Returns the number of edits up to which the hits of a read of `len` bases are found with long seeds, and
/// therefore quickly.
fn by_long_seeds(len: usize) -> usize {
    (len / LONG_SEED).saturating_sub(1)
}

impl<'r> Strata<'r> {
    pub(crate) fn new(view: IndexView<'r>, config: &'r Config, cancel: &Cancel) -> Strata<'r> {
        Strata {
            config,
            has_gaps: !view.gaps(config.n_mode).is_empty(),
            pairing: Pairing::new(view, config, cancel),
            at_once: false,
            reads: Vec::new(),
            open: Vec::new(),
            hits: Vec::new(),
            found: Vec::new(),
            bounds: Vec::new(),
        }
    }

    /// Searches all strata together, which is faster if most reads have no hit.
    pub(crate) fn at_once(self) -> Strata<'r> {
        Strata { at_once: true, ..self }
    }

    /// Replaces `hits` by hits of the first of some reads, and `bounds` by the end of each read's hits. Returns
    /// the read after the last one whose hits are included; reads of a unit (2 for pairs) stay together. If all
    /// hits are reported, all are included; otherwise those of the first strata, enough to determine everything
    /// reported about the read or pair.
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

    /// Begins with reads that have not been searched yet.
    fn begin(&mut self, mapper: &Mapper<'_>, reads: Range<usize>) {
        self.hits.clear();
        self.reads.clear();
        let first = reads.start;
        for read in reads {
            let query = mapper.queries.get(2 * read);
            let (most, len) = (query.most, query.len);
            // For long reads, windows that lanes cannot decide take many times as long.
            let quick = by_long_seeds(len).min(lanes::MAX_EDITS);
            let least = if self.at_once { most } else { quick.max(NEXT_STRATA as usize) };
            let wanted = most.min(least);
            self.reads.push(Progress { known: None, wanted, most, len, hits: 0..0 });
        }
        for number in 0..self.reads.len() {
            self.skip_scans(number, first, &mapper.queries);
        }
    }

    /// Searches up to the maximum at once if the search requires a scan of the reference or of all its gaps, so
    /// that this is done only once.
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

    /// Searches the open reads. If there are too many hits, the last reads are dropped from the batch.
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

    /// If there are too many hits, or more than there is `room` for, removes hits that belong to no read, and
    /// drops the last reads until half of the limit is free. At least the first read or pair is kept.
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

    /// Removes hits that belong to no read, and sorts the others by read.
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

    /// Decides how far the searched reads must be searched further.
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

    /// Decides how far a read must be searched: until its best hits are known, and whether there are others in
    /// the next strata.
    fn judge_read(&mut self, number: usize) {
        let read = &mut self.reads[number];
        let hits = &self.hits[read.hits.clone()];
        let Some(best) = hits.first() else { return read.go_on() };
        let next = hits.get(1).map_or(u32::MAX, |hit| hit.edits);
        read.want(next.min(best.edits + NEXT_STRATA) as usize);
    }

    /// Decides how far the mates of a pair must be searched.
    fn judge_pair(&mut self, number: usize, first: usize, queries: &Queries) {
        let [none, exhausted] = [0, 1].map(|what| {
            [number, number + 1].map(|mate| match what {
                0 => self.reads[mate].hits.is_empty(),
                _ => self.reads[mate].is_exhausted(),
            })
        });
        for mate in 0..2 {
            // If a mate has no hit at all, the other one is treated as a single read.
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
        // The other mate has at least its fewest edits, so this one has at most the rest of the sum.
        let fewest = hits.map(|hits| hits[0].edits);
        for mate in 0..2 {
            self.reads[number + mate].want((sum - fewest[1 - mate]) as usize);
        }
    }
}

#[cfg(test)]
mod tests;
