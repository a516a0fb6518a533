//! Filters, trims or masks reads by their k-mers that a table has.

mod alignments;
#[cfg(feature = "cli")]
mod cli;

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

use merganser_alignments::{SinkForm, TemplatePass};
use merganser_io::{CommentTags, Output, OutputSet, ReadInput, text_bytes};
use merganser_run::{ConfigError, Context};
use merganser_seq::base::Homopolymers;

use alignments::Alignments;
pub use alignments::{FilterOutputs, filter_reads_in};

use super::batch::{self, OfReads, Read};
use super::mates::{Enough, Mates};
use super::{Job, record_bytes, reserved_bytes};
use crate::Error;
use crate::lookup::{LookupOptions, Use, open_lookup};
use crate::tables::AnyTable;

/// A number of k-mers, or a fraction of the k-mers of a read, rounded down to a number as kmc_tools does. A
/// read without k-mers reaches no fraction except 0.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Limit {
    /// A number of k-mers.
    Number(u64),
    /// A fraction of the k-mers of a read, 0 to 1.
    Part(f64),
}

impl FromStr for Limit {
    type Err = String;

    /// Parses a whole number, or a number with a decimal point as a fraction.
    fn from_str(text: &str) -> Result<Limit, String> {
        if let Ok(number) = text.parse() {
            return Ok(Limit::Number(number));
        }
        match text.parse::<f64>() {
            Ok(part) if (0.0..=1.0).contains(&part) => Ok(Limit::Part(part)),
            _ => {
                Err(format!("'{text}' is neither a number of hits nor a fraction from 0.0 to 1.0"))
            }
        }
    }
}

impl fmt::Display for Limit {
    /// Writes the text that [parses](Limit::from_str) as this limit.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Limit::Number(number) => write!(formatter, "{number}"),
            Limit::Part(part) => write!(formatter, "{part:?}"),
        }
    }
}

impl Limit {
    /// Whether `hits` of `kmers` k-mers are at least this limit.
    fn reached(self, hits: u64, kmers: u64) -> bool {
        match self {
            Limit::Number(number) => hits >= number,
            Limit::Part(part) if kmers == 0 => part == 0.0,
            Limit::Part(part) => hits >= (part * kmers as f64) as u64,
        }
    }

    /// Whether no read can reach this limit without passing `most`, whatever its length.
    fn exceeds(self, most: Limit) -> bool {
        match (self, most) {
            (Limit::Number(least), Limit::Number(most)) => least > most,
            (Limit::Part(least), Limit::Part(most)) => least > most,
            _ => false,
        }
    }

    /// Whether `hits` of `kmers` k-mers are more than this limit.
    fn passed(self, hits: u64, kmers: u64) -> bool {
        match self {
            Limit::Number(number) => hits > number,
            Limit::Part(part) => hits > (part * kmers as f64) as u64,
        }
    }
}

merganser_run::named! {
    /// The way in which bases are masked.
    pub enum Mask {
        /// Masked bases become N.
        Hard = "hard",
        /// Masked bases become lower case, all others upper case.
        Soft = "soft",
    }
}

/// The action of a filter.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Action {
    /// Keeps whole reads whose number of hits is between the two limits, and drops the others.
    Select(Limit, Option<Limit>),
    /// Cuts a read before the last base of its first k-mer that is not in the table; drops it if fewer than k
    /// bases are left.
    Trim,
    /// Masks all bases of k-mers that are not in the table.
    Mask(Mask),
}

