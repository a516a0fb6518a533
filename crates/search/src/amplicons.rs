//! In-silico PCR: the stretches of a text between the places of two primers that face each other.

use std::io::Write;
use std::time::Duration;

use merganser_io::{Input, Output, finish_all, put_decimal};
use merganser_run::{ConfigError, Context};
use serde::Serialize;

use crate::output::{put_directed, put_record};
use crate::run::{Receiver, SequenceHits, run_to};
use crate::{Config, Error, Format, Hit, Outcome, Pattern, PrimerPair};

/// The lengths of amplicons that are reported.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "cli", derive(clap::Args), group(skip))]
pub struct Lengths {
    /// Minimum length of an amplicon with its primers, in bases
    #[cfg_attr(feature = "cli", arg(long, value_name = "N", default_value_t = 1))]
    #[cfg_attr(feature = "cli", arg(help_heading = "Primers", requires = "primers"))]
    pub min_amplicon: usize,
    /// Maximum length of an amplicon with its primers, in bases
    #[cfg_attr(feature = "cli", arg(long, value_name = "N", default_value_t = 3000))]
    #[cfg_attr(feature = "cli", arg(help_heading = "Primers", requires = "primers"))]
    pub max_amplicon: usize,
}

/// The largest [`Lengths::max_amplicon`]: that many letters of a sequence are kept in memory.
const MAX_AMPLICON: usize = 10_000_000;

impl Default for Lengths {
    /// Returns all lengths up to 3,000 bases.
    fn default() -> Lengths {
        Lengths { min_amplicon: 1, max_amplicon: 3000 }
    }
}

impl Lengths {
    fn validate(self) -> Result<(), Error> {
        let problem = match self {
            Lengths { max_amplicon, .. } if !(1..=MAX_AMPLICON).contains(&max_amplicon) => {
                "`max_amplicon` is out of range: 1 to 10000000"
            }
            Lengths { min_amplicon, max_amplicon } if min_amplicon > max_amplicon => {
                "`min_amplicon` is larger than `max_amplicon`"
            }
            _ => return Ok(()),
        };
        Err(Error::Config(ConfigError::new(problem)))
    }
}

/// The first line of a table of amplicons.
const HEADER: &[u8] =
    b"sequence\tstart\tend\tpair\tstrand\tlength\tforward_edits\treverse_edits\tamplicon\n";

/// Finds amplicons in the sequences of files, and writes them to an open output, in the order of the texts, then of the
/// hits that end them, then of those that begin them.
///
/// An amplicon begins with a hit of a primer on the forward strand and ends with a hit of the other primer of the pair on
/// the reverse strand, which does not overlap the first one. Its strand is `+` if the forward primer begins it.
///
/// # Errors
/// Fails as [`run_with`](crate::run_with) does, and if the lengths are invalid, or the format is one of alignments.
pub fn run_primers(
    config: &Config,
    lengths: Lengths,
    pairs: &[PrimerPair],
    texts: &[Input],
    (format, output): (Format, Output),
    context: &Context,
) -> Result<Outcome, Error> {
    lengths.validate()?;
    if format.is_of_alignments() {
        let problem = "`format`: amplicons are written as TSV, BED or FASTA";
        return Err(Error::Config(ConfigError::new(problem)));
    }
    let patterns: Vec<Pattern> =
        pairs.iter().flat_map(|pair| [pair.forward.clone(), pair.reverse.clone()]).collect();
    let names = pairs.iter().map(|pair| pair.name.clone()).collect();
    let amplifier = Amplifier::new(lengths, names, format, output);
    let (mut outcome, amplifier) = run_to(config, &patterns, texts, amplifier, context)?;
    outcome.amplicons = Some(amplifier.amplicons);
    outcome.stages.add("sync", amplifier.finish()?);
    Ok(outcome)
}

/// Finds and writes the amplicons of sequences.
struct Amplifier {
    lengths: Lengths,
    names: Vec<String>,
    format: Format,
    output: Output,
    begun: bool,
    text: Vec<u8>,
    /// The last letters of the sequence, and the position of the first of these.
    letters: Vec<u8>,
    first: usize,
    /// The hits that may begin an amplicon.
    open: Vec<Hit>,
    amplicons: u64,
}

