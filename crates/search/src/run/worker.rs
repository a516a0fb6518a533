//! The worker of a thread: finds the places of all queries in the texts of a batch.

use merganser_io::{RecordBatch, Stretch};
use merganser_run::engine::{Turn, Work};

use crate::Error;
use crate::places::Places;
use crate::queries::Queries;
use crate::searcher::{Searcher, Text};

/// The maximum number of ends of a batch. More of them would take too much memory; only patterns that match almost
/// everywhere have one for each few letters.
const MAX_ENDS: usize = 16 << 20;

/// The places of a text, or of a stretch of one.
#[derive(Debug)]
pub(super) struct TextPlaces {
    pub(super) name: Vec<u8>,
    pub(super) length: usize,
    pub(super) places: Places,
    /// The letters of the text, if they are wanted.
    pub(super) letters: Vec<u8>,
}

/// The places of a batch.
#[derive(Debug)]
pub(super) struct BatchPlaces {
    pub(super) texts: Vec<TextPlaces>,
    pub(super) stretch: Option<Stretch>,
}

/// A worker with its working memory.
pub(super) struct Worker<'q> {
    searcher: Searcher<'q>,
    keeps_letters: bool,
}

impl<'q> Worker<'q> {
    pub(super) fn new(queries: &'q Queries, keeps_letters: bool) -> Worker<'q> {
        Worker { searcher: Searcher::new(queries), keeps_letters }
    }
}

impl Work for Worker<'_> {
    type Batch = RecordBatch;
    type Output = BatchPlaces;
    type Error = Error;

    fn work(
        &mut self,
        batch: &mut RecordBatch,
        _: &Turn<'_, BatchPlaces, Error>,
    ) -> Result<BatchPlaces, Error> {
        let stretch = batch.stretch();
        let goes_on = stretch.map_or([false; 2], |one| [!one.begins, !one.ends]);
        let texts: Vec<Text<'_>> =
            (0..batch.len()).map(|at| Text { letters: batch.letters(at), goes_on }).collect();
        let Some(places) = self.searcher.places(&texts, MAX_ENDS) else {
            let (file, number) = batch.place(0);
            return Err(Error::TooMany { place: format!("{file}: record {number}") });
        };
        let texts = places.into_iter().enumerate().map(|(at, places)| TextPlaces {
            name: batch.name(at).to_vec(),
            length: batch.letter_count(at),
            places,
            letters: if self.keeps_letters { batch.letters(at).to_vec() } else { Vec::new() },
        });
        Ok(BatchPlaces { texts: texts.collect(), stretch })
    }
}
