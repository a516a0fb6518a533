//! Gathering of pieces of device memory into one buffer.
#![allow(unsafe_code, reason = "foreign functions")]

use std::marker::PhantomData;
use std::ops::Range;

use merganser_gpu::{DeviceBuffer, DeviceSlice, DeviceSliceMut, Pod, RawStream, Result, Stream};

merganser_gpu::shared! {
    struct GatherArguments = "mgpu::gather_arguments" {
        pieces: *const *const u64,
        starts: *const u64,
        count: u32,
        out: *mut u64,
    }
}

merganser_gpu::foreign! {
    fn merganser_count_gather(arguments: *const GatherArguments, words: u64, stream: RawStream);
}

/// Pieces of device memory to be copied one after the other, with their positions in the output.
pub(crate) struct Gathering<'p> {
    /// Device addresses of the pieces; 0 for a gap that is left unwritten.
    at: Vec<u64>,
    starts: Vec<u64>,
    words: PhantomData<DeviceSlice<'p, u64>>,
}

impl<'p> Gathering<'p> {
    /// Returns a gathering without pieces whose output starts at word `start`.
    pub(crate) fn from(start: usize) -> Gathering<'p> {
        Gathering { at: Vec::new(), starts: vec![start as u64], words: PhantomData }
    }

    /// Adds a piece in the memory of a device that the target device can access.
    pub(crate) fn add(&mut self, piece: DeviceSlice<'p, u64>) {
        self.at.push(piece.as_ptr() as u64);
        self.starts.push((self.end() + piece.len()) as u64);
    }

    /// Adds a gap of `words` words, which is not written; returns its position.
    pub(crate) fn leave_out(&mut self, words: usize) -> Range<usize> {
        let from = self.end();
        self.at.push(0);
        self.starts.push((from + words) as u64);
        from..from + words
    }

    /// Returns the end of the last piece, in words.
    pub(crate) fn end(&self) -> usize {
        self.starts.last().map_or(0, |&end| end as usize)
    }

    /// Copies the pieces to `out`. `tables` are working space.
    pub(crate) fn gather(
        &self,
        stream: &Stream,
        [at, starts]: &mut [DeviceBuffer<u64>; 2],
        mut out: DeviceSliceMut<'_, u64>,
    ) -> Result<()> {
        assert!(self.end() <= out.len(), "room for all pieces");
        let words = self.end() as u64 - self.starts[0];
        if words == 0 {
            return Ok(());
        }
        let at = put(stream, at, &self.at)?;
        let starts = put(stream, starts, &self.starts)?;
        stream.launch("gathering super-k-mers", |raw| {
            let arguments = GatherArguments {
                pieces: at.as_ptr().cast(),
                starts: starts.as_ptr(),
                count: self.at.len() as u32,
                out: out.as_mut_ptr(),
            };
            // SAFETY: each piece has the length given by `starts` and is accessible from this device, and
            // `out` has room for all pieces.
            unsafe { merganser_count_gather(&arguments, words, raw) }
        })
    }
}

/// Copies a few items to a buffer, which grows if necessary.
pub(crate) fn put<'b, T: Pod>(
    stream: &Stream,
    buffer: &'b mut DeviceBuffer<T>,
    items: &[T],
) -> Result<DeviceSlice<'b, T>> {
    if buffer.len() < items.len() {
        *buffer = stream.device().alloc(2 * items.len())?;
    }
    stream.upload_now(items, buffer.slice_mut(..items.len()))?;
    Ok(buffer.slice(..items.len()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use merganser_gpu::Device;

    #[test]
    fn pieces_come_to_lie_side_by_side() {
        let device = match Device::open(0) {
            Ok(device) => device,
            Err(error) => {
                assert!(std::env::var_os("MERGANSER_REQUIRE_GPU").is_none(), "{error}");
                return eprintln!("skipped: {error}");
            }
        };
        let stream = device.stream().unwrap();
        let words: Vec<u64> = (0..60_000).collect();
        let mut memory = device.alloc(words.len()).unwrap();
        stream.upload_now(&words, memory.view_mut()).unwrap();
        // Many small pieces in a tile, empty ones, one of several tiles, and gaps.
        let lengths = (0..300).map(|i| i % 7).chain([0, 0, 20_000, 1, 4096, 0]);
        let mut pieces = Gathering::from(13);
        let mut expected = vec![u64::MAX; 13];
        for (number, len) in lengths.enumerate() {
            let from = number * 127;
            pieces.add(memory.view().slice(from..from + len));
            expected.extend(&words[from..from + len]);
            if number % 50 == 9 {
                assert_eq!(pieces.leave_out(number).len(), number);
                expected.resize(expected.len() + number, u64::MAX);
            }
        }
        let mut out = device.alloc(expected.len() + 5).unwrap();
        stream.fill(out.view_mut(), 255).unwrap();
        let mut tables = [device.alloc(0).unwrap(), device.alloc(0).unwrap()];
        pieces.gather(&stream, &mut tables, out.view_mut()).unwrap();
        Gathering::from(3).gather(&stream, &mut tables, out.view_mut()).unwrap();
        expected.resize(expected.len() + 5, u64::MAX);
        assert_eq!(stream.download_vec(out.view()).unwrap(), expected);
    }
}
