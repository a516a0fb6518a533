//! Phase 1 of files that devices read themselves: their bytes become packed letters on the device, and then chunks of
//! super-k-mers by bin.

use std::sync::Mutex;

use merganser_gpu::ingest::{DeviceText, PackedText, TextFormat, TextRules};
use merganser_inflate::RemoteRoom;
use merganser_io::{Chunk as Text, Place, QualityOffset, RemoteChunk};
use merganser_run::locks::lock;
use merganser_seq::base::is_base;

use super::chunks::Chunk;
use super::host_bins::HostBins;
use super::kernels::{Letters, TILE_BASES};
use super::packer::Packer;
use super::partition::{Cutter, Workspace};
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
pub(crate) struct Ingester<'i, 'c, 'p> {
    pub(crate) cutter: &'i Cutter<'c>,
    pub(crate) reading: &'i ReadContext<'i>,
    pub(crate) room: RemoteRoom,
    /// The queue for text that the device refuses.
    pub(crate) queue: &'i Queue,
    pub(crate) host: &'i HostBins<'p>,
    pub(crate) chunks: &'i Mutex<Vec<Chunk>>,
}

impl Ingester<'_, '_, '_> {
    /// Reads text until there is no more; returns the counts of what was read.
    pub(crate) fn run(&self) -> Result<Tally, Error> {
        let Ingester { cutter, reading, .. } = *self;
        let mut text = DeviceText::new(&cutter.device, self.room)?;
        let mut workspace = Workspace::new(cutter)?;
        let mut sink = Fragments::new(Packer::new(self.queue), cutter.config);
        let (mut chunk, mut tally) = (Text::default(), Tally::default());
        while let Some(place) = reading.reader.next_remote::<_, Error>(&mut chunk, &mut text)? {
            reading.cancel.check()?;
            let packed = match place {
                Place::Remote => text.pack(rules(cutter.config, chunk.remote()))?,
                Place::Host => None,
            };
            match packed {
                Some(packed) => {
                    tally.add(tally_of(packed, chunk.remote().repeated));
                    self.cut(&text, packed.letters as usize, &mut workspace)?;
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

    /// Cuts the packed letters of a text, a batch of tiles at a time. Tiles share k-1 bases.
    fn cut(
        &self,
        text: &DeviceText,
        letters: usize,
        workspace: &mut Workspace,
    ) -> Result<(), Error> {
        let shared = self.cutter.config.k - 1;
        let stride = TILE_BASES - shared;
        let all = letters.saturating_sub(shared).div_ceil(stride);
        for tile in (0..all).step_by(self.cutter.tiles) {
            let letters = Letters {
                bases: text.bases(),
                cuts: text.cuts(),
                first: tile * stride,
                end: letters,
                stride,
            };
            let tiles = (all - tile).min(self.cutter.tiles);
            let chunk = workspace.cut(self.cutter, text.stream(), (letters, tiles), self.host)?;
            lock(self.chunks).extend(chunk);
        }
        Ok(())
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
