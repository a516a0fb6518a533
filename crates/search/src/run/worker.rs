//! The worker of a thread: finds the places of all queries in the texts of a batch.

use merganser_io::{RecordBatch, Stretch};
use merganser_run::engine::{Turn, Work};

use super::gpus::Group;
use crate::Error;
use crate::places::Places;
use crate::queries::Queries;
use crate::scan::PieceEnd;
use crate::searcher::{Searcher, Text};
use crate::seeds::Seeds;

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
    /// Whether a device has found the ends.
    pub(super) by_gpu: bool,
}

/// A worker with its working memory.
pub(super) struct Worker<'q> {
    pub(super) searcher: Searcher<'q>,
    /// The group on a device to which batches are added.
    pub(super) open: Option<Group>,
    keeps_letters: bool,
    /// The maximum number of ends of a batch, more of which would take too much memory.
    most: usize,
}

impl<'q> Worker<'q> {
    pub(super) fn new(
        queries: &'q Queries,
        seeds: Option<&'q Seeds>,
        keeps_letters: bool,
        most: usize,
    ) -> Worker<'q> {
        Worker { searcher: Searcher::new(queries, seeds), open: None, keeps_letters, most }
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
        let places = self.searcher.places(&texts_of(batch), self.most);
        self.output(batch, places, false)
    }
}

/// Returns the texts of a batch.
pub(super) fn texts_of(batch: &RecordBatch) -> Vec<Text<'_>> {
    let goes_on = batch.stretch().map_or([false; 2], |one| [!one.begins, !one.ends]);
    (0..batch.len()).map(|at| Text { letters: batch.letters(at), goes_on }).collect()
}

impl Worker<'_> {
    /// Makes the output of a batch from the ends of each direction that a device has found.
    ///
    /// # Errors
    /// If there are too many ends.
    pub(super) fn decide(
        &mut self,
        batch: &RecordBatch,
        ends: [&[PieceEnd]; 2],
    ) -> Result<BatchPlaces, Error> {
        let places = self.searcher.places_of(&texts_of(batch), ends, self.most);
        self.output(batch, places, true)
    }

    fn output(
        &self,
        batch: &RecordBatch,
        places: Option<Vec<Places>>,
        by_gpu: bool,
    ) -> Result<BatchPlaces, Error> {
        let Some(places) = places else {
            let (file, number) = batch.place(0);
            return Err(Error::TooMany { place: format!("{file}: record {number}") });
        };
        let texts = places.into_iter().enumerate().map(|(at, places)| TextPlaces {
            name: batch.name(at).to_vec(),
            length: batch.letter_count(at),
            places,
            letters: if self.keeps_letters { batch.letters(at).to_vec() } else { Vec::new() },
        });
        Ok(BatchPlaces { texts: texts.collect(), stretch: batch.stretch(), by_gpu })
    }
}
