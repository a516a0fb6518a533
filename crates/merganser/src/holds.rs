//! Formats of outputs, and checks of the formats that file names ask for.

use std::path::{Path, PathBuf};

use anyhow::{Result, bail};
use clap::ValueEnum;
use merganser_alignments::ReadFormat;
use merganser_io::{FileKind, Input, OutputCompression, OutputFormat};

use crate::console::Console;

/// The formats and compressions that an output can have. A name that asks for no format gets the default one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Holds {
    /// The formats, the default first; `None` for any format.
    formats: Option<&'static [OutputFormat]>,
    compressions: &'static [OutputCompression],
}

const TEXT: &[OutputCompression] = &[OutputCompression::Gzip];
const ANY_COMPRESSION: &[OutputCompression] = &[
    OutputCompression::Gzip,
    OutputCompression::Zstd,
    OutputCompression::Bzip2,
    OutputCompression::Xz,
    OutputCompression::Zip,
];

/// A value of `--format`.
pub(crate) trait FormatChoice: ValueEnum + Copy + 'static {
    /// Returns the format that suffixes ask for, if this value has one.
    fn format(self) -> Option<OutputFormat>;

    /// Returns the value given with `--format`; otherwise the one that the output's name asks for; otherwise
    /// the default.
    fn choose(given: Option<Self>, output: Option<&Path>, default: Self) -> Self {
        let asked = || {
            let asked = OutputFormat::of_name(output?)?;
            Self::value_variants().iter().copied().find(|value| value.format() == Some(asked))
        };
        given.or_else(asked).unwrap_or(default)
    }

    /// Returns the path of an output in this format. That of a KMC database has no suffix, even if the name of one of
    /// its files is given.
    fn path(self, output: &Path) -> PathBuf {
        let is_file = OutputFormat::of_name(output) == Some(OutputFormat::Kmc);
        match self.format() {
            Some(OutputFormat::Kmc) if is_file => output.with_extension(""),
            _ => output.to_owned(),
        }
    }

    /// Returns the formats of an output: any of the kind of `given`, or `by_name` if no format was given.
    fn holds(given: Option<Self>, by_name: Holds) -> Holds {
        match given.map(Self::format) {
            None => by_name,
            Some(format) if format.is_none_or(is_text) => Holds::ANY_TEXT,
            Some(_) => Holds::ANY_BINARY,
        }
    }

    /// Prints a note if the format that the output's name asks for is not the given one.
    fn note(given: Option<Self>, output: &Path, console: &Console) {
        let Some(given) = given else { return };
        let Some(asked) = OutputFormat::of_name(output) else { return };
        if given.format() != Some(asked) {
            let name = output.display();
            console.info(format_args!(
                "note: {name}: --format decides: this file is not {asked}, although its name says so"
            ));
        }
    }
}

impl FormatChoice for ReadFormat {
    fn format(self) -> Option<OutputFormat> {
        match self {
            ReadFormat::Fastq => Some(OutputFormat::Fastq),
            ReadFormat::Sam => Some(OutputFormat::Sam),
            ReadFormat::Bam => Some(OutputFormat::Bam),
            ReadFormat::Cram => Some(OutputFormat::Cram),
        }
    }
}

impl FormatChoice for merganser_search::Format {
    fn format(self) -> Option<OutputFormat> {
        Some(self.suffix())
    }
}

