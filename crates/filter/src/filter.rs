//! The filter: decides the pairs of a batch on the CPU.

mod groups;

use crate::band::Band;
use crate::batch::{PairBatch, SequenceView};
use crate::config::{MAX_ORIGINAL, MIN_ORIGINAL};
use crate::cpu::masks::Masks;
use crate::cpu::sliced::semi_global::SemiGlobalGroup;
use crate::cpu::sliced::{self, Group};
use crate::cpu::{anchored, banded, gatekeeper, original, snake};
use crate::decision::{Code, Decision, REJECTED, UNDEFINED};
use crate::{Align, Config, Error, Method, NMode};
use merganser_seq::simd::Level;

/// A filter, which decides pairs with one configuration. Threads may share it.
#[derive(Clone, Debug)]
pub struct Filter {
    config: Config,
    level: Level,
}

/// Working space of one thread, which it reuses for every batch.
#[derive(Debug, Default)]
pub struct Scratch {
    banded: banded::Vectors,
    anchored: anchored::Vectors,
    masks: Masks,
    words: [Vec<u64>; 2],
    queue: Vec<Queued>,
    group: Group,
    semi_global_group: SemiGlobalGroup,
    /// The number of pairs that were decided by the exact method instead of the configured one.
    exact_instead: u64,
}

/// A pair that will be decided together with others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Queued {
    columns: u32,
    index: u32,
}

impl Scratch {
    /// Returns the number of pairs so far that were decided by the exact method because the configured method
    /// does not define them: unequal lengths, semi-global comparison, or pairs that
    /// [`Method::GateKeeperOriginal`] does not support.
    pub fn exact_instead(&self) -> u64 {
        self.exact_instead
    }
}

impl Filter {
    /// Creates a filter.
    ///
    /// # Errors
    /// The errors of [`Config::validate`].
    pub fn new(config: Config) -> Result<Filter, Error> {
        config.validate()?;
        Ok(Filter { config, level: Level::best() })
    }

    /// Returns the configuration.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// Decides all pairs of a batch, and returns the decisions in order.
    pub fn run(&self, batch: &PairBatch<'_>) -> Vec<Decision> {
        let mut codes = Vec::new();
        self.run_codes(batch, &mut Scratch::default(), &mut codes);
        codes.into_iter().map(Decision::from).collect()
    }

    /// Decides pairs of a read and a segment, and returns the decisions in order. For many pairs, refilling a
    /// [`PairBatch`] is faster, because it reuses its memory.
    ///
    /// ```
    /// use merganser_filter::{Config, Decision, Filter, Threshold};
    ///
    /// let filter = Filter::new(Config::new(Threshold::Edits(1)))?;
    /// let pairs: [(&[u8], &[u8]); 2] = [(b"ACGTACGT", b"ACGTCGT"), (b"ACGTACGT", b"TTTTTTTT")];
    /// assert_eq!(filter.run_pairs(pairs)?, [Decision::Accepted { edits: 1 }, Decision::Rejected]);
    /// # Ok::<(), merganser_filter::Error>(())
    /// ```
    ///
    /// # Errors
    /// If a sequence has a byte that is not an IUPAC letter.
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

    /// Replaces `decisions` by the [codes](Code) of the decisions on all pairs of a batch, in order.
    pub fn run_codes(
        &self,
        batch: &PairBatch<'_>,
        scratch: &mut Scratch,
        decisions: &mut Vec<Code>,
    ) {
        decisions.clear();
        scratch.queue.clear();
        for index in 0..batch.len() {
            // Queued pairs are decided below.
            decisions.push(REJECTED);
            let (lengths, others) = batch.lengths(index);
            if let Some(columns) = self.queued(lengths, others) {
                scratch.queue.push(Queued { columns, index: index as u32 });
            } else {
                let [read, segment] = batch.views(index);
                decisions[index] = self.decide(&read, &segment, scratch);
            }
        }
        // Neighbouring pairs should have similar numbers of columns. Usually all have the same and need no
        // sorting.
        if !scratch.queue.is_sorted_by_key(|queued| queued.columns) {
            scratch.queue.sort_unstable();
        }
        let queue = std::mem::take(&mut scratch.queue);
        for queue in queue.chunks(sliced::PAIRS) {
            self.run_group(batch, queue, scratch, decisions);
        }
        scratch.queue = queue;
    }

    /// Returns the band and the threshold of a pair; `None` if the lengths differ by more than the threshold.
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
    ) -> Code {
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
        edits.map_or(REJECTED, |edits| Code::try_from(edits).unwrap_or(Code::MAX))
    }

    /// Returns the method for a pair: the configured one if it defines the pair, otherwise the exact one.
    pub(crate) fn defined_method(
        &self,
        read: usize,
        segment: usize,
        others: bool,
        e: usize,
    ) -> Method {
        let method = self.config.method;
        let comparable = self.config.align == Align::Global && read == segment;
        let published = !others && read >= MIN_ORIGINAL && e <= MAX_ORIGINAL;
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
        // A band needs a bit per diagonal; all rows need a bit per base of the read.
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
