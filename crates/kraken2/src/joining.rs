//! Joining of the sketches of blocks by all workers. If all blocks have sets of a taxon, the result is their
//! union; otherwise it is the maximum of each register. The order does not matter.

use std::collections::{HashMap, VecDeque};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use merganser_run::locks::lock;

use super::batch::BlockSketches;
use super::distinct::Sketch;

/// The number of maps that the taxa are distributed over, each with its own lock.
const SHARDS: usize = 64;

/// The sketches of all blocks so far, and blocks that are not yet joined.
#[derive(Debug)]
pub(super) struct Joining {
    /// Blocks that no worker has taken yet, with the pieces of each in order.
    waiting: Mutex<VecDeque<Vec<BlockSketches>>>,
    shards: Vec<Mutex<HashMap<u32, Sketch>>>,
    /// The map with which the next worker begins, so that workers do not wait for each other.
    next: AtomicUsize,
}

impl Default for Joining {
    fn default() -> Self {
        let shards = (0..SHARDS).map(|_| Mutex::default()).collect();
        Joining { waiting: Mutex::default(), shards, next: AtomicUsize::new(0) }
    }
}

impl Joining {
    /// Queues a block for any idle worker.
    pub(super) fn put(&self, pieces: Vec<BlockSketches>) {
        if !pieces.is_empty() {
            lock(&self.waiting).push_back(pieces);
        }
    }

    /// Joins one queued block; returns whether there was one.
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

    /// Returns the sketches of all taxa; call it after all blocks are joined.
    pub(super) fn take(&self) -> HashMap<u32, Sketch> {
        self.shards.iter().flat_map(|shard| std::mem::take(&mut *lock(shard))).collect()
    }
}
