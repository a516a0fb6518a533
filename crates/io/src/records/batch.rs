//! The records of a batch.

use std::sync::Arc;

use super::long::Permit;
use super::mates::{Unmated, common_name, problem};
use super::record::Record;
use super::text::{Piece, Pieces, Slice, Stretch, Text};
use crate::{Chunk, Error};

/// Reads, or pairs with their mates one after the other. Refilled by
/// [`Records::next`](super::Records::next), it keeps its memory.
#[derive(Default)]
pub struct RecordBatch {
    text: Text,
    pub(super) paired: bool,
    pub(super) number: u64,
    pub(super) first: u64,
    pub(super) first_here: u64,
    pub(super) segment: usize,
    /// The files of first and of second mates.
    pub(super) names: [Arc<str>; 2],
    /// The names of mates are not compared.
    pub(super) any_names: bool,
    /// It is of a file of alignments.
    pub(super) alignments: bool,
    /// For the next fetch.
    pub(super) chunk: Chunk,
    /// It has a long record.
    pub(super) long: Option<Permit>,
}

impl RecordBatch {
    /// Records; mates count one each.
    pub fn len(&self) -> usize {
        self.text.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether the records are mates.
    pub fn is_paired(&self) -> bool {
        self.paired
    }

    /// 1, or 2 for pairs.
    pub fn mates(&self) -> usize {
        1 + usize::from(self.paired)
    }

    /// Reads; a pair is one.
    pub fn reads(&self) -> usize {
        self.len() / self.mates()
    }

    /// Bytes of memory that the records take.
    pub fn bytes(&self) -> usize {
        self.text.room()
    }

    /// A record by its place among all. Read r begins at r times [`mates`](Self::mates).
    ///
    /// # Panics
    /// If there are no more than `at`.
    #[inline]
    pub fn record(&self, at: usize) -> Record<'_> {
        self.text.record(at)
    }

    /// The letters of a record, to write, and its qualities.
    ///
    /// # Panics
    /// If there are no more than `at`.
    pub fn letters_mut(&mut self, at: usize) -> (&mut [u8], Option<&[u8]>) {
        self.text.letters_mut(at)
    }

    /// The name of a record as it is reported: mates share [theirs](common_name).
    ///
    /// # Panics
    /// If there are no more than `at`.
    pub fn name(&self, at: usize) -> &[u8] {
        if self.paired {
            return common_name(self.record(at & !1).name, self.record(at | 1).name);
        }
        self.record(at).name
    }

    /// How many batches come before this one.
    pub fn number(&self) -> u64 {
        self.number
    }

    /// Reads before these, in all segments.
    pub fn first(&self) -> u64 {
        self.first
    }

    /// The number of the segment that they are of, from 0.
    pub fn segment(&self) -> usize {
        self.segment
    }

    /// What of its record it has, if it is not whole: then it has no other one.
    pub fn stretch(&self) -> Option<Stretch> {
        self.text.stretch
    }

    /// Whether it has a record that is so long that nothing more is read before the batch is
    /// [cleared](Self::clear), refilled or dropped: what is made of it should not wait for its turn in
    /// memory, either.
    pub fn is_long(&self) -> bool {
        self.long.is_some()
    }

    /// A record's place as messages show it: its file, and which record of it, from 1. Of
    /// interleaved mates, the place of the pair.
    pub fn place(&self, at: usize) -> (&str, u64) {
        let mates = self.mates();
        (&self.names[at % mates], self.first_here + (at / mates) as u64 + 1)
    }

    /// Empties the batch.
    pub fn clear(&mut self) {
        if self.long.take().is_some() {
            // Nor is the memory kept.
            self.text = Text::default();
        }
        self.text.clear();
        self.paired = false;
        (self.first, self.first_here, self.segment) = (0, 0, 0);
    }

    /// An empty batch of reads, `first` of which come before it, to be filled by
    /// [`push`](Self::push).
    pub fn of(paired: bool, first: u64) -> RecordBatch {
        RecordBatch { paired, first, ..RecordBatch::default() }
    }

    /// Adds a record. The name is the beginning of its header.
    pub fn push(&mut self, record: &Record<'_>) {
        self.text.push(record);
    }

    /// Takes the records of another batch as they are.
    pub fn copy_from(&mut self, other: &RecordBatch) {
        self.text.clone_from(&other.text);
        (self.paired, self.number) = (other.paired, other.number);
        (self.first, self.first_here) = (other.first, other.first_here);
        self.segment = other.segment;
        self.names.clone_from(&other.names);
    }

    /// Puts the records together.
    ///
    /// # Errors
    /// If two mates have other names; those before them are there, and they are, too.
    pub(super) fn gather(&mut self, pieces: &mut Pieces) -> Result<(), Error> {
        let Pieces(pieces) = pieces;
        if let [(only, None)] = &mut pieces[..]
            && self.text.take_over(only)
        {
            return self.check_interleaved(self.paired);
        }
        for (first, second) in pieces.iter() {
            match second {
                None => self.text.extend(first),
                Some(second) => self.interleave(first, second)?,
            }
        }
        let interleaved = self.paired && pieces.iter().any(|(_, second): &Piece| second.is_none());
        self.check_interleaved(interleaved)
    }

    fn check_interleaved(&self, interleaved: bool) -> Result<(), Error> {
        if interleaved {
            (0..self.reads()).try_for_each(|read| self.check_names(read, 2))?;
        }
        Ok(())
    }

    fn interleave(&mut self, first: &Slice, second: &Slice) -> Result<(), Error> {
        for pair in 0..first.len() {
            self.text.extend_one(&first.text, first.from + pair);
            self.text.extend_one(&second.text, second.from + pair);
            self.check_names(self.reads() - 1, 1)?;
        }
        Ok(())
    }

    /// Sees to it that the mates of a pair are such by their names; `each` records of the first file
    /// are a pair.
    fn check_names(&self, read: usize, each: u64) -> Result<(), Error> {
        let places = [2 * read, 2 * read + 1];
        let [one, two] = places.map(|at| self.record(at).name);
        let numbers = places.map(|at| self.text.number(at));
        let problem = match problem([one, two], numbers) {
            Some(problem) if !self.any_names => problem,
            _ => return Ok(()),
        };
        let shown = |name: &[u8]| String::from_utf8_lossy(name).into_owned();
        Err(Error::MateNames {
            input: self.names[0].to_string(),
            record: each * (self.first_here + read as u64 + 1),
            name: shown(one),
            other: self.names[1].to_string(),
            mate: shown(two),
            problem: match self.alignments && each == 2 {
                true => Unmated::Alignments,
                false => problem,
            },
        })
    }
}

impl std::fmt::Debug for RecordBatch {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let RecordBatch { number, first, paired, .. } = self;
        f.debug_struct("RecordBatch")
            .field("number", number)
            .field("first", first)
            .field("paired", paired)
            .field("records", &self.len())
            .finish_non_exhaustive()
    }
}
