//! The reads of SAM and BAM files, as FASTQ text.
//!
//! Each read comes once: secondary and supplementary alignments (flags 0x900) are passed over. Reads
//! that were aligned to the reverse strand are turned back to how they were sequenced; mates get /1
//! and /2 behind their name, as `samtools fastq` has it.

use std::io::{self, BufReader, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use noodles_sam::alignment::record::Flags;

/// First bytes of text by which a format is known.
pub(crate) const HEAD: usize = 16;

/// A format of alignments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Format {
    Sam,
    Bam,
}

impl Format {
    /// The format of decompressed text that begins with `head`. SAM is known by its header, without
    /// which nothing tells it from other text.
    pub(crate) fn sniff(head: &[u8]) -> Option<Format> {
        match head {
            [b'B', b'A', b'M', 1, ..] => Some(Format::Bam),
            [b'@', rest @ ..] => {
                let headers = [b"HD\t", b"SQ\t", b"RG\t", b"PG\t"];
                headers.iter().any(|header| rest.starts_with(&header[..])).then_some(Format::Sam)
            }
            _ => None,
        }
    }
}

type Bytes = Box<dyn Read + Send>;

enum Source {
    Unopened(Option<Bytes>, Format),
    Sam(noodles_sam::io::Reader<BufReader<Bytes>>, noodles_sam::Record),
    Bam(noodles_bam::io::Reader<BufReader<Bytes>>, noodles_bam::Record),
}

/// Turns alignments into FASTQ while they are read.
pub(crate) struct AlignmentText {
    source: Source,
    /// Text that was not read yet begins at `at`.
    text: Vec<u8>,
    at: usize,
    skipped: Arc<AtomicU64>,
}

/// Text that is made at once.
const PIECE: usize = 1 << 16;
/// Secondary and supplementary.
const NOT_PRIMARY: u16 = 0x900;
const REVERSE: u16 = 0x10;
/// The quality of reads that have none: the highest, so that none is dropped for it.
const NO_QUALITY: u8 = b'~';

impl AlignmentText {
    /// The reads of decompressed `bytes`.
    pub(crate) fn new(bytes: Bytes, format: Format, skipped: Arc<AtomicU64>) -> AlignmentText {
        let source = Source::Unopened(Some(bytes), format);
        AlignmentText { source, text: Vec::new(), at: 0, skipped }
    }

    fn open(&mut self) -> io::Result<()> {
        if let Source::Unopened(bytes, format) = &mut self.source {
            let bytes = bytes.take().ok_or(io::ErrorKind::UnexpectedEof)?;
            let bytes = BufReader::with_capacity(PIECE, bytes);
            self.source = match format {
                Format::Sam => {
                    let mut reader = noodles_sam::io::Reader::new(bytes);
                    reader.read_header()?;
                    Source::Sam(reader, noodles_sam::Record::default())
                }
                Format::Bam => {
                    let mut reader = noodles_bam::io::Reader::from(bytes);
                    reader.read_header()?;
                    Source::Bam(reader, noodles_bam::Record::default())
                }
            };
        }
        Ok(())
    }

    /// Makes text of the next record; false behind the last.
    fn record(&mut self) -> io::Result<bool> {
        use noodles_sam::alignment::record::{QualityScores as _, Sequence as _};
        let text = &mut self.text;
        let flags = match &mut self.source {
            Source::Unopened(..) => return Ok(false),
            Source::Sam(reader, record) => {
                if reader.read_record(record)? == 0 {
                    return Ok(false);
                }
                let flags = record.flags()?;
                if flags.bits() & NOT_PRIMARY == 0 {
                    let name = record.name().map(|name| -> &[u8] { name });
                    let (sequence, qualities) = (record.sequence(), record.quality_scores());
                    write(name, flags, sequence.iter(), qualities.iter(), text)?;
                }
                flags
            }
            Source::Bam(reader, record) => {
                if reader.read_record(record)? == 0 {
                    return Ok(false);
                }
                let flags = record.flags();
                if flags.bits() & NOT_PRIMARY == 0 {
                    let name = record.name().map(|name| -> &[u8] { name });
                    let (sequence, qualities) = (record.sequence(), record.quality_scores());
                    write(name, flags, sequence.iter(), qualities.iter().map(Ok), text)?;
                }
                flags
            }
        };
        if flags.bits() & NOT_PRIMARY != 0 {
            self.skipped.fetch_add(1, Ordering::Relaxed);
        }
        Ok(true)
    }
}

