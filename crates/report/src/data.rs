//! The data of pages, plots and MultiQC sections: the results of a run over one sample.
//!
//! `--report-data FILE` writes [`Data`] as JSON, which `merganser report html` and `plot` read. Commands fill it in;
//! this crate draws it. Names (of samples, files, taxa, contigs) may contain any characters.

use serde::{Deserialize, Serialize};

/// The version of the JSON format that is written. Earlier versions, which have fewer fields, are read, too.
pub const FORMAT: u32 = 2;

/// Rows of a histogram: a value and its number, in order of values.
pub type Rows = Vec<(u64, u64)>;

/// The results of one run over one sample.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Data {
    /// The version of the format, at most [`FORMAT`].
    pub format: u32,
    /// The program's version.
    pub version: String,
    /// The command as typed by the user: `count`, `kmers qv`, `classify` …
    pub command: String,
    /// The sample's name.
    pub sample: String,
    /// Names of the inputs, without folders.
    pub inputs: Vec<String>,
    /// Options that affect the results, with their values.
    pub parameters: Vec<(String, String)>,
    /// Warnings about the results, one sentence each.
    pub warnings: Vec<String>,
    /// Remarks about the results that are no warnings, one sentence each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// The spectrum of k-mers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spectrum: Option<Spectrum>,
    /// The taxa of reads.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub taxa: Option<Taxa>,
    /// The quality of assemblies.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub assembly: Option<Assembly>,
    /// The mapping of reads to a reference.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mapping: Option<Mapping>,
    /// The decisions of a filter.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decisions: Option<Decisions>,
    /// The hits of a search for patterns.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub search: Option<Search>,
    /// The reads that were kept or extracted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub selection: Option<Selection>,
    /// The first records of each input with reads.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reads: Vec<Reads>,
    /// The contents of a database.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub database: Option<Database>,
}

impl Data {
    /// Makes data without results.
    pub fn new(version: &str, command: &str, sample: &str) -> Data {
        Data {
            format: FORMAT,
            version: version.to_owned(),
            command: command.to_owned(),
            sample: sample.to_owned(),
            inputs: Vec::new(),
            parameters: Vec::new(),
            warnings: Vec::new(),
            notes: Vec::new(),
            spectrum: None,
            taxa: None,
            assembly: None,
            mapping: None,
            decisions: None,
            search: None,
            selection: None,
            reads: Vec::new(),
            database: None,
        }
    }

    /// Returns the data as one line of JSON, with its line end.
    ///
    /// # Errors
    /// None are known: all values can be written.
    pub fn to_line(&self) -> serde_json::Result<String> {
        serde_json::to_string(self).map(|line| line + "\n")
    }

    /// Parses lines of [`to_line`](Data::to_line); blank lines are skipped.
    ///
    /// # Errors
    /// The number of the first invalid line, from 1, and the reason.
    pub fn parse(text: &str) -> Result<Vec<Data>, (usize, String)> {
        let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
        lines.map(|(at, line)| one(line).map_err(|why| (at + 1, why))).collect()
    }
}

/// Parses one run.
fn one(line: &str) -> Result<Data, String> {
    #[derive(Deserialize)]
    struct Head {
        format: Option<u32>,
        version: Option<String>,
    }
    let wrong = |why: serde_json::Error| format!("not results of a run: {why}").replace('`', "'");
    let head: Head = serde_json::from_str(line).map_err(wrong)?;
    match (head.format, head.version) {
        (Some(1..=FORMAT), _) => serde_json::from_str(line).map_err(wrong),
        (Some(_), Some(version)) => {
            Err(format!("written by merganser {version}: use that version or a newer one"))
        }
        _ => Err("not results of a run, as --report-data writes".to_owned()),
    }
}

/// A histogram of k-mer counts, and its model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Spectrum {
    /// The length of the k-mers in bases.
    pub k: usize,
    /// Counts, and the number of distinct k-mers with each.
    pub rows: Rows,
    /// The model of the histogram, if one fits.
    pub model: Option<Model>,
}

