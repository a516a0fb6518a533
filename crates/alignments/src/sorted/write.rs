//! The last stage: sorted records into the file, compressed by all threads.

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
use super::sizes::{LEAST_PART, MAX_PART, PART_COPIES};
use super::spill::Sorting;
use crate::cram::{Container, Crai, Cram, Encoder};
use crate::{BlockDigest, Error};

/// How many parts a thread may be ahead of the one to be written next: of CRAM some give no container,
/// and others the work of several.
const AHEAD: u64 = 4;
/// What is sorted, and how it is written.
pub struct Sorted<'s> {
    /// The sorting.
    pub sorting: &'s Sorting,
    /// What the threads hold.
    pub held: Vec<Held<'s>>,
    /// How they are written.
    pub form: Form<'s>,
    /// Threads that write.
    pub threads: usize,
}

/// How sorted records are written.
#[derive(Clone, Copy)]
pub enum Form<'s> {
    /// As BAM of this level, 0 to 12.
    Bam(u8),
    /// As CRAM.
    Cram(&'s Cram<'s>),
}

/// Compressed records, and what the index says of them.
enum Piece {
    /// Blocks of BAM, of which all but the last of the file are full.
    Blocks { bytes: Vec<u8>, marks: Vec<Mark> },
    /// Containers of CRAM.
    Containers(Vec<Container>),
}

/// An index that grows with its file.
pub enum FileIndex {
    /// BAI or CSI, of BAM.
    Bam(RecordIndex),
    /// CRAI, of CRAM.
    Cram(Crai),
}

/// What was written.
pub struct Written {
    /// If one was wanted.
    pub index: Option<FileIndex>,
    /// Where the file's end begins.
    pub end: u64,
    /// Of the blocks of BAM.
    pub digest: BlockDigest,
}

/// Writes all records in order behind the `begin` bytes that `output` has. Calls `progress` with one stage, in bytes of records.
///
/// # Errors
/// If that fails, or what is on disk cannot be read, or if cancelled.
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
        0 => LEAST_PART,
        // Much more than what is read for nothing.
        _ => (memory / threads as u64 / 2).saturating_sub(beyond) / PART_COPIES,
    };
    let most = most.clamp(LEAST_PART, MAX_PART);
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

/// What the workers share. The source of the parts' numbers.
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

/// A worker: compresses parts.
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
        // Not wanted where an earlier part failed, whose error the run has.
        piece.ok_or(Error::Cancelled)
    }
}

/// What a worker makes pieces with.
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

    /// Compresses a part as BAM. None if it is not wanted.
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

    /// Compresses a part as CRAM. None if it is not wanted.
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
            containers.push(encoder.encode(&group.records, group.before));
        }
        Ok(Some(Piece::Containers(containers)))
    }
}

/// The file, whose blocks' places the index tells.
struct OneFile<'o> {
    output: &'o mut Output,
    index: Option<FileIndex>,
    /// Where the next block begins.
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
