//! A stream with its buffers: collects batches, decides them together, and returns their decisions.

use std::time::Duration;

use merganser_gpu::{Device, DeviceBuffer, Event, PinnedBuffer, Result as GpuResult, Stream};

use super::GpuReference;
use super::program::{Program, Shape};
use crate::{Code, Error, Filter, PairBatch};

/// A [`Filter`] on a GPU, with its own stream and buffers. Each thread needs one, or two or more so that one is
/// filled while another one computes.
///
/// ```no_run
/// use merganser_filter::{Config, Filter, GpuFilter, PairBatch, Threshold};
///
/// let filter = Filter::new(Config::new(Threshold::Edits(2)))?;
/// let device = merganser_gpu::Device::open(0)?;
/// let mut on_gpu = GpuFilter::new(&filter, &device, None)?;
/// let mut batch = PairBatch::new();
/// batch.push(b"ACGTACGT", b"ACGAACGT")?;
/// let mut decisions = Vec::new();
/// on_gpu.run(&batch, &mut decisions)?;
/// assert_eq!(decisions, [1]);
/// # Ok::<(), merganser_filter::Error>(())
/// ```
#[derive(Debug)]
pub struct GpuFilter {
    programs: Vec<Program>,
    reference: Option<GpuReference>,
    words: PinnedBuffer<u64>,
    on_device: DeviceBuffer<u64>,
    /// The number of words in use.
    used: usize,
    pairs: usize,
    shape: Shape,
    /// The number of bases of the longest read.
    longest: u32,
    launched: bool,
    /// Events before and after the kernels.
    events: [Event; 2],
    kernels: Duration,
    /// The stream. It is the last field, so that it is dropped after the buffers that its work uses.
    stream: Stream,
}

impl GpuFilter {
    /// Creates a filter on a device. If pairs have segments in a reference, it must be on the device, too.
    ///
    /// # Errors
    /// If the device fails.
    pub fn new(
        filter: &Filter,
        device: &Device,
        reference: Option<&GpuReference>,
    ) -> Result<GpuFilter, Error> {
        Ok(GpuFilter::of_several(&[filter], device, reference)?)
    }

    /// Creates a filter that decides every batch with several filters.
    pub(crate) fn of_several(
        filters: &[&Filter],
        device: &Device,
        reference: Option<&GpuReference>,
    ) -> GpuResult<GpuFilter> {
        let programs = filters.iter().map(|filter| Program::new(filter, device));
        Ok(GpuFilter {
            programs: programs.collect::<GpuResult<Vec<_>>>()?,
            reference: reference.cloned(),
            words: device.alloc_pinned(0)?,
            on_device: device.alloc(0)?,
            used: 0,
            pairs: 0,
            shape: Shape::Empty,
            longest: 0,
            launched: false,
            events: [device.timing_event()?, device.timing_event()?],
            kernels: Duration::ZERO,
            stream: device.stream()?,
        })
    }

    /// Reserves room for `words` words of planes and `pairs` uniform pairs.
    pub(crate) fn reserve(&mut self, words: usize, pairs: usize) -> GpuResult<()> {
        for program in &mut self.programs {
            program.reserve(&self.stream, pairs, 0)?;
        }
        self.reserve_words(words)
    }

    /// Returns the bytes of device memory for this many words and pairs of any kind, decided by `programs`
    /// programs.
    pub(crate) fn bytes_for(words: usize, pairs: usize, programs: usize) -> u64 {
        8 * words as u64 + programs as u64 * Program::bytes_for(pairs)
    }

    fn reserve_words(&mut self, words: usize) -> GpuResult<()> {
        if self.words.len() < words {
            let device = self.stream.device();
            let mut larger = device.alloc_pinned(words)?;
            let used = self.used;
            larger.as_mut_slice()?[..used].copy_from_slice(&self.words.as_slice()?[..used]);
            self.words = larger;
            self.on_device = device.alloc(0)?;
            self.on_device = device.alloc(words)?;
        }
        Ok(())
    }

    /// Decides a batch, like [`Filter::run_codes`].
    ///
    /// # Errors
    /// If the device has too little memory, or fails.
    ///
    /// # Panics
    /// The errors of [`add`](Self::add).
    pub fn run(&mut self, batch: &PairBatch<'_>, decisions: &mut Vec<Code>) -> Result<(), Error> {
        self.add(batch)?;
        self.launch()?;
        self.collect(decisions)
    }

