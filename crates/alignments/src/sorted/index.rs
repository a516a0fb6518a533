//! The index of a sorted BAM file: which stretches of the file contain the records of a region.

use merganser_io::{BgzfBlocks, Output};
use noodles_bam::bai;
use noodles_bgzf::VirtualPosition;
use noodles_core::Position;
use noodles_csi as csi;
use noodles_csi::binning_index::Indexer;
use noodles_csi::binning_index::index::reference_sequence::bin::Chunk;
use noodles_csi::binning_index::index::reference_sequence::index::{BinnedIndex, LinearIndex};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use super::Fields;
use crate::Contig;

merganser_run::named! {
    /// The kind of an index of sorted records. Its name is the extension of the index file.
    pub enum IndexKind {
        /// BAI, for contigs of up to 2^29 - 1 bases.
        Bai = "bai",
        /// CSI, for contigs of any length.
        Csi = "csi",
        /// CRAI, for CRAM.
        Crai = "crai",
    }
}

/// The maximum number of bases of a contig in BAI (SAM specification, section 5.1.1).
const MAX_BAI: u32 = (1 << 29) - 1;
/// The base-2 logarithm of the size of the smallest CSI bins in bases, the same as in BAI.
const MIN_SHIFT: u8 = 14;

impl IndexKind {
    /// Returns the kind for these contigs: BAI if it can hold them, otherwise CSI.
    pub fn for_contigs(contigs: &[Contig]) -> IndexKind {
        if contigs.iter().any(|contig| contig.len > MAX_BAI) {
            IndexKind::Csi
        } else {
            IndexKind::Bai
        }
    }

    /// Returns the path of the index of a file, which is next to it: `a.bam.bai` for `a.bam`.
    pub fn beside(self, records: &Path) -> PathBuf {
        let mut path = records.as_os_str().to_owned();
        path.push(format!(".{self}"));
        path.into()
    }

    /// Returns an error message if this kind of index cannot hold these contigs.
    pub fn problem(self, contigs: &[Contig]) -> Option<String> {
        let long = contigs.iter().find(|contig| contig.len > MAX_BAI)?;
        (self == IndexKind::Bai).then(|| {
            format!(
                "contig {} is longer than the {MAX_BAI} bases that BAI can hold: use `index_format` csi",
                long.name
            )
        })
    }
}

/// The data of a record that its index entry needs.
#[derive(Clone, Copy, Debug)]
pub(super) struct Mark {
    /// The offset of the record in the text.
    pub(super) at: usize,
    contig: i32,
    first: u32,
    span: u32,
    is_mapped: bool,
}

impl Mark {
    /// Returns the mark with its offset changed by `by` bytes.
    pub(super) fn moved(self, by: isize) -> Mark {
        Mark { at: self.at.wrapping_add_signed(by), ..self }
    }

    pub(super) fn new(record: &[u8], at: usize) -> Mark {
        let fields = Fields(record);
        let is_mapped = fields.flags() & 4 == 0;
        let span = if is_mapped { fields.span() } else { 1 };
        Mark { at, contig: fields.contig(), first: fields.at().max(0) as u32, span, is_mapped }
    }
}

/// An index of BAM records, which is built while the file is written.
pub struct RecordIndex {
    bins: Bins,
    contigs: usize,
    /// The previous record and its position in the file.
    last: Option<(Mark, VirtualPosition)>,
}

enum Bins {
    Bai(Indexer<LinearIndex>),
    Csi(Indexer<BinnedIndex>),
}

impl RecordIndex {
    /// Returns an empty index of records on these contigs.
    pub fn new(kind: IndexKind, contigs: &[Contig]) -> RecordIndex {
        let bins = match kind {
            IndexKind::Bai => Bins::Bai(Indexer::default()),
            IndexKind::Csi | IndexKind::Crai => {
                let longest = contigs.iter().map(|contig| u64::from(contig.len)).max().unwrap_or(0);
                let fits = |&depth: &u8| longest < 1 << (MIN_SHIFT + 3 * depth);
                let depth = (5..10).find(fits).unwrap_or(10);
                Indexer::new(MIN_SHIFT, depth)
                    .map_or_else(|| Bins::Csi(Indexer::default()), Bins::Csi)
            }
        };
        RecordIndex { bins, contigs: contigs.len(), last: None }
    }

