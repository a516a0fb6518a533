//! The file opts.k2d, which has the parameters of a database's minimizers.

use std::path::Path;

use crate::Error;
use merganser_store::ByteReader;

/// The maximum length of an l-mer: two bits per base, and Kraken 2 leaves one bit of a word free.
const MAX_L: u64 = 31;
/// The sizes of the file in bytes, oldest version first; fields that an old version lacks are 0.
const SIZES: [usize; 4] = [40, 48, 56, 64];

/// The parameters of a database's minimizers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kraken2Options {
    /// Length of a k-mer in bases.
    pub k: usize,
    /// Length of a minimizer in bases, at most `k` and 31.
    pub l: usize,
    /// The bits of an l-mer that count (two per base, the first base most significant); 0 for all.
    pub spaced_mask: u64,
    /// The value that l-mers are XORed with before the smallest is chosen.
    pub toggle_mask: u64,
    /// Minimizers with a smaller hash are not in the table; 0 if all are.
    pub minimum_hash: u64,
    /// Whether reverse complements are computed as in versions before 2.0.8: not shifted down to the lower
    /// bits of their word.
    pub old_complement: bool,
}

impl Kraken2Options {
    /// Reads opts.k2d.
    ///
    /// # Errors
    /// If the file cannot be read, has a size that no version wrote, or has inconsistent values.
    pub(super) fn read(path: &Path) -> Result<Kraken2Options, Error> {
        let failed = |source| Error::File { path: path.to_owned(), source };
        // One byte more than the maximum, to detect files that are too long.
        let mut bytes = Vec::new();
        let file = merganser_io::open_file(path).map_err(failed)?;
        let mut head = std::io::Read::take(file, 65);
        std::io::Read::read_to_end(&mut head, &mut bytes).map_err(failed)?;
        Self::parse(&bytes).map_err(|reason| Error::content(path, reason))
    }

    /// Returns the bits of an l-mer.
    fn lmer_mask(&self) -> u64 {
        (1 << (2 * self.l)) - 1
    }

    /// Returns the bits of an l-mer that count.
    pub(super) fn effective_spaced_mask(&self) -> u64 {
        match self.spaced_mask {
            0 => self.lmer_mask(),
            mask => mask & self.lmer_mask(),
        }
    }

    /// Returns what differs from the parameters of another database whose table is to be looked up for the same
    /// minimizers: each parameter with both values.
    pub(super) fn differences(&self, other: &Kraken2Options) -> impl Iterator<Item = String> {
        let numbers = |of: &Kraken2Options| {
            [
                ("k", of.k.to_string()),
                ("l", of.l.to_string()),
                ("the spaced seed", format!("{:#x}", of.effective_spaced_mask())),
                ("the toggle mask", format!("{:#x}", of.toggle_mask & of.lmer_mask())),
                (
                    "the rule of reverse complements (that before 2.0.8)",
                    of.old_complement.to_string(),
                ),
            ]
        };
        let both = numbers(self).into_iter().zip(numbers(other));
        let different = both.filter(|(one, two)| one != two);
        different.map(|((name, one), (_, two))| format!("{name} is {one} and {two}"))
    }

    /// Encodes the options as the newest version of the file, for a database of nucleotides.
    pub(super) fn bytes(&self) -> [u8; 64] {
        let versions = u64::from(!self.old_complement);
        let (k, l) = (self.k as u64, self.l as u64);
        let dna = 1;
        let fields =
            [k, l, self.spaced_mask, self.toggle_mask, dna, self.minimum_hash, versions, 0];
        let mut bytes = [0; 64];
        for (bytes, field) in bytes.chunks_exact_mut(8).zip(fields) {
            bytes.copy_from_slice(&field.to_le_bytes());
        }
        bytes
    }

