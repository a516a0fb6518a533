//! Tables in memory as an output format.

use std::sync::mpsc::Sender;
use std::time::Duration;

use merganser_seq::kmer::Kmer;

use super::{Encoder, Sink, Totals};
use crate::memory::{MemoryTable, put};
use crate::{Error, Header};

/// Encodes k-mers for a table in memory.
pub(crate) struct MemoryFormat {
    pub(crate) k: usize,
}

impl<K: Kmer> Encoder<K> for MemoryFormat {
    type Encoded = Vec<u8>;

    fn encode(&self, kmers: &[(K, u32)]) -> Vec<u8> {
        let mut part = Vec::new();
        kmers.iter().for_each(|&(kmer, count)| put(self.k, kmer, count, &mut part));
        part
    }
}

/// Collects a table, and sends it when it is complete.
pub(crate) struct MemorySink {
    table: MemoryTable,
    done: Sender<MemoryTable>,
}

impl MemorySink {
    pub(crate) fn new(header: Header, done: Sender<MemoryTable>) -> MemorySink {
        MemorySink { table: MemoryTable::new(header), done }
    }
}

impl Sink<Vec<u8>> for MemorySink {
    fn write(&mut self, part: Vec<u8>) -> Result<(), Error> {
        self.table.append(&part);
        Ok(())
    }

    fn totals(&mut self, totals: &Totals) {
        totals.put(self.table.header_mut());
    }

    fn finish(self) -> Result<Duration, Error> {
        // The receiver may have been dropped.
        let _ = self.done.send(self.table);
        Ok(Duration::ZERO)
    }
}
