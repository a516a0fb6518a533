//! Safe wrappers of the kernels. All unsafe code of the CUDA backend is here and in the submodules.
#![allow(unsafe_code, reason = "foreign functions")]

pub(crate) mod build;
pub(crate) mod pool;

use merganser_gpu::{DeviceSlice, DeviceSliceMut, RawStream, Result, Stream};

use super::times::PHASES;
use crate::database::SECTIONS;
use crate::params::Params;

/// The candidate count that marks a read whose hits do not fit into the shared memory of a large block. The
/// host queries such reads again, as long reads.
pub(crate) const TOO_MANY: u32 = u32::MAX;

merganser_gpu::shared! {
    /// The parameters of sketching, for kernels.
    pub(crate) struct SketchRule = "mgpu::sketch_rule" {
        k: i32,
        sketch: u32,
        window: u32,
        stride: u32,
        limit: u64,
    }

    /// A part of a database; its fields are documented in `cuda/lookup.cuh`.
    struct TablePart = "mgpu::table_part" {
        words: *const u64,
        sections: *const SectionPlace,
    }

    /// The targets of a database; see [`Targets`] for its fields.
    struct TargetTable = "mgpu::target_table" {
        starts: *const u32,
        taxa: *const u32,
        nodes: *const u32,
        targets: u32,
    }

    /// The arguments of a query of reads; its fields are documented in `cuda/reads.cuh`.
    struct ReadsArguments = "mgpu::reads_arguments" {
        rule: SketchRule,
        part: TablePart,
        targets: TargetTable,
        letters: *const u8,
        reads: *const ReadEntry,
        count: u32,
        most: u32,
        out: *mut RawCandidate,
        out_count: *mut u32,
        over: *mut u32,
        over_count: *mut u32,
        phases: *mut u64,
    }

    /// The arguments of a query of windows; its fields are documented in `cuda/reads.cuh`.
    struct WindowsArguments = "mgpu::windows_arguments" {
        rule: SketchRule,
        part: TablePart,
        letters: *const u8,
        windows: *const WindowEntry,
        count: u32,
        counts: *mut u32,
        before: *const u64,
        skip: u64,
        keys: *mut u64,
    }

    /// The arguments of a query of long reads; its fields are documented in `cuda/reads.cuh`.
    struct LongArguments = "mgpu::long_arguments" {
        targets: TargetTable,
        keys: *const u64,
        before: *const u64,
        skip: u64,
        first_windows: *const u32,
        ranges: *const u32,
        count: u32,
        most: u32,
        taxa: *mut u32,
        sums: *mut u32,
        out: *mut RawCandidate,
        out_count: *mut u32,
    }
}

impl SketchRule {
    pub(crate) fn new(params: &Params) -> SketchRule {
        SketchRule {
            k: params.k as i32,
            sketch: params.sketch,
            window: params.window,
            stride: params.stride,
            limit: params.hash_rule().limit(params.density),
        }
    }

    /// Returns the maximum number of features of a window.
    pub(crate) fn sketch(&self) -> usize {
        self.sketch as usize
    }
}

/// The position of a section (`mgpu::table_section`):
///
/// - `[0]`: the first word of its slots,
/// - `[1]`: the first word of its lists,
/// - `[2]`: the number of 32-bit items in the lists,
/// - `[3]`: the number of slots (lower 32 bits) and the range of the hash function that maps features to slots (upper
///   32 bits).
pub(crate) type SectionPlace = [u64; 4];
/// A read: the start of its letters, the numbers of bases of the first and of the second mate, and the maximum number
/// of windows in a run. (`mgpu::read_entry`.)
pub(crate) type ReadEntry = [u32; 4];
/// A window: the start of its letters, its number of bases, and the index of its read. (`mgpu::window_entry`.)
pub(crate) type WindowEntry = [u32; 3];
/// A candidate: target; hits; first and last window of the run, where windows are numbered over all targets; lowest
/// and highest node ([`Candidate::nodes`](crate::Candidate::nodes)). (`mgpu::candidate`.)
pub(crate) type RawCandidate = [u32; 6];

merganser_gpu::foreign! {
    fn merganser_classify_reads(arguments: *const ReadsArguments, stream: RawStream);
    fn merganser_classify_windows(arguments: *const WindowsArguments, stream: RawStream);
    fn merganser_classify_long_reads(arguments: *const LongArguments, stream: RawStream);
}

