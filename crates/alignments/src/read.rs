//! The reads of SAM, BAM and CRAM files, as FASTQ text.
//!
//! Each read comes once: secondary and supplementary alignments (flags 0x900) are passed over. Reads
//! that were aligned to the reverse strand are turned back to how they were sequenced; mates get /1
//! and /2 behind their name, as `samtools fastq` has it.
//!
//! SAM and BAM are cut between records in the order of the file, in a short time, and made FASTQ by
//! each worker; containers of CRAM are whole, and decoded by the workers.

pub(crate) mod bam;
#[cfg_attr(not(feature = "cram"), path = "read/no_cram.rs")]
pub(crate) mod cram;
#[cfg(feature = "cram")]
mod reference;
pub(crate) mod sam;

use merganser_io::{Reads, Role};
use merganser_seq::base::COMPLEMENT;

/// Secondary and supplementary.
const NOT_PRIMARY: u16 = 0x900;
const REVERSE: u16 = 0x10;
/// The quality of reads that have none: the highest, so that none is dropped for it.
const NO_QUALITY: u8 = b'~';
/// Beyond it there is no letter; 255 is BAM's for none.
const BEST_QUALITY: u8 = 93;

/// One alignment, as far as its read goes. What goes wrong is said in words.
trait Alignment {
    fn name(&self) -> Option<&[u8]>;
    fn flags(&self) -> u16;
    /// Appends the letters, on the strand of the reference.
    fn letters(&self, text: &mut Vec<u8>) -> Result<(), String>;
    /// Appends the qualities as letters; none if there are none.
    fn qualities(&self, text: &mut Vec<u8>) -> Result<(), String>;
}

/// Adds the read of an alignment, if it is there for its read.
fn add(reads: &mut Reads, alignment: &impl Alignment) -> Result<(), String> {
    let flags = alignment.flags();
    if flags & NOT_PRIMARY != 0 {
        reads.skipped += 1;
        return Ok(());
    }
    let text = &mut reads.text;
    text.push(b'@');
    let name = alignment.name().unwrap_or(b"*");
    if let Some(byte) = name.iter().find(|byte| !byte.is_ascii_graphic()) {
        return Err(format!("its name has the byte 0x{byte:02x}: is the file damaged?"));
    }
    text.extend_from_slice(name);
    let role = Role::of(flags);
    text.extend_from_slice(match role {
        Role::First => b"/1",
        Role::Second => b"/2",
        Role::None => b"",
    });
    reads.mates.add(role, name);
    text.push(b'\n');
    let start = text.len();
    alignment.letters(text)?;
    let length = text.len() - start;
    let reverse = flags & REVERSE != 0;
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
