//! The decision of which sample a read belongs to.

use std::collections::HashMap;

use merganser_filter::Threshold;

use super::finder::{Barcode, Finder, Place};
use super::{BarcodeOptions, Sample, Samples};
use crate::tile::Stretch;
use crate::{Error, Pattern};

/// The barcodes of a sample by number: the front one, and the rear one if both must be found.
#[derive(Clone, Copy, Debug)]
struct SampleBarcodes {
    front: usize,
    rear: Option<usize>,
}

/// The barcodes of all samples.
#[derive(Clone, Debug)]
pub(super) struct Assigner {
    pub(super) barcodes: Vec<Barcode>,
    samples: Vec<SampleBarcodes>,
    margin: usize,
}

/// The decision about a read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// The read has no barcode of a sample.
    None,
    /// The read has barcodes, but no sample has both of its barcodes in the read.
    OneOfTwo,
    /// Another sample has too few edits more than the best one.
    Ambiguous,
    /// The number of the sample, its edits, and the letters up to the end of its barcode at each end of the read, 0 if it
    /// is not there.
    Sample { number: usize, edits: usize, cuts: [usize; 2] },
}

/// The best places of a sample's barcodes in a read.
#[derive(Clone, Copy, Debug)]
struct Found {
    /// The sum of the edits of its barcodes.
    edits: usize,
    /// Whether each barcode has at most the edits that it may have.
    is_eligible: bool,
    /// The ends of the barcodes at each end of the read.
    cuts: [usize; 2],
}

impl Found {
    /// The order of directions of the same sample: the first is the best.
    fn rank(&self) -> (bool, usize) {
        (!self.is_eligible, self.edits)
    }
}

impl Assigner {
    /// Collects the barcodes of samples.
    ///
    /// # Errors
    /// If an option is out of range, or a barcode cannot be searched.
    pub(super) fn new(
        threshold: Threshold,
        options: &BarcodeOptions,
        samples: &Samples,
    ) -> Result<Assigner, Error> {
        options.validate()?;
        let (mut barcodes, mut numbers) = (Vec::new(), HashMap::new());
        // Other samples with more edits than these are always far enough from the best one.
        let more = options.margin - 1;
        let mut number = |pattern: &Pattern| {
            let barcode = Barcode::new(pattern, threshold, options.window, more)?;
            let next = barcodes.len();
            let number = *numbers.entry(barcode.sets.clone()).or_insert(next);
            if number == next {
                barcodes.push(barcode);
            }
            Ok::<usize, Error>(number)
        };
        let mut of_sample = |sample: &Sample| {
            let front = number(&sample.front)?;
            let rear = sample.rear.as_ref().map(&mut number).transpose()?;
            let rear = rear.or(options.both_ends.then_some(front));
            Ok(SampleBarcodes { front, rear })
        };
        let samples = samples.all().iter().map(&mut of_sample).collect::<Result<_, Error>>()?;
        Ok(Assigner { barcodes, samples, margin: options.margin })
    }

    /// Returns the number of samples.
    pub(super) fn samples(&self) -> usize {
        self.samples.len()
    }

    /// Decides about a read from the places of all barcodes at its start, and at the start of its reverse complement.
    pub(super) fn decide(&self, ends: [&[Place]; 2]) -> Verdict {
        let mut best: Option<(usize, Found)> = None;
        let mut second = usize::MAX;
        for (number, &sample) in self.samples.iter().enumerate() {
            let Some(found) = self.find(sample, ends) else { continue };
            let is_best =
                found.is_eligible && best.is_none_or(|(_, best)| found.edits < best.edits);
            if is_best {
                second = best.map_or(second, |(_, before)| second.min(before.edits));
                best = Some((number, found));
            } else {
                second = second.min(found.edits);
            }
        }
        match best {
            None if self.has_one(ends) => Verdict::OneOfTwo,
            None => Verdict::None,
            Some((_, best)) if second < best.edits + self.margin => Verdict::Ambiguous,
            Some((number, Found { edits, cuts, .. })) => Verdict::Sample { number, edits, cuts },
        }
    }

    /// Returns the best places of a sample's barcodes, in the better direction of the read.
    #[inline]
    fn find(&self, sample: SampleBarcodes, ends: [&[Place]; 2]) -> Option<Found> {
        // Most samples are not in a read.
        if ends[0][sample.front].found().is_none() && ends[1][sample.front].found().is_none() {
            return None;
        }
        let Some(rear) = sample.rear else {
            let both = [0, 1].map(|end| self.place(ends[end], sample.front));
            let best = both.into_iter().flatten().min_by_key(Found::rank)?;
            // A barcode at the other end is cut off, too.
            let cuts =
                both.map(|one| one.filter(|one| one.is_eligible).map_or(0, |one| one.cuts[0]));
            return Some(Found { cuts, ..best });
        };
        let direction = |first: usize| {
            let front = self.place(ends[first], sample.front)?;
            let rear = self.place(ends[1 - first], rear)?;
            let mut cuts = [front.cuts[0], rear.cuts[0]];
            if first == 1 {
                cuts.reverse();
            }
            let is_eligible = front.is_eligible && rear.is_eligible;
            Some(Found { edits: front.edits + rear.edits, is_eligible, cuts })
        };
        [0, 1].into_iter().filter_map(direction).min_by_key(Found::rank)
    }

    /// Returns the best place of a barcode at an end, as that of a sample with one barcode.
    fn place(&self, end: &[Place], number: usize) -> Option<Found> {
        let (edits, cut) = end[number].found()?;
        Some(Found { edits, is_eligible: edits <= self.barcodes[number].edits, cuts: [cut, 0] })
    }

    /// Whether the read has a barcode with at most the edits that it may have.
    fn has_one(&self, ends: [&[Place]; 2]) -> bool {
        let has = |end: &[Place]| {
            (0..end.len()).any(|number| self.place(end, number).is_some_and(|one| one.is_eligible))
        };
        ends.into_iter().any(has)
    }

    /// Returns the first sample of which even reads without errors are ambiguous.
    pub(super) fn inseparable(&self) -> Option<usize> {
        let letters = |number: usize| -> Vec<u8> {
            let bases = self.barcodes[number].sets.iter();
            bases.map(|bases| b"ACGT"[bases.trailing_zeros() as usize]).collect()
        };
        let mut finder = Finder::new(&self.barcodes);
        (0..self.samples.len()).find(|&number| {
            let SampleBarcodes { front, rear } = self.samples[number];
            let ends = [letters(front), rear.map(letters).unwrap_or_default()];
            finder.find(&ends.each_ref().map(|letters| Stretch { letters, begins: true }));
            self.decide([0, 1].map(|end| finder.places(end))) == Verdict::Ambiguous
        })
    }
}
