//! Finds which of several databases support the taxa of reads.

use std::ops::Range;

use merganser_taxreport::by_database::DatabaseSet;

use super::lookup::Lookup;
use super::{HostQuery, Part, Scratch};

impl HostQuery<'_> {
    /// Adds to `databases` of each read those that support its taxon, of the parts to query now: a sequence in the clade of
    /// the read's node has at least one of the read's features. `nodes` has `None` for unclassified reads.
    pub(crate) fn add_databases(
        &self,
        reads: &[[&[u8]; 2]],
        nodes: &[Option<u32>],
        scratch: &mut Scratch,
        databases: &mut [DatabaseSet],
    ) {
        let parts = self.asked(scratch);
        let numbered = nodes.iter().enumerate();
        let classified: Vec<(usize, u32)> =
            numbered.filter_map(|(read, node)| Some((read, (*node)?))).collect();
        let mut rest = &classified[..];
        while let Some(&(read, node)) = rest.first() {
            if self.is_long(&reads[read]) {
                self.add_databases_of_long(
                    &reads[read],
                    node,
                    (parts, scratch),
                    &mut databases[read],
                );
                rest = &rest[1..];
                continue;
            }
            let mates = rest.iter().map(|(read, _)| &reads[*read]);
            let count = self.sketch(mates.take_while(|mates| !self.is_long(mates)), scratch);
            let (group, others) = rest.split_at(count);
            rest = others;
            for part in parts {
                scratch.lookup.look_up(&part.sections, &scratch.features);
                let mut start = 0;
                for (&(read, node), &end) in group.iter().zip(&scratch.ends) {
                    let features = start..end;
                    self.add_database(
                        part,
                        node,
                        (&scratch.lookup, features),
                        &mut databases[read],
                    );
                    start = end;
                }
            }
        }
    }

    /// Adds the databases that support the taxon of a read of any length, some windows at a time.
    fn add_databases_of_long(
        &self,
        mates: &[&[u8]; 2],
        node: u32,
        (parts, scratch): (&[Part<'_>], &mut Scratch),
        databases: &mut DatabaseSet,
    ) {
        self.each_group(mates, scratch, |Scratch { features, lookup, .. }| {
            for part in parts {
                lookup.look_up(&part.sections, features);
                self.add_database(part, node, (lookup, 0..features.len()), databases);
            }
        });
    }

    /// Adds the database of a part if one of its sequences in the clade of `node` has one of these features.
    fn add_database(
        &self,
        part: &Part<'_>,
        node: u32,
        (lookup, features): (&Lookup, Range<usize>),
        databases: &mut DatabaseSet,
    ) {
        let database: DatabaseSet = 1 << part.database;
        for feature in features {
            if *databases & database != 0 {
                return;
            }
            lookup.each(&part.sections, feature..feature + 1, |locations| {
                let mut windows = locations.iter().map(|&location| part.window(location));
                if windows.any(|window| self.is_in_clade(window, node)) {
                    *databases |= database;
                }
            });
        }
    }
}
