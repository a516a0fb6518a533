//! File formats and the suffixes of file names that request them.

use std::fmt;
use std::path::Path;

/// A format that the name of an output can request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum OutputFormat {
    /// A table of k-mers of this program.
    Mgk,
    /// A KMC database, named by either of its files.
    Kmc,
    /// k-mers in KFF.
    Kff,
    /// A binary table of Jellyfish.
    Jellyfish,
    /// A FastK table.
    FastK,
    /// A meryl database.
    Meryl,
    /// A table in the Parquet format.
    Parquet,
    /// A matrix of k-mers and samples of this program.
    Matrix,
    /// A range of an assembly evaluation of this program.
    Range,
    /// A database for classification of this program.
    Database,
    /// An index for mapping of this program.
    Index,
    /// A minimizer set of a host, of this program.
    HostSet,
    /// A minimizer set in the format of Deacon.
    Deacon,
    /// Lines of fields that are separated by tabs.
    Tsv,
    /// Pairs of counts in the format of Smudgeplot.
    Smudges,
    /// Lines of fields that are separated by commas.
    Csv,
    /// JSON.
    Json,
    /// A web page.
    Html,
    /// A vector image.
    Svg,
    /// A raster image with lossless compression.
    Png,
    /// A PDF document.
    Pdf,
    /// A raster image with lossy compression.
    Jpeg,
    /// Another image format.
    Picture,
    /// Sequences.
    Fasta,
    /// Reads with qualities.
    Fastq,
    /// Alignments in SAM, as text.
    Sam,
    /// Alignments in BAM.
    Bam,
    /// Alignments in CRAM, compressed with a reference.
    Cram,
    /// Alignments in the format of minimap2.
    Paf,
    /// Variants.
    Vcf,
    /// Intervals.
    Bed,
    /// Intervals with values.
    BedGraph,
    /// Values along sequences.
    Wig,
    /// Annotations.
    Gff,
    /// Values along sequences, with an index.
    BigWig,
    /// A spreadsheet.
    Spreadsheet,
}

/// A compression format that the name of an output can request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OutputCompression {
    /// gzip, written as BGZF.
    Gzip,
    /// Zstandard.
    Zstd,
    /// bzip2.
    Bzip2,
    /// xz.
    Xz,
    /// A ZIP archive.
    Zip,
}

/// Suffixes in lower case, and their formats. Names with any other suffix request no format.
const FORMATS: &[(&str, OutputFormat)] = &[
    ("mgk", OutputFormat::Mgk),
    ("kmc_pre", OutputFormat::Kmc),
    ("kmc_suf", OutputFormat::Kmc),
    ("kff", OutputFormat::Kff),
    ("jf", OutputFormat::Jellyfish),
    ("ktab", OutputFormat::FastK),
    ("meryl", OutputFormat::Meryl),
    ("parquet", OutputFormat::Parquet),
    ("mgx", OutputFormat::Matrix),
    ("mgq", OutputFormat::Range),
    ("mgdb", OutputFormat::Database),
    ("mgi", OutputFormat::Index),
    ("mgd", OutputFormat::HostSet),
    ("idx", OutputFormat::Deacon),
    ("tsv", OutputFormat::Tsv),
    ("smu", OutputFormat::Smudges),
    ("csv", OutputFormat::Csv),
    ("json", OutputFormat::Json),
    ("html", OutputFormat::Html),
    ("htm", OutputFormat::Html),
    ("svg", OutputFormat::Svg),
    ("png", OutputFormat::Png),
    ("pdf", OutputFormat::Pdf),
    ("jpg", OutputFormat::Jpeg),
    ("jpeg", OutputFormat::Jpeg),
    ("gif", OutputFormat::Picture),
    ("tif", OutputFormat::Picture),
    ("tiff", OutputFormat::Picture),
    ("webp", OutputFormat::Picture),
    ("eps", OutputFormat::Picture),
    ("fa", OutputFormat::Fasta),
    ("fasta", OutputFormat::Fasta),
    ("fna", OutputFormat::Fasta),
    ("fq", OutputFormat::Fastq),
    ("fastq", OutputFormat::Fastq),
    ("sam", OutputFormat::Sam),
    ("bam", OutputFormat::Bam),
    ("cram", OutputFormat::Cram),
    ("paf", OutputFormat::Paf),
    ("vcf", OutputFormat::Vcf),
    ("bcf", OutputFormat::Vcf),
    ("bed", OutputFormat::Bed),
    ("bedgraph", OutputFormat::BedGraph),
    ("bg", OutputFormat::BedGraph),
    ("bdg", OutputFormat::BedGraph),
    ("wig", OutputFormat::Wig),
    ("gff", OutputFormat::Gff),
    ("gff3", OutputFormat::Gff),
    ("gtf", OutputFormat::Gff),
    ("bw", OutputFormat::BigWig),
    ("bigwig", OutputFormat::BigWig),
    ("xls", OutputFormat::Spreadsheet),
    ("xlsx", OutputFormat::Spreadsheet),
];

