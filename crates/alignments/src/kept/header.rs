//! Headers: their references, and the line of this program.

use std::num::NonZero;

use merganser_io::AlignmentHeader;

use crate::read::bam::size_at;
use crate::sequences::{Sequence, bam_header_of, field, header_of};

/// The header of alignments that were made of reads: they have no references, and mates lie side by side.
pub(super) const OF_READS: &[u8] = b"@HD\tVN:1.6\tSO:unsorted\tGO:query\n";

/// The ID of this program in headers.
const PROGRAM: &str = "merganser";

/// The reference sequences of a header.
#[derive(Debug, Default)]
pub(super) struct References {
    list: Vec<Sequence>,
    pub(super) header: noodles_sam::Header,
}

impl References {
    pub(super) fn of(header: &AlignmentHeader) -> Result<References, String> {
        let list = match header {
            AlignmentHeader::Bam(bytes) => {
                of_bam(bytes).ok_or("the header of the BAM file is damaged")?
            }
            AlignmentHeader::Sam(text) => Sequence::all_of(text)?,
        };
        Ok(References { header: header_of(&list), list })
    }

    /// Returns the number of references.
    pub(super) fn len(&self) -> i32 {
        self.list.len() as i32
    }

    /// Adds lines for the references to a text without such lines, as a BAM file may have.
    pub(super) fn add_missing_to(&self, mut text: Vec<u8>) -> Vec<u8> {
        if lines(&text).any(|line| line.starts_with(b"@SQ\t")) {
            return text;
        }
        for Sequence { name, length, .. } in &self.list {
            text.extend_from_slice(b"@SQ\tSN:");
            text.extend_from_slice(name);
            text.extend_from_slice(format!("\tLN:{length}\n").as_bytes());
        }
        text
    }

    /// Checks that lines name the same references in the same order, as a format without a list of its own needs.
    ///
    /// # Errors
    /// If they do not.
    pub(super) fn check_text(&self, text: &[u8]) -> Result<(), String> {
        let of_text = Sequence::all_of(text)?;
        let key = |one: &Sequence| (one.name.clone(), one.length);
        match of_text.iter().map(key).eq(self.list.iter().map(key)) {
            true => Ok(()),
            false => {
                Err("the @SQ lines of its header are not the references of its records".to_owned())
            }
        }
    }

    /// Returns the header of BAM with this text.
    pub(super) fn bam_header(&self, text: &[u8]) -> Vec<u8> {
        bam_header_of(text, &self.list)
    }
}

fn lines(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    text.split(|&byte| byte == b'\n').map(<[u8]>::trim_ascii_end).filter(|line| !line.is_empty())
}

/// Parses the references of a header of BAM, whose lengths must not be 0; `None` if it is damaged.
fn of_bam(bytes: &[u8]) -> Option<Vec<Sequence>> {
    let mut at = 8 + size_at(bytes, 4)?;
    let count = size_at(bytes, at)?;
    at += 4;
    let mut list = Vec::new();
    for _ in 0..count {
        let size = size_at(bytes, at)?;
        let name = bytes.get(at + 4..at + 4 + size)?;
        let name = name.strip_suffix(&[0]).unwrap_or(name).to_vec();
        let length = NonZero::new(size_at(bytes, at + 4 + size)?)?;
        list.push(Sequence { name, length, md5: None });
        at += 8 + size;
    }
    Some(list)
}

/// Returns header lines with a line of this program at the end. It follows the last program that no other one follows,
/// and its ID has a number if another line has it already, as in samtools.
pub(super) fn with_program(text: &[u8], command: &str) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len() + 200);
    for line in lines(text) {
        out.extend_from_slice(line);
        out.push(b'\n');
    }
    let programs: Vec<&[u8]> = lines(text).filter(|line| line.starts_with(b"@PG\t")).collect();
    let ids = || programs.iter().filter_map(|line| field(line, b"ID:"));
    let is_followed = |id: &[u8]| {
        programs.iter().any(|line| field(line, b"PP:").is_some_and(|before| before == id))
    };
    let numbered = (1..).map(|number| format!("{PROGRAM}.{number}"));
    let mut names = std::iter::once(PROGRAM.to_owned()).chain(numbered);
    let is_free = |name: &String| ids().all(|id| id != name.as_bytes());
    let name = names.find(is_free).unwrap_or_default();
    out.extend_from_slice(format!("@PG\tID:{name}\tPN:{PROGRAM}").as_bytes());
    if let Some(before) = ids().rfind(|id| !is_followed(id)) {
        out.extend_from_slice(b"\tPP:");
        out.extend_from_slice(before);
    }
    let version = env!("CARGO_PKG_VERSION");
    out.extend_from_slice(format!("\tVN:{version}\tCL:{command}\n").as_bytes());
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::bam_header;

    #[test]
    fn the_program_follows_the_last_one() {
        let of = |text: &str| {
            let text = String::from_utf8(with_program(text.as_bytes(), "x y")).unwrap();
            text.lines().last().unwrap().replace(env!("CARGO_PKG_VERSION"), "V")
        };
        assert_eq!(of("@HD\tVN:1.6\n"), "@PG\tID:merganser\tPN:merganser\tVN:V\tCL:x y");
        let chain = "@PG\tID:a\n@PG\tID:b\tPP:a\r\n@CO\tx\n";
        assert_eq!(of(chain), "@PG\tID:merganser\tPN:merganser\tPP:b\tVN:V\tCL:x y");
        let twice = "@PG\tID:merganser.1\tPP:merganser\n@PG\tID:merganser";
        let expected = "@PG\tID:merganser.2\tPN:merganser\tPP:merganser.1\tVN:V\tCL:x y";
        assert_eq!(of(twice), expected);
    }

    #[test]
    fn references_may_be_only_in_the_binary_part() {
        let contigs = [(&b"a"[..], 5), (b"bc", 7)];
        let header = AlignmentHeader::Bam(bam_header(b"@HD\tVN:1.6\n", contigs.into_iter()));
        let references = References::of(&header).unwrap();
        let text = references.add_missing_to(header.text().to_vec());
        assert_eq!(text, b"@HD\tVN:1.6\n@SQ\tSN:a\tLN:5\n@SQ\tSN:bc\tLN:7\n");
        let again = References::of(&AlignmentHeader::Sam(text.clone())).unwrap();
        assert_eq!((&again.list, again.add_missing_to(text.clone())), (&references.list, text));
        let AlignmentHeader::Bam(mut bytes) = header else { unreachable!() };
        bytes.pop();
        References::of(&AlignmentHeader::Bam(bytes)).unwrap_err();
        References::of(&AlignmentHeader::Sam(b"@SQ\tSN:a\n".to_vec())).unwrap_err();
    }
}
