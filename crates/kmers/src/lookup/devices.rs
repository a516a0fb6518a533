//! Look-ups on GPUs. The table is in the memory of each GPU as a whole if it fits; otherwise ranges of it are
//! loaded one after the other for each batch of letters.

use std::ops::Range;

use merganser_gpu::{BufferPool, Device, DeviceBuffer, PinnedBuffer, Stream};
use merganser_run::{Cancel, Context, GpuShortage, Progress, RoundRobin, Silent, side_by_side};

use super::device_sections::DeviceSections;
use super::kernels::SeekKmer;
use super::lines::line_bytes;
use super::load::Loading;
use super::ranged::{LETTER_BYTES, plan};
use super::sliding::Sliding;
use super::{Lookup, LookupOptions};
use crate::Error;
use crate::algebra::{Cut, Session};
use crate::formats::mgk::section_bits;
use crate::tables::AnyTable;

/// The number of letters that a thread sends at a time.
const LETTERS: usize = 1 << 20;
/// The number of workspaces of a device: some are copied while others are processed.
const WORKSPACES: usize = 4;
/// The part of the device memory that is left free, in bytes.
const SPARE_BYTES: u64 = 16 << 20;
/// The minimum device memory for look-ups, in bytes.
const MIN_BYTES: u64 = 32 << 20;
/// The device memory that a letter and its count take, in bytes.
const DEVICE_LETTER_BYTES: u64 = 5;

/// Opens the devices of a run; returns them with the number of bytes that each can use.
pub(super) fn open(options: &LookupOptions<'_>, gpus: &[u32]) -> Result<(Vec<Device>, u64), Error> {
    let devices = Device::open_all(gpus)?;
    let mut least = u64::MAX;
    for device in &devices {
        let available = device.available_within(options.context.gpu_memory)?;
        if available < MIN_BYTES {
            let (ordinal, what, needed) = (device.ordinal(), "k-mers", MIN_BYTES);
            return Err(GpuShortage { ordinal, what, available, needed, remedy: "" }.into());
        }
        least = least.min(available);
    }
    Ok((devices, least - SPARE_BYTES.min(least / 4)))
}

/// Prepares an `.mgk` table.
pub(super) fn lookup<K: SeekKmer>(
    table: AnyTable,
    options: &LookupOptions<'_>,
    gpus: &[u32],
    most: u64,
    progress: &dyn Progress,
    cancel: &Cancel,
) -> Result<Box<dyn Lookup>, Error> {
    let (devices, bytes) = open(options, gpus)?;
    let workspaces = (WORKSPACES * LETTERS) as u64 * DEVICE_LETTER_BYTES;
    let whole = bytes.saturating_sub(workspaces);
    let sections = {
        let session = Session::new(std::slice::from_ref(&table), 1, options.context)?;
        let ranges = session.ranges::<K>(progress, cancel)?;
        let loading = Loading {
            session: &session,
            ranges: &ranges,
            cut: options.cut,
            without_counts: false,
            cancel,
        };
        // With a cut, the size is known only after loading.
        match options.cut == Cut::NONE && loading.bytes() > whole {
            true => None,
            false => {
                let bits = section_bits(ranges[0].kmers(), session.k);
                DeviceSections::load(&devices, &loading, bits, 0..1 << bits, whole, progress)?
            }
        }
    };
    if let Some(sections) = sections {
        return Ok(Box::new(OnDevices::<K>::new(&table, devices, sections, cancel)));
    }
    let ranged = RangedOnDevices::<K>::new(table, devices, bytes, most, options, cancel)?;
    progress.note(&ranged.describe());
    Ok(Box::new(ranged))
}

/// A stream with buffers for a number of letters.
struct Workspace {
    /// The index of the device among those of the run.
    device: usize,
    stream: Stream,
    letters: PinnedBuffer<u8>,
    counts: PinnedBuffer<u32>,
    on_device: (DeviceBuffer<u8>, DeviceBuffer<u32>),
}

impl Workspace {
    fn new(devices: &[Device], device: usize) -> merganser_gpu::Result<Workspace> {
        let own = &devices[device];
        let letters = LETTERS + merganser_seq::kmer::MAX_K;
        Ok(Workspace {
            device,
            stream: own.stream()?,
            letters: own.alloc_pinned(letters)?,
            counts: own.alloc_pinned(LETTERS)?,
            on_device: (own.alloc(letters)?, own.alloc(LETTERS)?),
        })
    }

