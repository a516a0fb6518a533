//! An index while its sorted positions come.

use merganser_io::AtomicFile;

use super::{Data, Index, Unsorted, file};
use crate::Error;
use crate::reference::Reference;

/// An index that gets its positions, and where those of its k-mers begin, in their order.
pub(crate) struct Growing {
    k: usize,
    positions: PositionSink,
    /// How many these are so far.
    count: u32,
    table: Vec<u32>,
}

/// Where sorted positions go.
enum PositionSink {
    Memory(Vec<u32>),
    File(Box<file::Writer>),
}

impl Growing {
    /// An index in memory or, given one, in a file.
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

    /// The next positions.
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

    /// Where the positions of the next k-mers begin.
    pub(crate) fn begins(&mut self, begins: &[u32]) {
        self.table.extend_from_slice(begins);
    }

    /// The next k-mers by the number of positions that each has, and these positions.
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

    /// The index of the reference that the positions are of, whose file, if it is one, appears as its
    /// set does, and is mapped already.
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
                Ok(Index { contigs, k: self.k, data })
            }
        }
    }
}
