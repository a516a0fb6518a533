//! Rejection of candidates by the rules of the `filter` crate: see [`crate::prefilter`].

use merganser_filter::{
    Code, Config, Filter, Method, NMode, PackedReference, PairBatch, REJECTED, Scratch, Threshold,
};
use merganser_run::Cancel;

use super::candidates::Candidate;
use super::verify::Window;
use crate::prefilter::{MARGIN, extended};
use crate::queries::Queries;
use crate::reference::Text;
use crate::{Error, Prefilter};

/// The maximum number of pairs that are decided at a time.
const BATCH: usize = 4096;

/// Packs the reference for the filter, with contigs at their positions.
pub(crate) fn pack(text: &Text<'_>) -> Result<PackedReference, Error> {
    let mut letters = vec![b'A'; text.end() as usize];
    for contig in text.contigs {
        for at in contig.start..contig.end() {
            letters[at as usize] = b"ACGTN"[usize::from(text.code(at as usize))];
        }
    }
    Ok(PackedReference::new(&letters)?)
}

/// A filter rule with its working space, one for each thread.
pub(crate) struct Rule<'r> {
    method: Method,
    /// Filters by the number of edits that they allow, created when needed.
    filters: Vec<Option<Filter>>,
    batch: PairBatch<'r>,
    scratch: Scratch,
    decisions: Vec<Code>,
    /// The numbers of the candidates in the batch.
    asked: Vec<u32>,
    rejected: Vec<bool>,
    letters: Vec<u8>,
}

impl<'r> Rule<'r> {
    pub(crate) fn new(prefilter: Prefilter, reference: &'r PackedReference) -> Rule<'r> {
        let method = match prefilter {
            Prefilter::Snake => Method::Snake,
            _ => Method::GateKeeper,
        };
        Rule {
            method,
            filters: Vec::new(),
            batch: PairBatch::with_reference(reference),
            scratch: Scratch::default(),
            decisions: Vec::new(),
            asked: Vec::new(),
            rejected: Vec::new(),
            letters: Vec::new(),
        }
    }

    /// Removes candidates that cannot have a hit, and returns their number.
    pub(crate) fn reject(
        &mut self,
        candidates: &mut Vec<Candidate>,
        queries: &Queries,
        text: &Text<'_>,
        cancel: &Cancel,
    ) -> Result<u64, Error> {
        self.rejected.clear();
        self.rejected.resize(candidates.len(), false);
        let edits = |candidate: &Candidate| queries.get(candidate.query as usize).edits;
        let mut at = 0;
        for same in candidates.chunk_by(|a, b| edits(a) == edits(b)) {
            for part in same.chunks(BATCH) {
                cancel.check()?;
                self.decide(part, at, edits(&same[0]), queries, text)?;
                at += part.len();
            }
        }
        let before = candidates.len();
        let mut rejected = self.rejected.iter();
        candidates.retain(|_| rejected.next() != Some(&true));
        Ok((before - candidates.len()) as u64)
    }

    fn decide(
        &mut self,
        candidates: &[Candidate],
        first: usize,
        edits: usize,
        queries: &Queries,
        text: &Text<'_>,
    ) -> Result<(), Error> {
        self.batch.clear();
        self.asked.clear();
        let margin = edits + MARGIN;
        let mut held = None;
        for (number, candidate) in (first as u32..).zip(candidates) {
            let query = queries.get(candidate.query as usize);
            let (from, len) = (candidate.diagonal() - margin as i64, query.len + 2 * margin);
            let window = Window {
                query: candidate.query,
                first: candidate.diagonal(),
                width: 0,
                candidates: 1,
            };
            let inside = from >= 0 && from + len as i64 <= i64::from(text.end());
            if !inside || !window.is_plain(&query, text, usize::MAX) {
                continue;
            }
            let read = match held {
                Some((of, read)) if of == candidate.query => read,
                _ => {
                    extended(&query, margin, &mut self.letters);
                    self.batch.add(&self.letters)?
                }
            };
            held = Some((candidate.query, read));
            self.batch.candidate(read, from as usize, len);
            self.asked.push(number);
        }
        if self.filters.len() <= edits {
            self.filters.resize(edits + 1, None);
        }
        if self.filters[edits].is_none() {
            self.filters[edits] = Some(filter(self.method, edits)?);
        }
        if let Some(filter) = &self.filters[edits] {
            filter.run_codes(&self.batch, &mut self.scratch, &mut self.decisions);
        }
        for (&number, &decision) in self.asked.iter().zip(&self.decisions) {
            self.rejected[number as usize] = decision == REJECTED;
        }
        Ok(())
    }
}

fn filter(method: Method, edits: usize) -> Result<Filter, Error> {
    let granted = if method == Method::Snake { edits + 2 } else { edits };
    let threshold = Threshold::Edits(granted as u32);
    Ok(Filter::new(Config { method, n_mode: NMode::Match, ..Config::new(threshold) })?)
}
