//! The last stage: sorted records into the file, compressed by all threads.

use merganser_io::{BgzfBlocks, Output};
use merganser_run::locks::{lock, wait};
use merganser_run::{InOrder, InOrderSink, OnFailure, Progress, Unit, run_workers};
use std::io::Write;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex};

use super::RecordIndex;
use super::held::Held;
use super::index::Mark;
use super::key::KeyRange;
use super::parts::{Lists, Part};
use super::spill::Sorting;
use crate::{Error, Format};

/// Bytes of a part: the fewest, and the most, where each part is read from many lists.
const PART: [u64; 2] = [1 << 20, 16 << 20];
/// What a thread takes for a part of its size: the part as it was held, as it is written, and
/// compressed, which may wait for its turn.
const COPIES: u64 = 5;
/// What is read of each list for nothing, as blocks reach beyond a part.
const BEYOND: u64 = 2 * (128 << 10);

/// What is sorted, and the memory to write it in.
pub(crate) struct Sorted<'s> {
    pub(crate) sorting: &'s Sorting,
    pub(crate) held: Vec<Held<'s>>,
    pub(crate) format: Format,
    pub(crate) threads: usize,
    pub(crate) memory: u64,
}

/// Compressed records, and what the index says of them.
struct Piece {
    /// Blocks, of which all but the last of the file are full.
    bytes: Vec<u8>,
    marks: Vec<Mark>,
}

/// Writes all records in order behind what `output` has, and the index if one is wanted. Calls
/// `progress` with one stage, in bytes of records.
///
/// # Errors
/// If that fails, or what is on disk cannot be read, or if cancelled.
pub(crate) fn write(
    sorted: Sorted<'_>,
    output: &mut Output,
    begin: u64,
    index: Option<RecordIndex>,
    progress: &dyn Progress,
) -> Result<Option<(RecordIndex, u64)>, Error> {
    let Sorted { sorting, held, format, threads, memory } = sorted;
    let level = match format {
        Format::Bam(level) => level,
        Format::Sam => 0,
    };
    progress.stage("sort", Unit::Bytes, Some(sorting.bytes()));
    let lists = Lists::new(sorting, held)?;
    let beyond = lists.runs() as u64 * BEYOND;
    let most = if beyond == 0 { PART[0] } else { (4 * beyond).clamp(PART[0], PART[1]) };
    let room = memory / (COPIES * most + beyond);
    let threads = (threads as u64).min(room).max(1) as usize;
    let parts = lists.cut(most);
    let file = BlockFile { output, index, position: begin };
    let written = InOrder::new(file, threads as u64, 0);
    let seams = Seams::default();
    let stage = Stage { sorting, lists: &lists, parts: &parts, seams: &seams, written: &written };
    let next = AtomicUsize::new(0);
    run_workers(threads, |_| {
        let gone = OnFailure::new(|| stage.stop());
        let done = stage.work(&next, level, progress);
        gone.disarm();
        if done.is_err() {
            stage.stop();
        }
        done
    })?;
    let file = written.into_sink()?;
    Ok(file.index.map(|index| (index, file.position)))
}

/// What the threads share.
struct Stage<'w, 'o> {
    sorting: &'w Sorting,
    lists: &'w Lists<'w>,
    parts: &'w [KeyRange],
    seams: &'w Seams,
    written: &'w InOrder<Piece, BlockFile<'o>>,
}

impl Stage<'_, '_> {
    fn stop(&self) {
        self.seams.stop();
        self.written.stop();
    }

    /// Takes parts until there are none.
    fn work(&self, next: &AtomicUsize, level: u8, progress: &dyn Progress) -> Result<(), Error> {
        let mut blocks = BgzfBlocks::new(level);
        let mut part = Part::new(self.lists)?;
        let mut text = Vec::new();
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            let Some(range) = self.parts.get(number) else { return Ok(()) };
            if !self.written.wait_for_room(number as u64) {
                return Ok(());
            }
            self.sorting.check_cancelled()?;
            part.load(range)?;
            text.clear();
            let mut marks = Vec::new();
            for record in part.records() {
                marks.push(Mark::new(record, text.len()));
                text.extend_from_slice(record);
            }
            progress.advance(text.len() as u64);
            let is_last = number + 1 == self.parts.len();
            let Some(piece) = self.seams.cut(number, &text, marks, is_last) else { return Ok(()) };
            let Cut { head, from, to, marks } = piece;
            let mut bytes = Vec::with_capacity(text.len() / 2);
            blocks.compress(&head, true, &mut bytes);
            blocks.compress(&text[from..to], true, &mut bytes);
            self.written.hand_in(number as u64, Piece { bytes, marks });
        }
    }
}

