//! The queue of one file: its chunks, put in order.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use super::mates::{Sureness, sureness};
use super::needs::{Needs, Unusable};
use super::text::{Slice, Text};
use super::{RecordOptions, long};
use crate::Error;
use crate::alignment::{MateRuns, WhichAlignments};

/// The result of a fetch.
pub(super) enum Parsed {
    /// No text yet, because a record is longer than a chunk.
    Nothing,
    /// Records, the last of which may continue in the next chunk, and the fault after them, if any.
    Chunk { ordinal: u64, goes_on: bool, fault: Option<Error> },
    /// The end of the file, or an error of reading it.
    End(Option<Error>),
}

/// A chunk that arrived before its turn.
struct Early {
    text: Text,
    goes_on: bool,
    fault: Option<Error>,
}

/// The data of a file that were read and are not in a batch yet.
#[derive(Default)]
pub(super) struct Side {
    /// The ordinal of the next chunk of the file.
    next: u64,
    early: BTreeMap<u64, Early>,
    /// A record that may continue in the next chunk.
    open: Option<Text>,
    /// A first mate whose mate may begin the next chunk.
    half: Option<Text>,
    /// Information about mates among single reads.
    pub(super) found: Found,
    /// The queued texts, each with the number of chunks that it counts as: mostly 1, or 0 for a record that was cut
    /// off at the end of a chunk.
    queue: VecDeque<(Arc<Text>, usize)>,
    chunks: usize,
    /// The number of records of the queue's head that were taken.
    taken: usize,
    /// The number of records that were ever queued.
    received: u64,
    underway: usize,
    /// The number of chunks that the last text counted as; the same is assumed for fetches underway.
    last: usize,
    /// Whether nothing is left to fetch.
    fetched: bool,
    fault: Option<Error>,
    over: bool,
    limits: Limits,
}

/// Information about mates among records that were given as single reads.
#[derive(Debug, Default)]
pub(super) struct Found {
    /// Whether alignments next to their mates are read as pairs; `None` before any mates were seen.
    pairs: Option<bool>,
    /// The numbers of first and second mates among alignments.
    marked: [u64; 2],
    /// The number of mates that became pairs.
    paired: u64,
    /// Whether a mate that is not beside its mate has none, by the header of the file.
    grouped: bool,
    /// Whether a second mate is followed by its first mate.
    reversed: bool,
    /// The last read of the last text.
    last: MateRuns,
    /// The number of all reads.
    reads: u64,
    /// The number of records at the beginning of a text if all of them have the names of mates, and the names of
    /// the first two.
    pub(super) named: Option<(usize, [String; 2])>,
    /// The unusable records at the beginning, if too many are unusable.
    pub(super) unusable: Option<Unusable>,
}

impl Found {
    /// Returns the number of mates that are not beside their mate.
    pub(super) fn apart(&self) -> u64 {
        self.marked[0] + self.marked[1] - self.paired
    }

    /// Whether mates of pairs were found that are not beside their mate, or behind it.
    pub(super) fn are_apart(&self) -> bool {
        let are_mates = self.marked.iter().all(|&marked| marked > 0);
        are_mates && self.apart() > 0 && (!self.grouped || self.reversed)
    }
}

/// The limits on the memory for a file.
#[derive(Clone, Debug, Default)]
struct Limits {
    /// The name of the file, for messages.
    name: Arc<str>,
    /// The maximum size of a record in bytes.
    record: usize,
    /// The size of a chunk in bytes.
    chunk: usize,
    /// The size in bytes above which a record is long: no other records are read at the same time.
    usual: usize,
    /// The number of letters of a stretch and the overlap of the next one, if long sequences are returned in
    /// stretches.
    stretches: Option<(usize, usize)>,
    /// The maximum number of chunks that may wait; a long record counts as this many.
    most: usize,
    /// Whether mates are searched for among single reads.
    find_pairs: bool,
    /// Whether templates are whole, so that all mates lie side by side.
    templates: bool,
    /// Whether mates must be beside their mates, because the alignments are not kept, and their names not collected.
    refuse_apart: bool,
    /// The requirements of the job on a read.
    needs: Option<Needs>,
}

impl Side {
    /// Creates the queue of the file `name`, of which nothing has been read. With `find_pairs`, mates are searched
    /// for.
    pub(super) fn new(
        name: Arc<str>,
        options: &RecordOptions,
        most: usize,
        find_pairs: bool,
    ) -> Side {
        let (record, chunk) = (options.max_record, options.chunk_bytes.max(1));
        let (usual, stretches) = (long::CHUNKS * chunk, options.stretches);
        let limits = Limits {
            name,
            record,
            chunk,
            usual,
            stretches,
            most,
            find_pairs,
            templates: options.keep_alignments.which == WhichAlignments::OfTemplates,
            refuse_apart: find_pairs && options.keep_alignments.which == WhichAlignments::None,
            needs: options.needs,
        };
        Side { limits, ..Side::default() }
    }

