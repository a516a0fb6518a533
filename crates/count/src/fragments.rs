//! Conversion of the text of reads to batches of codes: stretches of A, C, G and T with their ends.

use merganser_io::{Chunk, Sink};
use merganser_run::ConfigError;
use merganser_seq::base::{self, Homopolymers};
use merganser_seq::simd::Level;

use crate::{Config, Error};

/// The number of bases of a batch: small enough that the arrays of the signature scan (two of 4 bytes per base)
/// stay in the first-level cache.
pub(crate) const BATCH_BASES: usize = 4096;

/// A stretch of bases in a batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Fragment {
    pub(crate) start: usize,
    pub(crate) end: usize,
}

/// Letters of a long sequence that the next chunk repeats under homopolymer compression, because k-1 bases
/// after compression may span many more letters.
const COMPRESSED_OVERLAP: usize = 64 << 10;

/// Returns the number of letters of a long sequence that its next chunk must repeat.
pub(crate) fn overlap(config: &Config) -> usize {
    if config.hpc { COMPRESSED_OVERLAP } else { config.k - 1 }
}

/// A consumer of batches: codes of one byte per base, and the disjoint stretches of them that are sequence, in
/// ascending order.
///
/// A stretch longer than a batch arrives in pieces that share k-1 bases, so that each of its k-mers is in
/// exactly one piece.
pub(crate) trait Consumer {
    fn batch(&mut self, codes: &[u8], fragments: &[Fragment]) -> Result<(), Error>;
}

/// Counts of reads, bases and other items of the input, but not of k-mers.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Tally {
    pub(crate) records: u64,
    /// Letters of sequence, bases or not.
    pub(crate) letters: u64,
    /// Letters that are not bases.
    pub(crate) ambiguous: u64,
    /// Bases that were masked because of low quality.
    pub(crate) low_quality: u64,
}

impl Tally {
    pub(crate) fn add(&mut self, other: Tally) {
        self.records += other.records;
        self.letters += other.letters;
        self.ambiguous += other.ambiguous;
        self.low_quality += other.low_quality;
    }
}

/// The sink of a chunk of reads that feeds a [`Consumer`].
pub(crate) struct Fragments<C> {
    pub(crate) consumer: C,
    pub(crate) tally: Tally,
    level: Level,
    overlap: usize,
    /// Letters with a quality below this break k-mers.
    least_quality: Option<u8>,
    codes: Vec<u8>,
    fragments: Vec<Fragment>,
    /// Start of the open fragment.
    start: usize,
    /// Letters still to come that an earlier chunk has already counted.
    repeated: usize,
    /// The value of `repeated` at the start of the chunk.
    all_repeated: usize,
    /// Letters found not to be bases that are not in the tally yet.
    breaks: u64,
    /// Whether unprintable bytes were found: the input may be binary data.
    odd: bool,
    masked: Vec<u8>,
    /// The homopolymer compression, if it is enabled.
    runs: Option<Compression>,
    error: Option<Error>,
}

/// The state of homopolymer compression within a sequence.
#[derive(Default)]
struct Compression {
    at: Homopolymers,
    letters: Vec<u8>,
    /// Compressed repeated letters since the last non-base.
    repeated: Vec<u8>,
    /// Whether the repeated letters contained a non-base.
    is_broken: bool,
}

impl<C: Consumer> Fragments<C> {
    pub(crate) fn new(consumer: C, config: &Config) -> Fragments<C> {
        let (k, min_quality) = (config.k, config.min_qual);
        Fragments {
            consumer,
            tally: Tally::default(),
            level: Level::best(),
            overlap: k - 1,
            least_quality: min_quality.map(|q| q.saturating_add(b'!')),
            codes: Vec::with_capacity(BATCH_BASES),
            fragments: Vec::new(),
            start: 0,
            repeated: 0,
            all_repeated: 0,
            breaks: 0,
            odd: false,
            masked: Vec::new(),
            runs: config.hpc.then(Compression::default),
            error: None,
        }
    }

    /// Parses a whole chunk and passes its batches to the consumer.
    ///
    /// # Errors
    /// Malformed or binary input, and the consumer's error for any batch.
    pub(crate) fn chunk(&mut self, chunk: &Chunk) -> Result<(), Error> {
        chunk.parse(self)?;
        if std::mem::take(&mut self.odd) {
            chunk.check()?;
        }
        self.finish()
    }

    /// Passes the last batch to the consumer and returns the first error.
    fn finish(&mut self) -> Result<(), Error> {
        self.close();
        self.flush();
        self.error.take().map_or(Ok(()), Err)
    }

    /// Ends the open fragment.
    fn close(&mut self) {
        if self.codes.len() > self.start {
            self.fragments.push(Fragment { start: self.start, end: self.codes.len() });
        }
        self.start = self.codes.len();
    }

