//! Compresses a BGZF block in about half the time of libdeflate's level 1 (RFC 1951).
//!
//! Compression must keep up with a mapper that writes alignments. Alignments consist mostly of qualities and packed
//! letters, whose short repetitions are accidental: a match of four bytes takes more bits than four literals. So only
//! matches of at least [`matches::MIN`] bytes are searched, with one candidate per position. After a long stretch
//! without matches, positions are skipped, more and more of them (as in LZ4). The block has a single pair of Huffman
//! codes, whose codewords are short enough to write four literals at a time.

mod bits;
mod codes;
mod matches;
mod symbols;

use bits::BitWriter;
use codes::{Code, lengths};
use matches::{Finder, Sequence};
use symbols::{DISTANCES, LITERALS, Place};

/// The maximum number of bytes of text in a block: the limit of a stored block and of 16-bit positions.
pub(crate) const MAX: usize = 65_535;

/// The symbol for the end of a block.
const END: usize = 256;
/// The maximum length of a codeword in bits: four literals take 48 bits, and with up to 7 pending bits they fit into
/// a word.
const CODE_BITS: u8 = 12;
/// The maximum length of a codeword in bits, in the code of code lengths.
const HEADER_BITS: u8 = 7;
/// The order in which the lengths of the code of code lengths are stored (section 3.2.7).
const ORDER: [usize; 19] = [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15];

/// A compressor of independent blocks. The output depends only on the text.
pub(crate) struct FastDeflate {
    finder: Finder,
}

impl FastDeflate {
    pub(crate) fn new() -> FastDeflate {
        FastDeflate { finder: Finder::new() }
    }

    /// Appends `text`, of at most [`MAX`] bytes, to `out` as one final block, which is at most 5 bytes longer than
    /// the text.
    pub(crate) fn deflate(&mut self, text: &[u8], out: &mut Vec<u8>) {
        debug_assert!(text.len() <= MAX);
        let sequences = self.finder.find(text);
        let counts = Counts::new(text, sequences);
        let literals = lengths(&counts.literals, CODE_BITS);
        let distances = lengths(&counts.distances, CODE_BITS);
        let header = Header::new(&literals, &distances);
        let bits = header.bits() + counts.bits(&literals, &distances);
        if bits.div_ceil(8) > text.len() + 4 {
            return store(text, out);
        }
        let at = out.len();
        out.resize(at + bits.div_ceil(8) + bits::SLACK, 0);
        let mut writer = BitWriter::new(&mut out[at..]);
        header.write(&mut writer);
        write(text, sequences, &Code::new(&literals), &Code::new(&distances), &mut writer);
        let written = writer.finish();
        debug_assert_eq!(written, bits.div_ceil(8));
        out.truncate(at + written);
    }
}

/// Appends a stored block, for text that compression does not make smaller (section 3.2.4).
fn store(text: &[u8], out: &mut Vec<u8>) {
    let len = text.len() as u16;
    out.push(1);
    out.extend_from_slice(&len.to_le_bytes());
    out.extend_from_slice(&(!len).to_le_bytes());
    out.extend_from_slice(text);
}

/// The frequencies of the symbols of a block.
struct Counts {
    literals: [u32; LITERALS],
    distances: [u32; DISTANCES],
    /// The total number of extra bits.
    extra: usize,
}

impl Counts {
    fn new(text: &[u8], sequences: &[Sequence]) -> Counts {
        let mut counts = Counts { literals: [0; LITERALS], distances: [0; DISTANCES], extra: 0 };
        // Four tables: a byte often equals its predecessor, whose count may still be in the store buffer.
        let mut bytes = [[0u32; 256]; 4];
        let mut at = 0;
        for sequence in sequences {
            let literals = &text[at..at + usize::from(sequence.literals)];
            let quads = literals.chunks_exact(4);
            quads.remainder().iter().for_each(|&byte| bytes[0][usize::from(byte)] += 1);
            for quad in quads {
                for (table, &byte) in bytes.iter_mut().zip(quad) {
                    table[usize::from(byte)] += 1;
                }
            }
            at += literals.len() + usize::from(sequence.len);
            if sequence.len > 0 {
                let (len, distance) =
                    (Place::of_len(sequence.len), Place::of_distance(sequence.distance));
                counts.literals[len.symbol] += 1;
                counts.distances[distance.symbol] += 1;
                counts.extra += (len.extra_bits + distance.extra_bits) as usize;
            }
        }
        for (byte, count) in counts.literals[..256].iter_mut().enumerate() {
            *count = bytes.iter().map(|table| table[byte]).sum();
        }
        counts.literals[END] = 1;
        counts
    }

