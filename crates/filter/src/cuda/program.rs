//! A filter on a device: assigns the pairs of a batch to kernels, and collects the decisions.

use merganser_gpu::{Device, DeviceBuffer, DeviceSlice, PinnedBuffer, Result as GpuResult, Stream};

use super::kernels::{Entry, Launch, Pairs, entry};
use super::plan::Kernel;
use crate::batch::PairPlace;
use crate::{Code, Filter, Method, NMode, PairBatch, REJECTED, Scratch, UNDEFINED};

/// The layout of a batch's pairs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Shape {
    #[default]
    Empty,
    /// Uniform pairs, as in [`PairBatch::uniform`], with these lengths of read and segment.
    Uniform([u32; 2]),
    /// Pairs with an entry each.
    Listed,
}

/// One filter with its buffers on a device.
#[derive(Debug)]
pub(super) struct Program {
    filter: Filter,
    scratch: Scratch,
    /// The pairs for each kernel.
    entries: Vec<Vec<Entry>>,
    /// Pairs that no kernel supports, with their decisions.
    left: Vec<(u32, Code)>,
    /// The number of pairs on kernels that the exact method decides instead of the configured one.
    exact_instead: u64,
    listed: PinnedBuffer<Entry>,
    on_device: DeviceBuffer<Entry>,
    decisions: DeviceBuffer<u8>,
    here: PinnedBuffer<u8>,
    bytes: bool,
}

impl Program {
    pub(super) fn new(filter: &Filter, device: &Device) -> GpuResult<Program> {
        Ok(Program {
            filter: filter.clone(),
            scratch: Scratch::default(),
            entries: vec![Vec::new(); Kernel::ALL.len()],
            left: Vec::new(),
            exact_instead: 0,
            listed: device.alloc_pinned(0)?,
            on_device: device.alloc(0)?,
            decisions: device.alloc(0)?,
            here: device.alloc_pinned(0)?,
            bytes: false,
        })
    }

    pub(super) fn exact_instead(&self) -> u64 {
        self.exact_instead + self.scratch.exact_instead()
    }

    /// Adds a batch whose words begin at `base` and whose pairs are numbered from `first` on. Uniform pairs are
    /// only added if no kernel supports them.
    pub(super) fn add(&mut self, batch: &PairBatch<'_>, shape: Shape, base: u32, first: u32) {
        if let Shape::Uniform(lens) = shape
            && Kernel::of(&self.filter, lens, false).is_some()
        {
            self.count_instead(lens, batch.len());
            return;
        }
        for i in 0..batch.len() {
            let place = batch.place(i);
            self.add_pair(batch, i, &place, base, first + i as u32);
        }
    }

    fn count_instead(&mut self, [read, segment]: [u32; 2], pairs: usize) {
        let (read, segment) = (read as usize, segment as usize);
        let e = self.filter.config().threshold.edits(read);
        let defined = self.filter.defined_method(read, segment, false, e);
        if defined != self.filter.config().method {
            self.exact_instead += pairs as u64;
        }
    }

    fn add_pair(
        &mut self,
        batch: &PairBatch<'_>,
        i: usize,
        place: &PairPlace,
        base: u32,
        index: u32,
    ) {
        let others = place.read_others || place.segment_others;
        if others && self.filter.config().n_mode == NMode::Pass {
            self.left.push((index, UNDEFINED));
            return;
        }
        let lens = [place.read_len, place.segment_len];
        let Some(kernel) = Kernel::of(&self.filter, lens, others) else {
            let [read, segment] = batch.views(i);
            let decision = self.filter.decide(&read, &segment, &mut self.scratch);
            self.left.push((index, decision));
            return;
        };
        let of_exact = kernel < Kernel::GateKeeper;
        if of_exact && self.filter.config().method != Method::Exact {
            self.exact_instead += 1;
        }
        self.entries[kernel as usize].push(entry(place, base, index));
    }

    /// Adds entries of pairs that were added as uniform ones, because other pairs follow.
    pub(super) fn list(&mut self, lens: [u32; 2], pairs: u32) {
        // If no kernel supports them, they have their decisions already.
        let Some(kernel) = Kernel::of(&self.filter, lens, false) else { return };
        let [of_read, of_segment] = lens.map(|len| 2 * (len as usize).div_ceil(64));
        self.entries[kernel as usize].extend((0..pairs).map(|index| {
            let read_at = index as usize * (of_read + of_segment);
            let place = PairPlace {
                read_at,
                read_len: lens[0],
                read_others: false,
                segment_at: read_at + of_read,
                segment_len: lens[1],
                segment_others: false,
                in_reference: false,
            };
            entry(&place, 0, index)
        }));
    }

