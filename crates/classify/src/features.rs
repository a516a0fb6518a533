//! Looks up features of reads one by one, outside the hot path of queries: the locations of each feature, and the
//! number of distinct features of each taxon.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::database::{Database, EMPTY, LIST, SECTIONS, Section};
use merganser_taxreport::report::FeatureCounts;

use crate::sketch::{Sketcher, sketch_all};

/// Looks up single features in all parts of a database.
#[derive(Debug)]
pub(crate) struct FeatureLookup<'a> {
    database: &'a Database,
    parts: Vec<Vec<Section<'a>>>,
    /// The number of windows before those of each part's database, if several are used together.
    first_windows: Vec<u32>,
    /// The number of windows before those of each target.
    starts: Vec<u32>,
}

/// The position of a feature: the part, and the slot in its section.
type SlotPlace = (usize, usize);

impl<'a> FeatureLookup<'a> {
    pub(crate) fn new(database: &'a Database) -> FeatureLookup<'a> {
        FeatureLookup {
            database,
            parts: (0..database.parts()).map(|part| database.sections(part)).collect(),
            first_windows: (0..database.parts())
                .map(|part| database.origin(part).first_window)
                .collect(),
            starts: (0..database.targets().len() as u32)
                .map(|target| database.first_window(target))
                .collect(),
        }
    }

    /// Replaces `features` by the features of all windows of a read's mates.
    pub(crate) fn features(
        &self,
        mates: &[&[u8]; 2],
        sketcher: &mut Sketcher,
        features: &mut Vec<u64>,
    ) {
        let params = self.database.params();
        features.clear();
        for mate in mates.iter().filter(|mate| mate.len() >= params.k as usize) {
            sketch_all(mate, params, sketcher, features);
        }
    }

    /// Returns the positions of a feature, one for each part that has it.
    fn places(&self, feature: u64) -> impl Iterator<Item = SlotPlace> + '_ {
        let wanted = feature & u64::from(u32::MAX);
        let section = section_of(feature);
        (0..self.parts.len()).filter_map(move |part| {
            let section = &self.parts[part][section];
            let ideal = section.ideal_slot(wanted as u32);
            let slots = section.slots.get(ideal..)?;
            let at = slots.iter().position(|&slot| slot >> 32 >= wanted)?;
            let slot = slots[at];
            (slot >> 32 == wanted && slot != EMPTY).then_some((part, ideal + at))
        })
    }

    /// Returns the locations of a slot: windows, numbered over all targets.
    fn locations(&self, section: usize, (part, at): SlotPlace) -> Vec<u32> {
        let (section, first_window) = (&self.parts[part][section], self.first_windows[part]);
        let payload = section.slots[at] as u32;
        let mut windows = match payload & LIST {
            0 => vec![payload],
            _ => section.list(payload).to_vec(),
        };
        windows.iter_mut().for_each(|window| *window = window.saturating_add(first_window));
        windows
    }

    /// Returns the target of a window; `None` beyond the last window, which can occur in damaged tables.
    fn target(&self, window: u32) -> Option<u32> {
        // If several targets start here, only the last of them has windows.
        let target = self.starts.partition_point(|&start| start <= window).checked_sub(1)?;
        (window < self.database.windows()).then_some(target as u32)
    }

    /// Returns the lowest common ancestor of the taxa of a slot's locations.
    fn taxon(&self, section: usize, place: SlotPlace) -> Option<u32> {
        let tree = self.database.taxonomy();
        let windows = self.locations(section, place).into_iter();
        let targets = windows.filter_map(|window| self.target(window));
        let nodes = targets.map(|target| self.database.targets()[target as usize].node);
        // Targets without a taxon are ignored.
        nodes.filter(|&node| node != tree.root()).reduce(|common, node| tree.lca(common, node))
    }

    /// Returns all hits of a read in ascending order: (target, window of the target) and the number of hits.
    pub(crate) fn hits(
        &self,
        mates: &[&[u8]; 2],
        sketcher: &mut Sketcher,
    ) -> BTreeMap<(u32, u32), u32> {
        let mut features = Vec::new();
        self.features(mates, sketcher, &mut features);
        let mut hits = BTreeMap::new();
        for feature in features {
            for place in self.places(feature) {
                for window in self.locations(section_of(feature), place) {
                    let Some(target) = self.target(window) else { continue };
                    let own = window - self.database.first_window(target);
                    *hits.entry((target, own)).or_default() += 1;
                }
            }
        }
        hits
    }
}

