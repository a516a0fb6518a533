//! The kernels of pooling as safe functions.

use merganser_gpu::{DeviceSlice, DeviceSliceMut, RawStream, Result, Stream};

use super::{Asked, PHASES, RawCandidate, ReadEntry, SketchRule, TablePart, TargetTable};
use crate::candidates::{MAX_NEAR, MAX_POOLED};

merganser_gpu::shared! {
    struct NearArguments = "mgpu::near_arguments" {
        targets: TargetTable,
        several: *const u8,
        reads: *const ReadEntry,
        found: *const RawCandidate,
        counts: *const u32,
        count: u32,
        most: u32,
        near: u32,
        max_bases: u32,
        values: *mut u32,
        near_counts: *mut u32,
        chosen: *mut u32,
        chosen_count: *mut u32,
    }

    struct PoolArguments = "mgpu::pool_arguments" {
        rule: SketchRule,
        part: TablePart,
        targets: TargetTable,
        letters: *const u8,
        reads: *const ReadEntry,
        chosen: *const u32,
        chosen_count: *const u32,
        count: u32,
        most: u32,
        near_counts: *const u32,
        values: *mut u32,
        seen: *mut u64,
        places: *const u32,
        features: *mut u32,
        phases: *mut u64,
    }
}

merganser_gpu::foreign! {
    fn merganser_classify_near(arguments: *const NearArguments, stream: RawStream);
    fn merganser_classify_pool(arguments: *const PoolArguments, stream: RawStream);
}

/// Reads on a device.
#[derive(Clone, Copy)]
pub(crate) struct Reads<'t> {
    pub(crate) letters: DeviceSlice<'t, u8>,
    pub(crate) entries: DeviceSlice<'t, ReadEntry>,
}

/// What was found for reads: so many candidates for each at most, and how many there are.
#[derive(Clone, Copy)]
pub(crate) struct FoundThere<'t> {
    pub(crate) most: usize,
    pub(crate) candidates: DeviceSlice<'t, RawCandidate>,
    pub(crate) counts: DeviceSlice<'t, u32>,
}

/// Which candidates are near the best one.
#[derive(Clone, Copy)]
pub(crate) struct NearRule<'t> {
    /// Those that have fewer hits by less, if
    pub(crate) near: u32,
    /// there are others of the taxon of a target, which this tells of each.
    pub(crate) several: DeviceSlice<'t, u8>,
}

/// What is known of near candidates.
pub(crate) struct Near<'t> {
    /// For each candidate of each read, features that the targets of its taxon have together; its hits if
    /// it was not pooled.
    pub(crate) values: DeviceSliceMut<'t, u32>,
    /// Working space: room for a number for each read,
    pub(crate) counts: DeviceSliceMut<'t, u32>,
    /// and for one more.
    pub(crate) chosen: DeviceSliceMut<'t, u32>,
    /// Cycles that a sample of the blocks spent in each phase, to which is added.
    pub(crate) phases: DeviceSliceMut<'t, u64>,
}

