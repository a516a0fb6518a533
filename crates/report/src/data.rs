//! What a page, a plot or a section of MultiQC is made of: the numbers of one run over one sample, as plain data.
//!
//! `--report-data FILE` writes [`Data`] as JSON, and `merganser report html` and `plot` read it. Whoever has the
//! results fills it in; this crate draws it. Names in it (of samples, files, taxa, contigs) may hold anything.

use serde::{Deserialize, Serialize};

/// The layout of the JSON that this version writes and reads.
pub const FORMAT: u32 = 1;

/// Rows of a histogram: a value, and how many there are of it, in order of values.
pub type Rows = Vec<(u64, u64)>;

/// The results of one run over one sample.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Data {
    /// [`FORMAT`].
    pub format: u32,
    /// The program's version.
    pub version: String,
    /// The command as its user types it: `count`, `kmers qv`, `classify` …
    pub command: String,
    /// The sample's name.
    pub sample: String,
    /// Names of the inputs, without folders.
    pub inputs: Vec<String>,
    /// Options that results depend on, with their values.
    pub parameters: Vec<(String, String)>,
    /// What is to be known before results are trusted, a sentence each.
    pub warnings: Vec<String>,
    /// How often k-mers occur.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spectrum: Option<Spectrum>,
    /// Which taxa reads are of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub taxa: Option<Taxa>,
    /// How good assemblies are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub assembly: Option<Assembly>,
    /// Where reads lie on a reference.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mapping: Option<Mapping>,
    /// Which pairs of sequences are within the threshold.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decisions: Option<Decisions>,
}

impl Data {
    /// The frame of a run's results: nothing is in it yet.
    pub fn new(version: &str, command: &str, sample: &str) -> Data {
        Data {
            format: FORMAT,
            version: version.to_owned(),
            command: command.to_owned(),
            sample: sample.to_owned(),
            inputs: Vec::new(),
            parameters: Vec::new(),
            warnings: Vec::new(),
            spectrum: None,
            taxa: None,
            assembly: None,
            mapping: None,
            decisions: None,
        }
    }

    /// One line of JSON, with its end.
    ///
    /// # Errors
    /// None are known: every value has a text.
    pub fn to_line(&self) -> serde_json::Result<String> {
        serde_json::to_string(self).map(|line| line + "\n")
    }

    /// What [`to_line`](Data::to_line) made, line by line; lines without letters are passed over.
    ///
    /// # Errors
    /// The number of the first line, from 1, that is none, and why.
    pub fn parse(text: &str) -> Result<Vec<Data>, (usize, String)> {
        let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
        lines.map(|(at, line)| one(line).map_err(|why| (at + 1, why))).collect()
    }
}

/// One run, of a layout that this version knows.
fn one(line: &str) -> Result<Data, String> {
    #[derive(Deserialize)]
    struct Head {
        format: Option<u32>,
        version: Option<String>,
    }
    let wrong = |why: serde_json::Error| format!("no results of a run: {why}").replace('`', "'");
    let head: Head = serde_json::from_str(line).map_err(wrong)?;
    match (head.format, head.version) {
        (Some(FORMAT), _) => serde_json::from_str(line).map_err(wrong),
        (Some(_), Some(version)) => {
            Err(format!("of version {version} of merganser: use that or a newer one"))
        }
        _ => Err("no results of a run: --report-data writes these".to_owned()),
    }
}

/// A histogram of counts of k-mers, and its model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Spectrum {
    /// The k-mers' length, in bases.
    pub k: usize,
    /// Counts, and how many distinct k-mers have each.
    pub rows: Rows,
    /// The model of it, if one could be fitted.
    pub model: Option<Model>,
}

impl Spectrum {
    /// The count up to which this share of the k-mers lies that occur more than once; `None` if there are none.
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

/// What the model of a histogram tells: the numbers of `merganser_spectrum::Model`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Model {
    /// Copies of the genome in a cell.
    pub ploidy: u32,
    /// How often a base of one copy of the genome is covered by k-mers.
    pub coverage: f64,
    /// Bases of one copy.
    pub genome_size: f64,
    /// Those of them that occur once in it.
    pub unique_size: f64,
    /// The fraction of places at which copies differ.
    pub heterozygosity: f64,
    /// The fraction of duplicates among reads.
    pub duplication: f64,
    /// Errors a base of the reads, if it can be told.
    pub error_rate: Option<f64>,
    /// The fraction of k-mers that the model explains, 0 to 1.
    pub explained: f64,
    /// The least count that is not of errors alone.
    pub from: usize,
    /// Numbers of distinct k-mers by count, from 0 on, as the model expects them; errors are not among them.
    pub expected: Vec<f64>,
}

/// The taxa of a sample, as a report in Kraken's style has them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Taxa {
    /// Reads, or pairs of them, of the sample.
    pub reads: u64,
    /// Those without a taxon.
    pub unclassified: u64,
    /// The taxa, each before those below it; siblings in the report's order.
    pub rows: Vec<Taxon>,
}

