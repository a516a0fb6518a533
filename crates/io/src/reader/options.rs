//! How to read.

use merganser_run::Cancel;

/// How a [`Reader`](crate::Reader) reads.
#[derive(Clone, Debug)]
pub struct ReaderOptions {
    /// About how many bytes of text a chunk has, at least 1. A worker's chunk takes a little more
    /// memory than that, twice as much for BGZF, and the longest FASTQ record in any case. A gzip
    /// file is inflated by all workers if there are at least 4: it is cut into ranges of a sixth
    /// of this size, and a chunk takes 9/4 of it as long as text is compressed to no less than a
    /// sixth, and never more than 17/4: where it is compressed to less than a twelfth, one worker
    /// inflates at a time.
    pub chunk_bytes: usize,
    /// How many bases are repeated where a FASTA sequence is cut between two chunks: k-1, so that
    /// no k-mer is lost or seen twice.
    pub overlap: usize,
    /// How many workers will call [`Reader::next_chunk`](crate::Reader::next_chunk), and so how
    /// many inputs may be open at the same time; at least 1.
    pub workers: usize,
    /// Ends the waiting for a pipe that keeps silent, with an error.
    pub cancel: Cancel,
}

impl Default for ReaderOptions {
    /// Chunks of 4 MiB, no overlap, one worker.
    fn default() -> Self {
        Self { chunk_bytes: 4 << 20, overlap: 0, workers: 1, cancel: Cancel::default() }
    }
}

impl ReaderOptions {
    /// The room to keep before a chunk's text for what the chunk before hands on. More is handed
    /// on only where records are that long, and then costs a copy.
    pub(super) fn headroom(&self) -> usize {
        self.chunk_bytes / 16
    }
}
