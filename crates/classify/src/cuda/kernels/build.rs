//! Safe wrappers of the kernels for building.

use std::ops::Range;

use merganser_gpu::{DeviceSlice, DeviceSliceMut, RawStream, Result, Stream};

use super::SketchRule;
use crate::database::{LIST, SECTIONS};

/// A window of a reference: the start of its letters, and its bases.
pub(crate) type ReferenceWindow = [u32; 2];
/// The size of a section of a part: slots, ideal slots, items in its lists, features.
pub(crate) type SectionSize = [u32; 4];
/// The counts of a section: features, locations, over-full features, dropped features.
pub(crate) type SectionCounts = [u32; 4];
/// The positions of a section: the first word of its slots, and of its lists.
pub(crate) type SectionWords = [u64; 2];

/// The packing of features, which depends on the size of a hash.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Packing {
    /// 32 bits, for k up to 16.
    Narrow,
    /// 64 bits, of which 44 are in use.
    Wide,
}

impl Packing {
    pub(crate) fn of(k: u32) -> Packing {
        if k <= 16 { Packing::Narrow } else { Packing::Wide }
    }

    /// Returns the bytes of a packed feature.
    pub(crate) fn bytes(self) -> usize {
        match self {
            Packing::Narrow => 4,
            Packing::Wide => 8,
        }
    }

    /// Returns the bits of a packed feature that are in use.
    pub(crate) fn bits(self) -> u32 {
        match self {
            Packing::Narrow => 32,
            Packing::Wide => crate::FEATURE_BITS,
        }
    }
}

merganser_gpu::shared! {
    pub(crate) struct SketchArguments = "mgpu::sketch_arguments" {
        rule: SketchRule,
        count: u32,
        letters: *const u8,
        windows: *const ReferenceWindow,
        features: *mut u8,
        counts: *mut u32,
    }

    pub(crate) struct GatherArguments = "mgpu::gather_arguments" {
        features: *const u8,
        counts: *const u32,
        windows: u32,
        sketch: u32,
        first_section: u32,
        end_section: u32,
        first_window: u32,
        padding: u32,
        found: *mut u32,
        offsets: *const u64,
        keys: *mut u8,
        locations: *mut u32,
    }

    pub(crate) struct SortedEntries = "mgpu::sorted_entries" {
        keys: *const u8,
        locations: *const u32,
        count: u64,
        first_section: u32,
        sections: u32,
    }

    pub(crate) struct SectionRuns = "mgpu::section_runs" {
        bounds: *const u64,
        runs: *mut u64,
        run_counts: *mut u32,
        location_counts: *mut u32,
    }

    pub(crate) struct LayoutArguments = "mgpu::layout_arguments" {
        of: SectionRuns,
        locations: *const u32,
        sections: u32,
        most: u32,
        drop_overfull: u32,
        first_window: u32,
        end_window: u32,
        padding: u32,
    }
}

merganser_gpu::foreign! {
    fn merganser_classify_sketch(arguments: *const SketchArguments, stream: RawStream);
    fn merganser_classify_gather(arguments: *const GatherArguments, wide: bool, stream: RawStream);
    fn merganser_classify_runs(
        arguments: *const SortedEntries, wide: bool, bounds: *mut u64, out: *const SectionRuns,
        kept: *mut u32, stream: RawStream,
    );
    fn merganser_classify_measure(
        arguments: *const LayoutArguments, sizes: *mut SectionSize, counts: *mut SectionCounts,
        stream: RawStream,
    );
    fn merganser_classify_lay_out(
        arguments: *const LayoutArguments, sizes: *const SectionSize, places: *const SectionWords,
        words: *mut u64, stream: RawStream,
    );
}

/// The sketches of windows.
#[derive(Clone, Copy)]
pub(crate) struct Sketches<'t> {
    pub(crate) packing: Packing,
    /// The maximum number of features of a window.
    pub(crate) sketch: usize,
    /// Packed features, with room for `sketch` of them for each window.
    pub(crate) features: DeviceSlice<'t, u8>,
    /// The number of features of each window.
    pub(crate) counts: DeviceSlice<'t, u32>,
}

