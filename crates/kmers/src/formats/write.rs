//! The traits for writing tables: any worker encodes parts, which are written in ascending order.

use std::iter;
use std::time::Duration;

use merganser_run::InOrderSink;
use merganser_seq::kmer::Kmer;

use super::mgk::Header;
use super::mgk::{Coded, MAX_PER_BLOCK, decode};
use crate::{Error, Histogram};

/// Encodes sorted k-mers of a section, or of a part of one, independently of all others.
pub trait Encoder<K>: Sync {
    /// An encoded part.
    type Encoded: Send;
    /// The unit of parts: if a section is divided, the number of k-mers in each part except the last one is a
    /// multiple of this.
    const UNIT: usize = 1;
    /// Encodes all k-mers of a section, or the first ones.
    fn encode(&self, kmers: &[(K, u32)]) -> Self::Encoded;
    /// Encodes further k-mers of a section, like [`Encoder::encode`].
    fn encode_more(&self, kmers: &[(K, u32)]) -> Self::Encoded {
        self.encode(kmers)
    }
    /// Encodes a section whose k-mers are given as blocks of a table, like [`Encoder::encode`].
    fn encode_blocks(&self, blocks: &MgkBlocks<'_, K>) -> Self::Encoded
    where
        K: Kmer,
    {
        self.encode(&blocks.decode())
    }
}

/// The encoding of sections whose k-mers come in stretches, one section after the other.
pub struct EncodedSection<'e, K, E> {
    encoder: &'e E,
    /// The k-mers of earlier stretches that do not fill a unit of the encoder.
    open: Vec<(K, u32)>,
    /// Whether a part of the section has been encoded.
    begun: bool,
}

impl<'e, K: Kmer, E: Encoder<K>> EncodedSection<'e, K, E> {
    /// Begins a section.
    pub fn new(encoder: &'e E) -> Self {
        EncodedSection { encoder, open: Vec::new(), begun: false }
    }

    /// Passes the encoded parts of the next k-mers of a section to `take`, each with the number of its k-mers and whether it
    /// ends the section: the last part of the `last` k-mers does. Other k-mers may have no part yet.
    pub fn add(
        &mut self,
        mut kmers: &[(K, u32)],
        last: bool,
        mut take: impl FnMut(E::Encoded, usize, bool),
    ) {
        if !self.open.is_empty() {
            let (more, rest) = kmers.split_at(kmers.len().min(E::UNIT - self.open.len()));
            self.open.extend_from_slice(more);
            kmers = rest;
            if self.open.len() < E::UNIT && !last {
                return;
            }
            let (unit, ends) = (std::mem::take(&mut self.open), last && kmers.is_empty());
            take(self.encode(&unit, ends), unit.len(), ends);
            if ends {
                return;
            }
        }
        let whole = if last { kmers.len() } else { kmers.len() / E::UNIT * E::UNIT };
        let (whole, open) = kmers.split_at(whole);
        self.open.extend_from_slice(open);
        if last || !whole.is_empty() {
            take(self.encode(whole, last), whole.len(), last);
        }
    }

    fn encode(&mut self, kmers: &[(K, u32)], ends: bool) -> E::Encoded {
        match std::mem::replace(&mut self.begun, !ends) {
            false => self.encoder.encode(kmers),
            true => self.encoder.encode_more(kmers),
        }
    }
}

/// The k-mers of a section as encoded blocks of a [`TableFormat::Mgk`](super::TableFormat::Mgk) table, for
/// callers that encode blocks themselves. All blocks except the last one have 256 k-mers.
pub struct MgkBlocks<'b, K> {
    /// The blocks, followed by at least 8 other bytes.
    pub bytes: &'b [u8],
    /// The first k-mer of each block, and the end of the block in `bytes`.
    pub blocks: Vec<(K, usize)>,
    /// The number of k-mers in all blocks.
    pub kmers: usize,
}

impl<K: Kmer> MgkBlocks<'_, K> {
    /// Returns each block with its first k-mer and its number of k-mers.
    pub(crate) fn each(&self) -> impl Iterator<Item = Coded<'_, K>> {
        let starts = iter::once(0).chain(self.blocks.iter().map(|&(_, end)| end));
        starts.zip(&self.blocks).enumerate().map(|(number, (start, &(first, end)))| Coded {
            bytes: &self.bytes[start..],
            len: end - start,
            first,
            kmers: MAX_PER_BLOCK.min(self.kmers - number * MAX_PER_BLOCK),
        })
    }

    /// Decodes the k-mers with their counts, in ascending order.
    fn decode(&self) -> Vec<(K, u32)> {
        let mut kmers = Vec::with_capacity(self.kmers);
        let whole = self.each().all(|block| decode([block], &mut kmers));
        assert!(whole, "these blocks were just encoded");
        kmers
    }
}

/// Takes the encoded parts in the order of their k-mers; there is at least one part, possibly empty, for each
/// section.
pub trait Sink<P>: Send {
    /// Writes the next part.
    ///
    /// # Errors
    /// If it cannot be written.
    fn write(&mut self, part: P) -> Result<(), Error>;
    /// Sets the numbers that are known only when all parts are written.
    fn totals(&mut self, _totals: &Totals) {}
    /// Sets the histogram of a range of k-mers before any cut.
    fn uncut(&mut self, _histogram: &Histogram) {}
    /// Ends the output and makes it appear; returns the time that the disk took to sync it.
    ///
    /// # Errors
    /// If it cannot be written.
    fn finish(self) -> Result<Duration, Error>;
}

/// The numbers of a complete table, as in its [`Header`].
#[derive(Clone, Copy, Debug, Default)]
pub struct Totals {
    /// The number of distinct k-mers in the table.
    pub kmers: u64,
    /// The sum of their counts.
    pub occurrences: u64,
    /// The largest count in the table.
    pub largest_count: u32,
    /// The number of k-mers of the input, before any cut.
    pub total_kmers: u64,
    /// The number of distinct k-mers of the input, before any cut.
    pub distinct_kmers: u64,
    /// Whether a count exceeds `u32::MAX` and was set to it.
    pub saturated: bool,
}

impl Totals {
    pub(crate) fn put(&self, header: &mut Header) {
        header.kmers = self.kmers;
        header.occurrences = self.occurrences;
        header.largest_count = self.largest_count;
        header.total_kmers = self.total_kmers;
        header.distinct_kmers = self.distinct_kmers;
        header.saturated = self.saturated;
    }
}

/// A sink that receives parts from several workers, in ascending order.
pub(crate) struct Ordered<S>(pub(crate) S);

impl<P, S: Sink<P>> InOrderSink<P> for Ordered<S> {
    type Error = Error;

    fn write(&mut self, part: P) -> Result<Option<P>, Error> {
        self.0.write(part).map(|()| None)
    }
}

/// Code that writes a table with an encoder and a sink of any format.
pub trait Writing<K> {
    /// The result of writing.
    type Written;
    /// The error of writing.
    type Error: From<Error>;
    /// Makes the table: encodes its k-mers, passes them to the sink in ascending order, and finishes the sink.
    ///
    /// # Errors
    /// If the sink fails, or the table cannot be made.
    fn write<E: Encoder<K>, S: Sink<E::Encoded>>(
        self,
        encoder: &E,
        sink: S,
    ) -> Result<Self::Written, Self::Error>;
}
