//! How a table comes to its file: encoded by any worker, written in order.

use std::iter;
use std::time::Duration;

use merganser_run::InOrderSink;
use merganser_seq::kmer::Kmer;

use super::mgk::Header;
use super::mgk::{Coded, MAX_PER_BLOCK, decode};
use crate::{Error, Histogram};

/// Turns a stretch of sorted k-mers into bytes, independently of all others.
pub trait Encoder<K>: Sync {
    /// An encoded stretch.
    type Encoded: Send;
    /// k-mers of which the parts of a divided section, the last one apart, have a multiple.
    const UNIT: usize = 1;
    /// Encodes all k-mers of a section, or the first ones.
    fn encode(&self, kmers: &[(K, u32)]) -> Self::Encoded;
    /// As [`Encoder::encode`], of k-mers that go on with the section before.
    fn encode_more(&self, kmers: &[(K, u32)]) -> Self::Encoded {
        self.encode(kmers)
    }
    /// As [`Encoder::encode`], of a section whose k-mers come as blocks of a table.
    fn encode_blocks(&self, blocks: &MgkBlocks<'_, K>) -> Self::Encoded
    where
        K: Kmer,
    {
        self.encode(&blocks.decode())
    }
}

/// The k-mers of a section as blocks of a [`TableFormat::Mgk`](super::TableFormat::Mgk) table, each of
/// 256 k-mers but the last one, as who can make blocks themselves have them.
pub struct MgkBlocks<'b, K> {
    /// The blocks, and 8 bytes or more behind them.
    pub bytes: &'b [u8],
    /// Of each block its first k-mer, and where it ends in `bytes`.
    pub blocks: Vec<(K, usize)>,
    /// k-mers of all blocks.
    pub kmers: usize,
}

impl<K: Kmer> MgkBlocks<'_, K> {
    /// Each block with what is known of it.
    pub(crate) fn each(&self) -> impl Iterator<Item = Coded<'_, K>> {
        let starts = iter::once(0).chain(self.blocks.iter().map(|&(_, end)| end));
        starts.zip(&self.blocks).enumerate().map(|(number, (start, &(first, end)))| Coded {
            bytes: &self.bytes[start..],
            len: end - start,
            first,
            kmers: MAX_PER_BLOCK.min(self.kmers - number * MAX_PER_BLOCK),
        })
    }

    /// The k-mers with their counts, in order.
    fn decode(&self) -> Vec<(K, u32)> {
        let mut kmers = Vec::with_capacity(self.kmers);
        let whole = self.each().all(|block| decode([block], &mut kmers));
        assert!(whole, "these blocks were just encoded");
        kmers
    }
}

/// Takes encoded stretches in the order of their k-mers, one for each section, empty ones too.
pub trait Sink<P>: Send {
    /// Takes the next one.
    ///
    /// # Errors
    /// If it cannot be written.
    fn write(&mut self, part: P) -> Result<(), Error>;
    /// What is known only when all is written, for who begins without knowing it.
    fn totals(&mut self, _totals: &Totals) {}
    /// Of a range of k-mers, how many of them occurred how often before any cut.
    fn uncut(&mut self, _histogram: &Histogram) {}
    /// Ends the output and makes it appear; returns the time the disk took to confirm.
    ///
    /// # Errors
    /// If it cannot be written.
    fn finish(self) -> Result<Duration, Error>;
}

/// The numbers of a whole table, as [`Header`] has them.
#[derive(Clone, Copy, Debug, Default)]
pub struct Totals {
    /// Distinct k-mers in the table.
    pub kmers: u64,
    /// The sum of their counts.
    pub occurrences: u64,
    /// The largest count in the table.
    pub largest_count: u32,
    /// k-mers of the input, before any cut.
    pub total_kmers: u64,
    /// Distinct k-mers of the input, before any cut.
    pub distinct_kmers: u64,
    /// Some count is larger than `u32::MAX` and stands as that.
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

/// A sink whose parts come from several workers.
pub(crate) struct Ordered<S>(pub(crate) S);

impl<P, S: Sink<P>> InOrderSink<P> for Ordered<S> {
    type Error = Error;

    fn write(&mut self, part: P) -> Result<Option<P>, Error> {
        self.0.write(part).map(|()| None)
    }
}

/// What is done with an encoder and a sink, whatever they are.
pub trait Writing<K> {
    /// What comes of it.
    type Written;
    /// What may go wrong.
    type Error: From<Error>;
    /// Makes the table: encodes its k-mers, hands them to the sink in order, and finishes that.
    ///
    /// # Errors
    /// What the sink returns, and what goes wrong in the making.
    fn write<E: Encoder<K>, S: Sink<E::Encoded>>(
        self,
        encoder: &E,
        sink: S,
    ) -> Result<Self::Written, Self::Error>;
}
