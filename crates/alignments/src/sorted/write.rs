//! The last stage of sorting: all threads compress the sorted records, which are written in sorted order.

use std::io::Write;

use merganser_io::{BgzfBlocks, Output};
use merganser_run::engine::{Engine, NumberSource, Source, Turn, Turns, Work};
use merganser_run::{Cancelled, InOrderSink, Progress, Silent, Unit};

use super::RecordIndex;
use super::held::Held;
use super::index::Mark;
use super::key::KeyRange;
use super::parts::{Lists, StretchSorter};
use super::seams::{BlockSeam, Cut, GroupSeam};
use super::sizes::{MAX_PART, MIN_PART, PART_COPIES};
use super::spill::Sorting;
use crate::cram::{Container, Crai, Cram, Encoder};
use crate::{BlockDigest, Error};

/// The number of key ranges per thread that may be compressed before their turn to be written. With CRAM, some ranges
/// complete no container and others several.
const AHEAD: u64 = 4;
/// The records to write and how to write them.
pub struct Sorted<'s> {
    /// The sorting.
    pub sorting: &'s Sorting,
    /// The records that the threads hold.
    pub held: Vec<Held<'s>>,
    /// The format of the output.
    pub form: Form<'s>,
    /// The number of threads.
    pub threads: usize,
}

/// The output format of sorted records.
#[derive(Clone, Copy)]
pub enum Form<'s> {
    /// BAM with this compression level, 0 to 12.
    Bam(u8),
    /// CRAM.
    Cram(&'s Cram<'s>),
}

/// Compressed records with the data for the index.
enum Piece {
    /// BGZF blocks. All are full except the last of the file.
    Blocks { bytes: Vec<u8>, marks: Vec<Mark> },
    /// CRAM containers.
    Containers(Vec<Container>),
}

/// An index that is built while its file is written.
pub enum FileIndex {
    /// BAI or CSI, for BAM.
    Bam(RecordIndex),
    /// CRAI, for CRAM.
    Cram(Crai),
}

/// The result of [`write()`].
pub struct Written {
    /// The index, if one was requested.
    pub index: Option<FileIndex>,
    /// The byte of the file after the last record.
    pub end: u64,
    /// The digest of the BGZF blocks.
    pub digest: BlockDigest,
}

/// Writes all records, sorted, after the `begin` bytes already in `output`. The progress has one stage, in bytes
/// of records.
///
/// # Errors
/// If writing fails, if records on disk cannot be read, or if cancelled.
pub fn write(
    sorted: Sorted<'_>,
    output: &mut Output,
    begin: u64,
    index: Option<FileIndex>,
    progress: &dyn Progress,
) -> Result<Written, Error> {
    let Sorted { sorting, held, form, threads } = sorted;
    progress.stage("sort", Unit::Bytes, Some(sorting.bytes()));
    let lists = Lists::new(sorting, held)?;
    let beyond = sorting.beyond(lists.runs());
    let memory = sorting.writing();
    let most = match beyond {
        0 => MIN_PART,
        // The range should be much larger than the data read in vain.
        _ => (memory / threads as u64 / 2).saturating_sub(beyond) / PART_COPIES,
    };
    let most = most.clamp(MIN_PART, MAX_PART);
    let room = memory / (PART_COPIES * most + beyond);
    let threads = (threads as u64).min(room).max(1) as usize;
    let parts = lists.cut(most);
    let stage = Stage {
        sorting,
        lists: &lists,
        parts: &parts,
        form,
        numbers: NumberSource::up_to(parts.len()),
        blocks: Turns::default(),
        groups: Turns::default(),
        progress,
    };
    let (file, ahead) = (OneFile::new(output, index, begin), AHEAD * threads as u64);
    let engine = Engine::new(&stage, file, ahead, &Silent, sorting.cancel());
    engine.run(threads, || Compressing { stage: &stage, maker: stage.maker(), part: None })?;
    let OneFile { index, position: end, digest, .. } = engine.finish()?;
    Ok(Written { index, end, digest })
}

/// The state that the workers share, and the source of the numbers of key ranges.
struct Stage<'w> {
    sorting: &'w Sorting,
    lists: &'w Lists<'w>,
    parts: &'w [KeyRange],
    form: Form<'w>,
    numbers: NumberSource,
    blocks: Turns<BlockSeam>,
    groups: Turns<GroupSeam>,
    progress: &'w dyn Progress,
}

impl Source for Stage<'_> {
    type Batch = u64;
    type Error = Cancelled;

    fn next(&self, number: &mut u64) -> Result<Option<u64>, Cancelled> {
        self.numbers.next(number)
    }

    fn number(number: &u64) -> u64 {
        *number
    }

    fn stop(&self, number: u64) {
        self.blocks.stop(number);
        self.groups.stop(number);
        self.numbers.stop(number);
    }
}

