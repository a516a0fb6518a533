//! Entries (feature, location) between the scan and the tables: grouped by section, in memory up to a limit, beyond it
//! in runs on disk.
//!
//! A [`Scatter`](merganser_store::Scatter) would copy each entry once more, from a worker's buffer to a shared block,
//! which takes 2.5 ns more of the 70 to 100 that a build spends on each entry (40 million entries, one thread). Here,
//! each worker has small blocks of its own.

mod numbering;

pub(crate) use numbering::{Numbering, Unit};

use merganser_io::SpillFile;

use crate::Error;
use crate::database::SECTIONS;
/// Entries of a block. Small, as each worker has one open block per section.
const BLOCK: usize = 128;
/// Blocks that are allocated together.
const SLAB: usize = 1024;
const NONE: u32 = u32::MAX;

/// The entries that one worker found. An entry is the lower 32 bits of a feature above 32 bits of location; its
/// section is known from its block.
pub(crate) struct Entries {
    slabs: Vec<Vec<u64>>,
    /// The preceding block of the same section, for each block.
    previous: Vec<u32>,
    /// The open block of each section and its number of entries.
    open: Vec<(u32, u32)>,
    /// The maximum number of blocks in memory.
    limit: usize,
    runs: Vec<SpilledEntries>,
}

/// Entries on disk: for each section their offset in bytes and their number.
struct SpilledEntries {
    places: Vec<(u64, usize)>,
}

/// Approximate number of entries written at a time. Limits the memory of the copy while spilling.
const WRITTEN: usize = 128 << 10;

impl Entries {
    /// Creates an empty collection that uses up to `memory` bytes.
    pub(crate) fn new(memory: u64) -> Entries {
        let mut entries = Entries {
            slabs: Vec::new(),
            previous: Vec::new(),
            open: vec![(NONE, BLOCK as u32); SECTIONS],
            limit: 0,
            runs: Vec::new(),
        };
        entries.keep_within(memory);
        entries
    }

    /// Sets the number of bytes from which on the entries count as [full](Self::is_full).
    pub(crate) fn keep_within(&mut self, memory: u64) {
        let limit = (memory / (8 * BLOCK as u64)).max(2 * SECTIONS as u64) as usize;
        self.limit = limit.min(NONE as usize - 1);
    }

    /// Adds a feature at a location.
    #[inline]
    pub(crate) fn push(&mut self, feature: u64, location: u32) {
        let section = (feature >> 32) as usize & (SECTIONS - 1);
        let (mut block, mut filled) = self.open[section];
        if filled as usize == BLOCK {
            block = self.new_block(block);
            filled = 0;
        }
        let at = (block as usize % SLAB) * BLOCK + filled as usize;
        self.slabs[block as usize / SLAB][at] = feature << 32 | u64::from(location);
        self.open[section] = (block, filled + 1);
    }

    #[cold]
    fn new_block(&mut self, before: u32) -> u32 {
        let number = self.previous.len();
        if number.is_multiple_of(SLAB) {
            self.slabs.push(vec![0; SLAB * BLOCK]);
        }
        self.previous.push(before);
        number as u32
    }

    /// Returns the bytes of memory in use.
    fn resident_bytes(&self) -> u64 {
        (8 * SLAB * BLOCK * self.slabs.len()) as u64
    }

    /// Returns the approximate bytes of all entries; open blocks count as full.
    fn bytes(&self) -> u64 {
        let on_disk =
            |run: &SpilledEntries| run.places.iter().map(|place| 8 * place.1 as u64).sum::<u64>();
        self.resident_bytes() + self.runs.iter().map(on_disk).sum::<u64>()
    }

    /// Whether the entries in memory should be [spilled](Self::spill) before more are added.
    pub(crate) fn is_full(&self) -> bool {
        self.previous.len() >= self.limit
    }

    /// Writes all entries in memory to `file`.
    ///
    /// # Errors
    /// If writing fails.
    pub(crate) fn spill(&mut self, file: &SpillFile) -> Result<(), Error> {
        let mut places: Vec<(u64, usize)> = Vec::with_capacity(SECTIONS);
        let (mut piece, mut written) = (Vec::new(), 0);
        for section in 0..SECTIONS {
            let start = piece.len();
            self.in_memory(section, &mut piece);
            places.push((8 * start as u64, piece.len() - start));
            if piece.len() >= WRITTEN || section + 1 == SECTIONS {
                let offset = file.append(bytemuck::cast_slice(&piece))?;
                places[written..].iter_mut().for_each(|place| place.0 += offset);
                written = places.len();
                piece.clear();
            }
        }
        self.runs.push(SpilledEntries { places });
        self.previous.clear();
        self.slabs.clear();
        self.open.fill((NONE, BLOCK as u32));
        Ok(())
    }

