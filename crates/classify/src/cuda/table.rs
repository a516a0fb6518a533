//! Parts of a database in device memory.

use std::sync::Arc;

use merganser_gpu::DeviceBuffer;

use super::kernels::{DevicePart, SectionPlace};
use crate::Error;
use crate::database::{SECTIONS, Section};

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

/// Returns the number of words of a part.
pub(super) fn word_count(sections: &[Section<'_>]) -> usize {
    sections.iter().flat_map(words).map(<[u64]>::len).sum()
}

/// Returns the bytes of device memory for a part.
pub(super) fn table_bytes(sections: &[Section<'_>]) -> u64 {
    (8 * word_count(sections).max(1) + SECTIONS * size_of::<SectionPlace>()) as u64
}

/// Returns the words of a part as bytes, in the order in which devices have them.
pub(super) fn contents<'a>(sections: &[Section<'a>]) -> impl Iterator<Item = &'a [u8]> {
    sections.iter().flat_map(words).map(bytemuck::cast_slice)
}

/// Returns the places of the sections of a part in its words.
pub(super) fn places(sections: &[Section<'_>]) -> Vec<SectionPlace> {
    let mut at = 0u64;
    let place = |section: &Section<'_>| {
        let [slots, lists] = words(section).map(|words| words.len() as u64);
        let counts = slots | u64::from(section.ideal) << 32;
        let place = [at, at + slots, 2 * lists, counts];
        at += slots + lists;
        place
    };
    sections.iter().map(place).collect()
}

impl DeviceTable {
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
