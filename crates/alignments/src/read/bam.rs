//! BAM: a header, then records that begin with their size.

use super::comments::put_fields;
use super::templates::Templates;
use super::{Alignment, BEST_QUALITY};
use merganser_io::{AlignmentBytes, CommentTags, Reads};

/// The maximum size of a record in bytes: a larger size means damage. The longest reads have a few MB.
const MAX_BYTES: usize = 256 << 20;
/// The size in bytes of the fixed fields of a record, which precede the name.
const MIN_BYTES: usize = 32;

/// Returns the length in bytes of the header at the start of `bytes`: magic number, text, names and lengths of
/// references. Returns `None` if `bytes` ends within the header.
pub(crate) fn header(bytes: &[u8]) -> Option<usize> {
    let mut at = 8usize.checked_add(size_at(bytes, 4)?)?;
    let references = size_at(bytes, at)?;
    at += 4;
    for _ in 0..references {
        at = at.checked_add(size_at(bytes, at)?)?.checked_add(8)?;
    }
    (at <= bytes.len()).then_some(at)
}

/// Returns the number of 4 bytes at a place.
pub(crate) fn size_at(bytes: &[u8], at: usize) -> Option<usize> {
    let bytes = bytes.get(at..at.checked_add(4)?)?;
    Some(u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]) as usize)
}

/// Returns the number of bytes of whole records at the start of `bytes`, and the number of these records. With
/// `templates`, the last records with one name are not counted. The error is the number, from 0, of a record whose size
/// is invalid.
pub(crate) fn whole(bytes: &[u8], templates: bool) -> Result<(usize, u64), u64> {
    let (mut at, mut records) = (0, 0);
    let (mut template, mut name) = ((0, 0), &[][..]);
    while let Some(size) = size_at(bytes, at) {
        if !(MIN_BYTES..=MAX_BYTES).contains(&size) {
            return Err(records);
        }
        if bytes.len() - at - 4 < size {
            break;
        }
        if templates {
            let next = name_of(&bytes[at..at + 4 + size]);
            if next != name {
                (template, name) = ((at, records), next);
            }
        }
        at += 4 + size;
        records += 1;
    }
    Ok(if templates { template } else { (at, records) })
}

/// Returns the name of a record with its terminating zero; nothing if the record is damaged.
fn name_of(record: &[u8]) -> &[u8] {
    record.get(36..36 + usize::from(record[12])).unwrap_or_default()
}

/// Returns the size in bytes of the record at the start of `bytes`; 0 if `bytes` ends within its length field.
pub(crate) fn needs(bytes: &[u8]) -> usize {
    size_at(bytes, 0).map_or(0, |size| 4 + size)
}

impl Alignment for noodles_bam::Record {
    fn name(&self) -> Option<&[u8]> {
        self.name().map(|name| -> &[u8] { name })
    }

    fn flags(&self) -> u16 {
        self.flags().bits()
    }

    fn letters(&self, text: &mut Vec<u8>) -> Result<(), String> {
        let sequence = self.sequence();
        let end = text.len() + sequence.len();
        for &pair in sequence.as_bytes() {
            text.extend_from_slice(&PAIRS[usize::from(pair)]);
        }
        text.truncate(end);
        Ok(())
    }

    fn qualities(&self, text: &mut Vec<u8>) -> Result<(), String> {
        let scores = self.quality_scores();
        text.extend(scores.as_bytes().iter().map(|&score| b'!' + score.min(BEST_QUALITY)));
        Ok(())
    }

    fn tags(&self, tags: &CommentTags, text: &mut Vec<u8>) -> Result<(), String> {
        put_fields(self, tags, text)
    }
}

/// The two letters that each byte encodes.
const PAIRS: [[u8; 2]; 256] = {
    const LETTERS: &[u8; 16] = b"=ACMGRSVTWYHKDBN";
    let mut pairs = [[0; 2]; 256];
    let mut byte = 0;
    while byte < 256 {
        pairs[byte] = [LETTERS[byte >> 4], LETTERS[byte & 15]];
        byte += 1;
    }
    pairs
};

/// Adds the reads of whole records. The error has the number of the invalid record, from 0.
pub(crate) fn read(records: &[u8], reads: &mut Reads) -> Result<(), (u64, String)> {
    let mut reader = noodles_bam::io::Reader::from(records);
    let mut record = noodles_bam::Record::default();
    let (mut number, mut at) = (0, 0);
    let mut templates = Templates::default();
    let mut next = |reads: &mut Reads| {
        let read = reader.read_record(&mut record);
        if read.map_err(|error| format!("{error}: is the file damaged?"))? == 0 {
            return templates.end(reads).map(|()| false);
        }
        let begin = at;
        at += needs(&records[at..]);
        let put = |kept: &mut AlignmentBytes| {
            kept.extend(&records[begin..at]);
            Ok(())
        };
        templates.add(reads, &record, put).map(|()| true)
    };
    while next(reads).map_err(|problem| (number, problem))? {
        number += 1;
    }
    Ok(())
}
