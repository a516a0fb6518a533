//! Hits as SAM and BAM: the patterns are the reads, and the texts the reference.

use std::io::Write;

use merganser_alignments::{
    Contig, Format as RecordFormat, Record, RecordPlace, RecordStyle, file_head, flag,
};
use merganser_io::{BgzfBlocks, Output, put_decimal};

use super::Format;
use crate::{Config, Error, Hit, Operation, Pattern};

/// The level of compression of BAM, that of `map`.
const LEVEL: u8 = 1;
/// The mapping quality: unknown (SAM specification, section 1.4).
const QUALITY: u8 = 255;
/// The maximum number of bytes of the name of a read (SAM specification, section 1.4).
const MAX_NAME: usize = 254;

/// The texts with their lengths.
#[derive(Debug, Default)]
pub(crate) struct TextLengths {
    /// The texts that are not empty: a length of 0 is not allowed in a header.
    contigs: Vec<Contig>,
    /// The number in `contigs` of each text that is not empty.
    numbers: Vec<Option<u32>>,
}

impl TextLengths {
    /// Adds a text.
    pub(crate) fn push(&mut self, name: String, letters: u64) {
        let is_empty = letters == 0;
        self.numbers.push((!is_empty).then_some(self.contigs.len() as u32));
        if !is_empty {
            let len = u32::try_from(letters).unwrap_or(u32::MAX);
            self.contigs.push(Contig { name, start: 0, len, repeated: 0 });
        }
    }

    /// Returns the text that was added last, unless it is empty.
    pub(crate) fn last(&self) -> Option<&Contig> {
        self.numbers.last()?.and_then(|number| self.contigs.get(number as usize))
    }

    /// Returns the texts that are not empty.
    pub(crate) fn contigs(&self) -> &[Contig] {
        &self.contigs
    }
}

/// Checks that all names of patterns can be names of reads.
pub(crate) fn check_names(patterns: &[Pattern]) -> Result<(), Error> {
    let fits = |name: &str| {
        let is_allowed = |byte: u8| byte.is_ascii_graphic() && byte != b'@';
        (1..=MAX_NAME).contains(&name.len()) && name.bytes().all(is_allowed)
    };
    match patterns.iter().find(|pattern| !fits(pattern.name())) {
        None => Ok(()),
        Some(pattern) => Err(Error::Pattern {
            name: pattern.name().to_owned(),
            problem: format!(
                "names of reads in SAM have up to {MAX_NAME} letters of ASCII without blanks and @: \
                 rename it, or write TSV or BED"
            ),
        }),
    }
}

/// Returns the number of differences of an alignment (NM), which are its edits without those of letters outside the text.
fn differences(operations: &[(Operation, u32)]) -> u32 {
    let differs = |operation| !matches!(operation, Operation::Match | Operation::Clip);
    operations.iter().filter(|(one, _)| differs(*one)).map(|(_, length)| length).sum()
}

/// A writer of hits as alignments.
#[derive(Debug)]
pub(super) struct Alignments {
    format: RecordFormat,
    style: RecordStyle,
    texts: TextLengths,
    /// The compressor of BAM.
    blocks: Option<BgzfBlocks>,
    compressed: Vec<u8>,
    tags: Vec<u8>,
    /// The letters that each alignment has before and after those of its pattern: a PAM.
    beside: [Vec<u8>; 2],
    letters: Vec<u8>,
}

impl Alignments {
    pub(super) fn new(format: Format, texts: TextLengths, config: &Config) -> Alignments {
        let is_binary = format == Format::Bam;
        let format = if is_binary { RecordFormat::Bam(LEVEL) } else { RecordFormat::Sam };
        let style = RecordStyle::all(format, texts.contigs(), true, &[]).remove(0);
        let blocks = is_binary.then(|| BgzfBlocks::new(LEVEL));
        let pam = config.pam.as_ref().map_or_else(Vec::new, |pam| pam.to_string().into_bytes());
        let beside = if config.pam_first { [pam, Vec::new()] } else { [Vec::new(), pam] };
        let (compressed, tags, letters) = (Vec::new(), Vec::new(), Vec::new());
        Alignments { format, style, texts, blocks, compressed, tags, beside, letters }
    }

