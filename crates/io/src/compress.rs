//! Compressions, told apart by the first bytes of a file and never by its name.

use crate::stream::check_open;
use crate::there::Uninterrupted;
use merganser_inflate::{GzipStream, bgzf};
use std::fs::File;
use std::io::{self, BufRead, BufReader, Cursor, Read};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

/// How many first bytes of a file [`Compression::sniff`] wants to see: enough for the extra fields
/// of a gzip member.
pub(crate) const HEAD: usize = 256;

/// Bytes that the process may use; 0 as long as nobody has said.
static MEMORY: AtomicU64 = AtomicU64::new(0);

/// Says how much memory the process may use in all, for what a file alone decides: zstd data that need
/// a window of more than an eighth of it (and of more than 128 MiB) are refused. Without this, it is
/// the [default budget](merganser_run::default_budget) at the moment when a file is opened.
pub fn limit_memory(bytes: u64) {
    MEMORY.store(bytes.max(1), Ordering::Relaxed);
}

/// The binary logarithm of the largest window of zstd data in each of `files` that are read at the
/// same time: 27, which every decoder takes, to 31, the most there is.
pub(crate) fn zstd_window(files: usize) -> u32 {
    let memory = match MEMORY.load(Ordering::Relaxed) {
        0 => merganser_run::default_budget(),
        memory => memory,
    };
    (memory / 8 / files.max(1) as u64).max(1).ilog2().clamp(27, 31)
}

/// A reader of the text of the file `path`, which may be compressed as sequence files may.
///
/// # Errors
///
/// If it cannot be opened or its beginning not be read, or if it is empty but its name says that it is
/// compressed.
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

/// Whether a file, which is read from where it stands, begins as compressed files do.
///
/// # Errors
///
/// If its beginning cannot be read.
pub fn is_compressed(file: &File) -> io::Result<bool> {
    let mut head = Vec::new();
    file.take(HEAD as u64).read_to_end(&mut head)?;
    Ok(Compression::sniff(&head) != Compression::None)
}

/// A reader of the text of `file`, which may be compressed as sequence files may.
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
    compression.decoder(whole, zstd_window(1))
}

/// What a file must hold by its name, and an empty one does not: a compressed file of nothing has a
/// header, too, and so have BAM and CRAM.
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

/// How a file is compressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Compression {
    None,
    Gzip,
    /// gzip in small members that tell their size (SAM specification, section 4.1).
    Bgzf,
    Zstd,
    Bzip2,
    Xz,
}

impl Compression {
    /// The compression of a file that begins with `head`.
    pub(crate) fn sniff(head: &[u8]) -> Self {
        match head {
            [0x1f, 0x8b, ..] => match bgzf::header(head) {
                bgzf::Header::Block { .. } => Self::Bgzf,
                _ => Self::Gzip,
            },
            // The second is a skippable frame, with which e.g. pzstd begins.
            [0x28, 0xb5, 0x2f, 0xfd, ..] | [0x50..=0x5f, 0x2a, 0x4d, 0x18, ..] => Self::Zstd,
            [b'B', b'Z', b'h', b'1'..=b'9', ..] => Self::Bzip2,
            [0xfd, b'7', b'z', b'X', b'Z', 0, ..] => Self::Xz,
            _ => Self::None,
        }
    }

    /// The name for messages.
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

    /// A reader of what `input` decompresses to, all its members, frames or streams; windows of zstd
    /// may be as large as 2 to the power of `window`.
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
            Self::Xz => Box::new(liblzma::bufread::XzDecoder::new_multi_decoder(input)),
        })
    }
}
