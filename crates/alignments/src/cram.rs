//! CRAM 3.0: containers of records that are written as differences from the reference (CRAM format
//! specification, version 3.0).
//!
//! A container has one slice, of records of one contig, or of records without a place. Every series
//! of data has a block of its own, which is compressed as gzip or by rANS, whichever is smaller. What records say of mates is written
//! as it is, and so a reader gives them back as they were.
//!
//! # Why not the writer of noodles-cram
//!
//! The crate that reads CRAM here (noodles-cram, 0.102.0) has a writer, which is not used, for three reasons:
//!
//! - It makes containers one after the other: none can be made beside others, as the record counter of a container is
//!   private to the writer. Here all threads make containers, and the bytes are the same for any number of them.
//! - It writes no index. Here the CRAI grows with the file.
//! - It takes more time for a larger file. The same 200,000 sorted records of 100 bases on E. coli (qualities of
//!   ERR1438863; November 2026, 2 cores, release builds with thin LTO): 1.16 s of CPU and 7,191,525 bytes from records of BAM in memory with
//!   noodles-cram, 0.40 s and 5,940,956 bytes here, sorting included (`merganser map --sort` less the same run that
//!   writes SAM to `/dev/null`). samtools reads the same records from both files.

mod block;
mod container;
mod rans;
mod series;

use std::collections::HashMap;
use std::io::{self, Write};

use md5::{Digest, Md5};
use merganser_run::{Cancel, each_in_order};

use crate::{Contig, Error, ReadGroup};
use block::{Kind, Packer, put_block};
use container::put_header;
pub(crate) use container::{Container, Encoder};

/// The letters of a reference.
pub trait ReferenceLetters: Sync {
    /// The sequences.
    fn contigs(&self) -> &[Contig];

    /// Appends `bases` letters of a contig, by its number, from base `from` on, counted from 0.
    fn put(&self, contig: usize, from: u32, bases: u32, out: &mut Vec<u8>);
}

/// Letters that are looked at at a time.
const STRETCH: u32 = 1 << 16;

/// The reference and the read groups with which containers are made.
pub struct Cram<'r> {
    letters: &'r dyn ReferenceLetters,
    /// Read groups by their ID.
    groups: HashMap<Vec<u8>, i32>,
    checksums: Vec<String>,
}

impl std::fmt::Debug for Cram<'_> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Cram").field("checksums", &self.checksums).finish_non_exhaustive()
    }
}

impl<'r> Cram<'r> {
    /// Prepares for records on this reference, of these read groups, and computes the checksums of the contigs.
    ///
    /// # Errors
    /// If cancelled; if a thread cannot be started.
    pub fn new(
        letters: &'r dyn ReferenceLetters,
        groups: &[ReadGroup],
        threads: usize,
        cancel: &Cancel,
    ) -> Result<Cram<'r>, Error> {
        let checksums = checksums(letters, threads, cancel)?;
        let ids = groups.iter().map(|group| group.id().as_bytes().to_vec());
        Ok(Cram { letters, groups: ids.zip(0..).collect(), checksums })
    }

    /// The MD5 of each contig, in hexadecimal.
    pub fn checksums(&self) -> &[String] {
        &self.checksums
    }

    pub(crate) fn encoder(&self) -> Encoder<'_> {
        Encoder::new(self.letters, &self.groups)
    }
}

/// The checksum of each contig, in hexadecimal.
///
/// # Errors
/// If cancelled.
fn checksums(
    letters: &dyn ReferenceLetters,
    threads: usize,
    cancel: &Cancel,
) -> Result<Vec<String>, Error> {
    let contigs = letters.contigs();
    each_in_order(threads, 0..contigs.len(), cancel, Vec::new, |stretch, number| {
        let mut md5 = Md5::new();
        for from in (0..contigs[number].len).step_by(STRETCH as usize) {
            cancel.check()?;
            stretch.clear();
            let bases = STRETCH.min(contigs[number].len - from);
            letters.put(number, from, bases, stretch);
            md5.update(&*stretch);
        }
        Ok(md5.finalize().iter().map(|byte| format!("{byte:02x}")).collect())
    })
}

/// Returns the beginning of a file: the definition of its format, and the header's text.
pub(crate) fn head(text: &str) -> Vec<u8> {
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
pub const END: [u8; 38] = [
    0x0f, 0, 0, 0, 0xff, 0xff, 0xff, 0xff, 0x0f, 0xe0, 0x45, 0x4f, 0x46, 0, 0, 0, 0, 1, 0, 5, 0xbd,
    0xd9, 0x4f, 0, 1, 0, 6, 6, 1, 0, 1, 0, 1, 0, 0xee, 0x63, 1, 0x4b,
];

/// The index of a file (`.crai`), which grows with it.
#[derive(Default, Debug)]
pub struct Crai(Vec<u8>);

impl Crai {
    /// Adds the next container, which begins at `offset` in the file.
    pub(crate) fn add(&mut self, container: &Container, offset: u64) -> io::Result<()> {
        let Container { contig, first, span, .. } = container;
        let [slice, bytes] = container.slice;
        writeln!(self.0, "{contig}\t{first}\t{span}\t{offset}\t{slice}\t{bytes}")
    }

    /// The index as its file has it.
    pub fn into_bytes(self) -> Vec<u8> {
        let mut out = Vec::new();
        Packer::new().gzip(&self.0, &mut out);
        out
    }
}
