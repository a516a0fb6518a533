//! Bracken's distributions for merganser databases.

use std::collections::HashMap;

use merganser_io::Input;
use merganser_run::{Budget, Context, Shortage};
use merganser_taxreport::bracken::Distribution;

use crate::cpu::query::{HostQuery, Slider};
use crate::decide::ReadSize;
use crate::{Database, Error, Thresholds};
use merganser_kraken2::{Kraken2Sequence, begin_simulation};

/// Computes Bracken's distribution for reads of `read_length` letters from a database and the references that it was
/// built from.
///
/// Each simulated read is classified by the database's own thresholds, and counted where Kraken's report would count
/// it. A sequence has the taxid of the database's target of the same name and length; if several targets have both in
/// common, the first is for the first such sequence, the second for the second, and so on. Sequences that the database
/// lacks or has at its root are left out.
///
/// # Errors
/// If reads are shorter than k-mers, the inputs cannot be read, or the database is damaged; if sequences have a name and
/// a length in common, and the database has some of them only, of several taxa.
pub fn distribution(
    database: &Database,
    inputs: &[Input],
    read_length: usize,
    context: &Context,
) -> Result<Distribution, Error> {
    let simulation = begin_simulation(context, inputs, read_length, database.params().k as usize)?;
    refuse_shortage(database, context)?;
    database.warn(&context.warnings);
    database.check(context.threads, &context.cancel)?;
    database.fetch()?;
    let thresholds = Thresholds::new(database.params());
    let query = HostQuery::new(database, thresholds.query_params());
    let (tree, bases) = (database.taxonomy(), read_length as u64);
    let taxid = |candidates: &[crate::Candidate], missing: u64| {
        let nodes = &query.taxa().nodes;
        let verdict = thresholds.decide_among(
            candidates,
            ReadSize { bases, missing: &|| missing },
            tree,
            nodes,
        );
        let node = thresholds.counted_at(verdict, candidates, tree, nodes);
        node.map_or(0, |node| tree.taxid(node))
    };
    let counter = || {
        let mut slider = Slider::new(&query, read_length);
        Box::new(move |letters: &[u8]| Ok(slider.count(letters, taxid))) as _
    };
    let found = simulation.run(&counter, &|sequences| taxids_of(database, sequences))?;
    let targets = database.targets().iter().filter(|target| target.bases >= bases);
    let nodes = targets.map(|target| target.node).filter(|&node| node != tree.root());
    Ok(found.with_missing(nodes.map(|node| tree.taxid(node))))
}

/// Memory of a thread for its sequences, in bytes.
const THREAD_BYTES: u64 = 54 << 20;

/// Checks that the whole database fits into the memory, if a limit was given.
///
/// # Errors
/// [`Error::Memory`] if it does not fit.
fn refuse_shortage(database: &Database, context: &Context) -> Result<(), Error> {
    let tables = database.resident_bytes(0..database.parts());
    let budget = Budget::of_run(context, THREAD_BYTES).with(tables);
    if context.memory.is_some() {
        let what = "classifying simulated reads by this database needs";
        budget.check(what, Shortage::FEWER_THREADS)?;
    }
    Ok(())
}

/// Returns the taxids of sequences; `None` for those that are not among the targets of the database.
///
/// # Errors
/// If it cannot be told which of several sequences a target is.
fn taxids_of(
    database: &Database,
    sequences: &[Kraken2Sequence],
) -> Result<Vec<Option<u32>>, merganser_kraken2::Error> {
    let tree = database.taxonomy();
    // The nodes of targets that have a name and a length in common, the first at the end, and the number of sequences.
    let mut groups: HashMap<(&str, u64), (Vec<u32>, usize)> = HashMap::new();
    for target in database.targets().iter().rev() {
        groups.entry((&target.name, target.bases)).or_default().0.push(target.node);
    }
    for sequence in sequences {
        if let Some((_, count)) = groups.get_mut(&(sequence.name(), sequence.bases)) {
            *count += 1;
        }
    }
    for ((name, bases), (nodes, count)) in &groups {
        if nodes.len() != *count && *count > 0 && nodes.iter().any(|node| *node != nodes[0]) {
            return Err(merganser_kraken2::Error::Input(format!(
                "{count} sequences are named {name} and have {bases} bases, and the database has {} of them, of \
                 different taxa: it cannot be told which: name the sequences differently, and build it again",
                nodes.len()
            )));
        }
    }
    let mut taxids = Vec::with_capacity(sequences.len());
    for sequence in sequences {
        let node = match groups.get_mut(&(sequence.name(), sequence.bases)) {
            Some((nodes, _)) if nodes.len() > 1 => nodes.pop(),
            Some((nodes, _)) => nodes.first().copied(),
            None => None,
        };
        taxids.push(node.filter(|&node| node != tree.root()).map(|node| tree.taxid(node)));
    }
    Ok(taxids)
}
