//! The paper's encoding of super-k-mers for parallel access (RapidGKC §III-B, Figure 6).
//!
//! A byte holds up to 3 bases of 2 bits in its low six bits, first base highest, and their number
//! in its top two bits. The read is encoded once, 3 bases per byte; a super-k-mer copies its bytes,
//! removes the bases of its neighbours from the first and the last byte, and adds an empty byte if
//! it would end with a full one. So a byte that is not full and follows a full one ends a
//! super-k-mer, and a reader may start anywhere.
//!
//! Super-k-mers must have at least five bases, as the paper requires: then a full byte always precedes
//! the last one.

/// Encodes a whole read (codes 0 to 3), 3 bases per byte; the last byte may hold fewer.
pub fn encode_read(codes: &[u8], out: &mut Vec<u8>) {
    out.clear();
    let mut triples = codes.chunks_exact(3);
    out.extend((&mut triples).map(|c| 0b1100_0000 | c[0] << 4 | c[1] << 2 | c[2]));
    let rest = triples.remainder();
    if !rest.is_empty() {
        let bases = rest.iter().enumerate().fold(0, |b, (i, &c)| b | c << (4 - 2 * i));
        out.push((rest.len() as u8) << 6 | bases);
    }
}

/// Appends the super-k-mer of `len` bases (at least 5) that starts at base `at` of an encoded read.
pub fn append(read: &[u8], at: usize, len: usize, out: &mut Vec<u8>) {
    let (first, last) = (at / 3, (at + len - 1) / 3);
    let start = out.len();
    out.extend_from_slice(&read[first..=last]);
    let end = out.len() - 1;
    let keep = (at + len - 3 * last) as u8;
    let bases = out[end] & 0x3f & (0x3f << (6 - 2 * keep));
    out[end] = keep << 6 | bases;
    // The first byte loses the bases before the start; the others move up.
    let drop = (at % 3) as u8;
    if drop > 0 {
        let byte = out[start];
        out[start] = ((byte >> 6) - drop) << 6 | (byte << (2 * drop)) & 0x3f;
    }
    if out[end] >> 6 == 3 {
        out.push(0);
    }
}

/// Returns the encoded length in bytes of the super-k-mer of `len` bases at base `at` of its read.
pub fn bytes(at: usize, len: usize) -> usize {
    let full_end = (at + len).is_multiple_of(3);
    (at + len - 1) / 3 - at / 3 + 1 + usize::from(full_end)
}

/// Decodes all super-k-mers of `data` and passes the codes of each to `visit`; `codes` is working
/// space.
pub fn decode(data: &[u8], codes: &mut Vec<u8>, mut visit: impl FnMut(&[u8])) {
    codes.clear();
    let mut after_full = false;
    for &byte in data {
        let bases = byte >> 6;
        codes.extend((0..bases).map(|i| byte >> (4 - 2 * i) & 3));
        if bases == 3 {
            after_full = true;
        } else if after_full {
            visit(codes);
            codes.clear();
            after_full = false;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn super_kmers_come_back_as_they_went_in(
            codes in proptest::collection::vec(0u8..4, 5..200),
            cuts in proptest::collection::vec((0usize..200, 5usize..60), 1..20),
        ) {
            let mut read = Vec::new();
            encode_read(&codes, &mut read);
            let (mut data, mut expected, mut total) = (Vec::new(), Vec::new(), 0);
            for (at, len) in cuts {
                if at + len <= codes.len() {
                    append(&read, at, len, &mut data);
                    total += bytes(at, len);
                    expected.push(codes[at..at + len].to_vec());
                }
            }
            prop_assert_eq!(total, data.len());
            let mut decoded = Vec::new();
            decode(&data, &mut Vec::new(), |codes| decoded.push(codes.to_vec()));
            prop_assert_eq!(decoded, expected);
        }
    }

    #[test]
    fn a_super_kmer_that_ends_full_gets_an_empty_byte() {
        let (mut read, mut out) = (Vec::new(), Vec::new());
        encode_read(&[0, 1, 2, 3, 0, 1, 2], &mut read);
        assert_eq!(read, [0b11_00_01_10, 0b11_11_00_01, 0b01_10_00_00]);
        append(&read, 1, 5, &mut out);
        assert_eq!(out, [0b10_01_10_00, 0b11_11_00_01, 0]);
    }
}
