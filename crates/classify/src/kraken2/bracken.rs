//! Bracken's distributions: to which taxa the reads of each genome of a library are assigned (Lu,
//! Breitwieser, Thielen and Salzberg, 2017).
//!
//! Every window of N letters of a sequence is taken for a read without errors, and classified by the
//! taxa of its k-mers: the lowest common ancestor of the taxa with the most hits at themselves and
//! their ancestors, whatever the confidence and the number of hit groups.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::fmt::Write as _;
use std::sync::Mutex;

use merganser_io::{Input, RecordBatch, Records};
use merganser_run::locks::{into_inner, lock};
use merganser_run::{Cancel, ConfigError, OnFailure, Progress, Resources, Unit, run_workers};

use super::classify::{Hits, resolve};
use super::database::Kraken2Database;
use super::library::{
    Kraken2Sequence, Kraken2Taxids, Reading, STRETCH, Seen, first_sequence, in_order,
};
use super::minimizers::{Entries, Kind, Minimizers};
use super::table::Searches;
use super::taxonomy::Kraken2Taxonomy;
use crate::Error;

/// The first line of the file.
const HEADING: &str = "mapped_taxid\tgenome_taxids:kmers_mapped:total_genome_kmers\n";

/// Reads of a genome that were assigned to a taxon.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BrackenShare {
    /// The genome's taxid.
    pub genome: u32,
    /// Its reads that were assigned to the taxon,
    pub reads: u64,
    /// and all of its reads, those without a taxon included.
    pub total: u64,
}

/// A distribution: for each taxon that reads of the library were assigned to, 0 (none) too, the
/// genomes that these reads come from. Taxa and genomes are in the order in which the library has them
/// first; taxa that a sequence has first, by taxid.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BrackenDistribution {
    /// The taxid that reads were assigned to, and the genomes.
    pub rows: Vec<(u32, Vec<BrackenShare>)>,
    /// Names of sequences that have no taxid, and are left out.
    pub unmapped: Vec<String>,
}

impl BrackenDistribution {
    /// The distribution of a database and its library, for reads of `read_length` letters.
    ///
    /// # Errors
    /// If reads are shorter than k-mers; as reading; if the database is damaged.
    pub fn of(
        database: &Kraken2Database,
        (inputs, taxids): (&[Input], Kraken2Taxids<'_>),
        read_length: usize,
        resources: &Resources,
        progress: &dyn Progress,
        cancel: &Cancel,
    ) -> Result<BrackenDistribution, Error> {
        resources.validate()?;
        let k = database.options().k;
        if !(k..=STRETCH).contains(&read_length) {
            return Err(Error::Config(ConfigError::new(format!(
                "`read_length` {read_length} is out of range: {k}, the database's k, to {STRETCH}"
            ))));
        }
        let (overlap, threads) = (read_length - 1, resources.threads);
        let reading = Reading { inputs, overlap, threads, progress, cancel };
        let records = reading.open()?;
        progress.stage("distribution", Unit::Bytes, records.bytes_total());
        let library =
            Simulation { database, read_length, reading, records, found: Mutex::default() };
        let found = library.run()?;
        progress.finish();
        let sequences = in_order(found.sequences, inputs);
        let taxids = taxids(&sequences)?;
        Ok(sum(&sequences, &taxids, &found.reads, database.taxonomy()))
    }

    /// The file `database<N>mers.kmer_distrib`, as Bracken reads and writes it.
    pub fn text(&self) -> String {
        let mut text = HEADING.to_owned();
        for (taxid, shares) in &self.rows {
            // Writing to a text does not fail.
            let _ = write!(text, "{taxid}\t");
            for BrackenShare { genome, reads, total } in shares {
                let _ = write!(text, "{genome}:{reads}:{total} ");
            }
            text.push('\n');
        }
        text
    }
}

/// Reads by sequence, and by the node that they were assigned to.
type Reads = HashMap<u64, BTreeMap<u32, u64>>;

/// What all threads found so far.
#[derive(Default)]
struct Found {
    sequences: Vec<Seen>,
    reads: Reads,
}

/// A library whose reads are classified.
struct Simulation<'a> {
    database: &'a Kraken2Database,
    read_length: usize,
    reading: Reading<'a>,
    records: Records,
    found: Mutex<Found>,
}