/// Sketches windows: writes the features of each window, with room for a whole sketch, and their number.
pub(crate) fn sketch(
    stream: &Stream,
    rule: &SketchRule,
    letters: DeviceSlice<'_, u8>,
    windows: DeviceSlice<'_, ReferenceWindow>,
    mut features: DeviceSliceMut<'_, u8>,
    mut counts: DeviceSliceMut<'_, u32>,
) -> Result<()> {
    let (count, bytes) = (windows.len(), Packing::of(rule.k as u32).bytes());
    assert!(features.len() >= count * rule.sketch() * bytes && counts.len() >= count);
    if count == 0 {
        return Ok(());
    }
    let arguments = SketchArguments {
        rule: *rule,
        count: count as u32,
        letters: letters.as_ptr(),
        windows: windows.as_ptr(),
        features: features.as_mut_ptr(),
        counts: counts.as_mut_ptr(),
    };
    // SAFETY: the host made windows within the letters; the sizes of the other buffers were checked above.
    stream.launch("sketching", |raw| unsafe { merganser_classify_sketch(&arguments, raw) })
}

impl Sketches<'_> {
    fn arguments(&self, sections: &Range<usize>) -> GatherArguments {
        let windows = self.counts.len();
        assert!(self.features.len() >= windows * self.sketch * self.packing.bytes());
        GatherArguments {
            features: self.features.as_ptr(),
            counts: self.counts.as_ptr(),
            windows: windows as u32,
            sketch: self.sketch as u32,
            first_section: sections.start as u32,
            end_section: sections.end as u32,
            first_window: 0,
            padding: 0,
            found: std::ptr::null_mut(),
            offsets: std::ptr::null(),
            keys: std::ptr::null_mut(),
            locations: std::ptr::null_mut(),
        }
    }

    /// Counts the features of the sections in each window.
    pub(crate) fn count(
        &self,
        stream: &Stream,
        sections: &Range<usize>,
        mut found: DeviceSliceMut<'_, u32>,
    ) -> Result<()> {
        assert!(found.len() == self.counts.len());
        if found.is_empty() {
            return Ok(());
        }
        let arguments = GatherArguments { found: found.as_mut_ptr(), ..self.arguments(sections) };
        let wide = self.packing == Packing::Wide;
        // SAFETY: there is a count for each window, and no window has more features than a sketch.
        stream.launch("counting features", |raw| unsafe {
            merganser_classify_gather(&arguments, wide, raw)
        })
    }

    /// Writes the features of the sections and their locations, those of each window at its offset. `first_window`
    /// is the number of the first window in the reference.
    pub(crate) fn gather(
        &self,
        stream: &Stream,
        sections: &Range<usize>,
        first_window: u32,
        offsets: DeviceSlice<'_, u64>,
        entries: &mut EntriesMut<'_>,
    ) -> Result<()> {
        assert!(offsets.len() == self.counts.len());
        if offsets.is_empty() {
            return Ok(());
        }
        let arguments = GatherArguments {
            first_window,
            offsets: offsets.as_ptr(),
            keys: entries.keys.as_mut_ptr(),
            locations: entries.locations.as_mut_ptr(),
            ..self.arguments(sections)
        };
        let wide = self.packing == Packing::Wide;
        // SAFETY: as in `count`; offsets are sums of its results, and the entries have room for all of them.
        stream.launch("gathering features", |raw| unsafe {
            merganser_classify_gather(&arguments, wide, raw)
        })
    }
}

/// Output buffers of entries: packed features, and a location for each.
pub(crate) struct EntriesMut<'t> {
    pub(crate) keys: DeviceSliceMut<'t, u8>,
    pub(crate) locations: DeviceSliceMut<'t, u32>,
}

/// Entries sorted by feature, then location.
pub(crate) struct Sorted<'t> {
    pub(crate) packing: Packing,
    pub(crate) keys: DeviceSlice<'t, u8>,
    pub(crate) locations: DeviceSlice<'t, u32>,
    pub(crate) sections: Range<usize>,
}

/// The runs of equal features in each section.
pub(crate) struct Runs<'t> {
    /// Room for one more item than there are sections.
    pub(crate) bounds: DeviceSliceMut<'t, u64>,
    /// The runs, with room for one per entry.
    pub(crate) runs: DeviceSliceMut<'t, u64>,
    pub(crate) run_counts: DeviceSliceMut<'t, u32>,
    pub(crate) location_counts: DeviceSliceMut<'t, u32>,
}