    /// Reserves room for `bytes` bytes of decisions and for `entries` entries.
    pub(super) fn reserve(
        &mut self,
        stream: &Stream,
        bytes: usize,
        entries: usize,
    ) -> GpuResult<()> {
        let device = stream.device();
        if self.here.len() < bytes {
            let room = bytes.next_power_of_two();
            self.decisions = device.alloc(0)?;
            self.here = device.alloc_pinned(room)?;
            self.decisions = device.alloc(room)?;
        }
        if self.listed.len() < entries {
            let room = entries.next_power_of_two();
            self.on_device = device.alloc(0)?;
            self.listed = device.alloc_pinned(room)?;
            self.on_device = device.alloc(room)?;
        }
        Ok(())
    }

    /// Returns the bytes of device memory for this many pairs of any kind.
    pub(super) fn bytes_for(pairs: usize) -> u64 {
        (pairs.next_power_of_two() * (1 + size_of::<Entry>())) as u64
    }

    /// Reserves room for the decisions of `pairs` pairs with reads of up to `longest` bases, and copies the
    /// entries to the device.
    pub(super) fn prepare(&mut self, stream: &Stream, pairs: usize, longest: u32) -> GpuResult<()> {
        let most = self.filter.config().threshold.edits(longest as usize);
        self.bytes = most < usize::from(u8::MAX);
        let listed: usize = self.entries.iter().map(Vec::len).sum();
        self.reserve(stream, pairs * if self.bytes { 1 } else { 4 }, listed)?;
        if listed == 0 {
            return Ok(());
        }
        let mut at = 0;
        let out = self.listed.as_mut_slice()?;
        for entries in &mut self.entries {
            // Neighbouring pairs should have similar numbers of columns. Usually they do and need no sorting.
            let columns = |entry: &Entry| entry[2] & 0xffff_ffff;
            if !entries.is_sorted_by_key(columns) {
                entries.sort_by_key(columns);
            }
            out[at..at + entries.len()].copy_from_slice(entries);
            at += entries.len();
        }
        stream.upload(&mut self.listed, 0..listed, self.on_device.view_mut())
    }

    /// Launches the kernels for all added pairs; `words` are those of all batches.
    #[allow(unsafe_code, reason = "launching requires valid entries, which this type makes")]
    pub(super) fn launch(
        &mut self,
        stream: &Stream,
        words: DeviceSlice<'_, u64>,
        reference: Option<(DeviceSlice<'_, u64>, usize)>,
        shape: Shape,
        pairs: usize,
    ) -> GpuResult<()> {
        let uniform = match shape {
            Shape::Uniform(lens) => Kernel::of(&self.filter, lens, false)
                .map(|kernel| (kernel, Pairs::Uniform(pairs, lens))),
            _ => None,
        };
        let mut at = 0;
        let listed = Kernel::ALL.iter().zip(&self.entries).map(|(&kernel, entries)| {
            let range = at..at + entries.len();
            at = range.end;
            (kernel, Pairs::Listed(self.on_device.slice(range)))
        });
        let some = |(_, pairs): &(Kernel, Pairs<'_>)| match pairs {
            Pairs::Listed(entries) => !entries.is_empty(),
            Pairs::Uniform(..) => true,
        };
        for (kernel, pairs) in uniform.into_iter().chain(listed).filter(some) {
            let config = self.filter.config();
            let decisions = self.decisions.view_mut();
            let bytes = self.bytes;
            let launch = Launch { kernel, config, words, pairs, reference, bytes, decisions };
            // SAFETY: `add` and `list` made the entries of pairs that `PairBatch` has checked, for batches
            // whose words the queue copied to their bases; `prepare` reserved room for the decision of each
            // pair; the queue has checked that the reference is that of the batches.
            unsafe { launch.enqueue(stream)? };
        }
        Ok(())
    }

    /// Enqueues the copy of the decisions to the host.
    pub(super) fn download(&mut self, stream: &Stream, pairs: usize) -> GpuResult<()> {
        let size = pairs * if self.bytes { 1 } else { 4 };
        stream.download(self.decisions.slice(..size), &mut self.here, 0)
    }

    /// Waits for the decisions, replaces `decisions` by them, and removes the pairs.
    pub(super) fn collect(&mut self, pairs: usize, decisions: &mut Vec<Code>) -> GpuResult<()> {
        decisions.clear();
        let here = self.here.as_slice()?;
        if self.bytes {
            let wide = |&edits: &u8| if edits == u8::MAX { REJECTED } else { edits.into() };
            decisions.extend(here[..pairs].iter().map(wide));
        } else {
            let words = here[..4 * pairs].as_chunks().0;
            decisions.extend(words.iter().map(|&word| Code::from_le_bytes(word)));
        }
        for (index, decision) in self.left.drain(..) {
            decisions[index as usize] = decision;
        }
        self.forget();
        Ok(())
    }

    /// Removes the pairs.
    pub(super) fn forget(&mut self) {
        self.entries.iter_mut().for_each(Vec::clear);
        self.left.clear();
    }

    pub(super) fn is_done(&self) -> GpuResult<bool> {
        self.here.is_idle()
    }
}
