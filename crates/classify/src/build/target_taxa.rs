//! Finds the taxon of each target.

use std::collections::HashSet;

use merganser_io::Input;
use merganser_library::{HeaderRule, TaxidSearch};
use merganser_run::{ConfigError, Progress};
use merganser_taxonomy::{Dump, Taxonomy, plain};

use super::outcome::BuildOutcome;
use crate::Error;
use crate::config::BuildConfig;
use crate::database::{Database, Target};

/// A target as read from its file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ScannedTarget {
    /// The first word of its header.
    pub(crate) name: String,
    /// The whole header.
    pub(crate) header: String,
    pub(crate) bases: u64,
    /// Whether it has a k-mer of bases only.
    pub(crate) has_kmer: bool,
}

impl ScannedTarget {
    /// Returns the approximate bytes of memory that it takes until the database is written: here, while its taxon
    /// is looked up, and in the database.
    pub(crate) fn bytes(&self) -> u64 {
        320 + 3 * (self.name.len() + self.header.len()) as u64
    }
}

/// Targets with their nodes, and the tree of these nodes.
pub(crate) struct Mapped {
    pub(crate) targets: Vec<Target>,
    pub(crate) taxonomy: Taxonomy,
    /// Whether each scanned sequence became a target.
    pub(crate) kept: Vec<bool>,
}

/// Finds the taxon of each target.
///
/// Sources, in order: the given maps, including manifests of libraries, and those next to the references; a taxid
/// in the header; assembly_summary files next to the references; accession2taxid files in the taxonomy's folder.
/// With GTDB's taxonomy: the given maps, the target's accession, and the accession in its file's name, as other
/// taxids are NCBI's. Sequences without a taxon do not become targets.
pub(crate) fn map_targets(
    config: &BuildConfig,
    inputs: &[Input],
    files: &[Vec<ScannedTarget>],
    dump: Option<Dump>,
    base: Option<&Database>,
    outcome: &mut BuildOutcome,
    progress: &dyn Progress,
) -> Result<Mapped, Error> {
    let mut search =
        TaxidSearch::new(inputs, files, |target| (&target.name, &target.header), HeaderRule::Any);
    search.look_everywhere(
        (&config.taxids.map, &config.maps_beside),
        inputs,
        dump.as_ref(),
        progress,
    )?;
    if let (Some(dump), Some(base)) = (&dump, base) {
        dump.refuse_other_numbers(base.taxonomy())?;
    }
    let tree = match (&dump, base) {
        (Some(dump), Some(base)) => Some(dump.taxonomy.united(base.taxonomy())),
        _ => None,
    };
    let tree = tree.as_ref().or(dump.as_ref().map(|dump| &dump.taxonomy));
    let Some(tree) = tree.or(base.map(Database::taxonomy)) else {
        return Err(Error::Config(ConfigError::new(
            "no taxonomy: give its folder with `taxonomy`",
        )));
    };
    outcome.conflicts = search.conflicts(Some(tree));
    let mut targets = old_targets(base, tree);
    let mut names: HashSet<String> = targets.iter().map(|target| target.name.clone()).collect();
    let (old, mut kept) = (targets.len(), Vec::with_capacity(search.taxids().len()));
    let scanned = files.iter().flatten();
    let params = config.params();
    for (target, taxid) in scanned.zip(search.taxids()) {
        let node = taxid.and_then(|taxid| tree.node(taxid)).filter(|&node| node != tree.root());
        kept.push(node.is_some());
        let Some(node) = node else {
            let reason = why_without_taxon(*taxid, tree, dump.as_ref());
            outcome.unmapped.push((target.name.clone(), reason));
            continue;
        };
        if !names.insert(target.name.clone()) {
            outcome.duplicates.0 += 1;
            outcome.duplicates.1.get_or_insert_with(|| target.name.clone());
        }
        let windows = params.windows(target.bases) as u32;
        targets.push(Target {
            name: plain(target.name.clone()),
            node,
            bases: target.bases,
            windows,
        });
    }
    refuse(config, base.is_some(), targets.len() - old, outcome)?;
    outcome.note_unranked(&targets[old..], tree);
    let pruned = tree.pruned(targets.iter().map(|target| target.node));
    for target in &mut targets {
        target.node = pruned.node(tree.taxid(target.node)).unwrap_or(pruned.root());
    }
    Ok(Mapped { targets, taxonomy: pruned, kept })
}

/// Returns why a sequence for which this taxid was found has no taxon.
fn why_without_taxon(taxid: Option<u32>, tree: &Taxonomy, dump: Option<&Dump>) -> String {
    match taxid {
        None => "no taxid found".to_owned(),
        Some(taxid) if tree.node(taxid).is_some() => {
            format!("taxid {taxid} is the root, which is not a taxon")
        }
        Some(taxid) => {
            let why = dump.map_or("not in the taxonomy", |dump| dump.why_unknown(taxid));
            format!("taxid {taxid} is {why}")
        }
    }
}

/// Returns the targets of `base` with their nodes in `tree`, which contains all of them.
fn old_targets(base: Option<&Database>, tree: &Taxonomy) -> Vec<Target> {
    let Some(base) = base else { return Vec::new() };
    let renumbered = |target: &Target| {
        let node = tree.node(base.taxonomy().taxid(target.node)).unwrap_or(tree.root());
        Target { node, ..target.clone() }
    };
    base.targets().iter().map(renumbered).collect()
}

/// Checks that enough sequences have a taxon: at least one for a new database, all of them for additions (`adds`)
/// unless unmapped ones are allowed.
fn refuse(
    config: &BuildConfig,
    adds: bool,
    mapped: usize,
    outcome: &BuildOutcome,
) -> Result<(), Error> {
    if let (true, (count, Some(name))) = (config.taxids.strict, &outcome.duplicates) {
        return Err(Error::Input(format!(
            "{count} sequences have an id that an earlier one has (`strict`), first {name}"
        )));
    }
    let Some((name, reason)) = outcome.unmapped.first() else { return Ok(()) };
    let count = outcome.unmapped.len();
    if config.taxids.strict {
        return Err(Error::Input(format!(
            "{count} sequences have no taxon (`strict`), first {name}: {reason}"
        )));
    }
    let remedy = match (reason.ends_with("not in the taxonomy"), config.taxids.map.is_empty()) {
        (true, _) => "give a taxonomy that has it",
        (false, true) => "give a table of their taxids with `map`",
        (false, false) => {
            "the files of `map` do not have the first words of their headers: are they maps of these sequences?"
        }
    };
    if mapped == 0 {
        let what = if adds { "add" } else { "build" };
        return Err(Error::Input(format!(
            "nothing to {what}: none of {count} sequences has a taxon, first {name}: {reason}; {remedy}"
        )));
    }
    if adds && !config.allow_unmapped {
        return Err(Error::Input(format!(
            "{count} of {} sequences have no taxon, first {name}: {reason}; {remedy}, or leave them out \
             with `allow_unmapped`",
            count + mapped
        )));
    }
    Ok(())
}
