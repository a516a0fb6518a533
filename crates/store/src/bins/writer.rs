//! One worker's way into bins: a small buffer for each bin, so that records reach the shared
//! blocks a kilobyte at a time and a hot cache line is never shared.

use merganser_io::Error;
use merganser_seq::simd;

use super::Bins;

/// Gathers records by bin. Records are dropped if [`Writer::finish`] is not called.
pub struct Writer<'s, 'p> {
    bins: &'s Bins<'p>,
    buffers: Vec<u8>,
    fill: Vec<u32>,
    stride: usize,
}

impl<'s, 'p> Writer<'s, 'p> {
    /// A writer with `stride` bytes of buffer for each bin.
    pub fn new(bins: &'s Bins<'p>, stride: usize) -> Writer<'s, 'p> {
        let len = bins.bins();
        Writer { bins, buffers: vec![0; len * stride], fill: vec![0; len], stride }
    }

    /// Asks the cache for where the next record of `bin` goes.
    #[inline(always)]
    pub fn prefetch(&self, bin: usize) {
        simd::prefetch(&self.buffers, bin * self.stride + self.fill[bin] as usize);
    }

    /// Room for a record of up to `most` bytes (at most a stride) of `bin`; [`Writer::commit`]
    /// says how many of them it took.
    ///
    /// # Errors
    /// If what was there goes to a disk that is full, or may not go there and memory is.
    #[inline(always)]
    pub fn room(&mut self, bin: usize, most: usize) -> Result<&mut [u8], Error> {
        if self.fill[bin] as usize + most > self.stride {
            self.flush(bin)?;
        }
        let at = bin * self.stride + self.fill[bin] as usize;
        Ok(&mut self.buffers[at..at + most])
    }

    /// Takes the first `bytes` bytes of the last room of `bin` as a record.
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

    /// Hands over what the buffers still hold.
    ///
    /// # Errors
    /// As [`Writer::room`].
    pub fn finish(mut self) -> Result<(), Error> {
        (0..self.fill.len()).try_for_each(|bin| self.flush(bin))
    }
}
