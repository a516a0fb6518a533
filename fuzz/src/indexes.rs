//! Indexes of a reference: built once, changed, and used for mapping.

use std::ops::Range;
use std::path::Path;
use std::sync::OnceLock;

use merganser_filter::{NMode, Threshold};
use merganser_io::{AtomicFile, Input};
use merganser_map::{Config, Index, MAX_READ, Topology, build_with, run_in_memory};
use merganser_run::Cancel;

use crate::databases::{letters, context};
use crate::files::{folder, write};
pub use crate::mend::index as mend;
use crate::mend::{INDEX_HEADER, INDEX_SECTIONS, index_section};

/// Returns an index of two contigs, one of which has letters that are not bases.
pub fn sound() -> &'static [u8] {
    static BYTES: OnceLock<Vec<u8>> = OnceLock::new();
    BYTES.get_or_init(|| {
        let folder = folder();
        let [fasta, index] = ["r.fa", "r.mgi"].map(|name| folder.path().join(name));
        let text =
            format!(">a\n{}NNNN{}\n>b\n{}\n", letters(90, 1), letters(60, 2), letters(70, 1));
        write(&fasta, text);
        let file = AtomicFile::create(&index).expect("a temporary file");
        let context = context();
        build_with(&Input::File(fasta), &Topology::Stated, Some(file), &context).expect("an index");
        std::fs::read(index).expect("the index")
    })
}

/// Returns the byte ranges of the header and the sections of the sound index, including the small ones.
pub fn pieces() -> Vec<Range<usize>> {
    let bytes = sound();
    let section = |number| index_section(bytes, number).expect("a sound index");
    std::iter::once(0..INDEX_HEADER).chain((0..INDEX_SECTIONS).map(section)).collect()
}

/// Opens an index and maps reads with it; returns whether it is sound. None of these may panic.
pub fn walk(path: &Path) -> bool {
    let Ok(index) = Index::open(path) else { return false };
    let sound = index.check(1, &Cancel::default()).is_ok();
    let reads = [letters(40, 1), letters(30, 2), "ACGTNNACGTTTT".to_owned()];
    let reads: Vec<&[u8]> = reads.iter().map(String::as_bytes).collect();
    for mode in [NMode::Mismatch, NMode::Match] {
        let config = Config { n_mode: mode, ..Config::new(Threshold::Edits(2)) };
        match run_in_memory(&config, &index, &reads, &context()) {
            Err(error) => assert!(!sound, "{error}"),
            Ok(hits) => {
                assert!(sound && hits.len() == reads.len());
                for hit in hits.iter().flatten() {
                    let contig = &index.contigs()[hit.contig];
                    assert!(hit.position <= contig.len && hit.cigar.len() <= MAX_READ);
                }
            }
        }
    }
    sound
}
