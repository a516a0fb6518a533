//! Sets of minimizers: written in both formats, changed, and read in both ways.

use std::path::Path;

use merganser_deplete::{Format, Host, MinimizerSet, Params, describe, read, write};
use merganser_io::AtomicFile;
use merganser_run::Cancel;

use crate::databases::resources;

/// Sections of an `.mgd`, and bytes of its header before their directory.
const SECTIONS: usize = 256;
const HEADER: usize = 32;
/// Where the sections begin, behind a checksum.
const BLOCKS: usize = HEADER + 16 * SECTIONS + 4;
/// Numbers of a block.
const BLOCK: usize = 256;

/// A file of Deacon, of these minimizers as far as they fit into `k` bases.
pub fn deacon(k: usize, w: usize, minimizers: &[u64]) -> Vec<u8> {
    let mut bytes = vec![3, k as u8, w as u8];
    bytes.extend((minimizers.len() as u64).to_le_bytes());
    for minimizer in minimizers {
        let fitting = minimizer & (u64::MAX >> (64 - 2 * k));
        bytes.extend_from_slice(&fitting.to_le_bytes()[..k.div_ceil(4)]);
    }
    bytes
}

/// Reads a set in both ways, which must find the same, and neither of which may panic.
pub fn walk(path: &Path) -> Option<MinimizerSet> {
    let (resources, cancel) = (resources(), Cancel::default());
    let set = read(path, &resources, 0, &cancel);
    let host = Host::read(path, &resources, &cancel);
    assert_eq!(set.is_ok(), host.is_ok(), "{set:?}");
    let (set, host) = (set.ok()?, host.ok()?);
    let description = describe(path).expect("what was read");
    assert!(set.len() as u64 <= description.count && set.params() == description.params);
    assert_eq!(set.len(), host.len());
    assert!(set.values().all(|value| host.contains(value)));
    Some(set)
}

/// Writes a set.
pub fn write_set(set: &MinimizerSet, format: Format, path: &Path) {
    let file = AtomicFile::create(path).expect("a temporary file");
    write(set, format, 1, file).expect("memory takes it");
}

/// Whether there are such minimizers.
pub fn are_legal(k: usize, w: usize) -> bool {
    Params::new(k, w).is_ok()
}

/// Makes the checksums of a changed `.mgd` right, and its length.
pub fn mend(bytes: &mut [u8]) {
    if bytes.len() < BLOCKS {
        return;
    }
    let length = bytes.len() as u64;
    bytes[HEADER - 8..HEADER].copy_from_slice(&length.to_le_bytes());
    let checksum = crc32fast::hash(&bytes[..BLOCKS - 4]).to_le_bytes();
    bytes[BLOCKS - 4..BLOCKS].copy_from_slice(&checksum);
    let mut start = BLOCKS;
    for section in 0..SECTIONS {
        let number = |at: usize| {
            let at = HEADER + 16 * section + at;
            u64::from_le_bytes(*bytes[at..].first_chunk().expect("a directory")) as usize
        };
        let (mut left, length) = (number(0), number(8));
        let Some(end) = start.checked_add(length).filter(|&end| end <= bytes.len()) else { return };
        let mut at = start;
        while left > 0 && at < end {
            let width = usize::from(bytes[at]);
            let checked = at + 1 + (left.min(BLOCK) * width).div_ceil(8);
            if checked + 4 > end {
                break;
            }
            let checksum = crc32fast::hash(&bytes[at..checked]).to_le_bytes();
            bytes[checked..checked + 4].copy_from_slice(&checksum);
            left -= left.min(BLOCK);
            at = checked + 4;
        }
        start = end;
    }
}
