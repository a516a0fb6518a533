//! Records stored one after the other, as in a chunk.

use std::sync::Arc;

use super::mates::comment_number;
use super::{Header, Keep, Record};
use crate::alignment::{AlignmentBytes, MateRuns};
use crate::{Chunk, Error, Sink};

/// Names, letters and qualities of records, stored one after the other.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Text {
    pub(super) bytes: Vec<u8>,
    pub(super) extents: Vec<Extent>,
    /// The letters of a record that began in an earlier chunk.
    pub(super) resumed: Vec<u8>,
    /// The stretch, if the text has only a stretch of one record.
    pub(super) stretch: Option<Stretch>,
    /// The adjacent mates, by the flags of alignments; `None` for other formats.
    pub(super) runs: Option<MateRuns>,
}

/// The position of a stretch in a record that is too long to be returned whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stretch {
    /// Whether this is the first stretch. Each other one starts with letters that repeat the last ones of the previous
    /// stretch; their number is in [`RecordOptions::stretches`](super::RecordOptions::stretches).
    pub begins: bool,
    /// Whether this is the last stretch.
    pub ends: bool,
}

/// The extent of a record and of its parts in the bytes of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Extent {
    /// The end of the record, at which the next one begins.
    end: usize,
    letters: usize,
    name: u32,
    /// The length of the header, the mate number of its comment (2 bits), and a bit for qualities. Headers are
    /// short enough; see [`ReaderOptions::max_record`](crate::ReaderOptions::max_record).
    header: u32,
}

impl Extent {
    fn header(self) -> usize {
        self.header as usize >> 3
    }

    /// Returns the mate number of the comment, or 0.
    fn number(self) -> u8 {
        (self.header >> 1 & 3) as u8
    }

    fn has_quality(self) -> bool {
        self.header % 2 == 1
    }
}

impl Text {
    pub(super) fn clear(&mut self) {
        self.bytes.clear();
        self.extents.clear();
        self.resumed.clear();
        (self.stretch, self.runs) = (None, None);
    }

    /// Adds the records of a chunk.
    pub(super) fn parse(&mut self, chunk: &Chunk, keep: Keep) -> Result<(), Error> {
        self.bytes.reserve(chunk.text_len());
        self.runs.clone_from(&chunk.mates);
        let alignments = &chunk.alignments;
        chunk.parse(&mut Parsing { text: self, keep, alignments }).map(drop)
    }

    /// Returns the number of bytes of memory that the text holds.
    pub(super) fn room(&self) -> usize {
        self.bytes.capacity() + self.extents.capacity() * size_of::<Extent>()
    }

    /// Returns the size of the extents in bytes.
    pub(super) fn extents_bytes(&self) -> usize {
        size_of_val(&self.extents[..])
    }

    pub(super) fn len(&self) -> usize {
        self.extents.len()
    }

    pub(super) fn start(&self, at: usize) -> usize {
        if at == 0 { 0 } else { self.extents[at - 1].end }
    }