fn section_of(feature: u64) -> usize {
    (feature >> 32) as usize & (SECTIONS - 1)
}

/// Counts features of reads by taxon. The taxon of a feature is the lowest common ancestor of all targets among its
/// locations. Shared by all workers.
#[derive(Debug)]
pub(crate) struct FeatureCounter<'a> {
    lookup: FeatureLookup<'a>,
    /// Features by node.
    hits: Vec<AtomicU64>,
    /// One bit for each slot of each part.
    seen: Vec<Vec<AtomicU64>>,
    /// The first bit of each section of each part.
    starts: Vec<Vec<usize>>,
}

impl<'a> FeatureCounter<'a> {
    pub(crate) fn new(database: &'a Database) -> FeatureCounter<'a> {
        let zeros = |count: usize| (0..count).map(|_| AtomicU64::new(0)).collect::<Vec<_>>();
        let lookup = FeatureLookup::new(database);
        let (mut seen, mut starts) = (Vec::new(), Vec::new());
        for sections in &lookup.parts {
            let mut next = 0;
            let mut own = Vec::with_capacity(sections.len());
            for section in sections {
                own.push(next);
                next += section.slots.len();
            }
            seen.push(zeros(next / 64 + 1));
            starts.push(own);
        }
        FeatureCounter { hits: zeros(database.taxonomy().len()), lookup, seen, starts }
    }

    /// Counts the features of a read.
    pub(crate) fn count(
        &self,
        mates: &[&[u8]; 2],
        sketcher: &mut Sketcher,
        features: &mut Vec<u64>,
    ) {
        let tree = self.lookup.database.taxonomy();
        self.lookup.features(mates, sketcher, features);
        for &feature in features.iter() {
            let section = section_of(feature);
            let mut taxon: Option<u32> = None;
            for place in self.lookup.places(feature) {
                let bit = self.starts[place.0][section] + place.1;
                self.seen[place.0][bit / 64].fetch_or(1 << (bit % 64), Ordering::Relaxed);
                let own = self.lookup.taxon(section, place);
                taxon = own.map(|own| taxon.map_or(own, |other| tree.lca(own, other))).or(taxon);
            }
            if let Some(node) = taxon {
                self.hits[node as usize].fetch_add(1, Ordering::Relaxed);
            }
        }
    }

    /// Returns the counts so far.
    pub(crate) fn counts(&self) -> FeatureCounts {
        let hits = self.hits.iter().map(|count| count.load(Ordering::Relaxed)).collect();
        let mut distinct = vec![0; self.hits.len()];
        let counted: Result<(), Infallible> = self.each_seen(|_, node| {
            distinct[node as usize] += 1;
            Ok(())
        });
        match counted {
            Ok(()) => FeatureCounts::new(hits, distinct),
        }
    }

    /// Calls `each` with all features that were seen, in ascending order, and their taxa.
    ///
    /// # Errors
    /// Errors of `each`.
    pub(crate) fn each_seen<E>(
        &self,
        mut each: impl FnMut(u64, u32) -> Result<(), E>,
    ) -> Result<(), E> {
        let tree = self.lookup.database.taxonomy();
        for section in 0..SECTIONS {
            // A feature may be in several parts.
            let mut taxa: BTreeMap<u64, u32> = BTreeMap::new();
            for part in 0..self.lookup.parts.len() {
                let slots = self.lookup.parts[part][section].slots;
                for (at, slot) in slots.iter().enumerate() {
                    let bit = self.starts[part][section] + at;
                    let word = self.seen[part][bit / 64].load(Ordering::Relaxed);
                    if word >> (bit % 64) & 1 == 0 {
                        continue;
                    }
                    let Some(node) = self.lookup.taxon(section, (part, at)) else { continue };
                    let known = taxa.entry(slot >> 32).or_insert(node);
                    *known = tree.lca(*known, node);
                }
            }
            let upper = (section as u64) << 32;
            taxa.into_iter().try_for_each(|(key, node)| each(upper | key, node))?;
        }
        Ok(())
    }
}
