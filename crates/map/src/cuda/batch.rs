//! A batch of reads on a device, part by part, and on the host what no kernel is for.

use std::ops::Range;
use std::time::Instant;

use merganser_gpu::Pooled;

use super::workspace::{Found, LONGEST, MOST_EDITS, Workspace};
use super::{Gpus, Ticket};
use crate::hits::Hit;
use crate::mapper::Mapper;
use crate::seeds::Plan;
use crate::{Error, Strand};

/// A thread's way to the devices.
pub(crate) struct OnGpu<'g> {
    gpus: &'g Gpus,
    /// While there are parts left.
    workspace: Option<Pooled<Workspace>>,
    /// Reads that are left, the next ones last.
    parts: Vec<Range<usize>>,
    unit: usize,
    /// Which reads the host maps.
    here: Vec<bool>,
    found: Found,
    own: Vec<Hit>,
    bounds: Vec<usize>,
}

impl<'g> OnGpu<'g> {
    pub(crate) fn new(gpus: &'g Gpus) -> OnGpu<'g> {
        OnGpu {
            gpus,
            workspace: None,
            parts: Vec::new(),
            unit: 1,
            here: Vec::new(),
            found: Found::default(),
            own: Vec::new(),
            bounds: Vec::new(),
        }
    }

    /// What the scripts of the last part's hits are in.
    pub(crate) fn scripts(&self) -> &[u16] {
        &self.found.scripts
    }

    /// The ticket of the batch of this number.
    pub(crate) fn ticket(&self, number: u64) -> Ticket<'g> {
        self.gpus.ticket(number)
    }

    /// Takes up the queries of a mapper, of so many reads, when it is their turn; those of a unit
    /// stay together.
    ///
    /// # Errors
    /// If a device fails.
    pub(crate) fn begin(
        &mut self,
        mapper: &mut Mapper<'_>,
        ticket: Ticket<'_>,
        reads: usize,
        unit: usize,
    ) -> Result<(), Error> {
        let begun = Instant::now();
        let (queries, config) = (&mapper.queries, &mapper.config);
        self.unit = unit;
        self.here.clear();
        self.here.extend((0..reads).map(|read| {
            let query = queries.get(2 * read);
            match Plan::of(&query, config.n_mode) {
                Plan::Nothing => false,
                Plan::Scan => true,
                Plan::Seeds => {
                    query.len > LONGEST || query.edits > MOST_EDITS || self.gpus.too_many_gaps()
                }
            }
        }));
        let mut workspace = self.gpus.take(ticket)?;
        let seeds = |number: usize| {
            let left_out = if number % 2 == 1 { Strand::Forward } else { Strand::Reverse };
            let query = queries.get(number);
            let looked_up = config.strand != left_out && !self.here[number / 2];
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
        mapper.stages.times.device += begun.elapsed();
        Ok(())
    }

    /// Replaces `hits` by the hits of the next reads, and `bounds` by where those of each read end;
    /// says which reads these are. `None` if there are none left.
    ///
    /// # Errors
    /// If a device fails, or the run is cancelled.
    pub(crate) fn next(
        &mut self,
        mapper: &mut Mapper<'_>,
        hits: &mut Vec<Hit>,
        bounds: &mut Vec<usize>,
    ) -> Result<Option<Range<usize>>, Error> {
        let begun = Instant::now();
        let reads = loop {
            let (Some(reads), Some(workspace)) = (self.parts.pop(), self.workspace.as_mut()) else {
                return Ok(None);
            };
            let queries = 2 * reads.start..2 * reads.end;
            let counted = workspace.map(queries, &mut self.found, &mapper.cancel)?;
            mapper.check()?;
            if let Some(counted) = counted {
                let stages = &mut mapper.stages;
                stages.candidates += counted.candidates;
                stages.rejected += counted.rejected;
                stages.verified += counted.verified;
                break reads;
            }
            if reads.len() <= self.unit {
                self.here[reads.clone()].fill(true);
                self.found.hits.clear();
                break reads;
            }
            let middle = reads.start + reads.len() / self.unit / 2 * self.unit;
            self.parts.extend([middle..reads.end, reads.start..middle]);
        };
        if self.parts.is_empty()
            && let Some(mut workspace) = self.workspace.take()
        {
            mapper.stages.device.add(&std::mem::take(&mut workspace.times));
        }
        mapper.stages.times.device += begun.elapsed();
        self.gather(reads.clone(), mapper, hits, bounds)?;
        Ok(Some(reads))
    }

    /// The hits of the device and those of the host, read by read.
    fn gather(
        &mut self,
        reads: Range<usize>,
        mapper: &mut Mapper<'_>,
        hits: &mut Vec<Hit>,
        bounds: &mut Vec<usize>,
    ) -> Result<(), Error> {
        hits.clear();
        bounds.clear();
        let text = mapper.view.text;
        let mut rest = self.found.hits.iter().peekable();
        for read in reads.clone() {
            let rank = (read - reads.start) as u32;
            while let Some((_, hit)) = rest.next_if(|(of, _)| *of == rank) {
                let contig = text.contig_at(i64::from(hit.end)) as u32;
                hits.push(Hit { contig, ..*hit });
            }
            if self.here[read] {
                mapper.map_read(read, &mut self.own, &mut self.bounds)?;
                hits.extend_from_slice(&self.own);
            } else {
                mapper.stages.gpu_reads += 1;
            }
            bounds.push(hits.len());
        }
        Ok(())
    }
}
