//! Phase 1: a batch of bases becomes super-k-mers in bins (RapidGKC §II-D, §III-C.2).

use merganser_seq::packed;
use merganser_seq::signature::{Scanner, changes};
use merganser_seq::simd::Level;
use merganser_store::Writer;

use crate::binmap::{BinMap, NO_BIN};
use crate::fragments::{Consumer, Fragment};
use crate::{Config, Error, superkmer};

/// Marks positions where no k-mer of a fragment starts: no signature has this value.
const NO_KMER: u32 = u32::MAX;

/// A cutter of batches into super-k-mers, the stretches of k-mers with one signature.
pub(crate) struct SuperKmers {
    k: usize,
    level: Level,
    scanner: Scanner,
    flags: Vec<u8>,
    bits: Vec<u64>,
}

impl SuperKmers {
    pub(crate) fn new(config: &Config) -> SuperKmers {
        let (level, k) = (Level::best(), config.k);
        let p = config.signature_bases();
        SuperKmers {
            k,
            level,
            scanner: Scanner::new(level, config.rule, k, p, config.is_canonical()),
            flags: Vec::new(),
            bits: Vec::new(),
        }
    }

    /// Calls `visit` with the signature, first position and number of k-mers of each super-k-mer of a
    /// batch, in order. Super-k-mers are cut only at changes of the signature and at fragment ends, so
    /// they may have any length.
    #[inline(always)]
    pub(crate) fn each(
        &mut self,
        codes: &[u8],
        fragments: &[Fragment],
        mut visit: impl FnMut(u32, usize, usize) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let signatures = self.scanner.scan(codes);
        blank_gaps(signatures, fragments, self.k);
        changes(self.level, signatures, &mut self.flags, &mut self.bits);
        let mut from = 0;
        for (i, &word) in self.bits.iter().enumerate() {
            let mut left = word;
            while left != 0 {
                let to = 64 * i + left.trailing_zeros() as usize;
                left &= left - 1;
                if signatures[from] != NO_KMER {
                    visit(signatures[from], from, to - from)?;
                }
                from = to;
            }
        }
        match signatures.get(from) {
            Some(&last) if last != NO_KMER => visit(last, from, signatures.len() - from),
            _ => Ok(()),
        }
    }
}

/// Overwrites the signatures of windows that are not inside one fragment.
fn blank_gaps(signatures: &mut [u32], fragments: &[Fragment], k: usize) {
    let mut clean_to = 0;
    for fragment in fragments {
        let (start, end) =
            (fragment.start, fragment.end + 1 - k.min(fragment.end - fragment.start + 1));
        blank(signatures, clean_to, start);
        clean_to = end;
    }
    blank(signatures, clean_to, signatures.len());
}

fn blank(signatures: &mut [u32], from: usize, to: usize) {
    let to = to.min(signatures.len());
    if from < to {
        signatures[from..to].fill(NO_KMER);
    }
}

/// Cuts batches and sends the super-k-mers to their bins as records.
pub(crate) struct Partitioner<'m, 's, 'p> {
    superkmers: SuperKmers,
    bins: Bins<'m, 's, 'p>,
}

/// The part of a [`Partitioner`] that writes super-k-mers to bins.
struct Bins<'m, 's, 'p> {
    k: usize,
    canonical: bool,
    map: &'m BinMap,
    writer: Writer<'s, 'p>,
    words: Vec<u64>,
    reverse: Vec<u64>,
    /// The number of bases of the batch.
    bases: usize,
    pieces: Vec<Piece>,
    totals: Partitioned,
}

/// A super-k-mer of a batch that is to be sent to its bin.
struct Piece {
    /// The slot of its signature.
    slot: u32,
    /// The position of its first base.
    at: u32,
    kmers: u32,
}

/// Totals of what a worker has sent to bins; `kmers` includes those whose signatures have no bin.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Partitioned {
    pub(crate) kmers: u64,
    pub(crate) super_kmers: u64,
    pub(crate) bytes: u64,
}

impl Partitioned {
    pub(crate) fn add(&mut self, other: Partitioned) {
        self.kmers += other.kmers;
        self.super_kmers += other.super_kmers;
        self.bytes += other.bytes;
    }
}

impl<'m, 's, 'p> Partitioner<'m, 's, 'p> {
    pub(crate) fn new(config: &Config, map: &'m BinMap, writer: Writer<'s, 'p>) -> Self {
        Partitioner {
            superkmers: SuperKmers::new(config),
            bins: Bins {
                k: config.k,
                canonical: config.is_canonical(),
                map,
                writer,
                words: Vec::new(),
                reverse: Vec::new(),
                bases: 0,
                pieces: Vec::new(),
                totals: Partitioned::default(),
            },
        }
    }

