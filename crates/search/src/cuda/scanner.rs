//! A stream with its buffers: collects pieces of texts, scans them together, and returns the ends of all patterns.

use std::collections::VecDeque;
use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

use merganser_gpu::{DeviceBuffer, Event, PinnedBuffer, Result as GpuResult, Stream};

use super::kernels::{Scan, make_planes};
use super::launches::Launch;
use super::layout::{CHUNK, Layout, max_words, min_room};
use super::patterns::GpuPatterns;

/// The maximum number of launches before their ends are collected.
const MAX_LAUNCHES: usize = 1024;
/// The number of ends that are copied from the device at a time.
const COPY: usize = if cfg!(test) { 1000 } else { 1 << 19 };
/// The number of bits of the number of edits, and of a position, in a record of an end.
const EDIT_BITS: u32 = 7;
const POSITION_BITS: u32 = 33;

/// A piece of a text.
#[derive(Clone, Debug)]
pub(crate) struct GpuPiece<'t> {
    pub(crate) letters: &'t [u8],
    /// The ends (positions after a last letter) that are reported.
    pub(crate) owned: Range<usize>,
}

/// An end of an alignment of a pattern in a piece.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct PatternEnd {
    pub(crate) pattern: u32,
    pub(crate) piece: u32,
    /// The position after the last letter.
    pub(crate) end: u64,
    pub(crate) edits: u16,
}

/// A piece in the text of a batch.
#[derive(Clone, Debug)]
struct Place {
    /// The position of its first letter.
    start: usize,
    owned: Range<usize>,
}

/// A scanner on a GPU, with its own stream and buffers. Each thread needs one, or two or more so that one is filled
/// while another one computes: [`add`](Self::add) pieces, [`start`](Self::start), and
/// [`finish`](Self::finish).
#[derive(Debug)]
pub(crate) struct GpuScanner {
    patterns: Arc<GpuPatterns>,
    pieces: Vec<Place>,
    /// The text of the batch, and the number of its letters in use.
    text: PinnedBuffer<u8>,
    used: usize,
    on_device: DeviceBuffer<u8>,
    planes: DeviceBuffer<u64>,
    layout: Layout,
    ends: DeviceBuffer<u64>,
    /// The number of ends so far, and that after each of the launches that were enqueued.
    found: DeviceBuffer<u64>,
    after: DeviceBuffer<u64>,
    after_here: PinnedBuffer<u64>,
    copy: PinnedBuffer<u64>,
    /// The launches whose ends were not collected yet, and the number of those that were enqueued.
    left: VecDeque<Launch>,
    enqueued: usize,
    /// Events before and after the kernels.
    events: [Event; 2],
    kernels: Duration,
    /// The stream. It is the last field, so that it is dropped after the buffers that its work uses.
    stream: Stream,
}

impl GpuScanner {
    /// Creates a scanner for batches of up to `letters` letters, those between pieces included, with room for `ends`
    /// ends on the device. If a batch has more ends, its scans are repeated in parts.
    ///
    /// # Errors
    /// If the device has too little memory, or fails.
    pub(crate) fn new(
        patterns: &Arc<GpuPatterns>,
        letters: usize,
        ends: usize,
    ) -> GpuResult<GpuScanner> {
        assert!(letters < 1 << POSITION_BITS, "positions have {POSITION_BITS} bits");
        let device = patterns.device();
        let letters = letters.next_multiple_of(CHUNK);
        Ok(GpuScanner {
            patterns: Arc::clone(patterns),
            pieces: Vec::new(),
            text: device.alloc_pinned(letters)?,
            used: 0,
            on_device: device.alloc(letters)?,
            planes: device.alloc(max_words(letters, patterns.reach()))?,
            layout: Layout::default(),
            ends: device.alloc(ends.max(min_room(patterns.reach())))?,
            found: device.alloc(1)?,
            after: device.alloc(MAX_LAUNCHES)?,
            after_here: device.alloc_pinned(MAX_LAUNCHES)?,
            copy: device.alloc_pinned(COPY)?,
            left: VecDeque::new(),
            enqueued: 0,
            events: [device.timing_event()?, device.timing_event()?],
            kernels: Duration::ZERO,
            stream: device.stream()?,
        })
    }

    /// Returns the bytes of device memory of a scanner.
    pub(crate) fn bytes(patterns: &GpuPatterns, letters: usize, ends: usize) -> u64 {
        let words = max_words(letters.next_multiple_of(CHUNK), patterns.reach());
        let ends = ends.max(min_room(patterns.reach()));
        (letters + 8 * (words + ends + 1 + MAX_LAUNCHES)) as u64
    }

    /// Adds a piece to the batch, copying its letters; returns false, and adds nothing, if there is no room for it.
    ///
    /// # Errors
    /// If the device failed.
    ///
    /// # Panics
    /// If the ends of a batch that was started were not collected.
    pub(crate) fn add(&mut self, piece: &GpuPiece<'_>) -> GpuResult<bool> {
        assert!(self.left.is_empty(), "ends are collected before pieces are added");
        let gap = if self.pieces.is_empty() { 0 } else { self.patterns.gap() };
        let start = self.used + gap;
        let end = start + piece.letters.len();
        if end > self.text.len() {
            return Ok(false);
        }
        let text = self.text.as_mut_slice()?;
        text[self.used..start].fill(0);
        text[start..end].copy_from_slice(piece.letters);
        self.pieces.push(Place { start, owned: piece.owned.clone() });
        self.used = end;
        Ok(true)
    }

