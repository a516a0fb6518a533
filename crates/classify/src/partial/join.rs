//! Joins partial results and writes their reports.

use std::collections::HashMap;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use merganser_io::FileKind;
use merganser_run::{Cancel, ConfigError, Warnings, thousands};

use merganser_taxreport::by_database::DatabaseReads;
use merganser_taxreport::partial::{Decoder, Origin, Shards, WrittenShard};
use merganser_taxreport::report::{
    Abundance, FeatureCounts, KrakenReport, ReportOptions, Tally, TaxonBases,
};

use super::OfOwn;
use crate::{Error, Target};
use merganser_kraken2::Kraken2ReportOptions;
use merganser_kraken2::partial::JoinedCounts;
use merganser_taxonomy::Taxonomy;

/// Joins files of partial results, in any order. The result has the reads and the distinct features or minimizers
/// of one run over all reads. Files may be compressed.
///
/// Distinct features are merged from all files at once and never kept in memory; all files are open at the same
/// time for that. Sketches of distinct minimizers (Kraken 2 databases) are kept, as in a run.
///
/// Kraken 2's estimate of distinct minimizers depends on how it cuts its input into blocks, among others at the end
/// of each file. The result is that of one run over the files of reads, one after the other
/// ([`JoinedResults::uncertain_estimates`]).
///
/// # Errors
/// If there is no file; if one cannot be read, is damaged, or is not a file of partial results; if two are from
/// different databases, parameters or versions, or of the same reads; if shards of a job are given together with
/// other files or incompletely; if cancelled.
pub fn join(paths: &[PathBuf], cancel: &Cancel) -> Result<JoinedResults, Error> {
    let Some((first, others)) = paths.split_first() else {
        return Err(Error::Config(ConfigError::new("no file of partial results")));
    };
    merganser_run::raise_open_file_limit();
    let mut decoder = Decoder::open(first)?;
    let origin = Origin::read(&mut decoder)?;
    let taxonomy = read_taxonomy(&mut decoder)?;
    let mut sum = Sum::new(origin.is_kraken2, &taxonomy)
        .ok_or_else(|| decoder.damaged("its taxonomy is inconsistent"))?;
    let mut shards = Shards::default();
    shards.add(first, origin.shard)?;
    let mut without_bases = (!decoder.has_bases()).then(|| first.clone());
    // For the reads of each file, by number and checksum, the first file that has them.
    let mut seen = HashMap::new();
    let reads = sum.add(decoder)?;
    seen.insert((reads, origin.reads), first);
    for path in others {
        cancel.check()?;
        let mut decoder = Decoder::open(path)?;
        let own = Origin::read(&mut decoder)?;
        shards.add(path, own.shard)?;
        if let Some(error) = own.differs(path, &origin, first) {
            return Err(error.into());
        }
        check_taxonomy(&mut decoder, &taxonomy, first)?;
        if !decoder.has_bases() {
            without_bases.get_or_insert_with(|| path.clone());
        }
        let reads = sum.add(decoder)?;
        // Shards are identified by their numbers instead.
        let other = seen.insert((reads, own.reads), path).filter(|_| own.shard.is_none());
        if let Some(other) = other.filter(|_| reads > 0) {
            let what = format!("has the same reads as {}: give each once", other.display());
            return Err(Error::content(path, what));
        }
    }
    let shards = shards.finish()?;
    let joined = sum.finish(cancel)?;
    Ok(JoinedResults { shards, without_bases, ..joined })
}

/// Reads a report, or makes one from a file of partial results.
///
/// # Errors
/// If the file cannot be read, or is neither.
pub fn read_report(path: &Path, warnings: &Warnings) -> Result<KrakenReport, Error> {
    match FileKind::of_path(path) {
        Some(FileKind::Partial) => join(&[path.to_owned()], &Cancel::default())?.report(),
        _ => Ok(KrakenReport::read(path, warnings)?),
    }
}

fn read_taxonomy(decoder: &mut Decoder) -> Result<Vec<u8>, Error> {
    let (length, mut taxonomy) = (decoder.number()?, Vec::new());
    decoder.each_block(length, |block| taxonomy.extend_from_slice(block))?;
    Ok(taxonomy)
}