    pub(crate) fn finish(self) -> Result<Partitioned, Error> {
        self.bins.writer.finish()?;
        Ok(self.bins.totals)
    }
}

impl Consumer for Partitioner<'_, '_, '_> {
    fn batch(&mut self, codes: &[u8], fragments: &[Fragment]) -> Result<(), Error> {
        let bins = &mut self.bins;
        bins.bases = codes.len();
        packed::pack(self.superkmers.level, codes, &mut bins.words);
        if bins.canonical {
            packed::reverse_complement(&bins.words, codes.len(), &mut bins.reverse);
        }
        let (map, pieces) = (bins.map, &mut bins.pieces);
        self.superkmers.each(codes, fragments, |signature, at, kmers| {
            let slot = map.prefetch(signature) as u32;
            pieces.push(Piece { slot, at: at as u32, kmers: kmers as u32 });
            Ok(())
        })?;
        bins.send_all()
    }
}

impl Bins<'_, '_, '_> {
    /// Sends all pieces, one step at a time for all of them, so that their cache misses overlap.
    fn send_all(&mut self) -> Result<(), Error> {
        let mut pieces = std::mem::take(&mut self.pieces);
        for piece in &pieces {
            let bin = self.map.bin_of_slot(piece.slot as usize);
            if bin != NO_BIN {
                self.writer.prefetch(bin);
            }
        }
        for piece in pieces.drain(..) {
            self.totals.kmers += u64::from(piece.kmers);
            let bin = self.map.bin_of_slot(piece.slot as usize);
            if bin == NO_BIN {
                continue;
            }
            self.totals.super_kmers += 1;
            self.send(bin, piece.at as usize, piece.kmers as usize)?;
        }
        self.pieces = pieces;
        Ok(())
    }

    #[inline(always)]
    fn send(&mut self, bin: usize, mut at: usize, mut kmers: usize) -> Result<(), Error> {
        loop {
            let now = kmers.min(superkmer::MAX_KMERS);
            let bases = now + self.k - 1;
            let room = self.writer.room(bin, superkmer::room(bases))?;
            let reverse_at = self.bases - at - bases;
            let flip = self.canonical
                && superkmer::is_greater(&self.words, at, &self.reverse, reverse_at, bases);
            let (words, from) = if flip { (&self.reverse, reverse_at) } else { (&self.words, at) };
            let bytes = superkmer::write(words, from, now, self.k, room);
            self.writer.commit(bin, bytes);
            self.totals.bytes += bytes as u64;
            at += now;
            kmers -= now;
            if kmers == 0 {
                return Ok(());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(200))]
        #[test]
        fn super_kmers_cover_each_kmer_once_and_break_where_signatures_change(
            codes in proptest::collection::vec(0u8..4, 0..600),
            cuts in proptest::collection::vec(0usize..600, 0..12), k in 3usize..60,
        ) {
            // Fragments between neighbouring cuts; some are adjacent.
            let mut cuts: Vec<usize> = cuts.into_iter().filter(|&c| c <= codes.len()).collect();
            cuts.sort_unstable();
            let fragments: Vec<Fragment> = cuts.windows(2).enumerate()
                .filter(|(i, w)| i % 3 < 2 && w[0] < w[1])
                .map(|(_, w)| Fragment { start: w[0], end: w[1] }).collect();
            let config = Config::new(k);
            let p = config.signature_bases();
            let (mut seen, mut previous) = (Vec::new(), None);
            let outcome = SuperKmers::new(&config).each(&codes, &fragments, |signature, at, kmers| {
                for i in at..at + kmers {
                    let least = codes[i..i + k].windows(p)
                        .map(|w| config.rule.norm(w.iter().fold(0, |m, &c| m << 2 | u32::from(c)), p, true))
                        .min();
                    assert_eq!(least, Some(signature));
                    seen.push(i);
                }
                // A cut without a change of signature must be the end of a fragment.
                if previous == Some((at, signature)) {
                    assert!(fragments.iter().any(|f| f.start == at));
                }
                previous = Some((at + kmers, signature));
                Ok(())
            });
            prop_assert!(outcome.is_ok());
            let expected: Vec<usize> = fragments.iter()
                .flat_map(|f| f.start..(f.end + 1).saturating_sub(k).max(f.start)).collect();
            prop_assert_eq!(seen, expected);
        }
    }
}
