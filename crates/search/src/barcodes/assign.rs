//! The decision of which sample a read belongs to.

use std::collections::HashMap;

use merganser_filter::Threshold;

use super::finder::{Barcode, Finder, Place, WINDOWS};
use super::{BarcodeOptions, Samples};
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
pub(crate) struct Assigner {
    pub(crate) barcodes: Vec<Barcode>,
    samples: Vec<SampleBarcodes>,
    margin: usize,
}

/// The decision about a read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// No sample has its barcodes in the read.
    None,
    /// Another sample has too few edits more than the best one.
    Ambiguous,
    /// The sample, its edits, and the letters up to the end of its barcode at each end of the read, 0 if it is not there.
    Sample { number: usize, edits: usize, cuts: [usize; 2] },
}

impl Assigner {
    /// Collects the barcodes of samples.
    ///
    /// # Errors
    /// If a barcode is longer than the window or may have as many edits as letters.
    pub(crate) fn new(
        threshold: Threshold,
        options: &BarcodeOptions,
        samples: &Samples,
    ) -> Result<Assigner, Error> {
        options.validate()?;
        let mut numbers = HashMap::new();
        let mut assigner =
            Assigner { barcodes: Vec::new(), samples: Vec::new(), margin: options.margin };
        for sample in samples.all() {
            let mut number = |pattern: &Pattern| {
                let barcode = barcode(threshold, options, pattern)?;
                let next = assigner.barcodes.len();
                let number = *numbers.entry(barcode.sets.clone()).or_insert(next);
                if number == next {
                    assigner.barcodes.push(barcode);
                }
                Ok::<usize, Error>(number)
            };
            let front = number(&sample.front)?;
            let rear = sample.rear.as_ref().map(number).transpose()?;
            let rear = rear.or(options.both_ends.then_some(front));
            assigner.samples.push(SampleBarcodes { front, rear });
        }
        Ok(assigner)
    }

    /// Decides about a read from the places of all barcodes at its start, and at the start of its reverse complement.
    pub(crate) fn decide(&self, ends: [&[Place]; 2]) -> Verdict {
        let (mut best, mut second) = (None::<(usize, usize)>, usize::MAX);
        for (number, sample) in self.samples.iter().enumerate() {
            let Some((edits, is_eligible)) = self.edits(sample, ends) else { continue };
            match best {
                _ if !is_eligible => second = second.min(edits),
                Some((fewest, _)) if edits >= fewest => second = second.min(edits),
                _ => {
                    second = second.min(best.map_or(usize::MAX, |(edits, _)| edits));
                    best = Some((edits, number));
                }
            }
        }
        match best {
            None => Verdict::None,
            Some((edits, _)) if second < edits + self.margin => Verdict::Ambiguous,
            Some((edits, number)) => {
                Verdict::Sample { number, edits, cuts: self.cuts(&self.samples[number], ends) }
            }
        }
    }

    /// Returns the fewest edits of a sample in either direction of the read, and whether a direction has no barcode with
    /// more edits than allowed; if so, the fewest edits of such a direction.
    fn edits(&self, sample: &SampleBarcodes, ends: [&[Place]; 2]) -> Option<(usize, bool)> {
        let one = |end: &[Place], number: usize| {
            let edits = end[number].found()?;
            Some((edits, edits <= self.barcodes[number].edits))
        };
        let direction = |front: &[Place], rear: &[Place]| {
            let (edits, is_eligible) = one(front, sample.front)?;
            let Some(number) = sample.rear else { return Some((edits, is_eligible)) };
            let (others, is_other) = one(rear, number)?;
            Some((edits + others, is_eligible && is_other))
        };
        let both = [direction(ends[0], ends[1]), direction(ends[1], ends[0])];
        both.into_iter().flatten().min_by_key(|&(edits, is_eligible)| (!is_eligible, edits))
    }

