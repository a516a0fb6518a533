//! A worker of a calculation: it computes and encodes ranges and passes them to the writer.

use merganser_run::InOrder;
use merganser_seq::kmer::Kmer;

use super::calculation::Calculation;
use super::engine::{Place, Work};
use super::expression::Cut;
use super::merge::{self, Range, SortedKmers, Spare};
use crate::formats::{Encoder, Ordered, Sink};
use crate::{Error, Histogram};

/// Counts below this are tallied in arrays.
const SMALL: usize = 128;

/// A worker that computes and encodes ranges and passes them to the writer.
pub(super) struct Emitting<'e, K: Kmer, E: Encoder<K>, S: Sink<E::Encoded>> {
    calculation: &'e Calculation,
    uses: Vec<usize>,
    encoder: &'e E,
    in_order: &'e InOrder<E::Encoded, Ordered<S>>,
    spare: Spare<K>,
    /// The k-mers of a divided section that do not yet fill a unit of the encoder.
    open: SortedKmers<K>,
    pub(super) histogram: Histogram,
    /// The histogram before the cut; empty unless `keeps_uncut`.
    pub(super) uncut: Histogram,
    keeps_uncut: bool,
    pub(super) before: merge::Before,
    pub(super) done: bool,
}

impl<'e, K: Kmer, E: Encoder<K>, S: Sink<E::Encoded>> Emitting<'e, K, E, S> {
    pub(super) fn new(
        calculation: &'e Calculation,
        keeps_uncut: bool,
        tables: usize,
        encoder: &'e E,
        in_order: &'e InOrder<E::Encoded, Ordered<S>>,
    ) -> Self {
        Emitting {
            calculation,
            uses: calculation.expression.uses(tables),
            encoder,
            in_order,
            spare: Spare::default(),
            open: Vec::new(),
            histogram: Histogram::default(),
            uncut: Histogram::default(),
            keeps_uncut,
            before: merge::Before::default(),
            done: false,
        }
    }

    /// Hands in a range: the k-mers up to a multiple of the encoder's unit, or all of them if the section ends here.
    fn hand_in(&mut self, place: Place, run: &[(K, u32)]) -> Result<bool, Error> {
        if place.first && place.last {
            let part = self.encoder.encode(run);
            return Ok(self.hand_in_part(place, part, run.len(), true));
        }
        self.open.extend_from_slice(run);
        let whole = match place.last {
            true => self.open.len(),
            false => self.open.len() / E::UNIT * E::UNIT,
        };
        let part = match place.first {
            true => self.encoder.encode(&self.open[..whole]),
            false => self.encoder.encode_more(&self.open[..whole]),
        };
        self.open.drain(..whole);
        Ok(self.hand_in_part(place, part, whole, place.last))
    }
}

impl<K: Kmer, E: Encoder<K>, S: Sink<E::Encoded>> Emitting<'_, K, E, S> {
    /// Hands in an encoded part of a section; returns false if the other workers have stopped.
    fn hand_in_part(&self, place: Place, part: E::Encoded, kmers: usize, last: bool) -> bool {
        self.in_order.hand_in_some(place.section as u64, part, kmers as u64, last)
    }
}

/// Adds the counts to the histogram, and returns their sum.
fn tally<K>(run: &[(K, u32)], histogram: &mut Histogram) -> u64 {
    // Most counts are small and repeat: four arrays avoid waiting for the previous increment of the same counter.
    let mut small = [[0u32; SMALL]; 4];
    let mut sum = 0;
    for (at, &(_, count)) in run.iter().enumerate() {
        sum += u64::from(count);
        match small[at % 4].get_mut(count as usize) {
            Some(number) => *number += 1,
            None => histogram.add(count),
        }
    }
    for count in 0..SMALL {
        let number = small.iter().map(|lane| u64::from(lane[count])).sum();
        histogram.add_many(count as u32, number);
    }
    sum
}

impl<K: Kmer, E: Encoder<K>, S: Sink<E::Encoded>> Work<K> for Emitting<'_, K, E, S> {
    fn range(&mut self, place: Place, tables: &mut [SortedKmers<K>]) -> Result<bool, Error> {
        let Calculation { expression, limits, .. } = self.calculation;
        let (cut, ceiling) = (limits.cut(), limits.ceiling());
        let uses = self.uses.clone();
        let mut run = Range { tables, uses, spare: &mut self.spare }.compute(expression);
        if self.keeps_uncut {
            tally(&run, &mut self.uncut);
        }
        if cut != Cut::NONE || ceiling < u32::MAX {
            let before = merge::finish(&mut run, cut, ceiling);
            self.before.add(before);
            tally(&run, &mut self.histogram);
        } else {
            let occurrences = tally(&run, &mut self.histogram);
            self.before.add(merge::Before { kmers: run.len() as u64, occurrences, lowered: 0 });
        }
        let handed = self.hand_in(place, &run);
        self.spare.give(run);
        handed
    }
}

impl<K: Kmer, E: Encoder<K>, S: Sink<E::Encoded>> Drop for Emitting<'_, K, E, S> {
    fn drop(&mut self) {
        // After an error or a panic, the other workers must not wait for this worker's section.
        if !self.done {
            self.in_order.stop();
        }
    }
}
