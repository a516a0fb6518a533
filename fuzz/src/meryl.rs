//! meryl databases: an index, and files of blocks of k-mers with a common prefix.

use std::collections::BTreeMap;

use crate::kmers::{Counts, code};

/// The layout of a database.
#[derive(Clone, Copy)]
pub struct Layout {
    /// The number of bits that divide k-mers into blocks.
    pub prefix_bits: u32,
    /// The number of bits that divide blocks into files.
    pub file_bits: u32,
    /// The maximum number of bits of a stretch, at least 128. No number crosses the border of a stretch.
    pub stretch: usize,
    /// The size of a count in words of 32 bits.
    pub count_words: u32,
    /// The version of the index, 1 to 3.
    pub version: u8,
}

/// Returns the index and the data files of a database of canonical k-mers of `k` bases.
pub fn write(counts: &Counts, k: usize, layout: Layout) -> Vec<Vec<u8>> {
    let mut kmers: Vec<(u128, u32)> =
        counts.iter().map(|(kmer, &count)| (meryl_code(kmer), count)).collect();
    kmers.sort_unstable();
    let mut files = vec![index(&kmers, k, layout)];
    let suffix_bits = 2 * k as u32 - layout.prefix_bits;
    let blocks = 1u64 << (layout.prefix_bits - layout.file_bits);
    for file in 0..1u64 << layout.file_bits {
        let mut bytes = Vec::new();
        for prefix in file * blocks..(file + 1) * blocks {
            // With a prefix of no bits, the suffix may have all 128 bits.
            let high = |kmer: u128| kmer.checked_shr(suffix_bits).unwrap_or(0) as u64;
            let own: Vec<(u128, u32)> =
                kmers.iter().filter(|kmer| high(kmer.0) == prefix).copied().collect();
            bytes.extend(block(prefix, &own, suffix_bits, layout));
        }
        files.push(bytes);
    }
    files
}

/// Returns the names of the files in the database's folder.
pub fn names(layout: Layout) -> Vec<String> {
    let bits = layout.file_bits as usize;
    let data = (0..1usize << bits).map(|file| format!("0x{file:0bits$b}.merylData"));
    std::iter::once("merylIndex".to_owned()).chain(data).collect()
}

/// Returns the smaller of both strands in the order A C T G.
fn meryl_code(kmer: &[u8]) -> u128 {
    let base = |letter: &u8| u128::from(code(*letter, b"ACTG"));
    let forward = kmer.iter().fold(0, |code, letter| code << 2 | base(letter));
    let reverse = kmer.iter().rev().fold(0, |code, letter| code << 2 | (base(letter) ^ 2));
    forward.min(reverse)
}

fn index(kmers: &[(u128, u32)], k: usize, layout: Layout) -> Vec<u8> {
    let Layout { prefix_bits, file_bits, version, .. } = layout;
    let mut bits = Bits::new(layout.stretch);
    let mut magic = *b"merylIndex__v.03";
    magic[15] = b'0' + version;
    bits.text(&magic);
    for number in [prefix_bits, 2 * k as u32 - prefix_bits, file_bits, prefix_bits - file_bits] {
        bits.number(number.into(), 32);
    }
    if version > 1 {
        bits.number(0, 32);
    }
    let mut histogram = BTreeMap::<u32, u64>::new();
    kmers.iter().for_each(|&(_, count)| *histogram.entry(count).or_default() += 1);
    let total = kmers.iter().map(|&(_, count)| u64::from(count)).sum();
    let unique = histogram.get(&1).copied().unwrap_or(0);
    [unique, kmers.len() as u64, total].into_iter().for_each(|number| bits.number(number, 64));
    bits.number(histogram.len() as u64, 64);
    for (count, number) in histogram {
        bits.number(count.into(), 64);
        bits.number(number, 64);
    }
    bits.bytes()
}

fn block(prefix: u64, own: &[(u128, u32)], suffix_bits: u32, layout: Layout) -> Vec<u8> {
    let unary_bits = own.len().next_power_of_two().ilog2().min(suffix_bits);
    let low_bits = suffix_bits - unary_bits;
    let mut bits = Bits::new(layout.stretch);
    bits.text(b"merylDataFile00\n");
    bits.number(prefix, 64);
    bits.number(own.len() as u64, 64);
    bits.number(1, 8);
    bits.number(0, 32);
    bits.number(low_bits.into(), 32);
    bits.number(0, 64);
    bits.number(layout.count_words.into(), 8);
    bits.number(0, 64);
    bits.number(0, 64);
    let mut before = 0;
    for &(kmer, _) in own {
        let suffix = kmer & 1u128.checked_shl(suffix_bits).map_or(u128::MAX, |end| end - 1);
        let high = suffix.checked_shr(low_bits).unwrap_or(0) as u64;
        bits.unary(high - before);
        before = high;
        if low_bits > 64 {
            bits.number((suffix >> 64) as u64, low_bits - 64);
        }
        bits.number(suffix as u64, low_bits.min(64));
    }
    own.iter().for_each(|&(_, count)| bits.number(count.into(), 32 * layout.count_words));
    bits.bytes()
}

/// A writer of bits, the highest of a number first, in stretches. No number crosses the border of a stretch.
struct Bits {
    most: usize,
    stretches: Vec<Vec<bool>>,
}

impl Bits {
    fn new(most: usize) -> Bits {
        Bits { most, stretches: vec![Vec::new()] }
    }

    fn put(&mut self, bits: impl ExactSizeIterator<Item = bool>) {
        if self.stretches.last().map_or(0, Vec::len) + bits.len() > self.most {
            self.stretches.push(Vec::new());
        }
        self.stretches.last_mut().expect("a stretch").extend(bits);
    }

    fn number(&mut self, value: u64, bits: u32) {
        self.put((0..bits).map(|bit| value >> (bits - 1 - bit) & 1 == 1));
    }

    fn unary(&mut self, zeros: u64) {
        self.put((0..zeros as usize + 1).map(|bit| bit == zeros as usize));
    }

    fn text(&mut self, text: &[u8; 16]) {
        text.as_chunks().0.iter().for_each(|&eight| self.number(u64::from_le_bytes(eight), 64));
    }

    fn bytes(&self) -> Vec<u8> {
        let mut bytes = (self.most as u64).to_le_bytes().to_vec();
        bytes.extend((self.stretches.len() as u32).to_le_bytes());
        bytes.extend((self.stretches.len() as u32).to_le_bytes());
        let mut begin = 0u64;
        for stretch in &self.stretches {
            bytes.extend(begin.to_le_bytes());
            begin += stretch.len() as u64;
        }
        for stretch in &self.stretches {
            bytes.extend((stretch.len() as u64).to_le_bytes());
        }
        for word in self.stretches.iter().flat_map(|stretch| stretch.chunks(64)) {
            let bit = |(at, &bit): (usize, &bool)| u64::from(bit) << (63 - at);
            bytes.extend(word.iter().enumerate().map(bit).sum::<u64>().to_le_bytes());
        }
        bytes
    }
}