/// A part of a database in device memory.
#[derive(Clone, Copy)]
pub(crate) struct DevicePart<'t> {
    pub(crate) words: DeviceSlice<'t, u64>,
    /// The positions of all [`SECTIONS`] sections, which lie within the words.
    pub(crate) sections: DeviceSlice<'t, SectionPlace>,
}

impl DevicePart<'_> {
    fn raw(&self) -> TablePart {
        assert!(self.sections.len() == SECTIONS);
        TablePart { words: self.words.as_ptr(), sections: self.sections.as_ptr() }
    }
}

/// The targets of the database in device memory.
#[derive(Clone, Copy)]
pub(crate) struct Targets<'t> {
    /// The first window of each target, followed by the number of all windows.
    pub(crate) starts: DeviceSlice<'t, u32>,
    /// The ancestor of each target at the lowest rank at which taxa are distinguished. If that rank is the
    /// sequence, each target has a number of its own. Targets without a taxon have `NO_TAXON`.
    pub(crate) taxa: DeviceSlice<'t, u32>,
    /// The taxonomy node of each target itself.
    pub(crate) nodes: DeviceSlice<'t, u32>,
}

impl Targets<'_> {
    fn raw(&self) -> TargetTable {
        assert!(self.starts.len() == self.taxa.len() + 1, "a taxon for each target");
        assert!(self.nodes.len() == self.taxa.len(), "a node for each target");
        TargetTable {
            starts: self.starts.as_ptr(),
            taxa: self.taxa.as_ptr(),
            nodes: self.nodes.as_ptr(),
            targets: self.taxa.len() as u32,
        }
    }
}

/// The data of a database that a query needs: the sketching rule, the part in which features are looked up,
/// and the targets.
#[derive(Clone, Copy)]
pub(crate) struct Asked<'t> {
    pub(crate) rule: &'t SketchRule,
    pub(crate) part: DevicePart<'t>,
    pub(crate) targets: Targets<'t>,
}

/// The output buffers for candidates: room for `most` candidates per read, and the number found for each read.
pub(crate) struct Out<'t> {
    pub(crate) most: usize,
    pub(crate) candidates: DeviceSliceMut<'t, RawCandidate>,
    pub(crate) counts: DeviceSliceMut<'t, u32>,
}

impl Out<'_> {
    fn check(&self, reads: usize) {
        assert!(self.counts.len() >= reads && self.candidates.len() >= reads * self.most);
    }
}

/// Working space and measurements of a query.
pub(crate) struct Working<'t> {
    /// The number of reads with too many hits for a small block, then the indices of these reads, which larger
    /// blocks process. Has room for one item more than there are reads.
    pub(crate) over: DeviceSliceMut<'t, u32>,
    /// The cycles that a sample of the blocks spent in each phase; the kernel adds to them.
    pub(crate) phases: DeviceSliceMut<'t, u64>,
}

/// Finds the candidates of reads in one part. The candidate count of a read with too many hits for a large
/// block is [`TOO_MANY`].
pub(crate) fn reads(
    stream: &Stream,
    asked: Asked<'_>,
    letters: DeviceSlice<'_, u8>,
    reads: DeviceSlice<'_, ReadEntry>,
    mut out: Out<'_>,
    working: Working<'_>,
) -> Result<()> {
    if reads.is_empty() {
        return Ok(());
    }
    out.check(reads.len());
    let Working { over, mut phases } = working;
    assert!(over.len() > reads.len() && phases.len() >= PHASES);
    let (mut over_count, mut over) = over.split_at_mut(1);
    stream.fill(over_count.reborrow(), 0)?;
    let arguments = ReadsArguments {
        rule: *asked.rule,
        part: asked.part.raw(),
        targets: asked.targets.raw(),
        letters: letters.as_ptr(),
        reads: reads.as_ptr(),
        count: reads.len() as u32,
        most: out.most as u32,
        out: out.candidates.as_mut_ptr(),
        out_count: out.counts.as_mut_ptr(),
        over: over.as_mut_ptr(),
        over_count: over_count.as_mut_ptr(),
        phases: phases.as_mut_ptr(),
    };
    // SAFETY: the host built the entries so that their ranges lie within the letters, sections lie within the words
    // and targets within their tables; the sizes of the other buffers were checked above.
    stream.launch("querying reads", |raw| unsafe { merganser_classify_reads(&arguments, raw) })
}

/// The windows of long reads, and their letters.
#[derive(Clone, Copy)]
pub(crate) struct Windows<'t> {
    pub(crate) letters: DeviceSlice<'t, u8>,
    pub(crate) entries: DeviceSlice<'t, WindowEntry>,
}