    /// Passes the batch to the consumer; an open fragment continues in the next batch with its overlap.
    fn flush(&mut self) {
        let open = self.codes.len() > self.start;
        let keep = self.codes.len().saturating_sub(self.overlap).max(self.start);
        self.close();
        if self.error.is_none()
            && let Err(error) = self.consumer.batch(&self.codes, &self.fragments)
        {
            self.error = Some(error);
        }
        self.fragments.clear();
        if open {
            self.codes.drain(..keep);
        } else {
            self.codes.clear();
        }
        self.start = 0;
    }

    /// Appends letters that an earlier chunk has already counted; only the last k-1 bases form new k-mers.
    fn append_repeated(&mut self, letters: &[u8]) {
        let Some(runs) = &mut self.runs else { return self.append_all(letters) };
        for &letter in letters {
            if !base::is_base(letter) {
                runs.repeated.clear();
                runs.is_broken = true;
            }
            if runs.at.begins(letter) && base::is_base(letter) {
                runs.repeated.push(letter);
            }
        }
        if self.repeated > 0 {
            return;
        }
        // Letters before the last k-1 have been counted, too.
        let repeated = std::mem::take(&mut runs.repeated);
        let behind = repeated.len().saturating_sub(self.overlap);
        if repeated.len() < self.overlap
            && !runs.is_broken
            && self.all_repeated == COMPRESSED_OVERLAP
        {
            self.error.get_or_insert(Error::Config(ConfigError::new(format!(
                "`hpc`: {COMPRESSED_OVERLAP} consecutive bases of a long sequence compress to fewer than {} bases: \
                 count without it",
                self.overlap
            ))));
        }
        self.append_all(&repeated[behind..]);
    }

    /// Appends letters, after compression if it is enabled.
    fn append(&mut self, letters: &[u8]) {
        let Some(runs) = &mut self.runs else { return self.append_all(letters) };
        let mut left = std::mem::take(&mut runs.letters);
        left.clear();
        left.extend(letters.iter().filter(|&&letter| runs.at.begins(letter)));
        self.append_all(&left);
        if let Some(runs) = &mut self.runs {
            runs.letters = left;
        }
    }

    fn append_all(&mut self, mut letters: &[u8]) {
        let room = BATCH_BASES - self.codes.len();
        // A read that would be cut although a batch can hold it is left for the next batch.
        if letters.len() > room && letters.len() <= BATCH_BASES && self.start == self.codes.len() {
            self.flush();
        }
        while !letters.is_empty() {
            if self.codes.len() == BATCH_BASES {
                self.flush();
            }
            let (now, later) = letters.split_at(letters.len().min(BATCH_BASES - self.codes.len()));
            let from = self.codes.len();
            if !base::encode(self.level, now, &mut self.codes) {
                self.split(from, now);
            }
            letters = later;
        }
    }

    /// Cuts the open fragment at those of `letters` (whose codes start at `from`) that are not bases.
    fn split(&mut self, from: usize, letters: &[u8]) {
        for (i, l) in letters.iter().enumerate().filter(|(_, l)| !base::is_base(**l)) {
            if from + i > self.start {
                self.fragments.push(Fragment { start: self.start, end: from + i });
            }
            self.start = from + i + 1;
            self.breaks += 1;
            self.odd |= !l.is_ascii_graphic();
        }
    }

    /// Appends the letters, masking those of low quality.
    fn append_masked(&mut self, letters: &[u8], quality: &[u8], least: u8) {
        let mut masked = std::mem::take(&mut self.masked);
        masked.clear();
        masked.extend(letters.iter().zip(quality).map(|(&l, &q)| if q < least { b'N' } else { l }));
        let masked_bases = letters.iter().zip(&masked).filter(|(l, m)| l != m);
        let low = masked_bases.filter(|(l, _)| base::is_base(**l)).count() as u64;
        self.append(&masked);
        self.masked = masked;
        self.tally.low_quality += low;
        self.breaks -= low;
    }
}

impl<C: Consumer> Sink for Fragments<C> {
    #[inline]
    fn begin(&mut self, _header: &[u8]) {
        self.resume();
        self.tally.records += 1;
    }

    fn resume(&mut self) {
        self.close();
        self.repeated = 0;
        if let Some(runs) = &mut self.runs {
            runs.at = Homopolymers::default();
            runs.repeated.clear();
            runs.is_broken = false;
        }
    }

    fn repeated(&mut self, bases: usize) {
        self.repeated = bases;
        self.all_repeated = bases;
    }

