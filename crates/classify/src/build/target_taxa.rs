//! Which taxon each target has.

use std::collections::HashSet;

use merganser_io::Input;
use merganser_library::{HeaderRule, TaxidSearch};
use merganser_run::{ConfigError, Progress};
use merganser_taxonomy::{Dump, Taxonomy, plain};

use super::outcome::BuildOutcome;
use crate::Error;
use crate::config::BuildConfig;
use crate::database::{Database, Target};

/// A target as its file has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ScannedTarget {
    /// The first word of its header.
    pub(crate) name: String,
    /// The whole header.
    pub(crate) header: String,
    pub(crate) bases: u64,
    /// Somewhere as many bases as a k-mer has stand in a row.
    pub(crate) has_kmer: bool,
}

impl ScannedTarget {
    /// Bytes of memory that it takes until the database is written, about: as it is here, where its taxon is
    /// looked for, and as the database has it.
    pub(crate) fn bytes(&self) -> u64 {
        320 + 3 * (self.name.len() + self.header.len()) as u64
    }
}

/// Targets with their nodes, and the tree of these.
pub(crate) struct Mapped {
    pub(crate) targets: Vec<Target>,
    pub(crate) taxonomy: Taxonomy,
    /// Of the sequences that were scanned, those that became targets.
    pub(crate) kept: Vec<bool>,
}

/// Finds the taxon of each target: by the maps given, manifests of libraries among them, and those next to the
/// references, then a taxid in its header, then assembly_summary files next to the references, then
/// accession2taxid files in the taxonomy's folder. Of GTDB's taxonomy, by the maps that were given, then its
/// accession, then that in its file's name: other taxids are NCBI's. Sequences without a taxon become no
/// targets.
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

/// Why a sequence for which this taxid was found has no taxon.
fn why_without_taxon(taxid: Option<u32>, tree: &Taxonomy, dump: Option<&Dump>) -> String {
    match taxid {
        None => "no taxid found".to_owned(),
        Some(taxid) if tree.node(taxid).is_some() => {
            format!("taxid {taxid} is the root, which is no taxon")
        }
        Some(taxid) => {
            let why = dump.map_or("not in the taxonomy", |dump| dump.why_unknown(taxid));
            format!("taxid {taxid} is {why}")
        }
    }
}

/// The targets of `base`, with their nodes in `tree`, which holds all of them.
fn old_targets(base: Option<&Database>, tree: &Taxonomy) -> Vec<Target> {
    let Some(base) = base else { return Vec::new() };
    let renumbered = |target: &Target| {
        let node = tree.node(base.taxonomy().taxid(target.node)).unwrap_or(tree.root());
        Target { node, ..target.clone() }
    };
    base.targets().iter().map(renumbered).collect()
}

/// Sees to it that enough sequences have a taxon: of a new database one, of additions (`adds`) all, unless
/// they may be unmapped.
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
    let remedy = match reason.ends_with("not in the taxonomy") {
        true => "give a taxonomy that has it",
        false => "give a table of their taxids with `map`",
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
