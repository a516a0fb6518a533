//! Encoding of counts in partial results.
//!
//! For the distinct minimizers of a taxon, the joined sketch of all blocks so far is sufficient: a set of codes,
//! or registers. Sets are joined to their union; if one sketch has registers, the result has registers.

use std::io;

use super::batch::TaxonCounts;
use super::codes::{CODE_BITS, Codes};
use super::counts::Kraken2Counts;
use super::distinct::{MAX_CODES, MAX_RANK, REGISTERS, Sketch, is_code};
use merganser_taxreport::Error;
use merganser_taxreport::partial::{Ascending, Decoder, Encoder};

/// The flags of stored counts.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StoredCounts {
    /// Whether distinct minimizers were estimated.
    pub(crate) minimizers: bool,
    /// Whether the last block of the input might have continued with more reads.
    pub(crate) is_cut: bool,
}

/// The kind of a sketch, which is written before it.
const CODES: u64 = 0;
const AS_REGISTERS: u64 = 1;
/// Lower bits of a code that are usually 0; they are written as upper bits, where they take no space.
const UNUSED: u32 = 32 - CODE_BITS;

impl Kraken2Counts {
    /// Writes all counts, and the sketches if `minimizers` were counted.
    ///
    /// # Errors
    /// If writing fails.
    pub(crate) fn store(&self, minimizers: bool, encoder: &mut Encoder<'_>) -> io::Result<()> {
        encoder.number(self.unclassified)?;
        encoder.number(self.unclassified_bases)?;
        let mut taxa: Vec<_> = self.taxa.iter().collect();
        taxa.sort_unstable_by_key(|(node, _)| **node);
        let mut nodes = Ascending::default();
        for (&node, counts) in taxa {
            encoder.number(nodes.step_to(node.into()))?;
            encoder.number(counts.reads)?;
            encoder.number(counts.bases)?;
            encoder.number(counts.minimizers)?;
        }
        encoder.end_list()?;
        encoder.number(minimizers.into())?;
        if !minimizers {
            return Ok(());
        }
        encoder.number(self.is_cut.into())?;
        let mut sketches: Vec<_> = self.sketches.iter().collect();
        sketches.sort_unstable_by_key(|(node, _)| **node);
        let mut nodes = Ascending::default();
        for (&node, sketch) in sketches {
            encoder.number(nodes.step_to(node.into()))?;
            sketch.store(encoder)?;
        }
        encoder.end_list()
    }

    /// Adds stored counts of a taxonomy with `nodes` nodes.
    ///
    /// # Errors
    /// If reading fails, or if the data is damaged.
    pub(crate) fn add_stored(
        &mut self,
        nodes: usize,
        decoder: &mut Decoder,
    ) -> Result<StoredCounts, Error> {
        let before = self.reads;
        self.unclassified = self.unclassified.saturating_add(decoder.number()?);
        // Files of earlier versions have no bases.
        let has_bases = decoder.has_bases();
        let bases = |decoder: &mut Decoder| if has_bases { decoder.number() } else { Ok(0) };
        self.unclassified_bases = self.unclassified_bases.saturating_add(bases(decoder)?);
        let mut list = Ascending::default();
        while let Some(node) = decoder.next_of(&mut list, nodes as u64)? {
            if node == 0 {
                return Err(decoder.damaged("reads are assigned to taxon 0"));
            }
            let counts = self.taxa.entry(node as u32).or_default();
            counts.reads = counts.reads.saturating_add(decoder.number()?);
            counts.bases = counts.bases.saturating_add(bases(decoder)?);
            counts.minimizers = counts.minimizers.saturating_add(decoder.number()?);
        }
        let add = |[reads, bases, minimizers]: [u64; 3], counts: &TaxonCounts| {
            Some([
                reads.checked_add(counts.reads)?,
                bases.checked_add(counts.bases)?,
                minimizers.checked_add(counts.minimizers)?,
            ])
        };
        let [reads, ..] = self
            .taxa
            .values()
            .try_fold([self.unclassified, self.unclassified_bases, 0], add)
            .ok_or_else(|| decoder.damaged("the sum of reads, bases or minimizers is too large"))?;
        self.reads = reads;
        if decoder.number()? == 0 {
            return Ok(StoredCounts { minimizers: false, is_cut: false });
        }
        let is_cut = decoder.number()? != 0 && self.reads > before;
        let mut list = Ascending::default();
        while let Some(node) = decoder.next_of(&mut list, nodes as u64)? {
            let sketch = Sketch::load(decoder)?;
            self.sketches.entry(node as u32).or_default().merge(sketch);
        }
        Ok(StoredCounts { minimizers: true, is_cut })
    }

    /// Returns the number of taxa whose estimate depends on how the input is cut into blocks.
    pub(crate) fn uncertain(&self) -> usize {
        let depends = |sketch: &&Sketch| match sketch {
            Sketch::Codes(codes) => codes.len() > MAX_CODES,
            Sketch::Registers(_) => true,
        };
        self.sketches.values().filter(depends).count()
    }
}

impl Sketch {
    fn store(&self, encoder: &mut Encoder<'_>) -> io::Result<()> {
        match self {
            Sketch::Codes(codes) => {
                encoder.number(CODES)?;
                let mut all = Vec::with_capacity(codes.len());
                codes.for_each(|code| all.push(code.rotate_right(UNUSED)));
                all.sort_unstable();
                let mut list = Ascending::default();
                for code in all {
                    encoder.number(list.step_to(code.into()))?;
                }
                encoder.end_list()
            }
            Sketch::Registers(registers) => {
                encoder.number(AS_REGISTERS)?;
                encoder.bytes(&registers[..])
            }
        }
    }

    fn load(decoder: &mut Decoder) -> Result<Sketch, Error> {
        match decoder.number()? {
            CODES => {
                let (mut codes, mut list) = (Codes::default(), Ascending::default());
                while let Some(code) = decoder.next_of(&mut list, 1 << 32)? {
                    let code = (code as u32).rotate_left(UNUSED);
                    if !is_code(code) {
                        return Err(decoder.damaged("the code of a minimizer is invalid"));
                    }
                    codes.insert(code);
                }
                Ok(Sketch::Codes(codes))
            }
            AS_REGISTERS => {
                let registers: Box<[u8; REGISTERS]> = Box::new(decoder.array()?);
                match registers.iter().all(|&rank| rank <= MAX_RANK) {
                    true => Ok(Sketch::Registers(registers)),
                    false => Err(decoder.damaged("the rank of a register is too large")),
                }
            }
            _ => Err(decoder.damaged("the kind of a sketch is unknown")),
        }
    }
}

#[cfg(test)]
mod tests;
