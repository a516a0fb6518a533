//! Parts of a database in device memory.

use std::sync::Arc;

use merganser_gpu::{Device, DeviceBuffer, DeviceSliceMut};
use merganser_run::side_by_side;

use super::kernels::{DevicePart, SectionPlace};
use crate::Error;
use crate::database::{SECTIONS, Section};
use merganser_gpu::staging::{COPIERS, STAGING_WORDS, Staging};

/// A part of a database in device memory: slots and lists of each section as in the file.
#[derive(Clone)]
pub(super) struct DeviceTable {
    words: Arc<DeviceBuffer<u64>>,
    sections: Arc<DeviceBuffer<SectionPlace>>,
}

/// Returns the words of a section: slots and lists.
fn words<'a>(section: &Section<'a>) -> [&'a [u64]; 2] {
    [section.slots, bytemuck::cast_slice(section.lists)]
}

fn word_count(section: &Section<'_>) -> usize {
    words(section).iter().map(|words| words.len()).sum()
}

/// Returns the bytes of device memory for a part.
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
        side_by_side(jobs, |(sections, to)| Ok::<_, Error>(copy(device, sections, to)?))?;
        DeviceTable::at(&Arc::new(all), &places)
    }

    /// Returns the part whose sections are at `places` in `words`.
    pub(super) fn at(
        words: &Arc<DeviceBuffer<u64>>,
        places: &[SectionPlace],
    ) -> Result<DeviceTable, Error> {
        let device = words.device();
        let mut sections = device.alloc(SECTIONS)?;
        device.stream()?.upload_now(places, sections.view_mut())?;
        Ok(DeviceTable { words: Arc::clone(words), sections: Arc::new(sections) })
    }

    /// Returns a view for kernels.
    pub(super) fn view(&self) -> DevicePart<'_> {
        DevicePart { words: self.words.view(), sections: self.sections.view() }
    }
}

/// Copies sections one after the other through pinned staging buffers.
fn copy(
    device: &Device,
    sections: &[Section<'_>],
    to: DeviceSliceMut<'_, u64>,
) -> merganser_gpu::Result<()> {
    let stream = device.stream()?;
    let mut staging = Staging::new(device, &stream, to)?;
    for words in sections.iter().flat_map(words) {
        staging.put(bytemuck::cast_slice(words))?;
    }
    staging.flush()?;
    stream.synchronize()
}
