//! Super-k-mers of a batch, and their length-prefixed records.

use super::reads::Batch;
use merganser_count::{Config, superkmer};
use merganser_seq::packed;
use merganser_seq::signature::Scanner;
use merganser_seq::simd::Level;

/// Consecutive k-mers of one signature.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SuperKmer {
    pub(crate) record: u64,
    pub(crate) signature: u32,
    /// The first base in the batch.
    pub(crate) at: usize,
    /// Number of k-mers, at most [`superkmer::MAX_KMERS`].
    pub(crate) kmers: usize,
}

/// Cuts batches into super-k-mers, by the default rule.
pub(crate) struct Cutter {
    k: usize,
    scanner: Scanner,
}

impl Cutter {
    pub(crate) fn new(k: usize) -> Self {
        let (rule, p) = (Config::new(k).rule, Config::default_signature_len(k));
        Self { k, scanner: Scanner::new(Level::best(), rule, k, p, true) }
    }

    /// Gives `visit` the super-k-mers of a batch.
    pub(crate) fn cut(&mut self, batch: &Batch, mut visit: impl FnMut(SuperKmer)) {
        let signatures = self.scanner.scan(&batch.codes);
        for (record, stretch) in &batch.stretches {
            let mut at = stretch.start;
            let last = (stretch.end + 1).saturating_sub(self.k).max(at);
            for run in signatures[at.min(signatures.len())..last.min(signatures.len())]
                .chunk_by(|a, b| a == b)
                .flat_map(|run| run.chunks(superkmer::MAX_KMERS))
            {
                let (signature, kmers) = (run[0], run.len());
                visit(SuperKmer { record: *record, signature, at, kmers });
                at += kmers;
            }
        }
    }
}

/// Both strands of a batch, packed.
#[derive(Default)]
pub(crate) struct Strands {
    words: Vec<u64>,
    reverse: Vec<u64>,
    bases: usize,
}

impl Strands {
    pub(crate) fn pack(&mut self, codes: &[u8]) {
        packed::pack(Level::best(), codes, &mut self.words);
        packed::reverse_complement(&self.words, codes.len(), &mut self.reverse);
        self.bases = codes.len();
    }

    /// Writes the record of the lesser strand, as counting does, and returns its length.
    #[inline(always)]
    pub(crate) fn write(&self, at: usize, kmers: usize, k: usize, out: &mut [u8]) -> usize {
        let bases = kmers + k - 1;
        let other = self.bases - at - bases;
        if superkmer::is_greater(&self.words, at, &self.reverse, other, bases) {
            superkmer::write(&self.reverse, other, kmers, k, out)
        } else {
            superkmer::write(&self.words, at, kmers, k, out)
        }
    }
}
