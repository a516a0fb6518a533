//! Looks up k-mers given by the user.

use std::io::Write;
use std::ops::Range;

use merganser_io::{
    Input, LineChunk, LineReader, Output, ReaderOptions, SequencesOnly, put_decimal,
};
use merganser_seq::base::{self, Homopolymers};

use merganser_run::engine::Source;

use super::Job;
use super::pass::{self, PassJob};
use crate::Error;
use crate::error::bad;

/// The number of bytes that are parsed at a time: few, so that a pipe gets its first answers soon.
const CHUNK_BYTES: usize = 128 << 10;
/// The largest length of a line; only its first word is used.
const LONGEST_LINE: usize = 1 << 20;
/// The memory of a letter in bytes: for its k-mer as it was read and as sorted for a look-up, for its position among
/// the sorted k-mers, and for the answer.
const LETTER_BYTES: u64 = 4;

/// Writes `KMER<TAB>COUNT` for each of `kmers`, as they are given, in their order. If one is not a k-mer of the
/// table, the inner result is a message about it; the k-mers before it are answered.
///
/// # Errors
/// If the table cannot be read, or the output cannot be written.
pub fn query(
    job: Job<'_>,
    kmers: &[String],
    output: &mut Output,
) -> Result<Result<(), String>, Error> {
    let (lookup, mut letters) = (job.lookup, Vec::new());
    let rule = Rule::of(job);
    let added = kmers.iter().try_for_each(|kmer| rule.add(kmer.as_bytes(), &mut letters));
    let (mut counts, mut text) = (Vec::new(), Vec::new());
    lookup.counts(&letters, lookup.k() + 1, &mut counts)?;
    answer(&letters, lookup.k(), &counts, &mut text);
    output.write_all(&text)?;
    Ok(added)
}

/// Writes `KMER<TAB>COUNT` for the first word of each line of `input`, as it is given, in their order; lines
/// without a word are skipped. About `bytes` of memory are used for k-mers that are looked up together.
///
/// # Errors
/// If a word is not a k-mer of the table, the input or the table cannot be read, or the output cannot be
/// written. The k-mers before the error are answered.
pub fn query_lines(
    job: Job<'_>,
    input: &Input,
    bytes: u64,
    output: &mut Output,
) -> Result<(), Error> {
    let options = ReaderOptions::<SequencesOnly> {
        chunk_bytes: CHUNK_BYTES,
        overlap: 0,
        workers: job.context.threads,
        max_record: LONGEST_LINE,
        cancel: job.context.cancel.clone(),
        warnings: job.context.warnings.clone(),
        ..ReaderOptions::default()
    };
    let reader = LineReader::open(input, options, |_| 1)?;
    let most = (bytes / LETTER_BYTES) as usize;
    let lines = Lines { reader, rule: Rule::of(job), most };
    pass::run(job, &lines, std::slice::from_mut(output)).map(drop)
}

/// The properties of valid k-mers.
#[derive(Clone, Copy)]
struct Rule {
    k: usize,
    homopolymer_compressed: bool,
}

impl Rule {
    fn of(job: Job<'_>) -> Rule {
        Rule { k: job.lookup.k(), homopolymer_compressed: job.homopolymer_compressed }
    }

    /// Adds a k-mer and a separator, or returns a message if it is not valid.
    fn add(self, text: &[u8], letters: &mut Vec<u8>) -> Result<(), String> {
        let are_bases = text.iter().all(|&letter| base::is_base(letter));
        let runs = Homopolymers::compressed(text).count() < text.len();
        if text.len() == self.k && are_bases && !(self.homopolymer_compressed && runs) {
            letters.extend_from_slice(text);
            letters.push(b'\n');
            return Ok(());
        }
        let k = self.k;
        let text = String::from_utf8_lossy(text);
        let is_base = |letter: char| u8::try_from(letter).is_ok_and(base::is_base);
        Err(match text.chars().find(|&letter| !is_base(letter)) {
            Some('>') => {
                "queries are k-mers, one per line, not FASTA: merganser kmers profile prints the counts along sequences"
                    .to_owned()
            }
            Some(letter) => {
                format!("'{text}' has the letter '{letter}': k-mers are made of A C G T (or U)")
            }
            None if self.homopolymer_compressed && runs => {
                format!(
                    "'{text}' has equal neighbouring bases: the k-mers of this table are homopolymer-compressed"
                )
            }
            None => {
                format!("'{text}' has {} letters: the k-mers of this table have {k}", text.len())
            }
        })
    }
}