/// One taxon of a sample.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Taxon {
    /// Steps from the root, which has 0.
    #[serde(rename = "d")]
    pub depth: u32,
    /// The rank's code: `D`, `P`, `C`, `O`, `F`, `G`, `S`, with a number for ranks between; `R` is the root.
    #[serde(rename = "r")]
    pub rank: String,
    /// The taxonomy's number.
    #[serde(rename = "t")]
    pub taxid: u64,
    /// The name, without indent.
    #[serde(rename = "n")]
    pub name: String,
    /// Reads of the taxon and of those below it.
    #[serde(rename = "c")]
    pub clade: u64,
    /// Reads of the taxon alone.
    #[serde(rename = "o")]
    pub own: u64,
    /// k-mers (minimizers or features) of the reads of the clade that are in the database, if they were counted.
    #[serde(rename = "k", default, skip_serializing_if = "Option::is_none")]
    pub kmers: Option<u64>,
    /// Distinct ones of these, about, if they were counted. Few for many reads: the taxon may not be there.
    #[serde(rename = "u", default, skip_serializing_if = "Option::is_none")]
    pub distinct: Option<u64>,
    /// The estimate of the clade's share of all classified reads, 0 to 1, if it was made.
    #[serde(rename = "a", default, skip_serializing_if = "Option::is_none")]
    pub abundance: Option<f64>,
}

/// A judgement of one or two assemblies by the k-mers of reads.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Assembly {
    /// The k-mers' length, in bases.
    pub k: usize,
    /// Each assembly, and both together where there are two.
    pub judged: Vec<AssemblyQuality>,
    /// Histograms of k-mers of reads by classes: each assembly's copy numbers, and which assembly has them.
    pub spectra: Vec<ClassSpectrum>,
    /// How parents' k-mers lie, if the parents are known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub haplotypes: Option<Haplotypes>,
}

/// One assembly's numbers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AssemblyQuality {
    /// Its name.
    pub name: String,
    /// Its k-mers.
    pub kmers: u64,
    /// Those that the reads have not.
    pub only: u64,
    /// The quality in Phred's scale; none if the reads have all of its k-mers.
    pub quality: Option<f64>,
    /// The chance of an error at a base.
    pub error_rate: f64,
    /// The fraction of solid k-mers of the reads that are in it, if there are such, 0 to 1.
    pub completeness: Option<f64>,
}

/// Histograms of k-mers of reads, one for each class.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ClassSpectrum {
    /// The picture's name: `asm.spectra-cn`, `spectra-asm` …
    pub title: String,
    /// The classes, in order of drawing.
    pub classes: Vec<Class>,
    /// k-mers that are in assemblies alone, by class of their own, drawn at 0.
    pub only: Vec<u64>,
    /// The least count of a k-mer that is no error.
    pub solid: u32,
}

/// One class of k-mers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Class {
    /// Its name: `read-only`, `1`, `2` … or an assembly's.
    pub name: String,
    /// Counts in the reads, and how many k-mers have each.
    pub rows: Rows,
}

/// How the k-mers of two parents lie in assemblies.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Haplotypes {
    /// The parents' names.
    pub parents: [String; 2],
    /// Each contig: the number of its assembly in `Assembly::judged`, k-mers of each parent alone, all k-mers.
    pub contigs: Vec<(usize, u64, u64, u64)>,
    /// Each phase block: the number of its assembly, bases, the number of its parent.
    pub blocks: Vec<(usize, u64, usize)>,
}

/// How reads were mapped.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Mapping {
    /// Reads of the sample; a pair has two.
    pub reads: u64,
    /// Those with a hit.
    pub mapped: u64,
    /// Numbers of reported hits, and how many reads have each.
    pub hits: Rows,
    /// Edits of each mapped read's best hit, and how many reads have these.
    pub edits: Rows,
    /// Insert sizes in bases, and how many concordant pairs have each.
    pub inserts: Rows,
    /// The reference's contigs, in its order.
    pub contigs: Vec<Contig>,
}

/// One contig, and what lies on it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Contig {
    /// Its name.
    #[serde(rename = "n")]
    pub name: String,
    /// Its bases.
    #[serde(rename = "l")]
    pub length: u64,
    /// Reads whose primary record is on it.
    #[serde(rename = "r")]
    pub reads: u64,
    /// Bases of these reads: over `length`, the depth.
    #[serde(rename = "b")]
    pub bases: u64,
}

/// What a filter decided.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Decisions {
    /// Pairs of sequences.
    pub pairs: u64,
    /// Those that were accepted.
    pub accepted: u64,
    /// Those of them that could not be judged, for letters that are no base.
    pub undefined: u64,
    /// Edits, exact or estimated, of accepted pairs, and how many pairs have these.
    pub edits: Rows,
    /// Whether the edits are exact, not lower bounds.
    pub is_exact: bool,
}