impl Spectrum {
    /// Returns the count up to which this share of the k-mers that occur more than once lies; `None` if
    /// there are no such k-mers.
    pub(crate) fn count_of_share(&self, share: f64) -> Option<u64> {
        let several = self.rows.iter().filter(|row| row.0 > 1);
        let total: u64 = several.clone().map(|row| row.1).sum();
        let mut sum = 0;
        let found = several.into_iter().find(|row| {
            sum += row.1;
            sum as f64 >= share * total as f64
        });
        found.map(|row| row.0)
    }
}

/// The model of a histogram, with the values of `merganser_spectrum::Model`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Model {
    /// The number of copies of the genome in a cell.
    pub ploidy: u32,
    /// The k-mer coverage of one copy of the genome.
    pub coverage: f64,
    /// The number of bases of one copy.
    pub genome_size: f64,
    /// The number of bases of one copy that are not in repeats.
    pub unique_size: f64,
    /// The fraction of positions at which copies differ.
    pub heterozygosity: f64,
    /// The fraction of the genome's unique part that occurs a second time.
    pub duplication: f64,
    /// The overdispersion of the counts, which GenomeScope prints as `dup`, if it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bias: Option<f64>,
    /// Errors per base of the reads, if they can be estimated.
    pub error_rate: Option<f64>,
    /// The standard errors of the values, if they are known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub standard_errors: Option<StandardErrors>,
    /// The fraction of k-mers that the model explains, 0 to 1.
    pub explained: f64,
    /// The smallest count that is not mostly of errors.
    pub from: usize,
    /// The expected number of distinct k-mers by count, from 0, without errors.
    pub expected: Vec<f64>,
}

/// The standard errors of the values of a [`Model`], of the same names.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StandardErrors {
    /// The error of the k-mer coverage.
    pub coverage: f64,
    /// The error of the number of bases of one copy.
    pub genome_size: f64,
    /// The error of the number of bases that are not in repeats.
    pub unique_size: f64,
    /// The error of the fraction of positions at which copies differ.
    pub heterozygosity: f64,
    /// The error of the duplicated fraction.
    pub duplication: f64,
    /// The error of the errors per base, if these can be estimated.
    pub error_rate: Option<f64>,
}

/// The taxa of a sample, as in a Kraken-style report.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Taxa {
    /// The number of reads or pairs of the sample.
    pub reads: u64,
    /// The number of unclassified reads.
    pub unclassified: u64,
    /// The number of bases of all reads, if counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bases: Option<u64>,
    /// The number of bases of unclassified reads, if counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unclassified_bases: Option<u64>,
    /// The taxa; parents precede their children, and siblings have the order of the report.
    pub rows: Vec<Taxon>,
}

/// One taxon of a sample.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Taxon {
    /// The depth below the root, which has 0.
    #[serde(rename = "d")]
    pub depth: u32,
    /// The rank code: `D`, `P`, `C`, `O`, `F`, `G`, `S`, with a number for ranks between; `R` is the root.
    #[serde(rename = "r")]
    pub rank: String,
    /// The taxid.
    #[serde(rename = "t")]
    pub taxid: u64,
    /// The name, without indent.
    #[serde(rename = "n")]
    pub name: String,
    /// The number of reads of the clade.
    #[serde(rename = "c")]
    pub clade: u64,
    /// The number of reads of the taxon itself.
    #[serde(rename = "o")]
    pub own: u64,
    /// The number of bases of the reads of the clade, if counted.
    #[serde(rename = "b", default, skip_serializing_if = "Option::is_none")]
    pub bases: Option<u64>,
    /// The number of k-mers (minimizers or features) in the reads of the clade that are in the database, if counted.
    #[serde(rename = "k", default, skip_serializing_if = "Option::is_none")]
    pub kmers: Option<u64>,
    /// The approximate number of distinct k-mers among these, if counted. If it is small for many reads, the taxon
    /// may be absent.
    #[serde(rename = "u", default, skip_serializing_if = "Option::is_none")]
    pub distinct: Option<u64>,
    /// The estimated share of the clade in all classified reads, 0 to 1, if estimated.
    #[serde(rename = "a", default, skip_serializing_if = "Option::is_none")]
    pub abundance: Option<f64>,
}