impl Amplifier {
    fn new(lengths: Lengths, names: Vec<String>, format: Format, output: Output) -> Amplifier {
        Amplifier {
            lengths,
            names,
            format,
            output,
            begun: false,
            text: Vec::new(),
            letters: Vec::new(),
            first: 0,
            open: Vec::new(),
            amplicons: 0,
        }
    }

    fn begin(&mut self) -> Result<(), Error> {
        if !self.begun && self.format == Format::Tsv {
            self.output.write_all(HEADER)?;
        }
        self.begun = true;
        Ok(())
    }

    fn finish(mut self) -> Result<Duration, Error> {
        self.begin()?;
        Ok(finish_all([self.output])?)
    }

    /// Writes the amplicons that end with a hit on the reverse strand.
    fn end(&mut self, sequence: &[u8], last: &Hit) {
        let end = last.alignment.end;
        for at in 0..self.open.len() {
            let first = &self.open[at];
            let length = end.saturating_sub(first.alignment.start);
            // Patterns 2i and 2i + 1 are the primers of pair i.
            let faces = first.pattern ^ 1 == last.pattern
                && first.alignment.end <= last.alignment.start
                && (self.lengths.min_amplicon..=self.lengths.max_amplicon).contains(&length);
            if faces {
                let start = first.alignment.start;
                let edits = [first.edits, last.edits];
                self.write(
                    sequence,
                    start..end,
                    last.pattern / 2,
                    last.pattern.is_multiple_of(2),
                    edits,
                );
            }
        }
    }

    fn write(
        &mut self,
        sequence: &[u8],
        place: std::ops::Range<usize>,
        pair: usize,
        reverse: bool,
        edits: [usize; 2],
    ) {
        self.amplicons += 1;
        let text = &mut self.text;
        let [forward, backward] = if reverse { [edits[1], edits[0]] } else { edits };
        let name = self.names[pair].as_bytes();
        let strand: &[u8] = if reverse { b"-" } else { b"+" };
        let letters = &self.letters[place.start - self.first..place.end - self.first];
        let decimal = |number: usize, text: &mut Vec<u8>| put_decimal(number as u64, text);
        if self.format == Format::Fasta {
            put_record(name, sequence, &place, reverse, letters, text);
            return;
        }
        text.extend_from_slice(sequence);
        for number in [place.start, place.end] {
            text.push(b'\t');
            decimal(number, text);
        }
        text.extend([b"\t", name, b"\t"].concat());
        if self.format == Format::Bed {
            decimal(forward + backward, text);
            text.extend([b"\t", strand, b"\n"].concat());
            return;
        }
        text.extend_from_slice(strand);
        for number in [place.len(), forward, backward] {
            text.push(b'\t');
            decimal(number, text);
        }
        text.push(b'\t');
        put_directed(letters, reverse, text);
        text.push(b'\n');
    }
}

impl Receiver for Amplifier {
    fn wants_letters(&self) -> bool {
        true
    }

    fn receive(&mut self, _: &[Pattern], some: &SequenceHits<'_>) -> Result<(), Error> {
        self.begin()?;
        self.letters.extend_from_slice(some.letters);
        self.open.extend(some.hits.iter().filter(|hit| !hit.reverse).cloned());
        for last in some.hits.iter().filter(|hit| hit.reverse) {
            self.end(some.name, last);
            if self.text.len() > 1 << 16 {
                self.output.write_all(&self.text)?;
                self.text.clear();
            }
        }
        self.output.write_all(&self.text)?;
        self.text.clear();
        if some.limit == usize::MAX {
            (self.letters, self.first) = (Vec::new(), 0);
            self.open.clear();
            return Ok(());
        }
        // No later amplicon begins before this position.
        let earliest = some.limit.saturating_sub(self.lengths.max_amplicon);
        self.open.retain(|hit| hit.alignment.start >= earliest);
        let unneeded = earliest.saturating_sub(self.first).min(self.letters.len());
        self.letters.drain(..unneeded);
        self.first += unneeded;
        Ok(())
    }
}
