//! Sections of the range of numbers, by their highest bits. All threads build, write and read sets concurrently,
//! section by section.

use std::ops::Range;
use std::sync::Mutex;

use merganser_run::locks::{into_inner, lock};
use merganser_run::{Cancel, Cancelled, StartError, each};

use crate::{MinimizerSet, Params};

/// The number of sections.
pub(crate) const SECTIONS: usize = 1 << BITS;
/// The number of bits that select a section.
pub(crate) const BITS: u32 = 8;

impl Params {
    /// Returns the section of a number.
    #[inline(always)]
    pub(crate) fn section(self, spread: u64) -> usize {
        (spread << self.unused_bits() >> (u64::BITS - BITS)) as usize
    }

    /// Returns the smallest possible number of a section.
    pub(crate) fn least_of(self, section: usize) -> u64 {
        (section as u64) << (u64::BITS - BITS) >> self.unused_bits()
    }
}

/// Makes a value for each section.
pub(crate) fn each_section<T>(make: impl FnMut(usize) -> T) -> Vec<T> {
    (0..SECTIONS).map(make).collect()
}

/// Runs `work` once for each section on `threads` threads.
pub(crate) fn share_out<E: Send + From<StartError> + From<Cancelled>>(
    threads: usize,
    sections: Range<usize>,
    work: impl Fn(usize) -> Result<(), E> + Sync,
) -> Result<(), E> {
    each(threads, sections, &Cancel::default(), |own| own.try_for_each(&work)).map(drop)
}

/// Sorts the numbers of each section, removes duplicates, and concatenates the sections into a set.
pub(crate) fn sorted<E: Send + From<StartError> + From<Cancelled>>(
    params: Params,
    sections: Vec<Mutex<Vec<u64>>>,
    threads: usize,
) -> Result<MinimizerSet, E> {
    share_out(threads, 0..SECTIONS, |section| {
        let mut numbers = lock(&sections[section]);
        numbers.sort_unstable();
        numbers.dedup();
        Ok::<(), E>(())
    })?;
    let sections: Vec<Vec<u64>> = sections.into_iter().map(into_inner).collect();
    // Pages are allocated when they are written, while those of earlier sections are freed.
    let mut spread = vec![0; sections.iter().map(Vec::len).sum()];
    let mut rest = &mut spread[..];
    let parts = sections.into_iter().map(|numbers| {
        let (part, behind) = std::mem::take(&mut rest).split_at_mut(numbers.len());
        rest = behind;
        Mutex::new((numbers, part))
    });
    let parts: Vec<_> = parts.collect();
    share_out(threads, 0..SECTIONS, |section| {
        let (numbers, part) = &mut *lock(&parts[section]);
        part.copy_from_slice(&std::mem::take(numbers));
        Ok::<(), E>(())
    })?;
    drop(parts);
    Ok(MinimizerSet::of_sorted(params, spread))
}
