//! Bins of records, as counting makes them.

use super::cut::{Cutter, Strands};
use super::reads::{Batch, pass};
use super::records::PADDING;
use anyhow::{Result, ensure};
use merganser_count::superkmer;
use std::num::{NonZeroU64, NonZeroUsize};
use std::ops::ControlFlow;
use std::path::PathBuf;

/// The bins of a part of the reads.
pub(crate) struct Depth {
    /// Every how many reads one is taken.
    pub(crate) every: u64,
    /// Bins that all k-mers of those reads have.
    pub(crate) all: u64,
    /// Records of the bins that are counted, each with [`PADDING`] zeros at the end.
    pub(crate) bins: Vec<Vec<u8>>,
    /// k-mers in `bins`.
    pub(crate) kmers: usize,
    /// Super-k-mers in `bins`.
    pub(crate) super_kmers: usize,
}

impl Depth {
    /// The bin of a signature.
    fn bin(&self, signature: u32) -> usize {
        let hash = u64::from(signature).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32;
        ((hash * self.all) >> 32) as usize
    }
}

/// Passes over the reads twice: to size the bins, and to fill the first `most` of them.
///
/// # Errors
///
/// What reading returned, or if there is no k-mer.
pub(crate) fn make(
    files: &[PathBuf],
    k: usize,
    every: &[u64],
    bin_kmers: NonZeroU64,
    most: NonZeroUsize,
) -> Result<Vec<Depth>> {
    let mut kmers = vec![0; every.len()];
    pass(files, k, &mut |record, letters| {
        for (kmers, every) in kmers.iter_mut().zip(every) {
            *kmers +=
                if record.is_multiple_of(*every) { (letters.len() + 1 - k) as u64 } else { 0 };
        }
        ControlFlow::Continue(())
    })?;
    ensure!(kmers.iter().all(|&kmers| kmers > 0), "no read has k = {k} bases");
    let depths = kmers.iter().zip(every).map(|(&kmers, &every)| {
        let all = kmers.div_ceil(bin_kmers.get());
        let bins = vec![Vec::new(); most.get().min(all as usize)];
        Depth { every, all, bins, kmers: 0, super_kmers: 0 }
    });
    let mut filler = Filler::new(k, depths.collect());
    pass(files, k, &mut |record, letters| {
        filler.push(record, letters);
        ControlFlow::Continue(())
    })?;
    Ok(filler.finish())
}

/// Sends super-k-mers to bins.
struct Filler {
    k: usize,
    cutter: Cutter,
    strands: Strands,
    batch: Batch,
    room: Vec<u8>,
    depths: Vec<Depth>,
}

impl Filler {
    fn new(k: usize, depths: Vec<Depth>) -> Self {
        let room = vec![0; superkmer::room(superkmer::MAX_KMERS + k - 1)];
        let (strands, batch) = (Strands::default(), Batch::default());
        Self { k, cutter: Cutter::new(k), strands, batch, room, depths }
    }

    fn push(&mut self, record: u64, letters: &[u8]) {
        if !self.batch.has_room(letters.len()) {
            self.flush();
        }
        self.batch.push(record, letters);
    }

    fn flush(&mut self) {
        let Self { k, cutter, strands, batch, room, depths } = self;
        strands.pack(&batch.codes);
        cutter.cut(batch, |s| {
            for depth in depths.iter_mut().filter(|d| s.record.is_multiple_of(d.every)) {
                let bin = depth.bin(s.signature);
                if let Some(bin) = depth.bins.get_mut(bin) {
                    let len = strands.write(s.at, s.kmers, *k, room);
                    bin.extend_from_slice(&room[..len]);
                    depth.kmers += s.kmers;
                    depth.super_kmers += 1;
                }
            }
        });
        batch.clear();
    }

    fn finish(mut self) -> Vec<Depth> {
        self.flush();
        for bin in self.depths.iter_mut().flat_map(|depth| &mut depth.bins) {
            bin.resize(bin.len() + PADDING, 0);
        }
        self.depths
    }
}
