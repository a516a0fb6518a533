//! A worker of the engine: packs and decides the pairs of blocks, and formats the decisions.

use merganser_run::engine::{Turn, Work};

use super::Verified;
use crate::output::{DecisionText, append};
use crate::source::Block;
use crate::{Code, Error, Filter, Format, PairBatch, REJECTED, Scratch, UNDEFINED};

/// The number of pairs that are packed and decided at a time, so that they stay in a core's cache.
pub(super) const BATCH: usize = 4096;

/// The counts of a worker.
#[derive(Debug, Default)]
pub(super) struct Tally {
    pub(super) pairs: u64,
    pub(super) accepted: u64,
    pub(super) undefined: u64,
    /// The number of accepted pairs with defined edits, by number of edits.
    pub(super) edits: Vec<u64>,
    pub(super) exact_instead: u64,
    pub(super) gpu_pairs: u64,
    pub(super) verified: Option<Verified>,
}

/// A worker with its working space and counts.
pub(super) struct Worker<'f> {
    format: Format,
    filter: &'f Filter,
    pub(super) exact: Option<&'f Filter>,
    pub(super) batch: PairBatch<'static>,
    scratch: Scratch,
    exact_scratch: Scratch,
    pub(super) decisions: Vec<Code>,
    pub(super) truth: Vec<Code>,
    pub(super) tally: Tally,
}

impl<'f> Worker<'f> {
    pub(super) fn new(format: Format, filter: &'f Filter, exact: Option<&'f Filter>) -> Worker<'f> {
        Worker {
            format,
            filter,
            exact,
            batch: PairBatch::new(),
            scratch: Scratch::default(),
            exact_scratch: Scratch::default(),
            decisions: Vec::new(),
            truth: Vec::new(),
            tally: Tally { verified: exact.map(|_| Verified::default()), ..Tally::default() },
        }
    }

    /// Formats and counts the decisions; `first` is the index of the first pair.
    pub(super) fn report(&mut self, first: u64, texts: &mut DecisionText) {
        append(self.format, first, &self.decisions, texts);
        self.count();
        self.verify();
    }

    fn count(&mut self) {
        let with = |wanted| self.decisions.iter().filter(|&&edits| edits == wanted).count() as u64;
        self.tally.pairs += self.decisions.len() as u64;
        self.tally.accepted += self.decisions.len() as u64 - with(REJECTED);
        self.tally.undefined += with(UNDEFINED);
        for &edits in &self.decisions {
            let Ok(edits) = usize::try_from(edits) else { continue };
            if edits >= self.tally.edits.len() {
                self.tally.edits.resize(edits + 1, 0);
            }
            self.tally.edits[edits] += 1;
        }
    }

    fn verify(&mut self) {
        let Some(verified) = &mut self.tally.verified else { return };
        for (&decision, &truth) in self.decisions.iter().zip(&self.truth) {
            let (accepted, right) = (decision != REJECTED, truth != REJECTED);
            verified.exact_accepted += u64::from(right);
            verified.false_accepts += u64::from(accepted && !right);
            verified.false_rejects += u64::from(!accepted && right);
        }
    }

    pub(super) fn finish(mut self) -> Tally {
        self.tally.exact_instead += self.scratch.exact_instead();
        self.tally
    }
}

impl Work for Worker<'_> {
    type Batch = Block;
    type Output = DecisionText;
    type Error = Error;

    fn work(
        &mut self,
        block: &mut Block,
        turn: &Turn<'_, DecisionText, Error>,
    ) -> Result<DecisionText, Error> {
        let mut texts = turn.spare().unwrap_or_default();
        loop {
            let first = block.index();
            if !block.take(BATCH, &mut self.batch)? {
                return Ok(texts);
            }
            self.filter.run_codes(&self.batch, &mut self.scratch, &mut self.decisions);
            if let Some(exact) = self.exact {
                exact.run_codes(&self.batch, &mut self.exact_scratch, &mut self.truth);
            }
            self.report(first, &mut texts);
        }
    }
}
