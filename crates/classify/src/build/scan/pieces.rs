//! Pieces of a chunk to be sketched: stretches of targets, cut at the starts of windows.

use std::ops::Range;

use merganser_io::Sink;

use crate::params::Params;
use merganser_seq::masking::Masking;

/// The records of a chunk, with their letters one after the other.
#[derive(Default)]
pub(super) struct Records {
    pub(super) letters: Vec<u8>,
    /// The header of each record and the start of its letters. The first record may have no header: it continues a
    /// target.
    pub(super) starts: Vec<(Option<String>, usize)>,
}

impl Records {
    /// Returns the range of a record's letters.
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

/// A stretch of a target that begins at the start of a window. Its complete windows are sketched and, if the target
/// ends with it, the remainder.
pub(super) struct Piece<'a> {
    pub(super) letters: &'a [u8],
    pub(super) ends: bool,
}

/// The last letters of a target that may continue, from the first incomplete window on. With masking, they are
/// masked again together with the letters around them that affect the result.
#[derive(Default)]
pub(super) struct Tail {
    letters: Vec<u8>,
    /// The number of letters before the window, kept only for masking.
    before: usize,
}

impl Tail {
    /// Returns the tail of `letters`, in which the first window starts after `before` letters.
    fn of(params: &Params, letters: &[u8], before: usize) -> Tail {
        let reach = params.masking.reach();
        let sure = letters.len().saturating_sub(before + reach);
        let start = before + complete(params, sure) * params.stride as usize;
        let before = start.min(reach);
        Tail { letters: letters[start - before..].to_vec(), before }
    }

    /// Returns the tail of a target that starts with these letters.
    pub(super) fn of_beginning(params: &Params, letters: &[u8]) -> Tail {
        Tail::of(params, letters, 0)
    }

    /// Returns the tail of this tail, after its complete windows.
    pub(super) fn rest(&self, params: &Params) -> Tail {
        Tail::of(params, &self.letters, self.before)
    }

    /// Appends letters of the target.
    pub(super) fn extend(&mut self, letters: &[u8]) {
        self.letters.extend_from_slice(letters);
    }

    pub(super) fn letters(&self) -> &[u8] {
        &self.letters[self.before..]
    }
}

/// The work of a chunk when its turn comes.
pub(super) struct Turn {
    /// A stretch that starts in an earlier chunk, and whether its target ends with it.
    pub(super) lead: Option<(Tail, bool)>,
    /// The first record that starts in this chunk.
    pub(super) from: usize,
    /// The target of the first piece, as an index in its file; the other pieces belong to the following targets.
    pub(super) target: usize,
}

/// Returns the number of complete windows in `bases`, counted from the start of a window.
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

/// Records that wait for a device to become ready.
pub(super) struct Waiting {
    /// The provisional number of the first window.
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
    /// Returns the stretches to sketch, in the order of the reference.
    pub(super) fn pieces<'a>(&'a self, masking: Masking, records: &'a Records) -> Vec<Piece<'a>> {
        // Masking of the last letters depends on those that follow.
        let piece = |letters: &'a [u8], ends: bool| {
            let unsure = if ends { 0 } else { masking.reach().min(letters.len()) };
            Piece { letters: &letters[..letters.len() - unsure], ends }
        };
        let lead = self.lead.iter().map(|(tail, ends)| piece(tail.letters(), *ends));
        let rest = (self.from..records.starts.len())
            .map(|at| piece(&records.letters[records.range(at)], at + 1 < records.starts.len()));
        lead.chain(rest).collect()
    }

    /// Masks the stretches. The last letters of those that continue are masked again with the next chunk.
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
