//! The tables of one or several databases, which are looked up together: a minimizer has the lowest common ancestor of
//! the taxa that the tables have for it.

mod sources;

use std::collections::HashMap;

use merganser_run::{Cancel, Context};

use super::table::{Table, WaitingSearches};
use super::taxonomy::Kraken2Taxonomy;
use crate::Error;

/// Tables, and the nodes of the joint taxonomy for the nodes of each.
#[derive(Debug)]
pub(crate) struct Tables(Vec<Member>);

/// The table of a database.
#[derive(Debug)]
struct Member {
    table: Table,
    /// The joint node of each of its nodes; `None` if they are the same.
    nodes: Option<Box<[u32]>>,
}

impl Tables {
    /// Returns the table of a single database.
    pub(super) fn of(table: Table) -> Tables {
        Tables(vec![Member { table, nodes: None }])
    }

    /// Joins the tables of databases with their own taxonomies.
    pub(super) fn joined<'t>(
        databases: impl Iterator<Item = (Table, &'t Kraken2Taxonomy)>,
        joint: &Kraken2Taxonomy,
    ) -> Tables {
        let by_taxid: HashMap<u32, u32> =
            (0..joint.len() as u32).map(|node| (joint.taxid(node), node)).collect();
        let of = |own: &Kraken2Taxonomy, node: u32| by_taxid.get(&own.taxid(node)).copied();
        let member = |(table, own): (Table, &Kraken2Taxonomy)| {
            let nodes = (0..own.len() as u32).map(|node| of(own, node).unwrap_or(0));
            Member { table, nodes: Some(nodes.collect()) }
        };
        let mut joined = Tables(databases.map(member).collect());
        // A table of limited size leaves minimizers out. Elsewhere they would have taxa that the others would have made
        // higher ones.
        let least = joined.minimum_hash();
        joined.0.iter_mut().for_each(|member| member.table.set_minimum_hash(least));
        joined
    }

    /// Returns the hash below which minimizers are looked up in no table.
    pub(super) fn minimum_hash(&self) -> u64 {
        self.all().map(Table::minimum_hash).max().unwrap_or(0)
    }

    /// Returns the table if there is only one.
    pub(crate) fn single(&self) -> Option<&Table> {
        match &self.0[..] {
            [only] => Some(&only.table),
            _ => None,
        }
    }

    /// Returns all tables.
    pub(crate) fn all(&self) -> impl Iterator<Item = &Table> {
        self.0.iter().map(|member| &member.table)
    }

    /// Returns the joint node of each value of each table; `None` if the values are the nodes.
    pub(crate) fn joint_nodes(&self) -> impl Iterator<Item = Option<&[u32]>> {
        self.0.iter().map(|member| member.nodes.as_deref())
    }

    /// Checks the largest node that devices found, in a joint taxonomy with `nodes` nodes.
    ///
    /// # Errors
    /// If a value in a table is not a node of its taxonomy.
    pub(super) fn check_node(&self, most: u32, nodes: usize) -> Result<(), Error> {
        match self.single() {
            Some(only) => only.check_value(most),
            None if (most as usize) < nodes => Ok(()),
            // Devices do not tell in which table they found it.
            None => self.verify(1, &Cancel::default()).and_then(|()| {
                let reason = "a device found a taxon that is in no table: a file was changed meanwhile, or the \
                              device is faulty";
                Err(Error::Input(reason.to_owned()))
            }),
        }
    }

    /// Returns all tables, without their nodes.
    pub(super) fn into_all(self) -> impl Iterator<Item = Table> {
        self.0.into_iter().map(|member| member.table)
    }

    /// Returns the size of all tables in bytes.
    pub(super) fn bytes(&self) -> u64 {
        self.all().map(Table::bytes).sum()
    }

    /// Returns the minimum size of a range of a table in bytes.
    pub(super) fn least_range(&self) -> u64 {
        self.all().map(Table::stretch_bytes).max().unwrap_or(0)
    }

    /// Whether all files are stored only in memory.
    pub(super) fn are_in_memory(&self) -> bool {
        self.all().all(Table::is_in_memory)
    }

    /// Prepares for look-ups of the minimizers of `text` bytes of reads.
    pub(super) fn prepare_for_random_accesses(&self, text: Option<u64>, context: &Context) {
        self.all().for_each(|table| table.prepare_for_random_accesses(text, context));
    }

