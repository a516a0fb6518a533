//! Safe wrappers of the kernels for pooling.

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

/// The candidates of reads in device memory: up to `most` for each read, and their number.
#[derive(Clone, Copy)]
pub(crate) struct FoundThere<'t> {
    pub(crate) most: usize,
    pub(crate) candidates: DeviceSlice<'t, RawCandidate>,
    pub(crate) counts: DeviceSlice<'t, u32>,
}

/// The rule for near candidates.
#[derive(Clone, Copy)]
pub(crate) struct NearRule<'t> {
    /// Candidates that are fewer than this number of hits behind the best one are near.
    pub(crate) near: u32,
    /// Whether the taxon of each target has further targets.
    pub(crate) several: DeviceSlice<'t, u8>,
}

/// Output buffers of pooling.
pub(crate) struct Near<'t> {
    /// The number of features that all targets of each candidate's taxon have together; the candidate's hits if it
    /// was not pooled.
    pub(crate) values: DeviceSliceMut<'t, u32>,
    /// Working space: a number for each read.
    pub(crate) counts: DeviceSliceMut<'t, u32>,
    /// Working space: a number for each read, and one more.
    pub(crate) chosen: DeviceSliceMut<'t, u32>,
    /// The cycles that a sample of the blocks spent in each phase; the kernel adds to them.
    pub(crate) phases: DeviceSliceMut<'t, u64>,
}

/// Pools the candidates that were found for reads in the only part of a database. Reads with too many hits, which
/// have no candidates yet, are skipped.
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
    // SAFETY: the candidates are those of a query, whose targets lie within their tables; the sizes of the other
    // buffers were checked above.
    stream.launch("choosing near candidates", |raw| unsafe {
        merganser_classify_near(&arguments, raw)
    })?;
    let arguments = PoolArguments {
        chosen: chosen.as_slice().as_ptr(),
        chosen_count: chosen_count.as_slice().as_ptr(),
        phases: phases.as_mut_ptr(),
        ..asking(asked, reads, most, counts.as_slice(), values.as_mut_ptr())
    };
    // SAFETY: the host made entries within the letters, sections lie within the words and targets within their
    // tables; the chosen reads are some of these reads.
    stream.launch("pooling candidates", |raw| unsafe { merganser_classify_pool(&arguments, raw) })
}

/// Reads with near candidates, whose taxa are known.
#[derive(Clone, Copy)]
pub(crate) struct NearReads<'t> {
    pub(crate) reads: Reads<'t>,
    /// The number of near candidates of each read, 1 to [`MAX_NEAR`].
    pub(crate) counts: DeviceSlice<'t, u32>,
    /// The taxa of the near candidates, with room for `most` for each read.
    pub(crate) taxa: DeviceSlice<'t, u32>,
    pub(crate) most: usize,
    /// The position of the first word of each read.
    pub(crate) places: DeviceSlice<'t, u32>,
}

/// Sets a bit in `seen` for each near candidate that has a feature in a part, in the word of the feature, and
/// writes the number of features of each read. `seen` must have room for the words of all windows.
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
        // With `seen`, the taxa are only read.
        ..asking(asked, reads, most, counts, taxa.as_ptr().cast_mut())
    };
    // SAFETY: as in `pool`; the host chose the positions so that each read has a word for each feature that its
    // windows can have.
    stream.launch("looking again", |raw| unsafe { merganser_classify_pool(&arguments, raw) })
}

/// Returns the arguments of the kernel without the selection of reads and without most outputs.
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