    fn look_up<K: SeekKmer>(
        &mut self,
        sections: &DeviceSections,
        sliding: Sliding,
        letters: &[u8],
        counts: &mut [u32],
    ) -> merganser_gpu::Result<()> {
        let (of_letters, of_counts) = &mut self.on_device;
        self.letters.as_mut_slice()?[..letters.len()].copy_from_slice(letters);
        self.stream.upload(&mut self.letters, 0..letters.len(), of_letters.view_mut())?;
        self.stream.fill(of_counts.slice_mut(..counts.len()), 0)?;
        let (from, to) = (of_letters.slice(..letters.len()), of_counts.slice_mut(..counts.len()));
        K::seek(&self.stream, sections.entries(), sliding, from, to)?;
        self.stream.download(of_counts.slice(..counts.len()), &mut self.counts, 0)?;
        counts.copy_from_slice(&self.counts.as_slice()?[..counts.len()]);
        Ok(())
    }
}

/// Returns the range of letters that the k-mers at these positions cover.
fn letters_of(sliding: Sliding, places: &Range<usize>, letters: usize) -> Range<usize> {
    let start = places.start * sliding.stride;
    let end = places.end.saturating_sub(1) * sliding.stride + sliding.k;
    start..end.clamp(start, letters.max(start))
}

/// A table that is on each device as a whole.
struct OnDevices<K> {
    k: usize,
    canonical: bool,
    sections: Vec<DeviceSections>,
    workspaces: BufferPool<Workspace>,
    cancel: Cancel,
    width: std::marker::PhantomData<fn(K)>,
}

impl<K: SeekKmer> OnDevices<K> {
    fn new(
        table: &AnyTable,
        devices: Vec<Device>,
        sections: Vec<DeviceSections>,
        cancel: &Cancel,
    ) -> OnDevices<K> {
        let (k, canonical) = (table.description().k, table.description().canonical);
        let turns = RoundRobin::default();
        let workspaces = BufferPool::new(WORKSPACES * devices.len(), move || {
            Workspace::new(&devices, turns.next(devices.len()))
        });
        let (cancel, width) = (cancel.clone(), std::marker::PhantomData);
        OnDevices { k, canonical, sections, workspaces, cancel, width }
    }
}

impl<K: SeekKmer> Lookup for OnDevices<K> {
    fn k(&self) -> usize {
        self.k
    }

    fn letters_at_once(&self) -> usize {
        LETTERS
    }

    fn resident_bytes(&self) -> Option<u64> {
        Some(0)
    }

    fn takes_all_threads(&self) -> bool {
        false
    }

    fn counts(&self, letters: &[u8], stride: usize, counts: &mut Vec<u32>) -> Result<(), Error> {
        let sliding = Sliding { k: self.k, canonical: self.canonical, stride };
        sliding.begin(letters, counts);
        let at_once = (LETTERS / stride).max(1);
        for (number, counts) in counts.chunks_mut(at_once).enumerate() {
            self.cancel.check()?;
            let places = number * at_once..number * at_once + counts.len();
            let letters = &letters[letters_of(sliding, &places, letters.len())];
            let mut workspace = self.workspaces.take()?;
            let sections = &self.sections[workspace.device];
            workspace.look_up::<K>(sections, sliding, letters, counts)?;
        }
        Ok(())
    }
}

/// A table of which the devices have one range at a time.
struct RangedOnDevices<K> {
    table: AnyTable,
    cut: Cut,
    context: Context,
    cancel: Cancel,
    devices: Vec<Device>,
    bits: u32,
    groups: Vec<Range<usize>>,
    /// The memory of each device for a range, in bytes.
    sections_bytes: u64,
    letters: usize,
    width: std::marker::PhantomData<fn(K)>,
}

impl<K: SeekKmer> RangedOnDevices<K> {
    /// Plans ranges and batches: half of a device's memory is for a range, half for letters. `most` is the host
    /// memory for letters, in bytes.
    fn new(
        table: AnyTable,
        devices: Vec<Device>,
        bytes: u64,
        most: u64,
        options: &LookupOptions<'_>,
        cancel: &Cancel,
    ) -> Result<RangedOnDevices<K>, Error> {
        let sections_bytes = bytes / 2;
        // A quarter is left for entries, segments that are not full, and large counts.
        let (bits, groups) = plan::<K>(&table, sections_bytes / 4 * 3, options, cancel)?;
        let on_devices = bytes / 2 / DEVICE_LETTER_BYTES * devices.len() as u64;
        let letters = on_devices.min(most / LETTER_BYTES).max(line_bytes::<K>() as u64) as usize;
        Ok(RangedOnDevices {
            cut: options.cut,
            context: options.context.clone(),
            cancel: cancel.clone(),
            devices,
            bits,
            groups,
            sections_bytes,
            letters,
            width: std::marker::PhantomData,
            table,
        })
    }

