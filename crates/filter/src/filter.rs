//! Deciding the pairs of a batch.

use crate::batch::{PairBatch, View};
use crate::config::{LEAST_ORIGINAL, MOST_ORIGINAL};
use crate::cpu::lanes::{Group, Lane};
use crate::cpu::masks::Masks;
use crate::cpu::{anchored, banded, gatekeeper, original, snake};
use crate::{Align, Config, Error, Method, NMode};
use merganser_seq::simd::Level;

/// The edits of an accepted pair (of the exact method the distance, of others an estimate that is
/// no larger), or [`REJECTED`], or [`UNDEFINED`].
pub type Decision = i32;

/// The pair has more edits than the threshold allows.
pub const REJECTED: Decision = -1;

/// The pair has letters that are no bases and is accepted ([`NMode::Pass`]).
pub const UNDEFINED: Decision = -2;

/// Decides pairs by one configuration; may be shared by threads.
#[derive(Clone, Debug)]
pub struct Filter {
    config: Config,
    level: Level,
}

/// Memory that decisions need: one for each thread, used again for each batch.
#[derive(Debug, Default)]
pub struct Scratch {
    banded: banded::Vectors,
    anchored: anchored::Vectors,
    masks: Masks,
    words: [Vec<u64>; 2],
    queue: Vec<Queued>,
    groups: Groups,
    /// Pairs that another method than the exact one was to decide and could not.
    exact_instead: u64,
}

/// A pair that waits for a lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Queued {
    /// Bits of the lane: 8, 16, 32 or 64.
    bits: u32,
    columns: u32,
    index: u32,
}

/// A group of lanes for each width.
#[derive(Debug, Default)]
struct Groups {
    of_8: Group<u8>,
    of_16: Group<u16>,
    of_32: Group<u32>,
    of_64: Group<u64>,
}

impl Scratch {
    /// Pairs so far that were decided by the exact method since the one asked for does not define
    /// them: unequal lengths, a semi-global comparison, what
    /// [`Method::GateKeeperOriginal`] leaves out.
    pub fn exact_instead(&self) -> u64 {
        self.exact_instead
    }
}

impl Filter {
    /// A filter.
    ///
    /// # Errors
    /// As [`Config::validate`].
    pub fn new(config: Config) -> Result<Filter, Error> {
        config.validate()?;
        Ok(Filter { config, level: Level::best() })
    }

    /// How it decides.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// The decisions on all pairs of a batch, in their order.
    pub fn run(&self, batch: &PairBatch<'_>) -> Vec<Decision> {
        let mut decisions = Vec::new();
        self.run_into(batch, &mut Scratch::default(), &mut decisions);
        decisions
    }

    /// Replaces `decisions` by those on all pairs of a batch, in their order.
    pub fn run_into(
        &self,
        batch: &PairBatch<'_>,
        scratch: &mut Scratch,
        decisions: &mut Vec<Decision>,
    ) {
        decisions.clear();
        scratch.queue.clear();
        for index in 0..batch.len() {
            let [read, segment] = batch.views(index);
            let queued = self.lane(&read, &segment, index);
            scratch.queue.extend(queued);
            // Those that wait are decided below.
            decisions.push(match queued {
                Some(_) => REJECTED,
                None => self.decide(&read, &segment, scratch),
            });
        }
        // Neighbours should have about as many columns; mostly all have the same.
        let queue = &mut scratch.queue;
        if !queue.is_sorted_by_key(|queued| (queued.bits, queued.columns)) {
            queue.sort_unstable();
        }
        let groups = &mut scratch.groups;
        for queue in queue.chunk_by(|a, b| a.bits == b.bits) {
            match queue[0].bits {
                8 => self.run_lanes(batch, queue, &mut groups.of_8, decisions),
                16 => self.run_lanes(batch, queue, &mut groups.of_16, decisions),
                32 => self.run_lanes(batch, queue, &mut groups.of_32, decisions),
                _ => self.run_lanes(batch, queue, &mut groups.of_64, decisions),
            }
        }
    }