/// Where parts meet: blocks are cut as if all records were one text, and so the end of a part stands
/// in a block with the beginning of the next one.
#[derive(Default)]
struct Seams {
    state: Mutex<Seam>,
    changed: Condvar,
}

#[derive(Default)]
struct Seam {
    /// The part whose turn it is.
    next: usize,
    /// What the parts before it left, less than a block,
    text: Vec<u8>,
    /// and the records that begin there.
    marks: Vec<Mark>,
    gone: bool,
}

/// What is written of a part: the block that it shares with those before it, then a stretch of it;
/// the records that begin in there.
struct Cut {
    head: Vec<u8>,
    from: usize,
    to: usize,
    marks: Vec<Mark>,
}

impl Seams {
    fn stop(&self) {
        lock(&self.state).gone = true;
        self.changed.notify_all();
    }

    /// Cuts a part, when those before it were: the last one gives all, others whole blocks. None if
    /// it is not wanted.
    fn cut(&self, number: usize, text: &[u8], marks: Vec<Mark>, all: bool) -> Option<Cut> {
        let mut seam = lock(&self.state);
        while !seam.gone && seam.next != number {
            seam = wait(&self.changed, seam);
        }
        if seam.gone {
            return None;
        }
        let cut = seam.cut(text, marks, all);
        seam.next += 1;
        drop(seam);
        self.changed.notify_all();
        Some(cut)
    }
}

impl Seam {
    fn cut(&mut self, text: &[u8], more: Vec<Mark>, all: bool) -> Cut {
        let before = self.text.len();
        let whole = before + text.len();
        let end = if all { whole } else { whole / BgzfBlocks::TEXT * BgzfBlocks::TEXT };
        let mut marks = std::mem::take(&mut self.marks);
        marks.extend(more.into_iter().map(|mark| mark.moved(before as isize)));
        let kept = marks.partition_point(|mark| mark.at < end);
        let moved = |mark: Mark| mark.moved(-(end as isize));
        self.marks = marks.drain(kept..).map(moved).collect();
        if end <= before {
            // All of it is in the block that is not full yet; or there is nothing at all.
            self.text.extend_from_slice(text);
            let text = if all { std::mem::take(&mut self.text) } else { Vec::new() };
            return Cut { head: text, from: 0, to: 0, marks };
        }
        let from = if before == 0 { 0 } else { (BgzfBlocks::TEXT - before).min(text.len()) };
        let mut head = std::mem::take(&mut self.text);
        head.extend_from_slice(&text[..from]);
        let to = end - before;
        self.text.extend_from_slice(&text[to..]);
        Cut { head, from, to, marks }
    }
}

/// The file, whose blocks' places the index tells.
struct BlockFile<'o> {
    output: &'o mut Output,
    index: Option<RecordIndex>,
    /// Where the next block begins.
    position: u64,
}

impl InOrderSink<Piece> for BlockFile<'_> {
    type Error = Error;

    fn write(&mut self, piece: Piece) -> Result<Option<Piece>, Error> {
        if let Some(index) = &mut self.index {
            let (mut block, mut at) = (0, 0);
            for mark in piece.marks {
                while block < mark.at / BgzfBlocks::TEXT {
                    at += BgzfBlocks::size(&piece.bytes[at..]);
                    block += 1;
                }
                let within = mark.at % BgzfBlocks::TEXT;
                index.add(mark, self.position + at as u64, within as u16)?;
            }
        }
        self.output.write_all(&piece.bytes)?;
        self.position += piece.bytes.len() as u64;
        Ok(None)
    }
}
