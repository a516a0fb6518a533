//! Alignments that are kept beside their reads, so that a job can write them as they were.

use std::sync::{Arc, Mutex, OnceLock};

use merganser_run::locks::lock;

use super::CommentTags;

/// The alignments that are kept beside their reads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum WhichAlignments {
    /// None.
    #[default]
    None,
    /// The primary alignment of each read. Secondary and supplementary alignments are skipped.
    OfReads,
    /// All of each read: its primary alignment, and the secondary and supplementary ones beside it. All alignments of
    /// a template (with one name) must lie side by side, and mates in their order. Mates may also lack their mate if
    /// the header says that the file is grouped by name. Otherwise there is an
    /// [`Error::Ungrouped`](crate::Error::Ungrouped).
    OfTemplates,
    /// All. Secondary and supplementary alignments count as reads of their own, and there are no pairs.
    All,
}

/// The alignments to keep, the tags that become comments, and where the header of the file is kept.
#[derive(Clone, Debug, Default)]
pub struct KeepAlignments {
    /// The alignments to keep.
    pub which: WhichAlignments,
    /// The tags that become comments of the reads.
    pub tags: CommentTags,
    /// The header of the file, as soon as the first batch has been returned; not set if the file has no alignments.
    pub header: Arc<OnceLock<AlignmentHeader>>,
    /// Where the headers of several files are kept, if they are. `header` is not set then.
    pub headers: Option<InputHeaders>,
}

impl KeepAlignments {
    /// Returns the options for a file of a segment.
    pub(crate) fn of_file(&self, segment: usize, input: &Arc<str>) -> KeepAlignments {
        let mut keep = self.clone();
        if let Some(headers) = &self.headers {
            keep.header = Arc::default();
            let (input, header) = (Arc::clone(input), Arc::clone(&keep.header));
            lock(&headers.0).push(InputHeader { segment, input, header });
        }
        keep
    }
}

/// The headers of the files of alignments of a run, in the order in which the files are opened.
#[derive(Clone, Debug, Default)]
pub struct InputHeaders(Arc<Mutex<Vec<InputHeader>>>);

#[derive(Debug)]
struct InputHeader {
    segment: usize,
    input: Arc<str>,
    header: Arc<OnceLock<AlignmentHeader>>,
}

impl InputHeaders {
    /// Calls `take` with the name and the header of each file of a segment that has alignments. All of them are known
    /// as soon as a batch of the segment or of a later one has been returned, or the end.
    ///
    /// # Errors
    /// The first error of `take`.
    pub fn each<E>(
        &self,
        segment: usize,
        mut take: impl FnMut(&str, &AlignmentHeader) -> Result<(), E>,
    ) -> Result<(), E> {
        for input in lock(&self.0).iter().filter(|input| input.segment == segment) {
            if let Some(header) = input.header.get() {
                take(&input.input, header)?;
            }
        }
        Ok(())
    }
}

/// The header of a file of alignments. Its kind is also the form in which the alignments are kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AlignmentHeader {
    /// Header lines of SAM, with their line ends. The alignments are whole lines.
    Sam(Vec<u8>),
    /// A header of BAM: magic number, text, and names and lengths of references. The alignments are records of BAM,
    /// each beginning with its size. Files of CRAM are kept in this form.
    Bam(Vec<u8>),
}

impl AlignmentHeader {
    /// Returns the header lines, with their line ends.
    pub fn text(&self) -> &[u8] {
        match self {
            AlignmentHeader::Sam(text) => text,
            AlignmentHeader::Bam(bytes) => {
                let size = bytes.get(4..8).and_then(|size| size.try_into().ok());
                let size = size.map_or(0, |size| u32::from_le_bytes(size) as usize);
                let text = bytes.get(8..8 + size).unwrap_or_default();
                // Some writers add zeros at the end.
                let end = text.iter().rposition(|&byte| byte != 0).map_or(0, |last| last + 1);
                &text[..end]
            }
        }
    }

    /// Whether the header says that all alignments of a template lie side by side.
    pub fn is_grouped(&self) -> bool {
        self.says(b"GO:query") || self.says(b"SO:queryname")
    }

    fn says(&self, what: &[u8]) -> bool {
        let first = self.text().split(|&byte| byte == b'\n').next().unwrap_or_default();
        let mut fields = first.trim_ascii_end().split(|&byte| byte == b'\t');
        fields.next() == Some(b"@HD") && fields.any(|field| field == what)
    }
}

/// The alignments of reads, in the order of the reads.
#[derive(Clone, Debug, Default)]
pub struct AlignmentBytes {
    bytes: Vec<u8>,
    /// The end of the alignments of each read.
    ends: Vec<usize>,
}

impl AlignmentBytes {
    /// Adds bytes, which belong to the next read unless they are added to the last one.
    pub fn extend(&mut self, alignment: &[u8]) {
        self.bytes.extend_from_slice(alignment);
    }

    /// Ends the alignments of a read.
    pub fn end_read(&mut self) {
        self.ends.push(self.bytes.len());
    }

    /// Gives all bytes since the last read to that read.
    pub fn add_to_last(&mut self) {
        if let Some(last) = self.ends.last_mut() {
            *last = self.bytes.len();
        }
    }

    /// Returns the alignments of read `at`; empty if none are kept.
    pub(crate) fn of(&self, at: usize) -> &[u8] {
        let Some(&end) = self.ends.get(at) else { return &[] };
        let start = at.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.bytes[start..end]
    }

    pub(crate) fn clear(&mut self) {
        self.bytes.clear();
        self.ends.clear();
    }

    pub(crate) fn capacity(&self) -> usize {
        self.bytes.capacity()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_say_whether_a_file_is_grouped() {
        let of = |text: &str| AlignmentHeader::Sam(text.into()).is_grouped();
        assert!(of("@HD\tVN:1.6\tSO:unsorted\tGO:query\r\n"));
        assert!(of("@HD\tVN:1.6\tSO:queryname\n"));
        assert!(!of("@HD\tVN:1.6\tSO:coordinate\n@SQ\tSN:a\tLN:5\n"));
        assert!(!of("@CO\tSO:coordinate\n@HD\tGO:query\n"));
        assert!(!of(""));
        let text = b"@HD\tVN:1.6\tGO:query\n";
        let size = text.len() as u32 + 3;
        let bam = [&b"BAM\x01"[..], &size.to_le_bytes(), text, &[0; 7]].concat();
        let header = AlignmentHeader::Bam(bam);
        assert_eq!((header.text(), header.is_grouped()), (&text[..], true));
        assert_eq!(AlignmentHeader::Bam(b"BAM\x01\xff".to_vec()).text(), b"");
    }

    #[test]
    fn alignments_belong_to_their_reads() {
        let mut kept = AlignmentBytes::default();
        kept.extend(b"ab");
        kept.end_read();
        kept.extend(b"c");
        kept.add_to_last();
        kept.extend(b"d");
        kept.extend(b"e");
        kept.end_read();
        assert_eq!([kept.of(0), kept.of(1), kept.of(2)], [&b"abc"[..], b"de", b""]);
    }
}
