//! Ranges of a table that is larger than memory, in the memory of the host or of a device.

use std::ops::Range;
use std::sync::Mutex;

use merganser_run::locks::lock;
use merganser_run::{Cancel, each, format_size, may_fail, prefer_huge_pages};

use super::table::{Table, WaitingSearch};
use crate::Error;

/// Bytes that a thread reads at a time.
const PIECE: usize = 4 << 20;

/// Memory that holds ranges of a table, one after the other, and performs the searches that begin in them.
pub(super) trait RangeMemory: Sync {
    /// Room for a range.
    type Held: Send + Sync;

    /// Allocates room for ranges of at most `bytes` bytes.
    ///
    /// # Errors
    /// If there is too little memory.
    fn hold(&self, bytes: usize) -> Result<Self::Held, Error>;

    /// Reads the cells of a range with up to `threads` threads.
    ///
    /// # Errors
    /// If the file cannot be read or became shorter; if a device fails; if cancelled.
    fn load(
        &self,
        range: (&Table, Range<u64>),
        to: &mut Self::Held,
        threads: usize,
        cancel: &Cancel,
    ) -> Result<(), Error>;

    /// Performs the searches that begin in a range. Those that leave it continue in the file.
    ///
    /// # Errors
    /// If a device fails; if a cell has a value that is not a node of the taxonomy.
    fn look_up<'s>(
        &self,
        table: &Table,
        held: &Self::Held,
        searches: impl Iterator<Item = &'s mut [WaitingSearch]>,
    ) -> Result<(), Error>;
}

/// The memory of the host.
pub(super) struct HostMemory;

/// A range in the memory of the host.
pub(super) struct HostRange {
    /// The cells, and room for those of longer ranges.
    words: Vec<u64>,
    cells: Range<u64>,
    bytes: usize,
}

impl RangeMemory for HostMemory {
    type Held = HostRange;

    fn hold(&self, bytes: usize) -> Result<HostRange, Error> {
        let len = bytes.div_ceil(8);
        let mut words = Vec::new();
        if may_fail(|| words.try_reserve_exact(len)).is_err() {
            let bytes = format_size(bytes as u64);
            return Err(Error::Input(format!(
                "{bytes} cannot be allocated for a range of the table: free memory, or give less memory"
            )));
        }
        prefer_huge_pages(words.spare_capacity_mut());
        words.resize(len, 0);
        Ok(HostRange { words, cells: 0..0, bytes: 0 })
    }

    fn load(
        &self,
        (table, cells): (&Table, Range<u64>),
        to: &mut HostRange,
        threads: usize,
        cancel: &Cancel,
    ) -> Result<(), Error> {
        let from = table.bytes_of(cells.clone());
        (to.cells, to.bytes) = (cells, from.len());
        let room: &mut [u8] = bytemuck::cast_slice_mut(&mut to.words);
        let pieces = from.chunks(PIECE).zip(room.chunks_mut(PIECE));
        let pieces: Vec<_> = pieces.map(|piece| Mutex::new(Some(piece))).collect();
        each(threads, 0..pieces.len(), cancel, |numbers| {
            numbers.try_for_each(|number| {
                let piece = lock(&pieces[number]).take();
                piece.map_or(Ok(()), |(from, to)| table.read(from, &mut to[..from.len()]))
            })
        })
        .map(drop)
    }

    fn look_up<'s>(
        &self,
        table: &Table,
        held: &HostRange,
        mut searches: impl Iterator<Item = &'s mut [WaitingSearch]>,
    ) -> Result<(), Error> {
        let bytes = &bytemuck::cast_slice(&held.words)[..held.bytes];
        searches.try_for_each(|searches| table.perform_in(bytes, held.cells.start, searches))
    }
}
