//! The outcome of a build.

use merganser_gpu::DeviceInfo;
use merganser_library::MapConflict;
use merganser_run::{Stages, Warnings};

use crate::database::Target;
use merganser_taxonomy::Taxonomy;

/// The outcome of a build.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct BuildOutcome {
    /// The number of sequences in the inputs.
    pub records: u64,
    /// The number of secondary and supplementary alignments in the inputs. They are skipped, as their reads are in
    /// other records.
    pub skipped_alignments: u64,
    /// The duration of each stage.
    pub stages: Stages,
    /// The GPUs that were used.
    pub devices: Vec<DeviceInfo>,
    /// The largest resident size of the process so far, in bytes, if the system reports it.
    pub peak_memory: Option<u64>,
    /// The sequences without a taxon, in the order of the references: (name, reason). They are not in the database.
    pub unmapped: Vec<(String, String)>,
    /// Maps and headers that give two taxids for an id.
    pub conflicts: Vec<MapConflict>,
    /// The number of targets whose lineage has no main rank, from species to domain, and the first of them with the
    /// rank of its taxon.
    pub unranked: (u64, Option<(String, String)>),
    /// The number of targets with the id of an earlier one, and the first such id.
    pub duplicates: (u64, Option<String>),
    /// The number of sequences without k-mers (too short, or only N) in files with k-mers, and the first such id.
    pub without_kmer: (u64, Option<String>),
    /// The number of bases read.
    pub bases: u64,
    /// The orphan taxids of the taxonomy.
    pub orphans: Vec<u32>,
    /// The number of bytes written to temporary files.
    pub spilled_bytes: u64,
    /// The number of ranges of features whose tables a device made, one after the other; 0: all were made on the
    /// host.
    pub device_runs: usize,
}

impl BuildOutcome {
    /// Notes the new targets, with nodes of `tree`, whose lineage has no main rank.
    pub(crate) fn note_unranked(&mut self, targets: &[Target], tree: &Taxonomy) {
        let mut unranked = targets.iter().filter(|target| !tree.has_main_rank(target.node));
        let Some(first) = unranked.next() else { return };
        let rank = tree.rank_name(first.node).to_owned();
        self.unranked = (1 + unranked.count() as u64, Some((first.name.clone(), rank)));
    }

    /// Warns of problems of references and taxonomy.
    pub(crate) fn warn(&self, warnings: &Warnings) {
        if let Some(taxid) = self.orphans.first() {
            let count = self.orphans.len();
            warnings.push(format!(
                "{count} taxa have no parent in nodes.dmp and were put under the root, first {taxid}"
            ));
        }
        self.conflicts.iter().for_each(|conflict| conflict.warn(warnings));
        if let (count, Some(name)) = &self.duplicates {
            warnings.push(format!(
                "{count} sequences have an id that an earlier one has, first {name}; all are kept"
            ));
        }
        if let (count, Some(name)) = &self.without_kmer {
            warnings.push(format!(
                "{count} sequences have no k-mer (too short, or only N), so that no read can match them, \
                 first {name}"
            ));
        }
        if let (count, Some((name, rank))) = &self.unranked {
            warnings.push(format!(
                "{count} sequences have lineages without a main rank (species to domain), first {name} of \
                 rank '{rank}': their reads are classified to the sequences' own taxa"
            ));
        }
        if let Some((name, reason)) = self.unmapped.first() {
            let count = self.unmapped.len();
            warnings.push(format!(
                "{count} sequences have no taxon and are left out, first {name}: {reason}"
            ));
        }
    }
}