    fn in_memory(&self, section: usize, entries: &mut Vec<u64>) {
        let (mut block, mut filled) = self.open[section];
        while block != NONE {
            let start = (block as usize % SLAB) * BLOCK;
            let slab = &self.slabs[block as usize / SLAB];
            entries.extend_from_slice(&slab[start..start + filled as usize]);
            (block, filled) = (self.previous[block as usize], BLOCK as u32);
        }
    }

    /// Appends the entries of a section, in no particular order.
    ///
    /// # Errors
    /// If reading from disk fails.
    fn gather(
        &self,
        section: usize,
        file: &SpillFile,
        entries: &mut Vec<u64>,
    ) -> Result<(), Error> {
        self.in_memory(section, entries);
        for run in &self.runs {
            let (start, count) = run.places[section];
            let before = entries.len();
            entries.resize(before + count, 0);
            file.read_at(start, bytemuck::cast_slice_mut(&mut entries[before..]))?;
        }
        Ok(())
    }
}

/// All entries of a reference and the numbers of their windows.
pub(crate) struct AllEntries {
    pub(crate) workers: Vec<Entries>,
    /// The file with the entries on disk.
    pub(crate) spill: SpillFile,
    pub(crate) numbering: Numbering,
}

impl AllEntries {
    /// Appends the entries of a section with the final numbers of their windows, in no particular order. Entries of
    /// windows that are left out are dropped.
    ///
    /// # Errors
    /// If reading from disk fails.
    pub(crate) fn gather(&self, section: usize, entries: &mut Vec<u64>) -> Result<(), Error> {
        debug_assert!(section < SECTIONS);
        let before = entries.len();
        for worker in &self.workers {
            worker.gather(section, &self.spill, entries)?;
        }
        let at = |entry: u64, location: u32| entry >> 32 << 32 | u64::from(location);
        if self.numbering.has_gaps() {
            let mut kept = before;
            for place in before..entries.len() {
                let entry = entries[place];
                if let Some(location) = self.numbering.number(entry as u32) {
                    entries[kept] = at(entry, location);
                    kept += 1;
                }
            }
            entries.truncate(kept);
            return Ok(());
        }
        for entry in &mut entries[before..] {
            *entry = at(*entry, self.numbering.true_number(*entry as u32));
        }
        Ok(())
    }

    /// Returns the bytes of memory in use.
    pub(crate) fn resident_bytes(&self) -> u64 {
        self.workers.iter().map(Entries::resident_bytes).sum()
    }

    /// Returns the approximate bytes of all entries; open blocks count as full.
    pub(crate) fn bytes(&self) -> u64 {
        self.workers.iter().map(Entries::bytes).sum()
    }

    /// Returns the bytes that were written to disk.
    pub(crate) fn spilled_bytes(&self) -> u64 {
        self.spill.bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_come_back_from_memory_and_disk() {
        let folder = tempfile::tempdir().unwrap();
        let file = SpillFile::new(folder.path());
        let mut entries = Entries::new(0);
        let mut expected = vec![Vec::new(); SECTIONS];
        let mut spills = 0;
        for i in 0..3_000_000u64 {
            let feature = i.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 20;
            // Some sections have far more than others.
            let feature = if i % 3 == 0 { feature & 0xf_ffff_ffff } else { feature };
            entries.push(feature, i as u32);
            expected[(feature >> 32) as usize].push(feature << 32 | i);
            if entries.is_full() {
                entries.spill(&file).unwrap();
                spills += 1;
            }
        }
        assert!(spills > 1);
        for (section, expected) in expected.iter_mut().enumerate() {
            let mut gathered = Vec::new();
            entries.gather(section, &file, &mut gathered).unwrap();
            gathered.sort_unstable();
            expected.sort_unstable();
            assert!(gathered == *expected, "section {section}");
        }
    }
}
