//! A first pass over all reads, needed to split them into shards.

use std::fmt;
use std::marker::PhantomData;

use merganser_run::engine::{Engine, Turn, Work};
use merganser_run::{Cancelled, InOrderSink, Progress, StartError, Unit};

use super::{ReadInput, RecordBatch, RecordOptions, Records};
use crate::Error;
use crate::alignment::Formats;
use crate::shard::check_file;

/// The number of batches per worker that may be mapped ahead of the next one to be folded.
const AHEAD: u64 = 4;

/// The sink that folds the results of batches.
struct Taken<F, E>(F, PhantomData<fn() -> E>);

impl<F, E> fmt::Debug for Taken<F, E> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Taken").finish_non_exhaustive()
    }
}

impl<T, E, F: FnMut(T)> InOrderSink<T> for Taken<F, E> {
    type Error = E;

    fn write(&mut self, seen: T) -> Result<Option<T>, E> {
        (self.0)(seen);
        Ok(None)
    }
}

/// The work on each batch.
struct Look<'l, F, T, E>(&'l F, PhantomData<fn() -> (T, E)>);

impl<T, E, F: Fn(&RecordBatch) -> T> Work for Look<'_, F, T, E> {
    type Batch = RecordBatch;
    type Output = T;
    type Error = E;

    fn work(&mut self, batch: &mut RecordBatch, _turn: &Turn<'_, T, E>) -> Result<T, E> {
        Ok((self.0)(batch))
    }
}

/// Maps every batch with `look` on [`RecordOptions::workers`] threads, and folds the results with `take`, in the
/// order of the reads. The progress has one stage, in bytes of input.
///
/// # Errors
/// If an input is not a regular file (a job that calls this reads its inputs twice); if reading fails, with the
/// first fault in the input, see [`Records::next`]; if a thread cannot be started; if cancelled.
pub fn walk<T: Send, E, F: Formats>(
    segments: &[ReadInput],
    options: RecordOptions<F>,
    look: impl Fn(&RecordBatch) -> T + Sync,
    take: impl FnMut(T) + Send,
    progress: &dyn Progress,
) -> Result<(), E>
where
    E: From<Error> + From<Cancelled> + From<StartError> + Send,
{
    segments.iter().flat_map(ReadInput::inputs).try_for_each(check_file)?;
    let (workers, cancel) = (options.workers, options.cancel.clone());
    let records = Records::open(segments, options)?;
    progress.stage("scan", Unit::Bytes, records.bytes_total());
    let sink = Taken(take, PhantomData);
    let engine = Engine::new(&records, sink, AHEAD * workers as u64, progress, &cancel);
    engine.run(workers, || Look(&look, PhantomData))?;
    progress.finish();
    engine.finish().map(drop)
}

/// Returns the number of the first read of each batch, in ascending order, followed by the number of all reads; a pair
/// counts as one.
///
/// # Errors
/// See [`walk`].
pub fn batch_starts<E, F: Formats>(
    segments: &[ReadInput],
    options: RecordOptions<F>,
    progress: &dyn Progress,
) -> Result<Vec<u64>, E>
where
    E: From<Error> + From<Cancelled> + From<StartError> + Send,
{
    let mut starts = vec![0];
    let take = |behind| starts.push(behind);
    let look = |batch: &RecordBatch| batch.first() + batch.reads() as u64;
    walk::<_, E, F>(segments, options, look, take, progress).map(|()| starts)
}