/// A worker, which compresses one key range at a time.
struct Compressing<'w> {
    stage: &'w Stage<'w>,
    maker: Maker<'w>,
    part: Option<StretchSorter<'w>>,
}

impl Work for Compressing<'_> {
    type Batch = u64;
    type Output = Piece;
    type Error = Error;

    fn work(&mut self, number: &mut u64, _turn: &Turn<'_, Piece, Error>) -> Result<Piece, Error> {
        let (stage, number) = (self.stage, *number as usize);
        if self.part.is_none() {
            self.part = Some(StretchSorter::new(stage.lists)?);
        }
        let part = self.part.as_mut().expect("made above");
        part.load(&stage.parts[number])?;
        let piece = match &mut self.maker {
            Maker::Blocks(blocks) => stage.make_blocks(number, part, blocks),
            Maker::Containers(encoder) => stage.make_containers(number, part, encoder)?,
        };
        stage.progress.advance(part.records().map(|record| record.len() as u64).sum());
        // There is no piece if an earlier range failed; the run reports that error.
        piece.ok_or(Error::Cancelled)
    }
}

/// The compressor of a worker.
enum Maker<'w> {
    Blocks(BgzfBlocks),
    Containers(Box<Encoder<'w>>),
}

impl<'w> Stage<'w> {
    fn maker(&self) -> Maker<'w> {
        match self.form {
            Form::Bam(level) => Maker::Blocks(BgzfBlocks::new(level)),
            Form::Cram(cram) => Maker::Containers(Box::new(cram.encoder())),
        }
    }

    fn is_last(&self, number: usize) -> bool {
        number + 1 == self.parts.len()
    }

    /// Compresses a range as BAM; returns `None` if an earlier range failed.
    fn make_blocks(
        &self,
        number: usize,
        part: &StretchSorter<'_>,
        blocks: &mut BgzfBlocks,
    ) -> Option<Piece> {
        let (mut text, mut marks) = (Vec::new(), Vec::new());
        for record in part.records() {
            marks.push(Mark::new(record, text.len()));
            text.extend_from_slice(record);
        }
        let all = self.is_last(number);
        let cut = self.blocks.take(number as u64, |seam| seam.cut(&text, marks, all))?;
        let Cut { head, from, to, marks } = cut;
        let mut bytes = Vec::with_capacity(text.len() / 2);
        blocks.compress(&head, true, &mut bytes);
        blocks.compress(&text[from..to], true, &mut bytes);
        Some(Piece::Blocks { bytes, marks })
    }

    /// Compresses a range as CRAM; returns `None` if an earlier range failed.
    fn make_containers(
        &self,
        number: usize,
        part: &StretchSorter<'_>,
        encoder: &mut Encoder<'_>,
    ) -> Result<Option<Piece>, Error> {
        let all = self.is_last(number);
        let groups = self.groups.take(number as u64, |seam| seam.cut(part.records(), all));
        let Some(groups) = groups else { return Ok(None) };
        let mut containers = Vec::new();
        for group in groups {
            self.sorting.check_cancelled()?;
            containers.push(encoder.encode(&group.records).close(group.before));
        }
        Ok(Some(Piece::Containers(containers)))
    }
}

/// The output file, the index of its blocks or containers, and their digest.
struct OneFile<'o> {
    output: &'o mut Output,
    index: Option<FileIndex>,
    /// The byte at which the next block begins.
    position: u64,
    digest: BlockDigest,
}

impl<'o> OneFile<'o> {
    fn new(output: &'o mut Output, index: Option<FileIndex>, position: u64) -> OneFile<'o> {
        OneFile { output, index, position, digest: BlockDigest::default() }
    }

    fn put(&mut self, bytes: &[u8]) -> Result<(), Error> {
        self.output.write_all(bytes)?;
        self.position += bytes.len() as u64;
        Ok(())
    }
}

impl InOrderSink<Piece> for OneFile<'_> {
    type Error = Error;

    fn write(&mut self, piece: Piece) -> Result<Option<Piece>, Error> {
        match piece {
            Piece::Blocks { bytes, marks } => {
                if let Some(FileIndex::Bam(index)) = &mut self.index {
                    index.add_blocks(&bytes, marks, self.position)?;
                }
                self.digest.add_blocks(&bytes);
                self.put(&bytes)?;
            }
            Piece::Containers(containers) => {
                for container in containers {
                    if let Some(FileIndex::Cram(index)) = &mut self.index {
                        index.add(&container, self.position)?;
                    }
                    self.put(&container.bytes)?;
                }
            }
        }
        Ok(None)
    }
}
