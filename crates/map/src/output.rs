//! Where records go: which hits are reported, how, and the files that they stand in.

mod header;
mod letters;
mod mark;
mod placements;
mod report;

use std::io::Write;
use std::time::Duration;

use merganser_alignments::{
    BlockDigest, CRAM_END, Crai, Cram, FileIndex, RecordIndex, Sorted, Written, file_head,
    write_sorted,
};
use merganser_io::{BgzfBlocks, Output, finish_all};
use merganser_run::{InOrderSink, Progress};

use crate::{Config, Contig, Error, Format, Index, IndexKind};
pub(crate) use letters::Letters;
pub(crate) use mark::{ShardContent, ShardMark};
pub use placements::Placements;
pub use report::Reported;
pub(crate) use report::{ManyRecords, PairFinder, RecordSink, ReportUnit, Reporter, selected};

/// Open outputs.
#[derive(Debug)]
pub struct Outputs {
    /// Records.
    pub records: Output,
    /// The index of sorted records, and its kind.
    pub index: Option<(Output, IndexKind)>,
    /// Reads without a hit, as FASTQ or FASTA.
    pub unmapped: Option<Output>,
}

/// Text of a batch: records, and reads without a hit.
pub(crate) type BatchText = [Vec<u8>; 2];

/// Writes the texts of batches in their order.
pub(crate) struct Writer {
    outputs: Outputs,
    format: Format,
    /// Records are written at the end.
    sorts: bool,
    head: Option<Vec<u8>>,
    /// The mark of a shard, and where its block begins.
    mark: Option<(ShardMark, u64)>,
    /// Of the records, if the file has a mark.
    digest: BlockDigest,
}

impl Writer {
    /// Of records of reads, some of which are mates of pairs or none.
    pub(crate) fn new(
        config: &Config,
        index: &Index,
        cram: Option<&Cram<'_>>,
        paired: bool,
        outputs: Outputs,
    ) -> Writer {
        let checksums = cram.map_or(&[][..], Cram::checksums);
        let text = header::text(config, index, checksums, paired);
        let mut head = file_head(config.format, &text, index.contigs());
        let mut mark = None;
        if let Format::Bam(level) = config.format {
            let unmarked = header::mark(config, index);
            (head, mark) = compressed_head(&head, level, text.len(), unmarked);
        }
        let (format, sorts) = (config.format, config.sort);
        let digest = BlockDigest::default();
        Writer { outputs, format, sorts, head: Some(head), mark, digest }
    }

    /// Not before there is something to write, so that an error at the beginning of the input
    /// leaves nothing on stdout.
    fn begin(&mut self) -> Result<(), Error> {
        if let Some(head) = self.head.take() {
            self.outputs.records.write_all(&head)?;
        }
        Ok(())
    }

    /// Writes all records in order, and their index. Calls `progress` with one stage.
    pub(crate) fn write_sorted(
        &mut self,
        sorted: Sorted<'_>,
        contigs: &[Contig],
        progress: &dyn Progress,
    ) -> Result<(), Error> {
        let begin = self.head.as_ref().map_or(0, Vec::len) as u64;
        self.begin()?;
        let Outputs { records, index, .. } = &mut self.outputs;
        let places = index.as_ref().map(|(_, kind)| match kind {
            IndexKind::Crai => FileIndex::Cram(Crai::default()),
            kind => FileIndex::Bam(RecordIndex::new(*kind, contigs)),
        });
        let written = write_sorted(sorted, records, begin, places, progress)?;
        let Written { index: places, end, digest } = written;
        self.digest = digest;
        match (places, index) {
            (Some(FileIndex::Bam(places)), Some((output, _))) => places.write(end, output)?,
            (Some(FileIndex::Cram(places)), Some((output, _))) => {
                output.write_all(&places.into_bytes())?;
            }
            _ => {}
        }
        Ok(())
    }

    /// Makes the files appear, of which that of the records has so many, and returns how long the disk took.
    pub(crate) fn finish(mut self, records: u64) -> Result<Duration, Error> {
        self.begin()?;
        if let Some((mark, at)) = self.mark {
            let content = ShardContent { records, digest: self.digest.value() };
            let block = stored(&ShardMark { content, ..mark });
            self.outputs.records.patch(at, &block)?;
        }
        match self.format {
            Format::Sam => {}
            Format::Bam(_) => self.outputs.records.write_all(&BgzfBlocks::END)?,
            Format::Cram => self.outputs.records.write_all(&CRAM_END)?,
        }
        let Outputs { records, index, unmapped } = self.outputs;
        let index = index.map(|(output, _)| output);
        Ok(finish_all([records].into_iter().chain(index).chain(unmapped))?)
    }
}

/// The blocks of BAM's beginning, whose text has so many bytes and ends with `mark`, if that is one. The mark has a block of
/// its own, which begins at the place that is returned, and is written anew when its content is known.
fn compressed_head(
    head: &[u8],
    level: u8,
    text_bytes: usize,
    mark: Option<ShardMark>,
) -> (Vec<u8>, Option<(ShardMark, u64)>) {
    let (mut out, mut blocks) = (Vec::new(), BgzfBlocks::new(level));
    let Some(mark) = mark else {
        blocks.compress(head, true, &mut out);
        return (out, None);
    };
    // Magic and the text's length come before the text.
    let end = 8 + text_bytes;
    blocks.compress(&head[..end - mark.line().len()], true, &mut out);
    let at = out.len() as u64;
    out.extend_from_slice(&stored(&mark));
    blocks.compress(&head[end..], true, &mut out);
    (out, Some((mark, at)))
}

/// The block of a mark, as long for any content: it is not compressed.
fn stored(mark: &ShardMark) -> Vec<u8> {
    let mut block = Vec::new();
    BgzfBlocks::new(0).compress(mark.line().as_bytes(), true, &mut block);
    block
}

impl InOrderSink<BatchText> for Writer {
    type Error = Error;

    fn write(&mut self, texts: BatchText) -> Result<Option<BatchText>, Error> {
        if !self.sorts {
            self.begin()?;
            if self.mark.is_some() {
                self.digest.add_blocks(&texts[0]);
            }
            self.outputs.records.write_all(&texts[0])?;
        }
        if let Some(unmapped) = &mut self.outputs.unmapped {
            unmapped.write_all(&texts[1])?;
        }
        Ok(None)
    }
}
