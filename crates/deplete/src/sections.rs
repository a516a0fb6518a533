//! Sections of the range of numbers, by their highest bits. All threads build, write and read sets concurrently,
//! section by section.

use std::ops::Range;
use std::sync::Mutex;

use merganser_run::locks::{into_inner, lock};
use merganser_run::{Cancel, Cancelled, StartError, each};

use crate::Params;
use crate::word::Word;

/// The number of sections.
pub(crate) const SECTIONS: usize = 1 << BITS;
/// The number of bits that select a section.
pub(crate) const BITS: u32 = 8;

impl Params {
    /// Returns the section of a number.
    #[inline(always)]
    pub(crate) fn section<W: Word>(self, spread: W) -> usize {
        (spread << self.unused_bits::<W>() >> (W::BITS - BITS)).low() as usize
    }

    /// Returns the smallest possible number of a section.
    pub(crate) fn least_of<W: Word>(self, section: usize) -> W {
        W::from(section as u64) << (W::BITS - BITS) >> self.unused_bits::<W>()
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

/// Sorts the numbers of each section, removes duplicates, and concatenates the sections.
pub(crate) fn sorted<W: Word, E: Send + From<StartError> + From<Cancelled>>(
    sections: Vec<Mutex<Vec<W>>>,
    threads: usize,
) -> Result<Vec<W>, E> {
    share_out(threads, 0..SECTIONS, |section| {
        let mut numbers = lock(&sections[section]);
        numbers.sort_unstable();
        numbers.dedup();
        Ok::<(), E>(())
    })?;
    let sections: Vec<Vec<W>> = sections.into_iter().map(into_inner).collect();
    // Pages are allocated when they are written, while those of earlier sections are freed.
    let mut spread = vec![W::default(); sections.iter().map(Vec::len).sum()];
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
    Ok(spread)
}