    /// The lane that a pair needs, if lanes can decide it: by the exact method, without other
    /// letters, with a band of at most 64 diagonals.
    #[inline]
    fn lane(&self, read: &View<'_>, segment: &View<'_>, index: usize) -> Option<Queued> {
        if self.config.method != Method::Exact
            || self.config.align != Align::Global
            || read.has_others()
            || segment.has_others()
        {
            return None;
        }
        let band = self.band(read, segment)?.0;
        let bits = band.width.max(8).next_power_of_two();
        let (columns, index) = (segment.len() as u32, index as u32);
        (bits <= 64).then_some(Queued { bits: bits as u32, columns, index })
    }

    /// The band of a pair and its threshold, if the threshold allows the lengths to differ so.
    #[inline]
    fn band(&self, read: &View<'_>, segment: &View<'_>) -> Option<(banded::Band, usize)> {
        let e = self.config.threshold.edits(read.len()).min(read.len().max(segment.len()));
        Some((banded::Band::global(read.len(), segment.len(), e)?, e))
    }

    /// Decides pairs that all need lanes of the same width.
    fn run_lanes<T: Lane + Into<u64>>(
        &self,
        batch: &PairBatch<'_>,
        queue: &[Queued],
        group: &mut Group<T>,
        decisions: &mut [Decision],
    ) {
        for queue in queue.chunks(T::LANES) {
            let columns = queue.iter().map(|queued| queued.columns).max().unwrap_or(0);
            group.start(columns as usize);
            for (lane, queued) in queue.iter().enumerate() {
                let [read, segment] = batch.views(queued.index as usize);
                if let Some((band, e)) = self.band(&read, &segment) {
                    group.fill(lane, [&read, &segment], band, e);
                }
            }
            group.run(self.level, queue.len());
            for (lane, queued) in queue.iter().enumerate() {
                if let Some(score) = group.score(lane) {
                    decisions[queued.index as usize] = score.into() as Decision;
                }
            }
        }
    }

    fn decide(&self, read: &View<'_>, segment: &View<'_>, scratch: &mut Scratch) -> Decision {
        let others = read.has_others() || segment.has_others();
        if others && self.config.n_mode == NMode::Pass {
            return UNDEFINED;
        }
        let e = self.config.threshold.edits(read.len());
        let edits = match self.defined_method(read.len(), segment.len(), others, e) {
            Method::Exact => {
                scratch.exact_instead += u64::from(self.config.method != Method::Exact);
                self.exact(read, segment, e, scratch)
            }
            method => {
                let Scratch { masks, words, .. } = scratch;
                masks.load(read, segment, self.config.n_mode);
                match method {
                    Method::Snake => snake::edits(masks, e, &mut words[0]),
                    Method::GateKeeperOriginal => original::edits(masks, e, words),
                    _ => gatekeeper::edits(masks, e, words),
                }
            }
        };
        edits.map_or(REJECTED, |edits| Decision::try_from(edits).unwrap_or(Decision::MAX))
    }

    /// The method for a pair: the one asked for if it defines the pair, else the exact one.
    fn defined_method(&self, read: usize, segment: usize, others: bool, e: usize) -> Method {
        let method = self.config.method;
        let comparable = self.config.align == Align::Global && read == segment;
        let published = !others && read >= LEAST_ORIGINAL && e <= MOST_ORIGINAL;
        if comparable && (method != Method::GateKeeperOriginal || published) {
            method
        } else {
            Method::Exact
        }
    }

    fn exact(
        &self,
        read: &View<'_>,
        segment: &View<'_>,
        e: usize,
        scratch: &mut Scratch,
    ) -> Option<usize> {
        let (align, mode) = (self.config.align, self.config.n_mode);
        let longest = read.len().max(segment.len());
        let e = e.min(longest);
        // A band takes a bit a diagonal, all rows a bit a base of the read.
        let band = match align {
            Align::Global => e + 1,
            Align::SemiGlobal => (segment.len() + 2 * e).saturating_sub(read.len()) + 1,
        };
        if band.div_ceil(64) > read.len().div_ceil(64) {
            return anchored::distance(read, segment, e, align, mode, &mut scratch.anchored);
        }
        match align {
            Align::Global => banded::global(read, segment, e, mode, &mut scratch.banded),
            Align::SemiGlobal => banded::semi_global(read, segment, e, mode, &mut scratch.banded),
        }
    }
}

#[cfg(test)]
mod tests;