    /// Counts a fetch that begins.
    pub(super) fn begin(&mut self) {
        self.underway += 1;
    }

    /// Takes the result of a fetch.
    pub(super) fn deliver(&mut self, parsed: Parsed, text: Text) {
        self.underway -= 1;
        match parsed {
            Parsed::Nothing => {}
            Parsed::Chunk { ordinal, goes_on, fault } => {
                self.last = self.count(&text, 1);
                self.early.insert(ordinal, Early { text, goes_on, fault });
            }
            // A malformed record comes before a read error, whichever is reported first.
            Parsed::End(_) if self.over => {}
            Parsed::End(fault) => {
                self.fetched = true;
                self.fault = fault.or(self.fault.take());
            }
        }
        while let Some(chunk) = self.early.remove(&self.next) {
            self.next += 1;
            if self.over {
                continue;
            }
            self.append(chunk.text, chunk.goes_on && chunk.fault.is_none());
            if chunk.fault.is_some() && !self.over {
                self.fault = chunk.fault;
                self.finish();
            }
        }
        if self.fetched && self.underway == 0 && !self.over {
            if self.fault.is_some() {
                // It is unknown whether the record is complete.
                self.open = None;
            }
            self.finish();
        }
    }

    /// Queues the complete records.
    fn append(&mut self, mut text: Text, goes_on: bool) {
        if self.received == 0
            && text.len() > 0
            && let Some(needs) = self.limits.needs.take()
        {
            self.found.unusable = Unusable::of(&text, needs);
        }
        if self.limits.find_pairs && text.len() > 0 {
            self.look(&text, goes_on);
            if self.found.pairs != Some(false) && text.runs.is_some() {
                self.append_mates(text);
                return self.refuse_apart();
            }
            self.push_half();
            self.refuse_apart();
            if self.over {
                return;
            }
        }
        if let Some(open) = &mut self.open {
            open.go_on(&text.resumed);
            if !self.shorten() || text.len() == 0 {
                return;
            }
        }
        self.push_open();
        self.open = if goes_on { text.pop() } else { None };
        self.push(text, 1);
    }

    /// Checks the length of the open record. If it is too long, its stretches are queued; without stretches it is
    /// an error, and the result is `false`.
    fn shorten(&mut self) -> bool {
        let (most, stretches) = (self.limits.record, self.limits.stretches);
        if let Some((letters, overlap)) = stretches {
            while let Some(open) = self.open.as_mut().filter(|open| open.last_letters() > letters) {
                let rest = open.cut(letters, overlap);
                self.push_open();
                self.open = Some(rest);
            }
            return true;
        }
        let long = self.open.as_ref().is_some_and(|open| open.bytes.len() > most);
        if long {
            let (input, record) = (self.limits.name.to_string(), self.received + 1);
            self.fault = Some(Error::LongRecord { input, record, limit: most as u64 });
            self.open = None;
            self.finish();
        }
        !long
    }

    /// Updates the information about mates.
    fn look(&mut self, text: &Text, is_fasta: bool) {
        let Found { pairs, marked, reads, named, grouped, reversed, last, .. } = &mut self.found;
        if let Some(runs) = &text.runs {
            marked.iter_mut().zip(runs.marked).for_each(|(sum, more)| *sum += more);
            let goes_on = last.goes_on_in(runs);
            *grouped = runs.is_grouped;
            *reversed |= runs.is_reversed || last.is_reversed_in(runs);
            *last = runs.last_read();
            let in_order = runs.are_in_order(goes_on);
            let beside = self.limits.templates || runs.is_grouped;
            *pairs = if beside { Some(true) } else { pairs.or(in_order) };
        }
        if *reads == 0 && *marked == [0, 0] {
            *named = named_as_pairs(text, is_fasta);
        }
        *reads += text.len() as u64;
    }

    /// Queues reads of alignments whose mates are adjacent.
    fn append_mates(&mut self, mut text: Text) {
        let Some(runs) = &mut text.runs else { return };
        if let Some(mut half) = self.half.take() {
            let goes_on = half.runs.as_ref().is_some_and(|half| half.goes_on_in(runs));
            if goes_on && let Some(half) = &mut half.runs {
                half.is_mate_of_next();
                runs.begins_with_mate();
                self.found.paired += 1;
            }
            self.push(half, 0);
        }
        if runs.ends_within_pair() {
            let last = runs.split_last();
            let half = if text.len() == 1 { Some(std::mem::take(&mut text)) } else { text.pop() };
            self.half = half.map(|half| Text { runs: Some(last), ..half });
        }
        self.found.paired += text.runs.as_ref().map_or(0, |runs| runs.paired());
        self.push(text, 1);
    }

    /// Ends the file, with an error, if mates lie apart and must not.
    fn refuse_apart(&mut self) {
        // The mate of the last read may begin the next text.
        let waiting = u64::from(self.half.is_some());
        if self.limits.refuse_apart && self.found.are_apart() && self.found.apart() > waiting {
            self.finish();
        }
    }