    fn parse(bytes: &[u8]) -> Result<Kraken2Options, String> {
        if !SIZES.contains(&bytes.len()) {
            let size = if bytes.len() > 64 { "more than 64" } else { &bytes.len().to_string() };
            return Err(format!(
                "{size} bytes, but options of Kraken 2 have 40, 48, 56 or 64: damaged, or of another version"
            ));
        }
        let mut padded = [0; 64];
        padded[..bytes.len()].copy_from_slice(bytes);
        let mut fields = ByteReader(&padded);
        let mut next = || fields.u64().unwrap_or(0);
        let [k, l, spaced_mask, toggle_mask, dna, minimum_hash, versions, kind] =
            std::array::from_fn(|_| next());
        match dna as u8 {
            1 => {}
            0 => {
                return Err(
                    "a database of proteins, for translated search, which is not supported: \
                            use one of nucleotides"
                        .to_owned(),
                );
            }
            other => return Err(format!("byte 32 is {other}, not 0 or 1: damaged")),
        }
        if !(1..=MAX_L).contains(&l) || k < l || k > u64::from(u32::MAX) {
            return Err(format!(
                "k = {k} and l = {l}, but l must be 1 to 31 and k at least l: damaged"
            ));
        }
        let (revcom, version, kind) = (versions as u32, (versions >> 32) as u32, kind as u32);
        if revcom > 1 || version != 0 || kind != 0 {
            return Err(format!(
                "reverse complements of version {revcom}, database of version {version} and type {kind}, \
                 which Kraken 2.17.1 does not know: damaged, or of a newer version"
            ));
        }
        Ok(Kraken2Options {
            k: k as usize,
            l: l as usize,
            spaced_mask,
            toggle_mask,
            minimum_hash,
            old_complement: revcom == 0,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes() -> Vec<u8> {
        let mut bytes = Vec::new();
        let garbage = 0x7f4f_c381_1300;
        for field in
            [35, 31, 0x3fff_ffff_3333_3333, 0xe37e_28c4_271b_5a2d, garbage | 1, 0, 1, garbage << 32]
        {
            bytes.extend_from_slice(&u64::to_le_bytes(field));
        }
        bytes
    }

    #[test]
    fn files_of_all_versions_are_read() {
        let all = Kraken2Options {
            k: 35,
            l: 31,
            spaced_mask: 0x3fff_ffff_3333_3333,
            toggle_mask: 0xe37e_28c4_271b_5a2d,
            minimum_hash: 0,
            old_complement: false,
        };
        let old = Kraken2Options { old_complement: true, ..all };
        assert_eq!(Kraken2Options::parse(&bytes()), Ok(all));
        assert_eq!(Kraken2Options::parse(&all.bytes()), Ok(all));
        assert_eq!(Kraken2Options::parse(&old.bytes()), Ok(old));
        assert_eq!(Kraken2Options::parse(&bytes()[..56]), Ok(all));
        assert_eq!(Kraken2Options::parse(&bytes()[..48]), Ok(old));
        assert_eq!(Kraken2Options::parse(&bytes()[..40]), Ok(old));
        for size in (0..64).filter(|size| !SIZES.contains(size)) {
            assert!(Kraken2Options::parse(&bytes()[..size]).is_err());
        }
    }

    #[test]
    fn what_cannot_be_is_refused() {
        let with = |at: usize, byte: u8| {
            let mut bytes = bytes();
            bytes[at] = byte;
            Kraken2Options::parse(&bytes).unwrap_err()
        };
        assert!(with(32, 0).starts_with("a database of proteins"));
        assert_eq!(with(32, 2), "byte 32 is 2, not 0 or 1: damaged");
        assert!(with(0, 30).starts_with("k = 30 and l = 31"));
        assert!(with(8, 0).starts_with("k = 35 and l = 0"));
        assert!(with(8, 32).starts_with("k = 35 and l = 32"));
        assert!(with(7, 1).starts_with("k = 72057594037927971"));
        for at in [48, 52, 56] {
            assert!(with(at, 2).ends_with("damaged, or of a newer version"));
        }
        let mut long = bytes();
        long.push(0);
        assert!(Kraken2Options::parse(&long).unwrap_err().starts_with("more than 64 bytes"));
    }
}
