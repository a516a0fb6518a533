//! The parts, each against a plain definition; and their rates.

use super::*;
use std::hint::black_box;
use std::time::Instant;

/// `bytes` as a whole, decoded by symbols of `W` bytes.
fn inflate<const W: usize>(bytes: &[u8], buffer: &mut [u8]) -> usize {
    let padded = [bytes, &[0; PADDING]].concat();
    let input = Input { bytes: &padded, length: bytes.len(), offset: 0, ended: true };
    let capacity = buffer.len() - SLACK;
    let ends = &mut Vec::new();
    let mut out = Output { buffer, start: 0, at: 0, floor: 0, capacity, ends };
    assert_eq!(Inflate::file().run::<W>(&input, &mut out, u64::MAX), Ok(Stop::End));
    out.at / W
}

/// `GZ=reads.fq.gz cargo test -p merganser-io --lib -- --ignored --nocapture rates`
#[test]
#[ignore = "a measurement"]
#[allow(clippy::print_stdout)]
fn rates() {
    let Some(path) = std::env::var_os("GZ") else { return };
    let bytes = std::fs::read(path).unwrap();
    let length = u32::from_le_bytes(*bytes.last_chunk().unwrap()) as usize;
    let mut buffer = vec![0; 2 * length + 4 * SLACK];
    let rate = |name: &str, work: &mut dyn FnMut()| {
        let best = (0..4)
            .map(|_| {
                let start = Instant::now();
                work();
                start.elapsed()
            })
            .min();
        let rate = length as f64 / best.unwrap_or_default().as_secs_f64() / 1e6;
        println!("{name}: {rate:.0} MB/s of text");
    };
    rate("zlib-rs", &mut || {
        let mut decoder = flate2::bufread::GzDecoder::new(&bytes[..]);
        let mut at = 0;
        while let Ok(read) = std::io::Read::read(&mut decoder, &mut buffer[at..]) {
            if read == 0 {
                break;
            }
            at += read;
        }
        assert_eq!(at, length);
    });
    rate("libdeflate", &mut || {
        let mut decoder = libdeflater::Decompressor::new();
        decoder.gzip_decompress(&bytes, &mut buffer[..length]).unwrap();
    });
    rate("known", &mut || assert_eq!(inflate::<1>(&bytes, &mut buffer), length));
    rate("sums", &mut || {
        black_box(parts(&buffer[..length], &[]));
    });
    rate("unknown", &mut || assert_eq!(inflate::<2>(&bytes, &mut buffer), length));
    let window = Window::default();
    rate("resolve", &mut || window.resolve_in_place(&mut buffer, 0, 0, length));
    let padded = [&bytes[..], &[0; PADDING]].concat();
    let start = Instant::now();
    let (mut from, mut found) = (0, 0);
    while let Some(at) = find(&padded, bytes.len(), from, usize::MAX) {
        (from, found) = (at + 1, found + 1);
    }
    let seconds = start.elapsed().as_secs_f64();
    let rate = bytes.len() as f64 / seconds / 1e6;
    println!("find: {rate:.0} MB/s of compressed data, one in {} bytes", bytes.len() / found);
}
