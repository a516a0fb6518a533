//! Reading: all workers read and parse chunks and pass batches to their consumers until the input ends.

use std::sync::Mutex;

use merganser_alignments::ReaderOptions;
use merganser_io::{Chunk, Input, Phred, Reader};
use merganser_run::locks::lock;
use merganser_run::{Cancel, Progress, run_workers_collect};

use crate::fragments::{self, Consumer, Fragments, Tally};
use crate::job::Job;
use crate::{Config, Error, plan};

/// The state that reading needs.
#[derive(Clone, Copy)]
pub(crate) struct ReadContext<'r> {
    pub(crate) job: Job<'r>,
    pub(crate) reader: &'r Reader,
    pub(crate) progress: &'r dyn Progress,
    pub(crate) cancel: &'r Cancel,
}

/// Opens all inputs.
pub(crate) fn open(job: Job<'_>, inputs: &[Input], cancel: &Cancel) -> Result<Reader, Error> {
    let options = ReaderOptions {
        chunk_bytes: plan::chunk_bytes(job),
        overlap: fragments::overlap(job.config),
        workers: job.threads,
        max_record: plan::longest_record(job),
        phred: phred(job.config),
        cancel: cancel.clone(),
        warnings: job.warnings.clone(),
        ..ReaderOptions::default()
    };
    Ok(Reader::open(inputs, options)?)
}

/// Returns how qualities are interpreted.
pub(crate) fn phred(config: &Config) -> Phred {
    Phred { offset: config.quality_offset, least: config.min_qual }
}

/// Returns the error to report for a run that ended with `error`: the cancellation if there was one, otherwise
/// the error of the first bad record.
pub(crate) fn cause(reader: &Reader, cancel: &Cancel, error: Error) -> Error {
    match error {
        _ if cancel.is_cancelled() => Error::Cancelled,
        Error::Io(error) => Error::Io(reader.earliest_error(error)),
        other => other,
    }
}

/// Feeds the whole input, after the already read chunk `first`, to one consumer for each worker, and
/// returns the consumers.
pub(crate) fn read_all<C: Consumer + Send>(
    reading: &ReadContext<'_>,
    first: Option<Chunk>,
    make: impl Fn() -> C + Sync,
) -> Result<(Vec<C>, Tally), Error> {
    let first = Mutex::new(first);
    let config = reading.job.config;
    let parts = run_workers_collect(reading.job.threads, |_| {
        let mut sink = Fragments::new(make(), config);
        let taken = lock(&first).take();
        read_chunks(reading, taken, &mut sink).inspect_err(|_| reading.reader.stop())?;
        Ok::<_, Error>((sink.consumer, sink.tally))
    })?;
    let mut tally = Tally::default();
    let consumers = parts.into_iter().map(|(consumer, part)| {
        tally.add(part);
        consumer
    });
    Ok((consumers.collect(), tally))
}

/// Feeds chunks to `sink`, starting with `first`, until the input ends.
fn read_chunks<C: Consumer>(
    reading: &ReadContext<'_>,
    first: Option<Chunk>,
    sink: &mut Fragments<C>,
) -> Result<(), Error> {
    let (mut chunk, mut ready) = match first {
        Some(chunk) => (chunk, true),
        None => (Chunk::default(), false),
    };
    loop {
        reading.cancel.check()?;
        if !ready && !reading.reader.next_chunk(&mut chunk)? {
            return Ok(());
        }
        ready = false;
        sink.chunk(&chunk)?;
        reading.progress.advance(chunk.source_bytes());
    }
}
