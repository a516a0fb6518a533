//! Writes `.mgk` tables: any worker encodes sections, which are written in ascending order.

use std::io::Write;
use std::time::Duration;

use merganser_io::AtomicFile;
use merganser_seq::kmer::Kmer;

use super::block;
use super::header::{self, Header};
use super::index::Entry;
use super::piece::{Piece, PieceKind};
use crate::formats::{Encoder, MgkBlocks, Sink, Totals};
use crate::{Error, Histogram};

/// Encodes sections: k-mers that share their first `section_bits` bits.
pub(crate) struct MgkFormat;

/// An encoded section, or a part of one; the offsets of its entries are relative to its start.
pub(crate) struct Section<K> {
    /// Whether it continues the section of the previous part.
    goes_on: bool,
    blocks: Vec<u8>,
    entries: Vec<Entry<K>>,
}

impl<K: Kmer> Encoder<K> for MgkFormat {
    type Encoded = Section<K>;
    const UNIT: usize = block::MAX;

    fn encode(&self, kmers: &[(K, u32)]) -> Section<K> {
        // Most k-mers take less, so the buffer is rarely reallocated.
        let blocks = Vec::with_capacity(6 * kmers.len());
        let entries = Vec::with_capacity(kmers.len().div_ceil(block::MAX));
        let mut section = Section { goes_on: false, blocks, entries };
        for kmers in kmers.chunks(block::MAX) {
            let start = section.blocks.len();
            block::encode(kmers, &mut section.blocks);
            section.entries.push(Entry {
                first: kmers[0].0,
                offset: start as u64,
                len: kmers.len() as u16,
                crc: crc32fast::hash(&section.blocks[start..]),
            });
        }
        section
    }

    fn encode_blocks(&self, blocks: &MgkBlocks<'_, K>) -> Section<K> {
        let mut start = 0;
        let entries = blocks.each().map(|block| {
            let offset = start as u64;
            start += block.len;
            let crc = crc32fast::hash(&block.bytes[..block.len]);
            Entry { first: block.first, offset, len: block.kmers as u16, crc }
        });
        let entries = entries.collect();
        Section { goes_on: false, blocks: blocks.bytes[..start].to_vec(), entries }
    }

    fn encode_more(&self, kmers: &[(K, u32)]) -> Section<K> {
        Section { goes_on: true, ..self.encode(kmers) }
    }
}

/// Writes the sections one after the other, then the index, the section table and the header.
pub(crate) struct MgkSink {
    file: AtomicFile,
    header: Header,
    index: Vec<u8>,
    /// The number of the first block of each section.
    sections: Vec<u64>,
    /// The encoded histogram before any cut, for a range of k-mers.
    uncut: Vec<u8>,
}

impl MgkSink {
    /// Creates a sink for a table with this header; numbers that are known only at the end are filled in then.
    pub(crate) fn new(mut file: AtomicFile, header: Header) -> Result<MgkSink, Error> {
        let place = [0; header::BYTES];
        file.write_all(&place)?;
        Ok(MgkSink { file, header, index: Vec::new(), sections: Vec::new(), uncut: Vec::new() })
    }
}

impl<K: Kmer> Sink<Section<K>> for MgkSink {
    fn write(&mut self, part: Section<K>) -> Result<(), Error> {
        let start = self.file.position();
        if !part.goes_on {
            self.sections.push(self.header.blocks);
        }
        for entry in &part.entries {
            let entry = Entry { offset: start + entry.offset, ..*entry };
            entry.store(self.header.k, &mut self.index);
        }
        self.header.blocks += part.entries.len() as u64;
        self.file.write_all(&part.blocks)?;
        Ok(())
    }

    fn totals(&mut self, totals: &Totals) {
        totals.put(&mut self.header);
    }

    fn uncut(&mut self, histogram: &Histogram) {
        let is_range = |piece: Piece| piece.kind == PieceKind::Range;
        if !self.header.piece.is_some_and(is_range) {
            return;
        }
        for (count, number) in histogram.iter() {
            self.uncut.extend_from_slice(&count.to_le_bytes());
            self.uncut.extend_from_slice(&number.to_le_bytes());
        }
    }

    fn finish(mut self) -> Result<Duration, Error> {
        self.header.index_offset = self.file.position();
        self.header.sections_offset = self.header.index_offset + self.index.len() as u64;
        self.sections.push(self.header.blocks);
        self.index.extend(self.sections.iter().flat_map(|section| section.to_le_bytes()));
        self.index.append(&mut self.uncut);
        self.header.file_bytes = self.header.index_offset + self.index.len() as u64;
        self.header.index_crc = crc32fast::hash(&self.index);
        self.file.write_all(&self.index)?;
        self.file.patch(0, &self.header.to_bytes())?;
        Ok(self.file.commit()?)
    }
}