    /// Checks all cells of all tables.
    ///
    /// # Errors
    /// If a check fails, or [`Error::Cancelled`].
    pub(super) fn verify(&self, threads: usize, cancel: &Cancel) -> Result<(), Error> {
        self.all().try_for_each(|table| table.verify(threads, cancel))
    }

    /// Returns the number of cells with each node of the (joint) taxonomy, which has `nodes` nodes; those of 0 are empty.
    ///
    /// # Errors
    /// If a value is not a node, or [`Error::Cancelled`].
    pub(super) fn count_nodes(
        &self,
        nodes: usize,
        threads: usize,
        cancel: &Cancel,
    ) -> Result<Vec<u64>, Error> {
        let mut sums = vec![0; nodes];
        for member in &self.0 {
            let counts = member.table.count_values(threads, cancel)?;
            let mut own: Vec<u32> = (0..counts.len() as u32).collect();
            member.to_joint(&mut own);
            own.iter().zip(counts).for_each(|(&node, count)| sums[node as usize] += count);
        }
        Ok(sums)
    }

    /// Returns a checksum: the CRC-32 of the file or, of several, that of their checksums.
    ///
    /// # Errors
    /// If a file cannot be read; if cancelled.
    pub(super) fn checksum(&self, cancel: &Cancel) -> Result<u32, Error> {
        if let Some(only) = self.single() {
            return only.checksum(cancel);
        }
        let mut all = Vec::new();
        for table in self.all() {
            all.extend_from_slice(&table.checksum(cancel)?.to_le_bytes());
        }
        Ok(crc32fast::hash(&all))
    }

    /// Replaces `nodes` with the node of each minimizer; 0 for those that no table has.
    ///
    /// # Errors
    /// If a database turns out to be damaged.
    pub(super) fn look_up(
        &self,
        minimizers: &[u64],
        tree: &Kraken2Taxonomy,
        nodes: &mut Vec<u32>,
    ) -> Result<(), Error> {
        let [first, others @ ..] = &self.0[..] else { return Ok(()) };
        first.table.look_up(minimizers, nodes)?;
        first.to_joint(nodes);
        let mut more = Vec::new();
        for member in others {
            member.table.look_up(minimizers, &mut more)?;
            member.to_joint(&mut more);
            for (node, &other) in nodes.iter_mut().zip(&more) {
                *node = joined(tree, *node, other);
            }
        }
        Ok(())
    }

    /// Collects the searches for minimizers in each table.
    pub(super) fn wait(&self, minimizers: &[u64]) -> Vec<WaitingSearches> {
        self.all().map(|table| table.wait(minimizers)).collect()
    }

    /// Replaces `nodes` with the nodes that searches found, and `minimizers` with the minimizers that have a node; those
    /// without are 0 in both.
    pub(super) fn found(
        &self,
        searches: &[WaitingSearches],
        tree: &Kraken2Taxonomy,
        (nodes, minimizers): (&mut Vec<u32>, &mut Vec<u64>),
    ) {
        let [first, others @ ..] = searches else { return };
        first.found(nodes, minimizers);
        self.0[0].to_joint(nodes);
        let (mut more, mut more_minimizers) = (Vec::new(), Vec::new());
        for (member, searches) in self.0[1..].iter().zip(others) {
            searches.found(&mut more, &mut more_minimizers);
            member.to_joint(&mut more);
            for (at, &other) in more.iter().enumerate().filter(|(_, other)| **other != 0) {
                nodes[at] = joined(tree, nodes[at], other);
                minimizers[at] = more_minimizers[at];
            }
        }
    }
}

impl Member {
    /// Replaces nodes of the table by joint ones.
    fn to_joint(&self, nodes: &mut [u32]) {
        if let Some(joint) = &self.nodes {
            nodes.iter_mut().for_each(|node| *node = joint[*node as usize]);
        }
    }
}

/// Returns the lowest common ancestor of two nodes, or the other one if one is 0.
fn joined(tree: &Kraken2Taxonomy, one: u32, other: u32) -> u32 {
    match (one, other) {
        (0, only) | (only, 0) => only,
        _ if one == other => one,
        _ => tree.lca(one, other),
    }
}
