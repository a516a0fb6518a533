//! What of a chunk is sketched: stretches of targets, cut where windows begin.

use std::ops::Range;

use merganser_io::Sink;

use crate::params::Params;
use merganser_seq::masking::Masking;

/// The records of a chunk: letters one after the other.
#[derive(Default)]
pub(super) struct Records {
    pub(super) letters: Vec<u8>,
    /// Header and where its letters begin; the first may have none: a target that goes on.
    pub(super) starts: Vec<(Option<String>, usize)>,
}

impl Records {
    /// Where the letters of a record lie.
    pub(super) fn range(&self, at: usize) -> Range<usize> {
        let end = self.starts.get(at + 1).map_or(self.letters.len(), |next| next.1);
        self.starts[at].1..end
    }
}

impl Sink for Records {
    fn begin(&mut self, header: &[u8]) {
        let header = String::from_utf8_lossy(header).into_owned();
        self.starts.push((Some(header), self.letters.len()));
    }

    fn resume(&mut self) {
        self.starts.push((None, self.letters.len()));
    }

    fn sequence(&mut self, line: &[u8], _quality: Option<&[u8]>) {
        self.letters.extend_from_slice(line);
    }

    fn end(&mut self) {}
}

/// A stretch of a target from the beginning of a window: its complete windows, and what is left
/// of it if it ends there.
pub(super) struct Piece<'a> {
    pub(super) letters: &'a [u8],
    pub(super) ends: bool,
}

/// The letters of a target that may go on from the first window on that is not complete yet. With
/// masking, they have to be looked at again, with those before and behind them that decide about them.
#[derive(Default)]
pub(super) struct Tail {
    letters: Vec<u8>,
    /// Letters before the window, which are there for that alone.
    before: usize,
}

impl Tail {
    /// What `letters` leave, of which the first window begins behind `before` others.
    fn of(params: &Params, letters: &[u8], before: usize) -> Tail {
        let reach = params.masking.reach();
        let sure = letters.len().saturating_sub(before + reach);
        let start = before + complete(params, sure) * params.stride as usize;
        let before = start.min(reach);
        Tail { letters: letters[start - before..].to_vec(), before }
    }

    /// What a target that begins with these letters leaves.
    pub(super) fn of_beginning(params: &Params, letters: &[u8]) -> Tail {
        Tail::of(params, letters, 0)
    }

    /// What is left of it as it is.
    pub(super) fn rest(&self, params: &Params) -> Tail {
        Tail::of(params, &self.letters, self.before)
    }

    /// More letters of the target.
    pub(super) fn extend(&mut self, letters: &[u8]) {
        self.letters.extend_from_slice(letters);
    }

    pub(super) fn letters(&self) -> &[u8] {
        &self.letters[self.before..]
    }
}

/// What is to be sketched when a chunk's turn has come.
pub(super) struct Turn {
    /// A stretch that begins in an earlier chunk, and whether its target ends with it.
    pub(super) lead: Option<(Tail, bool)>,
    /// The first record that begins here.
    pub(super) from: usize,
    /// Which target of its file the first piece is of; others follow it.
    pub(super) target: usize,
}

/// The complete windows in `bases` from the beginning of one.
pub(super) fn complete(params: &Params, bases: usize) -> usize {
    let (window, stride) = (params.window as usize, params.stride as usize);
    if bases < window { 0 } else { (bases - window) / stride + 1 }
}

impl Piece<'_> {
    pub(super) fn windows(&self, params: &Params) -> usize {
        let bases = self.letters.len();
        if self.ends { params.windows(bases as u64) as usize } else { complete(params, bases) }
    }
}

/// Records for a device that is not ready yet.
pub(super) struct Waiting {
    /// The number of the first window, as yet.
    pub(super) provisional: u32,
    pub(super) turn: Turn,
    pub(super) records: Records,
}

impl Waiting {
    pub(super) fn pieces(&self, masking: Masking) -> Vec<Piece<'_>> {
        self.turn.pieces(masking, &self.records)
    }

    pub(super) fn bytes(&self) -> u64 {
        self.records.letters.capacity() as u64
    }
}

impl Turn {
    /// The stretches to sketch, in the order of the reference.
    pub(super) fn pieces<'a>(&'a self, masking: Masking, records: &'a Records) -> Vec<Piece<'a>> {
        // What comes next may decide about the last letters.
        let piece = |letters: &'a [u8], ends: bool| {
            let unsure = if ends { 0 } else { masking.reach().min(letters.len()) };
            Piece { letters: &letters[..letters.len() - unsure], ends }
        };
        let lead = self.lead.iter().map(|(tail, ends)| piece(tail.letters(), *ends));
        let rest = (self.from..records.starts.len())
            .map(|at| piece(&records.letters[records.range(at)], at + 1 < records.starts.len()));
        lead.chain(rest).collect()
    }

    /// Masks the stretches; of those that go on, the last letters are still to be decided about.
    pub(super) fn mask(&mut self, masking: Masking, records: &mut Records) {
        if let Some((tail, _)) = &mut self.lead {
            masking.mask(&mut tail.letters);
        }
        for at in self.from..records.starts.len() {
            let range = records.range(at);
            masking.mask(&mut records.letters[range]);
        }
    }
}
