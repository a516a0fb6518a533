//! The ordered end of a run: joins the stretches of long sequences, counts hits and passes them on.

use merganser_run::InOrderSink;

use super::Outcome;
use super::worker::{BatchPlaces, TextPlaces};
use crate::join::Join;
use crate::places::Overlap;
use crate::queries::Queries;
use crate::{Error, Hit, Pattern, Writer};

/// Hits of a sequence that are complete up to a position.
#[derive(Debug)]
pub(crate) struct SequenceHits<'h> {
    /// The number of the sequence, from 0.
    pub(crate) number: u64,
    pub(crate) name: &'h [u8],
    pub(crate) hits: &'h [Hit],
    /// The position before which no later hit of the sequence begins; `usize::MAX` at its end.
    pub(crate) limit: usize,
    /// The next letters of the sequence, if the receiver wants them.
    pub(crate) letters: &'h [u8],
}

/// A receiver of hits, in the order of the sequences and of their letters.
pub(crate) trait Receiver {
    /// Whether the letters of sequences are wanted.
    fn wants_letters(&self) -> bool;

    /// Receives the next hits.
    ///
    /// # Errors
    /// If they cannot be written.
    fn receive(&mut self, patterns: &[Pattern], some: &SequenceHits<'_>) -> Result<(), Error>;
}

impl Receiver for Writer {
    fn wants_letters(&self) -> bool {
        false
    }

    fn receive(&mut self, patterns: &[Pattern], some: &SequenceHits<'_>) -> Result<(), Error> {
        self.write(patterns, some.number, some.name, some.hits)
    }
}

pub(super) struct Sink<'r, R> {
    queries: &'r Queries,
    overlap: Overlap,
    patterns: &'r [Pattern],
    receiver: R,
    join: Join,
    outcome: Outcome,
}

impl<'r, R: Receiver> Sink<'r, R> {
    pub(super) fn new(queries: &'r Queries, patterns: &'r [Pattern], receiver: R) -> Sink<'r, R> {
        let most = queries.all().iter().map(|query| (query.pattern, query.edits));
        let mut hits = vec![Vec::new(); patterns.len()];
        most.for_each(|(pattern, edits)| hits[pattern] = vec![0; edits + 1]);
        let outcome = Outcome { hits, ..Outcome::default() };
        let overlap = Overlap::of(queries);
        Sink { queries, overlap, patterns, receiver, join: Join::default(), outcome }
    }

    pub(super) fn into_outcome(self) -> (Outcome, R) {
        (self.outcome, self.receiver)
    }

    fn count(&mut self, hits: &[Hit]) {
        for hit in hits {
            self.outcome.hits[hit.pattern][hit.edits] += 1;
        }
    }
}

impl<R: Receiver> InOrderSink<BatchPlaces> for Sink<'_, R> {
    type Error = Error;

    fn write(&mut self, batch: BatchPlaces) -> Result<Option<BatchPlaces>, Error> {
        let begins = batch.stretch.is_none_or(|stretch| stretch.begins);
        let is_last = batch.stretch.is_none_or(|stretch| stretch.ends);
        let repeated = if begins { 0 } else { self.overlap.letters() };
        for TextPlaces { name, length, places, letters } in batch.texts {
            let (hits, limit) = self.join.add(self.queries, places, length, repeated, is_last);
            self.outcome.texts += u64::from(begins);
            let more = (length - repeated) as u64;
            self.outcome.letters += more;
            self.outcome.gpu_letters += if batch.by_gpu { more } else { 0 };
            self.count(&hits);
            let letters = letters.get(repeated..).unwrap_or_default();
            let number = self.outcome.texts - 1;
            let some = SequenceHits { number, name: &name, hits: &hits, limit, letters };
            self.receiver.receive(self.patterns, &some)?;
        }
        Ok(None)
    }
}
