//! Parts of reads: a read without a hit is searched by the part that aligns, as if it were cropped and clipped
//! ([`Config::clip`]). Reads with adapters and reads at a breakpoint are found so.
//!
//! Each half of the read is searched. The first hit of a half is extended along its diagonal into the other half, as
//! far as the score rises, and the longer of both parts is searched as a read of its own. Mates of pairs have parts
//! only if neither has a hit: otherwise, one is rescued beside the other.

use std::ops::Range;

use merganser_run::Cancel;

use crate::cpu::Singles;
use crate::hits::{Hit, hits_of};
use crate::index::IndexView;
use crate::queries::{Queries, Query};
use crate::room::Room;
use crate::trace::{Alignment, MATCH, MISMATCH};
use crate::{Config, Error, Select};

/// The minimum length of a half, in bases: BWA-MEM reports alignments with a score of at least 30.
const MIN_HALF: usize = 30;
/// The score below the highest one at which an extension ends.
const DROP: i64 = 20;

/// A search for parts of reads, one for each thread.
pub(crate) struct Parts<'r> {
    /// Searches halves for their best hit.
    halves: Singles<'r>,
    /// Searches parts for the hits that are reported.
    parts: Singles<'r>,
    alignment: Alignment,
    hits: Vec<Hit>,
    bounds: Vec<usize>,
}

/// The hits of some reads, with the end of each read's hits.
pub(crate) struct Found<'h> {
    pub(crate) hits: &'h mut Vec<Hit>,
    pub(crate) bounds: &'h mut Vec<usize>,
}

impl Found<'_> {
    fn of(&self, at: usize) -> &[Hit] {
        hits_of(self.hits, self.bounds, at)
    }
}

/// A read without a hit, and the part of it that is searched.
struct Part<'l> {
    /// The number of the read in its batch.
    read: usize,
    letters: &'l [u8],
    range: Range<usize>,
}

impl<'r> Parts<'r> {
    /// Returns a search with this room for hits of a read. `best` are the options of the run with [`Select::Best`].
    ///
    /// Returns `None` if ends are not clipped.
    pub(crate) fn new(
        view: IndexView<'r>,
        [config, best]: [&'r Config; 2],
        gaps: &'r [[u32; 2]],
        room: Room,
        cancel: &Cancel,
    ) -> Option<Parts<'r>> {
        debug_assert_eq!(best.select, Select::Best);
        let search = |config| Singles::new(view, config, gaps, room, cancel);
        config.clip.then(|| Parts {
            halves: search(best),
            parts: search(config),
            alignment: Alignment::of_run(cancel),
            hits: Vec::new(),
            bounds: Vec::new(),
        })
    }