/// The evaluation of assemblies with the k-mers of reads.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Assembly {
    /// The length of the k-mers in bases.
    pub k: usize,
    /// The quality of each assembly, and of all together if there are several.
    pub judged: Vec<AssemblyQuality>,
    /// Histograms of the reads' k-mers by class: by copy number in each assembly, and by assembly.
    pub spectra: Vec<ClassSpectrum>,
    /// The haplotypes in the assemblies, if the parents are known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub haplotypes: Option<Haplotypes>,
}

/// The quality of an assembly.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AssemblyQuality {
    /// The assembly's name.
    pub name: String,
    /// The number of k-mers in the assembly.
    pub kmers: u64,
    /// The number of these k-mers that are not in the reads.
    pub only: u64,
    /// The quality on the Phred scale; `None` if all k-mers are in the reads.
    pub quality: Option<f64>,
    /// The probability of an error at a base.
    pub error_rate: f64,
    /// The fraction of the reads' solid k-mers that are in the assembly, 0 to 1, if there are any.
    pub completeness: Option<f64>,
    /// The sequences with the most k-mers, in their order in the assembly.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sequences: Vec<SequenceQuality>,
}

/// The quality of a sequence of an assembly.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SequenceQuality {
    /// The sequence's name.
    #[serde(rename = "n")]
    pub name: String,
    /// The number of k-mers in the sequence.
    #[serde(rename = "k")]
    pub kmers: u64,
    /// The number of these k-mers that are not in the reads.
    #[serde(rename = "o")]
    pub only: u64,
    /// The quality on the Phred scale; `None` if all k-mers are in the reads, or without k-mers.
    #[serde(rename = "q")]
    pub quality: Option<f64>,
}

/// Histograms of the reads' k-mers, one for each class.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ClassSpectrum {
    /// The plot's name: `asm.spectra-cn`, `spectra-asm` …
    pub title: String,
    /// The classes in the order in which they are drawn.
    pub classes: Vec<Class>,
    /// The numbers of k-mers that are only in assemblies, by their own classes, which are drawn at 0.
    pub only: Vec<u64>,
    /// The smallest count of k-mers that are not errors.
    pub solid: u32,
}

/// A class of k-mers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Class {
    /// The class's name: `read-only`, `1`, `2` … or an assembly's name.
    pub name: String,
    /// Counts in the reads, and the number of k-mers with each.
    pub rows: Rows,
}

/// The k-mers of two parents in assemblies.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Haplotypes {
    /// The parents' names.
    pub parents: [String; 2],
    /// For each contig: the index of its assembly in `Assembly::judged`, the k-mers of only one and only the other
    /// parent, and all k-mers.
    pub contigs: Vec<(usize, u64, u64, u64)>,
    /// For each phase block: the index of its assembly, its bases, and the index of its parent.
    pub blocks: Vec<(usize, u64, usize)>,
}

/// The results of a mapping.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Mapping {
    /// The number of reads of the sample; a pair counts as two.
    pub reads: u64,
    /// The number of reads with a hit.
    pub mapped: u64,
    /// Numbers of reported hits, and the number of reads with each.
    pub hits: Rows,
    /// Edits of the best hit of mapped reads, and the number of reads with each.
    pub edits: Rows,
    /// Insert sizes in bases, and the number of concordant pairs with each.
    pub inserts: Rows,
    /// The number of pairs, if the reads are pairs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pairs: Option<u64>,
    /// Mapping qualities, and the number of mapped reads with each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub qualities: Rows,
    /// The length in bases of the windows of contigs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub window: Option<u64>,
    /// The contigs of the reference, in its order.
    pub contigs: Vec<Contig>,
}

