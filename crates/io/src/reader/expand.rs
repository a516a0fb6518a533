//! The second step, in parallel: expands fetched data to text and counts its lines.

use super::ReaderOptions;
use super::errors::{decode_error, read_error};
use super::fetch::{Fetched, Work};
use super::options::{BAM, SAM};
use crate::alignment::Container;
use crate::compress::Compression;
use crate::format::Format;
use crate::{Chunk, Error};
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::sync::atomic::AtomicBool;

/// The number of bytes that are read or counted at a time, so that they are still in the nearest cache of the core
/// when their lines are counted.
const PIECE: usize = 256 * 1024;

/// Puts the text into the chunk and returns the number of its line ends.
pub(super) fn expand(
    chunk: &mut Chunk,
    fetched: &mut Fetched,
    options: &ReaderOptions,
    stopped: &AtomicBool,
) -> Result<u64, Error> {
    match &mut fetched.work {
        Work::Text => Ok(count_lines(chunk.text())),
        Work::Container(container) => decode(chunk, &**container, options),
        Work::Range { file, offset, length } => {
            let name = chunk.name.clone();
            read_range(file, *offset, chunk.text.room(options.headroom(), *length), &name)
        }
        Work::Blocks => inflate(chunk, options),
        Work::FileBlocks { file, offset, length } => {
            chunk.text.raw.resize(*length, 0);
            let name = chunk.name.clone();
            read_exact(file, *offset, &mut chunk.text.raw, &name)?;
            inflate(chunk, options)
        }
        Work::Piece { text, range } => {
            let text = &(**text).as_ref()[range.clone()];
            let mut newlines = 0;
            let room = chunk.text.room(options.headroom(), text.len());
            for (to, from) in room.chunks_mut(PIECE).zip(text.chunks(PIECE)) {
                to.copy_from_slice(from);
                newlines += count_lines(to);
            }
            Ok(newlines)
        }
        Work::Members(piece) => {
            let mut newlines = 0;
            let each = |text: &[u8]| newlines += count_lines(text);
            piece
                .expand(&mut chunk.text, options.sizes(), stopped, each)
                .map_err(|error| decode_error(&chunk.name, Compression::Gzip, &error.into()))?;
            Ok(newlines)
        }
    }
}

/// Converts the reads of a container to FASTQ in the chunk and returns the number of line ends.
fn decode(
    chunk: &mut Chunk,
    container: &dyn Container,
    options: &ReaderOptions,
) -> Result<u64, Error> {
    let read = chunk.write_reads(&options.keep_alignments, |reads| container.read(reads));
    read.map_err(|(number, problem)| {
        invalid_alignment(chunk, format!("record {}", number + 1), problem)
    })?;
    Ok(count_lines(chunk.text()))
}

/// Converts the whole alignments in a chunk to FASTQ, after the third step and in parallel.
pub(super) fn to_fastq(chunk: &mut Chunk, options: &ReaderOptions) -> Result<(), Error> {
    let format = chunk.format;
    let alignments = match format {
        Some(Format::Sam) => options.alignments(&chunk.name, SAM)?,
        Some(Format::Bam) => options.alignments(&chunk.name, BAM)?,
        _ => return Ok(()),
    };
    let records = std::mem::take(&mut chunk.text.buffer);
    let range = chunk.text.start..chunk.text.end;
    let read = chunk.write_reads(&options.keep_alignments, |reads| match format {
        Some(Format::Sam) => alignments.read_sam(&records[range], reads),
        _ => alignments.read_bam(&records[range], reads),
    });
    // The buffer is reused for the next reads.
    chunk.reads = records;
    chunk.format = Some(Format::Fastq);
    read.map_err(|(number, problem)| {
        let (line, record) = (chunk.line + number + 1, chunk.record + number + 1);
        let place = match format {
            Some(Format::Sam) => format!("line {line}"),
            _ => format!("record {record}"),
        };
        invalid_alignment(chunk, place, problem)
    })
}

fn invalid_alignment(chunk: &Chunk, place: String, problem: String) -> Error {
    let input = chunk.name.to_string();
    match chunk.is_ungrouped {
        true => Error::Ungrouped { input, place, problem },
        false => Error::Alignment { input, place, problem },
    }
}

fn read_range(file: &File, mut offset: u64, room: &mut [u8], name: &str) -> Result<u64, Error> {
    let mut newlines = 0;
    for piece in room.chunks_mut(PIECE) {
        read_exact(file, offset, piece, name)?;
        offset += piece.len() as u64;
        newlines += count_lines(piece);
    }
    Ok(newlines)
}

/// Reads bytes at an offset of a file.
pub(super) fn read_exact(
    file: &File,
    offset: u64,
    room: &mut [u8],
    name: &str,
) -> Result<(), Error> {
    file.read_exact_at(room, offset).map_err(|error| match error.kind() {
        io::ErrorKind::UnexpectedEof => Error::Shrunk { input: name.to_owned() },
        _ => read_error(name, error),
    })
}

/// Inflates the blocks of the chunk and returns the number of line ends.
fn inflate(chunk: &mut Chunk, options: &ReaderOptions) -> Result<u64, Error> {
    let Chunk { text, blocks, inflater, .. } = chunk;
    let mut newlines = 0;
    let each = |text: &[u8]| newlines += count_lines(text);
    inflater
        .inflate(text, blocks, options.headroom(), each)
        .map_err(|error| decode_error(&chunk.name, Compression::Bgzf, &error.into()))?;
    Ok(newlines)
}

/// Counts the line ends of a text.
fn count_lines(text: &[u8]) -> u64 {
    memchr::memchr_iter(b'\n', text).count() as u64
}
