//! Files that devices read themselves: their bytes become packed letters on the device.

use merganser_gpu::ingest::{DeviceText, PackedText, TextFormat, TextRules};
use merganser_inflate::RemoteRoom;
use merganser_io::{Chunk as Text, Place, QualityOffset, RemoteChunk};
use merganser_seq::base::is_base;

use super::kernels::{Letters, TILE_BASES};
use super::letter_work::LetterWork;
use super::packer::Packer;
use super::queue::Queue;
use crate::fragments::{Fragments, Tally};
use crate::run::reading::ReadContext;
use crate::{Config, Error};

/// Returns whether devices can find the k-mers of text themselves: not if it is compressed further or its qualities
/// are converted.
pub(crate) fn is_possible(config: &Config) -> bool {
    let converts = config.min_qual.is_some() && config.quality_offset == QualityOffset::Phred64;
    !config.hpc && !converts
}

/// A thread's loop that reads text on a device.
pub(crate) struct Ingester<'i, W> {
    pub(crate) work: &'i W,
    pub(crate) reading: &'i ReadContext<'i>,
    pub(crate) room: RemoteRoom,
    /// The queue for text that the device refuses.
    pub(crate) queue: &'i Queue,
}

impl<W: LetterWork> Ingester<'_, W> {
    /// Reads text until there is no more; returns the counts of what was read.
    pub(crate) fn run(&self) -> Result<Tally, Error> {
        let Ingester { work, reading, .. } = *self;
        let config = reading.job.config;
        let mut text = DeviceText::new(work.device(), self.room)?;
        let mut workspace = work.workspace()?;
        let mut sink = Fragments::new(Packer::new(self.queue), config);
        let (mut chunk, mut tally) = (Text::default(), Tally::default());
        while let Some(place) = reading.reader.next_remote::<_, Error>(&mut chunk, &mut text)? {
            reading.cancel.check()?;
            let packed = match place {
                Place::Remote => text.pack(rules(config, chunk.remote()))?,
                Place::Host => None,
            };
            match packed {
                Some(packed) => {
                    tally.add(tally_of(packed, chunk.remote().repeated));
                    let letters = Letters {
                        bases: text.bases(),
                        cuts: text.cuts(),
                        first: 0,
                        end: packed.letters as usize,
                        stride: TILE_BASES - (config.k - 1),
                    };
                    work.process(&mut workspace, text.stream(), letters)?;
                }
                None => {
                    if place == Place::Remote {
                        reading.reader.recall(&mut chunk, &mut text)?;
                    }
                    sink.chunk(&chunk)?;
                }
            }
            reading.progress.advance(chunk.source_bytes());
        }
        tally.add(sink.tally);
        sink.consumer.finish();
        Ok(tally)
    }
}

fn rules(config: &Config, chunk: RemoteChunk<'_>) -> TextRules {
    TextRules {
        format: if chunk.is_fastq { TextFormat::Fastq } else { TextFormat::Fasta },
        in_line: chunk.in_line,
        least_quality: config
            .min_qual
            .filter(|_| chunk.is_fastq)
            .map(|least| least.saturating_add(b'!')),
    }
}

/// Returns the counts of a text without its letters that an earlier chunk has already counted.
fn tally_of(packed: PackedText, repeated: &[u8]) -> Tally {
    let others = repeated.iter().filter(|&&letter| !is_base(letter)).count() as u64;
    Tally {
        records: packed.records,
        letters: packed.letters - repeated.len() as u64,
        ambiguous: packed.not_bases - others,
        low_quality: packed.low_quality,
    }
}
