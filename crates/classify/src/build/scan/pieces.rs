//! What of a chunk is sketched: stretches of targets, cut where windows begin.

use merganser_io::Sink;

use crate::params::Params;

/// The records of a chunk: letters one after the other.
#[derive(Default)]
pub(super) struct Records {
    pub(super) letters: Vec<u8>,
    /// Header and where its letters begin; the first may have none: a target that goes on.
    pub(super) starts: Vec<(Option<String>, usize)>,
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

/// Stretches that begin in an earlier chunk, and whether their target ends with them.
pub(super) type Lead = Vec<(Vec<u8>, bool)>;

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
    pub(super) lead: Lead,
    pub(super) records: Records,
    /// The first record that begins here.
    pub(super) from: usize,
}

impl Waiting {
    pub(super) fn pieces(&self) -> Vec<Piece<'_>> {
        pieces(&self.lead, &self.records, self.from)
    }

    pub(super) fn bytes(&self) -> u64 {
        self.records.letters.capacity() as u64
    }
}

/// The stretches to sketch, in the order of the reference.
pub(super) fn pieces<'a>(
    lead: &'a [(Vec<u8>, bool)],
    records: &'a Records,
    from: usize,
) -> Vec<Piece<'a>> {
    let lead = lead.iter().map(|(letters, ends)| Piece { letters, ends: *ends });
    let rest = (from..records.starts.len()).map(|at| {
        let next = records.starts.get(at + 1);
        let end = next.map_or(records.letters.len(), |next| next.1);
        Piece { letters: &records.letters[records.starts[at].1..end], ends: next.is_some() }
    });
    lead.chain(rest).collect()
}
