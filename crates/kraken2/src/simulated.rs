//! Classification of error-free reads, one from each position of a sequence, as for Bracken (its
//! kmer2read_distr). A read gets the lowest common ancestor of the taxa with the most hits at themselves and
//! their ancestors, as in Kraken 2, regardless of the confidence and the number of hit groups.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use super::classify::{Hits, resolve};
use super::database::Kraken2Database;
use super::minimizers::{Entries, EntryRun, Kind, Minimizers};
use super::taxonomy::Kraken2Taxonomy;
use crate::Error;
use crate::cuda::{Kraken2Flight, Kraken2Gpus};

/// Classifies simulated reads on one thread.
pub(crate) struct SimulatedReads<'a> {
    kmers: Kmers<'a>,
    /// The number of k-mers of a read.
    window: usize,
}

impl<'a> SimulatedReads<'a> {
    /// Returns a classifier of reads of `length` letters, at least k. If there are `gpus`, which must be filled with
    /// the database's table, they look up the k-mers.
    pub(crate) fn new(
        database: &'a Kraken2Database,
        gpus: Option<Arc<Kraken2Gpus>>,
        length: usize,
    ) -> SimulatedReads<'a> {
        let window = length + 1 - database.options().k;
        SimulatedReads { kmers: Kmers::new(database, gpus), window }
    }

    /// Counts the reads of a sequence by the taxid that they are assigned to; 0 for unclassified reads.
    ///
    /// # Errors
    /// If the database is damaged.
    pub(crate) fn count(&mut self, letters: &[u8]) -> Result<BTreeMap<u32, u64>, Error> {
        let tree = self.kmers.database.taxonomy();
        let counts = windows(tree, self.kmers.runs(letters)?, self.window);
        Ok(counts.into_iter().map(|(node, reads)| (tree.taxid(node), reads)).collect())
    }
}

/// Finds the taxa of the k-mers of sequences on one thread.
struct Kmers<'a> {
    database: &'a Kraken2Database,
    gpus: Option<Arc<Kraken2Gpus>>,
    scanner: Minimizers,
    entries: Entries,
    nodes: Vec<u32>,
    runs: Vec<Hits>,
}

impl<'a> Kmers<'a> {
    fn new(database: &'a Kraken2Database, gpus: Option<Arc<Kraken2Gpus>>) -> Kmers<'a> {
        Kmers {
            database,
            gpus,
            scanner: Minimizers::new(database.options()),
            entries: Entries::default(),
            nodes: Vec::new(),
            runs: Vec::new(),
        }
    }

    /// Returns the runs of k-mers with the same node; 0 for k-mers without one.
    fn runs(&mut self, letters: &[u8]) -> Result<&[Hits], Error> {
        self.runs.clear();
        if let Some(gpus) = self.gpus.clone() {
            self.runs_of_devices(&gpus, letters)?;
            return Ok(&self.runs);
        }
        let Kmers { database, scanner, entries, nodes, runs, .. } = self;
        entries.runs.clear();
        entries.minimizers.clear();
        let Ok(()) = scanner.scan(letters, entries, |_| Ok::<(), std::convert::Infallible>(()));
        database.look_up(&entries.minimizers, nodes)?;
        let (mut next, mut last) = (nodes.iter(), 0);
        for run in &entries.runs {
            push(runs, &mut last, *run, || next.next().copied().unwrap_or(0));
        }
        Ok(runs)
    }

    /// Looks up k-mers on devices, in pieces that many thread blocks process in parallel.
    fn runs_of_devices(&mut self, gpus: &Kraken2Gpus, letters: &[u8]) -> Result<(), Error> {
        let k = self.database.options().k;
        let kmers = (letters.len() + 1).saturating_sub(k);
        let mut pieces = (0..kmers).step_by(PIECE).map(|start| {
            // The next piece begins with the k-mer after the last one of this piece.
            &letters[start..(start + PIECE + k - 1).min(letters.len())]
        });
        loop {
            let batch: Vec<&[u8]> = pieces.by_ref().take(TOGETHER).collect();
            if batch.is_empty() {
                return Ok(());
            }
            let mut flight = loop {
                if let Some(flight) = gpus.place(true)? {
                    break flight;
                }
            };
            gpus.start(&mut flight, batch.into_iter(), true)?;
            self.take(&mut flight)?;
        }
    }

    /// Appends the results of a device for consecutive pieces.
    fn take(&mut self, flight: &mut Kraken2Flight) -> Result<(), Error> {
        let found = flight.finish()?;
        self.database.check_node(found.largest_node())?;
        let mut from = 0;
        for &count in found.counts {
            let mut last = 0;
            for &[run, node, _] in &found.runs[from..from + count as usize] {
                push(&mut self.runs, &mut last, EntryRun::of_device(run), || node);
            }
            from += count as usize;
        }
        Ok(())
    }
}

/// K-mers of a piece of a sequence on a device, and the number of pieces in a batch (2 MB in total).
const PIECE: usize = 4096;
const TOGETHER: usize = 512;

/// Appends a run of k-mers to those of a sequence. `next` returns the node of the next minimizer; `last` is
/// the node of the previous one.
fn push(runs: &mut Vec<Hits>, last: &mut u32, run: EntryRun, next: impl FnOnce() -> u32) {
    let node = match run.kind() {
        Kind::Next => {
            *last = next();
            *last
        }
        Kind::Same => *last,
        Kind::Ambiguous | Kind::Border | Kind::End => 0,
    };
    match runs.last_mut() {
        Some(before) if before.0 == node => before.1 += run.count(),
        _ => runs.push((node, run.count())),
    }
}

/// Counts the windows of `window` k-mers by their node; 0 for windows without one.
fn windows(tree: &Kraken2Taxonomy, runs: &[Hits], window: usize) -> BTreeMap<u32, u64> {
    let mut counts = BTreeMap::new();
    let mut inside = Inside::default();
    for &(node, count) in runs {
        let mut left = count;
        // Fills the first window.
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
            // While all k-mers of the window have the same node, the result does not change.
            let same = if inside.is_all(node) { left } else { 1 };
            inside.pass(node, same);
            *counts.entry(inside.node(tree)).or_default() += same;
            left -= same;
        }
    }
    counts
}

/// The k-mers of the current window.
#[derive(Default)]
struct Inside {
    kmers: u64,
    runs: VecDeque<Hits>,
    /// The numbers of k-mers by node, without k-mers that have none.
    hits: Vec<Hits>,
    spare: Vec<Hits>,
    path: Vec<(u32, u64)>,
}

impl Inside {
    /// Appends k-mers.
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

    /// Appends `count` k-mers and removes the same number at the beginning. `count` is 1 unless the whole
    /// window has this node.
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
                resolve(tree, &mut self.spare, &mut self.path, self.kmers, 0.0)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::taxonomy::tests::{parents, tree};
    use super::*;
    use proptest::prelude::*;

    /// Classifies each window by the definition.
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