/// A contig, with the reads that were mapped to it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Contig {
    /// The contig's name.
    #[serde(rename = "n")]
    pub name: String,
    /// The length in bases.
    #[serde(rename = "l")]
    pub length: u64,
    /// The number of reads whose primary record is on the contig.
    #[serde(rename = "r")]
    pub reads: u64,
    /// The number of bases of these reads; divided by `length`, the depth.
    #[serde(rename = "b")]
    pub bases: u64,
    /// The number of bases of these reads in each window of the contig; only of the longest contigs.
    #[serde(rename = "w", default, skip_serializing_if = "Vec::is_empty")]
    pub windows: Vec<u64>,
}

/// The decisions of a filter.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Decisions {
    /// The number of pairs of sequences.
    pub pairs: u64,
    /// The number of accepted pairs.
    pub accepted: u64,
    /// The number of accepted pairs that are undefined because of letters that are not bases.
    pub undefined: u64,
    /// Exact or estimated edits of accepted pairs, and the number of pairs with each.
    pub edits: Rows,
    /// Whether the edits are exact and not lower bounds.
    pub is_exact: bool,
}

/// The hits of a search for patterns.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Search {
    /// The number of sequences or reads that were searched.
    pub texts: u64,
    /// The number of letters of all of them.
    pub letters: u64,
    /// Edits, and the number of hits of all patterns with each.
    pub edits: Rows,
    /// The patterns, in their order.
    pub patterns: Vec<PatternHits>,
}

/// The hits of a pattern.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PatternHits {
    /// The pattern's name.
    #[serde(rename = "n")]
    pub name: String,
    /// The letters.
    #[serde(rename = "l")]
    pub letters: String,
    /// The number of hits with 0, 1, … edits, up to those that the pattern may have.
    #[serde(rename = "h")]
    pub hits: Vec<u64>,
}

/// The reads that were kept or extracted.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Selection {
    /// The number of all reads; a pair counts as two, or as one if a note says so.
    pub reads: u64,
    /// The number of bases of all reads, if counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bases: Option<u64>,
    /// The parts of the reads, those that were written first. They add up to `reads`.
    pub parts: Vec<SelectionPart>,
    /// Edits between kept reads and the nearest place in the host, and the number of reads with each, if searched.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub edits: Rows,
}

/// A part of the reads.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SelectionPart {
    /// The part's name, such as `kept`.
    #[serde(rename = "n")]
    pub name: String,
    /// The number of reads.
    #[serde(rename = "r")]
    pub reads: u64,
    /// The number of their bases, if counted.
    #[serde(rename = "b", default, skip_serializing_if = "Option::is_none")]
    pub bases: Option<u64>,
}

/// The lengths, the GC and, by position, the bases and qualities of the first records of an input.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Reads {
    /// The input's name, without its folder.
    #[serde(rename = "n")]
    pub name: String,
    /// The number of records.
    pub records: u64,
    /// The number of their bases.
    pub bases: u64,
    /// Whether these are all records of the input.
    pub is_whole: bool,
    /// The number of positions, and of lengths, of a group.
    pub step: u64,
    /// The least length of a group, and the number of records of each group that has any.
    pub lengths: Rows,
    /// Percentages of G and C, and the number of records with each.
    pub gc: Rows,
    /// The numbers of A, C, G, T and other letters of each group of positions.
    pub letters: Vec<[u64; 5]>,
    /// The mean, the first quartile, the median and the third quartile of the Phred qualities of each group of positions;
    /// empty in FASTA.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub qualities: Vec<(f64, u8, u8, u8)>,
}

/// The contents of a database for classification.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Database {
    /// The kind: `Merganser` or `Kraken 2`.
    pub kind: String,
    /// The size in bytes.
    pub bytes: u64,
    /// The number of taxa in its taxonomy.
    pub taxa: u64,
    /// The number of reference sequences, if the database lists them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub references: Option<u64>,
    /// The number of bases of the reference sequences, if the database lists them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bases: Option<u64>,
    /// The name of what is looked up: `features` or `minimizers`.
    pub unit: String,
    /// The number of distinct features or minimizers.
    pub stored: u64,
    /// The number of cells for them, if it is fixed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cells: Option<u64>,
    /// The taxa; parents precede their children. Their numbers are those of reference sequences, or of minimizers if the
    /// database does not list its references.
    pub rows: Vec<Taxon>,
}
