//! The stages between reads and hits for a batch: seeds, candidates, filter, verification.

use std::time::Instant;

use merganser_filter::PackedReference;
use merganser_run::Cancel;

use super::candidates::{self, Candidate, Limits};
use super::prefilter::Rule;
use super::seeds::{Chooser, Seed};
use super::silencer::{Quota, SilenceRule, Silencer};
use super::verify::lanes::{self, Lanes};
use super::verify::scan::Scan;
use super::verify::{End, MAX_WIDTH, Window, hamming};
use crate::effort::Effort;
use crate::hits::{Hit, MAX_RIVALS};
use crate::index::IndexView;
use crate::queries::{Queries, Query};
use crate::room::Room;
use crate::search::Plan;
use crate::{Config, Error, MAX_READ, Prefilter, Strand};

/// The approximate number of seeds that are looked up together. The more there are, the closer together in the
/// index they are.
const MAX_LOOKUPS: usize = if cfg!(test) { 64 } else { 1 << 15 };
/// The number of good ends after which hits are selected.
const MAX_ENDS: usize = if cfg!(test) { 1 << 8 } else { 1 << 16 };
/// The maximum number of candidates that are filtered together, and of windows that are verified together.
const SUB_BATCH: usize = if cfg!(test) { 50 } else { 1 << 14 };

/// A mapper of reads, one for each thread.
pub(crate) struct Mapper<'r> {
    pub(crate) view: IndexView<'r>,
    pub(crate) config: &'r Config,
    /// Runs of ambiguous letters if these match everything; otherwise empty.
    gaps: &'r [[u32; 2]],
    rule: Option<Rule<'r>>,
    pub(crate) queries: Queries,
    chooser: Chooser,
    scratch: Vec<u32>,
    verifier: Verifier,
    pub(crate) candidates: Vec<Candidate>,
    silencer: Silencer,
    room: Room,
    /// The number of reads in a unit of the batch: 1, or 2 for pairs.
    unit: usize,
    pub(crate) effort: Effort,
    /// Cancellation, which also stops the work on a single read within milliseconds.
    pub(crate) cancel: Cancel,
}

/// Working space of filter and verification.
#[derive(Default)]
struct Verifier {
    windows: Vec<Window>,
    plain: Vec<Window>,
    lanes: Lanes,
    scan: Scan,
    ends: Vec<End>,
}