/// Checks that a file has the taxonomy of the first one.
fn check_taxonomy(decoder: &mut Decoder, expected: &[u8], first: &Path) -> Result<(), Error> {
    let (length, mut rest) = (decoder.number()?, Some(expected));
    decoder.each_block(length, |block| rest = rest.and_then(|rest| rest.strip_prefix(block)))?;
    match rest {
        Some([]) => Ok(()),
        _ => {
            let first = first.display();
            let what = format!(
                "was made with a database other than that of {first} (its taxonomy differs): only results \
                 of the same database can be joined"
            );
            Err(Error::content(decoder.path(), what))
        }
    }
}

/// The sums over the files so far.
enum Sum {
    Own(OfOwn),
    Kraken2(JoinedCounts),
}

impl Sum {
    fn new(is_kraken2: bool, taxonomy: &[u8]) -> Option<Sum> {
        match is_kraken2 {
            true => JoinedCounts::new(taxonomy).map(Sum::Kraken2),
            false => OfOwn::new(taxonomy).map(Sum::Own),
        }
    }

    fn reads(&self) -> u64 {
        match self {
            Sum::Own(own) => own.tally.total(),
            Sum::Kraken2(own) => own.counts.reads(),
        }
    }

    /// Adds a file. Returns its number of reads.
    fn add(&mut self, decoder: Decoder) -> Result<u64, Error> {
        let before = self.reads();
        match self {
            Sum::Own(own) => own.add(decoder)?,
            Sum::Kraken2(own) => own.add(decoder)?,
        }
        Ok(self.reads() - before)
    }

    fn finish(self, cancel: &Cancel) -> Result<JoinedResults, Error> {
        match self {
            Sum::Own(mut counts) => {
                let features = counts.finish(cancel)?;
                let targets = counts.targets();
                let OfOwn { tree, tally, by_genome, bases, by_database, .. } = counts;
                let own = OwnCounts { by_genome, features, bases, by_database };
                let counted = Counted::Own(Box::new(own));
                Ok(JoinedResults::new(tree, targets, tally, counted))
            }
            Sum::Kraken2(counts) => {
                let tree = counts.taxa.to_tree();
                let tally = counts.counts.tally(&counts.taxa, &tree);
                let counted = Counted::Kraken2(Box::new(counts));
                Ok(JoinedResults::new(tree, Vec::new(), tally, counted))
            }
        }
    }
}

/// The sum of partial results, for the reports that one run would have written.
#[derive(Debug)]
pub struct JoinedResults {
    tree: Taxonomy,
    /// The targets with reads, if reads are assigned to targets.
    targets: Vec<Target>,
    tally: Tally,
    counted: Counted,
    /// The shards by ascending number, each with the index of its file, if the files are shards.
    pub(super) shards: Vec<(usize, WrittenShard)>,
    /// The first file without bases, which earlier versions wrote.
    without_bases: Option<PathBuf>,
}

/// The counts for Kraken's report.
#[derive(Debug)]
enum Counted {
    Own(Box<OwnCounts>),
    Kraken2(Box<JoinedCounts>),
}

#[derive(Debug)]
struct OwnCounts {
    by_genome: Tally,
    features: Option<FeatureCounts>,
    bases: TaxonBases,
    by_database: DatabaseReads,
}

impl JoinedResults {
    fn new(tree: Taxonomy, targets: Vec<Target>, tally: Tally, counted: Counted) -> JoinedResults {
        JoinedResults { tree, targets, tally, counted, shards: Vec::new(), without_bases: None }
    }

    /// Returns the same results with bases in place of reads: all tables and reports then have bases.
    ///
    /// # Errors
    /// If a file has no bases, because an earlier version wrote it.
    pub fn in_bases(&self) -> Result<JoinedResults, Error> {
        if let Some(path) = &self.without_bases {
            let what = "has no bases, because an earlier version of merganser wrote it: classify its reads again";
            return Err(Error::content(path, what));
        }
        let (tally, counted) = match &self.counted {
            Counted::Own(own) => {
                let TaxonBases { tally, by_genome } = own.bases.clone();
                let (bases, by_database) = (TaxonBases::default(), DatabaseReads::default());
                let own = OwnCounts { by_genome, features: None, bases, by_database };
                (tally, Counted::Own(Box::new(own)))
            }
            Counted::Kraken2(own) => {
                let own = own.in_bases();
                (own.counts.tally(&own.taxa, &self.tree), Counted::Kraken2(Box::new(own)))
            }
        };
        Ok(JoinedResults::new(self.tree.clone(), self.targets.clone(), tally, counted))
    }

    /// Returns the number of reads; a pair is one.
    pub fn reads(&self) -> u64 {
        self.tally.total()
    }