    /// Adds the records that begin in `blocks`. The first block begins at byte `position` of the file.
    pub(super) fn add_blocks(
        &mut self,
        blocks: &[u8],
        marks: Vec<Mark>,
        position: u64,
    ) -> io::Result<()> {
        let (mut block, mut at) = (0, 0);
        for mark in marks {
            while block < mark.at / BgzfBlocks::TEXT {
                at += BgzfBlocks::size(&blocks[at..]);
                block += 1;
            }
            self.add(mark, position + at as u64, (mark.at % BgzfBlocks::TEXT) as u16)?;
        }
        Ok(())
    }

    /// Adds the next record, which begins at byte `within` of the block at byte `block` of the file.
    fn add(&mut self, mark: Mark, block: u64, within: u16) -> io::Result<()> {
        let at = VirtualPosition::new(block, within)
            .ok_or_else(|| io::Error::other("the file is too large for an index"))?;
        self.close(at)?;
        self.last = Some((mark, at));
        Ok(())
    }

    /// Adds the previous record to the bins; it ends at `end`.
    fn close(&mut self, end: VirtualPosition) -> io::Result<()> {
        let Some((mark, begin)) = self.last.take() else { return Ok(()) };
        let place = if mark.contig < 0 {
            None
        } else {
            let first = Position::try_from(mark.first as usize + 1).map_err(io::Error::other)?;
            let last = (mark.first + mark.span) as usize;
            let last = Position::try_from(last).map_err(io::Error::other)?;
            Some((mark.contig as usize, first, last, mark.is_mapped))
        };
        let chunk = Chunk::new(begin, end);
        let added = match &mut self.bins {
            Bins::Bai(bins) => bins.add_record(place, chunk),
            Bins::Csi(bins) => bins.add_record(place, chunk),
        };
        added.map_err(io::Error::other)
    }

    /// Writes the index of a file whose last block begins at byte `end`.
    ///
    /// # Errors
    /// If writing fails, or if the file is too large for an index.
    pub fn write(mut self, end: u64, output: &mut Output) -> io::Result<()> {
        let end = VirtualPosition::new(end, 0)
            .ok_or_else(|| io::Error::other("the file is too large for an index"))?;
        self.close(end)?;
        match self.bins {
            Bins::Bai(bins) => {
                bai::io::Writer::new(&mut *output).write_index(&bins.build(self.contigs))?;
            }
            Bins::Csi(bins) => {
                let mut writer = csi::io::Writer::new(&mut *output);
                writer.write_index(&bins.build(self.contigs))?;
                writer.into_inner().finish()?;
            }
        }
        output.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_contigs_need_csi() {
        let contigs = |len| [Contig { name: "c".into(), start: 0, len, repeated: 0 }];
        assert_eq!(IndexKind::for_contigs(&contigs(MAX_BAI)), IndexKind::Bai);
        assert_eq!(IndexKind::Bai.problem(&contigs(MAX_BAI)), None);
        let long = contigs(MAX_BAI + 1);
        assert_eq!(IndexKind::for_contigs(&long), IndexKind::Csi);
        assert_eq!(IndexKind::Csi.problem(&long), None);
        let problem = IndexKind::Bai.problem(&long).unwrap();
        assert!(problem.starts_with("contig c is longer than the 536870911 bases"), "{problem}");
    }

    /// Records at the end of the longest possible contig fit into CSI.
    #[test]
    fn csi_reaches_to_the_end_of_long_contigs() {
        let contigs = [Contig { name: "c".into(), start: 0, len: i32::MAX as u32, repeated: 0 }];
        let mut index = RecordIndex::new(IndexKind::Csi, &contigs);
        let mark =
            Mark { at: 0, contig: 0, first: i32::MAX as u32 - 100, span: 100, is_mapped: true };
        index.add(mark, 70, 0).unwrap();
        let dir = tempfile::tempdir().unwrap();
        let mut output = Output::create(dir.path().join("x.csi")).unwrap();
        index.write(1000, &mut output).unwrap();
        output.finish().unwrap();
        let found = csi::fs::read(dir.path().join("x.csi")).unwrap();
        let last = Position::try_from(i32::MAX as usize - 50).unwrap();
        let chunks = csi::BinningIndex::query(&found, 0, (last..=last).into()).unwrap();
        assert_eq!(chunks.len(), 1);
    }
}
