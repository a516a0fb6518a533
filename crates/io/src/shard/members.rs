//! Members of gzip files, including BGZF blocks: where they begin, and the text from a member on.

use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom};
use std::ops::Range;
use std::os::unix::fs::FileExt;

use flate2::bufread::GzDecoder;
use memchr::memmem;
use merganser_inflate::GzipStream;
use merganser_inflate::bgzf::{self, Header};

use crate::compress::Compression;
use crate::there::{Uninterrupted, is_of_system, uninterrupted};

/// The maximum distance, in bytes, that is searched for a member; less in tests. Most gzip files have only one, so a
/// search to the end of the file would usually be in vain.
const NEAR: u64 = if cfg!(test) { 64 << 10 } else { 64 << 20 };
/// The number of bytes that are searched at a time.
const STEP: usize = if cfg!(test) { 32 << 10 } else { 1 << 20 };
/// The number of bytes by which the searched pieces overlap, because a header may span two of them.
const ACROSS: usize = 1 << 10;

/// Returns the offsets at which a member is looked for at a border.
pub(super) fn near(border: u64) -> Range<u64> {
    border..border.saturating_add(NEAR)
}

/// Returns the offset of the first member of a file of `size` bytes that begins within `range`.
pub(super) fn find_member(
    file: &File,
    size: u64,
    compression: Compression,
    range: Range<u64>,
) -> io::Result<Option<u64>> {
    let mut buffer = vec![0; STEP + ACROSS];
    let mut from = range.start;
    while from < size.min(range.end) {
        let known = fill_at(file, &mut buffer, from)?;
        for found in memmem::find_iter(&buffer[..known], b"\x1f\x8b\x08") {
            let member = from + found as u64;
            if found >= STEP || member >= range.end {
                break;
            }
            let begins = match compression {
                Compression::Bgzf => is_block(file, size, member)?,
                _ => is_member(file, &buffer[found..known], member)?,
            };
            if begins {
                return Ok(Some(member));
            }
        }
        from += STEP as u64;
    }
    Ok(None)
}

fn fill_at(file: &File, buffer: &mut [u8], from: u64) -> io::Result<usize> {
    let mut filled = 0;
    while filled < buffer.len() {
        match uninterrupted(|| file.read_at(&mut buffer[filled..], from + filled as u64))? {
            0 => break,
            read => filled += read,
        }
    }
    Ok(filled)
}

/// Reads the BGZF block at offset `at` of a file, and returns its size in bytes and its text; `None` if there is no
/// block with a correct checksum.
///
/// # Errors
/// If reading fails.
pub fn read_bgzf_block(file: &File, at: u64) -> io::Result<Option<(u64, Vec<u8>)>> {
    let mut bytes = vec![0; bgzf::MAX_BLOCK];
    let known = fill_at(file, &mut bytes, at)?;
    let Header::Block { size } = bgzf::header(&bytes[..known]) else { return Ok(None) };
    let mut text = Vec::new();
    let whole = GzDecoder::new(&bytes[..size.min(known)]).read_to_end(&mut text);
    Ok((size <= known && whole.is_ok()).then_some((size as u64, text)))
}

/// Whether a BGZF block is at offset `at`, followed by another block or by the end of the file.
fn is_block(file: &File, size: u64, at: u64) -> io::Result<bool> {
    let Some((own, _)) = read_bgzf_block(file, at)? else { return Ok(false) };
    let mut next = [0; 64];
    let known = fill_at(file, &mut next, at + own)?;
    let follows = matches!(bgzf::header(&next[..known]), Header::Block { .. });
    Ok(follows || at + own == size)
}

/// Whether a member seems to begin at offset `at`: its header is one that programs write, and it inflates to text.
/// Three bytes may look like a header by chance, but that much text is very unlikely. The reader of the previous
/// member checks that it ends here, so a wrong guess is at worst an error.
fn is_member(file: &File, head: &[u8], at: u64) -> io::Result<bool> {
    const ENOUGH: u64 = 64 << 10;
    let &[_, _, _, flags, _, _, _, _, level, system, ..] = head else { return Ok(false) };
    if flags & 0xe0 != 0 || !matches!(level, 0 | 2 | 4) || !(system <= 13 || system == 255) {
        return Ok(false);
    }
    let mut text = Vec::new();
    let mut member = file.try_clone()?;
    member.seek(SeekFrom::Start(at))?;
    let member = BufReader::new(Uninterrupted(member));
    let read = GzDecoder::new(member).take(ENOUGH).read_to_end(&mut text);
    let is_text = text.iter().all(|&byte| byte >= b' ' || byte.is_ascii_whitespace());
    match read {
        Err(error) if is_of_system(&error) => Err(error),
        read => Ok(read.is_ok() && is_text),
    }
}

/// A reader of the text of a gzip file.
pub(super) type MemberText = GzipStream<BufReader<Uninterrupted<File>>>;

/// Returns the text of a file from the member at offset `member` on. No duplicate of the file handle may be read in
/// the meantime, because duplicates share one position.
pub(super) fn text_from(mut file: File, member: u64) -> io::Result<MemberText> {
    file.seek(SeekFrom::Start(member))?;
    let bytes = BufReader::with_capacity(1 << 18, Uninterrupted(file));
    Ok(GzipStream::from(bytes, member))
}
