//! Sketching a reference: stretches of it, window by window.

use crate::Sketcher;
use crate::entries::Entries;
use crate::params::Params;

/// Adds to `entries` the features of the first so many windows of each of the `stretches`, which are
/// numbered from `first` on.
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
