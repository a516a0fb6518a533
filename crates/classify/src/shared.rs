//! Classifies reads in memory.

use std::sync::Arc;

use crate::cpu::query::{HostQuery, Prepared, Scratch};
use crate::decide::Stretch;
use crate::{Candidate, Database, Error, Thresholds, Verdict};
use merganser_run::Context;
use merganser_taxonomy::Rank;

/// A database prepared for classifying reads in memory.
///
/// Shares ownership of the database, and can be stored, moved and shared between threads. Works on the CPU, with
/// all parts of the database in memory.
///
/// ```
/// use std::sync::Arc;
///
/// use merganser_classify::{
///     BuildConfig, Preset, SharedClassifier, TaxidConfig, Thresholds, build_in_memory,
/// };
/// use merganser_run::Context;
///
/// // A taxonomy of one species, and its genome.
/// let folder = tempfile::tempdir()?;
/// let path = |name: &str| folder.path().join(name);
/// let nodes = "1\t|\t1\t|\tno rank\t|\n7\t|\t1\t|\tspecies\t|\n";
/// std::fs::write(path("nodes.dmp"), nodes)?;
/// let names = "1\t|\troot\t|\t\t|\tscientific name\t|\n7\t|\tA virus\t|\t\t|\tscientific name\t|\n";
/// std::fs::write(path("names.dmp"), names)?;
/// let genome: String = (0..500u64).map(|at| b"ACGT"[(at * at * 7 / 5 % 11 % 4) as usize] as char).collect();
/// std::fs::write(path("genome.fa"), format!(">g\n{genome}\n"))?;
/// std::fs::write(path("ids.map"), "g\t7\n")?;
///
/// let params = Preset::Sensitive.params();
/// let taxids = TaxidConfig { map: vec![path("ids.map")], strict: false };
/// let config = BuildConfig { taxids, ..BuildConfig::new(params) };
/// let context = Context::new();
/// let (database, _) = build_in_memory(&config, [path("genome.fa")], folder.path(), &context)?;
///
/// let classifier = SharedClassifier::new(Arc::new(database), Thresholds::new(&params), &context)?;
/// let found = classifier.classify([&genome[100..250], &"T".repeat(100)])?;
/// assert_eq!(found[0].map(|taxon| (taxon.taxid, taxon.name)), Some((7, "A virus")));
/// assert_eq!(found[1], None);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct SharedClassifier {
    database: Arc<Database>,
    thresholds: Thresholds,
    prepared: Prepared,
}

/// The taxon of a classified read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Taxon<'d> {
    /// The taxid.
    pub taxid: u32,
    /// The rank; [`Rank::Sequence`] if the verdict is a single reference sequence, whose taxon this is.
    pub rank: Rank,
    /// The scientific name.
    pub name: &'d str,
    /// The hits of the best candidate: features that the read shares with a stretch of a reference.
    pub hits: u32,
}

/// The letters of a read in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReadLetters<'r> {
    /// A single read.
    Single(&'r [u8]),
    /// The first and the second mate of a pair.
    Pair(&'r [u8], &'r [u8]),
}

impl<'r> ReadLetters<'r> {
    /// Returns both mates; the second one of a single read is empty.
    fn mates(self) -> [&'r [u8]; 2] {
        match self {
            ReadLetters::Single(read) => [read, b""],
            ReadLetters::Pair(first, second) => [first, second],
        }
    }
}

impl<'r, R: AsRef<[u8]> + ?Sized> From<&'r R> for ReadLetters<'r> {
    /// Makes a single read.
    fn from(read: &'r R) -> ReadLetters<'r> {
        ReadLetters::Single(read.as_ref())
    }
}

impl<'r, R: AsRef<[u8]> + ?Sized> From<(&'r R, &'r R)> for ReadLetters<'r> {
    /// Makes a pair of its first and second mate.
    fn from((first, second): (&'r R, &'r R)) -> ReadLetters<'r> {
        ReadLetters::Pair(first.as_ref(), second.as_ref())
    }
}

