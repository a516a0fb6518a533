//! Completion of an alignment for a record: clipped ends, the alignment with the highest score, and ambiguous letters.

use super::affine::{self, Area};
use super::{Alignment, clip};
use crate::hits::Hit;
use crate::queries::{Queries, Query};
use crate::reference::Text;
use crate::{Config, NMode, Operation};

impl Alignment {
    /// Completes a hit's [alignment](Self::of_hit) as it is reported, and returns its number of edits: clips ends
    /// ([`Config::clip`]), whose edits do not count, and names ambiguous letters mismatches, even if they match everything in the search
    /// (SAM specification, optional fields, section 1.1: NM).
    pub(crate) fn finish(
        &mut self,
        queries: &Queries,
        read: usize,
        hit: &Hit,
        text: &Text<'_>,
        config: &Config,
    ) -> u32 {
        let query = queries.get(2 * read + usize::from(hit.reverse));
        let mut edits = hit.edits;
        if config.clip {
            let whole = [self.start, self.end];
            edits = self.clip(text);
            if !config.hamming
                && self.is_doubtful()
                && self.realign(&query, hit, whole, text, config)
            {
                edits = self.edits();
            }
        }
        if config.n_mode == NMode::Match {
            if self.mark_ambiguous(&query, text) {
                self.describe(text);
            }
            edits = self.edits();
        }
        self.clip_rest(query.clips);
        edits
    }

    /// Whether scores may prefer another alignment: this one has several gaps, or a clipped end.
    fn is_doubtful(&self) -> bool {
        let is =
            |of: &[Operation]| self.operations.iter().filter(|run| of.contains(&run.0)).count();
        is(&[Operation::Insertion, Operation::Deletion]) > 1 || is(&[Operation::Clip]) > 0
    }

    /// Replaces the alignment by the one with the highest score near it, if that is higher; returns whether it is.
    /// `whole` is the span of the hit with its clipped ends. Reads that are too long for this keep their alignments.
    fn realign(
        &mut self,
        query: &Query<'_>,
        hit: &Hit,
        whole: [u32; 2],
        text: &Text<'_>,
        config: &Config,
    ) -> bool {
        let slack = query.most.max(hit.edits as usize) as i64;
        let [first, last] = [i64::from(whole[0]), i64::from(whole[1]) - query.len as i64];
        let area = Area {
            query: *query,
            text: *text,
            contig: &text.contigs[hit.contig as usize],
            first: first.min(last) - slack,
            width: (first.abs_diff(last) as i64 + 2 * slack + 1) as usize,
            mode: config.n_mode,
        };
        if (query.len + 1) * area.width > affine::MAX_CELLS {
            return false;
        }
        let score = clip::total(&self.operations);
        if self.highest.score(&area) <= score {
            return false;
        }
        let mut affine = std::mem::take(&mut self.affine);
        let local = affine.align(&area);
        let better = local.filter(|local| local.score > score);
        let is_better = better.is_some();
        if let Some(local) = better {
            [self.start, self.end] = local.span;
            self.operations.clear();
            let (mut read, mut at) = (0, self.start as usize);
            for &(operation, len) in local.backwards.iter().rev() {
                let operation = match operation {
                    Operation::Aligned => {
                        of_letters(query.code(read), text.code(at), config.n_mode)
                    }
                    operation => operation,
                };
                self.push(operation, len);
                read += operation.in_read(len) as usize;
                at += operation.in_reference(len) as usize;
            }
            self.describe(text);
        }
        self.affine = affine;
        is_better
    }

    /// Adds the bases of the read before and after the query as clipped ends.
    fn clip_rest(&mut self, [before, after]: [u32; 2]) {
        match self.operations.first_mut() {
            _ if before == 0 => {}
            Some((Operation::Clip, len)) => *len += before,
            _ => self.operations.insert(0, (Operation::Clip, before)),
        }
        self.push(Operation::Clip, after);
    }

    /// Turns matches of ambiguous letters into mismatches; returns whether there are any.
    fn mark_ambiguous(&mut self, query: &Query<'_>, text: &Text<'_>) -> bool {
        let runs = std::mem::take(&mut self.operations);
        let (mut read, mut at, mut found) = (0, self.start as usize, false);
        for (operation, len) in runs {
            let len = len as usize;
            if operation == Operation::Match {
                for column in 0..len {
                    let is_base = query.code(read + column) < 4 && text.code(at + column) < 4;
                    found |= !is_base;
                    self.push(if is_base { operation } else { Operation::Mismatch }, 1);
                }
            } else {
                self.push(operation, len as u32);
            }
            read += operation.in_read(len as u32) as usize;
            at += operation.in_reference(len as u32) as usize;
        }
        found
    }

    /// Whether the last base is deleted.
    pub(crate) fn ends_with_deletion(&self) -> bool {
        self.operations.last().is_some_and(|run| run.0 == Operation::Deletion)
    }

    /// Returns the number of edits of the operations.
    pub(crate) fn edits(&self) -> u32 {
        let is_edit = |operation| {
            matches!(operation, Operation::Mismatch | Operation::Insertion | Operation::Deletion)
        };
        self.operations.iter().filter(|run| is_edit(run.0)).map(|run| run.1).sum()
    }

    /// Clips the ends whose edits cost more than clipping, and returns the number of edits that are left.
    /// Matches and mismatches must be distinguished in the operations.
    pub(crate) fn clip(&mut self, text: &Text<'_>) -> u32 {
        let kept = clip::kept(&self.operations);
        if kept == (0..self.operations.len()) {
            return self.edits();
        }
        let in_read = |runs: &[(Operation, u32)]| runs.iter().map(|run| run.0.in_read(run.1)).sum();
        let in_reference = |runs: &[(Operation, u32)]| {
            runs.iter().map(|run| run.0.in_reference(run.1)).sum::<u32>()
        };
        let (before, after) = (&self.operations[..kept.start], &self.operations[kept.end..]);
        let clips: [u32; 2] = [in_read(before), in_read(after)];
        self.start += in_reference(before);
        self.end -= in_reference(after);
        self.operations.truncate(kept.end);
        self.operations.drain(..kept.start);
        if clips[0] > 0 {
            self.operations.insert(0, (Operation::Clip, clips[0]));
        }
        self.push(Operation::Clip, clips[1]);
        self.describe(text);
        self.edits()
    }
}

/// Returns the operation that aligns two letters.
pub(super) fn of_letters(one: u8, two: u8, mode: NMode) -> Operation {
    let is_match = if one < 4 && two < 4 { one == two } else { mode == NMode::Match };
    if is_match { Operation::Match } else { Operation::Mismatch }
}
