//! The kernels of look-ups as safe functions.
#![allow(unsafe_code, reason = "foreign functions")]

use merganser_gpu::{DeviceSlice, DeviceSliceMut, RawStream, Result, Stream};
use merganser_seq::kmer::{Kmer, Wide};

use super::sliding::Sliding;

merganser_gpu::shared! {
    /// The arguments of a look-up, for k-mers of any width.
    struct SeekArguments = "mgpu::seek_arguments<uint64_t>" {
        letters: *const u8,
        letter_count: u64,
        stride: u64,
        places: u64,
        k: i32,
        canonical: bool,
        bits: i32,
        first: u32,
        section_count: u32,
        sections: *const u64,
        counts: *mut u32,
    }

    /// The arguments of a panel, for k-mers of any width.
    pub(super) struct PanelArguments = "mgpu::panel_arguments<uint64_t>" {
        pub(super) bases: *const u64,
        pub(super) cuts: *const u64,
        pub(super) letter_count: u64,
        pub(super) k: i32,
        pub(super) canonical: bool,
        pub(super) bits: i32,
        pub(super) sections: *const u64,
        pub(super) kmers: *mut u64,
    }
}

merganser_gpu::foreign! {
    fn merganser_kmers_seek(key_bytes: u32, arguments: *const SeekArguments, stream: RawStream);
    fn merganser_kmers_add_to_panel(
        key_bytes: u32, arguments: *const PanelArguments, stream: RawStream,
    );
}

/// The number of words of a section's entry: the address of its lines, the number of lines, the address of the
/// numbers of large counts before each line, and the address of the large counts.
pub(super) const ENTRY_WORDS: usize = 4;

/// Neighbouring sections in device memory.
#[derive(Clone, Copy)]
pub(super) struct Entries<'e> {
    bits: u32,
    first: u32,
    entries: DeviceSlice<'e, u64>,
}

impl<'e> Entries<'e> {
    /// Creates the entries of the sections from number `first` on, with [`ENTRY_WORDS`] words for each. The
    /// first `bits` bits of a k-mer select its section.
    ///
    /// # Safety
    /// The addresses in the entries must point to device memory that lives as long as the entries are borrowed,
    /// and that has at least the numbers of items that the entries and the codes of the lines state.
    pub(super) unsafe fn new(bits: u32, first: u32, entries: DeviceSlice<'e, u64>) -> Self {
        Entries { bits, first, entries }
    }
}

/// A k-mer that devices can look up.
pub(crate) trait SeekKmer: Kmer {
    /// Writes the counts of k-mers of `letters` that are in these sections to their positions in `counts`; other
    /// positions are not changed.
    fn seek(
        stream: &Stream,
        entries: Entries<'_>,
        sliding: Sliding,
        letters: DeviceSlice<'_, u8>,
        mut counts: DeviceSliceMut<'_, u32>,
    ) -> Result<()> {
        if counts.is_empty() {
            return Ok(());
        }
        let Sliding { k, canonical, stride } = sliding;
        let sections = entries.entries.len() / ENTRY_WORDS;
        stream.launch("looking up k-mers", |raw| {
            let arguments = SeekArguments {
                letters: letters.as_ptr(),
                letter_count: letters.len() as u64,
                stride: stride as u64,
                places: counts.len() as u64,
                k: k as i32,
                canonical,
                bits: entries.bits as i32,
                first: entries.first,
                section_count: sections as u32,
                sections: entries.entries.as_ptr(),
                counts: counts.as_mut_ptr(),
            };
            // SAFETY: the kernel reads and writes only the numbers of letters, entries and counts in the arguments.
            // The memory to which entries point exists, as the caller of `Entries::new` promised.
            unsafe { merganser_kmers_seek(size_of::<Self>() as u32, &arguments, raw) }
        })
    }
}

impl SeekKmer for u64 {}
impl SeekKmer for u128 {}
impl SeekKmer for Wide {}
