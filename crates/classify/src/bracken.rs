//! Bracken: from the reads of each taxon to the reads of each species (Lu, Breitwieser, Thielen and
//! Salzberg, 2017).
//!
//! A [`Distribution`] says to which taxa the reads of each genome of a library are assigned by a
//! database: every stretch of N letters of every sequence is taken for a read without errors, and
//! classified. It is the file `databaseNmers.kmer_distrib` of Bracken. With it, an [`Estimate`] takes the reads
//! of a report that only a genus or a higher taxon is known of back to their species.

mod estimate;
mod file;
mod simulate;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fs;

use merganser_io::Input;
use merganser_run::{Budget, Cancel, ConfigError, DeviceChoice, Progress, Resources, Shortage};

use crate::cpu::query::{HostQuery, Slider};
use crate::kraken2::library::{Kraken2Sequence, Kraken2Taxids, Reading, STRETCH};
use crate::kraken2::{Kraken2Database, SimulatedReads};
use crate::masking::Masking;
use crate::{Database, Error, Thresholds};
pub use estimate::{Estimate, EstimateNotes, Level};
use simulate::Simulation;

/// Reads of a genome that were assigned to a taxon.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Share {
    /// The genome's taxid.
    pub genome: u32,
    /// Its reads that were assigned to the taxon,
    pub reads: u64,
    /// and all of its reads, those without a taxon included.
    pub total: u64,
}

/// A distribution: for each taxon that reads of the library were assigned to, 0 (none) too, the
/// genomes that these reads come from. As it is made, taxa and genomes are in the order in which the
/// library has them first; taxa that a sequence has first, by taxid.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Distribution {
    /// The taxid that reads were assigned to, and the genomes.
    pub rows: Vec<(u32, Vec<Share>)>,
    /// Names of sequences that have no taxid, and are left out.
    pub unmapped: Vec<String>,
    /// Taxids of the database, sorted, that genomes were given and no read of the library is from: of
    /// a database of Kraken 2, of its lowest taxa. Their reads cannot be given back.
    pub missing: Vec<u32>,
}

/// What a distribution is made with, whatever the database; that of a database of ours on the CPU.
#[derive(Clone, Copy)]
pub struct Simulator<'a> {
    /// Threads that simulate, and devices.
    pub resources: &'a Resources,
    /// Hears of the letters that have been read.
    pub progress: &'a dyn Progress,
    /// Ends the simulation early.
    pub cancel: &'a Cancel,
}

impl Distribution {
    /// The distribution of a database of ours and the references that it was built of, for reads of
    /// `read_length` letters: each is classified by the database's own thresholds, and counted where
    /// Kraken's report of ours counts it. The taxid of a sequence is that of the database's target of
    /// the same name; of several targets of one name, the first sequence of it has the first. Those
    /// that the database has at its root, or does not have, are left out.
    ///
    /// # Errors
    /// If reads are shorter than k-mers; as reading; if the database is damaged.
    pub fn of(
        database: &Database,
        inputs: &[Input],
        read_length: usize,
        simulator: Simulator<'_>,
    ) -> Result<Distribution, Error> {
        let reading = simulator.reading(inputs, read_length, database.params().k as usize)?;
        refuse_shortage(database, simulator.resources)?;
        database.warn(&simulator.resources.warnings);
        database.check(reading.threads, simulator.cancel)?;
        database.fetch()?;
        let thresholds = Thresholds::new(database.params());
        let query = HostQuery::new(database, thresholds.query_params());
        let (tree, bases) = (database.taxonomy(), read_length as u64);
        let taxid = |candidates: &[crate::Candidate]| {
            let nodes = &query.taxa().nodes;
            let verdict = thresholds.decide(candidates, bases, tree, nodes);
            let node = thresholds.counted_at(verdict, candidates, bases, tree, nodes);
            node.map_or(0, |node| tree.taxid(node))
        };
        let counter = || {
            let mut slider = Slider::new(&query, read_length);
            Box::new(move |letters: &[u8]| Ok(slider.count(letters, taxid))) as _
        };
        let simulation = Simulation { reading, counter: &counter };
        let found = simulation.run(&|sequences| Ok(taxids_of(database, sequences)))?;
        let targets = database.targets().iter().filter(|target| target.bases >= bases);
        let nodes = targets.map(|target| target.node).filter(|&node| node != tree.root());
        Ok(found.without(nodes.map(|node| tree.taxid(node))))
    }

    /// Checks a length of reads for a database with k-mers of `k` letters.
    ///
    /// # Errors
    /// [`Error::Config`], if reads are shorter than k-mers or longer than what is read at a time.
    pub fn check_length(read_length: usize, k: usize) -> Result<(), Error> {
        match (k..=STRETCH).contains(&read_length) {
            true => Ok(()),
            false => Err(Error::Config(ConfigError::new(format!(
                "a read length of {read_length} is out of range: {k}, the database's k, to {STRETCH}"
            )))),
        }
    }

