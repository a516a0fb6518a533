//! Parts of a database in device memory.

use std::sync::Arc;

use merganser_gpu::{Device, DeviceBuffer, DeviceSliceMut, PinnedBuffer, Stream};
use merganser_run::start_scoped;

use super::kernels::{DevicePart, SectionPlace};
use crate::Error;
use crate::database::{SECTIONS, Section};

/// Words of a buffer between the file and the device: 4 MiB.
const STAGING_WORDS: usize = 1 << 19;
/// Threads that copy: memory needs several to give all it can.
const COPIERS: usize = 8;

/// A part of a database in device memory: slots and lists of each section as they lie in the file.
#[derive(Clone)]
pub(super) struct DeviceTable {
    words: Arc<DeviceBuffer<u64>>,
    sections: Arc<DeviceBuffer<SectionPlace>>,
}

/// A section's words.
fn words<'a>(section: &Section<'a>) -> [&'a [u64]; 2] {
    [section.slots, bytemuck::cast_slice(section.lists)]
}

fn word_count(section: &Section<'_>) -> usize {
    words(section).iter().map(|words| words.len()).sum()
}

/// Bytes of device memory for a part.
pub(super) fn table_bytes(sections: &[Section<'_>]) -> u64 {
    let words: usize = sections.iter().map(word_count).sum();
    (8 * words.max(1) + SECTIONS * size_of::<SectionPlace>()) as u64
}

impl DeviceTable {
    /// Copies a part to a device.
    pub(super) fn upload(
        device: &Device,
        sections: &[Section<'_>],
        threads: usize,
    ) -> Result<DeviceTable, Error> {
        let mut places = Vec::with_capacity(SECTIONS);
        let mut at = 0u64;
        for section in sections {
            let [slots, lists] = words(section).map(|words| words.len() as u64);
            let counts = slots | u64::from(section.ideal) << 32;
            places.push([at, at + slots, 2 * lists, counts]);
            at += slots + lists;
        }
        let mut all = device.alloc((at as usize).max(1))?;
        let copiers = threads.clamp(1, COPIERS).min(1 + at as usize / STAGING_WORDS);
        let share = (at as usize).div_ceil(copiers);
        let mut rest = Some(all.view_mut());
        let mut jobs = Vec::new();
        let (mut first, mut size) = (0, 0);
        for (number, section) in sections.iter().enumerate() {
            size += word_count(section);
            if size >= share || number + 1 == sections.len() {
                let Some(all) = rest.take() else { break };
                let (own, others) = all.split_at_mut(size);
                jobs.push((&sections[first..=number], own));
                rest = Some(others);
                (first, size) = (number + 1, 0);
            }
        }
        std::thread::scope(|scope| {
            let start = |(sections, to)| start_scoped(scope, move || copy(device, sections, to));
            let copying = jobs.into_iter().map(start).collect::<Result<Vec<_>, _>>()?;
            let copied: merganser_gpu::Result<Vec<()>> = copying
                .into_iter()
                .map(|one| one.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
                .collect();
            Ok::<_, Error>(copied?)
        })?;
        DeviceTable::at(&Arc::new(all), &places)
    }

    /// The part whose sections lie at `places` among `words`.
    pub(super) fn at(
        words: &Arc<DeviceBuffer<u64>>,
        places: &[SectionPlace],
    ) -> Result<DeviceTable, Error> {
        let device = words.device();
        let mut sections = device.alloc(SECTIONS)?;
        device.stream()?.upload_now(places, sections.view_mut())?;
        Ok(DeviceTable { words: Arc::clone(words), sections: Arc::new(sections) })
    }

    /// As kernels see it.
    pub(super) fn view(&self) -> DevicePart<'_> {
        DevicePart { words: self.words.view(), sections: self.sections.view() }
    }
}

/// Copies sections one after the other through two buffers of pinned memory.
fn copy(
    device: &Device,
    sections: &[Section<'_>],
    to: DeviceSliceMut<'_, u64>,
) -> merganser_gpu::Result<()> {
    let stream = device.stream()?;
    let mut staging = Staging {
        buffers: [device.alloc_pinned(STAGING_WORDS)?, device.alloc_pinned(STAGING_WORDS)?],
        filled: 0,
        rest: Some(to),
        stream: &stream,
    };
    for words in sections.iter().flat_map(words) {
        staging.put(words)?;
    }
    staging.flush()?;
    stream.synchronize()
}

struct Staging<'s> {
    /// The first one is being filled.
    buffers: [PinnedBuffer<u64>; 2],
    filled: usize,
    rest: Option<DeviceSliceMut<'s, u64>>,
    stream: &'s Stream,
}

impl Staging<'_> {
    fn put(&mut self, mut words: &[u64]) -> merganser_gpu::Result<()> {
        while !words.is_empty() {
            let count = words.len().min(STAGING_WORDS - self.filled);
            let (now, later) = words.split_at(count);
            let room = &mut self.buffers[0].as_mut_slice()?[self.filled..];
            room[..count].copy_from_slice(now);
            self.filled += count;
            words = later;
            if self.filled == STAGING_WORDS {
                self.flush()?;
            }
        }
        Ok(())
    }

    fn flush(&mut self) -> merganser_gpu::Result<()> {
        let Some(rest) = self.rest.take() else { return Ok(()) };
        let (to, rest) = rest.split_at_mut(self.filled);
        self.stream.upload(&mut self.buffers[0], 0..self.filled, to)?;
        self.rest = Some(rest);
        self.filled = 0;
        self.buffers.swap(0, 1);
        Ok(())
    }
}
