//! Mapping of a batch on devices by one thread, which maps the reads that these cannot handle itself.

use std::ops::Range;
use std::time::Instant;

use merganser_gpu::Pooled;

use crate::Error;
use crate::cpu::{Mapper, may_share_start};
use crate::cuda::{Gpus, OnGpu, Workspace};
use crate::effort::Effort;
use crate::hits::Hit;
use crate::reference::Text;

/// The device side of a worker.
pub(super) struct WithGpus<'g> {
    on_gpu: OnGpu<'g>,
    /// Hits of a read that the thread mapped itself.
    own: Vec<Hit>,
    bounds: Vec<usize>,
}

impl<'g> WithGpus<'g> {
    pub(super) fn new(gpus: &'g Gpus) -> WithGpus<'g> {
        WithGpus { on_gpu: OnGpu::new(gpus), own: Vec::new(), bounds: Vec::new() }
    }

    /// Returns the scripts that the hits of the last reads refer to.
    pub(super) fn scripts(&self) -> &[u16] {
        self.on_gpu.scripts()
    }

    /// Loads the queries of a mapper, of `reads` reads, into the workspace that `take` returns. Reads of a unit
    /// stay together.
    ///
    /// # Errors
    /// If `take` or a device fails.
    pub(super) fn begin(
        &mut self,
        mapper: &mut Mapper<'_>,
        take: impl FnOnce(&Gpus) -> Result<Pooled<Workspace>, Error>,
        reads: usize,
        unit: usize,
    ) -> Result<(), Error> {
        let begun = Instant::now();
        self.on_gpu.begin(&mapper.queries, take, reads, unit)?;
        mapper.effort.times.device += begun.elapsed();
        Ok(())
    }

    /// Replaces `hits` by the hits of the next reads, and `bounds` by the end of each read's hits; returns the
    /// range of these reads, or `None` if none are left.
    ///
    /// # Errors
    /// If a device fails, or the run is cancelled.
    pub(super) fn next(
        &mut self,
        mapper: &mut Mapper<'_>,
        hits: &mut Vec<Hit>,
        bounds: &mut Vec<usize>,
    ) -> Result<Option<Range<usize>>, Error> {
        let begun = Instant::now();
        let reads = self.on_gpu.next(&mapper.cancel, &mut mapper.effort)?;
        let Some(reads) = reads else { return Ok(None) };
        mapper.effort.times.device += begun.elapsed();
        self.gather(reads.clone(), mapper, hits, bounds)?;
        Ok(Some(reads))
    }

    /// Merges the hits of the device and of the thread, read by read.
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
        let mut rest = self.on_gpu.hits().iter().peekable();
        for read in reads.clone() {
            let rank = (read - reads.start) as u32;
            let first = hits.len();
            while let Some((_, hit)) = rest.next_if(|(of, _)| *of == rank) {
                let contig = text.contig_at(i64::from(hit.end)) as u32;
                hits.push(Hit { contig, ..*hit });
            }
            if self.on_gpu.is_left(read) {
                mapper.map_read(read, &mut self.own, &mut self.bounds)?;
                hits.extend_from_slice(&self.own);
            } else if may_have_echoes(&hits[first..], mapper, read)
                || may_be_at_junctions(&hits[first..], &text)
            {
                // Devices compare neither the first bases of hits nor the ends of circular contigs. They have counted
                // the work already.
                let counted = mapper.effort;
                mapper.map_read(read, &mut self.own, &mut self.bounds)?;
                mapper.effort = Effort { times: mapper.effort.times, ..counted };
                hits.truncate(first);
                hits.extend_from_slice(&self.own);
            } else {
                mapper.effort.gpu_reads += 1;
            }
            bounds.push(hits.len());
        }
        Ok(())
    }
}

/// Whether a hit is at bases of a circular contig that the text has twice.
fn may_be_at_junctions(hits: &[Hit], text: &Text<'_>) -> bool {
    text.has_circles
        && hits.iter().any(|hit| {
            let contig = &text.contigs[hit.contig as usize];
            let at = hit.end - contig.start;
            contig.is_circular() && (at < contig.repeated || at >= contig.len)
        })
}

/// Whether two hits of a read may begin near each other, so that one silences the other.
fn may_have_echoes(hits: &[Hit], mapper: &Mapper<'_>, read: usize) -> bool {
    let config = mapper.config;
    if config.echoes || config.hamming {
        return false;
    }
    let reach = mapper.queries.get(2 * read).most as u32;
    let mut places: Vec<_> = hits.iter().map(|hit| (hit.reverse, hit.end, hit.edits)).collect();
    places.sort_unstable();
    (0..places.len()).any(|at| {
        let (reverse, end, edits) = places[at];
        let mut near = places[at + 1..].iter().take_while(|(strand, next, _)| {
            *strand == reverse && next - end <= reach.saturating_mul(4)
        });
        near.any(|&(_, next, others)| may_share_start([end, next], [edits, others], reach))
    })
}
