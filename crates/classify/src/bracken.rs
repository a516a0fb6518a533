//! Bracken's distributions of databases of ours.

use std::collections::HashMap;

use merganser_io::Input;
use merganser_run::{Budget, Resources, Shortage};
use merganser_taxreport::bracken::Distribution;

use crate::cpu::query::{HostQuery, Slider};
use crate::{Database, Error, Thresholds};
use merganser_kraken2::{Kraken2Sequence, Simulator};

/// The distribution of a database of ours and the references that it was built of, for reads of
/// `read_length` letters: each is classified by the database's own thresholds, and counted where
/// Kraken's report of ours counts it. The taxid of a sequence is that of the database's target of
/// the same name; of several targets of one name, the first sequence of it has the first. Those
/// that the database has at its root, or does not have, are left out.
///
/// # Errors
/// If reads are shorter than k-mers; as reading; if the database is damaged.
pub fn distribution(
    database: &Database,
    inputs: &[Input],
    read_length: usize,
    simulator: Simulator<'_>,
) -> Result<Distribution, Error> {
    let simulation = simulator.begin(inputs, read_length, database.params().k as usize)?;
    refuse_shortage(database, simulator.resources)?;
    database.warn(&simulator.resources.warnings);
    database.check(simulator.resources.threads, simulator.cancel)?;
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
    let found = simulation.run(&counter, &|sequences| Ok(taxids_of(database, sequences)))?;
    let targets = database.targets().iter().filter(|target| target.bases >= bases);
    let nodes = targets.map(|target| target.node).filter(|&node| node != tree.root());
    Ok(found.with_missing(nodes.map(|node| tree.taxid(node))))
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