    fn describe(&self) -> String {
        format!(
            "{}: does not fit into the memory of the GPU, and is read in {} ranges for every {} of \
             sequence",
            self.table.path().display(),
            self.groups.len(),
            merganser_run::format_size(self.letters as u64)
        )
    }

    /// Loads each range in turn, and passes it to `with`.
    fn each_range(
        &self,
        mut with: impl FnMut(Vec<DeviceSections>) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let session = Session::new(std::slice::from_ref(&self.table), 1, &self.context)?;
        let ranges = session.ranges::<K>(&Silent, &self.cancel)?;
        let (cut, cancel) = (self.cut, &self.cancel);
        let loading =
            Loading { session: &session, ranges: &ranges, cut, without_counts: false, cancel };
        for group in &self.groups {
            let (bits, most) = (self.bits, self.sections_bytes);
            let sections =
                DeviceSections::load(&self.devices, &loading, bits, group.clone(), most, &Silent)?;
            let Some(sections) = sections else {
                let (ordinal, what) = (self.devices[0].ordinal(), "k-mers");
                let (available, needed) = (self.sections_bytes, 2 * self.sections_bytes);
                return Err(GpuShortage { ordinal, what, available, needed, remedy: "" }.into());
            };
            with(sections)?;
        }
        Ok(())
    }
}

/// The part of a batch that one device processes.
struct Share<'s> {
    stream: Stream,
    letters: DeviceBuffer<u8>,
    on_device: DeviceBuffer<u32>,
    counts: &'s mut [u32],
}

impl<'s> Share<'s> {
    fn new(
        device: &Device,
        letters: &[u8],
        counts: &'s mut [u32],
    ) -> merganser_gpu::Result<Share<'s>> {
        let stream = device.stream()?;
        let (mut on_device, mut room) = (device.alloc(counts.len())?, device.alloc(letters.len())?);
        stream.fill(on_device.view_mut(), 0)?;
        let mut staging = [device.alloc_pinned(LETTERS)?, device.alloc_pinned(LETTERS)?];
        for (number, letters) in letters.chunks(LETTERS).enumerate() {
            let staging = &mut staging[number % 2];
            staging.as_mut_slice()?[..letters.len()].copy_from_slice(letters);
            let at = number * LETTERS;
            stream.upload(staging, 0..letters.len(), room.slice_mut(at..at + letters.len()))?;
        }
        Ok(Share { stream, letters: room, on_device, counts })
    }

    fn download(&mut self, device: &Device) -> merganser_gpu::Result<()> {
        let mut staging = [device.alloc_pinned::<u32>(LETTERS)?, device.alloc_pinned(LETTERS)?];
        let parts = self.counts.len().div_ceil(LETTERS);
        let part =
            |number: usize| number * LETTERS..((number + 1) * LETTERS).min(self.on_device.len());
        for number in 0..=parts {
            if number < parts {
                let from = self.on_device.slice(part(number));
                self.stream.download(from, &mut staging[number % 2], 0)?;
            }
            if let Some(before) = number.checked_sub(1) {
                let counts = &mut self.counts[part(before)];
                counts.copy_from_slice(&staging[before % 2].as_slice()?[..counts.len()]);
            }
        }
        Ok(())
    }
}

impl<K: SeekKmer> Lookup for RangedOnDevices<K> {
    fn k(&self) -> usize {
        self.table.description().k
    }

    fn letters_at_once(&self) -> usize {
        self.letters
    }

    fn takes_all_threads(&self) -> bool {
        true
    }

    fn counts(&self, letters: &[u8], stride: usize, counts: &mut Vec<u32>) -> Result<(), Error> {
        let sliding = Sliding::of(self.table.description(), stride);
        sliding.begin(letters, counts);
        let share = counts.len().div_ceil(self.devices.len()).max(1);
        let mut shares = Vec::new();
        for (number, (counts, device)) in counts.chunks_mut(share).zip(&self.devices).enumerate() {
            let places = number * share..number * share + counts.len();
            let letters = &letters[letters_of(sliding, &places, letters.len())];
            shares.push(Share::new(device, letters, counts)?);
        }
        self.each_range(|sections| {
            for (share, sections) in shares.iter_mut().zip(&sections) {
                let (letters, counts) = (share.letters.view(), share.on_device.view_mut());
                K::seek(&share.stream, sections.entries(), sliding, letters, counts)?;
            }
            shares.iter().try_for_each(|share| share.stream.synchronize())?;
            Ok(())
        })?;
        let shares = shares.into_iter().zip(&self.devices);
        side_by_side(shares, |(mut share, device)| Ok(share.download(device)?)).map(drop)
    }
}
