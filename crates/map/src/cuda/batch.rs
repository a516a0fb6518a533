//! A batch of reads on a device, which is mapped part by part.

use std::ops::Range;

use merganser_gpu::Pooled;
use merganser_run::Cancel;

use super::Gpus;
use super::workspace::{Found, LONGEST, MAX_EDITS, Workspace};
use crate::effort::Effort;
use crate::hits::Hit;
use crate::queries::Queries;
use crate::search::Plan;
use crate::{Error, Strand};

/// Mapping of batches on devices by one thread.
pub(crate) struct OnGpu<'g> {
    gpus: &'g Gpus,
    /// The workspace, while parts are left.
    workspace: Option<Pooled<Workspace>>,
    /// The remaining ranges of reads, the next one last.
    parts: Vec<Range<usize>>,
    unit: usize,
    /// Whether each read is left to the host.
    left: Vec<bool>,
    found: Found,
}

impl<'g> OnGpu<'g> {
    pub(crate) fn new(gpus: &'g Gpus) -> OnGpu<'g> {
        OnGpu {
            gpus,
            workspace: None,
            parts: Vec::new(),
            unit: 1,
            left: Vec::new(),
            found: Found::default(),
        }
    }

    /// Returns the scripts that the last part's hits refer to.
    pub(crate) fn scripts(&self) -> &[u16] {
        &self.found.scripts
    }

    /// Returns the hits of the last part, sorted by read, then in the order of [`Hit`], each with the number of
    /// its read within the part. Their contigs are not filled in; they follow from the positions.
    pub(crate) fn hits(&self) -> &[(u32, Hit)] {
        &self.found.hits
    }

    /// Whether the hits of a read of the batch must be found by the host.
    pub(crate) fn is_left(&self, read: usize) -> bool {
        self.left[read]
    }

    /// Loads the queries of `reads` reads into the workspace that `take` returns. Reads of a unit stay
    /// together.
    ///
    /// # Errors
    /// If `take` or a device fails.
    pub(crate) fn begin(
        &mut self,
        queries: &Queries,
        take: impl FnOnce(&Gpus) -> Result<Pooled<Workspace>, Error>,
        reads: usize,
        unit: usize,
    ) -> Result<(), Error> {
        let config = self.gpus.config();
        self.unit = unit;
        self.left.clear();
        self.left.extend((0..reads).map(|read| {
            let query = queries.get(2 * read);
            match Plan::of(&query, config.n_mode) {
                Plan::Nothing => false,
                Plan::Scan => true,
                Plan::Seeds => {
                    query.len > LONGEST || query.edits > MAX_EDITS || self.gpus.too_many_gaps()
                }
            }
        }));
        let mut workspace = take(self.gpus)?;
        let seeds = |number: usize| {
            let left_out = if number % 2 == 1 { Strand::Forward } else { Strand::Reverse };
            let query = queries.get(number);
            let looked_up = config.strand != left_out && !self.left[number / 2];
            let by_seeds = looked_up && Plan::of(&query, config.n_mode) == Plan::Seeds;
            if by_seeds { query.edits + 1 } else { 0 }
        };
        workspace.load(queries, 2 * reads, seeds)?;
        self.parts.clear();
        let mut from = 0;
        while from < reads {
            let mut to = from + unit;
            while to < reads && workspace.load_of(2 * from..2 * (to + unit)) <= workspace.room() {
                to += unit;
            }
            self.parts.push(from..to);
            from = to;
        }
        self.parts.reverse();
        self.workspace = Some(workspace);
        Ok(())
    }

    /// Finds the hits of the next reads, and returns the range of these reads; `None` if none are left.
    ///
    /// # Errors
    /// If a device fails, or the run is cancelled.
    pub(crate) fn next(
        &mut self,
        cancel: &Cancel,
        effort: &mut Effort,
    ) -> Result<Option<Range<usize>>, Error> {
        let reads = loop {
            let (Some(reads), Some(workspace)) = (self.parts.pop(), self.workspace.as_mut()) else {
                return Ok(None);
            };
            let queries = 2 * reads.start..2 * reads.end;
            let counted = workspace.map(queries, &mut self.found, cancel)?;
            cancel.check()?;
            if let Some(counted) = counted {
                effort.candidates += counted.candidates;
                effort.rejected += counted.rejected;
                effort.verified += counted.verified;
                break reads;
            }
            if reads.len() <= self.unit {
                self.left[reads.clone()].fill(true);
                self.found.hits.clear();
                break reads;
            }
            let middle = reads.start + reads.len() / self.unit / 2 * self.unit;
            self.parts.extend([middle..reads.end, reads.start..middle]);
        };
        if self.parts.is_empty()
            && let Some(mut workspace) = self.workspace.take()
        {
            effort.device.add(&std::mem::take(&mut workspace.times));
        }
        Ok(Some(reads))
    }
}
