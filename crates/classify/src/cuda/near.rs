//! Reads with near candidates for which the parts on devices are queried once more: those whose candidates come
//! from several parts, or that took the path of long reads.

use std::ops::Range;

use merganser_gpu::{Device, DeviceBuffer, PinnedBuffer, Result, Stream};

use super::kernels::pool::{self, NearReads, Reads};
use super::kernels::{Asked, ReadEntry, SketchRule, Targets};
use super::table::DeviceTable;
use crate::candidates::{Candidate, MAX_NEAR, MAX_POOLED, Seen};
use crate::params::Params;

/// A read and its candidates to pool.
pub(crate) type NearRead<'r> = ([&'r [u8]; 2], &'r [Candidate]);

/// Number of concurrent batches of such reads on each device.
pub(super) const NEAR_WORKSPACES: usize = 4;
/// Approximate maximum number of bytes of a batch.
const MAX_BYTES: u64 = 16 << 20;

/// The capacity of a workspace for such reads.
#[derive(Clone, Copy, Debug)]
pub(super) struct NearSizes {
    letters: usize,
    reads: usize,
    /// The maximum number of features.
    words: usize,
    /// The maximum number of candidates of a read.
    most: usize,
}

impl NearSizes {
    /// Returns sizes for up to `most` candidates per read, within about `bytes`, and for at least one read.
    pub(super) fn new(params: &Params, most: usize, bytes: u64) -> NearSizes {
        let (most, bytes) = (most.min(MAX_NEAR), bytes.min(MAX_BYTES));
        // Each mate has at most one window more than strides.
        let windows = MAX_POOLED / u64::from(params.stride) + 2;
        let longest = windows * features(params, u64::from(params.window));
        let letters = (bytes / 8).max(MAX_POOLED) as usize;
        let reads = (bytes / 4 / (28 + 4 * most as u64)).max(1) as usize;
        let words = (bytes / 16).max(longest) as usize;
        NearSizes { letters, reads, words, most }
    }

    /// Returns the bytes of device memory.
    pub(super) fn bytes(&self) -> u64 {
        (self.letters + self.reads * (28 + 4 * self.most) + 8 * self.words + 4096) as u64
    }
}

/// Returns the maximum number of features of a window of `bases`.
fn features(params: &Params, bases: u64) -> u64 {
    (bases + 1).saturating_sub(params.k.into()).min(params.sketch.into())
}

/// Returns the maximum number of features of a mate.
fn features_of(mate: &[u8], params: &Params) -> usize {
    let (bases, stride) = (mate.len() as u64, u64::from(params.stride));
    let length = |window: u64| (bases - window * stride).min(params.window.into());
    let of_window = |window| features(params, length(window));
    (0..params.windows(bases)).map(of_window).sum::<u64>() as usize
}

/// A stream with its buffers.
pub(super) struct NearWorkspace {
    sizes: NearSizes,
    stream: Stream,
    letters: PinnedBuffer<u8>,
    entries: PinnedBuffer<ReadEntry>,
    /// The number of near candidates of each read.
    counts: PinnedBuffer<u32>,
    /// The taxa of the near candidates of each read.
    taxa: PinnedBuffer<u32>,
    /// The position of the first word of each read.
    places: PinnedBuffer<u32>,
    seen: PinnedBuffer<u64>,
    features: PinnedBuffer<u32>,
    there: There,
    /// The number of reads in the batch.
    reads: usize,
    /// The number of letters in the batch.
    filled: usize,
    /// The number of words in the batch.
    words: usize,
}

/// Buffers in device memory.
struct There {
    letters: DeviceBuffer<u8>,
    entries: DeviceBuffer<ReadEntry>,
    counts: DeviceBuffer<u32>,
    taxa: DeviceBuffer<u32>,
    places: DeviceBuffer<u32>,
    seen: DeviceBuffer<u64>,
    features: DeviceBuffer<u32>,
}

impl NearWorkspace {
    pub(super) fn new(device: &Device, sizes: NearSizes) -> Result<NearWorkspace> {
        let NearSizes { letters, reads, words, most } = sizes;
        Ok(NearWorkspace {
            sizes,
            stream: device.stream()?,
            letters: device.alloc_pinned(letters)?,
            entries: device.alloc_pinned(reads)?,
            counts: device.alloc_pinned(reads)?,
            taxa: device.alloc_pinned(reads * most)?,
            places: device.alloc_pinned(reads)?,
            seen: device.alloc_pinned(words)?,
            features: device.alloc_pinned(reads)?,
            there: There {
                letters: device.alloc(letters)?,
                entries: device.alloc(reads)?,
                counts: device.alloc(reads)?,
                taxa: device.alloc(reads * most)?,
                places: device.alloc(reads)?,
                seen: device.alloc(words)?,
                features: device.alloc(reads)?,
            },
            reads: 0,
            filled: 0,
            words: 0,
        })
    }