impl<'r> Mapper<'r> {
    pub(crate) fn new(
        view: IndexView<'r>,
        config: &'r Config,
        gaps: &'r [[u32; 2]],
        packed: Option<&'r PackedReference>,
        cancel: &Cancel,
    ) -> Mapper<'r> {
        Mapper {
            view,
            config,
            gaps,
            rule: packed.map(|packed| Rule::new(config.filter, packed)),
            queries: Queries::default(),
            chooser: Chooser::new(config.select),
            scratch: Vec::new(),
            verifier: Verifier { scan: Scan::of_run(cancel), ..Verifier::default() },
            candidates: Vec::new(),
            silencer: Silencer::of_run(cancel),
            room: Room::UNLIMITED,
            unit: 1,
            effort: Effort::default(),
            cancel: cancel.clone(),
        }
    }

    /// Limits the number of hits of a read to the room for them.
    pub(crate) fn with_room(self, room: Room) -> Mapper<'r> {
        Mapper { room, ..self }
    }

    /// Returns the room for hits of a read.
    pub(crate) fn room(&self) -> Room {
        self.room
    }

    /// Begins a batch of single reads (`unit` 1) or pairs (2).
    pub(crate) fn clear(&mut self, unit: usize) {
        self.unit = unit;
        self.queries.clear();
        self.candidates.clear();
        self.verifier.ends.clear();
    }

    /// Adds the part of a read that is mapped to the batch: nothing of it if it is longer than [`MAX_READ`].
    ///
    /// # Errors
    /// A message about the first letter that is not of DNA.
    pub(crate) fn push(&mut self, letters: &[u8]) -> Result<(), String> {
        let letters = self.config.cropped(letters);
        let letters = if letters.len() > MAX_READ { &[] } else { letters };
        let edits = self.config.threshold.edits(letters.len());
        self.queries.push(letters, edits).map_err(|place| {
            let shown = merganser_io::shown_byte(letters[place]);
            format!("{shown} at base {} is no letter of DNA", place + 1)
        })
    }

    /// Searches for hits of the first of some reads of the batch, up to the edits of their queries, until there
    /// are many seeds or good ends. Returns the number of reads that were searched, a multiple of `unit` if the
    /// number of all is.
    ///
    /// # Errors
    /// If the filter fails, or the run is cancelled.
    pub(crate) fn seek(&mut self, reads: &[usize], unit: usize) -> Result<usize, Error> {
        let (begun, before) = (Instant::now(), self.effort.times);
        let queries = std::mem::take(&mut self.queries);
        let mut chooser = std::mem::take(&mut self.chooser);
        let done = self.look_for(reads, unit, &queries, &mut chooser);
        (self.queries, self.chooser) = (queries, chooser);
        let times = &mut self.effort.times;
        let elsewhere = times.filter + times.verification - before.filter - before.verification;
        times.seeding += begun.elapsed().saturating_sub(elsewhere);
        done
    }

    /// Replaces `hits` by the hits of one read.
    ///
    /// # Errors
    /// If the filter fails, or the run is cancelled.
    pub(crate) fn map_read(
        &mut self,
        read: usize,
        hits: &mut Vec<Hit>,
        bounds: &mut Vec<usize>,
    ) -> Result<(), Error> {
        self.seek(&[read], 1)?;
        self.flush()?;
        self.hits(&[read], hits, bounds)
    }

    fn look_for(
        &mut self,
        reads: &[usize],
        unit: usize,
        queries: &Queries,
        chooser: &mut Chooser,
    ) -> Result<usize, Error> {
        let count = self.note(reads, unit, queries, chooser);
        chooser.look_up(&self.view);
        for (at, &read) in reads[..count].iter().enumerate() {
            self.cancel.check()?;
            let mut scanned = false;
            for number in self.queries_of(read) {
                scanned |= self.look_for_query(number, queries, chooser)?;
            }
            self.effort.scanned += u64::from(scanned);
            if self.verifier.ends.len() >= MAX_ENDS && (at + 1).is_multiple_of(unit) {
                return Ok(at + 1);
            }
        }
        Ok(count)
    }

    /// Registers the seeds of the first of some reads, and returns the number of these reads.
    fn note(
        &self,
        reads: &[usize],
        unit: usize,
        queries: &Queries,
        chooser: &mut Chooser,
    ) -> usize {
        chooser.clear();
        let mut count = 0;
        for of_unit in reads.chunks(unit) {
            if chooser.noted() >= MAX_LOOKUPS {
                break;
            }
            for number in of_unit.iter().flat_map(|&read| self.queries_of(read)) {
                let query = queries.get(number);
                if Plan::of(&query, self.config.n_mode) == Plan::Seeds {
                    chooser.note(number as u32, &query);
                }
            }
            count += of_unit.len();
        }
        count
    }

    /// Returns the queries of a read that are searched.
    fn queries_of(&self, read: usize) -> std::ops::Range<usize> {
        let [first, behind] = match self.config.strand {
            Strand::Both => [0, 2],
            Strand::Forward => [0, 1],
            Strand::Reverse => [1, 2],
        };
        2 * read + first..2 * read + behind
    }

    /// Searches for a query whose seeds were looked up; returns true if the whole reference was scanned.
    fn look_for_query(
        &mut self,
        number: usize,
        queries: &Queries,
        chooser: &mut Chooser,
    ) -> Result<bool, Error> {
        let query = queries.get(number);
        let (number, len) = (number as u32, query.len as u32);
        let window = |first, width| Window { query: number, first, width, candidates: 0 };
        match Plan::of(&query, self.config.n_mode) {
            Plan::Nothing => Ok(false),
            Plan::Scan => {
                let width = self.view.text.end() + len;
                self.verify_all(&query, window(-i64::from(len), width))?;
                Ok(true)
            }
            Plan::Seeds => {
                for gap in self.gaps {
                    let first = i64::from(gap[0]) - i64::from(len);
                    self.verify_all(&query, window(first, gap[1] - gap[0] + len))?;
                }
                let seeds = chooser.seeds(&self.view, number, &query);
                self.collect(number, seeds, queries)?;
                Ok(false)
            }
        }
    }

    fn collect(&mut self, number: u32, seeds: &[Seed], queries: &Queries) -> Result<(), Error> {
        let mut candidates = std::mem::take(&mut self.candidates);
        let mut scratch = std::mem::take(&mut self.scratch);
        let view = self.view;
        let cancel = self.cancel.clone();
        let full = |candidates: &mut Vec<Candidate>, all: bool| match all
            || candidates.len() >= SUB_BATCH
        {
            true => self.verify(candidates, queries),
            false => Ok(()),
        };
        let (own, found) = (&mut scratch, &mut candidates);
        let done = candidates::collect(number, seeds, &view, own, found, &cancel, full);
        (self.candidates, self.scratch) = (candidates, scratch);
        done
    }

    /// Verifies the remaining candidates.
    ///
    /// # Errors
    /// If the filter fails, or the run is cancelled.
    pub(crate) fn flush(&mut self) -> Result<(), Error> {
        let mut candidates = std::mem::take(&mut self.candidates);
        let queries = std::mem::take(&mut self.queries);
        let done = self.verify(&mut candidates, &queries);
        (self.candidates, self.queries) = (candidates, queries);
        done
    }

    fn verify(&mut self, candidates: &mut Vec<Candidate>, queries: &Queries) -> Result<(), Error> {
        let begun = Instant::now();
        self.cancel.check()?;
        self.effort.candidates += candidates.len() as u64;
        if let Some(rule) = &mut self.rule {
            self.effort.rejected +=
                rule.reject(candidates, queries, &self.view.text, &self.cancel)?;
        }
        let config = self.config;
        let in_lanes = config.filter == Prefilter::Exact && !config.hamming;
        let limits = |number: u32| {
            let edits = queries.get(number as usize).edits;
            let gap = 2 * edits as u32 + 1;
            match lanes::band(edits).filter(|_| in_lanes) {
                Some(band) => Limits { widest: (band - 2 * edits - 1) as u32, gap },
                None if config.hamming => Limits { widest: 0, gap: 0 },
                None => Limits { widest: MAX_WIDTH - 1, gap },
            }
        };
        let mut rest = &candidates[..];
        self.effort.times.filter += begun.elapsed();
        while !rest.is_empty() {
            self.verifier.windows.clear();
            rest = candidates::merge(rest, limits, SUB_BATCH, &mut self.verifier.windows);
            self.verify_windows(queries, in_lanes)?;
        }
        candidates.clear();
        Ok(())
    }

    /// Finds the good ends of the windows.
    fn verify_windows(&mut self, queries: &Queries, in_lanes: bool) -> Result<(), Error> {
        let begun = Instant::now();
        let Verifier { windows, plain, lanes, ends, .. } = &mut self.verifier;
        let text = &self.view.text;
        plain.clear();
        if in_lanes {
            windows.retain(|window| {
                let query = queries.get(window.query as usize);
                let band = lanes::band(query.edits);
                let is_plain = band.is_some_and(|band| window.is_plain(&query, text, band));
                if is_plain {
                    plain.push(*window);
                }
                !is_plain
            });
            let mut rejected = 0;
            lanes.run(queries, plain, text, ends, |candidates| rejected += u64::from(candidates));
            let candidates: u64 = plain.iter().map(|window| u64::from(window.candidates)).sum();
            self.effort.rejected += rejected;
            self.effort.verified += candidates - rejected;
        }
        let filtered = Instant::now();
        self.effort.times.filter += filtered - begun;
        for at in 0..self.verifier.windows.len() {
            let window = self.verifier.windows[at];
            self.effort.verified += u64::from(window.candidates);
            self.verify_window(&queries.get(window.query as usize), window)?;
        }
        self.effort.times.verification += filtered.elapsed();
        self.check_room()
    }

    /// Verifies a window of any width that does not result from seeds.
    fn verify_all(&mut self, query: &Query<'_>, window: Window) -> Result<(), Error> {
        let begun = Instant::now();
        for stretch in window.stretches() {
            self.verify_window(query, stretch)?;
        }
        self.effort.times.verification += begun.elapsed();
        Ok(())
    }

    fn verify_window(&mut self, query: &Query<'_>, window: Window) -> Result<(), Error> {
        let (text, mode, ends) = (&self.view.text, self.config.n_mode, &mut self.verifier.ends);
        match self.config.hamming {
            false => {
                self.verifier.scan.ends(window.query, query, &window, text, mode, ends);
            }
            true => {
                hamming::ends(window.query, query, &window, text, mode, &self.cancel, ends);
            }
        }
        self.check_room()?;
        Ok(self.cancel.check()?)
    }

    /// Checks that there are not too many good ends. Ends that were found several times are merged first.
    fn check_room(&mut self) -> Result<(), Error> {
        let ends = &mut self.verifier.ends;
        let room = self.room.ends().saturating_add(MAX_ENDS);
        if ends.len() <= room {
            return Ok(());
        }
        sort_ends(ends);
        // If hardly any room were left, the ends would be sorted again and again.
        if ends.len() <= room / 8 * 7 {
            return Ok(());
        }
        Err(Error::Crowded { read: ends.last().map_or(0, |end| end.query as usize / 2) })
    }

    /// Replaces `hits` by the hits of some reads, read by read, each in the order of [`Hit`], and `bounds` by
    /// the end of each read's hits. Exactly these reads, in this order, must have been searched and flushed
    /// since the last call.
    ///
    /// # Errors
    /// If the run is cancelled.
    pub(crate) fn hits(
        &mut self,
        reads: &[usize],
        hits: &mut Vec<Hit>,
        bounds: &mut Vec<usize>,
    ) -> Result<(), Error> {
        let begun = Instant::now();
        let ends = &mut self.verifier.ends;
        sort_ends(ends);
        let (alike, room) = (most_alike(self.config, self.unit), self.room.hits(ends.len()));
        hits.clear();
        bounds.clear();
        let mut rest = &ends[..];
        for &read in reads {
            self.cancel.check()?;
            let first = hits.len();
            for number in [2 * read, 2 * read + 1] {
                let of_query = |end: &&End| end.query as usize == number;
                let (own, others) = rest.split_at(rest.iter().take_while(of_query).count());
                rest = others;
                if own.is_empty() {
                    continue;
                }
                let query = self.queries.get(number);
                let (text, edits) = (&self.view.text, query.most as u32);
                let rule = SilenceRule::new(query, text, edits, self.config);
                let others = hits.len() - first;
                let quota = Quota { alike, all: room.saturating_sub(others).saturating_add(1) };
                self.silencer.take(own, &rule, quota, hits);
            }
            self.room.check(hits.len() - first, ends.len(), read)?;
            hits[first..].sort_unstable();
            bounds.push(hits.len());
        }
        ends.clear();
        self.effort.times.verification += begun.elapsed();
        Ok(())
    }
}

/// Sorts ends by query and position, and keeps the fewest edits for each end.
fn sort_ends(ends: &mut Vec<End>) {
    ends.sort_unstable();
    ends.dedup_by_key(|end| (end.query, end.position));
}

/// Returns the number of hits with the same edits, on one strand of a single read, that determine everything
/// reported about it; more are not kept. For mates of pairs (`unit` 2) all are needed.
fn most_alike(config: &Config, unit: usize) -> usize {
    match config.max_reported() {
        // One more than are reported, to know whether some are left out.
        Some(most) if unit == 1 => most.max(config.xa).max(MAX_RIVALS).saturating_add(2) as usize,
        _ => usize::MAX,
    }
}

#[cfg(test)]
pub(crate) mod tests;
