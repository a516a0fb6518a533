//! A worker of a calculation: it computes and encodes ranges and passes them to the writer.

use merganser_run::InOrder;
use merganser_seq::kmer::Kmer;

use super::calculation::Calculation;
use super::engine::{Place, Work};
use super::expression::Cut;
use super::merge::{self, Range, SortedKmers, Spare};
use crate::formats::{EncodedSection, Encoder, Ordered, Sink};
use crate::{Error, Histogram};

/// Counts below this are tallied in arrays.
const SMALL: usize = 128;

/// A worker that computes and encodes ranges and passes them to the writer.
pub(super) struct Emitting<'e, K: Kmer, E: Encoder<K>, S: Sink<E::Encoded>> {
    calculation: &'e Calculation,
    uses: Vec<usize>,
    in_order: &'e InOrder<E::Encoded, Ordered<S>>,
    spare: Spare<K>,
    section: EncodedSection<'e, K, E>,
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
            in_order,
            spare: Spare::default(),
            section: EncodedSection::new(encoder),
            histogram: Histogram::default(),
            uncut: Histogram::default(),
            keeps_uncut,
            before: merge::Before::default(),
            done: false,
        }
    }

    /// Hands in what can be encoded of a range; returns false if the other workers have stopped.
    fn hand_in(&mut self, place: Place, run: &[(K, u32)]) -> bool {
        let (in_order, section) = (self.in_order, place.section as u64);
        let mut wanted = true;
        self.section.add(run, place.last, |part, kmers, ends| {
            wanted &= in_order.hand_in_some(section, part, kmers as u64, ends);
        });
        wanted
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
        let wanted = self.hand_in(place, &run);
        self.spare.give(run);
        Ok(wanted)
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
