//! Search for the first position at or after a given one at which a file can be cut.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::ops::Range;

use memchr::memchr;

use super::members::{find_member, near, text_from};
use crate::chunk::is_blank;
use crate::compress::Compression;
use crate::format::Format;
use crate::there::uninterrupted;

/// A position in a file; the default is its beginning.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Cut {
    /// The offset in the file of the gzip member that contains the position; in plain text, of the position itself.
    pub(crate) offset: u64,
    /// The number of bytes of the member's text before the position.
    pub(crate) skip: u64,
    /// The bases before the position that are repeated, if it is within a FASTA sequence.
    pub(crate) repeated: Option<Vec<u8>>,
}

/// Returns the position at which a file of `size` bytes is cut for the first of these ascending borders at which it can be
/// cut; `None` if it can be cut at none. The position is at or after the border, and the same for a border alone as
/// among others.
pub(crate) fn find(
    file: &File,
    size: u64,
    (compression, format): (Compression, Format),
    borders: &mut dyn Iterator<Item = u64>,
    overlap: usize,
) -> io::Result<Option<Cut>> {
    let mut finder = Finder::new(format, overlap);
    if compression == Compression::None {
        // If no record begins after one border, none begins after a later one.
        let Some(at) = borders.next() else { return Ok(None) };
        let mut file = file.try_clone()?;
        file.seek(SeekFrom::Start(at))?;
        let mut text = file.take(size - at);
        let found = search(&mut finder, |buffer| text.read(buffer))?;
        return Ok(found.map(|skip| Cut {
            offset: at + skip,
            skip: 0,
            repeated: finder.repeated(),
        }));
    }
    // Members are looked for near a border only, so that there may be one near a later border. No byte is searched twice.
    let mut searched = 0;
    let members = borders.map(|border| {
        let Range { start, end } = near(border);
        let range = start.max(searched)..end;
        searched = end;
        find_member(file, size, compression, range)
    });
    let Some(first) = members.filter_map(Result::transpose).next().transpose()? else {
        return Ok(None);
    };
    let mut text = text_from(file.try_clone()?, first)?;
    // The offsets in the text at which members begin.
    let (mut members, mut behind) = (Vec::new(), 0);
    let found = search(&mut finder, |buffer| {
        let read = text.read(buffer)?;
        if members.last().is_none_or(|&(_, member)| member != text.member()) {
            members.push((behind, text.member()));
        }
        behind += read as u64;
        Ok(read)
    })?;
    Ok(found.map(|found| {
        let of = members.partition_point(|&(begin, _)| begin <= found) - 1;
        let (begin, member) = members[of];
        Cut { offset: member, skip: found - begin, repeated: finder.repeated() }
    }))
}

/// Reads until the position is found and returns its distance from the beginning of the text.
fn search(
    finder: &mut Finder,
    mut read: impl FnMut(&mut [u8]) -> io::Result<usize>,
) -> io::Result<Option<u64>> {
    let mut buffer = vec![0; 1 << 16];
    loop {
        let read = uninterrupted(|| read(&mut buffer))?;
        if read == 0 {
            return Ok(None);
        }
        if let Some(found) = finder.feed(&buffer[..read]) {
            return Ok(Some(found));
        }
    }
}

/// A search for the position in a text that begins anywhere in a file.
struct Finder {
    format: Format,
    /// The number of bases that must precede a position within a sequence.
    overlap: usize,
    /// The number of bytes fed before.
    fed: u64,
    /// Whether the next byte begins a line.
    at_start: bool,
    /// Whether the current line is complete. The first one is not, and is ignored.
    is_whole: bool,
    /// The offsets and first bytes of the last two lines of FASTQ.
    lines: [Option<(u64, u8)>; 2],
    /// The last bases of complete lines of FASTA.
    bases: Vec<u8>,
    /// Whether the line is a header or a comment of FASTA.
    in_header: bool,
    /// Whether the position is within a FASTA sequence.
    within: bool,
}

impl Finder {
    fn new(format: Format, overlap: usize) -> Finder {
        Finder {
            format,
            overlap,
            fed: 0,
            at_start: false,
            is_whole: false,
            lines: [None; 2],
            bases: Vec::new(),
            in_header: false,
            within: false,
        }
    }

    /// Returns the bases that are repeated, once the position is found.
    fn repeated(&self) -> Option<Vec<u8>> {
        self.within.then(|| self.bases.clone())
    }

    /// Adds more text, and returns the position, relative to the beginning of all text, once it is found.
    fn feed(&mut self, mut text: &[u8]) -> Option<u64> {
        while !text.is_empty() {
            if self.at_start {
                self.at_start = false;
                let found = match self.format {
                    Format::Fasta => self.fasta_line(text[0]),
                    _ => self.fastq_line(text[0]),
                };
                if found.is_some() {
                    return found;
                }
            }
            let end = memchr(b'\n', text);
            let line = &text[..end.unwrap_or(text.len())];
            if self.format == Format::Fasta && self.is_whole && !self.in_header {
                self.add_bases(line);
            }
            let taken = line.len() + usize::from(end.is_some());
            if end.is_some() {
                self.end_line();
            }
            self.fed += taken as u64;
            text = &text[taken..];
        }
        None
    }

