//! Confirms the reads that the minimizers keep: those near the host's haplotypes are removed after all.

use merganser_alignments::problem_of;
use merganser_io::RecordBatch;
use merganser_map::{Error as MapError, NearestSearch, Place};
use merganser_run::Cancel;

use super::worker::Unit;
use crate::Error;
use crate::haplotypes::{Confirmed, Haplotypes, count_at};

/// The search of a thread.
pub(super) struct Confirmer<'h> {
    haplotypes: &'h Haplotypes,
    search: NearestSearch<'h>,
    /// The records of the batch that are searched.
    asked: Vec<usize>,
    pub(super) confirmed: Confirmed,
}

/// How near a read is.
enum Distance {
    /// Too short to tell.
    TooShort,
    Within(Place),
    /// Further away, with a place within the bound, or without one.
    Beyond(Option<Place>),
}

impl<'h> Confirmer<'h> {
    pub(super) fn new(haplotypes: &'h Haplotypes, cancel: &Cancel) -> Confirmer<'h> {
        Confirmer {
            haplotypes,
            search: NearestSearch::new(haplotypes.index(), &haplotypes.rule, cancel),
            asked: Vec::new(),
            confirmed: Confirmed::default(),
        }
    }

    /// Searches the reads of units that do not match, and lets those match of which a read is near.
    pub(super) fn confirm(&mut self, batch: &RecordBatch, units: &mut [Unit]) -> Result<(), Error> {
        let mates = batch.mates();
        let kept = (0..units.len()).filter(|&unit| !units[unit].is_match);
        self.asked.clear();
        self.asked.extend(kept.flat_map(|unit| unit * mates..(unit + 1) * mates));
        let letters: Vec<&[u8]> =
            self.asked.iter().map(|&record| batch.record(record).letters).collect();
        let problem = |at: usize, message: String| {
            MapError::Input(problem_of(batch, self.asked[at], &message).to_string())
        };
        let places = self.search.search(&letters, problem)?;
        let own = letters.chunks(mates).zip(places.chunks(mates)).zip(self.asked.chunks(mates));
        for ((letters, places), records) in own {
            let distances = letters.iter().zip(places);
            let distances: Vec<Distance> = distances
                .map(|(letters, &place)| distance(self.haplotypes, letters.len(), place))
                .collect();
            let is_near = distances.iter().any(|one| !matches!(one, Distance::Beyond(_)));
            units[records[0] / mates].is_match = is_near;
            count(&mut self.confirmed, &distances, is_near);
        }
        Ok(())
    }
}

fn distance(haplotypes: &Haplotypes, bases: usize, place: Option<Place>) -> Distance {
    // An empty read has nothing of the host.
    if bases > 0 && bases <= haplotypes.bound().edits(bases) {
        return Distance::TooShort;
    }
    match place {
        Some(place) if place.edits as usize <= haplotypes.threshold().edits(bases) => {
            Distance::Within(place)
        }
        place => Distance::Beyond(place),
    }
}

/// Counts the reads of a unit that the minimizers kept.
fn count(confirmed: &mut Confirmed, distances: &[Distance], is_near: bool) {
    confirmed.removed += if is_near { distances.len() as u64 } else { 0 };
    for distance in distances {
        match distance {
            Distance::TooShort => confirmed.too_short += 1,
            Distance::Within(place) => count_at(&mut confirmed.by_contig, place.contig),
            Distance::Beyond(Some(place)) if !is_near => {
                count_at(&mut confirmed.kept_by_edits, place.edits as usize);
            }
            Distance::Beyond(_) => {}
        }
    }
}