impl Holds {
    /// Any format: the program chooses the name.
    pub(crate) const ANYTHING: Holds = Holds { formats: None, compressions: ANY_COMPRESSION };
    /// Text, in a format that an option selects.
    const ANY_TEXT: Holds = Holds { formats: None, compressions: TEXT };
    /// Binary data, in a format that an option selects.
    const ANY_BINARY: Holds = Holds { formats: None, compressions: &[] };
    /// Lines of tab-separated fields.
    pub(crate) const LINES: Holds = Holds::text(&[OutputFormat::Tsv]);
    /// Lines of counts of pairs.
    pub(crate) const PAIRS: Holds = Holds::text(&[OutputFormat::Tsv, OutputFormat::Smudges]);
    /// JSON.
    pub(crate) const JSON: Holds = Holds::text(&[OutputFormat::Json]);
    /// An HTML page.
    pub(crate) const PAGE: Holds = Holds::text(&[OutputFormat::Html]);
    /// A plot.
    pub(crate) const PICTURE: Holds =
        Holds::binary(&[OutputFormat::Svg, OutputFormat::Png, OutputFormat::Pdf]);
    /// Reads in the format of the input.
    pub(crate) const READS: Holds = Holds::text(&[OutputFormat::Fastq, OutputFormat::Fasta]);
    /// Reads in the format of the input, which may be compressed as Zstandard.
    pub(crate) const READS_OR_ZSTD: Holds =
        Holds { compressions: &[OutputCompression::Gzip, OutputCompression::Zstd], ..Holds::READS };
    /// Reads in the format of the input, as depletion writes them.
    pub(crate) const DEPLETED_READS: Holds = Holds {
        compressions: &[OutputCompression::Gzip, OutputCompression::Zstd],
        ..Holds::ANY_READS
    };
    /// Reads, as text or as alignments.
    pub(crate) const ANY_READS: Holds = Holds::text(&[
        OutputFormat::Fastq,
        OutputFormat::Fasta,
        OutputFormat::Sam,
        OutputFormat::Bam,
        OutputFormat::Cram,
    ]);
    /// Alignments.
    pub(crate) const ALIGNMENTS: Holds =
        Holds::text(&[OutputFormat::Sam, OutputFormat::Bam, OutputFormat::Cram]);
    /// Hits of patterns.
    pub(crate) const HITS: Holds = Holds::text(&[
        OutputFormat::Tsv,
        OutputFormat::Bed,
        OutputFormat::Fasta,
        OutputFormat::Sam,
        OutputFormat::Bam,
    ]);
    /// Intervals of sequences.
    pub(crate) const INTERVALS: Holds = Holds::text(&[OutputFormat::Bed]);
    /// A value for each position of sequences.
    pub(crate) const VALUES: Holds = Holds::text(&[OutputFormat::BedGraph, OutputFormat::Wig]);
    /// Amplicons of primers.
    pub(crate) const AMPLICONS: Holds =
        Holds::text(&[OutputFormat::Tsv, OutputFormat::Bed, OutputFormat::Fasta]);
    /// Alignments of shards.
    pub(crate) const BAM: Holds = Holds::binary(&[OutputFormat::Bam]);
    /// A k-mer table.
    pub(crate) const TABLE: Holds = Holds::text(&[
        OutputFormat::Mgk,
        OutputFormat::Kmc,
        OutputFormat::Kff,
        OutputFormat::Jellyfish,
        OutputFormat::Parquet,
        OutputFormat::Tsv,
        OutputFormat::Fasta,
    ]);
    /// A k-mer table of `merganser count`.
    pub(crate) const COUNTED_TABLE: Holds = Holds::text(&[
        OutputFormat::Mgk,
        OutputFormat::Kmc,
        OutputFormat::Kff,
        OutputFormat::Jellyfish,
        OutputFormat::Parquet,
        OutputFormat::Tsv,
    ]);
    /// k-mers as text.
    pub(crate) const KMER_LINES: Holds = Holds::text(&[OutputFormat::Tsv, OutputFormat::Fasta]);
    /// A matrix of k-mers by samples.
    pub(crate) const MATRIX: Holds =
        Holds::text(&[OutputFormat::Tsv, OutputFormat::Parquet, OutputFormat::Matrix]);
    /// A range of the results of `kmers qv`.
    pub(crate) const RANGE: Holds = Holds::binary(&[OutputFormat::Range]);
    /// A database for classification.
    pub(crate) const DATABASE: Holds = Holds::binary(&[OutputFormat::Database]);
    /// An index for mapping.
    pub(crate) const INDEX: Holds = Holds::binary(&[OutputFormat::Index]);
    /// A set of minimizers.
    pub(crate) const HOST_SET: Holds =
        Holds::binary(&[OutputFormat::HostSet, OutputFormat::Deacon]);
    /// Partial results, whose names have no particular suffix.
    pub(crate) const PARTIAL: Holds = Holds::text(&[]);

    const fn text(formats: &'static [OutputFormat]) -> Holds {
        Holds { formats: Some(formats), compressions: TEXT }
    }

    const fn binary(formats: &'static [OutputFormat]) -> Holds {
        Holds { formats: Some(formats), compressions: &[] }
    }

    /// Returns what is wrong with a name, if it asks for a format that this output cannot have.
    pub(crate) fn problem(self, path: &Path) -> Option<String> {
        let name = path.display();
        let format = OutputFormat::of_name(path);
        let formats = self.formats.unwrap_or_default();
        if let Some(asked) =
            format.filter(|format| self.formats.is_some() && !formats.contains(format))
        {
            return Some(format!(
                "{name}: this output cannot be {asked}: {}",
                self.remedy(formats)
            ));
        }
        if let Some(first) = formats.first().filter(|first| !is_text(**first))
            && OutputFormat::is_text_name(path)
        {
            return Some(format!(
                "{name}: this output is {first} by default: {}",
                self.remedy(formats)
            ));
        }
        let asked = OutputCompression::of_name(path)?;
        if !self.compressions.contains(&asked) {
            let suffix = asked.suffix();
            return Some(format!(
                "{name}: this output cannot be compressed as .{suffix}: {}",
                self.remedy(formats)
            ));
        }
        // A name that asks for no format gets the default one.
        let binary = format.or(formats.first().copied()).filter(|format| !is_text(*format));
        let binary = binary.filter(|_| self.formats.is_some())?;
        Some(format!("{name}: {binary} is already compressed: leave .{} out", asked.suffix()))
    }

    /// Returns a hint about the names that are possible.
    fn remedy(self, formats: &[OutputFormat]) -> String {
        let suffixes: Vec<String> =
            formats.iter().map(|format| format!(".{}", format.suffix())).collect();
        let compressed: Vec<String> =
            self.compressions.iter().map(|of| format!(".{}", of.suffix())).collect();
        let compressed = match &compressed[..] {
            [] => String::new(),
            all => format!(" ({} after it compresses text)", all.join(" or ")),
        };
        match &suffixes[..] {
            [] => format!("give it a name without such a suffix{compressed}"),
            all => format!("end its name in {}{compressed}", all.join(", ")),
        }
    }
}