    fn end_line(&mut self) {
        (self.at_start, self.is_whole, self.in_header) = (true, true, false);
    }

    fn add_bases(&mut self, line: &[u8]) {
        self.bases.extend(line.iter().filter(|byte| !is_blank(**byte)));
        let surplus = self.bases.len().saturating_sub(self.overlap);
        self.bases.drain(..surplus);
    }

    /// Handles the beginning of a FASTA line.
    fn fasta_line(&mut self, first: u8) -> Option<u64> {
        if first == b'>' {
            return Some(self.fed);
        }
        if first == b';' {
            self.in_header = true;
            return None;
        }
        if self.bases.len() >= self.overlap {
            self.within = true;
            return Some(self.fed);
        }
        None
    }

    /// Handles the beginning of a FASTQ line.
    ///
    /// The first of the four lines of a record begins with `@` and the third with `+`, the second with neither, and
    /// the fourth with any character. If a line begins with `@`, the next with neither `@` nor `+`, and the one
    /// after that with `+`, then the first of these is the first line of a record. It cannot be the second line,
    /// because then the next would begin with `+`; nor the third, because that begins with `+`; nor the fourth,
    /// because then the next would begin with `@`.
    fn fastq_line(&mut self, first: u8) -> Option<u64> {
        if let [Some((at, b'@')), Some((_, between))] = self.lines
            && first == b'+'
            && !matches!(between, b'@' | b'+')
        {
            return Some(at);
        }
        self.lines = [self.lines[1], Some((self.fed, first))];
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn place(
        format: Format,
        overlap: usize,
        text: &[u8],
        step: usize,
    ) -> Option<(u64, Option<Vec<u8>>)> {
        let mut finder = Finder::new(format, overlap);
        let found = text.chunks(step).find_map(|piece| finder.feed(piece))?;
        Some((found, finder.repeated()))
    }

    proptest! {
        /// The position is the next record, whatever qualities and headers begin with.
        #[test]
        fn records_of_fastq_are_never_mistaken(
            records in proptest::collection::vec(
                ("[@+A-Z]{0,5}", "[ACGTN]{0,6}", "[@+I]{0,6}", "[@+a]{0,3}"), 0..8),
            at in 0usize..120, step in 1usize..9, crlf: bool,
        ) {
            let end = if crlf { "\r\n" } else { "\n" };
            let (mut text, mut begins) = (String::new(), Vec::new());
            for (name, bases, quality, again) in &records {
                begins.push(text.len());
                let quality = format!("{quality}IIIIII");
                let quality = &quality[..bases.len()];
                text += &format!("@{name}{end}{bases}{end}+{again}{end}{quality}{end}");
            }
            let at = at.min(text.len());
            // A record whose name line is incomplete is ignored; the next one may be found.
            let found = place(Format::Fastq, 0, &text.as_bytes()[at..], step).map(|(found, _)| at + found as usize);
            let expected = begins.iter().copied().find(|&begin| begin > at);
            prop_assert_eq!(found, expected);
        }

        #[test]
        fn sequences_are_cut_behind_enough_bases(
            contigs in proptest::collection::vec(
                ("[@+A-Z >]{0,5}", proptest::collection::vec("[ACGTN \t]{0,7}|;[ACGT>]{0,4}", 0..6)), 0..5),
            at in 0usize..150, step in 1usize..9, overlap in 0usize..9, crlf: bool,
        ) {
            let end = if crlf { "\r\n" } else { "\n" };
            let mut text = String::new();
            // For each line: its offset, and the bases of the contig before it; `None` for a header.
            let mut lines = Vec::new();
            for (name, sequence) in &contigs {
                lines.push((text.len(), None));
                text += &format!(">{name}{end}");
                let mut before = String::new();
                for line in sequence {
                    let is_comment = line.starts_with(';');
                    if !is_comment {
                        lines.push((text.len(), Some(before.clone())));
                    }
                    text += &format!("{line}{end}");
                    before.extend(line.chars().filter(|_| !is_comment).filter(|c| !c.is_whitespace()));
                }
            }
            let at = at.min(text.len());
            let found = place(Format::Fasta, overlap, &text.as_bytes()[at..], step);
            let mut seen = None;
            let mut expected = None;
            for (begin, before) in &lines {
                if *begin <= at {
                    continue;
                }
                let Some(before) = before else { expected = Some((*begin - at, None)); break };
                // The bases of lines that are known to be complete.
                let known = seen.get_or_insert(before.len());
                if before.len() - *known >= overlap {
                    let again = before.as_bytes()[before.len() - overlap..].to_vec();
                    expected = Some((*begin - at, Some(again)));
                    break;
                }
            }
            let found = found.map(|(found, again)| (found as usize, again));
            prop_assert_eq!(found, expected);
        }
    }
}
