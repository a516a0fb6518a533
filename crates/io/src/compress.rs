//! Compression formats, detected by the first bytes of a file and never by its name.

use crate::stream::check_open;
use crate::there::Uninterrupted;
use liblzma::bufread::XzDecoder;
use liblzma::stream::Stream;
use merganser_inflate::{GzipStream, bgzf};
use std::fs::File;
use std::io::{self, BufRead, BufReader, Cursor, Read};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

/// The number of first bytes of a file that [`Compression::sniff`] needs: enough for the extra fields of a gzip
/// member.
pub(crate) const HEAD: usize = 256;

/// The number of bytes that the process may use; 0 if [`limit_memory`] was not called.
static MEMORY: AtomicU64 = AtomicU64::new(0);

/// Sets how much memory the process may use in total. It limits memory whose size a file decides: zstd and xz data that
/// need a window of more than an eighth of it (and of more than 128 MiB) are refused. Without this call, the limit
/// is the [default budget](merganser_run::default_budget) at the time when a file is opened.
pub fn limit_memory(bytes: u64) {
    MEMORY.store(bytes.max(1), Ordering::Relaxed);
}

/// Returns the binary logarithm of the largest window of zstd and xz that is accepted if `files` files are read at the same
/// time: from 27, which every decoder of zstd accepts, to 31, the maximum of zstd.
pub(crate) fn max_window(files: usize) -> u32 {
    let memory = match MEMORY.load(Ordering::Relaxed) {
        0 => merganser_run::default_budget(),
        memory => memory,
    };
    (memory / 8 / files.max(1) as u64).max(1).ilog2().clamp(27, 31)
}

/// Opens the file `path` as text; it may be compressed in any format that is accepted for sequence files.
///
/// # Errors
///
/// If the file cannot be opened, if its beginning cannot be read, or if it is empty although its name says that it
/// is compressed.
pub fn open_text(path: &Path) -> io::Result<Box<dyn Read + Send>> {
    check_open(path)?;
    let file = File::open(path)?;
    let metadata = file.metadata()?;
    if metadata.is_file()
        && metadata.len() == 0
        && let Some(kind) = promised(path)
    {
        let what = format!("truncated: no {kind} data in it; copy or download the file again");
        return Err(io::Error::new(io::ErrorKind::InvalidData, what));
    }
    decompress(file)
}

/// Whether a file begins as compressed files do. It is read from its current position.
///
/// # Errors
///
/// If its beginning cannot be read.
pub fn is_compressed(file: &File) -> io::Result<bool> {
    let mut head = Vec::new();
    file.take(HEAD as u64).read_to_end(&mut head)?;
    Ok(Compression::sniff(&head) != Compression::None)
}

/// Returns a reader of the text of `file`, which may be compressed in any format that is accepted for sequence files.
///
/// # Errors
///
/// If its beginning cannot be read.
pub fn decompress(file: File) -> io::Result<Box<dyn Read + Send>> {
    let mut file = Uninterrupted(file);
    let mut head = Vec::with_capacity(HEAD);
    (&mut file).take(HEAD as u64).read_to_end(&mut head)?;
    let compression = Compression::sniff(&head);
    let whole = BufReader::with_capacity(1 << 18, Cursor::new(head).chain(file));
    compression.decoder(whole, max_window(1))
}

/// Returns the format that the name of a file promises, for formats in which even empty data have a header. So an
/// empty file of that name is truncated.
pub(crate) fn promised(path: &Path) -> Option<&'static str> {
    let suffix = path.extension()?.to_str()?.to_ascii_lowercase();
    Some(match &suffix[..] {
        "gz" | "bgz" | "bgzf" => "gzip",
        "bz2" => "bzip2",
        "xz" => "xz",
        "zst" => "zstd",
        "bam" => "BAM",
        "cram" => "CRAM",
        _ => return None,
    })
}

/// The compression format of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Compression {
    None,
    Gzip,
    /// gzip in small members that state their size (SAM specification, section 4.1).
    Bgzf,
    Zstd,
    Bzip2,
    Xz,
}

impl Compression {
    /// Detects the compression of a file that begins with `head`.
    pub(crate) fn sniff(head: &[u8]) -> Self {
        match head {
            [0x1f, 0x8b, ..] => match bgzf::header(head) {
                bgzf::Header::Block { .. } => Self::Bgzf,
                _ => Self::Gzip,
            },
            // The second pattern is a skippable frame, with which the output of pzstd and others begins.
            [0x28, 0xb5, 0x2f, 0xfd, ..] | [0x50..=0x5f, 0x2a, 0x4d, 0x18, ..] => Self::Zstd,
            [b'B', b'Z', b'h', b'1'..=b'9', ..] => Self::Bzip2,
            [0xfd, b'7', b'z', b'X', b'Z', 0, ..] => Self::Xz,
            _ => Self::None,
        }
    }

    /// Returns the name for messages.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::None => "plain",
            Self::Gzip => "gzip",
            Self::Bgzf => "BGZF",
            Self::Zstd => "zstd",
            Self::Bzip2 => "bzip2",
            Self::Xz => "xz",
        }
    }

    /// Returns a reader that decompresses all members, frames or streams of `input`. Windows of zstd and xz may have up
    /// to 2^`window` bytes.
    pub(crate) fn decoder<R>(self, input: R, window: u32) -> io::Result<Box<dyn Read + Send>>
    where
        R: BufRead + Send + 'static,
    {
        Ok(match self {
            Self::None => Box::new(input),
            Self::Gzip | Self::Bgzf => Box::new(GzipStream::new(input)),
            Self::Zstd => {
                let mut decoder = zstd::stream::read::Decoder::with_buffer(input)?;
                decoder.window_log_max(window)?;
                Box::new(decoder)
            }
            Self::Bzip2 => Box::new(bzip2::bufread::MultiBzDecoder::new(input)),
            Self::Xz => {
                // The decoder needs a little more than its window.
                let memory = (1 << window) + (1 << 20);
                let stream = Stream::new_auto_decoder(memory, liblzma::stream::CONCATENATED)?;
                Box::new(XzDecoder::new_stream(input, stream))
            }
        })
    }
}