    pub(super) fn record(&self, at: usize) -> Record<'_> {
        let (start, extent) = (self.start(at), self.extents[at]);
        let bytes = &self.bytes[start..extent.end];
        let (header, rest) = bytes.split_at(extent.header());
        let (letters, quality) = rest.split_at(extent.letters);
        let quality = extent.has_quality().then(|| &quality[..extent.letters]);
        Record { name: &header[..extent.name as usize], header, letters, quality }
    }

    /// Returns the name of a record.
    #[inline]
    pub(super) fn name(&self, at: usize) -> &[u8] {
        let (start, extent) = (self.start(at), self.extents[at]);
        &self.bytes[start..start + extent.name as usize]
    }

    /// Returns the letters of a record.
    #[inline]
    pub(super) fn letters(&self, at: usize) -> &[u8] {
        let extent = self.extents[at];
        let start = self.start(at) + extent.header();
        &self.bytes[start..start + extent.letters]
    }

    /// Returns the number of letters of a record.
    #[inline]
    pub(super) fn letter_count(&self, at: usize) -> usize {
        self.extents[at].letters
    }

    /// Returns the alignments of a record, which follow its qualities; empty if none are kept.
    pub(super) fn alignments(&self, at: usize) -> &[u8] {
        let (start, extent) = (self.start(at), self.extents[at]);
        let quality = if extent.has_quality() { extent.letters } else { 0 };
        &self.bytes[start + extent.header() + extent.letters + quality..extent.end]
    }

    /// Returns the mate number in the comment of a record, or 0.
    pub(super) fn number(&self, at: usize) -> u8 {
        self.extents[at].number()
    }

    /// Returns the letters of a record, mutably, and its qualities.
    pub(super) fn letters_mut(&mut self, at: usize) -> (&mut [u8], Option<&[u8]>) {
        let (start, extent) = (self.start(at), self.extents[at]);
        let rest = &mut self.bytes[start + extent.header()..extent.end];
        let (letters, rest) = rest.split_at_mut(extent.letters);
        let rest = &*rest;
        (letters, extent.has_quality().then(|| &rest[..extent.letters]))
    }

    pub(super) fn push(&mut self, record: &Record<'_>, alignments: &[u8]) {
        let Record { name, header, letters, quality } = *record;
        self.bytes.extend_from_slice(header);
        self.bytes.extend_from_slice(letters);
        self.bytes.extend_from_slice(quality.unwrap_or_default());
        self.bytes.extend_from_slice(alignments);
        self.extents.push(Extent {
            end: self.bytes.len(),
            letters: letters.len(),
            name: name.len() as u32,
            header: (header.len() as u32) << 3 | u32::from(quality.is_some()),
        });
    }

    /// Adds a slice of records of another text.
    pub(super) fn extend(&mut self, slice: &Slice) {
        self.stretch = slice.text.stretch;
        let (other, from, to) = (&slice.text, slice.from, slice.to);
        let (start, at) = (other.start(from), self.bytes.len());
        self.bytes.extend_from_slice(&other.bytes[start..other.start(to)]);
        let moved = |extent: &Extent| Extent { end: extent.end - start + at, ..*extent };
        self.extents.extend(other.extents[from..to].iter().map(moved));
    }

    /// Replaces this empty text with the text of the slice, without a copy, if the slice is all of it and has its
    /// only reference. Returns whether it did.
    pub(super) fn take_over(&mut self, slice: &mut Slice) -> bool {
        let whole = self.extents.is_empty() && slice.len() == slice.text.len();
        match Arc::get_mut(&mut slice.text).filter(|_| whole) {
            Some(text) => {
                std::mem::swap(self, text);
                true
            }
            None => false,
        }
    }

    /// Adds a record of another text.
    pub(super) fn extend_one(&mut self, other: &Text, at: usize) {
        let (start, extent) = (other.start(at), other.extents[at]);
        self.bytes.extend_from_slice(&other.bytes[start..extent.end]);
        self.extents.push(Extent { end: self.bytes.len(), ..extent });
    }

    /// Removes and returns the last record, which may continue in the next chunk.
    pub(super) fn pop(&mut self) -> Option<Text> {
        if self.len() <= 1 {
            let own = std::mem::take(self);
            return (own.len() == 1).then_some(own);
        }
        let extent = self.extents.pop()?;
        let start = self.start(self.len());
        let bytes = self.bytes.split_off(start);
        let extents = vec![Extent { end: bytes.len(), ..extent }];
        Some(Text { bytes, extents, ..Text::default() })
    }

    /// Returns the number of letters of the last record.
    pub(super) fn last_letters(&self) -> usize {
        self.extents.last().map_or(0, |last| last.letters)
    }

    /// Cuts the only record, which has no qualities, after `letters` letters, and returns the rest, which repeats
    /// `overlap` of them.
    pub(super) fn cut(&mut self, letters: usize, overlap: usize) -> Text {
        let Some(extent) = self.extents.first_mut() else { return Text::default() };
        let begins = self.stretch.is_none_or(|stretch| stretch.begins);
        let header = extent.header();
        let mut bytes = self.bytes[..header].to_vec();
        bytes.extend_from_slice(&self.bytes[header + letters - overlap..]);
        let rest = Extent { end: bytes.len(), letters: bytes.len() - header, ..*extent };
        (extent.letters, extent.end) = (letters, header + letters);
        self.bytes.truncate(header + letters);
        self.stretch = Some(Stretch { begins, ends: false });
        let stretch = Some(Stretch { begins: false, ends: true });
        Text { bytes, extents: vec![rest], stretch, ..Text::default() }
    }

    /// Adds letters to the last record, which has no qualities.
    pub(super) fn go_on(&mut self, letters: &[u8]) {
        let Some(last) = self.extents.last_mut() else { return };
        self.bytes.extend_from_slice(letters);
        last.letters += letters.len();
        last.end += letters.len();
    }

    /// Returns the smallest number of records, beginning with `from`, that have at least `bytes` bytes; more than
    /// there are if all together have fewer.
    pub(super) fn records_of(&self, from: usize, bytes: usize) -> usize {
        let until = self.start(from).saturating_add(bytes);
        1 + self.extents[from..].partition_point(|extent| extent.end < until)
    }

    /// Returns the size in bytes of `count` records.
    pub(super) fn bytes_of(&self, from: usize, count: usize) -> usize {
        self.start(from + count) - self.start(from)
    }
}