    /// Returns the reads by node of the [`tree`](Self::tree) and by target.
    pub fn tally(&self) -> &Tally {
        &self.tally
    }

    /// Returns the taxa.
    pub fn tree(&self) -> &Taxonomy {
        &self.tree
    }

    /// Returns the sequences with reads, if reads are assigned to sequences.
    pub fn targets(&self) -> &[Target] {
        &self.targets
    }

    /// Returns the number of reads that have a taxon.
    pub fn classified(&self) -> u64 {
        self.tally.total() - self.tally.unclassified()
    }

    /// Returns the number of taxa whose estimate of distinct minimizers would or might differ if all reads were in
    /// one file.
    ///
    /// This happens if files do not end at Kraken 2's blocks of input. It is 0 for merganser databases, whose
    /// distinct features are exact, without minimizer data, and for shards of a job, which are cut at these blocks.
    pub fn uncertain_estimates(&self) -> usize {
        match &self.counted {
            Counted::Kraken2(own) if self.shards.is_empty() => own.uncertain(),
            _ => 0,
        }
    }

    /// Warns of [uncertain estimates](Self::uncertain_estimates).
    pub fn warn(&self, warnings: &Warnings) {
        let taxa = match self.uncertain_estimates() {
            0 => return,
            1 => "1 taxon".to_owned(),
            taxa => format!("{} taxa", thousands(taxa as u64)),
        };
        warnings.push(format!(
            "the distinct minimizers of {taxa} are Kraken's estimates for reads in these files: they depend on the \
             blocks in which Kraken reads its input, and may differ for one file that was divided elsewhere"
        ));
    }

    /// Writes Kraken's report, with the two columns of distinct features or minimizers if the runs counted them.
    /// With `zero_counts`, taxa without reads are included.
    ///
    /// # Errors
    /// If writing fails.
    pub fn write_report(&self, zero_counts: bool, output: &mut dyn Write) -> io::Result<()> {
        match &self.counted {
            Counted::Own(own) => {
                let OwnCounts { by_genome, features, .. } = &**own;
                let options = ReportOptions { zero_counts, features: features.as_ref() };
                by_genome.write_kraken(&self.tree, options, output)
            }
            Counted::Kraken2(own) => {
                let JoinedCounts { taxa, counts, minimizers, .. } = &**own;
                let options = Kraken2ReportOptions { zero_counts, minimizers: *minimizers };
                counts.write_report(taxa, options, output)
            }
        }
    }

    /// Writes the table of the reads that each database supports ([`Tally::write_by_database`], or
    /// [`write_database_report`](merganser_kraken2::Kraken2Counts::write_database_report)).
    ///
    /// # Errors
    /// If the runs did not count them, or writing fails.
    pub fn write_database_report(&self, output: &mut dyn Write) -> Result<(), Error> {
        match &self.counted {
            Counted::Kraken2(own) if own.counts.is_by_database() => {
                Ok(own.counts.write_database_report(&own.taxa, output)?)
            }
            Counted::Own(own) if own.by_database.is_wanted() => {
                Ok(own.by_genome.write_by_database(&self.tree, &own.by_database, output)?)
            }
            _ => Err(Error::Input(
                "the partial results do not have the reads by database: classify with \
                 `database_report`"
                    .to_owned(),
            )),
        }
    }

    /// Returns the report of taxa with reads as data.
    ///
    /// # Errors
    /// If the report cannot be parsed because names contain tabs or line ends.
    pub fn report(&self) -> Result<KrakenReport, Error> {
        let mut text = Vec::new();
        self.write_report(false, &mut text)?;
        Ok(KrakenReport::of_text(&text)?)
    }

    /// Writes MetaPhlAn's table ([`Tally::write_mpa`]).
    ///
    /// # Errors
    /// If writing fails.
    pub fn write_mpa(&self, zero_counts: bool, output: &mut dyn Write) -> io::Result<()> {
        self.tally.write_mpa(&self.tree, zero_counts, output)
    }

    /// Writes Krona's text ([`Tally::write_krona`]).
    ///
    /// # Errors
    /// If writing fails.
    pub fn write_krona(&self, output: &mut dyn Write) -> io::Result<()> {
        self.tally.write_krona(&self.tree, output)
    }

    /// Returns the abundances ([`Abundance::new`]).
    pub fn abundance(&self, min_reads: u64) -> Abundance<'_> {
        Abundance::new(&self.tally, &self.tree, &self.targets, min_reads)
    }
}
