//! One of the files: its chunks, put in their order.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use super::mates::{Sureness, sureness};
use super::needs::{Needs, Unusable};
use super::text::{Slice, Text};
use super::{RecordOptions, long};
use crate::Error;

/// What a fetch brought.
pub(super) enum Parsed {
    /// Nothing yet: a record is longer than chunks.
    Nothing,
    /// Records, the last of which may go on in the next chunk, and what was wrong after them.
    Chunk { ordinal: u64, goes_on: bool, fault: Option<Error> },
    /// There is nothing more, or it cannot be read.
    End(Option<Error>),
}

/// A chunk that came before its turn.
struct Early {
    text: Text,
    goes_on: bool,
    fault: Option<Error>,
}

/// What of a file was read and is in no batch.
#[derive(Default)]
pub(super) struct Side {
    /// The chunk that comes next in the file.
    next: u64,
    early: BTreeMap<u64, Early>,
    /// A record that may go on in the next chunk.
    open: Option<Text>,
    /// A first mate whose mate may begin the next chunk.
    half: Option<Text>,
    /// What is known of mates among single reads.
    pub(super) found: Found,
    /// With each, how many chunks it counts as: mostly 1, or 0 for what was cut off at the end of one.
    queue: VecDeque<(Arc<Text>, usize)>,
    chunks: usize,
    /// Records of the queue's head that are taken.
    taken: usize,
    /// Records that were ever queued.
    received: u64,
    underway: usize,
    /// For how many chunks the last one counted, as those underway may.
    last: usize,
    /// Nothing is left to fetch.
    fetched: bool,
    fault: Option<Error>,
    over: bool,
    limits: Limits,
}

/// What is known of mates among records that were given as single reads.
#[derive(Debug, Default)]
pub(super) struct Found {
    /// Reads of alignments that lie side by side with their mates are pairs; `None` before any was seen.
    pub(super) pairs: Option<bool>,
    /// First and second mates among alignments, and those that became pairs.
    pub(super) marked: [u64; 2],
    pub(super) paired: u64,
    /// All reads.
    pub(super) reads: u64,
    /// The first records of a text are mates by their names: so many of them, and the first two.
    pub(super) named: Option<(usize, [String; 2])>,
    /// The first records are of no use to the job.
    pub(super) unusable: Option<Unusable>,
}

/// What a file may do to the memory.
#[derive(Clone, Debug, Default)]
struct Limits {
    /// The file, for messages.
    name: Arc<str>,
    /// The most bytes of a record.
    record: usize,
    /// Bytes of a chunk.
    chunk: usize,
    /// A record of more bytes is long: nothing is read beside it.
    usual: usize,
    /// Letters of a stretch and how many of them the next one repeats, if long sequences come so.
    stretches: Option<(usize, usize)>,
    /// Chunks that may wait, which a long record counts for.
    most: usize,
    /// Mates are looked for.
    find_pairs: bool,
    /// What the job needs of a read.
    needs: Option<Needs>,
}

