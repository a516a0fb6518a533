//! Output: which hits are reported, how, and to which files.

mod command;
mod header;
mod letters;
mod mark;
mod placements;
mod report;

use std::io::Write;
use std::path::PathBuf;
use std::time::Duration;

use merganser_alignments::{
    BlockDigest, CRAM_END, Crai, Cram, FileIndex, RecordIndex, Sorted, Written, file_head,
    write_sorted,
};
use merganser_io::{BgzfBlocks, Output, OutputSet, ReadInput, finish_all, is_regular};
use merganser_run::{InOrderSink, Progress};

use crate::groups::KeptTags;
use crate::{Config, Contig, Error, Format, Index, IndexKind};
pub(crate) use command::without_files;
pub(crate) use letters::Letters;
pub(crate) use mark::{ShardContent, ShardMark};
pub use placements::Placements;
pub use report::Reported;
pub(crate) use report::{ManyRecords, PairFinder, RecordSink, ReportUnit, Reporter, selected};

/// The paths of a run's outputs.
///
/// ```
/// use merganser_map::OutputPaths;
///
/// let paths = OutputPaths::from("sample.bam").unmapped("unmapped.fq.gz");
/// assert_eq!(paths.records, std::path::Path::new("sample.bam"));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct OutputPaths {
    /// The file of records; `-` for standard output. If the records are [sorted](Config::sort), an index appears next to
    /// the file: BAI or, for contigs that are too long for it, CSI; CRAI for CRAM.
    pub records: PathBuf,
    /// The file of reads without a hit, as FASTQ or FASTA.
    pub unmapped: Option<PathBuf>,
}

impl<P: Into<PathBuf>> From<P> for OutputPaths {
    /// Writes records only.
    fn from(records: P) -> OutputPaths {
        OutputPaths { records: records.into(), unmapped: None }
    }
}

impl OutputPaths {
    /// Also writes the reads without a hit to a file.
    #[must_use]
    pub fn unmapped(self, path: impl Into<PathBuf>) -> OutputPaths {
        OutputPaths { unmapped: Some(path.into()), ..self }
    }

    /// Creates the files of a run as members of `set`.
    ///
    /// # Errors
    /// If a file cannot be created.
    pub fn create(
        &self,
        config: &Config,
        index: &Index,
        set: &OutputSet,
    ) -> Result<Outputs, Error> {
        let kind = match config.format {
            Format::Cram => IndexKind::Crai,
            _ => IndexKind::for_contigs(index.contigs()),
        };
        let is_indexed = config.sort && config.format != Format::Sam && is_regular(&self.records);
        let index = is_indexed.then(|| set.output(kind.beside(&self.records))).transpose()?;
        Ok(Outputs {
            records: set.output(&self.records)?,
            index: index.map(|output| (output, kind)),
            unmapped: self.unmapped.as_ref().map(|path| set.output(path)).transpose()?,
        })
    }
}

/// The output files of a run.
#[derive(Debug)]
pub struct Outputs {
    /// The file of records.
    pub records: Output,
    /// The file of the index of sorted records, and its kind.
    pub index: Option<(Output, IndexKind)>,
    /// The file of reads without a hit, as FASTQ or FASTA.
    pub unmapped: Option<Output>,
}

/// The text of a batch: its records, and its reads without a hit.
pub(crate) type BatchText = [Vec<u8>; 2];

/// The beginning of the file of records. Its read groups may be known only after the first batch was read.
struct Head<'r> {
    /// The text of the header before and after the read groups.
    text: [String; 2],
    kept: &'r KeptTags,
    contigs: &'r [Contig],
    /// The mark of a shard at the end of the text.
    mark: Option<ShardMark>,
}

/// The bytes at the beginning of a file, and the mark of a shard with the offset of its block.
type HeadBytes = (Vec<u8>, Option<(ShardMark, u64)>);

impl Head<'_> {
    fn bytes(self, format: Format) -> Result<HeadBytes, Error> {
        let [mut text, rest] = self.text;
        for group in self.kept.groups()? {
            text += &format!("{}\n", group.line());
        }
        text += &rest;
        let head = file_head(format, &text, self.contigs);
        Ok(match format {
            Format::Bam(level) => compressed_head(&head, level, text.len(), self.mark),
            Format::Sam | Format::Cram => (head, None),
        })
    }
}

/// A writer of the texts of batches, which arrive in input order.
pub(crate) struct Writer<'r> {
    outputs: Outputs,
    format: Format,
    /// Whether records are sorted, and written only at the end.
    sorts: bool,
    head: Option<Head<'r>>,
    /// The mark of a shard, and the offset of its block.
    mark: Option<(ShardMark, u64)>,
    /// The digest of the records' blocks, if the file has a mark.
    digest: BlockDigest,
}

impl<'r> Writer<'r> {
    /// Creates a writer of the records of reads in `inputs`.
    pub(crate) fn new(
        config: &Config,
        index: &'r Index,
        cram: Option<&Cram<'_>>,
        inputs: &[ReadInput],
        kept: &'r KeptTags,
        outputs: Outputs,
    ) -> Writer<'r> {
        let checksums = cram.map_or(&[][..], Cram::checksums);
        let text = header::text(config, index, checksums, inputs);
        let mark = header::mark(config, index);
        let head = Some(Head { text, kept, contigs: index.contigs(), mark });
        let (format, sorts) = (config.format, config.sort);
        let digest = BlockDigest::default();
        Writer { outputs, format, sorts, head, mark: None, digest }
    }

    /// Writes the header before the first records, and returns its size. It is not written earlier, so that an error at
    /// the beginning of the input leaves nothing on stdout.
    fn begin(&mut self) -> Result<u64, Error> {
        let Some(head) = self.head.take() else { return Ok(0) };
        let (bytes, mark) = head.bytes(self.format)?;
        self.mark = mark;
        self.outputs.records.write_all(&bytes)?;
        Ok(bytes.len() as u64)
    }

    /// Writes all records in sorted order, and their index. The progress has one stage.
    pub(crate) fn write_sorted(
        &mut self,
        sorted: Sorted<'_>,
        contigs: &[Contig],
        progress: &dyn Progress,
    ) -> Result<(), Error> {
        let begin = self.begin()?;
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

    /// Completes the files, whose number of records is `records`, and makes them appear. Returns the time of
    /// syncing them to disk.
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

/// Compresses the beginning of a BAM file, whose text has `text_bytes` bytes and ends with `mark` if that is
/// given. The mark is stored in a block of its own, whose offset is returned, because the block is overwritten
/// once the content of the shard is known.
fn compressed_head(
    head: &[u8],
    level: u8,
    text_bytes: usize,
    mark: Option<ShardMark>,
) -> HeadBytes {
    let (mut out, mut blocks) = (Vec::new(), BgzfBlocks::new(level));
    let Some(mark) = mark else {
        blocks.compress(head, true, &mut out);
        return (out, None);
    };
    // BAM's magic and the text's length precede the text.
    let end = 8 + text_bytes;
    blocks.compress(&head[..end - mark.line().len()], true, &mut out);
    let at = out.len() as u64;
    out.extend_from_slice(&stored(&mark));
    blocks.compress(&head[end..], true, &mut out);
    (out, Some((mark, at)))
}

/// Returns the block of a mark. It is not compressed, so that its length does not depend on the content.
fn stored(mark: &ShardMark) -> Vec<u8> {
    let mut block = Vec::new();
    BgzfBlocks::new(0).compress(mark.line().as_bytes(), true, &mut block);
    block
}

impl InOrderSink<BatchText> for Writer<'_> {
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