    /// Returns the number of bits of the block's data for these code lengths.
    fn bits(&self, literals: &[u8], distances: &[u8]) -> usize {
        let sum = |counts: &[u32], lens: &[u8]| -> usize {
            counts.iter().zip(lens).map(|(&count, &len)| count as usize * usize::from(len)).sum()
        };
        self.extra + sum(&self.literals, literals) + sum(&self.distances, distances)
    }
}

fn write(
    text: &[u8],
    sequences: &[Sequence],
    literal: &Code<LITERALS>,
    distance: &Code<DISTANCES>,
    out: &mut BitWriter<'_>,
) {
    let mut at = 0;
    for sequence in sequences {
        let literals = &text[at..at + usize::from(sequence.literals)];
        let quads = literals.chunks_exact(4);
        let rest = quads.remainder();
        for quad in quads {
            quad.iter().for_each(|&byte| literal.put(usize::from(byte), out));
            out.flush();
        }
        rest.iter().for_each(|&byte| literal.put(usize::from(byte), out));
        out.flush();
        at += literals.len() + usize::from(sequence.len);
        if sequence.len > 0 {
            // At most 12 bits and 5 extra bits for the length, 12 and 13 for the distance.
            let (len, far) = (Place::of_len(sequence.len), Place::of_distance(sequence.distance));
            literal.put(len.symbol, out);
            out.put(len.extra, len.extra_bits);
            distance.put(far.symbol, out);
            out.put(far.extra, far.extra_bits);
            out.flush();
        }
    }
    literal.put(END, out);
    out.flush();
}

/// The header of a block with dynamic Huffman codes (section 3.2.7).
struct Header {
    literals: usize,
    distances: usize,
    /// The run-length encoded code lengths: symbol, extra bits, number of extra bits.
    items: Vec<(u8, u8, u8)>,
    lens: [u8; 19],
    stored: usize,
}

impl Header {
    fn new(literals: &[u8; LITERALS], distances: &[u8; DISTANCES]) -> Header {
        let used = |lens: &[u8], least| {
            lens.iter().rposition(|&len| len > 0).map_or(least, |at| (at + 1).max(least))
        };
        let (literal, distance) = (used(literals, END + 1), used(distances, 1));
        let all = [&literals[..literal], &distances[..distance]].concat();
        let mut items = Vec::with_capacity(all.len());
        all.chunk_by(|one, next| one == next).for_each(|run| repeat(run[0], run.len(), &mut items));
        let mut counts = [0; 19];
        items.iter().for_each(|item| counts[usize::from(item.0)] += 1);
        let lens = lengths(&counts, HEADER_BITS);
        let stored =
            ORDER.iter().rposition(|&symbol| lens[symbol] > 0).map_or(4, |at| (at + 1).max(4));
        Header { literals: literal, distances: distance, items, lens, stored }
    }

    fn bits(&self) -> usize {
        let items = self.items.iter();
        let items: usize =
            items.map(|item| usize::from(self.lens[usize::from(item.0)] + item.2)).sum();
        3 + 5 + 5 + 4 + 3 * self.stored + items
    }