/// A range of the records of a text.
#[derive(Clone, Debug)]
pub(super) struct Slice {
    pub(super) text: Arc<Text>,
    pub(super) from: usize,
    pub(super) to: usize,
}

impl Slice {
    pub(super) fn len(&self) -> usize {
        self.to - self.from
    }
}

/// Records of one file, or equal numbers of records of two files.
pub(super) type Piece = (Slice, Option<Slice>);

/// The pieces from which a batch is gathered.
#[derive(Default)]
pub(super) struct Pieces(pub(super) Vec<Piece>);

impl Pieces {
    /// Returns the total size of the records in bytes.
    pub(super) fn bytes(&self) -> usize {
        let bytes = |slice: &Slice| slice.text.bytes_of(slice.from, slice.len());
        let piece = |(first, second): &Piece| bytes(first) + second.as_ref().map_or(0, bytes);
        self.0.iter().map(piece).sum()
    }

    /// Returns the texts that have no other reference.
    pub(super) fn into_spare(self) -> impl Iterator<Item = Text> {
        let texts = |(first, second): Piece| [Some(first), second].into_iter().flatten();
        self.0.into_iter().flat_map(texts).filter_map(|slice| Arc::into_inner(slice.text))
    }
}

/// Returns the length of the name at the beginning of a header, which ends at the first blank. Looks at eight bytes at
/// a time, as headers are a tenth of the text of short reads.
#[inline]
fn name_length(header: &[u8]) -> usize {
    const EACH: u64 = u64::MAX / 255;
    let (words, _) = header.as_chunks::<8>();
    let mut at = 0;
    for word in words {
        let word = u64::from_le_bytes(*word);
        // The lowest bit that is set belongs to the first byte up to the blank.
        let low = word.wrapping_sub((b' ' as u64 + 1) * EACH) & !word & (128 * EACH);
        if low != 0 {
            at += low.trailing_zeros() as usize / 8;
            break;
        }
        at += 8;
    }
    header[at..].iter().position(u8::is_ascii_whitespace).map_or(header.len(), |more| at + more)
}

/// The sink that adds a chunk's records to a text.
struct Parsing<'t> {
    text: &'t mut Text,
    keep: Keep,
    /// The alignments that are kept, by the number of the read in the chunk.
    alignments: &'t AlignmentBytes,
}

impl Sink for Parsing<'_> {
    #[inline]
    fn begin(&mut self, header: &[u8]) {
        let name = match self.keep.header {
            Header::Nothing => 0,
            _ => name_length(header),
        };
        let kept = if self.keep.header == Header::Whole { header.len() } else { name };
        let number = match self.keep.header {
            Header::Nothing => 0,
            _ => comment_number(header.get(name + 1..).unwrap_or_default()),
        };
        let Text { bytes, extents, .. } = &mut *self.text;
        bytes.extend_from_slice(&header[..kept]);
        let (name, header) = (name as u32, (kept as u32) << 3 | u32::from(number) << 1);
        extents.push(Extent { end: bytes.len(), letters: 0, name, header });
    }

    fn resume(&mut self) {}

    #[inline]
    fn sequence(&mut self, line: &[u8], quality: Option<&[u8]>) {
        let Text { bytes, extents, resumed, .. } = &mut *self.text;
        let number = extents.len().wrapping_sub(1);
        let Some(last) = extents.last_mut() else {
            resumed.extend_from_slice(line);
            return;
        };
        bytes.extend_from_slice(line);
        last.letters += line.len();
        if let Some(quality) = quality.filter(|_| self.keep.qualities) {
            bytes.extend_from_slice(quality);
            last.header |= 1;
            bytes.extend_from_slice(self.alignments.of(number));
        }
        last.end = bytes.len();
    }

    fn end(&mut self) {}

    fn uses_qualities(&self) -> bool {
        self.keep.qualities
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn names_end_at_the_first_blank(
            name in proptest::collection::vec(prop_oneof![33u8..=255, 0u8..9, Just(11)], 0..40),
            blank in prop_oneof![Just(b' '), Just(b'\t'), Just(b'\r'), Just(0x0c)],
            more in proptest::collection::vec(any::<u8>(), 0..20),
        ) {
            prop_assert_eq!(name_length(&name), name.len());
            prop_assert_eq!(name_length(&[&name[..], &[blank], &more[..]].concat()), name.len());
        }
    }
}
