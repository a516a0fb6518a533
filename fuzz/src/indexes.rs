//! Indexes of a reference: made once, changed, and mapped with.

use std::ops::Range;
use std::path::Path;
use std::sync::OnceLock;

use merganser_filter::{NMode, Threshold};
use merganser_io::{AtomicFile, Input};
use merganser_map::{Config, Index, MOST_READ, build, map_reads};
use merganser_run::{Cancel, Silent};

use crate::databases::{letters, resources};
use crate::files::{folder, write};

/// Sections of a file, each with its start, length and checksum in the header from byte 24 on.
const SECTIONS: usize = 6;
/// The checksum of the header stands at its end.
const HEADER: usize = 24 + 24 * SECTIONS + 12;

/// An index of two contigs, one with letters that are no bases.
pub fn sound() -> &'static [u8] {
    static BYTES: OnceLock<Vec<u8>> = OnceLock::new();
    BYTES.get_or_init(|| {
        let folder = folder();
        let [fasta, index] = ["r.fa", "r.mgi"].map(|name| folder.path().join(name));
        let text =
            format!(">a\n{}NNNN{}\n>b\n{}\n", letters(90, 1), letters(60, 2), letters(70, 1));
        write(&fasta, text);
        let file = AtomicFile::create(&index).expect("a temporary file");
        let (resources, cancel) = (resources(), Cancel::default());
        build(&resources, &Input::File(fasta), Some(file), &Silent, &cancel).expect("an index");
        std::fs::read(index).expect("the index")
    })
}

/// The header and the sections of the sound index, the small ones among them.
pub fn pieces() -> Vec<Range<usize>> {
    let bytes = sound();
    let section = |number| place(bytes, number).expect("a sound index");
    std::iter::once(0..HEADER).chain((0..SECTIONS).map(section)).collect()
}

fn place(bytes: &[u8], section: usize) -> Option<Range<usize>> {
    let number = |at: usize| {
        let bytes = bytes.get(at..at + 8)?.first_chunk().copied()?;
        usize::try_from(u64::from_le_bytes(bytes)).ok()
    };
    let (start, length) = (number(24 + 24 * section)?, number(32 + 24 * section)?);
    let end = start.checked_add(length).filter(|&end| end <= bytes.len())?;
    Some(start..end)
}

/// Makes the checksums of a changed index right, and its length.
pub fn mend(bytes: &mut [u8]) {
    if bytes.len() < HEADER {
        return;
    }
    for section in 0..SECTIONS {
        if let Some(place) = place(bytes, section) {
            let checksum = crc32fast::hash(&bytes[place]).to_le_bytes();
            bytes[40 + 24 * section..][..4].copy_from_slice(&checksum);
        }
    }
    let length = (bytes.len() as u64).to_le_bytes();
    bytes[HEADER - 12..HEADER - 4].copy_from_slice(&length);
    let checksum = crc32fast::hash(&bytes[..HEADER - 4]).to_le_bytes();
    bytes[HEADER - 4..HEADER].copy_from_slice(&checksum);
}

/// Opens an index and maps reads with it, none of which may panic; whether it is sound.
pub fn walk(path: &Path) -> bool {
    let Ok(index) = Index::open(path) else { return false };
    let cancel = Cancel::default();
    let sound = index.check(1, &cancel).is_ok();
    let reads = [letters(40, 1), letters(30, 2), "ACGTNNACGTTTT".to_owned()];
    let reads: Vec<&[u8]> = reads.iter().map(String::as_bytes).collect();
    for mode in [NMode::Mismatch, NMode::Match] {
        let config = Config::new(Threshold::Edits(2)).n_mode(mode);
        match map_reads(&config, &index, &reads, &cancel) {
            Err(error) => assert!(!sound, "{error}"),
            Ok(hits) => {
                assert!(sound && hits.len() == reads.len());
                for hit in hits.iter().flatten() {
                    let contig = &index.contigs()[hit.contig];
                    assert!(hit.position <= contig.len && hit.cigar.len() <= MOST_READ);
                }
            }
        }
    }
    sound
}
