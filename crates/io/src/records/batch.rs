//! Batches of records.

use std::sync::Arc;

use super::long::Permit;
use super::mates::{Unmated, common_name, problem};
use super::record::Record;
use super::text::{Piece, Pieces, Slice, Stretch, Text};
use crate::{Chunk, Error};

/// A batch of reads, or of pairs with their mates one after the other. [`Records::next`](super::Records::next)
/// refills it and reuses its memory.
#[derive(Default)]
pub struct RecordBatch {
    text: Text,
    pub(super) paired: bool,
    pub(super) number: u64,
    pub(super) first: u64,
    pub(super) first_here: u64,
    pub(super) segment: usize,
    /// The names of the files of first mates and of second mates.
    pub(super) names: [Arc<str>; 2],
    /// Whether the names of mates are not compared.
    pub(super) any_names: bool,
    /// Whether the records come from a file of alignments.
    pub(super) alignments: bool,
    /// The chunk for the next fetch.
    pub(super) chunk: Chunk,
    /// The permit for a long record, if the batch has one.
    pub(super) long: Option<Permit>,
}

impl RecordBatch {
    /// Returns the number of records; mates count separately.
    pub fn len(&self) -> usize {
        self.text.len()
    }

    /// Whether the batch has no records.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether the records are mates.
    pub fn is_paired(&self) -> bool {
        self.paired
    }

    /// Whether the records come from a file of alignments.
    pub fn are_alignments(&self) -> bool {
        self.alignments
    }

    /// Returns the number of records per read: 1, or 2 for pairs.
    pub fn mates(&self) -> usize {
        1 + usize::from(self.paired)
    }

    /// Returns the number of reads; a pair counts as one.
    pub fn reads(&self) -> usize {
        self.len() / self.mates()
    }

    /// Returns the number of bytes of memory that the records take.
    pub fn bytes(&self) -> usize {
        self.text.room()
    }

    /// Returns a record by its index. The records of read r begin at r times [`mates`](Self::mates).
    ///
    /// # Panics
    /// If `at` is not less than [`len`](Self::len).
    #[inline]
    pub fn record(&self, at: usize) -> Record<'_> {
        self.text.record(at)
    }

    /// Returns the alignments of a record, as they are in the file, one after the other; empty unless they are
    /// [kept](crate::RecordOptions::keep_alignments).
    ///
    /// # Panics
    /// If `at` is not less than [`len`](Self::len).
    pub fn alignments(&self, at: usize) -> &[u8] {
        self.text.alignments(at)
    }

    /// Returns the letters of a record; faster than [`record`](Self::record), as for each read of a batch.
    ///
    /// # Panics
    /// If `at` is not less than [`len`](Self::len).
    #[inline]
    pub fn letters(&self, at: usize) -> &[u8] {
        self.text.letters(at)
    }

    /// Returns the number of letters of a record.
    ///
    /// # Panics
    /// If `at` is not less than [`len`](Self::len).
    #[inline]
    pub fn letter_count(&self, at: usize) -> usize {
        self.text.letter_count(at)
    }

    /// Returns the letters of a record, mutably, and its qualities.
    ///
    /// # Panics
    /// If `at` is not less than [`len`](Self::len).
    pub fn letters_mut(&mut self, at: usize) -> (&mut [u8], Option<&[u8]>) {
        self.text.letters_mut(at)
    }

    /// Returns the name of a record as it is reported: mates share [their common name](common_name).
    ///
    /// # Panics
    /// If `at` is not less than [`len`](Self::len).
    #[inline]
    pub fn name(&self, at: usize) -> &[u8] {
        if self.paired {
            return common_name(self.text.name(at & !1), self.text.name(at | 1));
        }
        self.text.name(at)
    }

    /// Returns the number of batches before this one.
    pub fn number(&self) -> u64 {
        self.number
    }

    /// Returns the number of reads before this batch, in all segments.
    pub fn first(&self) -> u64 {
        self.first
    }

    /// Returns the number of the segment of this batch, from 0.
    pub fn segment(&self) -> usize {
        self.segment
    }

    /// Returns the stretch of its record that this batch contains; `None` if its records are whole. A batch with a
    /// stretch has no other record.
    pub fn stretch(&self) -> Option<Stretch> {
        self.text.stretch
    }

    /// Whether the batch has a record so long that nothing more is read before the batch is [cleared](Self::clear),
    /// refilled or dropped. Results for it should not wait for their turn in memory, either.
    pub fn is_long(&self) -> bool {
        self.long.is_some()
    }

    /// Returns the names of the files of first mates and of second mates.
    pub fn files(&self) -> [&str; 2] {
        self.names.each_ref().map(|name| &**name)
    }

    /// Returns the location of a record for messages: its file, and its number in that file, from 1. For
    /// interleaved mates, this is the number of the pair.
    pub fn place(&self, at: usize) -> (&str, u64) {
        let mates = self.mates();
        (&self.names[at % mates], self.first_here + (at / mates) as u64 + 1)
    }

    /// Empties the batch.
    pub fn clear(&mut self) {
        if self.long.take().is_some() {
            // The memory of a long record is not kept.
            self.text = Text::default();
        }
        self.text.clear();
        self.paired = false;
        (self.first, self.first_here, self.segment) = (0, 0, 0);
    }

    /// Creates an empty batch with `first` reads before it, to be filled by [`push`](Self::push).
    pub fn of(paired: bool, first: u64) -> RecordBatch {
        RecordBatch { paired, first, ..RecordBatch::default() }
    }

    /// Returns the empty batch with the place of the first record that [`place`](Self::place) is to return for each mate.
    #[must_use]
    pub fn from(self, files: [&str; 2], first: u64) -> RecordBatch {
        let (names, first_here) = (files.map(Arc::from), first.saturating_sub(1));
        RecordBatch { names, first_here, ..self }
    }

    /// Adds a record. Its header must begin with its name.
    pub fn push(&mut self, record: &Record<'_>) {
        self.push_with(record, &[]);
    }

    /// Adds a record with its [alignments](Self::alignments).
    pub fn push_with(&mut self, record: &Record<'_>, alignments: &[u8]) {
        self.text.push(record, alignments);
    }

    /// Replaces the records with copies of those of another batch.
    pub fn copy_from(&mut self, other: &RecordBatch) {
        self.text.clone_from(&other.text);
        (self.paired, self.number) = (other.paired, other.number);
        (self.first, self.first_here) = (other.first, other.first_here);
        self.segment = other.segment;
        self.names.clone_from(&other.names);
    }

    /// Gathers the records from pieces.
    ///
    /// # Errors
    /// If two mates have different names. The batch then contains the records up to and including these.
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

    /// Checks that the mates of a pair have the names of mates. `each` is the number of records per pair in the
    /// first file.
    fn check_names(&self, read: usize, each: u64) -> Result<(), Error> {
        let places = [2 * read, 2 * read + 1];
        let [one, two] = places.map(|at| self.record(at).name);
        let numbers = places.map(|at| self.text.number(at));
        let problem = match problem([one, two], numbers) {
            Some(problem) if !self.any_names => problem,
            _ => return Ok(()),
        };
        let shown = |name: &[u8], number: u8| match (String::from_utf8_lossy(name), number) {
            (name, 0) => name.into_owned(),
            (name, number) => format!("{name} (mate {number})"),
        };
        Err(Error::MateNames {
            input: self.names[0].to_string(),
            record: each * (self.first_here + read as u64 + 1),
            name: shown(one, numbers[0]),
            other: self.names[1].to_string(),
            mate: shown(two, numbers[1]),
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
