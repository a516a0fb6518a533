//! Writes meryl databases from the definition of their layout.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use super::oracle::Counts;

/// Bits in blocks, as meryl stores them: no number crosses the boundary of a block.
struct Bits {
    most: usize,
    blocks: Vec<Vec<bool>>,
}

impl Bits {
    fn new(most: usize) -> Bits {
        Bits { most, blocks: vec![Vec::new()] }
    }

    fn put(&mut self, bits: impl ExactSizeIterator<Item = bool>) {
        if self.blocks.last().unwrap().len() + bits.len() > self.most {
            self.blocks.push(Vec::new());
        }
        self.blocks.last_mut().unwrap().extend(bits);
    }

    fn number(&mut self, value: u64, bits: usize) {
        self.put((0..bits).map(|bit| value >> (bits - 1 - bit) & 1 == 1));
    }

    fn unary(&mut self, zeros: u64) {
        self.put((0..zeros as usize + 1).map(|bit| bit == zeros as usize));
    }

    fn text(&mut self, text: &[u8; 16]) {
        for eight in text.chunks(8) {
            self.number(u64::from_le_bytes(eight.try_into().unwrap()), 64);
        }
    }

    fn bytes(&self) -> Vec<u8> {
        let mut bytes = (self.most as u64).to_le_bytes().to_vec();
        bytes.extend((self.blocks.len() as u32).to_le_bytes());
        bytes.extend(64u32.to_le_bytes());
        let mut begin = 0u64;
        for block in &self.blocks {
            bytes.extend(begin.to_le_bytes());
            begin += block.len() as u64;
        }
        self.blocks.iter().for_each(|block| bytes.extend((block.len() as u64).to_le_bytes()));
        for word in self.blocks.iter().flat_map(|block| block.chunks(64)) {
            let bit = |(at, &bit): (usize, &bool)| u64::from(bit) << (63 - at);
            bytes.extend(word.iter().enumerate().map(bit).sum::<u64>().to_le_bytes());
        }
        bytes
    }
}

/// Returns meryl's code of a k-mer, or of its reverse complement if that is smaller.
fn code(kmer: &[u8], canonical: bool) -> u128 {
    let base = |letter: &u8| b"ACTG".iter().position(|other| other == letter).unwrap() as u128;
    let forward = kmer.iter().fold(0, |code, letter| code << 2 | base(letter));
    let reverse = kmer.iter().rev().fold(0, |code, letter| code << 2 | (base(letter) ^ 2));
    if canonical { forward.min(reverse) } else { forward }
}

/// The layout of a database.
#[derive(Clone, Copy)]
pub struct Layout {
    pub prefix_bits: usize,
    pub file_bits: usize,
    /// Number of bits in a block.
    pub most: usize,
    /// Number of 32-bit words in a count.
    pub words: usize,
    pub canonical: bool,
    pub version: u8,
}

/// Meryl's default layout, with small blocks.
pub const LAYOUT: Layout =
    Layout { prefix_bits: 8, file_bits: 6, most: 640, words: 1, canonical: true, version: b'3' };

/// Writes a database with this name to a folder.
pub fn write(folder: &Path, name: &str, counts: &Counts, k: usize, layout: Layout) {
    let Layout { prefix_bits, file_bits, most, words, canonical, version } = layout;
    let mut kmers: Vec<(u128, u32)> =
        counts.iter().map(|(kmer, &count)| (code(kmer, canonical), count as u32)).collect();
    kmers.sort_unstable();
    let suffix_bits = 2 * k - prefix_bits;
    let folder = folder.join(name);
    fs::create_dir(&folder).unwrap();
    let mut index = Bits::new(most);
    index.text(&[*b"merylIndex__v.0", [version; 15]].concat()[..16].try_into().unwrap());
    for number in [prefix_bits, suffix_bits, file_bits, prefix_bits - file_bits] {
        index.number(number as u64, 32);
    }
    if version > b'1' {
        index.number(0, 32);
    }
    let mut histogram = BTreeMap::<u64, u64>::new();
    kmers.iter().for_each(|&(_, count)| *histogram.entry(count.into()).or_default() += 1);
    let total = kmers.iter().map(|&(_, count)| u64::from(count)).sum();
    let unique = *histogram.get(&1).unwrap_or(&0);
    [unique, kmers.len() as u64, total].into_iter().for_each(|number| index.number(number, 64));
    index.number(histogram.len() as u64, 64);
    for (count, number) in histogram {
        index.number(count, 64);
        index.number(number, 64);
    }
    fs::write(folder.join("merylIndex"), index.bytes()).unwrap();
    for file in 0..1u64 << file_bits {
        let mut bytes = Vec::new();
        for block in 0..1u64 << (prefix_bits - file_bits) {
            let prefix = file << (prefix_bits - file_bits) | block;
            let own: Vec<(u128, u32)> = kmers
                .iter()
                .filter(|kmer| (kmer.0 >> suffix_bits) as u64 == prefix)
                .map(|&(kmer, count)| (kmer & ((1 << suffix_bits) - 1), count))
                .collect();
            let unary_bits = own.len().next_power_of_two().ilog2() as usize;
            bytes.extend(encode(prefix, &own, suffix_bits - unary_bits, most, words).bytes());
        }
        fs::write(folder.join(format!("0x{file:0file_bits$b}.merylData")), bytes).unwrap();
    }
}

fn encode(prefix: u64, own: &[(u128, u32)], low_bits: usize, most: usize, words: usize) -> Bits {
    let mut bits = Bits::new(most);
    bits.text(b"merylDataFile00\n");
    bits.number(prefix, 64);
    bits.number(own.len() as u64, 64);
    bits.number(1, 8);
    bits.number(0, 32);
    bits.number(low_bits as u64, 32);
    bits.number(0, 64);
    bits.number(words as u64, 8);
    bits.number(0, 64);
    bits.number(0, 64);
    let mut high = 0;
    for &(suffix, _) in own {
        bits.unary((suffix >> low_bits) as u64 - high);
        high = (suffix >> low_bits) as u64;
        let low = suffix & ((1 << low_bits) - 1);
        if low_bits > 64 {
            bits.number((low >> 64) as u64, low_bits - 64);
        }
        bits.number(low as u64, low_bits.min(64));
    }
    own.iter().for_each(|&(_, count)| bits.number(count.into(), 32 * words));
    bits
}
