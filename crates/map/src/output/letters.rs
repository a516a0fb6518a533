//! Letters of the reference. The index stores where ambiguous letters are, but not which ones: they are N
//! unless they are read from the reference's FASTA file.

use std::io::BufRead;
use std::path::Path;

use merganser_alignments::ReferenceLetters;
use merganser_run::Cancel;

use crate::index::Index;
use crate::reference::Text;
use crate::{Contig, Error};

/// The letters of a reference.
pub(crate) struct Letters<'r> {
    text: Text<'r>,
    /// The positions and letters of ambiguous letters other than N, in order.
    others: Vec<(u32, u8)>,
}

impl<'r> Letters<'r> {
    /// Returns the letters of an index's reference. The FASTA file is only needed if the reference has
    /// ambiguous letters.
    ///
    /// # Errors
    /// If the file is needed and not given, cannot be read, or has other sequences.
    pub(crate) fn new(
        index: &'r Index,
        fasta: Option<&Path>,
        cancel: &Cancel,
    ) -> Result<Letters<'r>, Error> {
        let text = index.view().text;
        let others = match fasta {
            _ if text.others.iter().all(|&word| word == 0) => Vec::new(),
            Some(fasta) => read_others(fasta, text.contigs, cancel)?,
            None => {
                return Err(Error::Input(
                    "CRAM needs the ambiguous letters of the reference, which the index does not store: \
                     name the FASTA file with `reference`"
                        .into(),
                ));
            }
        };
        Ok(Letters { text, others })
    }
}

impl ReferenceLetters for Letters<'_> {
    fn contigs(&self) -> &[Contig] {
        self.text.contigs
    }

    fn put(&self, contig: usize, from: u32, bases: u32, out: &mut Vec<u8>) {
        let from = self.text.contigs[contig].start + from;
        let begin = out.len();
        out.extend(
            (from..from + bases).map(|at| b"ACGTN"[usize::from(self.text.code(at as usize))]),
        );
        let first = self.others.partition_point(|&(at, _)| at < from);
        for &(at, letter) in self.others[first..].iter().take_while(|(at, _)| *at < from + bases) {
            out[begin + (at - from) as usize] = letter;
        }
    }
}

/// Whether a letter is a base or N, in either case.
const IS_PLAIN: [bool; 256] = {
    let letters = b"ACGTUNacgtun";
    let mut table = [false; 256];
    let mut at = 0;
    while at < letters.len() {
        table[letters[at] as usize] = true;
        at += 1;
    }
    table
};

/// Reads the letters of a FASTA file other than bases and N, with their positions in the reference.
fn read_others(path: &Path, contigs: &[Contig], cancel: &Cancel) -> Result<Vec<(u32, u8)>, Error> {
    let wrong = |what: String| Error::Input(format!("{}: {what}", path.display()));
    let failed = |error: std::io::Error| wrong(merganser_io::reason(&error));
    let file = merganser_io::open_text(path).map_err(failed)?;
    let mut lines = std::io::BufReader::with_capacity(1 << 18, file);
    let (mut others, mut line) = (Vec::new(), Vec::new());
    let mut contigs = contigs.iter();
    // The open contig, and the number of its bases so far.
    let mut open: Option<(&Contig, u32)> = None;
    let other = || wrong("it is not the reference that the index was made of".into());
    let is_whole = |open: &Option<(&Contig, u32)>| open.is_none_or(|(contig, at)| contig.len == at);
    loop {
        line.clear();
        if lines.read_until(b'\n', &mut line).map_err(failed)? == 0 {
            break;
        }
        cancel.check()?;
        if let Some(header) = line.strip_prefix(b">") {
            let name = header.split(u8::is_ascii_whitespace).next().unwrap_or_default();
            let next = contigs.next().filter(|contig| contig.name.as_bytes() == name);
            if !is_whole(&open) || next.is_none() {
                return Err(other());
            }
            open = next.map(|contig| (contig, 0));
            continue;
        }
        // Fast path: most lines have only bases and N.
        let letters = line.trim_ascii();
        if letters.iter().all(|&letter| IS_PLAIN[usize::from(letter)]) {
            let Some((contig, at)) = &mut open else {
                if letters.is_empty() {
                    continue;
                }
                return Err(other());
            };
            if letters.len() > (contig.len - *at) as usize {
                return Err(other());
            }
            *at += letters.len() as u32;
            continue;
        }
        for letter in letters.iter().filter(|letter| !letter.is_ascii_whitespace()) {
            let Some((contig, at)) = &mut open else { return Err(other()) };
            let letter = letter.to_ascii_uppercase();
            if *at == contig.len {
                return Err(other());
            }
            if !IS_PLAIN[usize::from(letter)] {
                others.push((contig.start + *at, letter));
            }
            *at += 1;
        }
    }
    if !is_whole(&open) || contigs.next().is_some() {
        return Err(other());
    }
    Ok(others)
}