/// The configuration of a filter.
///
/// ```
/// use merganser_kmers::reads::{FilterConfig, Limit, Mates};
///
/// let min_hits = Limit::Part(0.5);
/// let config = FilterConfig { min_hits, pairs: Mates::Both, ..FilterConfig::default() };
/// assert_eq!((config.max_hits, config.trim, config.mask), (None, false, None));
/// ```
// The doc comments of the fields are the help texts of the command line.
#[derive(Clone, Copy, Debug)]
#[cfg_attr(feature = "cli", derive(clap::Args), group(skip))]
pub struct FilterConfig {
    /// Keep reads with N hits or more; with a decimal point (0.5), N is a fraction of their
    /// k-mers, rounded down
    #[cfg_attr(feature = "cli", arg(long, value_name = "N", default_value = "2"))]
    #[cfg_attr(feature = "cli", arg(value_parser = cli::LimitParser))]
    #[cfg_attr(feature = "cli", arg(conflicts_with_all = ["trim", "mask"]))]
    pub min_hits: Limit,
    /// Keep reads with N hits or less; with a decimal point, N is a fraction [default: no limit]
    #[cfg_attr(feature = "cli", arg(long, value_name = "N", value_parser = cli::LimitParser))]
    #[cfg_attr(feature = "cli", arg(conflicts_with_all = ["trim", "mask"]))]
    pub max_hits: Option<Limit>,
    /// Cut reads before the last base of their first k-mer that is not in the table; drop
    /// reads shorter than k
    #[cfg_attr(feature = "cli", arg(long, conflicts_with = "mask"))]
    pub trim: bool,
    /// Mask all bases of k-mers that are not in the table: as N, or in lower case
    #[cfg_attr(feature = "cli", arg(long, value_name = "HOW"))]
    pub mask: Option<Mask>,
    /// Keep what would be dropped; trim at, or mask, the k-mers that are in the table
    #[cfg_attr(feature = "cli", arg(long))]
    pub invert: bool,
    /// Keep a pair if any mate would be kept, if both would, or by the hits of both together
    #[cfg_attr(feature = "cli", arg(long, value_name = "WHICH", default_value_t))]
    pub pairs: Mates,
    /// Whether mates are paired by their position in the inputs, whatever their names; otherwise their names must
    /// be [names of mates](merganser_io::are_mates).
    #[cfg_attr(feature = "cli", arg(skip))]
    pub any_names: bool,
}

impl Default for FilterConfig {
    /// Returns a filter that keeps reads with two hits or more, and pairs with such a mate.
    fn default() -> FilterConfig {
        FilterConfig {
            min_hits: Limit::Number(2),
            max_hits: None,
            trim: false,
            mask: None,
            invert: false,
            pairs: Mates::default(),
            any_names: false,
        }
    }
}

impl FilterConfig {
    /// Checks that a read can be within both limits.
    ///
    /// # Errors
    /// [`Error::Config`], which names the fields.
    pub fn validate(&self) -> Result<(), Error> {
        let least = self.min_hits;
        match self.max_hits.filter(|&most| least.exceeds(most)) {
            Some(most) => Err(Error::Config(ConfigError::new(format!(
                "`min_hits` {least} (2 by default) is larger than `max_hits` {most}"
            )))),
            None => Ok(()),
        }
    }

    fn action(&self) -> Action {
        match self.mask {
            _ if self.trim => Action::Trim,
            Some(mask) => Action::Mask(mask),
            None => Action::Select(self.min_hits, self.max_hits),
        }
    }
}

/// The results of a filter. A pair counts as two reads.
#[derive(Clone, Copy, Debug, Default)]
#[non_exhaustive]
pub struct Filtered {
    /// The number of reads of the input.
    pub reads: u64,
    /// The number of reads that were kept.
    pub kept: u64,
    /// The number of bases that were cut off or masked in them.
    pub changed_bases: u64,
    /// The number of secondary and supplementary alignments that were skipped.
    pub skipped_alignments: u64,
}

/// Filters reads by the k-mers that they share with a table, one input after the other, and writes those that are kept
/// to the files `outputs`, in the order of the input: all to one file, or first and second mates to one each. Names in
/// `.sam`, `.bam` and `.cram` get [alignments](filter_reads_in). The files appear at the end.
///
/// The progress stages are those of [`open_lookup`], and `filtering`, in bytes of input.
///
/// # Errors
/// If the configuration is [invalid](FilterConfig::validate), the table cannot be read, an input is invalid, mates do not
/// belong together, memory is too small, or an output cannot be written. Then no output exists.
pub fn filter_reads(
    config: &FilterConfig,
    table: AnyTable,
    reads: impl IntoIterator<Item = impl Into<ReadInput>>,
    outputs: impl IntoIterator<Item = impl Into<PathBuf>>,
    context: &Context,
) -> Result<Filtered, Error> {
    let reads: Vec<ReadInput> = reads.into_iter().map(Into::into).collect();
    let (outputs, set) = (FilterOutputs::new(outputs), OutputSet::new());
    outputs.are_alignments(config)?;
    let homopolymer_compressed = table.description().homopolymer_compressed;
    let options = LookupOptions {
        purpose: Use::Reads,
        reserved: reserved_bytes(context.budget(), context.threads),
        input: text_bytes(reads.iter().flat_map(ReadInput::inputs)),
        ..LookupOptions::new(context)
    };
    let lookup = &*open_lookup(table, &options)?;
    let record_bytes = record_bytes(context.budget(), context.threads, lookup);
    let job = Job { lookup, homopolymer_compressed, context, record_bytes };
    let filtered = filter_reads_in(config, job, &reads, (&outputs, &set));
    let filtered = context.cancel.over_error(filtered)?;
    set.commit()?;
    Ok(filtered)
}

