//! Panels in the memory of a device, which counts their k-mers in packed letters.
#![allow(
    unsafe_code,
    reason = "a foreign function, and addresses in memory that only this type knows"
)]

use std::marker::PhantomData;

use merganser_gpu::{Device, DeviceBuffer, DeviceSlice, Stream};
use merganser_seq::kmer::Kmer;

use super::kernels::{ENTRY_WORDS, PanelArguments, merganser_kmers_add_to_panel};
use super::lines::{SLOTS, line_bytes};
use super::panel::Panel;
use super::staging::Staging;
use crate::Error;

/// The number of bytes that are copied to or from a device at a time.
const STAGING_BYTES: usize = 8 << 20;

/// The k-mers of a panel on a device, each with a counter of its own.
#[derive(Debug)]
pub struct DevicePanel<K> {
    device: Device,
    k: usize,
    canonical: bool,
    bits: u32,
    /// The address of each section's lines, their number, and the address of their counters.
    entries: DeviceBuffer<u64>,
    counters: DeviceBuffer<u32>,
    /// The number of k-mers of all letters.
    kmers: DeviceBuffer<u64>,
    /// The address of `kmers`, to which all streams add atomically, as they do to the counters.
    total: Address,
    /// The lines to which the entries point.
    _lines: DeviceBuffer<u64>,
    width: PhantomData<fn(K)>,
}

/// An address in device memory.
#[derive(Clone, Copy, Debug)]
struct Address(*mut u64);

// SAFETY: an address is a number on the host.
unsafe impl Send for Address {}
// SAFETY: as above.
unsafe impl Sync for Address {}

impl<K: Kmer> DevicePanel<K> {
    /// Returns the device memory that a panel takes, in bytes.
    pub fn bytes(panel: &Panel<K>) -> u64 {
        let (lines, sections) = (lines(panel) as u64, panel.sections() as u64);
        lines * (line_bytes::<K>() + 4 * SLOTS) as u64 + sections * 8 * ENTRY_WORDS as u64
    }

    /// Copies a panel to a device, with counters of 0. `canonical` says whether k-mers and their reverse complements are
    /// the same.
    ///
    /// # Errors
    /// If the device fails or has too little memory.
    ///
    /// # Panics
    /// If `K` has fewer than 8 bytes: devices have no such k-mers; or if the sections are not those of [`Panel::load`].
    pub fn new(
        panel: &Panel<K>,
        device: &Device,
        canonical: bool,
    ) -> Result<DevicePanel<K>, Error> {
        assert!(size_of::<K>() >= 8);
        let bits = panel.bits.expect("sections are chosen by first bits");
        let line_words = line_bytes::<K>() / 8;
        let stream = device.stream()?;
        let mut room = device.alloc(lines(panel) * line_words)?;
        let mut counters = device.alloc(lines(panel) * SLOTS)?;
        stream.fill(counters.view_mut(), 0)?;
        let mut staging = Staging::new(device, STAGING_BYTES)?;
        let (mut entries, mut first) = (Vec::new(), 0);
        for number in 0..panel.sections() {
            let section = &panel.section(number).lines;
            let own = first * line_words..(first + section.lines()) * line_words;
            staging.upload(&stream, section, room.slice_mut(own))?;
            let lines = room.slice(first * line_words..).as_ptr() as u64;
            let counters = counters.slice(first * SLOTS..).as_ptr() as u64;
            entries.extend([lines, section.lines() as u64, counters, 0]);
            first += section.lines();
        }
        let (mut on_device, mut kmers) = (device.alloc(entries.len())?, device.alloc(1)?);
        stream.upload_now(&entries, on_device.view_mut())?;
        stream.fill(kmers.view_mut(), 0)?;
        stream.synchronize()?;
        Ok(DevicePanel {
            device: device.clone(),
            k: panel.k,
            canonical,
            bits,
            entries: on_device,
            total: Address(kmers.view_mut().as_mut_ptr()),
            counters,
            kmers,
            _lines: room,
            width: PhantomData,
        })
    }

    /// Returns the device.
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// Counts the k-mers of `letters` packed letters: 32 bases a word, the first in the top bits; and cuts, 64 a word, the
    /// first in the lowest bit, which are set where no k-mer may contain both a letter and the one before. Any number of
    /// streams may do so at the same time.
    ///
    /// # Errors
    /// If the device fails.
    ///
    /// # Panics
    /// If there are fewer words than the letters take, or 2^31 letters or more.
    pub fn add(
        &self,
        stream: &Stream,
        bases: DeviceSlice<'_, u64>,
        cuts: DeviceSlice<'_, u64>,
        letters: usize,
    ) -> Result<(), Error> {
        assert!(letters <= i32::MAX as usize);
        assert!(bases.len() >= letters.div_ceil(32) && cuts.len() >= letters.div_ceil(64));
        let arguments = PanelArguments {
            bases: bases.as_ptr(),
            cuts: cuts.as_ptr(),
            letter_count: letters as u64,
            k: self.k as i32,
            canonical: self.canonical,
            bits: self.bits as i32,
            sections: self.entries.view().as_ptr(),
            kmers: self.total.0,
        };
        stream.launch("counting the k-mers of a panel", |raw| {
            // SAFETY: the kernel reads as many letters and cuts as the arguments say, and lines and entries, which live as
            // long as `self`; it changes counters and the number of k-mers by atomic additions only, and nothing
            // else reads or writes these before `finish`.
            unsafe { merganser_kmers_add_to_panel(size_of::<K>() as u32, &arguments, raw) }
        })?;
        Ok(())
    }

    /// Adds the counters to those of the panel; returns the number of k-mers of all letters, whether the panel has them or
    /// not.
    ///
    /// # Errors
    /// If the device fails.
    pub fn finish(self, panel: &Panel<K>) -> Result<u64, Error> {
        self.device.synchronize()?;
        let stream = self.device.stream()?;
        let mut first = 0;
        for number in 0..panel.sections() {
            let mut section = panel.section(number);
            let slots = section.lines.slots();
            for from in (0..slots).step_by(STAGING_BYTES / 4) {
                let at = first + from..first + slots.min(from + STAGING_BYTES / 4);
                section.add_counts(from, &stream.download_vec(self.counters.slice(at))?);
            }
            first += slots;
        }
        Ok(stream.download_vec(self.kmers.view())?[0])
    }
}

/// Returns the number of lines of all sections.
fn lines<K: Kmer>(panel: &Panel<K>) -> usize {
    (0..panel.sections()).map(|number| panel.section(number).lines.lines()).sum()
}
