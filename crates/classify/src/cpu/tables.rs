//! Makes the tables of all sections from their entries: all workers take groups of sections.

use std::collections::BTreeMap;
use std::sync::Mutex;

use merganser_run::locks::{into_inner, lock};
use merganser_run::{Cancel, Progress, Unit, each};

use super::section::{self, Layout, Pruning, Scratch};
use crate::database::{Counts, Database, GROUP, GROUPS, GroupTables, SECTIONS, Section, Target};
use crate::entries::AllEntries;
use crate::{BuildConfig, Error};
use merganser_taxonomy::{Rank, Taxonomy};

/// Makes tables on the CPU.
pub(crate) struct TableMaker<'a> {
    pub(crate) config: &'a BuildConfig,
    pub(crate) threads: usize,
    /// The bytes that entries and tables may take together.
    pub(crate) memory: u64,
    /// A database whose entries come before the new ones.
    pub(crate) base: Option<&'a Database>,
    pub(crate) entries: &'a AllEntries,
    pub(crate) targets: &'a [Target],
    pub(crate) taxonomy: &'a Taxonomy,
    /// The first window of each part except the first.
    pub(crate) part_starts: &'a [u32],
    pub(crate) progress: &'a dyn Progress,
    pub(crate) cancel: &'a Cancel,
}

impl TableMaker<'_> {
    /// Makes all tables. The tables of each group, one for each part, go through `prepare` on any worker, through
    /// `place` in the order of the groups, and through `finish` on any worker.
    pub(crate) fn make<T: Send, U>(
        &self,
        prepare: &(dyn Fn(Vec<GroupTables>) -> T + Sync),
        place: &mut (dyn FnMut(T) -> U + Send),
        finish: &(dyn Fn(U) -> Result<(), Error> + Sync),
    ) -> Result<Counts, Error> {
        self.progress.stage("tables", Unit::Steps, Some(GROUPS as u64));
        let taxa = self.window_taxa();
        let taxon_of = |window: u32| taxa[window as usize];
        let layout = self.layout(&taxon_of);
        let ordered = Mutex::new((BTreeMap::new(), 0usize, Counts::default(), place));
        let old = self.old_sections();
        each(self.workers(), 0..GROUPS, self.cancel, |groups| {
            let mut scratch = Scratch::default();
            let mut entries = Vec::new();
            for group in groups {
                let mut tables: Vec<GroupTables> = Vec::new();
                tables.resize_with(self.part_starts.len() + 1, GroupTables::default);
                let mut counts = Counts::default();
                for number in group * GROUP..(group + 1) * GROUP {
                    entries.clear();
                    self.gather(number, &old, &mut entries)?;
                    counts.add(section::make(&mut entries, &layout, &mut scratch, &mut tables));
                }
                self.progress.advance(1);
                let prepared = prepare(tables);
                let mut placed = Vec::new();
                {
                    let mut ordered = lock(&ordered);
                    let (waiting, next, sum, place) = &mut *ordered;
                    sum.add(counts);
                    waiting.insert(group, prepared);
                    while let Some(prepared) = waiting.remove(next) {
                        *next += 1;
                        placed.push(place(prepared));
                    }
                }
                placed.into_iter().try_for_each(finish)?;
            }
            Ok::<_, Error>(())
        })?;
        self.progress.finish();
        let (_, _, counts, _) = into_inner(ordered);
        Ok(counts)
    }

    fn layout<'l>(&'l self, taxon_of: &'l (dyn Fn(u32) -> u32 + Sync)) -> Layout<'l> {
        Layout {
            max_locations: self.config.params().max_locations as usize,
            pruning: Pruning {
                drop_overfull: self.config.sketches.drop_overfull,
                max_taxa: self.config.sketches.ambiguous().map(|(_, most)| most),
            },
            part_starts: self.part_starts,
            taxon_of,
        }
    }

    /// Returns the sections of each part of the base.
    fn old_sections(&self) -> Vec<Vec<Section<'_>>> {
        let Some(base) = self.base else { return Vec::new() };
        (0..base.parts()).map(|part| base.sections(part)).collect()
    }

    /// Returns the number of groups that can be made at once: fewer than threads for very large references.
    fn workers(&self) -> usize {
        let (here, all) = (self.entries.resident_bytes(), self.entries.bytes());
        // The tables of a group with their empty slots, and a copy while vectors grow; and the entries of a
        // section, twice.
        let each = all / GROUPS as u64 * 2 + all / SECTIONS as u64 * 2;
        let left = self.memory.saturating_sub(here);
        (left / each.max(1)).clamp(1, self.threads.max(1) as u64) as usize
    }

    /// Collects the entries of a section: the new ones, and those of the base.
    fn gather(
        &self,
        number: usize,
        old: &[Vec<Section<'_>>],
        entries: &mut Vec<u64>,
    ) -> Result<(), Error> {
        self.entries.gather(number, entries)?;
        for part in old {
            for (feature, locations) in part[number].features() {
                let feature = u64::from(feature) << 32;
                entries.extend(locations.iter().map(|&at| feature | u64::from(at)));
            }
        }
        Ok(())
    }

    /// Returns the taxon of each window at the rank for ambiguous features; empty if features are not pruned by
    /// taxa.
    fn window_taxa(&self) -> Vec<u32> {
        let Some((rank, _)) = self.config.sketches.ambiguous() else { return Vec::new() };
        let mut taxa = Vec::new();
        for (number, target) in self.targets.iter().enumerate() {
            let taxon = match rank {
                Rank::Sequence => number as u32,
                rank => self.taxonomy.told_apart_at(target.node, rank),
            };
            taxa.extend(std::iter::repeat_n(taxon, target.windows as usize));
        }
        taxa
    }
}
