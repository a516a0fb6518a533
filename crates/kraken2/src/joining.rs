//! The sketches of blocks, put together by all workers: of a taxon, a set stays a set if all blocks have
//! sets, and else the largest of each register counts, whatever the order.

use std::collections::{HashMap, VecDeque};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use merganser_run::locks::lock;

use super::batch::BlockSketches;
use super::distinct::Sketch;

/// Taxa are spread over so many maps, each with a lock of its own.
const SHARDS: usize = 64;

/// The sketches of all blocks so far.
#[derive(Debug)]
pub(super) struct Joining {
    /// Blocks that nobody has looked at yet: the pieces of each, in order.
    waiting: Mutex<VecDeque<Vec<BlockSketches>>>,
    shards: Vec<Mutex<HashMap<u32, Sketch>>>,
    /// The shard that the next worker begins with, so that they do not wait for each other.
    next: AtomicUsize,
}

impl Default for Joining {
    fn default() -> Self {
        let shards = (0..SHARDS).map(|_| Mutex::default()).collect();
        Joining { waiting: Mutex::default(), shards, next: AtomicUsize::new(0) }
    }
}

impl Joining {
    /// Has a block wait for whoever has time for it.
    pub(super) fn put(&self, pieces: Vec<BlockSketches>) {
        if !pieces.is_empty() {
            lock(&self.waiting).push_back(pieces);
        }
    }

    /// Joins a block, if one waits; false if none does.
    pub(super) fn join_one(&self) -> bool {
        let Some(pieces) = lock(&self.waiting).pop_front() else { return false };
        let mut pieces = pieces.into_iter();
        let mut block = pieces.next().unwrap_or_default();
        for piece in pieces {
            for (node, sketch) in piece {
                block.entry(node).or_default().append(sketch);
            }
        }
        let mut shards: Vec<Vec<(u32, Sketch)>> = (0..SHARDS).map(|_| Vec::new()).collect();
        for (node, sketch) in block {
            shards[node as usize % SHARDS].push((node, sketch.into_sketch()));
        }
        let first = self.next.fetch_add(7, Ordering::Relaxed);
        for shard in (first..first + SHARDS).map(|at| at % SHARDS) {
            let sketches = std::mem::take(&mut shards[shard]);
            let mut all = lock(&self.shards[shard]);
            for (node, sketch) in sketches {
                all.entry(node).or_default().merge(sketch);
            }
        }
        true
    }

    /// The sketches of all taxa, once all blocks are joined.
    pub(super) fn take(&self) -> HashMap<u32, Sketch> {
        self.shards.iter().flat_map(|shard| std::mem::take(&mut *lock(shard))).collect()
    }
}
