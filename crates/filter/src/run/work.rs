//! What a thread does: it fetches numbered blocks of pairs ([`Shared::next`]), packs and decides their
//! pairs, and hands in their results as text ([`Shared::hand_in`]), which is written in the order of
//! the numbers. Whoever decides pairs in another way can take from the same queue: a block that was
//! fetched must be handed in, and all with smaller numbers were fetched before it.

use merganser_run::{Cancel, InOrder, Progress};

use super::Verified;
use crate::output::{DecisionText, append};
use crate::source::{Block, Source};
use crate::{Decision, Error, Filter, Format, PairBatch, REJECTED, Scratch, UNDEFINED, Writer};

/// Pairs that are packed and decided at a time, so that they stay in a core's cache.
pub(super) const BATCH: usize = 4096;

/// What the workers share.
pub(super) struct Shared<'r> {
    pub(super) source: Source,
    pub(super) written: InOrder<DecisionText, Writer>,
    pub(super) format: Format,
    pub(super) progress: &'r dyn Progress,
    pub(super) cancel: &'r Cancel,
}

impl Shared<'_> {
    /// Decides blocks until there are none.
    pub(super) fn work(&self, mut worker: Worker<'_>) -> Tally {
        let _guard = FailOnPanic(self);
        let mut block = Block::default();
        while self.next(&mut block) {
            self.decide(&mut worker, &mut block);
        }
        worker.finish()
    }

    /// Has a worker decide the pairs of a block, and takes what it says.
    pub(super) fn decide(&self, worker: &mut Worker<'_>, block: &mut Block) {
        let mut texts = self.written.spare().unwrap_or_default();
        let done = worker.decide(block, self.format, &mut texts);
        self.hand_in(block.number(), done.map(|()| texts));
    }

    /// Fetches the next block, once it may be worked on; `false` if there is none, or no more should
    /// be done.
    fn next(&self, block: &mut Block) -> bool {
        self.fetch(block) && self.written.wait_for_room(block.number())
    }

    /// Fetches the next block; `false` if there is none, or no more should be done.
    pub(super) fn fetch(&self, block: &mut Block) -> bool {
        if self.written.has_failed() {
            return false;
        }
        let fetched = self.source.next(block);
        // What is cancelled looks like an end, or like a fault.
        if self.cancel.is_cancelled() {
            self.hand_in(0, Err(Error::Cancelled));
            return false;
        }
        match fetched {
            Ok(Some(bytes)) => self.progress.advance(bytes),
            Ok(None) => return false,
            Err(error) => {
                self.hand_in(block.number(), Err(error));
                return false;
            }
        }
        true
    }

    /// Takes a block's results, or what is wrong with it: kept with its number, as another worker
    /// may still find a fault in an earlier one.
    pub(super) fn hand_in(&self, number: u64, texts: Result<DecisionText, Error>) {
        match texts {
            Ok(texts) => self.written.hand_in(number, texts),
            Err(error) => {
                self.written.fail(number, error);
                self.source.stop();
            }
        }
    }
}

/// Should a worker panic, nobody must wait for its block.
pub(super) struct FailOnPanic<'s, 'r>(pub(super) &'s Shared<'r>);

impl Drop for FailOnPanic<'_, '_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.hand_in(0, Err(Error::Cancelled));
        }
    }
}

/// What a thread counted.
#[derive(Debug, Default)]
pub(super) struct Tally {
    pub(super) pairs: u64,
    pub(super) accepted: u64,
    pub(super) undefined: u64,
    pub(super) exact_instead: u64,
    pub(super) gpu_pairs: u64,
    pub(super) verified: Option<Verified>,
}

/// A thread's memory and counts.
pub(super) struct Worker<'f> {
    filter: &'f Filter,
    pub(super) exact: Option<&'f Filter>,
    pub(super) batch: PairBatch<'static>,
    scratch: Scratch,
    exact_scratch: Scratch,
    pub(super) decisions: Vec<Decision>,
    pub(super) truth: Vec<Decision>,
    pub(super) tally: Tally,
}

impl<'f> Worker<'f> {
    pub(super) fn new(filter: &'f Filter, exact: Option<&'f Filter>) -> Worker<'f> {
        Worker {
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

    fn decide(
        &mut self,
        block: &mut Block,
        format: Format,
        texts: &mut DecisionText,
    ) -> Result<(), Error> {
        loop {
            let first = block.index();
            if !block.take(BATCH, &mut self.batch)? {
                return Ok(());
            }
            self.filter.run_into(&self.batch, &mut self.scratch, &mut self.decisions);
            if let Some(exact) = self.exact {
                exact.run_into(&self.batch, &mut self.exact_scratch, &mut self.truth);
            }
            self.report(format, first, texts);
        }
    }

    /// Writes and counts the decisions on the pairs from the index `first` on.
    pub(super) fn report(&mut self, format: Format, first: u64, texts: &mut DecisionText) {
        append(format, first, &self.decisions, texts);
        self.count();
        self.verify();
    }

    fn count(&mut self) {
        let with = |wanted| self.decisions.iter().filter(|&&edits| edits == wanted).count() as u64;
        self.tally.pairs += self.decisions.len() as u64;
        self.tally.accepted += self.decisions.len() as u64 - with(REJECTED);
        self.tally.undefined += with(UNDEFINED);
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