/// Appends a line for each k-mer.
fn answer(letters: &[u8], k: usize, counts: &[u32], text: &mut Vec<u8>) {
    text.reserve(letters.len() + 4 * counts.len());
    for (kmer, &count) in letters.chunks(k + 1).zip(counts) {
        text.extend_from_slice(&kmer[..k]);
        text.push(b'\t');
        put_decimal(u64::from(count), text);
        text.push(b'\n');
    }
}

struct Lines {
    reader: LineReader,
    rule: Rule,
    /// The largest number of letters that are looked up together.
    most: usize,
}

/// The k-mers of some lines.
#[derive(Default)]
pub(super) struct Asked {
    /// The k-mers, each with a separator.
    letters: Vec<u8>,
    number: u64,
    /// The number of k-mers.
    kmers: usize,
    /// The error in the line after these k-mers.
    fault: Option<Error>,
    /// The text of the next lines.
    chunk: LineChunk,
}

impl Lines {
    /// Parses the k-mers of the lines up to the first error.
    fn parse(&self, asked: &mut Asked) -> Result<(), Error> {
        let Asked { letters, chunk, .. } = asked;
        for (number, line) in chunk.text().split(|&byte| byte == b'\n').enumerate() {
            let mut words = line.split(u8::is_ascii_whitespace);
            let Some(word) = words.find(|word| !word.is_empty()) else { continue };
            self.rule.add(word, letters).map_err(|what| {
                let line = chunk.line() + number as u64 + 1;
                bad(chunk.name().as_ref(), format!("line {line}: {what}"))
            })?;
        }
        Ok(())
    }
}

impl Source for Lines {
    type Batch = Asked;
    type Error = Error;

    fn next(&self, asked: &mut Asked) -> Result<Option<u64>, Error> {
        asked.letters.clear();
        let filled = self.reader.next_lines(&mut asked.chunk);
        asked.number = asked.chunk.number();
        if !filled? {
            return Ok(None);
        }
        // The k-mers before the error are answered.
        asked.fault = self.parse(asked).err();
        asked.kmers = asked.letters.len() / self.stride();
        Ok(Some(asked.chunk.source_bytes()))
    }

    fn fault_behind(asked: &mut Asked) -> Option<Error> {
        asked.fault.take()
    }

    fn number(asked: &Asked) -> u64 {
        asked.number
    }

    fn stop(&self, _number: u64) {
        self.reader.stop();
    }
}

impl PassJob for Lines {
    type Tally = ();

    fn texts(&self) -> usize {
        1
    }

    fn max_letters(&self) -> [usize; 2] {
        // One chunk per thread at first, so that a pipe gets its first answers soon.
        [1, self.most]
    }

    fn stride(&self) -> usize {
        self.rule.k + 1
    }

    fn copy(asked: &Asked) -> Asked {
        let Asked { letters, number, kmers, .. } = asked;
        Asked { letters: letters.clone(), number: *number, kmers: *kmers, ..Asked::default() }
    }

    fn items(asked: &Asked) -> usize {
        asked.kmers
    }

    fn letters(&self, asked: &Asked) -> usize {
        asked.letters.len()
    }

    fn join(&self, asked: &Asked, from: usize, most: usize, letters: &mut Vec<u8>) -> usize {
        let wanted = most.saturating_sub(letters.len()).div_ceil(self.stride()).max(1);
        let to = asked.kmers.min(from.saturating_add(wanted));
        letters.extend_from_slice(&asked.letters[from * self.stride()..to * self.stride()]);
        to
    }

    fn make(
        &self,
        asked: &Asked,
        kmers: Range<usize>,
        counts: &mut [u32],
        texts: &mut [Vec<u8>],
        (): &mut (),
    ) -> Result<(), Error> {
        let letters = &asked.letters[kmers.start * self.stride()..kmers.end * self.stride()];
        answer(letters, self.rule.k, counts, &mut texts[0]);
        Ok(())
    }
}