    /// Starts the scan of the batch, without waiting for it.
    ///
    /// # Errors
    /// If the device fails.
    pub(crate) fn start(&mut self) -> GpuResult<()> {
        if self.used == 0 || self.patterns.blocks() == 0 {
            return Ok(());
        }
        let patterns = &self.patterns;
        self.layout = Layout::new(self.used, patterns.reach(), patterns.blocks(), self.ends.len());
        let padded = self.layout.letters;
        self.text.as_mut_slice()?[self.used..padded].fill(0);
        let GpuScanner { stream, text, on_device, planes, layout, .. } = self;
        stream.upload(text, 0..padded, on_device.view_mut())?;
        stream.record(&self.events[0])?;
        make_planes(stream, layout, patterns.letters(), on_device.view(), planes.view_mut())?;
        self.left = Launch::all(patterns.classes(), layout.tiles).into();
        self.enqueue()
    }

    /// Enqueues the launches that are left, as many as are counted.
    #[allow(unsafe_code, reason = "launching requires valid patterns, which `GpuPatterns` has")]
    fn enqueue(&mut self) -> GpuResult<()> {
        let GpuScanner { stream, patterns, .. } = self;
        self.enqueued = self.left.len().min(MAX_LAUNCHES);
        stream.fill(self.found.view_mut(), 0)?;
        for (number, launch) in self.left.iter().take(self.enqueued).enumerate() {
            let mut scan = Scan {
                layout: &self.layout,
                letters: patterns.letters(),
                text: self.on_device.view(),
                planes: self.planes.view(),
                ends: self.ends.view_mut(),
                found: self.found.view_mut(),
                anchor: patterns.anchor(),
                wanted: patterns.wanted(),
            };
            let of_launch = patterns.slice(launch.patterns.clone());
            // SAFETY: `GpuPatterns` has checked the patterns.
            unsafe { scan.enqueue(stream, launch.rows, of_launch, launch.tiles.clone())? };
            stream.copy(self.found.view(), self.after.slice_mut(number..=number))?;
        }
        stream.record(&self.events[1])?;
        stream.download(self.after.slice(..self.enqueued), &mut self.after_here, 0)
    }

    /// Returns whether the device is done with the launches of the batch; `finish` then hardly waits, unless there were
    /// more ends than there is room for.
    ///
    /// # Errors
    /// If the device failed.
    pub(crate) fn is_done(&self) -> GpuResult<bool> {
        self.after_here.is_idle()
    }

    /// Waits for the ends of the batch, appends those that pieces own, in the order of patterns, pieces and positions,
    /// and removes the pieces. Returns false, and appends nothing, if there are more than `most` ends, those included that
    /// pieces do not own.
    ///
    /// # Errors
    /// If the device failed.
    pub(crate) fn finish(&mut self, ends: &mut Vec<PatternEnd>, most: usize) -> GpuResult<bool> {
        let mut records = Vec::new();
        while !self.left.is_empty() {
            self.collect(&mut records)?;
            if records.len() > most {
                self.left.clear();
            }
            if !self.left.is_empty() {
                self.stream.record(&self.events[0])?;
                self.enqueue()?;
            }
        }
        let is_complete = records.len() <= most;
        if is_complete {
            records.sort_unstable();
            ends.extend(records.into_iter().filter_map(|record| self.end(record)));
        }
        self.pieces.clear();
        self.used = 0;
        Ok(is_complete)
    }

    /// Appends the records of the launches that had room for all ends, and removes these launches. The first of the
    /// others is divided if it had the whole room.
    fn collect(&mut self, records: &mut Vec<u64>) -> GpuResult<()> {
        let after = &self.after_here.as_slice()?[..self.enqueued];
        self.kernels += self.events[0].elapsed(&self.events[1])?;
        let done = after.partition_point(|&found| found <= self.ends.len() as u64);
        let found = if done == 0 { 0 } else { after[done - 1] as usize };
        for first in (0..found).step_by(COPY) {
            let last = found.min(first + COPY);
            self.stream.download(self.ends.slice(first..last), &mut self.copy, 0)?;
            records.extend_from_slice(&self.copy.as_slice()?[..last - first]);
        }
        self.left.drain(..done);
        if done == 0
            && let Some(launch) = self.left.pop_front()
        {
            let halves =
                launch.halves().expect("there is room for the ends of a pattern in a tile");
            halves.into_iter().rev().for_each(|half| self.left.push_front(half));
        }
        Ok(())
    }

    /// Returns the end of a record, if the piece where it lies owns it.
    fn end(&self, record: u64) -> Option<PatternEnd> {
        let position = (record >> EDIT_BITS & ((1 << POSITION_BITS) - 1)) as usize;
        let piece = self.pieces.partition_point(|piece| piece.start <= position).checked_sub(1)?;
        let Place { start, owned } = &self.pieces[piece];
        let end = position + 1 - start;
        owned.contains(&end).then_some(PatternEnd {
            pattern: (record >> (EDIT_BITS + POSITION_BITS)) as u32,
            piece: piece as u32,
            end: end as u64,
            edits: (record & ((1 << EDIT_BITS) - 1)) as u16,
        })
    }

    /// Scans pieces, which must fit in one batch, and returns the ends that they own.
    ///
    /// # Errors
    /// If the device fails.
    ///
    /// # Panics
    /// If the pieces do not fit.
    #[cfg(all(test, feature = "cuda"))]
    pub(crate) fn scan(&mut self, pieces: &[GpuPiece<'_>]) -> GpuResult<Vec<PatternEnd>> {
        for piece in pieces {
            assert!(self.add(piece)?, "the pieces do not fit in a batch");
        }
        let mut ends = Vec::new();
        self.start()?;
        self.finish(&mut ends, usize::MAX)?;
        Ok(ends)
    }

    /// Returns the time of the kernels so far. Kernels of several streams run concurrently, so their sum exceeds the
    /// time of the device.
    pub(crate) fn kernel_time(&self) -> Duration {
        self.kernels
    }
}
