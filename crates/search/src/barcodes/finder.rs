//! The scan of the ends of reads: the best place of each barcode in each window.

use merganser_seq::lanes::LANES;
use merganser_seq::simd::Level;

use crate::edits::{LaneEnd, Rows};
use crate::tile::{Stretch, Tile};

/// A barcode as it is searched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Barcode {
    /// The set of bases of each letter.
    pub(crate) sets: Vec<u8>,
    /// The maximum number of edits with which a sample may have it.
    pub(crate) edits: usize,
    /// The maximum number of edits with which it makes a read ambiguous; at least `edits`.
    pub(crate) rival_edits: usize,
}

/// The best place of a barcode in a window. Places are compared by edits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    /// The fewest edits, or `u16::MAX` if there are more than `rival_edits`.
    pub(crate) edits: u16,
    /// The end of the last alignment with these edits.
    pub(crate) end: u32,
}

impl Place {
    pub(crate) const NONE: Place = Place { edits: u16::MAX, end: 0 };

    /// Returns the edits, if the barcode is there.
    pub(crate) fn found(self) -> Option<usize> {
        (self.edits != u16::MAX).then_some(usize::from(self.edits))
    }
}

/// The maximum number of windows that are scanned together.
pub(crate) const WINDOWS: usize = LANES;

/// The finder of a thread.
#[derive(Debug)]
pub(crate) struct Finder<'b> {
    barcodes: &'b [Barcode],
    /// The sets of bases that occur: bit s for set s.
    sets: u16,
    level: Level,
    tile: Tile,
    rows: Rows,
    found: Vec<LaneEnd>,
    /// The places of all barcodes in the first window, then in the next one.
    places: Vec<Place>,
}

impl<'b> Finder<'b> {
    pub(crate) fn new(barcodes: &'b [Barcode]) -> Finder<'b> {
        let sets = barcodes.iter().flat_map(|barcode| &barcode.sets);
        Finder {
            barcodes,
            sets: sets.fold(0, |all, &bases| all | 1 << bases),
            level: Level::best(),
            tile: Tile::default(),
            rows: Rows::default(),
            found: Vec::new(),
            places: Vec::new(),
        }
    }

    /// Finds the barcodes in up to [`WINDOWS`] windows.
    pub(crate) fn find(&mut self, windows: &[Stretch<'_>]) {
        self.tile.load(self.level, windows, self.sets, false);
        let count = self.barcodes.len();
        self.places.clear();
        self.places.resize(windows.len() * count, Place::NONE);
        for (number, barcode) in self.barcodes.iter().enumerate() {
            self.found.clear();
            let (sets, most) = (&barcode.sets, barcode.rival_edits);
            self.rows.scan(self.level, &self.tile, sets, most, None, &mut self.found);
            for &LaneEnd { lane, edits, column } in &self.found {
                let lane = usize::from(lane);
                let Some(window) = windows.get(lane) else { continue };
                let place = &mut self.places[lane * count + number];
                // Ends are in the order of columns, so the last one of the best is kept.
                if (column as usize) < window.letters.len() && edits <= place.edits {
                    *place = Place { edits, end: column + 1 };
                }
            }
        }
    }

    /// Returns the places of all barcodes in a window.
    pub(crate) fn places(&self, window: usize) -> &[Place] {
        let count = self.barcodes.len();
        &self.places[window * count..][..count]
    }
}