    fn push_half(&mut self) {
        if let Some(half) = self.half.take() {
            self.push(half, 0);
        }
    }

    fn push_open(&mut self) {
        if let Some(open) = self.open.take() {
            self.push(open, 0);
        }
    }

    fn push(&mut self, text: Text, chunks: usize) {
        if text.len() > 0 {
            // All stretches of a record count as one.
            let begun = text.stretch.is_some_and(|stretch| !stretch.begins);
            self.received += text.len() as u64 - u64::from(begun);
            let chunks = self.count(&text, chunks);
            self.chunks += chunks;
            self.queue.push_back((Arc::new(text), chunks));
        }
    }

    /// Returns the number of chunks that a text counts as: the maximum for a long text, and more than one for many
    /// tiny records, whose extents take more memory than the records.
    fn count(&self, text: &Text, chunks: usize) -> usize {
        if text.bytes.len() > self.limits.usual {
            return self.limits.most;
        }
        chunks + text.extents_bytes() / self.limits.chunk
    }

    /// Marks the end of the file and queues the remaining records.
    fn finish(&mut self) {
        (self.over, self.fetched) = (true, true);
        self.push_open();
        self.push_half();
        if self.limits.refuse_apart && self.found.are_apart() && self.fault.is_none() {
            self.fault = Some(Error::MatesApart { input: self.limits.name.to_string() });
        }
    }

    /// Returns the first text, and the index of its first record that was not taken.
    pub(super) fn head(&self) -> Option<(&Text, usize)> {
        self.queue.front().map(|(text, _)| (&**text, self.taken))
    }

    /// Returns whether the next records are adjacent mates, by the flags of alignments, and the number of records
    /// of the head for which the answer is the same.
    pub(super) fn next_run(&self) -> Option<(bool, usize)> {
        let (text, at) = self.head()?;
        let all = (false, text.len() - at);
        if self.found.pairs != Some(true) {
            return Some(all);
        }
        let of = |(mates, end): (bool, usize)| (mates, end.min(text.len()) - at);
        Some(text.runs.as_ref().map_or(all, |runs| of(runs.run_at(at))))
    }

    /// Takes `count` records of the head, which must have that many.
    pub(super) fn take(&mut self, count: usize) -> Option<Slice> {
        let (text, _) = self.queue.front()?;
        let (from, to) = (self.taken, self.taken + count);
        let slice = Slice { text: Arc::clone(text), from, to };
        self.taken = to;
        if text.len() == to {
            self.taken = 0;
            self.chunks -= self.queue.pop_front().map_or(0, |(_, chunks)| chunks);
        }
        Some(slice)
    }

    /// Whether the queue has all remaining records of the file.
    pub(super) fn is_over(&self) -> bool {
        self.over
    }

    /// Takes the fault after the last record.
    pub(super) fn fault(&mut self) -> Option<Error> {
        self.fault.take()
    }

    /// Whether there may be more to fetch and there is room for it: the queued chunks and those underway must not
    /// exceed the limit.
    pub(super) fn wants(&self) -> bool {
        let early: usize = self.early.values().map(|early| self.count(&early.text, 1)).sum();
        let here = self.chunks + early + self.underway * self.last.max(1);
        !self.fetched && (here < self.limits.most || self.queue.is_empty() && self.underway == 0)
    }

    /// Estimates the number of records after all fetches underway have ended.
    pub(super) fn expected(&self) -> u64 {
        let underway = (self.underway + self.early.len()) as u64;
        self.received + underway * (self.received / self.next.max(1)).max(1)
    }
}

/// The number of records at the beginning of a file that are checked for names of mates.
const LOOKED_AT: usize = 32;
/// The number of pairs that must have the names of mates, for each certainty.
const PAIRS_OF: [(Sureness, usize); 3] =
    [(Sureness::Numbered, 1), (Sureness::Same, 2), (Sureness::Likely, 8)];

/// Checks whether all records at the beginning of a text, two by two, are mates by their names. Returns the number
/// of records that were checked, and the names of the first two.
fn named_as_pairs(text: &Text, is_fasta: bool) -> Option<(usize, [String; 2])> {
    let pairs = text.len().min(LOOKED_AT) / 2;
    let of = |pair: usize| {
        let places = [2 * pair, 2 * pair + 1];
        sureness(places.map(|at| text.record(at).name), places.map(|at| text.number(at)))
    };
    let least = (0..pairs).map(of).min()?;
    let &(_, enough) = PAIRS_OF.iter().find(|(sure, _)| *sure == least)?;
    // Sequences of two haplotypes often have such names.
    if pairs < enough || least == Sureness::Likely && is_fasta {
        return None;
    }
    let name = |at: usize| String::from_utf8_lossy(text.record(at).name).into_owned();
    Some((2 * pairs, [name(0), name(1)]))
}
