//! The scan of the ends of reads: the best place of each barcode in each window.

use merganser_filter::Threshold;
use merganser_seq::lanes::LANES;
use merganser_seq::simd::Level;

use crate::edits::{LaneEnd, Rows};
use crate::tile::{Stretch, Tile};
use crate::{Error, Pattern};

/// A barcode or adapter as it is searched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Barcode {
    /// The set of bases of each letter.
    pub(super) sets: Vec<u8>,
    /// The maximum number of edits with which a read has it.
    pub(super) edits: usize,
    /// The maximum number of edits with which it is searched; at least `edits`.
    pub(super) searched: usize,
}

impl Barcode {
    /// Creates a barcode that is searched with `more` edits than those of the threshold.
    ///
    /// # Errors
    /// If it is longer than the window, or may have as many edits as letters.
    pub(super) fn new(
        pattern: &Pattern,
        threshold: Threshold,
        window: usize,
        more: usize,
    ) -> Result<Barcode, Error> {
        let length = pattern.letters().len();
        let edits = threshold.edits(length);
        let problem = match length {
            _ if edits >= length => format!(
                "with {edits} edits its {length} letters match everywhere: give fewer edits (`threshold`)"
            ),
            _ if length > window => {
                format!(
                    "it has {length} letters, more than the `window` of {window}: give a larger one"
                )
            }
            _ => {
                let searched = (edits + more).min(length - 1);
                return Ok(Barcode { sets: pattern.sets().to_vec(), edits, searched });
            }
        };
        Err(pattern.error(problem))
    }
}

/// The best place of a barcode in a window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Place {
    /// The fewest edits, or `u16::MAX` if the barcode was not found.
    edits: u16,
    /// The end of the last alignment with these edits.
    end: u32,
}

impl Place {
    const NONE: Place = Place { edits: u16::MAX, end: 0 };

    /// Returns the edits and the end, if the barcode was found.
    pub(super) fn found(self) -> Option<(usize, usize)> {
        (self.edits != u16::MAX).then_some((usize::from(self.edits), self.end as usize))
    }

    /// Keeps the better of two places: fewer edits, then the last end.
    fn improve(&mut self, other: Place) {
        if other.edits < self.edits || (other.edits == self.edits && other.end > self.end) {
            *self = other;
        }
    }
}

/// The maximum number of windows that are searched together.
pub(super) const WINDOWS: usize = LANES;

/// The finder of a thread.
#[derive(Debug)]
pub(super) struct Finder<'b> {
    barcodes: &'b [Barcode],
    /// The sets of bases that occur: bit s for set s.
    sets: u16,
    level: Level,
    tile: Tile,
    rows: Rows,
    ends: Vec<LaneEnd>,
    /// The places of all barcodes in the first window, then in the next one.
    places: Vec<Place>,
}

impl<'b> Finder<'b> {
    pub(super) fn new(barcodes: &'b [Barcode]) -> Finder<'b> {
        let sets = barcodes.iter().flat_map(|barcode| &barcode.sets);
        Finder {
            barcodes,
            sets: sets.fold(0, |all, &bases| all | 1 << bases),
            level: Level::best(),
            tile: Tile::default(),
            rows: Rows::default(),
            ends: Vec::new(),
            places: Vec::new(),
        }
    }

    /// Finds the barcodes in up to [`WINDOWS`] windows.
    pub(super) fn find(&mut self, windows: &[Stretch<'_>]) {
        self.tile.load(self.level, windows, self.sets, false);
        let count = self.barcodes.len();
        self.places.clear();
        self.places.resize(windows.len() * count, Place::NONE);
        for (number, Barcode { sets, searched, .. }) in self.barcodes.iter().enumerate() {
            self.ends.clear();
            self.rows.scan(self.level, &self.tile, sets, *searched, None, &mut self.ends);
            for &LaneEnd { lane, edits, column } in &self.ends {
                let lane = usize::from(lane);
                // Columns after the last letter of a window have ends, too.
                if windows.get(lane).is_some_and(|one| (column as usize) < one.letters.len()) {
                    self.places[lane * count + number].improve(Place { edits, end: column + 1 });
                }
            }
        }
    }

    /// Returns the places of all barcodes in a window.
    pub(super) fn places(&self, window: usize) -> &[Place] {
        let count = self.barcodes.len();
        &self.places[window * count..][..count]
    }
}
