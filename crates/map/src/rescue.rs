//! Rescue: mates with more edits than a hit may have, searched near the other mate's best hits.

use merganser_filter::Threshold;
use merganser_run::Cancel;

use crate::cpu::{End, Quota, Scan, SilenceRule, Silencer, Window, hamming, is_extended};
use crate::hits::Hit;
use crate::index::IndexView;
use crate::pairs::{Mates, Pairing};
use crate::queries::Query;
use crate::reference::Text;
use crate::room::Room;
use crate::trace::Alignment;
use crate::{Config, Error, NMode, Strand};

/// Bytes of working space for each hit of a mate: two hits, a window and a good end.
pub(crate) const HIT_BYTES: usize = 2 * size_of::<Hit>() + size_of::<Window>() + size_of::<End>();

/// A search for mates near the hits of the other mates, one for each thread.
pub(crate) struct Rescuer<'r> {
    view: IndexView<'r>,
    config: &'r Config,
    edits: Threshold,
    alignment: Alignment,
    scan: Scan,
    silencer: Silencer,
    windows: Vec<Window>,
    ends: Vec<End>,
    /// The hits of each mate that are combined, sorted.
    hits: [Vec<Hit>; 2],
    room: Room,
    cancel: Cancel,
}

impl<'r> Rescuer<'r> {
    /// Returns a rescuer with this room for hits of each mate; `None` if mates are not rescued.
    pub(crate) fn new(
        view: IndexView<'r>,
        config: &'r Config,
        room: Room,
        cancel: &Cancel,
    ) -> Option<Rescuer<'r>> {
        // If only one strand is searched, no mates are concordant.
        let edits = config.rescue.filter(|_| config.strand == Strand::Both)?;
        Some(Rescuer {
            view,
            config,
            edits,
            alignment: Alignment::of_run(cancel),
            scan: Scan::of_run(cancel),
            silencer: Silencer::of_run(cancel),
            windows: Vec::new(),
            ends: Vec::new(),
            hits: Default::default(),
            room,
            cancel: cancel.clone(),
        })
    }

    /// Searches for each mate near the best hits of the other one, lets `pairing` find the concordant
    /// combinations of best and rescued hits, and returns the hits that are combined. Best hits are known on
    /// both backends, so the result does not depend on the backend. After a cancellation, some combinations are
    /// missing.
    ///
    /// # Errors
    /// If there are more hits than there is room for.
    pub(crate) fn combine(
        &mut self,
        mates: &Mates<'_>,
        pairing: &mut Pairing<'_>,
    ) -> Result<[&[Hit]; 2], Error> {
        let best = mates.hits.map(|hits| hits.chunk_by(|a, b| a.edits == b.edits).next());
        for (hits, best) in self.hits.iter_mut().zip(best) {
            hits.clear();
            hits.extend_from_slice(best.unwrap_or_default());
        }
        let counts = [0, 1].map(|mate| self.hits[mate].len());
        for (anchor, count) in counts.into_iter().enumerate() {
            for reverse in [false, true] {
                self.windows_beside(mates, anchor, count, reverse);
                self.look(mates, 1 - anchor, self.config.orientation.partner(reverse))?;
            }
        }
        for hits in &mut self.hits {
            hits.sort_unstable();
            // Among equal hits, one with a device's script sorts first and is kept.
            hits.dedup_by_key(|hit| (hit.edits, hit.contig, hit.end, hit.reverse));
        }
        let hits = [&self.hits[0][..], &self.hits[1][..]];
        pairing.combine(&Mates { hits, ..*mates });
        Ok(hits)
    }

    /// Collects the windows in which the other mate may lie, next to those of an anchor's first `hits` hits
    /// that are on one strand; overlapping windows are merged.
    fn windows_beside(&mut self, mates: &Mates<'_>, anchor: usize, hits: usize, reverse: bool) {
        let (text, mode) = (&self.view.text, self.config.n_mode);
        let orientation = self.config.orientation;
        let query = 2 * (mates.read + 1 - anchor) + usize::from(orientation.partner(reverse));
        let len = mates.queries.get(query).len;
        let query = query as u32;
        self.windows.clear();
        for hit in self.hits[anchor][..hits].iter().filter(|hit| hit.reverse == reverse) {
            let read = mates.read + anchor;
            self.alignment.of_hit(mates.queries, read, hit, text, mode, mates.scripts);
            let span = [self.alignment.start, self.alignment.end - 1];
            let is_left = orientation.is_left(anchor, reverse);
            let [first, last] = orientation.beside(span, is_left, len, self.config);
            let Ok(width) = u32::try_from(last - first) else { continue };
            for first in self.around(hit.contig, first, width, len) {
                match self.windows.last_mut() {
                    Some(last)
                        if (last.first..=last.first + i64::from(last.width)).contains(&first) =>
                    {
                        last.width = last.width.max((first + i64::from(width) - last.first) as u32);
                    }
                    _ => self.windows.push(Window { query, first, width, candidates: 0 }),
                }
            }
        }
    }

    /// Returns the first diagonals of a window beside a hit: one or, on a circular contig, also those a turn around it
    /// before or after, if alignments of the window may begin before the contig or end after its last base. `len` is the
    /// length of the query, which is longer than alignments are moved by edits.
    fn around(
        &self,
        contig: u32,
        first: i64,
        width: u32,
        len: usize,
    ) -> impl Iterator<Item = i64> + use<> {
        let contig = &self.view.text.contigs[contig as usize];
        let (query, [start, len]) = (len as i64, [contig.start, contig.len].map(i64::from));
        let is_before = contig.is_circular() && first < start + 2 * query;
        let is_behind = contig.is_circular() && first + i64::from(width) >= start + len;
        let others = [is_before.then_some(first + len), is_behind.then_some(first - len)];
        [Some(first)].into_iter().chain(others).flatten()
    }

    /// Appends the hits of a mate on a strand within the windows.
    fn look(&mut self, mates: &Mates<'_>, mate: usize, reverse: bool) -> Result<(), Error> {
        let number = 2 * (mates.read + mate) + usize::from(reverse);
        let query = mates.queries.get(number);
        let edits = self.edits.edits(query.len).max(query.most);
        if query.len <= edits {
            return Ok(());
        }
        let query = query.up_to(edits);
        let (text, mode, number) = (&self.view.text, self.config.n_mode, number as u32);
        self.ends.clear();
        for window in self.windows.iter().flat_map(|window| window.stretches()) {
            match self.config.hamming {
                false => {
                    self.scan.ends(number, &query, &window, text, mode, &mut self.ends);
                }
                true => {
                    hamming(number, &query, &window, text, mode, &self.cancel, &mut self.ends);
                }
            }
            self.room.check(self.ends.len() + self.hits[mate].len(), 0, mates.read + mate)?;
        }
        self.ends.sort_unstable();
        self.ends.dedup_by_key(|end| end.position);
        if !self.config.hamming {
            leave_out_extended(&mut self.ends, &query, text, mode, &mut self.alignment);
        }
        let rule = SilenceRule::new(query, text, edits as u32, self.config);
        self.silencer.take(&self.ends, &rule, Quota::NONE, &mut self.hits[mate]);
        Ok(())
    }
}

/// Leaves out ends of alignments that end with a deletion: better ones end before them, maybe before the window.
fn leave_out_extended(
    ends: &mut Vec<End>,
    query: &Query<'_>,
    text: &Text<'_>,
    mode: NMode,
    alignment: &mut Alignment,
) {
    const LEFT_OUT: u32 = u32::MAX;
    for at in (0..ends.len()).rev() {
        let End { position, edits, .. } = ends[at];
        let is_first = at == 0 || ends[at - 1].position + 1 != position;
        let is_extended = match is_first {
            true => {
                let contig = &text.contigs[text.contig_at(i64::from(position))];
                alignment.trace(query, text, contig, position, edits, mode);
                alignment.ends_with_deletion()
            }
            false => is_extended(ends, at),
        };
        if is_extended {
            ends[at].edits = LEFT_OUT;
        }
    }
    ends.retain(|end| end.edits != LEFT_OUT);
}