    fn write(&self, out: &mut BitWriter<'_>) {
        // The final block, with dynamic codes.
        out.put(1 | 2 << 1, 3);
        out.put(self.literals as u32 - 257, 5);
        out.put(self.distances as u32 - 1, 5);
        out.put(self.stored as u32 - 4, 4);
        for &symbol in &ORDER[..self.stored] {
            out.put(u32::from(self.lens[symbol]), 3);
            out.flush();
        }
        let code = Code::new(&self.lens);
        for &(symbol, extra, extra_bits) in &self.items {
            code.put(usize::from(symbol), out);
            out.put(u32::from(extra), u32::from(extra_bits));
            out.flush();
        }
    }
}

/// Appends a code length that is repeated `times` times, run-length encoded.
fn repeat(len: u8, mut times: usize, items: &mut Vec<(u8, u8, u8)>) {
    if len > 0 {
        items.push((len, 0, 0));
        times -= 1;
    }
    while times >= 3 {
        let (symbol, least, most, bits) = match (len, times) {
            (0, 11..) => (18, 11, 138, 7),
            (0, _) => (17, 3, 10, 3),
            _ => (16, 3, 6, 2),
        };
        let run = times.min(most);
        items.push((symbol, (run - least) as u8, bits));
        times -= run;
    }
    items.extend(std::iter::repeat_n((len, 0, 0), times));
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn round_trip(text: &[u8]) -> usize {
        let mut out = b"before".to_vec();
        FastDeflate::new().deflate(text, &mut out);
        let block = &out[6..];
        assert!(block.len() <= text.len() + 5, "{} of {}", block.len(), text.len());
        let mut found = vec![0; text.len()];
        let len = libdeflater::Decompressor::new().deflate_decompress(block, &mut found).unwrap();
        assert!(found[..len] == *text);
        let mut zlib = Vec::new();
        std::io::Read::read_to_end(&mut flate2::read::DeflateDecoder::new(block), &mut zlib)
            .unwrap();
        assert!(zlib == text);
        block.len()
    }

    #[test]
    fn texts_come_back() {
        let mut state = 1u32;
        let mut random = || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 24) as u8
        };
        let noise: Vec<u8> = (0..MAX).map(|_| random()).collect();
        let bases: Vec<u8> = noise.iter().map(|byte| b"ACGT"[usize::from(byte & 3)]).collect();
        for len in [0, 1, 2, 3, 7, 8, 15, 16, 17, 100, 32_768, 40_000, MAX] {
            round_trip(&noise[..len]);
            round_trip(&bases[..len]);
            round_trip(&vec![b'x'; len]);
        }
        assert_eq!(round_trip(&noise), MAX + 5);
        assert!(round_trip(&bases) < MAX * 2 / 5);
        assert!(round_trip(&vec![b'x'; MAX]) < MAX / 100);
    }

    /// Frequencies that lead to a Huffman code deeper than the limit.
    #[test]
    fn deep_codes_are_cut() {
        let mut text = Vec::new();
        let (mut one, mut two) = (1usize, 1usize);
        for byte in 0..20 {
            text.extend(std::iter::repeat_n(byte, one));
            (one, two) = (two, one + two);
        }
        // Shuffled, so that there are no repetitions.
        let mixed: Vec<u8> = (0..text.len()).map(|at| text[at * 7919 % text.len()]).collect();
        round_trip(&mixed[..mixed.len().min(MAX)]);
    }

    /// Matches with extreme distances and lengths.
    #[test]
    fn far_and_long_matches() {
        let mut text = b"0123456789abcdefghij".to_vec();
        for gap in [1, 32_768 - 20, 32_767] {
            let mut long = text.clone();
            long.extend((0..gap).map(|at: usize| (at * at / 8) as u8));
            long.extend_from_slice(&text);
            long.truncate(MAX);
            round_trip(&long);
        }
        text = text.repeat(40);
        assert!(round_trip(&text) < 60);
    }

    proptest! {
        #[test]
        fn any_text_comes_back(text in proptest::collection::vec(any::<u8>(), 0..3000), times in 1usize..20) {
            let text = text.repeat(times);
            round_trip(&text[..text.len().min(MAX)]);
        }

        #[test]
        fn few_letters_come_back(text in proptest::collection::vec(0u8..4, 0..20_000)) {
            round_trip(&text);
        }
    }
}
