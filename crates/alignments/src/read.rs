//! Converts the reads of SAM, BAM and CRAM files to FASTQ text.
//!
//! Each read is returned once: secondary and supplementary alignments (flags 0x900) are skipped. Reads that were
//! aligned to the reverse strand are returned as they were sequenced. The names of mates get the suffixes /1 and /2,
//! as those of `samtools fastq` do.
//!
//! SAM and BAM are cut between records in the order of the file, which takes little time, and each worker converts a
//! piece to FASTQ. CRAM containers are read whole and decoded by the workers.

pub(crate) mod bam;
mod comments;
#[cfg_attr(not(feature = "cram"), path = "read/no_cram.rs")]
pub(crate) mod cram;
#[cfg(all(test, feature = "cram"))]
mod no_cram;
#[cfg(feature = "cram")]
mod reference;
pub(crate) mod sam;
mod templates;

use merganser_io::{CommentTags, Reads, Role, WhichAlignments};
use merganser_seq::base::COMPLEMENT;

use crate::flag;

/// The flags of secondary and supplementary alignments.
pub(crate) const NOT_PRIMARY: u16 = flag::SECONDARY | flag::SUPPLEMENTARY;
/// The quality of reads without qualities: the highest, so that no read is removed because of it.
pub const NO_QUALITY: u8 = b'~';
/// The highest quality that has a letter. The value 255 of BAM means that there is no quality.
const BEST_QUALITY: u8 = 93;

/// The fields of an alignment that its read needs. An error is the text of a message.
trait Alignment {
    fn name(&self) -> Option<&[u8]>;
    fn flags(&self) -> u16;
    /// Appends the letters, as they are on the strand of the reference.
    fn letters(&self, text: &mut Vec<u8>) -> Result<(), String>;
    /// Appends the qualities as letters; nothing if the record has no qualities.
    fn qualities(&self, text: &mut Vec<u8>) -> Result<(), String>;
    /// Appends tags as a comment, each after a tab.
    fn tags(&self, tags: &CommentTags, text: &mut Vec<u8>) -> Result<(), String>;
}

/// Adds the read of an alignment, unless the alignment is secondary or supplementary and not kept by itself.
fn add(reads: &mut Reads, alignment: &impl Alignment) -> Result<(), String> {
    let flags = alignment.flags();
    if flags & NOT_PRIMARY != 0 {
        reads.skipped += 1;
        if reads.which != WhichAlignments::All {
            return Ok(());
        }
    }
    let text = &mut reads.text;
    text.push(b'@');
    let name = alignment.name().unwrap_or(b"*");
    if let Some(byte) = name.iter().find(|byte| !byte.is_ascii_graphic()) {
        return Err(format!("its name has the byte 0x{byte:02x}: is the file damaged?"));
    }
    text.extend_from_slice(name);
    let role = match reads.which {
        WhichAlignments::All => Role::None,
        _ => Role::of(flags),
    };
    text.extend_from_slice(match role {
        Role::First => b"/1",
        Role::Second => b"/2",
        Role::None => b"",
    });
    reads.mates.add(role, name);
    if !reads.tags.is_none() {
        alignment.tags(&reads.tags, text)?;
    }
    text.push(b'\n');
    let start = text.len();
    alignment.letters(text)?;
    let length = text.len() - start;
    let reverse = flags & flag::REVERSE != 0;
    if reverse {
        text[start..].reverse();
        text[start..].iter_mut().for_each(|letter| *letter = COMPLEMENT[usize::from(*letter)]);
    }
    text.extend_from_slice(b"\n+\n");
    let start = text.len();
    alignment.qualities(text)?;
    match text.len() - start {
        0 => text.resize(start + length, NO_QUALITY),
        other if other != length => {
            return Err(format!("{other} qualities for {length} letters: is the file damaged?"));
        }
        _ if reverse => text[start..].reverse(),
        _ => {}
    }
    text.push(b'\n');
    Ok(())
}
