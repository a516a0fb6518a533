//! Letters as sets of bases: A, C, G and T are bits 0 to 3, and two letters match if their sets have a common base.

/// All four bases.
pub(crate) const ANY: u8 = 15;

/// Returns the bases that an IUPAC letter denotes, in either case; U is T. 0 for any other byte.
#[inline]
pub(crate) fn bases(letter: u8) -> u8 {
    match letter & 0xdf {
        b'A' => 1,
        b'C' => 2,
        b'G' => 4,
        b'T' | b'U' => 8,
        b'R' => 1 | 4,
        b'Y' => 2 | 8,
        b'S' => 2 | 4,
        b'W' => 1 | 8,
        b'K' => 4 | 8,
        b'M' => 1 | 2,
        b'B' => 2 | 4 | 8,
        b'D' => 1 | 4 | 8,
        b'H' => 1 | 2 | 8,
        b'V' => 1 | 2 | 4,
        b'N' => ANY,
        _ => 0,
    }
}

/// Returns the bases that a letter of a text may match: those of [`bases`], but none for N unless `n_matches`.
#[inline]
pub(crate) fn text_bases(letter: u8, n_matches: bool) -> u8 {
    match bases(letter) {
        ANY if !n_matches => 0,
        bases => bases,
    }
}

/// Returns the letter of a set of bases; `-` if it is empty.
pub(crate) fn letter(bases: u8) -> u8 {
    b"-ACMGRSVTWYHKDBN"[usize::from(bases)]
}

/// Returns the complements of the bases of a set.
pub(crate) fn complement(bases: u8) -> u8 {
    bases.reverse_bits() >> 4
}

/// Returns the letter of the complementary bases, in upper case; other bytes become `-`.
pub(crate) fn complement_letter(letter: u8) -> u8 {
    self::letter(complement(bases(letter)))
}

/// Returns the sets of the reverse complement.
pub(crate) fn reverse_complement(sets: &[u8]) -> Vec<u8> {
    sets.iter().rev().map(|&bases| complement(bases)).collect()
}

/// Appends letters in upper case, or their reverse complement.
pub(crate) fn put_directed(letters: &[u8], reverse: bool, text: &mut Vec<u8>) {
    match reverse {
        true => text.extend(letters.iter().rev().map(|&letter| complement_letter(letter))),
        false => text.extend(letters.iter().map(u8::to_ascii_uppercase)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn complements_are_those_of_iupac() {
        for (letter, other) in b"ACGTRYSWKMBDHVN".iter().zip(b"TGCAYRSWMKVHDBN") {
            assert_eq!(complement(bases(*letter)), bases(*other));
            assert_eq!(bases(letter.to_ascii_lowercase()), bases(*letter));
            assert_eq!(complement_letter(letter.to_ascii_lowercase()), *other);
        }
        assert_eq!((bases(b'U'), bases(b'X'), bases(b'-')), (8, 0, 0));
        assert_eq!(reverse_complement(&[1, 5, 15]), [15, 10, 8]);
        assert_eq!(
            [text_bases(b'N', false), text_bases(b'n', true), text_bases(b'r', false)],
            [0, 15, 5]
        );
    }
}
