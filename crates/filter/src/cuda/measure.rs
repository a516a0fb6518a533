//! A measurement of whether the host or the device should pack sequences (GateKeeper-GPU §3.3). Runs pack on
//! the host.

use std::time::{Duration, Instant};

use merganser_gpu::Device;
use merganser_seq::planes;
use merganser_seq::simd::Level;

use super::kernels::{self, Line};
use crate::Error;

/// The maximum number of bytes of text that are packed.
const MAX_TEXT: usize = 512 << 20;

/// Times of packing.
#[derive(Clone, Copy, Debug)]
pub struct PackTimes {
    /// Copying text and lines to the device, and the kernel.
    pub device: Duration,
    /// Only the kernel.
    pub kernel: Duration,
    /// Packing on one thread of the host.
    pub host: Duration,
    /// Copying the planes to the device.
    pub copy: Duration,
}

/// Packs the pairs of up to 512 MiB of `READ<TAB>SEGMENT` lines, which must only have bases, on the device and
/// on the host. All data is in pinned memory before the clock starts.
///
/// # Errors
/// If the device fails.
///
/// # Panics
/// If the planes of device and host differ.
pub fn pack(device: &Device, text: &[u8]) -> Result<PackTimes, Error> {
    let text = &text[..text.len().min(MAX_TEXT)];
    let text = &text[..text.iter().rposition(|&byte| byte == b'\n').map_or(0, |end| end + 1)];
    let (mut lines, mut words, mut at) = (Vec::<Line>::new(), 0, 0);
    for sequence in text.split_inclusive(|&byte| byte == b'\n' || byte == b'\t') {
        let len = sequence.len() - 1;
        lines.push([at as u64, words as u64 | (len as u64) << 32]);
        words += 2 * len.div_ceil(planes::BASES_PER_WORD);
        at += sequence.len();
    }
    let stream = device.stream()?;
    let mut text_here = device.alloc_pinned::<u8>(text.len())?;
    text_here.as_mut_slice()?.copy_from_slice(text);
    let mut lines_here = device.alloc_pinned(lines.len())?;
    lines_here.as_mut_slice()?.copy_from_slice(&lines);
    let (mut text_there, mut lines_there) = (device.alloc(text.len())?, device.alloc(lines.len())?);
    let mut words_there = device.alloc(words)?;
    let [before, after] = [device.timing_event()?, device.timing_event()?];

    let started = Instant::now();
    stream.upload(&mut text_here, 0..text.len(), text_there.view_mut())?;
    stream.upload(&mut lines_here, 0..lines.len(), lines_there.view_mut())?;
    stream.record(&before)?;
    // SAFETY: the lines are those of the text, and `words` is the sum of their planes' words.
    #[allow(unsafe_code, reason = "packing requires lines within the text")]
    unsafe {
        kernels::pack(&stream, text_there.view(), lines_there.view(), words_there.view_mut())?;
    }
    stream.record(&after)?;
    stream.synchronize()?;
    let on_device = started.elapsed();
    let packed = stream.download_vec(words_there.view())?;

    let started = Instant::now();
    let (level, mut planes) = (Level::best(), Vec::with_capacity(words));
    for &[at, place] in &lines {
        let (at, len) = (at as usize, (place >> 32) as usize);
        planes::encode(level, &text[at..at + len], &mut planes);
    }
    let host = started.elapsed();
    assert!(packed == planes, "the device packs as the host does");

    let mut planes_here = device.alloc_pinned(words)?;
    planes_here.as_mut_slice()?.copy_from_slice(&planes);
    let started = Instant::now();
    stream.upload(&mut planes_here, 0..words, words_there.view_mut())?;
    stream.synchronize()?;
    let kernel = before.elapsed(&after)?;
    Ok(PackTimes { device: on_device, kernel, host, copy: started.elapsed() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_device_packs_as_the_host_does() {
        let Ok(device) = Device::open(0) else { return };
        let text = "ACGTACGTTGCA\tTTGACA\n\tG\nAC\tGATTACA\n".repeat(99);
        let long = format!("{}\t{}\n", "ACGGT".repeat(77), "T".repeat(64));
        pack(&device, (text + &long).as_bytes()).unwrap();
    }
}
