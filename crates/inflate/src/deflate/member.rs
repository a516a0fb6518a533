//! The header and footer of a gzip member (RFC 1952, section 2.3).

use super::Fault;

/// Returns the length in bytes of the header at the start of `bytes`.
pub(super) fn header(bytes: &[u8]) -> Result<usize, Fault> {
    const INVALID: Fault = Fault::Invalid("invalid gzip header");
    const MAGIC: [u8; 3] = [0x1f, 0x8b, 8];
    let flags = *bytes.get(3).ok_or(Fault::Input)?;
    if bytes.len() < 10 {
        return Err(Fault::Input);
    }
    if bytes[..3] != MAGIC || flags & 0xe0 != 0 {
        return Err(INVALID);
    }
    let mut end = 10;
    if flags & 4 != 0 {
        let length = bytes.get(end..end + 2).ok_or(Fault::Input)?;
        end += 2 + usize::from(u16::from_le_bytes([length[0], length[1]]));
    }
    // The name and the comment.
    for _ in 0..(flags >> 3 & 1) + (flags >> 4 & 1) {
        let text = bytes.get(end..).ok_or(Fault::Input)?;
        // Like flate2, reject overlong texts.
        let most = &text[..text.len().min(MAX_TEXT + 1)];
        end += match memchr::memchr(0, most) {
            Some(length) => length + 1,
            None if text.len() > MAX_TEXT => {
                return Err(Fault::Invalid("gzip header field too long"));
            }
            None => return Err(Fault::Input),
        };
    }
    if flags & 2 != 0 {
        let sum = bytes.get(end..end + 2).ok_or(Fault::Input)?;
        if u16::from_le_bytes([sum[0], sum[1]]) != crc32fast::hash(&bytes[..end]) as u16 {
            return Err(super::sums::MISMATCH);
        }
        end += 2;
    }
    if end > bytes.len() { Err(Fault::Input) } else { Ok(end) }
}

/// The maximum length of a name or comment in bytes.
const MAX_TEXT: usize = 65535;

/// Returns the checksum of the text and its length modulo 2^32.
pub(super) fn footer(bytes: &[u8]) -> Result<(u32, u32), Fault> {
    let [a, b, c, d, e, f, g, h] = *bytes.first_chunk().ok_or(Fault::Input)?;
    Ok((u32::from_le_bytes([a, b, c, d]), u32::from_le_bytes([e, f, g, h])))
}
