//! The writer of several outputs of reads, in the order of the input. Workers compress the texts.

use std::time::Duration;

use merganser_alignments::{Sink, SinkForm, SinkWriter};
use merganser_io::finish_all;
use merganser_run::InOrderSink;

use super::divide::Parts;
use crate::Error;

/// Writes the texts of batches in their order.
pub(super) struct Writer {
    outputs: Vec<SinkWriter>,
}

impl Writer {
    pub(super) fn new(sinks: Vec<Sink>, forms: &[SinkForm]) -> Writer {
        let writers = sinks.into_iter().zip(forms).map(|(sink, form)| SinkWriter::new(sink, form));
        Writer { outputs: writers.collect() }
    }

    /// Ends all outputs, and returns the time that the disk took.
    pub(super) fn finish(self) -> Result<Duration, Error> {
        let ended = self.outputs.into_iter().map(SinkWriter::end);
        Ok(finish_all(ended.collect::<Result<Vec<_>, _>>()?)?)
    }
}

impl InOrderSink<Parts> for Writer {
    type Error = Error;

    fn write(&mut self, mut parts: Parts) -> Result<Option<Parts>, Error> {
        for (part, output) in parts.iter_mut().zip(&mut self.outputs) {
            if !part.is_empty() {
                output.write(part)?;
                part.clear();
            }
        }
        Ok(Some(parts))
    }
}
