//! The kernels of look-ups as safe functions.
#![allow(unsafe_code, reason = "foreign functions")]

use merganser_gpu::{DeviceSlice, DeviceSliceMut, RawStream, Result, Stream};
use merganser_seq::kmer::{Kmer, Wide};

use super::along::Taking;

merganser_gpu::foreign! {
    fn merganser_count_seek_u64(
        letters: *const u8, letter_count: u64, stride: u64, places: u64, k: i32, canonical: bool,
        bits: i32, first: u32, section_count: u32, sections: *const u64, counts: *mut u32,
        stream: RawStream,
    );
    fn merganser_count_seek_u128(
        letters: *const u8, letter_count: u64, stride: u64, places: u64, k: i32, canonical: bool,
        bits: i32, first: u32, section_count: u32, sections: *const u64, counts: *mut u32,
        stream: RawStream,
    );
    fn merganser_count_seek_u256(
        letters: *const u8, letter_count: u64, stride: u64, places: u64, k: i32, canonical: bool,
        bits: i32, first: u32, section_count: u32, sections: *const u64, counts: *mut u32,
        stream: RawStream,
    );
}

/// Words of a section's entry: the address of its lines, their number, the addresses of the numbers
/// of large counts before each line and of the large counts.
pub(super) const ENTRY_WORDS: usize = 4;

/// Neighbouring sections in device memory.
#[derive(Clone, Copy)]
pub(super) struct Entries<'e> {
    /// First bits of a k-mer that choose its section.
    pub(super) bits: u32,
    /// The number of the first section.
    pub(super) first: u32,
    /// [`ENTRY_WORDS`] for each. What their addresses lead to lives as long as this, and has as many
    /// items as the entries and codes say.
    pub(super) entries: DeviceSlice<'e, u64>,
}

/// A k-mer that devices look up.
pub(crate) trait SeekKmer: Kmer {
    /// Puts the counts of k-mers along `letters` that are in these sections at their places in
    /// `counts`; what is there for others stays.
    fn seek(
        stream: &Stream,
        entries: Entries<'_>,
        taking: Taking,
        letters: DeviceSlice<'_, u8>,
        counts: DeviceSliceMut<'_, u32>,
    ) -> Result<()>;
}

macro_rules! seek_kmer {
    ($($K:ty: $seek:ident;)*) => {
        $(
            impl SeekKmer for $K {
                fn seek(
                    stream: &Stream,
                    entries: Entries<'_>,
                    taking: Taking,
                    letters: DeviceSlice<'_, u8>,
                    mut counts: DeviceSliceMut<'_, u32>,
                ) -> Result<()> {
                    if counts.is_empty() {
                        return Ok(());
                    }
                    let Taking { k, canonical, stride } = taking;
                    let sections = entries.entries.len() / ENTRY_WORDS;
                    stream.launch("looking k-mers up", |raw| {
                        // SAFETY: the kernel reads so many letters and entries and writes so many
                        // counts; what entries lead to is there, as `Entries` says.
                        unsafe {
                            $seek(
                                letters.as_ptr(), letters.len() as u64, stride as u64,
                                counts.len() as u64, k as i32, canonical, entries.bits as i32,
                                entries.first, sections as u32, entries.entries.as_ptr(),
                                counts.as_mut_ptr(), raw,
                            )
                        }
                    })
                }
            }
        )*
    };
}

seek_kmer! {
    u64: merganser_count_seek_u64;
    u128: merganser_count_seek_u128;
    Wide: merganser_count_seek_u256;
}