impl Side {
    /// Nothing of the file `name` has been read. Mates are looked for if `find_pairs`.
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
            needs: options.needs,
        };
        Side { limits, ..Side::default() }
    }

    /// A fetch begins.
    pub(super) fn begin(&mut self) {
        self.underway += 1;
    }

    /// A fetch ended.
    pub(super) fn deliver(&mut self, parsed: Parsed, text: Text) {
        self.underway -= 1;
        match parsed {
            Parsed::Nothing => {}
            Parsed::Chunk { ordinal, goes_on, fault } => {
                self.last = self.count(&text, 1);
                self.early.insert(ordinal, Early { text, goes_on, fault });
            }
            // What is malformed comes before what cannot be read, whoever says it first.
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
                // Nobody knows whether it is whole.
                self.open = None;
            }
            self.finish();
        }
    }

    /// Queues the records that are complete.
    fn append(&mut self, mut text: Text, goes_on: bool) {
        if self.received == 0
            && text.len() > 0
            && let Some(needs) = self.limits.needs.take()
        {
            self.found.unusable = Unusable::of(&text, needs);
        }
        if self.limits.find_pairs && text.len() > 0 {
            self.look(&text, goes_on);
            if self.found.pairs == Some(true) && text.runs.is_some() {
                return self.append_mates(text);
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

    /// Queues stretches of the open record, or refuses it, if it is too long; then false.
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

    /// Notes what a text says of mates.
    fn look(&mut self, text: &Text, is_fasta: bool) {
        let Found { pairs, marked, reads, named, .. } = &mut self.found;
        if let Some(runs) = &text.runs {
            marked.iter_mut().zip(runs.marked).for_each(|(sum, more)| *sum += more);
            *pairs = pairs.or(runs.are_in_order());
        }
        if *reads == 0 && *marked == [0, 0] {
            *named = named_as_pairs(text, is_fasta);
        }
        *reads += text.len() as u64;
    }

    /// Queues reads of alignments, which are in the order of their pairs.
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

    fn push_open(&mut self) {
        if let Some(open) = self.open.take() {
            self.push(open, 0);
        }
    }

    fn push(&mut self, text: Text, chunks: usize) {
        if text.len() > 0 {
            // Stretches of a record are one.
            let begun = text.stretch.is_some_and(|stretch| !stretch.begins);
            self.received += text.len() as u64 - u64::from(begun);
            let chunks = self.count(&text, chunks);
            self.chunks += chunks;
            self.queue.push_back((Arc::new(text), chunks));
        }
    }

    /// How many chunks a text counts for: a long one for all that may wait, one of many tiny records for
    /// more than one, as where they lie takes more than they do.
    fn count(&self, text: &Text, chunks: usize) -> usize {
        if text.bytes.len() > self.limits.usual {
            return self.limits.most;
        }
        chunks + text.extents_bytes() / self.limits.chunk
    }

    /// Nothing more will come.
    fn finish(&mut self) {
        (self.over, self.fetched) = (true, true);
        self.push_open();
        if let Some(half) = self.half.take() {
            self.push(half, 0);
        }
    }

    /// The first text, and the first of its records that is not taken.
    pub(super) fn head(&self) -> Option<(&Text, usize)> {
        self.queue.front().map(|(text, _)| (&**text, self.taken))
    }

    /// Whether the next records are mates side by side, by the flags of alignments, and how many of the
    /// head are such or no such.
    pub(super) fn next_run(&self) -> Option<(bool, usize)> {
        let (text, at) = self.head()?;
        let all = (false, text.len() - at);
        if self.found.pairs != Some(true) {
            return Some(all);
        }
        let of = |(mates, end): (bool, usize)| (mates, end.min(text.len()) - at);
        Some(text.runs.as_ref().map_or(all, |runs| of(runs.run_at(at))))
    }

    /// Takes `count` records of the head, which has as many.
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

    /// Whether all that the file has is in the queue.
    pub(super) fn is_over(&self) -> bool {
        self.over
    }

    /// What was wrong after the last record.
    pub(super) fn fault(&mut self) -> Option<Error> {
        self.fault.take()
    }

    /// Whether there may be more to fetch, and there is room for it: in the queue and underway,
    /// for no more than so many chunks as may wait.
    pub(super) fn wants(&self) -> bool {
        let early: usize = self.early.values().map(|early| self.count(&early.text, 1)).sum();
        let here = self.chunks + early + self.underway * self.last.max(1);
        !self.fetched && (here < self.limits.most || self.queue.is_empty() && self.underway == 0)
    }

    /// About how many records there will be when all fetches underway have ended.
    pub(super) fn expected(&self) -> u64 {
        let underway = (self.underway + self.early.len()) as u64;
        self.received + underway * (self.received / self.next.max(1)).max(1)
    }
}

/// Records at the beginning of a file that are looked at.
const LOOKED_AT: usize = 32;
/// So many pairs of records must have names of mates, by how sure that is.
const PAIRS_OF: [(Sureness, usize); 3] =
    [(Sureness::Numbered, 1), (Sureness::Same, 2), (Sureness::Likely, 8)];

/// Whether all records at the beginning of a text, two by two, are mates by their names: how many were
/// looked at, and the names of the first two.
fn named_as_pairs(text: &Text, is_fasta: bool) -> Option<(usize, [String; 2])> {
    let pairs = text.len().min(LOOKED_AT) / 2;
    let of = |pair: usize| {
        let places = [2 * pair, 2 * pair + 1];
        sureness(places.map(|at| text.record(at).name), places.map(|at| text.number(at)))
    };
    let least = (0..pairs).map(of).min()?;
    let &(_, enough) = PAIRS_OF.iter().find(|(sure, _)| *sure == least)?;
    // Sequences of two haplotypes may well have such names.
    if pairs < enough || least == Sureness::Likely && is_fasta {
        return None;
    }
    let name = |at: usize| String::from_utf8_lossy(text.record(at).name).into_owned();
    Some((2 * pairs, [name(0), name(1)]))
}
