//! Opening of a file: which way it can be read.

use super::super::ReaderOptions;
use super::super::errors::{decode_error, read_error};
use super::super::options::CRAM;
use super::super::pipe::Pipe;
use super::{Bytes, FetchState, Fetcher, Origin, RAW_BUFFER, Raw, cram_error};
use crate::alignment::{CRAM_MAGIC, Containers};
use crate::compress::{Compression, HEAD, max_window, promised};
use crate::converted::Converted;
use crate::input::open_error;
use crate::shard::Stretch;
use crate::there::uninterrupted;
use crate::{Error, Input};
use merganser_inflate::bgzf::{BlockReader, BlockWalk, ends_early};
use merganser_inflate::parallel::Cutter;
use rustix::fs::{Mode, OFlags};
use rustix::io::retry_on_intr;
use std::fs::File;
use std::io::{self, BufReader, Cursor, Read};
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::Arc;

impl Fetcher {
    /// Opens the file, and finds out how it can be read.
    pub(super) fn open(&mut self, name: &str, options: &ReaderOptions) -> Result<(), Error> {
        let FetchState::Unopened(origin) = std::mem::replace(&mut self.state, FetchState::Closed)
        else {
            return Ok(());
        };
        if let Origin::Input(input @ Input::Stretch(_, stretch)) = &origin {
            self.state = self.open_stretch(input, stretch, name)?;
            return Ok(());
        }
        let promised = match &origin {
            Origin::Input(input) => input.path().and_then(promised),
            Origin::Reader(_) => None,
        };
        let bytes: Bytes = match origin {
            Origin::Reader(bytes) => bytes,
            Origin::Input(Input::Converted(_, Converted(conversion))) => {
                conversion.open().map_err(|error| read_error(name, error))?
            }
            Origin::Input(input) => match input.path() {
                None => Box::new(
                    Pipe::stdin(options.cancel.clone()).map_err(|error| read_error(name, error))?,
                ),
                Some(path) => {
                    let (file, length) = open_file(&input, path)?;
                    if self.open_regular(&file, length, name)? {
                        return Ok(());
                    }
                    Box::new(Pipe::new(file, options.cancel.clone()))
                }
            },
        };
        self.state = self.stream(bytes, name, promised, options)?;
        Ok(())
    }

    /// Opens a stretch of a file.
    fn open_stretch(
        &self,
        input: &Input,
        stretch: &Stretch,
        name: &str,
    ) -> Result<FetchState, Error> {
        let (file, _) = open_file(input, input.path().unwrap_or(Path::new("")))?;
        let compression = stretch.compression();
        let failed = |error| decode_error(name, compression, &error);
        Ok(match compression {
            Compression::None => {
                let (offset, length) = stretch.range();
                FetchState::Plain { file: Arc::new(file), offset, length }
            }
            Compression::Bgzf => {
                let bytes = stretch.blocks(file).map_err(failed)?;
                let raw = Raw { bytes, count: Arc::clone(&self.count) };
                FetchState::Blocks(BlockReader::new(Box::new(raw)))
            }
            _ => {
                let text = stretch.text(file, Arc::clone(&self.count)).map_err(failed)?;
                FetchState::Stream { text, compression }
            }
        })
    }

    /// Opens a file of `length` bytes if several workers can read it at any offset. Returns whether it did.
    fn open_regular(&mut self, file: &File, length: u64, name: &str) -> Result<bool, Error> {
        let failed = |error| read_error(name, error);
        let mut head = [0; HEAD];
        let mut known = 0;
        if length > 0 {
            known = uninterrupted(|| file.read_at(&mut head, 0)).map_err(failed)?;
        }
        let head = &head[..known];
        self.state = match (Compression::sniff(head), self.plan) {
            (Compression::None, _) if known > 0 && !self.is_cram(head) => {
                let file = Arc::new(file.try_clone().map_err(failed)?);
                FetchState::Plain { file, offset: 0, length }
            }
            (Compression::Bgzf, _) => {
                self.cut = is_cut(file, length).map_err(failed)?;
                let file = Arc::new(file.try_clone().map_err(failed)?);
                FetchState::Walk { file, walk: BlockWalk::new(length), may_leave: true }
            }
            (Compression::Gzip, Some(plan)) if plan.is_worth(length) => {
                let file = file.try_clone().map_err(failed)?;
                FetchState::Ranges(Cutter::new(file, length, plan))
            }
            _ => return Ok(false),
        };
        Ok(true)
    }

