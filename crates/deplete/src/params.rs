//! The parameters of minimizers: k and w.

use merganser_run::ConfigError;

use crate::Error;
use crate::word::Word;

/// The parameters of minimizers: of w consecutive k-mers, one is the minimizer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Params {
    k: u8,
    w: u8,
}

impl Params {
    /// The maximum length of a minimizer in bases, as in Deacon.
    pub const MAX_K: usize = 61;
    /// The maximum length of a minimizer that is stored in 64 bits. Longer ones take 128 bits.
    pub const MAX_SHORT_K: usize = 31;
    /// The upper limit of k + w, as in Deacon; a window has k + w - 1 bases.
    pub const MAX_BASES: usize = 96;

    /// Makes parameters of the length of a minimizer in bases and the number of k-mers in a window.
    ///
    /// # Errors
    /// If k is not odd or not within 1 to 61, w is not odd, or k + w exceeds 96. In a window with an even number of
    /// bases, the numbers of the two kinds of bases could be equal, which would leave the strand undefined.
    pub fn new(k: usize, w: usize) -> Result<Params, Error> {
        let problem = if k > Params::MAX_K || k.is_multiple_of(2) {
            format!("`k` is {k}: an odd number of up to {} is needed", Params::MAX_K)
        } else if w.is_multiple_of(2) || k + w > Params::MAX_BASES {
            format!("`w` is {w}: an odd number of up to {} is needed", Params::MAX_BASES - k)
        } else {
            return Ok(Params { k: k as u8, w: w as u8 });
        };
        Err(Error::Config(ConfigError::new(problem)))
    }

    /// Returns the length of a minimizer in bases.
    pub fn k(self) -> usize {
        usize::from(self.k)
    }

    /// Returns the number of k-mers in a window.
    pub fn w(self) -> usize {
        usize::from(self.w)
    }

    /// Returns the length of a window in bases.
    pub fn bases(self) -> usize {
        self.k() + self.w() - 1
    }

    /// Whether minimizers take 128 bits, not 64.
    pub(crate) fn are_long(self) -> bool {
        self.k() > Params::MAX_SHORT_K
    }

    /// Returns the size of a minimizer in memory, in bytes.
    pub(crate) fn word_bytes(self) -> u64 {
        if self.are_long() { 16 } else { 8 }
    }

    /// Returns the number of bits of a word that a minimizer does not use.
    #[inline(always)]
    pub(crate) fn unused_bits<W: Word>(self) -> u32 {
        W::BITS - 2 * u32::from(self.k)
    }

    /// Returns a mask of the bits of a minimizer.
    #[inline(always)]
    pub(crate) fn mask<W: Word>(self) -> W {
        W::mask(self.k())
    }

    /// Returns the number that a minimizer is stored as.
    #[inline(always)]
    pub(crate) fn spread<W: Word>(self, value: W) -> W {
        value.times(W::FACTOR) & self.mask()
    }

    /// Returns the minimizer of a number: its bases A C T G as 0 1 2 3, the first one in the lowest bits.
    #[inline(always)]
    pub(crate) fn value<W: Word>(self, spread: W) -> W {
        spread.times(W::INVERSE) & self.mask()
    }
}

impl Default for Params {
    /// Returns k 31 and w 15, the defaults of Deacon.
    fn default() -> Params {
        Params { k: 31, w: 15 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_are_odd_and_not_too_large() {
        for (k, w) in [(31, 15), (1, 1), (31, 65), (15, 81), (33, 15), (61, 35)] {
            assert!(Params::new(k, w).is_ok(), "{k} {w}");
        }
        for (k, w) in
            [(30, 15), (32, 15), (32, 16), (31, 14), (63, 15), (31, 67), (61, 37), (0, 1), (31, 0)]
        {
            let message = Params::new(k, w).unwrap_err().to_string();
            assert!(message.contains("an odd number of up to"), "{k} {w} {message}");
        }
        assert_eq!(Params::default(), Params::new(31, 15).unwrap());
        assert_eq!(Params::new(5, 3).unwrap().mask::<u64>(), 0x3ff);
    }
}
