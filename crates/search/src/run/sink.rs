//! The ordered end of a run: joins the stretches of long sequences, counts hits and writes them.

use merganser_run::InOrderSink;

use super::Outcome;
use super::worker::{BatchPlaces, TextPlaces};
use crate::join::Join;
use crate::places::Overlap;
use crate::queries::Queries;
use crate::{Error, Hit, Pattern, Writer};

pub(super) struct Sink<'r> {
    queries: &'r Queries,
    overlap: Overlap,
    patterns: &'r [Pattern],
    writer: Writer,
    join: Join,
    outcome: Outcome,
}

impl<'r> Sink<'r> {
    pub(super) fn new(
        queries: &'r Queries,
        overlap: Overlap,
        patterns: &'r [Pattern],
        writer: Writer,
    ) -> Sink<'r> {
        let most = queries.all().iter().map(|query| (query.pattern, query.edits));
        let mut hits = vec![Vec::new(); patterns.len()];
        most.for_each(|(pattern, edits)| hits[pattern] = vec![0; edits + 1]);
        let outcome = Outcome { hits, ..Outcome::default() };
        Sink { queries, overlap, patterns, writer, join: Join::default(), outcome }
    }

    pub(super) fn into_outcome(self) -> (Outcome, Writer) {
        (self.outcome, self.writer)
    }

    fn count(&mut self, hits: &[Hit]) {
        for hit in hits {
            self.outcome.hits[hit.pattern][hit.edits] += 1;
        }
    }
}

impl InOrderSink<BatchPlaces> for Sink<'_> {
    type Error = Error;

    fn write(&mut self, batch: BatchPlaces) -> Result<Option<BatchPlaces>, Error> {
        for TextPlaces { name, letters, places } in batch.texts {
            let begins = batch.stretch.is_none_or(|stretch| stretch.begins);
            let repeated = if begins { 0 } else { self.overlap.letters() };
            let is_last = batch.stretch.is_none_or(|stretch| stretch.ends);
            let hits = self.join.add(self.queries, places, letters, repeated, is_last);
            self.outcome.texts += u64::from(begins);
            self.outcome.letters += (letters - repeated) as u64;
            self.count(&hits);
            self.writer.write(self.patterns, self.outcome.texts - 1, &name, &hits)?;
        }
        Ok(None)
    }
}