    fn is_cram(&self, head: &[u8]) -> bool {
        self.sequences && head.starts_with(CRAM_MAGIC)
    }

    /// Begins to read a byte stream. Empty data are an error if `promised` names a compression.
    fn stream(
        &self,
        bytes: Bytes,
        name: &str,
        promised: Option<&'static str>,
        options: &ReaderOptions,
    ) -> Result<FetchState, Error> {
        let mut raw = Raw { bytes, count: Arc::clone(&self.count) };
        let mut head = Vec::with_capacity(HEAD);
        (&mut raw)
            .take(HEAD as u64)
            .read_to_end(&mut head)
            .map_err(|error| read_error(name, error))?;
        if let Some(compression) = promised.filter(|_| head.is_empty()) {
            return Err(Error::Truncated { input: name.to_owned(), compression });
        }
        let (compression, is_cram) = (Compression::sniff(&head), self.is_cram(&head));
        // The head is read again, followed by the rest.
        let whole: Bytes = Box::new(Cursor::new(head).chain(raw));
        if is_cram {
            let alignments = options.alignments(name, CRAM)?;
            let containers = alignments
                .open_cram(whole, self.reference.as_deref())
                .map_err(|error| cram_error(name, &error))?;
            keep_header_of_cram(&*containers, name, options)?;
            return Ok(FetchState::Cram(containers));
        }
        let text = match compression {
            Compression::Bgzf => return Ok(FetchState::Blocks(BlockReader::new(whole))),
            Compression::None => whole,
            _ => compression
                .decoder(BufReader::with_capacity(RAW_BUFFER, whole), max_window(self.at_once))
                .map_err(|error| decode_error(name, compression, &error))?,
        };
        Ok(FetchState::Stream { text, compression })
    }
}

/// Keeps the header of a CRAM file if it is wanted. Its containers are decoded one by one, so that its templates can be
/// kept together only if the header says that they lie side by side.
fn keep_header_of_cram(
    containers: &dyn Containers,
    name: &str,
    options: &ReaderOptions,
) -> Result<(), Error> {
    if !options.wants_header() {
        return Ok(());
    }
    let header = containers.header();
    if options.cuts_between_templates() && !header.is_grouped() {
        let (input, place) = (name.to_owned(), "CRAM".to_owned());
        let problem = "its header does not say that it is grouped by name".to_owned();
        return Err(Error::Ungrouped { input, place, problem });
    }
    let _ = options.keep_alignments.header.set(header);
    Ok(())
}

/// Whether a file of `length` bytes is BGZF and does not end with an empty block. A pipe has length 0; whether it
/// is truncated is known only at its end.
fn is_cut(file: &File, length: u64) -> io::Result<bool> {
    let mut head = [0; HEAD];
    let mut last = [0; 4];
    let Some(before) = length.checked_sub(last.len() as u64).filter(|at| *at > HEAD as u64) else {
        return Ok(false);
    };
    file.read_exact_at(&mut head, 0)?;
    file.read_exact_at(&mut last, before)?;
    Ok(Compression::sniff(&head) == Compression::Bgzf && ends_early(last))
}

/// Opens a file and returns it with its length, which is 0 unless it is a regular file.
fn open_file(input: &Input, path: &Path) -> Result<(File, u64), Error> {
    // Do not wait for the writer of a named pipe here: reading waits for it, and can be cancelled.
    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK;
    let opened = retry_on_intr(|| rustix::fs::open(path, flags, Mode::empty()));
    let file = File::from(opened.map_err(|error| open_error(input, &error.into()))?);
    let metadata = file.metadata().map_err(|error| open_error(input, &error))?;
    if !metadata.is_file() {
        return Ok((file, 0));
    }
    // A hint for larger read-ahead, which not all file systems support.
    #[cfg(target_os = "linux")]
    let _ = rustix::fs::fadvise(&file, 0, None, rustix::fs::Advice::Sequential);
    // Files in /proc are regular and have length 0, but contain bytes. They are read as streams.
    Ok((file, metadata.len()))
}