/// Appends a read as FASTQ.
fn write(
    name: Option<&[u8]>,
    flags: Flags,
    sequence: impl Iterator<Item = u8>,
    qualities: impl Iterator<Item = io::Result<u8>>,
    text: &mut Vec<u8>,
) -> io::Result<()> {
    text.push(b'@');
    text.extend_from_slice(name.unwrap_or(b"*"));
    match flags.bits() & 0xc0 {
        0x40 => text.extend_from_slice(b"/1"),
        0x80 => text.extend_from_slice(b"/2"),
        _ => {}
    }
    text.push(b'\n');
    let start = text.len();
    text.extend(sequence);
    let length = text.len() - start;
    let reverse = flags.bits() & REVERSE != 0;
    if reverse {
        text[start..].reverse();
        text[start..].iter_mut().for_each(|letter| *letter = complement(*letter));
    }
    text.extend_from_slice(b"\n+\n");
    let start = text.len();
    for quality in qualities {
        // Beyond 93 there is no letter; 255 is BAM's for none.
        text.push(b'!' + quality?.min(93));
    }
    if text.len() == start {
        text.resize(start + length, NO_QUALITY);
    }
    if reverse {
        text[start..].reverse();
    }
    text.push(b'\n');
    Ok(())
}

/// The letter of the other strand; IUPAC codes have theirs.
fn complement(letter: u8) -> u8 {
    const FROM: &[u8; 24] = b"ACGTRYKMBDHVacgtrykmbdhv";
    const TO: &[u8; 24] = b"TGCAYRMKVHDBtgcayrmkvhdb";
    match letter {
        b'U' => b'A',
        _ => FROM.iter().position(|&other| other == letter).map_or(letter, |at| TO[at]),
    }
}

impl Read for AlignmentText {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.at == self.text.len() {
            self.open()?;
            (self.at, self.text) = (0, std::mem::take(&mut self.text));
            self.text.clear();
            while self.text.len() < PIECE && self.record()? {}
        }
        let length = buffer.len().min(self.text.len() - self.at);
        buffer[..length].copy_from_slice(&self.text[self.at..self.at + length]);
        self.at += length;
        Ok(length)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SAM: &str = "@HD\tVN:1.6\tSO:coordinate\n@SQ\tSN:chr\tLN:100\n\
        one\t0\tchr\t1\t60\t4M\t*\t0\t0\tACGN\tABCD\n\
        two\t16\tchr\t1\t60\t4M\t*\t0\t0\tAACR\tABCD\n\
        two\t272\tchr\t5\t0\t4M\t*\t0\t0\tAACC\tABCD\n\
        two\t2064\tchr\t5\t0\t2M2H\t*\t0\t0\tAA\tAB\n\
        pair\t77\t*\t0\t0\t*\t*\t0\t0\tACC\t*\n\
        pair\t141\t*\t0\t0\t*\t*\t0\t0\tGGT\tIII\n";
    const FASTQ: &str = "@one\nACGN\n+\nABCD\n@two\nYGTT\n+\nDCBA\n\
        @pair/1\nACC\n+\n~~~\n@pair/2\nGGT\n+\nIII\n";

    #[test]
    fn reads_come_once_on_their_own_strand() {
        for step in [1, 7, 1000] {
            let skipped = Arc::default();
            let bytes = Box::new(SAM.as_bytes());
            let mut text = AlignmentText::new(bytes, Format::Sam, Arc::clone(&skipped));
            let (mut all, mut buffer) = (Vec::new(), vec![0; step]);
            loop {
                let read = text.read(&mut buffer).unwrap();
                all.extend_from_slice(&buffer[..read]);
                if read == 0 {
                    break;
                }
            }
            assert_eq!(String::from_utf8(all).unwrap(), FASTQ);
            assert_eq!(skipped.load(Ordering::Relaxed), 2);
        }
    }

    #[test]
    fn formats_are_known_by_their_beginning() {
        assert_eq!(Format::sniff(SAM.as_bytes()), Some(Format::Sam));
        assert_eq!(Format::sniff(b"BAM\x01"), Some(Format::Bam));
        assert_eq!(Format::sniff(b"@read\nACGT"), None);
        assert_eq!(Format::sniff(b""), None);
    }
}