impl Runs<'_> {
    fn raw(&mut self, sections: usize) -> SectionRuns {
        assert!(self.bounds.len() > sections);
        assert!(self.run_counts.len() >= sections && self.location_counts.len() >= sections);
        SectionRuns {
            bounds: self.bounds.as_mut_ptr(),
            runs: self.runs.as_mut_ptr(),
            run_counts: self.run_counts.as_mut_ptr(),
            location_counts: self.location_counts.as_mut_ptr(),
        }
    }
}

/// Finds the runs. With wide features, `kept` receives the locations of the runs.
pub(crate) fn find_runs(
    stream: &Stream,
    sorted: &Sorted<'_>,
    runs: &mut Runs<'_>,
    kept: Option<DeviceSliceMut<'_, u32>>,
) -> Result<()> {
    let (count, wide) = (sorted.locations.len(), sorted.packing == Packing::Wide);
    assert!(sorted.keys.len() >= count * sorted.packing.bytes() && runs.runs.len() >= count);
    assert!(kept.as_ref().map_or(!wide, |kept| kept.len() >= count));
    let arguments = SortedEntries {
        keys: sorted.keys.as_ptr(),
        locations: sorted.locations.as_ptr(),
        count: count as u64,
        first_section: sorted.sections.start as u32,
        sections: sorted.sections.len() as u32,
    };
    let raw_runs = runs.raw(sorted.sections.len());
    let bounds = runs.bounds.as_mut_ptr();
    let kept = kept.map_or(std::ptr::null_mut(), |mut kept| kept.as_mut_ptr());
    // SAFETY: a section has no more runs and locations than entries, and the buffers have room for all entries.
    stream.launch("finding runs", |raw| unsafe {
        merganser_classify_runs(&arguments, wide, bounds, &raw_runs, kept, raw)
    })
}

/// The inputs of a part's tables.
pub(crate) struct PartLayout<'r, 't> {
    pub(crate) runs: &'r mut Runs<'t>,
    pub(crate) locations: DeviceSlice<'r, u32>,
    pub(crate) sections: usize,
    /// The maximum number of locations of a feature.
    pub(crate) most: u32,
    pub(crate) drop_overfull: bool,
    /// The windows of the part.
    pub(crate) windows: Range<u32>,
}

impl PartLayout<'_, '_> {
    fn raw(&mut self) -> LayoutArguments {
        assert!(self.sections <= SECTIONS && self.most < LIST);
        LayoutArguments {
            of: self.runs.raw(self.sections),
            locations: self.locations.as_ptr(),
            sections: self.sections as u32,
            most: self.most,
            drop_overfull: u32::from(self.drop_overfull),
            first_window: self.windows.start,
            end_window: self.windows.end,
            padding: 0,
        }
    }

    /// Measures the part's sections and, if `counts` is given, counts over all parts.
    pub(crate) fn measure(
        &mut self,
        stream: &Stream,
        mut sizes: DeviceSliceMut<'_, SectionSize>,
        counts: Option<DeviceSliceMut<'_, SectionCounts>>,
    ) -> Result<()> {
        let enough = |len: usize| assert!(len >= self.sections, "an item for each section");
        enough(sizes.len());
        counts.iter().for_each(|counts| enough(counts.len()));
        let arguments = self.raw();
        let counts = counts.map_or(std::ptr::null_mut(), |mut counts| counts.as_mut_ptr());
        // SAFETY: runs and locations are those that `find_runs` found.
        stream.launch("measuring tables", |raw| unsafe {
            merganser_classify_measure(&arguments, sizes.as_mut_ptr(), counts, raw)
        })
    }

    /// Writes the part's tables. `sizes` are the measured ones, `places` lie within the words and have room for
    /// them, and all bits of the words are set.
    pub(crate) fn lay_out(
        &mut self,
        stream: &Stream,
        sizes: DeviceSlice<'_, SectionSize>,
        places: DeviceSlice<'_, SectionWords>,
        mut words: DeviceSliceMut<'_, u64>,
    ) -> Result<()> {
        assert!(sizes.len() >= self.sections && places.len() >= self.sections);
        let arguments = self.raw();
        // SAFETY: as in `measure`; each section stays within its measured size.
        stream.launch("laying out tables", |raw| unsafe {
            let (sizes, places) = (sizes.as_ptr(), places.as_ptr());
            merganser_classify_lay_out(&arguments, sizes, places, words.as_mut_ptr(), raw)
        })
    }
}