    /// The distribution of a database of Kraken 2 and its library, for reads of `read_length` letters:
    /// that of Bracken. Their k-mers are looked up on GPUs, if the resources name them.
    ///
    /// # Errors
    /// If reads are shorter than k-mers; as reading; if the database is damaged; if a device fails.
    pub fn of_kraken2(
        database: &Kraken2Database,
        (inputs, taxids): (&[Input], Kraken2Taxids<'_>),
        read_length: usize,
        simulator: Simulator<'_>,
    ) -> Result<Distribution, Error> {
        let reading = simulator.reading(inputs, read_length, database.options().k)?;
        let Simulator { resources, progress, .. } = simulator;
        database.tell(progress, &resources.warnings);
        // By themselves they do not pay: most of the time goes into counting on from read to read.
        let gpus = match resources.device {
            DeviceChoice::Auto => None,
            _ => database.choose_gpus(resources, None, false, progress)?,
        };
        let counter = || {
            let mut reads = SimulatedReads::new(database, gpus.clone(), read_length);
            Box::new(move |letters: &[u8]| reads.count(letters)) as _
        };
        let found = Simulation { reading, counter: &counter }.run(taxids)?;
        let tree = database.tree();
        let parents: BTreeSet<u32> = (1..tree.len() as u32).map(|node| tree.parent(node)).collect();
        let lowest = (1..tree.len() as u32).filter(|node| !parents.contains(node));
        Ok(found.without(lowest.map(|node| tree.taxid(node))))
    }

    /// The same, with those of the database's taxids that it lacks.
    fn without(self, taxids: impl Iterator<Item = u32>) -> Distribution {
        let shares = self.rows.iter().flat_map(|row| &row.1);
        let genomes: BTreeSet<u32> = shares.map(|share| share.genome).collect();
        let missing: BTreeSet<u32> = taxids.filter(|taxid| !genomes.contains(taxid)).collect();
        Distribution { missing: missing.into_iter().collect(), ..self }
    }
}

impl<'a> Simulator<'a> {
    /// How the sequences are read.
    ///
    /// # Errors
    /// If something is out of its range.
    fn reading(
        &self,
        inputs: &'a [Input],
        read_length: usize,
        k: usize,
    ) -> Result<Reading<'a>, Error> {
        let Simulator { resources, progress, cancel } = *self;
        resources.validate()?;
        Distribution::check_length(read_length, k)?;
        // A pipe has nothing left where a database has been built of it.
        let is_file = |input: &Input| {
            input.path().is_some_and(|path| {
                // What is not there is an error when it is opened.
                fs::metadata(path).map_or(true, |metadata| metadata.is_file())
            })
        };
        if let Some(input) = inputs.iter().find(|input| !is_file(input)) {
            return Err(Error::Config(ConfigError::new(format!(
                "{input}: the genomes are read once for each length, which pipes and standard input cannot \
                 be: give files"
            ))));
        }
        let (overlap, threads) = (read_length - 1, resources.threads);
        // Reads are never masked.
        let masking = Masking::None;
        let warnings = &resources.warnings;
        Ok(Reading { inputs, overlap, masking, threads, progress, cancel, warnings })
    }
}

/// Memory of a thread for its sequences.
const THREAD_BYTES: u64 = 54 << 20;

/// # Errors
/// If a memory is given that the whole database does not fit into.
fn refuse_shortage(database: &Database, resources: &Resources) -> Result<(), Error> {
    let tables = database.resident_bytes(0..database.parts());
    let budget = Budget::of_run(resources, THREAD_BYTES).with(tables);
    if resources.memory.is_some() {
        let what = "classifying simulated reads by this database needs";
        budget.check(what, Shortage::FEWER_THREADS)?;
    }
    Ok(())
}

/// The taxids of sequences that a database has among its targets.
fn taxids_of(database: &Database, sequences: &[Kraken2Sequence]) -> Vec<Option<u32>> {
    let tree = database.taxonomy();
    let mut nodes: HashMap<&str, Vec<u32>> = HashMap::new();
    for target in database.targets().iter().rev() {
        nodes.entry(&target.name).or_default().push(target.node);
    }
    let taxid = |sequence: &Kraken2Sequence| {
        let node = nodes.get_mut(sequence.name())?.pop()?;
        (node != tree.root()).then(|| tree.taxid(node))
    };
    sequences.iter().map(taxid).collect()
}

/// Puts the sequences of each genome together; `counts` has the reads of each sequence by taxid.
fn sum(
    sequences: &[Kraken2Sequence],
    taxids: &[Option<u32>],
    counts: &HashMap<u64, BTreeMap<u32, u64>>,
) -> Distribution {
    let mut distribution = Distribution::default();
    let mut totals: HashMap<u32, u64> = HashMap::new();
    // Where the row of a taxon is, and where in it a genome.
    let mut places: HashMap<u32, (usize, HashMap<u32, usize>)> = HashMap::new();
    for (number, sequence) in sequences.iter().enumerate() {
        let Some(genome) = taxids.get(number).copied().flatten() else {
            distribution.unmapped.push(sequence.name().to_owned());
            continue;
        };
        let Some(counts) = counts.get(&(number as u64)) else { continue };
        *totals.entry(genome).or_default() += counts.values().sum::<u64>();
        for (&taxid, &reads) in counts {
            let rows = &mut distribution.rows;
            let (row, genomes) = places.entry(taxid).or_insert_with(|| {
                rows.push((taxid, Vec::new()));
                (rows.len() - 1, HashMap::new())
            });
            let shares = &mut rows[*row].1;
            let place = *genomes.entry(genome).or_insert_with(|| {
                shares.push(Share { genome, reads: 0, total: 0 });
                shares.len() - 1
            });
            shares[place].reads += reads;
        }
    }
    for share in distribution.rows.iter_mut().flat_map(|row| &mut row.1) {
        share.total = totals.get(&share.genome).copied().unwrap_or(0);
    }
    distribution
}
