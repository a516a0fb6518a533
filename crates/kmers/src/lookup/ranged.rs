//! A table that does not fit into memory: it is loaded range by range for each batch of letters.
//!
//! Half of the memory is for a batch and half for a range, so that each pass over the table looks up as many
//! k-mers as possible.

use std::ops::Range;
use std::sync::Mutex;

use merganser_run::locks::lock;
use merganser_run::{Cancel, Context, Silent, each, format_size, neighbours};
use merganser_seq::kmer::Kmer;

use super::lines::bytes_for;
use super::load::{Loading, Sections};
use super::sliding::Sliding;
use super::{Lookup, LookupOptions};
use crate::Error;
use crate::algebra::{Cut, Session};
use crate::formats::mgk::section_bits;
use crate::tables::AnyTable;

/// The memory of a letter of a batch in bytes: its record with quality and header, the letter among those that
/// are looked up, the count of its k-mer, and the output for it.
pub(super) const LETTER_BYTES: u64 = 12;
/// The minimum number of letters in a batch.
const MIN_LETTERS: u64 = 64 << 10;
/// The number of positions that a worker looks up at a time.
const PLACES: usize = 64 << 10;
/// The numbers of first bits that are tried if the usual sections do not fit.
const MORE_BITS: [u32; 3] = [16, 20, 24];

pub(crate) struct Ranged<K> {
    table: AnyTable,
    cut: Cut,
    context: Context,
    cancel: Cancel,
    bits: u32,
    groups: Vec<Range<usize>>,
    letters: usize,
    width: std::marker::PhantomData<fn(K)>,
}

impl<K: Kmer> Ranged<K> {
    /// Plans ranges and batches within `most` bytes.
    pub(super) fn new(
        table: AnyTable,
        options: &LookupOptions<'_>,
        most: u64,
        cancel: &Cancel,
    ) -> Result<Ranged<K>, Error> {
        let (bits, groups) = plan::<K>(&table, most / 2, options, cancel)?;
        Ok(Ranged {
            cut: options.cut,
            context: options.context.clone(),
            cancel: cancel.clone(),
            bits,
            groups,
            letters: (most / 2 / LETTER_BYTES).max(MIN_LETTERS) as usize,
            width: std::marker::PhantomData,
            table,
        })
    }

    /// Returns a note for the user about ranges and batches.
    pub(super) fn describe(&self) -> String {
        let (ranges, letters) = (self.groups.len(), format_size(self.letters as u64));
        format!(
            "{}: does not fit into the memory, and is read in {ranges} ranges for every {letters} of \
             sequence: more --memory is faster",
            self.table.path().display()
        )
    }

    /// Loads each range in turn, and passes it to `with`.
    fn each_range(
        &self,
        mut with: impl FnMut(Sections<K>) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let session = Session::new(std::slice::from_ref(&self.table), 1, &self.context)?;
        let ranges = session.ranges::<K>(&Silent, &self.cancel)?;
        let (cut, cancel) = (self.cut, &self.cancel);
        let loading =
            Loading { session: &session, ranges: &ranges, cut, without_counts: false, cancel };
        for group in &self.groups {
            if let Some(sections) = loading.some(self.bits, group.clone(), u64::MAX, &Silent)? {
                with(sections)?;
            }
        }
        Ok(())
    }
}

impl<K: Kmer> Lookup for Ranged<K> {
    fn k(&self) -> usize {
        self.table.description().k
    }

    fn letters_at_once(&self) -> usize {
        self.letters
    }

    fn takes_all_threads(&self) -> bool {
        true
    }

    fn counts(&self, letters: &[u8], stride: usize, counts: &mut Vec<u32>) -> Result<(), Error> {
        let sliding = Sliding::of(self.table.description(), stride);
        sliding.begin(letters, counts);
        self.each_range(|sections| {
            let parts: Vec<_> = counts.chunks_mut(PLACES).enumerate().map(Mutex::new).collect();
            each(self.context.threads, 0..parts.len(), &self.cancel, |numbers| {
                for part in numbers {
                    let mut part = lock(&parts[part]);
                    let (number, counts) = &mut *part;
                    let start = *number * PLACES * stride;
                    let end = (start + (counts.len() - 1) * stride + sliding.k).min(letters.len());
                    sections.look_up(sliding, &letters[start..end], counts);
                }
                Ok(())
            })
            .map(drop)
        })
    }
}

/// Returns the number of first bits that select a section, and groups of sections that are loaded together
/// within `most` bytes.
pub(super) fn plan<K: Kmer>(
    table: &AnyTable,
    most: u64,
    options: &LookupOptions<'_>,
    cancel: &Cancel,
) -> Result<(u32, Vec<Range<usize>>), Error> {
    let session = Session::new(std::slice::from_ref(table), 1, options.context)?;
    let ranges = session.ranges::<K>(&Silent, cancel)?;
    let k = session.k;
    let mut reader = ranges[0].reader();
    let usual = section_bits(ranges[0].kmers(), k);
    let mut least = 0;
    // The table of loads itself takes 8 bytes per section.
    let known = |bits: u32| bits == usual || 8 << bits <= most.max(1 << 20);
    let choices = [usual].into_iter().chain(MORE_BITS);
    for bits in choices.filter(|&bits| bits <= 2 * k as u32 && known(bits)) {
        let load = |prefix| Ok(bytes_for::<K>(reader.at_most(K::from_low(prefix), bits)?, 1));
        let loads = (0..1u64 << bits).map(load).collect::<Result<Vec<u64>, Error>>()?;
        least = loads.iter().copied().max().unwrap_or(0);
        if least <= most {
            return Ok((bits, neighbours(loads, |a, b| a + b, |&sum| sum <= most)));
        }
    }
    let (path, budget) = (table.path().to_owned(), options.context.budget());
    // Half of the room is for the section; there may be less than no room. More memory also leaves more to long records.
    let taken = super::budget(table, options).needed();
    let short = (taken + 2 * least).saturating_sub(budget);
    let needed = budget + short + short / 16;
    Err(Error::TableTooLargeForMemory { path, needed, budget })
}
