//! The taxids that were found so far, with the match that each came from.

/// How the id of a row matches a sequence, from the least specific match to the most specific one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Match {
    /// A part of its name between bars, without its version.
    StemOfPart,
    /// A part of its name between bars.
    Part,
    /// The beginning of its file's name, with the number of its bytes.
    FileName(u32),
    /// Its name without the version.
    Stem,
    /// Its whole name, or its file.
    Whole,
}

/// The taxids of sequences, and where they come from.
#[derive(Debug, Default)]
pub(super) struct Taxids {
    found: Vec<Option<u32>>,
    /// The number of the source of each taxid, and the match there.
    origins: Vec<(u32, Match)>,
    /// The number of the current source.
    source: u32,
}

impl Taxids {
    /// Returns the taxids of `count` sequences, of which none is known.
    pub(super) fn new(count: usize) -> Taxids {
        Taxids { found: vec![None; count], origins: vec![(0, Match::Whole); count], source: 0 }
    }

    /// Begins with another source: from now on, no taxid that is known gives way to a better match.
    pub(super) fn next_source(&mut self) {
        self.source += 1;
    }

    /// Gives a sequence a taxid, unless an earlier source has one, or this source has a match that is as good.
    pub(super) fn set(&mut self, sequence: usize, taxid: u32, by: Match) {
        let (source, known) = self.origins[sequence];
        if self.found[sequence].is_none() || (source == self.source && known < by) {
            self.found[sequence] = Some(taxid);
            self.origins[sequence] = (self.source, by);
        }
    }

    /// Gives a sequence the taxid of its header.
    pub(super) fn set_of_header(&mut self, sequence: usize, taxid: u32) {
        self.found[sequence] = Some(taxid);
        self.origins[sequence] = (self.source, Match::Whole);
    }

    /// Whether a taxid in the header of a sequence comes before the one that was found: if that was found only by a part
    /// of the name, which may be the name of another sequence.
    pub(super) fn is_for_header(&self, sequence: usize) -> bool {
        self.found[sequence].is_none() || self.origins[sequence].1 <= Match::Part
    }

    /// Returns the taxid of a sequence.
    pub(super) fn of(&self, sequence: usize) -> Option<u32> {
        self.found[sequence]
    }

    /// Returns the number of sequences without a taxid.
    pub(super) fn missing(&self) -> usize {
        self.found.iter().filter(|taxid| taxid.is_none()).count()
    }

    /// Returns the taxids in the order of the sequences.
    pub(super) fn found(&self) -> &[Option<u32>] {
        &self.found
    }

    /// Returns the taxids in the order of the sequences.
    pub(super) fn into_found(self) -> Vec<Option<u32>> {
        self.found
    }
}