    /// Searches for parts of the `reads` of a batch whose units have no hit, and replaces their queries and their hits
    /// by those of the parts. `letters` returns the mapped letters of a read.
    ///
    /// # Errors
    /// If a search fails, or the run is cancelled.
    pub(crate) fn find<'l>(
        &mut self,
        reads: Range<usize>,
        unit: usize,
        letters: impl Fn(usize) -> &'l [u8],
        queries: &mut Queries,
        found: Found<'_>,
    ) -> Result<(), Error> {
        let is_lost = |at: &usize| (0..unit).all(|mate| found.of(at + mate).is_empty());
        let lost = (0..reads.len()).step_by(unit).filter(is_lost);
        let lost = lost.flat_map(|at| at..at + unit).map(|at| reads.start + at);
        let long = lost.filter(|&read| queries.get(2 * read).len >= 2 * MIN_HALF);
        let long: Vec<(usize, &[u8])> = long.map(|read| (read, letters(read))).collect();
        if long.is_empty() {
            return Ok(());
        }
        let parts = self.extended_halves(&long, queries)?;
        if parts.is_empty() {
            return Ok(());
        }
        let sequences = parts.iter().map(|part| &part.letters[part.range.clone()]);
        let found_parts = self.parts.search(sequences, |_, problem| Error::Input(problem));
        found_parts.map_err(|error| of_read(error, |part| parts[part].read))?;
        self.replace(reads, &parts, queries, found);
        Ok(())
    }

    /// Searches the halves of reads, and returns the longer extension of each read's halves.
    fn extended_halves<'l>(
        &mut self,
        reads: &[(usize, &'l [u8])],
        queries: &Queries,
    ) -> Result<Vec<Part<'l>>, Error> {
        let halves = |letters: &'l [u8]| <[&[u8]; 2]>::from(letters.split_at(letters.len() / 2));
        let sequences = reads.iter().flat_map(|(_, letters)| halves(letters));
        let found = self.halves.search(sequences, |_, problem| Error::Input(problem));
        found.map_err(|error| of_read(error, |half| reads[half / 2].0))?;
        let mut parts = Vec::new();
        for (number, &(read, letters)) in reads.iter().enumerate() {
            let middle = letters.len() / 2;
            let ranges = [0..middle, middle..letters.len()];
            let mut longest = 0..0;
            for (half, range) in ranges.into_iter().enumerate() {
                let Some(hit) = self.halves.hits(2 * number + half).first() else { continue };
                let (of_half, view) = (&self.halves.mapper.queries, self.halves.mapper.view);
                let (text, mode) = (&view.text, self.halves.mapper.config.n_mode);
                self.alignment.of_hit(of_half, 2 * number + half, hit, text, mode, &[]);
                let query = queries.get(2 * read + usize::from(hit.reverse));
                let extended = extend(&query, hit, range, &self.alignment, &view);
                if extended.len() > longest.len() {
                    longest = extended;
                }
            }
            if !longest.is_empty() {
                parts.push(Part { read, letters, range: longest });
            }
        }
        Ok(parts)
    }

    /// Replaces queries and hits of reads by those of their parts that have hits.
    fn replace(
        &mut self,
        reads: Range<usize>,
        parts: &[Part<'_>],
        queries: &mut Queries,
        found: Found<'_>,
    ) {
        self.hits.clear();
        self.bounds.clear();
        let mut next = parts.iter().enumerate().peekable();
        for at in 0..reads.len() {
            self.hits.extend_from_slice(found.of(at));
            let part = next.next_if(|(_, part)| part.read == reads.start + at);
            if let Some((number, Part { read, letters, range })) = part {
                let hits = self.parts.hits(number);
                self.hits.extend_from_slice(hits);
                if !hits.is_empty() {
                    let edits = self.parts.mapper.queries.get(2 * number).most;
                    queries.crop(*read, letters, range.clone(), edits);
                }
            }
            self.bounds.push(self.hits.len());
        }
        std::mem::swap(found.hits, &mut self.hits);
        std::mem::swap(found.bounds, &mut self.bounds);
    }
}

/// Turns an error about a sequence with too many hits into one about its read.
fn of_read(error: Error, read: impl Fn(usize) -> usize) -> Error {
    match error {
        Error::Crowded { read: sequence } => Error::Crowded { read: read(sequence) },
        other => other,
    }
}

/// Extends a hit of a half, which is `range` of the read, along its diagonal to the other end of the read, as far as the
/// score rises; returns the range of the read that is aligned. `query` is the whole read on the strand of the hit.
fn extend(
    query: &Query<'_>,
    hit: &Hit,
    range: Range<usize>,
    alignment: &Alignment,
    view: &IndexView<'_>,
) -> Range<usize> {
    let len = query.len;
    // The half's range on the strand of the hit.
    let half = if hit.reverse { len - range.end..len - range.start } else { range.clone() };
    let contig = &view.text.contigs[hit.contig as usize];
    let is_match = |at: usize, place: u32| {
        let code = query.code(at);
        code < 4 && code == view.text.code(place as usize)
    };
    let (rest, room) = match half.start {
        0 => (len - half.end, contig.end() - alignment.end),
        start => (start, alignment.start - contig.start),
    };
    let steps = rest.min(room as usize);
    let matches = (0..steps).map(|step| match half.start {
        0 => is_match(half.end + step, alignment.end + step as u32),
        start => is_match(start - 1 - step, alignment.start - 1 - step as u32),
    });
    let (mut score, mut best, mut kept) = (0, 0, 0);
    for (step, is_match) in matches.enumerate() {
        score += if is_match { MATCH } else { MISMATCH };
        if score > best {
            (best, kept) = (score, step + 1);
        }
        if score < best - DROP {
            break;
        }
    }
    match range.start {
        0 => 0..range.end + kept,
        start => start - kept..len,
    }
}