/// Filters reads like [`filter_reads`], with a table that was opened before, to open outputs.
///
/// # Errors
/// If the configuration is [invalid](FilterConfig::validate), an input is invalid, mates do not belong together, or an
/// output cannot be written.
pub fn filter_reads_with(
    config: &FilterConfig,
    job: Job<'_>,
    segments: &[ReadInput],
    outputs: &mut [Output],
) -> Result<Filtered, Error> {
    config.validate()?;
    filter_text(config, job, segments, outputs, &CommentTags::None)
}

/// Filters reads to outputs of text, with tags of alignments as comments.
fn filter_text(
    config: &FilterConfig,
    job: Job<'_>,
    segments: &[ReadInput],
    outputs: &mut [Output],
    tags: &CommentTags,
) -> Result<Filtered, Error> {
    let alignments = Alignments { pass: TemplatePass::of_text(tags), output: None };
    let filter = Filter::new(config, &job, outputs.len(), alignments);
    filter.run(job, segments, outputs)
}

struct Filter<'f> {
    config: &'f FilterConfig,
    k: usize,
    /// Whether k-mers are those of homopolymer-compressed reads.
    compressed: bool,
    outputs: usize,
    alignments: Alignments<'f>,
}

impl OfReads for Filter<'_> {
    type Tally = Filtered;

    fn texts(&self) -> usize {
        self.outputs
    }

    fn any_names(&self) -> Option<bool> {
        Some(self.config.any_names)
    }

    fn pass(&self) -> Option<&TemplatePass<'_>> {
        Some(&self.alignments.pass)
    }

    /// Returns the copies for alignments: as they were read, as they are written, and compressed.
    fn more_copies(&self) -> u64 {
        if self.alignments.output.is_some() { 4 } else { 0 }
    }

    fn compress(&self, texts: &mut [Vec<u8>]) -> Result<(), Error> {
        match &self.alignments.output {
            Some(output) => output.compress(&mut texts[0]),
            None => Ok(()),
        }
    }

    fn settle(&self, texts: &mut [Vec<u8>], _outputs: &mut [Output]) -> Result<(), Error> {
        match &self.alignments.output {
            Some(output) => output.write(&texts[0]),
            None => Ok(()),
        }
    }

    fn enough_hits(&self) -> Option<Enough> {
        match self.config.action() {
            Action::Select(Limit::Number(hits @ 1..), None) => {
                Some(Enough { hits, mates: self.config.pairs })
            }
            _ => None,
        }
    }

    fn unit(
        &self,
        reads: &mut [Read<'_>],
        texts: &mut [Vec<u8>],
        done: &mut Filtered,
    ) -> Result<(), Error> {
        done.reads += reads.len() as u64;
        let (stays, masks) = match self.config.action() {
            Action::Select(least, most) => (self.selects(reads, least, most), false),
            Action::Trim => (self.trim(reads, done), false),
            Action::Mask(_) => (true, true),
        };
        if self.alignments.pass.collects_names() {
            return self.note(&reads[0], stays);
        }
        if !stays {
            return Ok(());
        }
        done.kept += reads.len() as u64;
        for (mate, read) in reads.iter().enumerate() {
            let text = &mut texts[mate % self.outputs];
            if let Some(output) = &self.alignments.output {
                put_alignments(read, &output.form, text)?;
                continue;
            }
            let place = read.record.write(text);
            if masks {
                self.mask(&mut text[place], read.counts, done);
            }
        }
        Ok(())
    }
}

/// Appends the alignments of a read.
fn put_alignments(read: &Read<'_>, form: &SinkForm, text: &mut Vec<u8>) -> Result<(), Error> {
    let Some(writer) = form.alignments() else { return Ok(()) };
    let (batch, at) = read.origin;
    Ok(writer.put(batch, at, text)?)
}