impl Windows<'_> {
    /// Returns the arguments of a kernel, with its outputs still null.
    fn arguments(&self, asked: Asked<'_>) -> WindowsArguments {
        WindowsArguments {
            rule: *asked.rule,
            part: asked.part.raw(),
            letters: self.letters.as_ptr(),
            windows: self.entries.as_ptr(),
            count: self.entries.len() as u32,
            counts: std::ptr::null_mut(),
            before: std::ptr::null(),
            skip: 0,
            keys: std::ptr::null_mut(),
        }
    }
}

/// Counts the hits of each window. Sets the item of `counts` after the last window to 0, as the exclusive prefix sum
/// that follows needs it.
pub(crate) fn count_hits(
    stream: &Stream,
    asked: Asked<'_>,
    windows: Windows<'_>,
    mut counts: DeviceSliceMut<'_, u32>,
) -> Result<()> {
    let count = windows.entries.len();
    assert!(counts.len() > count && count > 0);
    let counts = counts.as_mut_ptr();
    let arguments = WindowsArguments { counts, ..windows.arguments(asked) };
    // SAFETY: as in `reads`; without keys, only counts are written.
    stream.launch("counting hits", |raw| unsafe { merganser_classify_windows(&arguments, raw) })
}

/// The counted hits of some windows.
#[derive(Clone, Copy)]
pub(crate) struct CountedHits<'t> {
    /// The number of hits before each window, followed by the number of all hits.
    pub(crate) before: DeviceSlice<'t, u64>,
    /// The number of hits before the first of these windows.
    pub(crate) skip: u64,
    /// The number of hits of these windows.
    pub(crate) hits: usize,
}

/// Writes the key `read << 32 | location` for each hit of the windows.
pub(crate) fn gather_hits(
    stream: &Stream,
    asked: Asked<'_>,
    windows: Windows<'_>,
    counted: CountedHits<'_>,
    mut keys: DeviceSliceMut<'_, u64>,
) -> Result<()> {
    let CountedHits { before, skip, hits } = counted;
    let count = windows.entries.len();
    assert!(before.len() >= count && keys.len() >= hits);
    let (before, keys) = (before.as_ptr(), keys.as_mut_ptr());
    let arguments = WindowsArguments { before, skip, keys, ..windows.arguments(asked) };
    // SAFETY: as in `reads`; the windows have as many hits as were counted, and the keys have room for them.
    stream.launch("gathering hits", |raw| unsafe { merganser_classify_windows(&arguments, raw) })
}

/// Long reads with their sorted hits.
pub(crate) struct LongReads<'t> {
    pub(crate) keys: DeviceSlice<'t, u64>,
    /// The number of hits before each window; the first `skip` hits are not in `keys`.
    pub(crate) before: DeviceSlice<'t, u64>,
    pub(crate) skip: u64,
    /// The first window of each read, and the end of the last read's windows.
    pub(crate) first_windows: DeviceSlice<'t, u32>,
    /// The maximum number of windows in a run, for each read.
    pub(crate) ranges: DeviceSlice<'t, u32>,
}

/// Finds the candidates of long reads. `taxa` and `sums` are working space with one item for each hit.
pub(crate) fn long_reads(
    stream: &Stream,
    targets: Targets<'_>,
    reads: &LongReads<'_>,
    mut taxa: DeviceSliceMut<'_, u32>,
    mut sums: DeviceSliceMut<'_, u32>,
    mut out: Out<'_>,
) -> Result<()> {
    let count = reads.ranges.len();
    out.check(count);
    let hits = reads.keys.len();
    assert!(reads.first_windows.len() > count && taxa.len() >= hits && sums.len() >= hits);
    let arguments = LongArguments {
        targets: targets.raw(),
        keys: reads.keys.as_ptr(),
        before: reads.before.as_ptr(),
        skip: reads.skip,
        first_windows: reads.first_windows.as_ptr(),
        ranges: reads.ranges.as_ptr(),
        count: count as u32,
        most: out.most as u32,
        taxa: taxa.as_mut_ptr(),
        sums: sums.as_mut_ptr(),
        out: out.candidates.as_mut_ptr(),
        out_count: out.counts.as_mut_ptr(),
    };
    // SAFETY: as in `reads`; the hits of the reads are those in the keys.
    stream.launch("querying long reads", |raw| unsafe {
        merganser_classify_long_reads(&arguments, raw)
    })
}