impl SharedClassifier {
    /// Prepares a database for these thresholds. The tables of a file are checked by the threads of `context`.
    ///
    /// # Errors
    /// If the database's file cannot be read or is damaged, or the run is cancelled.
    pub fn new(
        database: Arc<Database>,
        thresholds: Thresholds,
        context: &Context,
    ) -> Result<SharedClassifier, Error> {
        database.fetch_unless(context.threads, &context.cancel)?;
        let prepared = HostQuery::new(&database, thresholds.query_params()).prepared();
        Ok(SharedClassifier { database, thresholds, prepared })
    }

    /// Returns the database.
    pub fn database(&self) -> &Arc<Database> {
        &self.database
    }

    /// Returns the taxa of reads, in order; `None` for unclassified reads. For repeated calls, use a
    /// [`session`](Self::session).
    ///
    /// # Errors
    /// If the database's file can no longer be read.
    pub fn classify<'r>(
        &self,
        reads: impl IntoIterator<Item = impl Into<ReadLetters<'r>>>,
    ) -> Result<Vec<Option<Taxon<'_>>>, Error> {
        self.session().classify(reads)
    }

    /// Creates the working space of one thread, to be reused for all its reads.
    pub fn session(&self) -> Session<'_> {
        let query = HostQuery::again(&self.database, self.prepared.clone());
        let scratch = query.scratch();
        Session { classifier: self, query, scratch, candidates: Vec::new(), ends: Vec::new() }
    }
}

/// A thread's access to a [`SharedClassifier`], which reuses its memory for all reads.
#[derive(Debug)]
pub struct Session<'c> {
    classifier: &'c SharedClassifier,
    query: HostQuery<'c>,
    scratch: Scratch,
    candidates: Vec<Candidate>,
    /// The end of each read's candidates.
    ends: Vec<usize>,
}

impl<'c> Session<'c> {
    /// Returns the taxa of reads, as [`SharedClassifier::classify`].
    ///
    /// # Errors
    /// Fails as [`SharedClassifier::classify`] does.
    pub fn classify<'r>(
        &mut self,
        reads: impl IntoIterator<Item = impl Into<ReadLetters<'r>>>,
    ) -> Result<Vec<Option<Taxon<'c>>>, Error> {
        let reads: &[[&[u8]; 2]] =
            &reads.into_iter().map(|read| read.into().mates()).collect::<Vec<_>>();
        let Session { query, scratch, candidates, ends, .. } = self;
        candidates.clear();
        ends.clear();
        query.find(reads, scratch, candidates, ends)?;
        let confidence = self.classifier.thresholds.confidence;
        let clades = (confidence > 0.0).then(|| query.clades(reads));
        let mut start = 0;
        let decided = reads.iter().zip(&self.ends).enumerate().map(|(read, (mates, &end))| {
            let own = &self.candidates[start..end];
            start = end;
            let bases = mates.iter().map(|mate| mate.len() as u64).sum();
            self.decide(own, bases, clades.as_ref().map(|clades| clades.of(read)))
        });
        Ok(decided.collect())
    }

    fn decide(
        &self,
        candidates: &[Candidate],
        bases: u64,
        stretches: Option<&[Stretch]>,
    ) -> Option<Taxon<'c>> {
        let (tree, nodes) = (self.classifier.database.taxonomy(), &self.query.taxa().nodes);
        let thresholds = &self.classifier.thresholds;
        let verdict = thresholds.decide(candidates, bases, tree, nodes);
        let verdict = thresholds.confirm(verdict, stretches, tree, nodes);
        let (node, rank) = match verdict {
            Verdict::Unclassified => return None,
            Verdict::Target(target) => (nodes[target as usize], Rank::Sequence),
            Verdict::Taxon(node) => (node, tree.rank(node)),
        };
        let hits = candidates.first()?.hits;
        Some(Taxon { taxid: tree.taxid(node), rank, name: tree.name(node), hits })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_classifier_goes_wherever_a_program_wants_it() {
        fn free<T: Send + Sync + 'static>() {}
        free::<SharedClassifier>();
        fn sent<T: Send>() {}
        sent::<Session<'_>>();
    }
}