impl Simulation<'_> {
    fn run(self) -> Result<Found, Error> {
        run_workers(self.reading.threads, |_| {
            let gone = OnFailure::new(|| self.records.stop());
            self.work()?;
            gone.disarm();
            Ok::<(), Error>(())
        })
        .map_err(|error| self.reading.or_cancelled(error))?;
        self.reading.refuse_cancelled()?;
        Ok(into_inner(self.found))
    }

    fn work(&self) -> Result<(), Error> {
        let mut batch = RecordBatch::default();
        let mut kmers = Kmers::new(self.database);
        let window = self.read_length - self.database.options().k + 1;
        while let Some(bytes) = self.records.next(&mut batch)? {
            self.reading.check(&batch)?;
            let first = first_sequence(&batch);
            let mut counts = Vec::with_capacity(batch.len());
            for at in 0..batch.len() {
                let runs = kmers.runs(batch.record(at).letters)?;
                counts.push((first + at as u64, windows(self.database.taxonomy(), runs, window)));
            }
            let mut found = lock(&self.found);
            found.sequences.extend(Seen::of(&batch));
            for (sequence, counts) in counts {
                let own = found.reads.entry(sequence).or_default();
                counts.into_iter().for_each(|(node, reads)| *own.entry(node).or_default() += reads);
            }
            drop(found);
            self.reading.progress.advance(bytes);
        }
        Ok(())
    }
}

/// The taxa of the k-mers of sequences, by one thread.
struct Kmers<'a> {
    database: &'a Kraken2Database,
    scanner: Minimizers,
    entries: Entries,
    searches: Searches,
    nodes: Vec<u32>,
    runs: Vec<Hits>,
}

impl<'a> Kmers<'a> {
    fn new(database: &'a Kraken2Database) -> Kmers<'a> {
        Kmers {
            database,
            scanner: Minimizers::new(database.options()),
            entries: Entries::default(),
            searches: Searches::default(),
            nodes: Vec::new(),
            runs: Vec::new(),
        }
    }

    /// Runs of k-mers of one node, 0 where there is none.
    fn runs(&mut self, letters: &[u8]) -> Result<&[Hits], Error> {
        let Kmers { database, scanner, entries, searches, nodes, runs } = self;
        entries.runs.clear();
        entries.minimizers.clear();
        runs.clear();
        let Ok(()) = scanner.scan(letters, entries, |_| Ok::<(), std::convert::Infallible>(()));
        database.table.look_up(&entries.minimizers, searches, nodes)?;
        let (mut next, mut last) = (nodes.iter(), 0);
        for run in &entries.runs {
            let node = match run.kind() {
                Kind::Next => {
                    last = next.next().copied().unwrap_or(0);
                    last
                }
                Kind::Same => last,
                Kind::Ambiguous | Kind::Border | Kind::End => 0,
            };
            match runs.last_mut() {
                Some(before) if before.0 == node => before.1 += run.count(),
                _ => runs.push((node, run.count())),
            }
        }
        Ok(runs)
    }
}

/// The windows of `window` k-mers by their node: 0 for those without.
fn windows(tree: &Kraken2Taxonomy, runs: &[Hits], window: usize) -> BTreeMap<u32, u64> {
    let mut counts = BTreeMap::new();
    let mut inside = Inside::default();
    for &(node, count) in runs {
        let mut left = count;
        // Until there is a whole window.
        let some = left.min(window as u64 - inside.kmers);
        inside.push(node, some);
        left -= some;
        if inside.kmers < window as u64 || some == 0 && left == 0 {
            continue;
        }
        if some > 0 {
            *counts.entry(inside.node(tree)).or_default() += 1;
        }
        while left > 0 {
            // As long as all of it is of one node, nothing changes.
            let same = if inside.is_all(node) { left } else { 1 };
            inside.pass(node, same);
            *counts.entry(inside.node(tree)).or_default() += same;
            left -= same;
        }
    }
    counts
}

/// The k-mers of a window.
#[derive(Default)]
struct Inside {
    kmers: u64,
    runs: VecDeque<Hits>,
    /// Nodes of the k-mers that have one.
    hits: Vec<Hits>,
    spare: Vec<Hits>,
}

impl Inside {
    /// Adds k-mers at the end.
    fn push(&mut self, node: u32, count: u64) {
        if count == 0 {
            return;
        }
        self.kmers += count;
        match self.runs.back_mut() {
            Some(run) if run.0 == node => run.1 += count,
            _ => self.runs.push_back((node, count)),
        }
        if node != 0 {
            match self.hits.iter_mut().find(|hit| hit.0 == node) {
                Some(hit) => hit.1 += count,
                None => self.hits.push((node, count)),
            }
        }
    }