/// Whether a format is text, which may be compressed.
fn is_text(format: OutputFormat) -> bool {
    use OutputFormat::{Bed, BedGraph, Csv, Fasta, Fastq, Html, Json, Sam, Smudges, Tsv, Wig};
    matches!(format, Bed | BedGraph | Csv | Fasta | Fastq | Html | Json | Sam | Smudges | Tsv | Wig)
}

/// Prints a note if mates are written to a single file.
pub(crate) fn note_interleaved(
    paths: &[PathBuf],
    are_pairs: bool,
    remedy: &str,
    console: &Console,
) {
    if let [path] = paths
        && are_pairs
        && path.as_os_str() != "-"
    {
        let name = path.display();
        console
            .info(format_args!("note: {name}: first and second mates are interleaved; {remedy}"));
    }
}

/// Refuses an output for reads whose name asks for a format that the reads do not have. Reads are written as FASTQ if
/// they have qualities, otherwise as FASTA. Inputs that are not regular files are not checked.
///
/// # Errors
/// Names the output, and suggests a suffix.
pub(crate) fn refuse_other_reads(paths: &[PathBuf], inputs: &[Input]) -> Result<()> {
    // Not a usage error: the content of an input does not fit.
    other_reads(paths, inputs).map_or(Ok(()), |problem| bail!(problem))
}

fn other_reads(paths: &[PathBuf], inputs: &[Input]) -> Option<String> {
    let kinds = inputs.iter().filter_map(|input| Some((input, FileKind::of_path(input.path()?)?)));
    let kinds: Vec<_> = kinds.collect();
    paths.iter().find_map(|path| {
        let name = path.display();
        let find = |wanted: &dyn Fn(FileKind) -> bool| kinds.iter().find(|(_, kind)| wanted(*kind));
        match OutputFormat::of_name(path)? {
            OutputFormat::Fastq => find(&|kind| kind == FileKind::Fasta).map(|(input, _)| {
                format!("{name}: the reads of {input} have no qualities, which FASTQ needs: end its name in .fa")
            }),
            OutputFormat::Fasta => find(&FileKind::is_reads).map(|(input, _)| {
                format!("{name}: the reads of {input} have qualities, and are written as FASTQ: end its name in .fq")
            }),
            _ => None,
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_ask_for_what_cannot_be_are_refused() {
        let problem = |holds: Holds, name: &str| holds.problem(Path::new(name)).unwrap_or_default();
        for (holds, name) in [
            (Holds::LINES, "x.tsv"),
            (Holds::LINES, "x.tsv.gz"),
            (Holds::LINES, "x.kreport"),
            (Holds::LINES, "-"),
            (Holds::READS, "x.fa"),
            (Holds::DEPLETED_READS, "x.fq.zst"),
            (Holds::PICTURE, "x.picture"),
            (Holds::TABLE, "x.kff"),
            (Holds::COUNTED_TABLE, "x.jf"),
            (Holds::HITS, "x.bed.gz"),
            (Holds::LINES, "x.txt"),
            (Holds::HITS, "x.txt.gz"),
            (Holds::VALUES, "x.txt"),
            (Holds::VALUES, "x.bedgraph.gz"),
            (Holds::ANYTHING, "x.bam.xz"),
        ] {
            assert_eq!(problem(holds, name), "", "{name}");
        }
        for (holds, name, what) in [
            (Holds::LINES, "x.bam", "cannot be BAM: end its name in .tsv (.gz after it"),
            (Holds::LINES, "x.txt.xz", "cannot be compressed as .xz: end its name in .tsv"),
            (Holds::READS, "x.BAM", "cannot be BAM: end its name in .fq, .fa"),
            (Holds::READS, "x.fq.zst", "cannot be compressed as .zst"),
            (Holds::PICTURE, "x.jpg", "cannot be JPEG: end its name in .svg, .png, .pdf"),
            (Holds::TABLE, "x.mgk.gz", "a .mgk table is already compressed: leave .gz out"),
            (Holds::TABLE, "x.jf.gz", "Jellyfish's binary format is already compressed"),
            (Holds::TABLE, "x.gz", "a .mgk table is already compressed: leave .gz out"),
            (Holds::HITS, "x.bam.gz", "BAM is already compressed: leave .gz out"),
            (Holds::TABLE, "x.txt", "is a .mgk table by default: end its name in .mgk"),
            (Holds::COUNTED_TABLE, "x.TXT.gz", "is a .mgk table by default"),
            (Holds::HITS, "x.gff3", "cannot be GFF or GTF: end its name in .tsv"),
            (Holds::VALUES, "x.bw", "cannot be bigWig"),
            (Holds::PARTIAL, "x.tsv", "cannot be TSV: give it a name without such a suffix"),
        ] {
            assert!(problem(holds, name).contains(what), "{name}: {}", problem(holds, name));
        }
    }
}
