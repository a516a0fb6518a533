//! Buffered writing to bins. Each worker has a small buffer for each bin, so that records reach the shared blocks about
//! a kilobyte at a time and workers do not contend for cache lines.

use merganser_io::Error;
use merganser_seq::simd;

use super::Bins;

/// The write buffers of one worker. Buffered records are lost if [`Writer::finish`] is not called.
pub struct Writer<'s, 'p> {
    bins: &'s Bins<'p>,
    buffers: Vec<u8>,
    fill: Vec<u32>,
    stride: usize,
}

impl<'s, 'p> Writer<'s, 'p> {
    /// Creates a writer with a buffer of `stride` bytes for each bin.
    pub fn new(bins: &'s Bins<'p>, stride: usize) -> Writer<'s, 'p> {
        let len = bins.bins();
        Writer { bins, buffers: vec![0; len * stride], fill: vec![0; len], stride }
    }

    /// Prefetches the position of the next record of `bin`.
    #[inline(always)]
    pub fn prefetch(&self, bin: usize) {
        simd::prefetch(&self.buffers, bin * self.stride + self.fill[bin] as usize);
    }

    /// Returns room for a record of `bin` of up to `most` bytes; `most` is at most the stride. [`Writer::commit`] sets
    /// its actual length.
    ///
    /// # Errors
    /// If buffered records cannot be flushed because the disk is full, or because memory is full and
    /// [`Storage::Ram`](super::Storage::Ram) forbids spilling.
    #[inline(always)]
    pub fn room(&mut self, bin: usize, most: usize) -> Result<&mut [u8], Error> {
        if self.fill[bin] as usize + most > self.stride {
            self.flush(bin)?;
        }
        let at = bin * self.stride + self.fill[bin] as usize;
        Ok(&mut self.buffers[at..at + most])
    }

    /// Commits the first `bytes` bytes of the last space that was reserved in `bin` as a record.
    #[inline(always)]
    pub fn commit(&mut self, bin: usize, bytes: usize) {
        self.fill[bin] += bytes as u32;
    }

    #[cold]
    #[inline(never)]
    fn flush(&mut self, bin: usize) -> Result<(), Error> {
        let at = bin * self.stride;
        let records = &self.buffers[at..at + self.fill[bin] as usize];
        if !records.is_empty() {
            self.bins.append(bin, records)?;
        }
        self.fill[bin] = 0;
        Ok(())
    }

    /// Flushes all buffers.
    ///
    /// # Errors
    /// See [`Writer::room`].
    pub fn finish(mut self) -> Result<(), Error> {
        (0..self.fill.len()).try_for_each(|bin| self.flush(bin))
    }
}