    /// Returns the beginning of the file. Hits are in the order of the texts, then of their positions.
    pub(super) fn header(&self, command: &str) -> Vec<u8> {
        let mut text = "@HD\tVN:1.6\tSO:coordinate\n".to_owned();
        for contig in self.texts.contigs() {
            text += &format!("@SQ\tSN:{}\tLN:{}\n", contig.name, contig.len);
        }
        text += &format!("@PG\tID:merganser\tPN:merganser\tVN:{}", env!("CARGO_PKG_VERSION"));
        if !command.is_empty() {
            text += &format!("\tCL:{command}");
        }
        text.push('\n');
        file_head(self.format, &text, self.texts.contigs())
    }

    /// Checks that a text and its hits are those of the header.
    pub(super) fn check(&self, number: u64, name: &[u8], hits: &[Hit]) -> Result<(), Error> {
        let known = self.texts.numbers.get(number as usize);
        let fits = known.is_some_and(|contig| match contig {
            Some(contig) => {
                let contig = &self.texts.contigs[*contig as usize];
                let end = hits.iter().map(|hit| hit.alignment.end).max().unwrap_or(0);
                contig.name.as_bytes() == name && end <= contig.len as usize
            }
            None => hits.is_empty(),
        });
        let problem = "the texts changed while they were read: run the search again";
        if fits { Ok(()) } else { Err(Error::Input(problem.to_owned())) }
    }

    /// Appends the record of a hit of a text, which was [checked](Self::check).
    pub(super) fn append(
        &mut self,
        patterns: &[Pattern],
        number: u64,
        hit: &Hit,
        text: &mut Vec<u8>,
    ) {
        let pattern = &patterns[hit.pattern];
        let [before, after] = &self.beside;
        self.letters.clear();
        let parts = [before, pattern.letters(), after];
        parts.iter().for_each(|part| self.letters.extend_from_slice(part));
        let edits = differences(&hit.alignment.operations);
        self.tags.clear();
        match self.format {
            RecordFormat::Sam => {
                self.tags.extend_from_slice(b"\tNM:i:");
                put_decimal(u64::from(edits), &mut self.tags);
            }
            // A pattern has at most 128 letters, and fewer edits.
            _ => self.tags.extend_from_slice(&[b'N', b'M', b'C', edits as u8]),
        }
        let contig = self.texts.numbers[number as usize].unwrap_or_default();
        let at = hit.alignment.start as u32;
        let record = Record {
            name: pattern.name().as_bytes(),
            flags: if hit.reverse { flag::REVERSE } else { 0 },
            place: Some(RecordPlace { contig, at }),
            quality: QUALITY,
            operations: &hit.alignment.operations,
            mate: None,
            template: 0,
            letters: Some([&self.letters, b""]),
            hit: None,
            mate_tags: None,
            read_tags: &self.tags,
        };
        self.style.write(&record, text);
    }

    /// Writes records, those of BAM in whole blocks except for `all`, and removes them from `text`.
    pub(super) fn write(
        &mut self,
        text: &mut Vec<u8>,
        all: bool,
        output: &mut Output,
    ) -> Result<(), Error> {
        let Some(blocks) = &mut self.blocks else {
            output.write_all(text)?;
            text.clear();
            return Ok(());
        };
        self.compressed.clear();
        let written = blocks.compress(text, all, &mut self.compressed);
        text.drain(..written);
        if all {
            self.compressed.extend_from_slice(&BgzfBlocks::END);
        }
        output.write_all(&self.compressed)?;
        Ok(())
    }
}