/// Pools the candidates that were found for reads in the only part of a database. Reads with too many
/// hits, which have none, are left out.
pub(crate) fn pool(
    stream: &Stream,
    asked: Asked<'_>,
    reads: Reads<'_>,
    found: FoundThere<'_>,
    rule: NearRule<'_>,
    near: Near<'_>,
) -> Result<()> {
    let Near { mut values, mut counts, chosen, mut phases } = near;
    let (count, most) = (reads.entries.len(), found.most);
    assert!(found.counts.len() >= count && found.candidates.len() >= count * most);
    assert!(counts.len() >= count && values.len() >= count * most && chosen.len() > count);
    assert!(rule.several.len() == asked.targets.taxa.len() && phases.len() >= PHASES);
    if count == 0 {
        return Ok(());
    }
    let (mut chosen_count, mut chosen) = chosen.split_at_mut(1);
    stream.fill(chosen_count.reborrow(), 0)?;
    let arguments = NearArguments {
        targets: asked.targets.raw(),
        several: rule.several.as_ptr(),
        reads: reads.entries.as_ptr(),
        found: found.candidates.as_ptr(),
        counts: found.counts.as_ptr(),
        count: count as u32,
        most: most as u32,
        near: rule.near,
        max_bases: MAX_POOLED as u32,
        values: values.as_mut_ptr(),
        near_counts: counts.as_mut_ptr(),
        chosen: chosen.as_mut_ptr(),
        chosen_count: chosen_count.as_mut_ptr(),
    };
    // SAFETY: the candidates are those of a query, whose targets lie within their tables; the rest has
    // the room that was checked above.
    stream.launch("choosing near candidates", |raw| unsafe {
        merganser_classify_near(&arguments, raw)
    })?;
    let arguments = PoolArguments {
        chosen: chosen.as_slice().as_ptr(),
        chosen_count: chosen_count.as_slice().as_ptr(),
        phases: phases.as_mut_ptr(),
        ..asking(asked, reads, most, counts.as_slice(), values.as_mut_ptr())
    };
    // SAFETY: entries lie within the letters, as the host made them; sections within the words and
    // targets within their tables; the chosen reads are some of them.
    stream.launch("pooling candidates", |raw| unsafe { merganser_classify_pool(&arguments, raw) })
}

/// Reads with near candidates, whose taxa are known.
#[derive(Clone, Copy)]
pub(crate) struct NearReads<'t> {
    pub(crate) reads: Reads<'t>,
    /// How many near candidates each has, 1 to [`MAX_NEAR`],
    pub(crate) counts: DeviceSlice<'t, u32>,
    /// their taxa, room for `most` of each read,
    pub(crate) taxa: DeviceSlice<'t, u32>,
    pub(crate) most: usize,
    /// and where the words of each read's features begin.
    pub(crate) places: DeviceSlice<'t, u32>,
}

/// Adds to `seen` a bit for each near candidate that has a feature in a part, in a word for each feature,
/// and tells how many `features` each read has. There is room for the words of all windows.
pub(crate) fn see(
    stream: &Stream,
    asked: Asked<'_>,
    near: NearReads<'_>,
    mut seen: DeviceSliceMut<'_, u64>,
    mut features: DeviceSliceMut<'_, u32>,
) -> Result<()> {
    let NearReads { reads, counts, taxa, most, places } = near;
    let count = reads.entries.len();
    assert!(counts.len() >= count && taxa.len() >= count * most && most <= MAX_NEAR);
    assert!(places.len() >= count && features.len() >= count);
    if count == 0 {
        return Ok(());
    }
    let arguments = PoolArguments {
        count: count as u32,
        seen: seen.as_mut_ptr(),
        places: places.as_ptr(),
        features: features.as_mut_ptr(),
        // With `seen`, they are only read.
        ..asking(asked, reads, most, counts, taxa.as_ptr().cast_mut())
    };
    // SAFETY: as above; the host made places for as many words as the windows may have features.
    stream.launch("looking again", |raw| unsafe { merganser_classify_pool(&arguments, raw) })
}

/// What the kernel is told before it is told which reads it is about, and what to make of them.
fn asking(
    asked: Asked<'_>,
    reads: Reads<'_>,
    most: usize,
    near_counts: DeviceSlice<'_, u32>,
    values: *mut u32,
) -> PoolArguments {
    PoolArguments {
        rule: *asked.rule,
        part: asked.part.raw(),
        targets: asked.targets.raw(),
        letters: reads.letters.as_ptr(),
        reads: reads.entries.as_ptr(),
        chosen: std::ptr::null(),
        chosen_count: std::ptr::null(),
        count: reads.entries.len() as u32,
        most: most as u32,
        near_counts: near_counts.as_ptr(),
        values,
        seen: std::ptr::null_mut(),
        places: std::ptr::null(),
        features: std::ptr::null_mut(),
        phases: std::ptr::null_mut(),
    }
}