    fn is_all(&self, node: u32) -> bool {
        self.runs.len() == 1 && self.runs.front().is_some_and(|run| run.0 == node)
    }

    /// Takes `count` k-mers in, and as many out at the beginning: all of the same node, or one.
    fn pass(&mut self, node: u32, count: u64) {
        if self.is_all(node) {
            return;
        }
        self.push(node, count);
        self.kmers -= count;
        let Some(first) = self.runs.front_mut() else { return };
        first.1 -= count;
        let gone = first.0;
        if first.1 == 0 {
            self.runs.pop_front();
        }
        if let Some(at) = self.hits.iter().position(|hit| hit.0 == gone) {
            self.hits[at].1 -= count;
            if self.hits[at].1 == 0 {
                self.hits.swap_remove(at);
            }
        }
    }

    fn node(&mut self, tree: &Kraken2Taxonomy) -> u32 {
        match self.hits[..] {
            [] => 0,
            [(node, _)] => node,
            _ => {
                self.spare.clone_from(&self.hits);
                resolve(tree, &mut self.spare, self.kmers, 0.0)
            }
        }
    }
}

/// Puts the sequences of each genome together.
fn sum(
    sequences: &[Kraken2Sequence],
    taxids: &[Option<u32>],
    reads: &Reads,
    tree: &Kraken2Taxonomy,
) -> BrackenDistribution {
    let mut distribution = BrackenDistribution::default();
    let mut totals: HashMap<u32, u64> = HashMap::new();
    // Where the row of a taxon is, and where in it a genome.
    let mut places: HashMap<u32, (usize, HashMap<u32, usize>)> = HashMap::new();
    for (number, sequence) in sequences.iter().enumerate() {
        let Some(genome) = taxids.get(number).copied().flatten() else {
            distribution.unmapped.push(sequence.name().to_owned());
            continue;
        };
        let Some(counts) = reads.get(&(number as u64)) else { continue };
        let by_taxid: BTreeMap<u32, u64> =
            counts.iter().map(|(&node, &reads)| (tree.taxid(node), reads)).collect();
        *totals.entry(genome).or_default() += by_taxid.values().sum::<u64>();
        for (taxid, reads) in by_taxid {
            let rows = &mut distribution.rows;
            let (row, genomes) = places.entry(taxid).or_insert_with(|| {
                rows.push((taxid, Vec::new()));
                (rows.len() - 1, HashMap::new())
            });
            let shares = &mut rows[*row].1;
            let place = *genomes.entry(genome).or_insert_with(|| {
                shares.push(BrackenShare { genome, reads: 0, total: 0 });
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

#[cfg(test)]
mod tests {
    use super::super::taxonomy::tests::{parents, tree};
    use super::*;
    use proptest::prelude::*;

    /// Window by window.
    fn naive(tree: &Kraken2Taxonomy, runs: &[Hits], window: usize) -> BTreeMap<u32, u64> {
        let kmers: Vec<u32> =
            runs.iter().flat_map(|&(node, count)| vec![node; count as usize]).collect();
        let above = |node: u32| {
            std::iter::successors(Some(node), |&n| Some(tree.parent(n)).filter(|&p| p > 0))
        };
        let mut counts = BTreeMap::new();
        for kmers in kmers.windows(window) {
            let nodes: Vec<u32> = kmers.iter().copied().filter(|&node| node > 1).collect();
            let score = |taxon: u32| {
                nodes.iter().filter(|&&node| above(taxon).any(|one| one == node)).count()
            };
            let most = nodes.iter().map(|&node| score(node)).max();
            let best = nodes.iter().copied().filter(|&node| Some(score(node)) == most);
            let call = best.reduce(|one, other| tree.lca(one, other));
            let call = call.unwrap_or(u32::from(kmers.contains(&1)));
            *counts.entry(call).or_default() += 1;
        }
        counts
    }

    proptest! {
        #[test]
        fn windows_are_those_of_the_rule(
            parents in parents(),
            picks in proptest::collection::vec((0.0..1.0f64, 0u64..12), 0..20),
            window in 1usize..30,
        ) {
            let tree = tree(&parents, &[]);
            let node = |pick: f64| (pick * tree.len() as f64) as u32;
            let runs: Vec<Hits> = picks.iter().map(|&(pick, count)| (node(pick), count)).collect();
            prop_assert_eq!(windows(&tree, &runs, window), naive(&tree, &runs, window));
        }
    }
}