    /// Adds the pairs of a batch to those to be decided. The batch is copied.
    ///
    /// # Errors
    /// If there is too little memory.
    ///
    /// # Panics
    /// If launched pairs were not collected, there are 2^32 pairs or words, or the batch has another reference.
    pub fn add(&mut self, batch: &PairBatch<'_>) -> Result<(), Error> {
        assert!(!self.launched, "pairs are collected before others are added");
        if let Some(reference) = batch.reference() {
            let same = self.reference.as_ref().is_some_and(|ours| ours.is_of(reference));
            assert!(same, "the batch's reference is not on the device");
        }
        if batch.is_empty() {
            return Ok(());
        }
        let words = batch.all_words();
        let end = self.used + words.len();
        let most = u32::MAX as usize;
        assert!(end <= most && self.pairs + batch.len() <= most, "a batch of 2^32 pairs or words");
        if self.words.len() < end {
            self.reserve_words(end.next_power_of_two())?;
        }
        self.words.as_mut_slice()?[self.used..end].copy_from_slice(words);
        let uniform = batch.uniform();
        let (before, first) = (self.shape, self.pairs as u32);
        self.shape = match (before, uniform) {
            (Shape::Empty, Some(lens)) => Shape::Uniform(lens),
            (Shape::Uniform(lens), Some(more)) if lens == more => before,
            _ => Shape::Listed,
        };
        for program in &mut self.programs {
            if let (Shape::Uniform(lens), Shape::Listed) = (before, self.shape) {
                program.list(lens, first);
            }
            program.add(batch, self.shape, self.used as u32, first);
        }
        let longest = match uniform {
            Some([read, _]) => read,
            None => (0..batch.len()).map(|i| batch.place(i).read_len).max().unwrap_or(0),
        };
        self.longest = self.longest.max(longest);
        self.used = end;
        self.pairs += batch.len();
        Ok(())
    }

    /// Starts deciding the added pairs on the device, without waiting for it.
    ///
    /// # Errors
    /// If the device has too little memory, or fails.
    pub fn launch(&mut self) -> Result<(), Error> {
        self.launched = true;
        let (used, pairs) = (self.used, self.pairs);
        if pairs == 0 {
            return Ok(());
        }
        let GpuFilter { stream, words, on_device, programs, reference, events, .. } = self;
        stream.upload(words, 0..used, on_device.view_mut())?;
        for program in programs.iter_mut() {
            program.prepare(stream, pairs, self.longest)?;
        }
        stream.record(&events[0])?;
        for program in programs.iter_mut() {
            let reference = reference.as_ref().map(GpuReference::view);
            program.launch(stream, on_device.view(), reference, self.shape, pairs)?;
        }
        stream.record(&events[1])?;
        for program in programs {
            program.download(stream, pairs)?;
        }
        Ok(())
    }

    /// Whether the launched pairs are decided.
    ///
    /// # Errors
    /// If the device failed.
    pub fn is_done(&self) -> Result<bool, Error> {
        for program in &self.programs {
            if !program.is_done()? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Waits for the decisions on the launched pairs, and replaces `decisions` by them, in the order in which
    /// the pairs were added.
    ///
    /// # Errors
    /// If the device failed.
    pub fn collect(&mut self, decisions: &mut Vec<Code>) -> Result<(), Error> {
        self.collect_of(0, decisions)?;
        Ok(self.finish()?)
    }

    /// Waits for the decisions of one of the filters.
    pub(crate) fn collect_of(
        &mut self,
        program: usize,
        decisions: &mut Vec<Code>,
    ) -> GpuResult<()> {
        self.programs[program].collect(self.pairs, decisions)
    }

    /// Removes the pairs after all decisions were collected.
    pub(crate) fn finish(&mut self) -> GpuResult<()> {
        if self.pairs > 0 && self.launched {
            self.kernels += self.events[0].elapsed(&self.events[1])?;
        }
        self.programs.iter_mut().for_each(Program::forget);
        (self.used, self.pairs, self.longest) = (0, 0, 0);
        (self.shape, self.launched) = (Shape::Empty, false);
        Ok(())
    }

    /// Returns the device.
    pub fn device(&self) -> &Device {
        self.stream.device()
    }

    /// Returns the time of the kernels so far. Kernels of several streams run concurrently, so their sum
    /// exceeds the time of the device.
    pub fn kernel_time(&self) -> Duration {
        self.kernels
    }

    /// Returns the number of pairs that the exact method decided instead: see
    /// [`Scratch::exact_instead`](crate::Scratch::exact_instead).
    pub fn exact_instead(&self) -> u64 {
        self.programs[0].exact_instead()
    }
}
