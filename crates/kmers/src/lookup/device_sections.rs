//! Sections of a table in the memory of devices.

use std::ops::Range;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use merganser_gpu::{Arena, ArenaBuffer, Device, DeviceBuffer, Stream};
use merganser_run::Progress;
use merganser_run::locks::{into_inner, lock};

use super::kernels::{ENTRY_WORDS, Entries, SeekKmer};
use super::lines::{Section, line_bytes};
use super::load::{Keep, Loading};
use super::staging::Staging;
use crate::Error;

/// The size of segments of device memory, unless an eighth of the memory is less.
const SEGMENT_BYTES: u64 = 256 << 20;
/// The number of bytes that a worker sends at a time.
const STAGING_BYTES: usize = 1 << 20;

/// Neighbouring sections in the memory of one device.
pub(super) struct DeviceSections {
    bits: u32,
    first: u32,
    entries: DeviceBuffer<u64>,
    /// The memory to which the entries point.
    _parts: Vec<Parts>,
}

type Parts = (ArenaBuffer<u64>, Option<ArenaBuffer<u32>>);

impl DeviceSections {
    #[allow(unsafe_code, reason = "entries are addresses in memory that only this type knows")]
    pub(super) fn entries(&self) -> Entries<'_> {
        // SAFETY: `load` made the entries from the parts that `_parts` holds, with their lengths.
        unsafe { Entries::new(self.bits, self.first, self.entries.view()) }
    }

    /// Loads sections into the memory of each device, at most `most` bytes; returns `None` if they do not fit.
    pub(super) fn load<K: SeekKmer>(
        devices: &[Device],
        loading: &Loading<'_, '_, K>,
        bits: u32,
        range: Range<usize>,
        most: u64,
        progress: &dyn Progress,
    ) -> Result<Option<Vec<DeviceSections>>, Error> {
        let segment = SEGMENT_BYTES.min(most / 8).max(1 << 16) as usize;
        let arenas: Vec<Arena> =
            devices.iter().map(|device| Arena::new(device, segment, most)).collect();
        let full = AtomicBool::new(false);
        let loaded = devices.iter().map(|_| Mutex::new(Vec::new())).collect::<Vec<_>>();
        let make = || Sending::<K>::new(devices, &arenas, &loaded, &full, range.start);
        let sent = loading.each(bits, range.clone(), make, progress)?;
        for sending in &sent {
            sending.streams.iter().try_for_each(Stream::synchronize)?;
        }
        drop(sent);
        if full.load(Ordering::Relaxed) {
            return Ok(None);
        }
        let sections = devices.iter().zip(loaded).map(|(device, loaded)| {
            let loaded = into_inner(loaded);
            let mut words = vec![0; ENTRY_WORDS * range.len()];
            let mut parts = Vec::new();
            for (number, entry, part) in loaded {
                words[ENTRY_WORDS * number..][..ENTRY_WORDS].copy_from_slice(&entry);
                parts.push(part);
            }
            let mut entries = device.alloc(words.len())?;
            device.stream()?.upload_now(&words, entries.view_mut())?;
            Ok(DeviceSections { bits, first: range.start as u32, entries, _parts: parts })
        });
        sections.collect::<Result<_, Error>>().map(Some)
    }
}

/// A section on a device: its index among the loaded sections, its entry, and its memory.
type OnDevice = (usize, [u64; ENTRY_WORDS], Parts);

/// The working space of a worker that sends sections to devices.
struct Sending<'s, K> {
    streams: Vec<Stream>,
    /// The buffers of each device.
    staging: Vec<Staging>,
    arenas: &'s [Arena],
    loaded: &'s [Mutex<Vec<OnDevice>>],
    full: &'s AtomicBool,
    first: usize,
    width: std::marker::PhantomData<fn(K)>,
}

impl<'s, K: SeekKmer> Sending<'s, K> {
    fn new(
        devices: &[Device],
        arenas: &'s [Arena],
        loaded: &'s [Mutex<Vec<OnDevice>>],
        full: &'s AtomicBool,
        first: usize,
    ) -> Result<Sending<'s, K>, Error> {
        let (mut streams, mut staging) = (Vec::new(), Vec::new());
        for device in devices {
            streams.push(device.stream()?);
            staging.push(Staging::new(device, STAGING_BYTES)?);
        }
        let width = std::marker::PhantomData;
        Ok(Sending { streams, staging, arenas, loaded, full, first, width })
    }

    /// Sends a section to one device; returns false if it does not fit.
    fn send(&mut self, device: usize, number: usize, section: &Section<K>) -> Result<bool, Error> {
        let arena = &self.arenas[device];
        let line_words = line_bytes::<K>() / 8;
        let Some(mut lines) = arena.cut::<u64>(section.lines() * line_words)? else {
            return Ok(false);
        };
        let stream = &self.streams[device];
        self.staging[device].upload(stream, section, lines.view_mut())?;
        let mut entry = [lines.view().as_ptr() as u64, section.lines() as u64, 0, 0];
        let (starts, counts) = section.large_counts();
        let large = if counts.is_empty() {
            None
        } else {
            let Some(mut large) = arena.cut::<u32>(starts.len() + counts.len())? else {
                return Ok(false);
            };
            stream.upload_now(starts, large.view_mut())?;
            stream.upload_now(counts, large.view_mut().slice_mut(starts.len()..))?;
            entry[2] = large.view().as_ptr() as u64;
            entry[3] = large.view().slice(starts.len()..).as_ptr() as u64;
            Some(large)
        };
        let mut loaded = lock(&self.loaded[device]);
        loaded.push((number - self.first, entry, (lines, large)));
        Ok(true)
    }
}

impl<K: SeekKmer> Keep<K> for Sending<'_, K> {
    fn keep(&mut self, number: usize, section: Section<K>) -> Result<bool, Error> {
        for device in 0..self.streams.len() {
            if !self.send(device, number, &section)? {
                self.full.store(true, Ordering::Relaxed);
            }
            if self.full.load(Ordering::Relaxed) {
                return Ok(false);
            }
        }
        Ok(true)
    }
}
