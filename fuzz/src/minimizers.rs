//! Minimizer sets: written in both formats, changed, and read in both ways.

use std::path::Path;

use merganser_deplete::{Format, MinimizerLookup, MinimizerSet, Params, describe, read, write};
use merganser_io::AtomicFile;

use crate::databases::context;
pub use crate::mend::minimizers as mend;

/// Returns a Deacon file of these minimizers, reduced to the bits of `k` bases.
pub fn deacon(k: usize, w: usize, minimizers: &[u128]) -> Vec<u8> {
    let mut bytes = vec![3, k as u8, w as u8];
    bytes.extend((minimizers.len() as u64).to_le_bytes());
    for minimizer in minimizers {
        let fitting = minimizer & (u128::MAX >> (128 - 2 * k));
        bytes.extend_from_slice(&fitting.to_le_bytes()[..k.div_ceil(4)]);
    }
    bytes
}

/// Reads a set in both ways, which must agree and must not panic.
pub fn walk(path: &Path) -> Option<MinimizerSet> {
    let context = context();
    let set = read(path, &context, 0);
    let host = MinimizerLookup::read(path, &context);
    assert_eq!(set.is_ok(), host.is_ok(), "{set:?}");
    let (set, host) = (set.ok()?, host.ok()?);
    let description = describe(path).expect("the same file");
    assert!(set.len() as u64 <= description.count && set.params() == description.params);
    assert_eq!(set.len(), host.len());
    assert!(set.values().all(|value| host.contains(value)));
    Some(set)
}

/// Writes a set.
pub fn write_set(set: &MinimizerSet, format: Format, path: &Path) {
    let file = AtomicFile::create(path).expect("a temporary file");
    write(set, format, 1, file).expect("writing to memory");
}

/// Whether minimizers can have this `k` and `w`.
pub fn are_legal(k: usize, w: usize) -> bool {
    Params::new(k, w).is_ok()
}