    #[inline]
    fn sequence(&mut self, letters: &[u8], quality: Option<&[u8]>) {
        // Letters that an earlier chunk has counted form k-mers again, but are not counted again.
        let seen = self.repeated.min(letters.len());
        self.repeated -= seen;
        let ambiguous = self.breaks;
        if seen > 0 {
            self.append_repeated(&letters[..seen]);
            self.breaks = ambiguous;
        }
        let letters = &letters[seen..];
        self.tally.letters += letters.len() as u64;
        match (self.least_quality, quality) {
            (Some(least), Some(quality)) => self.append_masked(letters, &quality[seen..], least),
            _ => self.append(letters),
        }
        self.tally.ambiguous += self.breaks - ambiguous;
        self.breaks = ambiguous;
    }

    #[inline]
    fn end(&mut self) {
        self.close();
    }

    fn uses_qualities(&self) -> bool {
        self.least_quality.is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// A consumer that keeps every k-mer as letters; the first field is k.
    struct Keep(usize, Vec<Vec<u8>>);

    impl Consumer for Keep {
        fn batch(&mut self, codes: &[u8], fragments: &[Fragment]) -> Result<(), Error> {
            assert!(codes.len() <= BATCH_BASES);
            for f in fragments {
                let kmers = codes[f.start..f.end].windows(self.0);
                self.1.extend(kmers.map(|w| w.iter().map(|&c| b"ACGT"[usize::from(c)]).collect()));
            }
            Ok(())
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn every_kmer_comes_once(
            reads in proptest::collection::vec(
                proptest::collection::vec(proptest::sample::select(b"ACGTACGTACGTACGTN".to_vec()), 0..3000), 0..8),
            k in 1usize..=128, lines in 1usize..1000,
        ) {
            let mut sink = Fragments::new(Keep(k, Vec::new()), &Config::new(k));
            for read in &reads {
                sink.begin(b"");
                read.chunks(lines).for_each(|line| sink.sequence(line, None));
                sink.end();
            }
            prop_assert!(sink.finish().is_ok());
            let expected: Vec<Vec<u8>> = reads.iter()
                .flat_map(|r| r.windows(k).filter(|w| !w.contains(&b'N')).map(<[u8]>::to_vec))
                .collect();
            prop_assert_eq!(&sink.consumer.1, &expected);
            let n = reads.iter().flatten().filter(|&&l| l == b'N').count() as u64;
            prop_assert_eq!(sink.tally.ambiguous, n);
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn compressed_kmers_come_once_wherever_a_sequence_is_cut(
            runs in proptest::collection::vec(
                (proptest::sample::select(b"ACGTacgtUN".to_vec()), 1usize..6), 0..400),
            k in 1usize..=20, cuts in proptest::collection::vec(0usize..1200, 0..4),
            overlap in 120usize..200,
        ) {
            let read: Vec<u8> = runs.iter().flat_map(|&(letter, n)| vec![letter; n]).collect();
            let config = Config { hpc: true, ..Config::new(k) };
            let mut sink = Fragments::new(Keep(k, Vec::new()), &config);
            let mut cuts: Vec<usize> = cuts.into_iter().filter(|&cut| cut < read.len()).collect();
            cuts.sort_unstable();
            cuts.push(read.len());
            sink.begin(b"");
            let mut at = 0;
            for cut in cuts {
                let from = usize::saturating_sub(at, overlap);
                if at > 0 {
                    sink.resume();
                    sink.repeated(at - from);
                }
                // In lines, as in a chunk.
                read[from..cut].chunks(60).for_each(|line| sink.sequence(line, None));
                at = cut;
            }
            sink.end();
            prop_assert!(sink.finish().is_ok());
            let left: Vec<u8> = Homopolymers::compressed(&read)
                .map(|letter| match letter.to_ascii_uppercase() { b'U' => b'T', other => other })
                .collect();
            let expected: Vec<Vec<u8>> =
                left.windows(k).filter(|w| !w.contains(&b'N')).map(<[u8]>::to_vec).collect();
            prop_assert_eq!(&sink.consumer.1, &expected);
            let n = read.iter().filter(|&&letter| letter == b'N').count() as u64;
            prop_assert_eq!(sink.tally.ambiguous, n);
        }
    }

    #[test]
    fn low_quality_breaks_kmers_and_repeated_letters_count_once() {
        let mut sink =
            Fragments::new(Keep(2, Vec::new()), &Config { min_qual: Some(10), ..Config::new(2) });
        sink.begin(b"");
        sink.sequence(b"ACGTN", Some(b"II!I!"));
        sink.resume();
        sink.repeated(1);
        sink.sequence(b"NAC", None);
        assert!(sink.finish().is_ok());
        assert_eq!(sink.consumer.1, [b"AC".to_vec(), b"AC".to_vec()]);
        let tally = sink.tally;
        assert_eq!((tally.letters, tally.ambiguous, tally.low_quality), (7, 1, 1));
    }
}
