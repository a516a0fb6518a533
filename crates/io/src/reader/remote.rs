//! Reading of files by devices: bytes of a file go to a device as they are, and become text there.
//!
//! A plain or BGZF file of FASTA or FASTQ is left to devices after its first chunk, which the host reads: it tells the
//! format. The three steps are those of the host's chunks, with the same tickets, so that chunks of both sides follow
//! each other in a file. Whatever a device refuses is read by the host, from the same bytes.

use super::expand::{expand, read_exact};
use super::fetch::{Fetched, Work};
use super::sources::Side;
use super::{Next, Reader, StopOnPanic};
use crate::{Chunk, Error};
use merganser_inflate::RemoteText;
use std::sync::atomic::Ordering;

/// The place of a chunk's text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// The text is in the chunk.
    Host,
    /// The text is on the device.
    Remote,
}

impl Reader {
    /// Leaves the files that devices can read to [`next_remote`](Self::next_remote) from now on.
    /// [`next_chunk`](Self::next_chunk) still returns the first chunk of each file, and all chunks of other files.
    pub fn begin_remote(&self) {
        self.sources.divide();
    }

    /// Refills `text`, and `chunk` with its position, as [`next_chunk`](Self::next_chunk) does. Returns the place of
    /// the text; `None` when everything has been read or the reader was stopped. Any number of workers may call it,
    /// each with its own text, while others call `next_chunk`.
    ///
    /// # Errors
    /// Fails as [`next_chunk`](Self::next_chunk) does, and if the device fails; then the reader must be stopped.
    pub fn next_remote<R: RemoteText, E: From<Error> + From<R::Error>>(
        &self,
        chunk: &mut Chunk,
        text: &mut R,
    ) -> Result<Option<Place>, E> {
        chunk.source_bytes = 0;
        loop {
            let guard = StopOnPanic(self);
            self.reset(chunk);
            let next = self.next_remote_text::<R, E>(chunk, text);
            std::mem::forget(guard);
            match next? {
                (Next::Text, place) => return Ok(Some(place)),
                (Next::Nothing, _) => {}
                (Next::End, _) => return Ok(None),
            }
        }
    }

    /// Copies the text of a chunk, which a device has refused, to the host.
    ///
    /// # Errors
    /// If the device fails.
    pub fn recall<R: RemoteText>(&self, chunk: &mut Chunk, text: &mut R) -> Result<(), R::Error> {
        self.recalled.fetch_add(1, Ordering::Relaxed);
        let all = text.read(0..text.len())?;
        (chunk.text.start, chunk.text.end) = (0, all.len());
        chunk.text.buffer = all;
        Ok(())
    }

    /// Returns the numbers of chunks that devices received, and of those of them that the host had to read.
    pub fn remote_chunks(&self) -> [u64; 2] {
        [&self.sent, &self.recalled].map(|number| number.load(Ordering::Relaxed))
    }

    fn next_remote_text<R: RemoteText, E: From<Error> + From<R::Error>>(
        &self,
        chunk: &mut Chunk,
        text: &mut R,
    ) -> Result<(Next, Place), E> {
        let room = text.room();
        let fetched =
            self.fetch(chunk, Side::Remote, |lease, chunk| lease.fetch_remote(chunk, room))?;
        let Some(mut fetched) = fetched else { return Ok((Next::End, Place::Host)) };
        self.sent.fetch_add(1, Ordering::Relaxed);
        let (file, ticket) = (chunk.file, fetched.ticket);
        let failed = |error| self.fail(file, ticket, false, error);
        // After an error of the device, the turn of later chunks never comes.
        let stopped = |error| {
            self.stop();
            E::from(error)
        };
        read_bytes(chunk, text, &fetched).map_err(stopped)?.map_err(failed)?;
        let (joined, place) = match text_of(chunk, text, &fetched).map_err(stopped)? {
            Some(newlines) => {
                let mut place = Place::Remote;
                let joined = self.in_turn(chunk, &fetched, |carry, chunk| {
                    let part = (newlines, fetched.last);
                    if carry.join_remote(chunk, text, part, &self.options)? {
                        return Ok(carry.check_length(chunk, &self.options).map(|()| true));
                    }
                    place = Place::Host;
                    self.recall(chunk, text)?;
                    Ok(carry.join(chunk, newlines, fetched.last, &self.options))
                });
                (joined.map_err(stopped)?.map_err(failed)?, place)
            }
            None => {
                self.recalled.fetch_add(1, Ordering::Relaxed);
                let newlines = expand(chunk, &mut fetched, &self.options, &self.stopped);
                let joined = self.join(chunk, &fetched, newlines.map_err(failed)?);
                (joined.map_err(failed)?, Place::Host)
            }
        };
        Ok((Next::of(joined), place))
    }
}

/// Reads the bytes of a fetch to where the device takes them from.
fn read_bytes<R: RemoteText>(
    chunk: &Chunk,
    text: &mut R,
    fetched: &Fetched,
) -> Result<Result<(), Error>, R::Error> {
    let (Work::Range { file, offset, length } | Work::FileBlocks { file, offset, length }) =
        &fetched.work
    else {
        return Ok(Ok(()));
    };
    Ok(read_exact(file, *offset, text.bytes(*length)?, &chunk.name))
}

/// Turns the bytes of a fetch into text. Returns the number of its line ends; `None` if the device refuses the bytes.
fn text_of<R: RemoteText>(
    chunk: &Chunk,
    text: &mut R,
    fetched: &Fetched,
) -> Result<Option<u64>, R::Error> {
    match &fetched.work {
        Work::Range { length, .. } => text.take(*length).map(Some),
        Work::FileBlocks { .. } => text.inflate(&chunk.blocks),
        _ => Ok(None),
    }
}