    /// Returns the ends of the barcodes of a sample to which the read belongs.
    fn cuts(&self, sample: &SampleBarcodes, ends: [&[Place]; 2]) -> [usize; 2] {
        let place = |end: &[Place], number: usize| {
            let found = end[number].found().filter(|&edits| edits <= self.barcodes[number].edits);
            found.map(|edits| (edits, end[number].end as usize))
        };
        let Some(rear) = sample.rear else {
            return ends.map(|end| place(end, sample.front).map_or(0, |(_, cut)| cut));
        };
        let direction = |front: &[Place], back: &[Place]| {
            let (front, back) = (place(front, sample.front)?, place(back, rear)?);
            Some((front.0 + back.0, [front.1, back.1]))
        };
        let forward = direction(ends[0], ends[1]);
        let backward =
            direction(ends[1], ends[0]).map(|(edits, [front, back])| (edits, [back, front]));
        let best = [forward, backward].into_iter().flatten().min_by_key(|(edits, _)| *edits);
        best.map_or([0; 2], |(_, cuts)| cuts)
    }

    pub(crate) fn margin(&self) -> usize {
        self.margin
    }

    /// Returns the two samples that are closest, if their barcodes have at most `margin` differences, and this number.
    pub(crate) fn closest(&self) -> Option<(usize, usize, usize)> {
        let mut barcodes = self.barcodes.clone();
        barcodes.iter_mut().for_each(|one| one.rival_edits = self.margin.min(one.sets.len() - 1));
        let letters = |one: &Barcode| -> Vec<u8> {
            one.sets.iter().map(|&bases| LETTERS[usize::from(bases)]).collect()
        };
        let letters: Vec<Vec<u8>> = barcodes.iter().map(letters).collect();
        let mut finder = Finder::new(&barcodes);
        let mut places = Vec::new();
        for some in letters.chunks(WINDOWS) {
            let windows: Vec<Stretch<'_>> =
                some.iter().map(|letters| Stretch { letters, begins: true }).collect();
            finder.find(&windows);
            (0..some.len()).for_each(|window| places.extend_from_slice(finder.places(window)));
        }
        let of = |number: usize| &places[number * barcodes.len()..][..barcodes.len()];
        let nowhere = vec![Place::NONE; barcodes.len()];
        let mut best: Option<(usize, usize, usize)> = None;
        for (at, sample) in self.samples.iter().enumerate() {
            let ends = [of(sample.front), sample.rear.map_or(&nowhere[..], of)];
            for (other, barcodes) in self.samples.iter().enumerate().filter(|(other, _)| *other != at) {
                let edits = self.edits(barcodes, ends).map(|(edits, _)| edits);
                let edits = edits.filter(|&edits| edits <= self.margin);
                if let Some(edits) = edits.filter(|&edits| best.is_none_or(|one| edits < one.2)) {
                    best = Some((at.min(other), at.max(other), edits));
                }
            }
        }
        best
    }
}

/// The letter of each set of bases.
const LETTERS: &[u8; 16] = b"-ACMGRSVTWYHKDBN";

fn barcode(
    threshold: Threshold,
    options: &BarcodeOptions,
    pattern: &Pattern,
) -> Result<Barcode, Error> {
    let length = pattern.letters().len();
    let edits = threshold.edits(length);
    let problem = match length {
        _ if edits >= length => {
            format!("with {edits} edits its {length} letters match everywhere: give fewer edits (-e)")
        }
        _ if length > options.window => format!(
            "its barcode has {length} letters, more than the window of {}: give a larger `window`",
            options.window
        ),
        _ => {
            // More edits than these are never needed to know that another sample is far enough.
            let rival_edits = (edits + options.margin - 1).min(length - 1);
            return Ok(Barcode { sets: pattern.sets().to_vec(), edits, rival_edits });
        }
    };
    Err(Error::Pattern { name: pattern.name().to_owned(), problem })
}
