//! CRAM 3.0: containers of records that are written as differences from the reference (CRAM format
//! specification, version 3.0).
//!
//! A container has one slice, of records of one contig, or of records without a place. Every series
//! of data has a block of its own, which is compressed as gzip or by rANS, whichever is smaller. What records say of mates is written
//! as it is, and so a reader gives them back as they were.

mod block;
mod container;
mod letters;
mod rans;
mod series;

use std::collections::HashMap;
use std::io::{self, Write};
use std::path::Path;

use merganser_run::Cancel;

use crate::{Config, Error, Index};
use block::{Kind, Packer, put_block};
use container::put_header;
pub(super) use container::{Container, Encoder};
use letters::Letters;

/// What containers are made with.
pub(crate) struct Cram<'r> {
    letters: Letters<'r>,
    /// Read groups by their ID.
    groups: HashMap<Vec<u8>, i32>,
    /// The checksums of the contigs.
    pub(super) checksums: Vec<String>,
}

impl<'r> Cram<'r> {
    /// Of an index's reference, which is in the FASTA file, too.
    ///
    /// # Errors
    /// If that file is needed and not given, cannot be read, or has other sequences; if cancelled.
    pub(crate) fn new(
        config: &Config,
        index: &'r Index,
        fasta: Option<&Path>,
        threads: usize,
        cancel: &Cancel,
    ) -> Result<Cram<'r>, Error> {
        let letters = Letters::new(index, fasta, cancel)?;
        let checksums = letters.checksums(threads, cancel)?;
        let ids = config.read_groups.iter().map(|group| group.id().as_bytes().to_vec());
        Ok(Cram { letters, groups: ids.zip(0..).collect(), checksums })
    }

    pub(super) fn encoder(&self) -> Encoder<'_> {
        Encoder::new(&self.letters, &self.groups)
    }
}

/// What the file begins with: the definition of its format, and the header's text.
pub(super) fn head(text: &str) -> Vec<u8> {
    let mut out = b"CRAM\x03\x00".to_vec();
    // The file's name, which must not depend on where it is.
    out.extend_from_slice(&[0; 20]);
    let mut content = (text.len() as u32).to_le_bytes().to_vec();
    content.extend_from_slice(text.as_bytes());
    let mut block = Vec::new();
    put_block(Kind::Header, 0, &content, &mut Packer::new(), &mut block);
    put_header(&Container { blocks: 1, ..Container::default() }, block.len(), &[0], &mut out);
    out.extend_from_slice(&block);
    out
}

/// The container that ends a file.
pub(super) const END: [u8; 38] = [
    0x0f, 0, 0, 0, 0xff, 0xff, 0xff, 0xff, 0x0f, 0xe0, 0x45, 0x4f, 0x46, 0, 0, 0, 0, 1, 0, 5, 0xbd,
    0xd9, 0x4f, 0, 1, 0, 6, 6, 1, 0, 1, 0, 1, 0, 0xee, 0x63, 1, 0x4b,
];

/// The index of a file (`.crai`), which grows with it.
#[derive(Default)]
pub(crate) struct Crai(Vec<u8>);

impl Crai {
    /// Adds the next container, which begins at `offset` in the file.
    pub(super) fn add(&mut self, container: &Container, offset: u64) -> io::Result<()> {
        let Container { contig, first, span, .. } = container;
        let [slice, bytes] = container.slice;
        writeln!(self.0, "{contig}\t{first}\t{span}\t{offset}\t{slice}\t{bytes}")
    }

    /// The index as its file has it.
    pub(super) fn into_bytes(self) -> Vec<u8> {
        let mut out = Vec::new();
        Packer::new().gzip(&self.0, &mut out);
        out
    }
}
