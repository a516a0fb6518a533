//! Where records go: which hits are reported, how, and the files that they stand in.

mod cram;
mod fields;
mod header;
mod joined;
mod mark;
mod placements;
mod record;
mod report;
mod sorted;

use std::io::Write;
use std::time::Duration;

use merganser_io::{BgzfBlocks, Output, finish_all};
use merganser_run::{InOrderSink, Progress};

use crate::{Config, Contig, Error, Index};
use cram::Crai;
pub(crate) use cram::Cram;
pub(crate) use fields::Fields;
pub use header::ReadGroup;
pub(crate) use joined::{sort_records, write_blocks};
pub(crate) use mark::ShardMark;
pub use placements::Placements;
pub use record::Format;
pub(crate) use record::RecordStyle;
pub use report::Reported;
pub(crate) use report::{ManyRecords, PairFinder, RecordSink, ReportUnit, Reporter, selected};
pub use sorted::IndexKind;
use sorted::{FileIndex, RecordIndex};
pub(crate) use sorted::{Form, Held, Sorted, Sorting};

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
        let checksums = cram.map_or(&[][..], |cram| &cram.checksums);
        let text = header::text(config, index, checksums, paired);
        let mut head = record::header(config.format, &text, index);
        if let Format::Bam(level) = config.format {
            let mut compressed = Vec::new();
            BgzfBlocks::new(level).compress(&head, true, &mut compressed);
            head = compressed;
        }
        Writer { outputs, format: config.format, sorts: config.sort, head: Some(head) }
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
        let (places, end) = sorted::write(sorted, records, begin, places, progress)?;
        match (places, index) {
            (Some(FileIndex::Bam(places)), Some((output, _))) => places.write(end, output)?,
            (Some(FileIndex::Cram(places)), Some((output, _))) => {
                output.write_all(&places.into_bytes())?;
            }
            _ => {}
        }
        Ok(())
    }

    /// Makes the files appear, and returns how long the disk took.
    pub(crate) fn finish(mut self) -> Result<Duration, Error> {
        self.begin()?;
        match self.format {
            Format::Sam => {}
            Format::Bam(_) => self.outputs.records.write_all(&BgzfBlocks::END)?,
            Format::Cram => self.outputs.records.write_all(&cram::END)?,
        }
        let Outputs { records, index, unmapped } = self.outputs;
        let index = index.map(|(output, _)| output);
        Ok(finish_all([records].into_iter().chain(index).chain(unmapped))?)
    }
}

impl InOrderSink<BatchText> for Writer {
    type Error = Error;

    fn write(&mut self, texts: BatchText) -> Result<Option<BatchText>, Error> {
        if !self.sorts {
            self.begin()?;
            self.outputs.records.write_all(&texts[0])?;
        }
        if let Some(unmapped) = &mut self.outputs.unmapped {
            unmapped.write_all(&texts[1])?;
        }
        Ok(None)
    }
}
