//! One of the two files: its chunks, put in their order.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use merganser_io::{Error, Sink};

/// Sequences one after the other.
#[derive(Default)]
pub(super) struct Letters {
    /// The sequence before all others, if it began in an earlier chunk.
    first: Option<Vec<u8>>,
    /// While it is parsed: the rest of a sequence that an earlier chunk began.
    resumed: Option<Vec<u8>>,
    letters: Vec<u8>,
    /// Where each of the other sequences begins.
    starts: Vec<usize>,
}

/// What a fetch brought.
pub(super) enum Parsed {
    /// Records, and what was wrong with the one after them.
    Chunk { ordinal: u64, letters: Letters, fault: Option<Error> },
    /// There is nothing more, or it cannot be read.
    End(Option<Error>),
}

/// What of a file was read and not handed out.
#[derive(Default)]
pub(super) struct Side {
    /// The chunk that comes next in the file.
    next: u64,
    /// Chunks that came before their turn.
    early: BTreeMap<u64, (Letters, Option<Error>)>,
    /// A sequence that may go on in the next chunk.
    open: Option<Vec<u8>>,
    queue: VecDeque<Arc<Letters>>,
    /// Records of the queue's head that were handed out.
    taken: usize,
    /// Records that were ever queued.
    received: u64,
    underway: usize,
    /// Nothing is left to fetch.
    fetched: bool,
    fault: Option<Error>,
    over: bool,
}

impl Side {
    /// A fetch begins.
    pub(super) fn begin(&mut self) {
        self.underway += 1;
    }

    /// A fetch ended.
    pub(super) fn deliver(&mut self, parsed: Parsed) {
        self.underway -= 1;
        match parsed {
            Parsed::Chunk { ordinal, letters, fault } => {
                self.early.insert(ordinal, (letters, fault));
            }
            // What is malformed comes before what cannot be read, whoever says it first.
            Parsed::End(_) if self.over => {}
            Parsed::End(fault) => {
                self.fetched = true;
                self.fault = fault.or(self.fault.take());
            }
        }
        while let Some((letters, fault)) = self.early.remove(&self.next) {
            self.next += 1;
            if self.over {
                continue;
            }
            self.append(letters);
            if fault.is_some() {
                self.fault = fault;
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
    fn append(&mut self, mut letters: Letters) {
        if let (Some(open), Some(more)) = (&mut self.open, letters.resumed.take()) {
            open.extend_from_slice(&more);
            if letters.starts.is_empty() {
                return;
            }
        }
        letters.first = self.open.take();
        self.open = letters.pop();
        self.push(letters);
    }

    fn push(&mut self, letters: Letters) {
        if letters.len() > 0 {
            self.received += letters.len() as u64;
            self.queue.push_back(Arc::new(letters));
        }
    }

    /// Nothing more will come.
    fn finish(&mut self) {
        (self.over, self.fetched) = (true, true);
        let first = self.open.take();
        self.push(Letters { first, ..Letters::default() });
    }

    /// The first records, and how many of them were handed out.
    pub(super) fn head(&self) -> Option<(&Arc<Letters>, usize)> {
        self.queue.front().map(|letters| (letters, self.taken))
    }

    /// Hands out `count` records of the head.
    pub(super) fn take(&mut self, count: usize) {
        self.taken += count;
        if self.head().is_some_and(|(letters, taken)| letters.len() == taken) {
            self.queue.pop_front();
            self.taken = 0;
        }
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
    /// for no more than `most` chunks.
    pub(super) fn wants(&self, most: usize) -> bool {
        let here = self.queue.len() + self.early.len() + self.underway;
        !self.fetched && (here < most || self.queue.is_empty() && self.underway == 0)
    }

    /// About how many records there will be when all fetches underway have ended.
    pub(super) fn expected(&self) -> u64 {
        let underway = (self.underway + self.early.len()) as u64;
        self.received + underway * (self.received / self.next.max(1)).max(1)
    }
}

impl Letters {
    /// Sequences.
    pub(super) fn len(&self) -> usize {
        usize::from(self.first.is_some()) + self.starts.len()
    }

    /// Takes the last sequence, which may not be complete.
    fn pop(&mut self) -> Option<Vec<u8>> {
        let start = self.starts.pop()?;
        Some(self.letters.split_off(start))
    }

    pub(super) fn get(&self, index: usize) -> &[u8] {
        let index = match (&self.first, index) {
            (Some(first), 0) => return first,
            (Some(_), _) => index - 1,
            (None, _) => index,
        };
        let end = self.starts.get(index + 1).copied().unwrap_or(self.letters.len());
        &self.letters[self.starts[index]..end]
    }
}

impl Sink for Letters {
    fn begin(&mut self, _header: &[u8]) {
        self.starts.push(self.letters.len());
    }

    fn resume(&mut self) {
        self.resumed = Some(Vec::new());
    }

    fn sequence(&mut self, line: &[u8], _quality: Option<&[u8]>) {
        match (&mut self.resumed, self.starts.is_empty()) {
            (Some(resumed), true) => resumed.extend_from_slice(line),
            _ => self.letters.extend_from_slice(line),
        }
    }

    fn end(&mut self) {}
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unknown(byte: u8) -> Error {
        Error::UnknownFormat { input: "x".into(), byte }
    }

    fn chunk(ordinal: u64, fault: Option<Error>) -> Parsed {
        let letters = Letters { letters: b"ACGT".to_vec(), starts: vec![0], ..Letters::default() };
        Parsed::Chunk { ordinal, letters, fault }
    }

    /// Whichever worker is faster, and whether what was read before was taken or not.
    #[test]
    fn what_is_malformed_comes_before_what_cannot_be_read() {
        for late in [false, true] {
            let mut side = Side::default();
            (0..3).for_each(|_| side.begin());
            let mut all =
                [chunk(1, Some(unknown(b'!'))), chunk(0, None), Parsed::End(Some(unknown(b'?')))];
            if !late {
                all.reverse();
            }
            all.into_iter().for_each(|parsed| side.deliver(parsed));
            assert!(side.is_over());
            let fault = side.fault().map(|fault| fault.to_string());
            assert_eq!(fault, Some(unknown(b'!').to_string()), "{late}");
        }
    }

    #[test]
    fn what_is_cut_off_is_no_sequence() {
        let mut side = Side::default();
        (0..2).for_each(|_| side.begin());
        side.deliver(chunk(0, None));
        side.deliver(Parsed::End(Some(unknown(b'?'))));
        assert!(side.is_over() && side.head().is_none());
    }
}
