//! The second step, in parallel: from what was fetched to text, and how many lines it has.

use super::ReaderOptions;
use super::errors::read_error;
use super::fetch::{Fetched, Work};
use super::shared::count_lines;
use crate::alignment::cram::{Container, Cram};
use crate::alignment::{bam, sam};
use crate::chunk::Format;
use crate::compress::Compression;
use crate::{Chunk, Error};
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::sync::atomic::AtomicBool;

/// Bytes read or looked at in one go: what the cache nearest to a core still holds when lines are
/// counted.
pub(super) const PIECE: usize = 256 * 1024;

/// Puts the text into the chunk and returns the number of its line ends.
pub(super) fn expand(
    chunk: &mut Chunk,
    fetched: &mut Fetched,
    options: &ReaderOptions,
    stopped: &AtomicBool,
) -> Result<u64, Error> {
    match &mut fetched.work {
        Work::Text => Ok(count_lines(chunk.text())),
        Work::Container { cram, container } => decode(chunk, cram, container),
        Work::Range { file, offset, length } => {
            let name = chunk.name.clone();
            read_range(file, *offset, chunk.room(options.headroom(), *length), &name)
        }
        Work::Blocks => inflate(chunk, options),
        Work::Members { ranges, range } => ranges.expand(chunk, range.take(), options, stopped),
    }
}

/// Puts the reads of a container into the chunk.
fn decode(chunk: &mut Chunk, cram: &Cram, container: &Container) -> Result<u64, Error> {
    chunk.write_reads(|reads| cram.read(container, reads)).map_err(|(number, problem)| {
        let (input, place) = (chunk.name.to_string(), format!("record {}", number + 1));
        Error::Alignment { input, place, problem }
    })?;
    Ok(count_lines(chunk.text()))
}

/// Makes FASTQ of the whole alignments in a chunk, behind the third step and in parallel.
pub(super) fn to_fastq(chunk: &mut Chunk) -> Result<(), Error> {
    let format = chunk.format;
    if !matches!(format, Some(Format::Sam | Format::Bam)) {
        return Ok(());
    }
    let records = std::mem::take(&mut chunk.buffer);
    let range = chunk.start..chunk.end;
    let read = chunk.write_reads(|reads| match format {
        Some(Format::Sam) => sam::read(&records[range], reads),
        _ => bam::read(&records[range], reads),
    });
    // Its memory is taken again for the next reads.
    chunk.reads = records;
    chunk.format = Some(Format::Fastq);
    read.map_err(|(number, problem)| {
        let (line, record) = (chunk.line + number + 1, chunk.record + number + 1);
        let place = match format {
            Some(Format::Sam) => format!("line {line}"),
            _ => format!("record {record}"),
        };
        Error::Alignment { input: chunk.name.to_string(), place, problem }
    })
}

fn read_range(file: &File, mut offset: u64, room: &mut [u8], name: &str) -> Result<u64, Error> {
    let mut newlines = 0;
    for piece in room.chunks_mut(PIECE) {
        file.read_exact_at(piece, offset).map_err(|error| match error.kind() {
            io::ErrorKind::UnexpectedEof => Error::Shrunk { input: name.to_owned() },
            _ => read_error(name, error),
        })?;
        offset += piece.len() as u64;
        newlines += count_lines(piece);
    }
    Ok(newlines)
}

/// Inflates the chunk's blocks; libdeflate checks the sum and length of each.
fn inflate(chunk: &mut Chunk, options: &ReaderOptions) -> Result<u64, Error> {
    let total = chunk.blocks.iter().map(|block| block.text).sum();
    chunk.room(options.headroom(), total);
    let inflater = chunk.inflater.get_or_insert_with(libdeflater::Decompressor::new);
    let mut room = &mut chunk.buffer[chunk.start..chunk.end];
    let mut newlines = 0;
    for block in &chunk.blocks {
        let (text, rest) = room.split_at_mut(block.text);
        let raw = &chunk.raw[block.offset..block.offset + block.size];
        let detail = match inflater.gzip_decompress(raw, text) {
            Ok(written) if written == text.len() => {
                newlines += count_lines(text);
                room = rest;
                continue;
            }
            Ok(_) => "wrong block length".to_owned(),
            Err(error) => error.to_string(),
        };
        let compression = Compression::Bgzf.name();
        return Err(Error::Corrupt { input: chunk.name.to_string(), compression, detail });
    }
    Ok(newlines)
}
