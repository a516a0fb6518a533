//! An index under construction, which receives its positions in sorted order.

use std::path::PathBuf;

use merganser_io::AtomicFile;

use super::{Data, Index, Unsorted, file};
use crate::Error;
use crate::reference::Reference;

/// An index under construction: it receives the sorted positions, and the index of each k-mer's first position.
pub(crate) struct Growing {
    k: usize,
    positions: PositionSink,
    /// The number of positions so far.
    count: u32,
    table: Vec<u32>,
}

/// The destination of sorted positions.
enum PositionSink {
    Memory(Vec<u32>),
    File(Box<file::Writer>),
}

impl Growing {
    /// Begins an index in memory or, if `output` is given, in that file.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub(crate) fn new(
        unsorted: &Unsorted<'_>,
        reference: &Reference,
        output: Option<AtomicFile>,
    ) -> Result<Growing, Error> {
        let k = unsorted.k;
        let table = Vec::with_capacity((1 << (2 * k)) + 1);
        let positions = match output {
            Some(file) => PositionSink::File(Box::new(file::Writer::new(file, reference, k)?)),
            None => PositionSink::Memory(Vec::with_capacity(unsorted.positions() as usize)),
        };
        Ok(Growing { k, positions, count: 0, table })
    }

    /// Appends the next positions.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub(crate) fn positions(&mut self, positions: &[u32]) -> Result<(), Error> {
        self.count += positions.len() as u32;
        match &mut self.positions {
            PositionSink::Memory(all) => {
                all.extend_from_slice(positions);
                Ok(())
            }
            PositionSink::File(writer) => writer.positions(positions),
        }
    }

    /// Appends the indices of the first positions of the next k-mers.
    pub(crate) fn begins(&mut self, begins: &[u32]) {
        self.table.extend_from_slice(begins);
    }

    /// Appends the next k-mers, given the number of positions of each, and these positions.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub(crate) fn kmers(&mut self, counts: &[u32], positions: &[u32]) -> Result<(), Error> {
        let mut begin = self.count;
        for &count in counts {
            self.table.push(begin);
            begin += count;
        }
        self.positions(positions)
    }

    /// Completes the index with its reference. A file is already mapped and appears together with the other
    /// files of its set.
    ///
    /// # Errors
    /// If the file cannot be written or mapped.
    pub(crate) fn finish(mut self, reference: Reference) -> Result<Index, Error> {
        self.table.push(self.count);
        match self.positions {
            PositionSink::File(writer) => writer.finish(&reference, &self.table),
            PositionSink::Memory(positions) => {
                let contigs = reference.contigs.clone();
                let data = Data::Owned { reference, positions, table: self.table };
                Ok(Index { contigs, k: self.k, data, source: PathBuf::new(), kept_linear: false })
            }
        }
    }
}
