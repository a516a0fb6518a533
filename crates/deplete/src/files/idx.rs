//! Deacon's `.idx`, version 3: a byte each of version, k and w, 8 of how many, then the minimizers in ⌈k/4⌉ bytes each,
//! little-endian, in any order (Deacon 0.19.1, `index_format.rs`).

use std::io::{BufWriter, Read, Write};

use crate::{MinimizerSet, Params};

const VERSION: u8 = 3;
const HEADER: usize = 11;

/// A file whose header was read.
pub(super) struct Reader<R> {
    reader: R,
    pub(super) params: Params,
    pub(super) count: u64,
    /// Bytes of a minimizer.
    width: usize,
}

impl<R: Read> Reader<R> {
    /// Of a file of so many bytes, the first of which were read.
    pub(super) fn open(first: &[u8], mut reader: R, bytes: u64) -> Result<Reader<R>, String> {
        if first.is_empty() {
            return Err("is empty: no set of minimizers".into());
        }
        if first.starts_with(b"DBF") {
            return Err(
                "is a binary fuse filter of Deacon, from which its minimizers cannot be had: \
                        use the .idx file that it was made of"
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
                    "is an index of Deacon, version {version}, and {VERSION} is read: build it again"
                ),
                _ => "is no set of minimizers (.mgd, or Deacon's .idx)".into(),
            });
        }
        let params = Params::new(usize::from(k), usize::from(w))
            .map_err(|_| format!("has k {k} and w {w}; k of up to {} is read", Params::MOST_K))?;
        let (count, width) = (u64::from_le_bytes(count), usize::from(k).div_ceil(4));
        let expected =
            count.checked_mul(width as u64).and_then(|all| all.checked_add(HEADER as u64));
        if expected != Some(bytes) {
            return Err(format!(
                "has {bytes} bytes, which are not those of {count} minimizers: it is truncated or damaged"
            ));
        }
        Ok(Reader { reader, params, count, width })
    }

    /// The next minimizer, as a set keeps it.
    pub(super) fn next(&mut self) -> Result<u64, String> {
        let mut bytes = [0; 8];
        self.reader
            .read_exact(&mut bytes[..self.width])
            .map_err(|error| format!("cannot read: {}", merganser_io::reason(&error)))?;
        let value = u64::from_le_bytes(bytes);
        if value > self.params.mask() {
            return Err("has a minimizer of more bases than k: it is damaged".into());
        }
        Ok(self.params.spread(value))
    }
}

/// Writes a set, its minimizers in order; Deacon's own files have them in that of its hash set.
pub(super) fn write(set: &MinimizerSet, out: &mut impl Write) -> std::io::Result<()> {
    let (params, mut values) = (set.params(), set.values().collect::<Vec<_>>());
    values.sort_unstable();
    let mut out = BufWriter::with_capacity(1 << 20, out);
    out.write_all(&[VERSION, params.k() as u8, params.w() as u8])?;
    out.write_all(&(values.len() as u64).to_le_bytes())?;
    let width = params.k().div_ceil(4);
    for value in values {
        out.write_all(&value.to_le_bytes()[..width])?;
    }
    out.flush()
}
