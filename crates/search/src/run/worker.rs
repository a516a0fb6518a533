//! The worker of a thread: finds the places of all queries in the texts of a batch.

use merganser_io::{RecordBatch, Stretch};
use merganser_run::engine::{Turn, Work};
use merganser_seq::simd::Level;

use crate::Error;
use crate::places::{Decider, Overlap, Places};
use crate::queries::Queries;
use crate::scan::{Piece, PieceEnd, Scanner};

/// The maximum number of ends of a batch. More of them would take too much memory; only patterns that match almost
/// everywhere have so much as one for each of a few letters.
const MAX_ENDS: usize = 16 << 20;

/// The places of a text, or of a stretch of one.
#[derive(Debug)]
pub(super) struct TextPlaces {
    pub(super) name: Vec<u8>,
    pub(super) letters: usize,
    pub(super) places: Places,
}

/// The places of a batch.
#[derive(Debug)]
pub(super) struct BatchPlaces {
    pub(super) texts: Vec<TextPlaces>,
    pub(super) stretch: Option<Stretch>,
}

/// A worker with its working memory.
pub(super) struct Worker<'r> {
    queries: &'r Queries,
    overlap: Overlap,
    scanner: Scanner,
    decider: Decider,
    ends: Vec<PieceEnd>,
}

impl<'r> Worker<'r> {
    pub(super) fn new(queries: &'r Queries, overlap: Overlap) -> Worker<'r> {
        Worker {
            queries,
            overlap,
            scanner: Scanner::new(Level::best()),
            decider: Decider::default(),
            ends: Vec::new(),
        }
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
        let batch = &*batch;
        let (pieces, goes_on): (Vec<Piece<'_>>, Vec<[bool; 2]>) =
            self.overlap.pieces(batch).unzip();
        self.ends.clear();
        if !self.scanner.scan(&pieces, self.queries, MAX_ENDS, &mut self.ends) {
            let (file, number) = batch.place(0);
            return Err(Error::TooMany { place: format!("{file}: record {number}") });
        }
        let mut rest = &self.ends[..];
        let mut texts = Vec::with_capacity(batch.len());
        for (at, (piece, goes_on)) in pieces.iter().zip(goes_on).enumerate() {
            let count = rest.partition_point(|end| end.piece as usize <= at);
            let (ends, others) = rest.split_at(count);
            rest = others;
            texts.push(TextPlaces {
                name: batch.name(at).to_vec(),
                letters: piece.letters.len(),
                places: self.decider.decide(self.queries, piece, ends, goes_on),
            });
        }
        Ok(BatchPlaces { texts, stretch: batch.stretch() })
    }
}