impl<'f> Filter<'f> {
    fn new(
        config: &'f FilterConfig,
        job: &Job<'_>,
        outputs: usize,
        alignments: Alignments<'f>,
    ) -> Filter<'f> {
        let (k, compressed) = (job.lookup.k(), job.homopolymer_compressed);
        Filter { config, k, compressed, outputs, alignments }
    }

    /// Filters the reads of all segments.
    fn run(
        &self,
        job: Job<'_>,
        segments: &[ReadInput],
        outputs: &mut [Output],
    ) -> Result<Filtered, Error> {
        let done = batch::run(job, self, segments, batch::FILTERING, outputs)?;
        let none = Filtered { skipped_alignments: done.skipped, ..Filtered::default() };
        let filtered = done.tallies.into_iter().fold(none, |sum, part| Filtered {
            reads: sum.reads + part.reads,
            kept: sum.kept + part.kept,
            changed_bases: sum.changed_bases + part.changed_bases,
            ..sum
        });
        job.context.warnings.expect_reads(filtered.reads);
        Ok(filtered)
    }

    /// Collects the name of a read or pair if it decides about its template.
    fn note(&self, read: &Read<'_>, stays: bool) -> Result<(), Error> {
        let (batch, at) = read.origin;
        let decides = stays == self.config.keeps_named();
        let noted = decides.then_some(at / batch.mates());
        Ok(self.alignments.pass.note(batch, noted.into_iter())?)
    }

    /// Whether a read or pair is kept by its hits.
    fn selects(&self, unit: &[Read<'_>], least: Limit, most: Option<Limit>) -> bool {
        let hits = |read: &Read<'_>| {
            let found = read.counts.iter().filter(|&&count| count > 0).count();
            (found as u64, read.counts.len() as u64)
        };
        let within = |(hits, kmers): (u64, u64)| {
            least.reached(hits, kmers) && !most.is_some_and(|most| most.passed(hits, kmers))
        };
        let mut each = unit.iter().map(hits);
        let stays = match self.config.pairs {
            Mates::Any => each.any(within),
            Mates::Both => each.all(within),
            Mates::Together => within(each.fold((0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1))),
        };
        stays != self.config.invert
    }

    fn is_bad(&self, count: u32) -> bool {
        (count == 0) != self.config.invert
    }

    /// Trims a read or the reads of a pair, and returns whether it is kept.
    fn trim(&self, unit: &mut [Read<'_>], done: &mut Filtered) -> bool {
        let (mut left, mut cut) = (0, 0);
        for Read { record, counts, .. } in &mut *unit {
            let whole = record.letters.len();
            if counts.is_empty() {
                continue;
            }
            let length = match counts.iter().position(|&count| self.is_bad(count)) {
                Some(0) => 0,
                Some(first) => self.position(record.letters, first + self.k - 1),
                None => whole,
            };
            record.letters = &record.letters[..length];
            record.quality = record.quality.map(|quality| &quality[..length]);
            cut += (whole - length) as u64;
            left += usize::from(length > 0);
        }
        let stays = if self.config.pairs == Mates::Both { left == unit.len() } else { left > 0 };
        done.changed_bases += if stays { cut } else { 0 };
        stays
    }

    /// Returns the position in `letters` of a letter that k-mers consist of: in a compressed read, these are the first
    /// letters of its homopolymers.
    fn position(&self, letters: &[u8], number: usize) -> usize {
        if !self.compressed {
            return number;
        }
        let mut runs = Homopolymers::default();
        let mut first = letters.iter().enumerate().filter(|(_, letter)| runs.begins(**letter));
        first.nth(number).map_or(letters.len(), |(at, _)| at)
    }

    /// Masks the letters of a read: in a compressed read, whole homopolymers.
    fn mask(&self, letters: &mut [u8], counts: &[u32], done: &mut Filtered) {
        let soft = self.config.mask == Some(Mask::Soft);
        let (mut runs, mut begun, mut until) = (Homopolymers::default(), 0, 0);
        for letter in letters {
            if !self.compressed || runs.begins(*letter) {
                if counts.get(begun).is_some_and(|&count| self.is_bad(count)) {
                    until = begun + self.k;
                }
                begun += 1;
            }
            let masked = begun <= until;
            done.changed_bases += u64::from(masked);
            match (masked, soft) {
                (true, false) => *letter = b'N',
                (true, true) => letter.make_ascii_lowercase(),
                (false, true) => letter.make_ascii_uppercase(),
                (false, false) => {}
            }
        }
    }
}
