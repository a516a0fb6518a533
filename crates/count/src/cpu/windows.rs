//! The k-mers of super-k-mers.

use merganser_seq::kmer::Kmer;

/// The number of bases taken from one word of 32: up to three leading bases may precede the wanted position.
const BASES_AT_ONCE: usize = 29;

/// The size in bytes of a padded record: bases are read beyond a record's end.
const PADDED: usize = 160;

/// The windows of super-k-mers: their k-mers.
pub(crate) struct Windows<K> {
    k: usize,
    canonical: bool,
    /// The complement of each base, shifted to the first base of a k-mer.
    first: [K; 4],
}

impl<K: Kmer> Windows<K> {
    pub(crate) fn new(k: usize, canonical: bool) -> Windows<K> {
        let first = [0, 1, 2, 3].map(|code| K::default().push_complement(code, k));
        Windows { k, canonical, first }
    }

    pub(crate) fn k(&self) -> usize {
        self.k
    }

    /// Calls `take` with each of the `kmers` k-mers of a super-k-mer, whose bases are the first `len` bytes of `bases`, and
    /// its hash.
    #[inline(always)]
    pub(crate) fn each(
        &self,
        (bases, len): (&[u8], usize),
        kmers: usize,
        mut take: impl FnMut(K, u64),
    ) {
        let padded;
        let bases = if bases.len() >= K::BYTES {
            bases
        } else {
            let mut copy = [0; PADDED];
            copy[..len].copy_from_slice(&bases[..len]);
            padded = copy;
            &padded
        };
        let &Windows { k, canonical, first } = self;
        let mask = K::mask(k);
        let mut forward = K::from_packed(bases, k);
        let mut reverse = if canonical { forward.reverse_complement(k) } else { forward };
        for from in (0..kmers).step_by(BASES_AT_ONCE) {
            let mut codes = word_at(bases, k + from);
            for _ in 0..BASES_AT_ONCE.min(kmers - from) {
                let kmer = forward.least(reverse);
                take(kmer, kmer.hash());
                // Bits after the last base are padding or the next record: never used.
                let code = (codes >> 62) as u8;
                codes <<= 2;
                forward = forward.push(code, mask);
                reverse =
                    if canonical { reverse.shr(2).or(first[usize::from(code)]) } else { forward };
            }
        }
    }
}

/// Returns the bases from base `at` on in the top bits of a word: at least 29 unless the input ends before.
#[inline(always)]
fn word_at(bases: &[u8], at: usize) -> u64 {
    let rest = bases.get(at / 4..).unwrap_or_default();
    let bytes = rest.first_chunk().copied().unwrap_or_else(|| {
        let mut bytes = [0; 8];
        bytes[..rest.len()].copy_from_slice(rest);
        bytes
    });
    u64::from_be_bytes(bytes) << (2 * (at % 4))
}
