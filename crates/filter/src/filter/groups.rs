//! Deciding many pairs together.

use super::{Filter, Queued};
use crate::batch::PairBatch;
use crate::cpu::sliced::semi_global::{MAX_BASES, Shape};
use crate::cpu::sliced::{MAX_COLUMNS, MAX_WIDTH};
use crate::{Align, Code, Method, Scratch};

/// The largest number of pairs that are decided one by one.
const FEW: usize = 8;

impl Filter {
    /// Returns the number of columns of a pair that can be decided together with others: by the exact method,
    /// without ambiguous letters, and with sequences that are not too long.
    #[inline]
    pub(super) fn queued(&self, lengths: [usize; 2], others: bool) -> Option<u32> {
        let [read, segment] = lengths;
        if self.config.method != Method::Exact || others || segment > MAX_COLUMNS {
            return None;
        }
        let together = match self.config.align {
            Align::Global => self.band(lengths)?.0.width <= MAX_WIDTH,
            Align::SemiGlobal => {
                let e = self.config.threshold.edits(read);
                (1..=MAX_BASES).contains(&read) && segment > 0 && read - e.min(read) <= segment
            }
        };
        together.then_some(segment as u32)
    }

    /// Decides a group of pairs together; those with the longest segments must be last.
    pub(super) fn run_group(
        &self,
        batch: &PairBatch<'_>,
        queue: &[Queued],
        scratch: &mut Scratch,
        decisions: &mut [Code],
    ) {
        if queue.len() <= FEW {
            for queued in queue {
                let [read, segment] = batch.views(queued.index as usize);
                decisions[queued.index as usize] = self.decide(&read, &segment, scratch);
            }
            return;
        }
        match self.config.align {
            Align::Global => self.global_group(batch, queue, scratch, decisions),
            Align::SemiGlobal => self.semi_global_group(batch, queue, scratch, decisions),
        }
    }

    fn global_group(
        &self,
        batch: &PairBatch<'_>,
        queue: &[Queued],
        scratch: &mut Scratch,
        decisions: &mut [Code],
    ) {
        let bands = || {
            queue.iter().filter_map(|queued| {
                let index = queued.index as usize;
                let (band, e) = self.band(batch.lengths(index).0)?;
                Some((index, band, e))
            })
        };
        let widest = bands().map(|(_, band, e)| (band.width, e));
        let (width, most) = widest.reduce(|a, b| (a.0.max(b.0), a.1.max(b.1))).unwrap_or((1, 0));
        let columns = queue.last().map_or(0, |last| last.columns);
        let group = &mut scratch.group;
        group.start(width, columns as usize, most);
        let plane = (columns as usize).div_ceil(64);
        for (index, band, _) in bands() {
            let ([_, columns], _) = batch.lengths(index);
            let mut lane = group.next(columns, band);
            match batch.words(index, plane) {
                Some(words) if lane.fits(plane) => lane.fill_words(words),
                _ => {
                    let [read, segment] = batch.views(index);
                    lane.fill([&read, &segment]);
                }
            }
        }
        group.run(self.level);
        for (lane, (index, _, e)) in bands().enumerate() {
            if let Some(score) = group.score(lane, e) {
                decisions[index] = score as Code;
            }
        }
    }

    fn semi_global_group(
        &self,
        batch: &PairBatch<'_>,
        queue: &[Queued],
        scratch: &mut Scratch,
        decisions: &mut [Code],
    ) {
        let edits = |read| self.config.threshold.edits(read);
        let mut shape = Shape::new();
        for queued in queue {
            let (lengths, _) = batch.lengths(queued.index as usize);
            shape.add(lengths, edits(lengths[0]));
        }
        let group = &mut scratch.semi_global_group;
        group.start(shape);
        for queued in queue {
            let [read, segment] = batch.views(queued.index as usize);
            group.push([&read, &segment]);
        }
        group.run(self.level);
        for (lane, queued) in queue.iter().enumerate() {
            let index = queued.index as usize;
            let ([read, _], _) = batch.lengths(index);
            if let Some(distance) = group.distance(lane, edits(read)) {
                decisions[index] = distance as Code;
            }
        }
    }
}
