//! All k-mers of a table, in order, to one visitor.

use merganser_run::{Cancel, Progress};
use merganser_seq::kmer::Kmer;

use super::engine::{Engine, Place, Work};
use super::merge::Run;
use super::run::Session;
use crate::Error;
use crate::table::section_bits;
use crate::tables::Ranges;

/// Sorted k-mers with their counts.
pub(crate) type Range<'r, K> = &'r [(K, u32)];

/// Takes the k-mers of a table in order.
pub(crate) trait Visit<K> {
    fn range(&mut self, range: Range<'_, K>) -> Result<(), Error>;
}

struct Visiting<'v, V>(&'v mut V);

impl<K: Kmer, V: Visit<K>> Work<K> for Visiting<'_, V> {
    fn range(&mut self, _place: Place, tables: &mut [Run<K>]) -> Result<bool, Error> {
        self.0.range(&tables[0]).map(|()| true)
    }
}

impl Session<'_> {
    /// Gives `visitor` all k-mers of the only table.
    pub(crate) fn visit<K: Kmer, V: Visit<K> + Send>(
        &self,
        ranges: &[Box<dyn Ranges<K> + '_>],
        progress: &dyn Progress,
        cancel: &Cancel,
        visitor: &mut V,
    ) -> Result<(), Error> {
        let bits = section_bits(ranges[0].kmers(), self.k);
        let engine: Engine<'_, K> =
            Engine { threads: 1, ..self.engine(ranges, bits, progress, cancel) };
        engine.run_one(Visiting(visitor))
    }
}
