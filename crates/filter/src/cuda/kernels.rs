//! Wrappers of the CUDA launchers: the only foreign functions of this crate.
#![allow(unsafe_code, reason = "foreign functions")]

use merganser_gpu::{DeviceSlice, DeviceSliceMut, RawStream, Result, Stream};

use super::plan::Kernel;
use crate::{Align, Config, NMode, Threshold};

/// A pair of a batch, `entry` of `cuda/decide.cuh`, in words.
pub(super) type Entry = [u64; 3];

const IN_REFERENCE: u64 = 1 << 63;
const READ_HAS_OTHERS: u64 = 1 << 62;
const SEGMENT_HAS_OTHERS: u64 = 1 << 61;

/// Returns the entry of a pair. `base` is the first word of its batch, and `index` is the number of its
/// decision.
pub(super) fn entry(place: &crate::batch::PairPlace, base: u32, index: u32) -> Entry {
    let flag = |set: bool, bit: u64| if set { bit } else { 0 };
    let segment_at = place.segment_at as u64 + if place.in_reference { 0 } else { base.into() };
    let flags = flag(place.in_reference, IN_REFERENCE)
        | flag(place.read_others, READ_HAS_OTHERS)
        | flag(place.segment_others, SEGMENT_HAS_OTHERS);
    let read_at = place.read_at as u64 + u64::from(base);
    let two = |low: u64, high: u32| low | u64::from(high) << 32;
    [segment_at | flags, two(read_at, place.read_len), two(place.segment_len.into(), index)]
}

merganser_gpu::shared! {
    /// The input of a launch; its fields are documented in `cuda/decide.cuh`.
    struct Arguments = "mgpu::filter::arguments" {
        words: *const u64,
        entries: *const Entry,
        reference: *const u64,
        decisions: *mut u8,
        reference_len: u64,
        pairs: u32,
        read_len: u32,
        segment_len: u32,
        threshold: u32,
        percent: bool,
        others_match: bool,
        global: bool,
        bytes: bool,
    }
}

merganser_gpu::foreign! {
    fn merganser_filter_sizes(kernels: *mut u32, entry: *mut u32, arguments: *mut u32);
    fn merganser_filter_decide(number: u32, arguments: *const Arguments, stream: RawStream);
    fn merganser_filter_pack(
        text: *const u8, lines: *const Line, count: u32, words: *mut u64, stream: RawStream,
    );
}

/// `line` of `cuda/pack.cuh`, in words: the offset in the text, then the word of the planes and the number of
/// bases.
pub(super) type Line = [u64; 2];

/// Packs the sequences of a text, which must only have bases, each to its place.
///
/// # Safety
/// The lines must be within the text and the words.
pub(super) unsafe fn pack(
    stream: &Stream,
    text: DeviceSlice<'_, u8>,
    lines: DeviceSlice<'_, Line>,
    mut words: DeviceSliceMut<'_, u64>,
) -> Result<()> {
    stream.launch("packing sequences", |raw| {
        // SAFETY: the number of lines is that of the slice; the rest is the caller's obligation.
        unsafe {
            merganser_filter_pack(
                text.as_ptr(),
                lines.as_ptr(),
                lines.len() as u32,
                words.as_mut_ptr(),
                raw,
            )
        }
    })
}

/// A launch: which pairs a kernel decides, and where.
pub(super) struct Launch<'l> {
    pub(super) kernel: Kernel,
    pub(super) config: &'l Config,
    /// The planes of all sequences.
    pub(super) words: DeviceSlice<'l, u64>,
    pub(super) pairs: Pairs<'l>,
    /// The planes of the reference, and its number of bases.
    pub(super) reference: Option<(DeviceSlice<'l, u64>, usize)>,
    /// Whether a decision takes one byte; otherwise it takes four.
    pub(super) bytes: bool,
    /// All decisions of the batch.
    pub(super) decisions: DeviceSliceMut<'l, u8>,
}

/// The pairs of a launch.
pub(super) enum Pairs<'l> {
    /// A number of consecutive pairs, all with these lengths of read and segment.
    Uniform(usize, [u32; 2]),
    Listed(DeviceSlice<'l, Entry>),
}

impl Launch<'_> {
    /// Enqueues the kernel; it must support all pairs.
    ///
    /// # Safety
    /// Listed pairs must be within the words, the reference and the decisions.
    pub(super) unsafe fn enqueue(mut self, stream: &Stream) -> Result<()> {
        let (threshold, percent) = match self.config.threshold {
            Threshold::Edits(edits) => (edits, false),
            Threshold::Percent(percent) => (percent.into(), true),
        };
        let (entries, pairs, [read_len, segment_len]) = match self.pairs {
            Pairs::Uniform(pairs, lens) => (std::ptr::null(), pairs, lens),
            Pairs::Listed(entries) => (entries.as_ptr(), entries.len(), [0; 2]),
        };
        let (reference, reference_len) = match &self.reference {
            Some((words, len)) => (words.as_ptr(), *len),
            None => (std::ptr::null(), 0),
        };
        if let Pairs::Uniform(pairs, lens) = self.pairs {
            let words = lens.iter().map(|&len| 2 * (len as usize).div_ceil(64)).sum::<usize>();
            let bytes = if self.bytes { 1 } else { 4 };
            assert!(self.words.len() >= pairs * words && self.decisions.len() >= pairs * bytes);
        }
        let arguments = Arguments {
            words: self.words.as_ptr(),
            entries,
            reference,
            decisions: self.decisions.as_mut_ptr(),
            reference_len: reference_len as u64,
            pairs: pairs as u32,
            read_len,
            segment_len,
            threshold,
            percent,
            others_match: self.config.n_mode == NMode::Match,
            global: self.config.align == Align::Global,
            bytes: self.bytes,
        };
        stream.launch("deciding pairs", |raw| {
            // SAFETY: all pointers lead to device memory that is as large as `arguments` says or, as the caller
            // guarantees, as the entries require; the call copies the arguments.
            unsafe { merganser_filter_decide(self.kernel as u32, &arguments, raw) }
        })
    }
}

#[cfg(all(test, feature = "cuda"))]
mod tests {
    use super::*;

    #[test]
    fn structures_have_the_sizes_of_the_cpp() {
        let mut sizes = [0; 3];
        let [kernels, entry, arguments] = &mut sizes;
        // SAFETY: the pointers are to locals.
        let status = unsafe { merganser_filter_sizes(kernels, entry, arguments) };
        let ours = [Kernel::ALL.len(), size_of::<Entry>(), size_of::<Arguments>()];
        assert_eq!((status, sizes), (0, ours.map(|size| size as u32)));
    }
}
