//! Deciding the pairs of a batch.

mod groups;

use crate::band::Band;
use crate::batch::{PairBatch, SequenceView};
use crate::config::{LEAST_ORIGINAL, MAX_ORIGINAL};
use crate::cpu::masks::Masks;
use crate::cpu::sliced::semi_global::SemiGlobalGroup;
use crate::cpu::sliced::{self, Group};
use crate::cpu::{anchored, banded, gatekeeper, original, snake};
use crate::{Align, Config, Error, Method, NMode};
use merganser_seq::simd::Level;

/// The edits of an accepted pair (of the exact method the distance, of others an estimate), or
/// [`REJECTED`], or [`UNDEFINED`].
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
    group: Group,
    semi_global_group: SemiGlobalGroup,
    /// Pairs that another method than the exact one was to decide and could not.
    exact_instead: u64,
}

/// A pair that waits for others to be decided with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Queued {
    columns: u32,
    index: u32,
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

    /// The decisions on pairs of a read and a segment, in their order. Who has many of them fills a
    /// [`PairBatch`] again and again, and keeps its memory.
    ///
    /// ```
    /// use merganser_filter::{Config, Filter, REJECTED, Threshold};
    ///
    /// let filter = Filter::new(Config::new(Threshold::Edits(1)))?;
    /// let pairs: [(&[u8], &[u8]); 2] = [(b"ACGTACGT", b"ACGTCGT"), (b"ACGTACGT", b"TTTTTTTT")];
    /// assert_eq!(filter.run_pairs(pairs)?, [1, REJECTED]);
    /// # Ok::<(), merganser_filter::Error>(())
    /// ```
    ///
    /// # Errors
    /// If a sequence holds a byte that is no IUPAC letter.
    ///
    /// # Panics
    /// If a sequence has 2^32 bases or more.
    pub fn run_pairs<'p>(
        &self,
        pairs: impl IntoIterator<Item = (&'p [u8], &'p [u8])>,
    ) -> Result<Vec<Decision>, Error> {
        let mut batch = PairBatch::new();
        for (read, segment) in pairs {
            batch.push(read, segment)?;
        }
        Ok(self.run(&batch))
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
            // Those that wait are decided below.
            decisions.push(REJECTED);
            let (lengths, others) = batch.lengths(index);
            if let Some(columns) = self.queued(lengths, others) {
                scratch.queue.push(Queued { columns, index: index as u32 });
            } else {
                let [read, segment] = batch.views(index);
                decisions[index] = self.decide(&read, &segment, scratch);
            }
        }
        // Neighbours should have about as many columns; mostly all have the same.
        if !scratch.queue.is_sorted_by_key(|queued| queued.columns) {
            scratch.queue.sort_unstable();
        }
        let queue = std::mem::take(&mut scratch.queue);
        for queue in queue.chunks(sliced::PAIRS) {
            self.run_group(batch, queue, scratch, decisions);
        }
        scratch.queue = queue;
    }

    /// The band of a pair and its threshold, if the threshold allows the lengths to differ so.
    #[inline]
    fn band(&self, [read, segment]: [usize; 2]) -> Option<(Band, usize)> {
        let e = self.config.threshold.edits(read).min(read.max(segment));
        Some((Band::global(read, segment, e)?, e))
    }

    pub(crate) fn decide(
        &self,
        read: &SequenceView<'_>,
        segment: &SequenceView<'_>,
        scratch: &mut Scratch,
    ) -> Decision {
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
    pub(crate) fn defined_method(
        &self,
        read: usize,
        segment: usize,
        others: bool,
        e: usize,
    ) -> Method {
        let method = self.config.method;
        let comparable = self.config.align == Align::Global && read == segment;
        let published = !others && read >= LEAST_ORIGINAL && e <= MAX_ORIGINAL;
        if comparable && (method != Method::GateKeeperOriginal || published) {
            method
        } else {
            Method::Exact
        }
    }

    fn exact(
        &self,
        read: &SequenceView<'_>,
        segment: &SequenceView<'_>,
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
