//! Writer of CRAM 3.0: containers of records that are encoded as differences from the reference (CRAM format
//! specification, version 3.0).
//!
//! A container has one slice. Each data series has its own block, which is compressed with gzip or rANS, whichever is
//! smaller. The mate fields of each record are stored explicitly, so that a reader returns them unchanged.
//!
//! Records that were mapped by this program are stored with the reference: the records of a slice all have the same
//! contig or all have no position. Those of other files are stored without it: all bases are in the file, and a slice
//! whose records have several contigs stores the contig of each. Such a record may have anything that BAM can have. Only
//! what CRAM itself cannot have is lost, as it is in samtools: `=` and `X` become `M`, neighbours of the same kind become
//! one operation, and unmapped reads have no CIGAR and no mapping quality.
//!
//! # Why not the writer of noodles-cram
//!
//! CRAM files are read with noodles-cram (0.102.0). Its writer is not used, for three reasons:
//!
//! - It makes the containers one after the other. They cannot be made in parallel, as the record counter of a
//!   container is private to the writer. Here all threads make containers, and the bytes do not depend on the number
//!   of threads.
//! - It writes no index. Here the CRAI grows with the file.
//! - It is slower and its file is larger. For the same 200,000 sorted records of 100 bases on E. coli (qualities of
//!   ERR1438863; November 2026, 2 cores, release builds with thin LTO), noodles-cram takes 1.16 s of CPU time from
//!   BAM records in memory and writes 7,191,525 bytes; this writer takes 0.40 s, including sorting, and writes
//!   5,940,956 bytes (`merganser map --sort`, minus the same run that writes SAM to `/dev/null`). samtools reads the
//!   same records from both files.

mod block;
mod container;
mod rans;
mod record;
mod series;

use std::io::{self, Write};
use std::sync::Arc;

use md5::{Digest, Md5};
use merganser_run::{Cancel, each_in_order};

use crate::{Contig, Error, ReadGroup};
use block::{Kind, Packer, put_block};
use container::put_header;
pub(crate) use container::{Container, Encoder, Groups, OpenContainer};
pub(crate) use record::Stored;

/// A source of the letters of a reference.
pub trait ReferenceLetters: Sync {
    /// Returns the sequences.
    fn contigs(&self) -> &[Contig];

    /// Appends `bases` letters of the contig with number `contig`, starting at base `from` (from 0).
    fn put(&self, contig: usize, from: u32, bases: u32, out: &mut Vec<u8>);
}

/// The maximum number of records of a container, the same as in samtools.
pub(crate) const GROUP: u64 = 10_000;

/// The number of letters that are passed to the checksum at a time.
const STRETCH: u32 = 1 << 16;

/// The reference and the read groups that containers refer to.
pub struct Cram<'r> {
    letters: &'r dyn ReferenceLetters,
    /// The number of each read group, by its ID.
    groups: Arc<Groups>,
    checksums: Vec<String>,
}

impl std::fmt::Debug for Cram<'_> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Cram").field("checksums", &self.checksums).finish_non_exhaustive()
    }
}

impl<'r> Cram<'r> {
    /// Prepares to write records on this reference with these read groups, and computes the checksums of the contigs.
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
        let mut cram = Cram { letters, groups: Arc::default(), checksums };
        cram.set_groups(groups);
        Ok(cram)
    }

    /// Replaces the read groups by those of the header.
    pub fn set_groups(&mut self, groups: &[ReadGroup]) {
        let ids = groups.iter().map(|group| group.id().as_bytes().to_vec());
        self.groups = Arc::new(ids.zip(0..).collect());
    }

    /// Returns the MD5 of each contig, in hexadecimal.
    pub fn checksums(&self) -> &[String] {
        &self.checksums
    }

    pub(crate) fn encoder(&self) -> Encoder<'_> {
        Encoder::new(Some(self.letters), Arc::clone(&self.groups))
    }
}

/// Computes the MD5 of each contig, in hexadecimal.
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

/// Returns the start of a file: the file definition and the container with the header's text.
pub(crate) fn head(text: &[u8]) -> Vec<u8> {
    let mut out = b"CRAM\x03\x00".to_vec();
    // The file ID: zeros, as the output must not depend on the path.
    out.extend_from_slice(&[0; 20]);
    let mut content = (text.len() as u32).to_le_bytes().to_vec();
    content.extend_from_slice(text);
    let mut block = Vec::new();
    put_block(Kind::Header, 0, &content, &mut Packer::new(), &mut block);
    put_header(&Container { blocks: 1, ..Container::default() }, block.len(), &[0], &mut out);
    out.extend_from_slice(&block);
    out
}

/// The end-of-file container.
pub const END: [u8; 38] = [
    0x0f, 0, 0, 0, 0xff, 0xff, 0xff, 0xff, 0x0f, 0xe0, 0x45, 0x4f, 0x46, 0, 0, 0, 0, 1, 0, 5, 0xbd,
    0xd9, 0x4f, 0, 1, 0, 6, 6, 1, 0, 1, 0, 1, 0, 0xee, 0x63, 1, 0x4b,
];

/// The index of a file (`.crai`), which is built while the file is written.
#[derive(Default, Debug)]
pub struct Crai(Vec<u8>);

impl Crai {
    /// Adds the next container, which begins at byte `offset` of the file.
    pub(crate) fn add(&mut self, container: &Container, offset: u64) -> io::Result<()> {
        let Container { contig, first, span, .. } = container;
        let [slice, bytes] = container.slice;
        writeln!(self.0, "{contig}\t{first}\t{span}\t{offset}\t{slice}\t{bytes}")
    }

    /// Returns the content of the index file.
    pub fn into_bytes(self) -> Vec<u8> {
        let mut out = Vec::new();
        Packer::new().gzip(&self.0, &mut out);
        out
    }
}

#[cfg(all(test, feature = "cram"))]
mod tests;
