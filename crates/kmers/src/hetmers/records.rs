//! Records of k-mers that have a partner, scattered by a hash of the k-mer: every range then has about as many.

use std::marker::PhantomData;

use merganser_seq::kmer::Kmer;
use merganser_store::{Records, Scatter};

use super::anywhere::MAX_SUM;
use crate::Error;
use crate::scattered::MAX_RANGES;

/// The number of bits of the hash that select a range.
const RANGE_BITS: u32 = MAX_RANGES.ilog2();

/// A canonical k-mer, and another k-mer that differs from it in one base.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Partner<K> {
    pub(super) kmer: K,
    /// The number of bits to the right of the base that differs.
    pub(super) right: u8,
    /// The exclusive or of the two bases, 1 to 3.
    pub(super) change: u8,
    pub(super) count: u16,
    /// The count of the other k-mer.
    pub(super) other_count: u16,
}

// Two counts whose sum is limited fit.
const _: () = assert!(MAX_SUM <= u16::MAX as u32);

impl<K: Kmer> Partner<K> {
    /// Returns the other k-mer; it need not be canonical.
    pub(super) fn other(&self) -> K {
        let bits = |value: u64| K::from_low(value).shl(u32::from(self.right));
        let base = self.kmer.shr(u32::from(self.right)).low() & 3;
        self.kmer.sub(bits(base)).or(bits(base ^ u64::from(self.change)))
    }

    /// Returns the same pair on the other strand: the reverse complement of the k-mer, and of its partner.
    pub(super) fn reverse_complement(self, k: usize) -> Partner<K> {
        let right = 2 * (k as u8 - 1) - self.right;
        Partner { kmer: self.kmer.reverse_complement(k), right, ..self }
    }

    /// Returns the pair as its other k-mer, in canonical form, has it.
    pub(super) fn of_other_strand(self, k: usize) -> Partner<K> {
        let other = Partner {
            kmer: self.other(),
            count: self.other_count,
            other_count: self.count,
            ..self
        };
        let complement = other.reverse_complement(k);
        if complement.kmer < other.kmer { complement } else { other }
    }
}

/// The encoding of [`Partner`].
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct PartnerRecords<K>(PhantomData<K>);

/// Partners by range, in memory or on disk.
pub(super) type Partners<'p, K> = Scatter<'p, PartnerRecords<K>>;

impl<K: Kmer> Records for PartnerRecords<K> {
    type Item = Partner<K>;

    const MAX: usize = K::BYTES + 6;

    fn ranges(&self) -> usize {
        1 << RANGE_BITS
    }

    fn range(&self, partner: Partner<K>) -> usize {
        (partner.kmer.hash() >> (64 - RANGE_BITS)) as usize
    }

    fn bytes(&self) -> usize {
        Self::MAX
    }

    fn put(&self, partner: Partner<K>, to: &mut [u8]) -> usize {
        partner.kmer.store(to);
        let rest = &mut to[K::BYTES..Self::MAX];
        rest[0] = partner.right;
        rest[1] = partner.change;
        rest[2..4].copy_from_slice(&partner.count.to_le_bytes());
        rest[4..6].copy_from_slice(&partner.other_count.to_le_bytes());
        Self::MAX
    }

    fn each(&self, _range: usize, records: &[u8], mut take: impl FnMut(Partner<K>)) {
        for record in records.chunks_exact(Self::MAX) {
            let rest = &record[K::BYTES..];
            let number = |at: usize| u16::from_le_bytes([rest[at], rest[at + 1]]);
            take(Partner {
                kmer: K::load(record),
                right: rest[0],
                change: rest[1],
                count: number(2),
                other_count: number(4),
            });
        }
    }
}

/// Calls `take` with the records of a range, those of each k-mer together and in the order of hashes. At most about
/// `most` records are in memory at a time.
pub(super) fn by_kmer<K: Kmer>(
    partners: &Partners<'_, K>,
    range: usize,
    most: u64,
    mut take: impl FnMut(&[Partner<K>]) -> Result<(), Error>,
) -> Result<(), Error> {
    // The number of records is known only until the contents are taken.
    let parts = partners.len(range).div_ceil(most.max(1)).next_power_of_two();
    let contents = partners.contents(range);
    let part_bits = parts.ilog2();
    let (mut buffer, mut some) = (Vec::new(), Vec::new());
    for part in 0..parts {
        some.clear();
        contents.each(&mut buffer, |partner| {
            let hash = partner.kmer.hash();
            if (hash << RANGE_BITS >> 1) >> (63 - part_bits) == part {
                some.push((hash, partner));
            }
        })?;
        some.sort_unstable();
        let mut group = Vec::new();
        for same in some.chunk_by(|one, other| one.1.kmer == other.1.kmer) {
            group.clear();
            group.extend(same.iter().map(|entry| entry.1));
            take(&group)?;
        }
    }
    Ok(())
}
