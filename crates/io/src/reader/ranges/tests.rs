//! Ranges of any size, by any number of workers, against flate2.

use super::Plan;
use crate::reader::expand::expand;
use crate::reader::fetch::{Fetcher, Origin, Work};
use crate::reader::shared::lock;
use crate::{Chunk, Error, Input, ReaderOptions};
use std::io::Write;
use std::sync::Mutex;
use std::sync::atomic::AtomicBool;

/// What `workers` workers read of a file that holds `bytes`, in the order of the text.
pub(super) fn read(
    bytes: &[u8],
    plan: Plan,
    chunk_bytes: usize,
    workers: usize,
) -> Result<Vec<u8>, Error> {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(bytes).unwrap();
    let options = ReaderOptions { chunk_bytes, workers, ..ReaderOptions::default() };
    let input = Input::File(file.path().to_owned());
    let fetcher = Mutex::new((Fetcher::new(0, Origin::Input(input), Some(plan)), false));
    let (done, stopped) = (Mutex::new(Vec::new()), AtomicBool::new(false));
    let work = || -> Result<(), Error> {
        loop {
            let mut chunk = Chunk { name: "test".into(), ..Chunk::default() };
            let mut fetched = {
                let mut fetcher = lock(&fetcher);
                if fetcher.1 {
                    return Ok(());
                }
                let fetched = fetcher.0.fetch(&mut chunk, &options, &stopped)?;
                fetcher.1 = fetched.last;
                fetched
            };
            let newlines = expand(&mut chunk, &mut fetched, &options, &stopped)?;
            let text = chunk.text();
            assert_eq!(newlines, memchr::memchr_iter(b'\n', text).count() as u64);
            assert!(text.len() <= plan.limit.max(chunk_bytes) + 300, "{} bytes", text.len());
            lock(&done).push((fetched.ticket, fetched.work, fetched.source_bytes, chunk));
        }
    };
    let stop = |_: &Error| stopped.store(true, std::sync::atomic::Ordering::Release);
    std::thread::scope(|scope| {
        let all: Vec<_> = (0..workers).map(|_| scope.spawn(|| work().inspect_err(stop))).collect();
        all.into_iter().try_for_each(|worker| worker.join().unwrap())
    })?;
    let mut done = done.into_inner().unwrap();
    done.sort_by_key(|(ticket, ..)| *ticket);
    let (mut text, mut consumed) = (Vec::new(), 0);
    for (ticket, (got, work, source_bytes, mut chunk)) in (0..).zip(done) {
        assert_eq!(ticket, got);
        if let Work::Members { ranges, .. } = work {
            ranges.check(&mut chunk)?;
        }
        text.extend_from_slice(chunk.text());
        consumed += source_bytes;
    }
    assert_eq!(consumed, bytes.len() as u64);
    Ok(text)
}

pub(super) fn gzip(text: &[u8], level: u32) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::new(level));
    encoder.write_all(text).unwrap();
    encoder.finish().unwrap()
}

/// FASTQ with bases and qualities as random as those of reads.
pub(super) fn reads(bytes: usize, seed: u64) -> Vec<u8> {
    let mut state = seed | 1;
    let mut random = |below: u64| {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % below
    };
    let mut text = Vec::with_capacity(bytes + 400);
    let mut number = 0;
    while text.len() < bytes {
        write!(text, "@SRR000001.{number} {}/1\n", random(1 << 20)).unwrap();
        text.extend((0..100).map(|_| b"ACGT"[random(4) as usize]));
        text.extend(b"\n+\n");
        let mut quality = b'I';
        for _ in 0..100 {
            if random(8) == 0 {
                quality = b'!' + random(41) as u8;
            }
            text.push(quality);
        }
        text.push(b'\n');
        number += 1;
    }
    text
}

#[test]
fn every_level_and_size_of_range() {
    let text = reads(400_000, 1);
    for level in [0, 1, 6, 9] {
        let bytes = gzip(&text, level);
        for (range, workers) in [(300, 2), (5_000, 3), (20_000, 1), (64_000, 8), (1 << 20, 2)] {
            for (limit, chunk_bytes) in [(1 << 20, 1 << 16), (3_000, 1_000), (100, 70)] {
                let plan = Plan { range, limit };
                let got = read(&bytes, plan, chunk_bytes, workers).unwrap();
                assert!(got == text, "level {level}, {plan:?}, {chunk_bytes}, {workers} workers");
            }
        }
    }
}