const COMPRESSIONS: &[(&str, OutputCompression)] = &[
    ("gz", OutputCompression::Gzip),
    ("bgz", OutputCompression::Gzip),
    ("zst", OutputCompression::Zstd),
    ("bz2", OutputCompression::Bzip2),
    ("xz", OutputCompression::Xz),
    ("zip", OutputCompression::Zip),
];

impl OutputFormat {
    /// Returns the format that the name of a file requests, ignoring case and a suffix of a compression format.
    pub fn of_name(path: &Path) -> Option<OutputFormat> {
        of_suffix(uncompressed(path)?, FORMATS)
    }

    /// Whether the name of a file is that of a text of no particular format, `.txt`, ignoring case and a suffix of a
    /// compression format.
    pub fn is_text_name(path: &Path) -> bool {
        uncompressed(path).and_then(|name| of_suffix(name, &[("txt", ())])).is_some()
    }

    /// Returns the suffix of the format.
    pub fn suffix(self) -> &'static str {
        FORMATS.iter().find(|(_, format)| *format == self).map_or("", |(suffix, _)| suffix)
    }
}

impl fmt::Display for OutputFormat {
    /// Writes the name of the format.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            OutputFormat::Mgk => "a .mgk table",
            OutputFormat::Kmc => "a KMC database",
            OutputFormat::Kff => "KFF",
            OutputFormat::Jellyfish => "Jellyfish's binary format",
            OutputFormat::FastK => "a table of FastK",
            OutputFormat::Meryl => "a database of meryl",
            OutputFormat::Parquet => "Parquet",
            OutputFormat::Matrix => "a .mgx matrix",
            OutputFormat::Range => "a .mgq range",
            OutputFormat::Database => "a .mgdb database",
            OutputFormat::Index => "a .mgi index",
            OutputFormat::HostSet => "a .mgd set",
            OutputFormat::Deacon => "a set of Deacon",
            OutputFormat::Tsv => "TSV",
            OutputFormat::Smudges => "a .smu file of Smudgeplot",
            OutputFormat::Csv => "CSV",
            OutputFormat::Json => "JSON",
            OutputFormat::Html => "HTML",
            OutputFormat::Svg => "SVG",
            OutputFormat::Png => "PNG",
            OutputFormat::Pdf => "PDF",
            OutputFormat::Jpeg => "JPEG",
            OutputFormat::Picture => "this image format",
            OutputFormat::Gff => "GFF or GTF",
            OutputFormat::BigWig => "bigWig",
            OutputFormat::Fasta => "FASTA",
            OutputFormat::Fastq => "FASTQ",
            OutputFormat::Sam => "SAM",
            OutputFormat::Bam => "BAM",
            OutputFormat::Cram => "CRAM",
            OutputFormat::Paf => "PAF",
            OutputFormat::Vcf => "VCF or BCF",
            OutputFormat::Bed => "BED",
            OutputFormat::BedGraph => "bedGraph",
            OutputFormat::Wig => "wig",
            OutputFormat::Spreadsheet => "a spreadsheet",
        })
    }
}

impl OutputCompression {
    /// Returns the compression that the name of a file requests, ignoring case.
    pub fn of_name(path: &Path) -> Option<OutputCompression> {
        of_suffix(path, COMPRESSIONS)
    }

    /// Returns the suffix of the compression format.
    pub fn suffix(self) -> &'static str {
        COMPRESSIONS.iter().find(|(_, own)| *own == self).map_or("", |(suffix, _)| suffix)
    }
}

/// Returns a name without a suffix of a compression format.
fn uncompressed(path: &Path) -> Option<&Path> {
    match OutputCompression::of_name(path) {
        Some(_) => path.file_stem().map(Path::new),
        None => Some(path),
    }
}

fn of_suffix<T: Copy>(path: &Path, table: &[(&str, T)]) -> Option<T> {
    let suffix = path.extension()?.to_str()?;
    let found = table.iter().find(|(known, _)| known.eq_ignore_ascii_case(suffix));
    found.map(|(_, what)| *what)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_ask_for_formats() {
        let of = |name: &str| {
            let path = Path::new(name);
            (OutputFormat::of_name(path), OutputCompression::of_name(path))
        };
        assert_eq!(of("a/x.tsv"), (Some(OutputFormat::Tsv), None));
        assert_eq!(of("x.TSV.GZ"), (Some(OutputFormat::Tsv), Some(OutputCompression::Gzip)));
        assert_eq!(
            of("x.v1.fastq.zst"),
            (Some(OutputFormat::Fastq), Some(OutputCompression::Zstd))
        );
        for name in
            ["x", ".tsv", "x.txt", "x.hist", "tsv", "x.tsv.old", "x.gz.txt", "-", "/dev/null"]
        {
            assert_eq!(of(name), (None, None), "{name}");
        }
        assert_eq!(of("x.gz"), (None, Some(OutputCompression::Gzip)));
        for (suffix, format) in FORMATS {
            assert_eq!(of(&format!("x.{suffix}")).0, Some(*format));
            assert_eq!(of(&format!("x.{}", format.suffix())).0, Some(*format));
        }
    }
}
