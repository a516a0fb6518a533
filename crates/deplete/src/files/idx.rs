//! Deacon's `.idx`, version 3: one byte each for version, k and w, 8 bytes for the number of minimizers, then the
//! minimizers in any order, ⌈k/4⌉ bytes each. Numbers are little-endian (Deacon 0.19.1, `index_format.rs`).

use std::io::{BufWriter, Read, Write};

use crate::word::{Word, by_word};
use crate::{MinimizerSet, Params};

const VERSION: u8 = 3;
const HEADER: usize = 11;
/// The number of minimizers that are read at a time.
pub(super) const STRETCH: usize = 256 << 10;

/// An open file whose header was read.
pub(super) struct Reader<R> {
    reader: R,
    pub(super) params: Params,
    pub(super) count: u64,
    left: u64,
}

impl<R: Read> Reader<R> {
    /// Reads the header of a file of `bytes` bytes, of which those in `first` were read.
    pub(super) fn open(first: &[u8], mut reader: R, bytes: u64) -> Result<Reader<R>, String> {
        if first.is_empty() {
            return Err("is empty: not a set of minimizers".into());
        }
        if first.starts_with(b"DBF") {
            return Err(
                "is a binary fuse filter of Deacon, which does not contain the minimizers: \
                        use the .idx file that it was made from"
                    .into(),
            );
        }
        let mut header = [0; HEADER];
        header[..first.len()].copy_from_slice(first);
        let rest = reader.read_exact(&mut header[first.len()..]);
        let [version, k, w, count @ ..] = header;
        let plausible = k % 2 == 1 && w % 2 == 1;
        if version != VERSION || rest.is_err() || !plausible {
            return Err(match version {
                1..=9 if rest.is_ok() && plausible => format!(
                    "is an index of Deacon, version {version}, but only {VERSION} is supported: build it again"
                ),
                _ => "is not a set of minimizers (.mgd, or Deacon's .idx)".into(),
            });
        }
        let params = Params::new(usize::from(k), usize::from(w))
            .map_err(|_| format!("has k {k} and w {w}; k must be up to {}", Params::MAX_K))?;
        let count = u64::from_le_bytes(count);
        let expected =
            count.checked_mul(width(params) as u64).and_then(|all| all.checked_add(HEADER as u64));
        if expected != Some(bytes) {
            return Err(format!(
                "has {bytes} bytes, but {count} minimizers in its header: it is truncated or damaged"
            ));
        }
        Ok(Reader { reader, params, count, left: count })
    }

    /// Reads some minimizers into `bytes`, which stays empty at the end of the file.
    pub(super) fn stretch(&mut self, bytes: &mut Vec<u8>) -> Result<(), String> {
        bytes.clear();
        let width = width(self.params);
        let most = (STRETCH * width) as u64;
        let got = self.reader.by_ref().take(most).read_to_end(bytes);
        let got = got.map_err(|error| format!("cannot read: {}", merganser_io::reason(&error)))?;
        self.left = self.left.checked_sub((got / width) as u64).unwrap_or(u64::MAX);
        if !got.is_multiple_of(width) || (got == 0 && self.left > 0) {
            return Err("was changed while it was read".into());
        }
        Ok(())
    }
}

/// Calls `take` with the number of each minimizer of a piece, as sets store it.
pub(super) fn decode<W: Word>(
    params: Params,
    bytes: &[u8],
    mut take: impl FnMut(W),
) -> Result<(), String> {
    for minimizer in bytes.chunks_exact(width(params)) {
        let append = |value: W, &byte: &u8| value << 8 | W::from(u64::from(byte));
        let value = minimizer.iter().rev().fold(W::default(), append);
        if value > params.mask::<W>() {
            return Err("has a minimizer of more bases than k: it is damaged".into());
        }
        take(params.spread(value));
    }
    Ok(())
}

/// Returns the bytes of a minimizer.
fn width(params: Params) -> usize {
    params.k().div_ceil(4)
}

/// Writes a set in the order of its numbers. Deacon's own files have the order of its hash set.
pub(super) fn write(set: &MinimizerSet, out: &mut impl Write) -> std::io::Result<()> {
    by_word!(set.numbers(), numbers => write_numbers(set.params(), numbers, out))
}

fn write_numbers<W: Word>(
    params: Params,
    numbers: &[W],
    out: &mut impl Write,
) -> std::io::Result<()> {
    let mut out = BufWriter::with_capacity(1 << 20, out);
    out.write_all(&[VERSION, params.k() as u8, params.w() as u8])?;
    out.write_all(&(numbers.len() as u64).to_le_bytes())?;
    let mut bytes = [0; 16];
    for &number in numbers {
        params.value(number).store(&mut bytes);
        out.write_all(&bytes[..width(params)])?;
    }
    out.flush()
}