    /// Loads as many of the reads as fit, at least one. Returns how many.
    pub(super) fn load(&mut self, reads: &[NearRead<'_>], params: &Params) -> Result<usize> {
        (self.reads, self.filled, self.words) = (0, 0, 0);
        // Only once for all reads, as it asks CUDA whether copies are done.
        let letters = self.letters.as_mut_slice()?;
        let entries = self.entries.as_mut_slice()?;
        let (counts, taxa) = (self.counts.as_mut_slice()?, self.taxa.as_mut_slice()?);
        let places = self.places.as_mut_slice()?;
        for &([first, second], near) in reads.iter().take(self.sizes.reads) {
            let bases = first.len() + second.len();
            let words = features_of(first, params) + features_of(second, params);
            if self.filled + bases > self.sizes.letters || self.words + words > self.sizes.words {
                break;
            }
            letters[self.filled..][..first.len()].copy_from_slice(first);
            letters[self.filled + first.len()..][..second.len()].copy_from_slice(second);
            // Pooling has no runs of windows.
            entries[self.reads] = [self.filled as u32, first.len() as u32, second.len() as u32, 0];
            counts[self.reads] = near.len() as u32;
            let own = &mut taxa[self.reads * self.sizes.most..][..near.len()];
            own.iter_mut().zip(near).for_each(|(taxon, candidate)| *taxon = candidate.taxon);
            places[self.reads] = self.words as u32;
            (self.reads, self.filled, self.words) =
                (self.reads + 1, self.filled + bases, self.words + words);
        }
        Ok(self.reads)
    }

    /// Queries parts on the device, each with its targets, for the loaded reads.
    pub(super) fn ask<'p>(
        &mut self,
        rule: &SketchRule,
        parts: impl Iterator<Item = (&'p DeviceTable, Targets<'p>)>,
    ) -> Result<()> {
        let (stream, there, reads) = (&self.stream, &mut self.there, self.reads);
        let most = self.sizes.most;
        stream.upload(&mut self.letters, 0..self.filled, there.letters.view_mut())?;
        stream.upload(&mut self.entries, 0..reads, there.entries.view_mut())?;
        stream.upload(&mut self.counts, 0..reads, there.counts.view_mut())?;
        stream.upload(&mut self.taxa, 0..reads * most, there.taxa.view_mut())?;
        stream.upload(&mut self.places, 0..reads, there.places.view_mut())?;
        stream.fill(there.seen.slice_mut(..self.words), 0)?;
        let near = NearReads {
            reads: Reads { letters: there.letters.view(), entries: there.entries.slice(..reads) },
            counts: there.counts.view(),
            taxa: there.taxa.view(),
            most,
            places: there.places.view(),
        };
        for (table, targets) in parts {
            let asked = Asked { rule, part: table.view(), targets };
            pool::see(stream, asked, near, there.seen.view_mut(), there.features.view_mut())?;
        }
        stream.download(there.seen.slice(..self.words), &mut self.seen, 0)?;
        stream.download(there.features.slice(..reads), &mut self.features, 0)
    }

    /// Waits for the results, and adds them to those of the reads numbered `reads`.
    pub(super) fn tell(&self, reads: Range<usize>, seen: &mut Seen) -> Result<()> {
        let (words, features) = (self.seen.as_slice()?, self.features.as_slice()?);
        let places = self.places.as_slice()?;
        for (at, read) in reads.enumerate() {
            seen.add(read, &words[places[at] as usize..][..features[at] as usize]);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::params::Preset;

    #[test]
    fn there_is_room_for_any_read_that_is_pooled() {
        let presets = [Preset::Sensitive, Preset::MetaCache].map(Preset::params);
        let [one, other] = presets;
        let dense = Params { k: 16, sketch: 128, window: 150, stride: 1, ..other };
        for params in [one, other, dense, Params { stride: 1024, window: 1024, ..one }] {
            let sizes = NearSizes::new(&params, 100, 0);
            assert_eq!(sizes.most, MAX_NEAR);
            for first in 0..=MAX_POOLED as usize {
                let letters = vec![b'A'; MAX_POOLED as usize];
                let mates = letters.split_at(first);
                let words = features_of(mates.0, &params) + features_of(mates.1, &params);
                assert!(words <= sizes.words && letters.len() <= sizes.letters, "{params:?}");
            }
        }
    }
}
