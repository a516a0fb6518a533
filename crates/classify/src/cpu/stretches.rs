//! Sketches stretches of references, window by window.

use crate::Sketcher;
use crate::entries::Entries;
use crate::params::Params;

/// Sketches `stretches`, each given as its letters and the number of windows to sketch, and adds their features to
/// `entries`. Windows are numbered from `first` on.
pub(crate) fn sketch<'t>(
    params: &Params,
    first: u32,
    stretches: impl Iterator<Item = (&'t [u8], usize)>,
    sketcher: &mut Sketcher,
    entries: &mut Entries,
) {
    let mut number = first;
    let mut features = Vec::new();
    for (letters, windows) in stretches.filter(|stretch| stretch.1 > 0) {
        sketcher.load(letters);
        for window in 0..windows {
            let start = window * params.stride as usize;
            let end = (start + params.window as usize).min(letters.len());
            features.clear();
            sketcher.sketch(start, end, &mut features);
            features.iter().for_each(|&feature| entries.push(feature, number));
            number += 1;
        }
    }
}
