//! Compares ranges of any size, decoded by any number of workers, with flate2.

use super::{Cutter, Plan, Sizes, lock};
use crate::{Error, GzipStream, Text};
use proptest::prelude::*;
use std::io::Write;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// Returns the text that `workers` workers read from a file with this content, in order.
pub(super) fn read(
    bytes: &[u8],
    plan: Plan,
    text_bytes: usize,
    workers: usize,
) -> Result<Vec<u8>, Error> {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(bytes).unwrap();
    let sizes = Sizes { text: text_bytes, headroom: text_bytes / 16 };
    let cutter = Cutter::new(file.reopen().unwrap(), bytes.len() as u64, plan);
    // The cutter, the number of pieces, and whether the last one was returned.
    let cutter = Mutex::new((cutter, 0, false));
    let (done, stopped, consumed) =
        (Mutex::new(Vec::new()), AtomicBool::new(false), AtomicU64::new(0));
    let work = || -> Result<(), Error> {
        loop {
            let mut text = Text::default();
            let (mut piece, ticket) = {
                let mut cutter = lock(&cutter);
                let (cutter, tickets, ended) = &mut *cutter;
                if *ended {
                    return Ok(());
                }
                let (piece, last) = cutter.next(&mut text, sizes, &stopped, &consumed)?;
                *tickets += 1;
                *ended = last;
                (piece, *tickets)
            };
            let mut seen = Vec::new();
            piece.expand(&mut text, sizes, &stopped, |some| seen.extend_from_slice(some))?;
            assert!(seen == text.bytes());
            assert!(text.len() <= plan.limit.max(text_bytes) + 300, "{} bytes", text.len());
            lock(&done).push((ticket, piece, text));
        }
    };
    let stop = |_: &Error| stopped.store(true, Ordering::Release);
    std::thread::scope(|scope| {
        let all: Vec<_> = (0..workers).map(|_| scope.spawn(|| work().inspect_err(stop))).collect();
        all.into_iter().try_for_each(|worker| worker.join().unwrap())
    })?;
    let mut done = done.into_inner().unwrap();
    done.sort_by_key(|(ticket, ..)| *ticket);
    let mut found = Vec::new();
    for (ticket, (got, piece, mut text)) in (1..).zip(done) {
        assert_eq!(ticket, got);
        piece.check(&mut text)?;
        found.extend_from_slice(text.bytes());
    }
    assert_eq!(consumed.into_inner(), bytes.len() as u64);
    Ok(found)
}

pub(super) fn gzip(text: &[u8], level: u32) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::new(level));
    encoder.write_all(text).unwrap();
    encoder.finish().unwrap()
}

/// Returns FASTQ with bases and qualities as random as those of reads.
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
        writeln!(text, "@SRR000001.{number} {}/1", random(1 << 20)).unwrap();
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
    let text = reads(150_000, 1);
    for level in [0, 1, 6, 9] {
        let bytes = gzip(&text, level);
        for (range, workers) in [(300, 2), (5_000, 3), (20_000, 1), (64_000, 8), (1 << 20, 2)] {
            for (limit, chunk_bytes) in [(1 << 20, 1 << 16), (3_000, 2_000)] {
                let plan = Plan { range, limit };
                let got = read(&bytes, plan, chunk_bytes, workers).unwrap();
                assert!(got == text, "level {level}, {plan:?}, {chunk_bytes}, {workers} workers");
            }
        }
    }
}

/// Compresses with fixed codes and literals only, as no current compressor does.
fn fixed(text: &[u8]) -> Vec<u8> {
    let mut bits = vec![true, true, false];
    for &byte in text {
        let (code, length) =
            if byte < 144 { (0x30 + u16::from(byte), 8) } else { (0x100 + u16::from(byte), 9) };
        bits.extend((0..length).rev().map(|bit| code >> bit & 1 == 1));
    }
    bits.extend([false; 7]);
    let bytes = bits
        .chunks(8)
        .map(|bits| bits.iter().enumerate().fold(0, |byte, (at, &bit)| byte | u8::from(bit) << at));
    member(text, &bytes.collect::<Vec<_>>())
}

/// Returns a member with the deflate data `data` and every optional header field.
fn member(text: &[u8], data: &[u8]) -> Vec<u8> {
    let mut bytes = b"\x1f\x8b\x08\x1f\0\0\0\0\0\xff\x04\0ab\0\0name\0comment\0".to_vec();
    let sum = crc32fast::hash(&bytes) as u16;
    bytes.extend(sum.to_le_bytes());
    bytes.extend(data);
    bytes.extend(crc32fast::hash(text).to_le_bytes());
    bytes.extend((text.len() as u32).to_le_bytes());
    bytes
}

/// Compresses into long blocks: libdeflate at its best level.
fn long_blocks(text: &[u8]) -> Vec<u8> {
    let mut encoder = libdeflater::Compressor::new(libdeflater::CompressionLvl::new(12).unwrap());
    let mut bytes = vec![0; encoder.gzip_compress_bound(text.len())];
    let length = encoder.gzip_compress(text, &mut bytes).unwrap();
    bytes.truncate(length);
    bytes
}

/// Returns random bytes.
fn noise(length: usize) -> Vec<u8> {
    let mut state = 7u64;
    let step = |_| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (state >> 56) as u8
    };
    (0..length).map(step).collect()
}

/// Returns texts and files of all kinds.
fn files() -> Vec<(&'static str, Vec<u8>, Vec<u8>)> {
    let text = reads(60_000, 3);
    let small = &text[..20_000];
    let tiny: Vec<u8> = text.chunks(70).flat_map(|part| gzip(part, 6)).collect();
    let mixed: Vec<u8> = [0, 1, 5_000, 5_000, 5_001, 40_000, 60_000]
        .windows(2)
        .flat_map(|cut| gzip(&text[cut[0]..cut[1].min(text.len())], 6))
        .chain(gzip(&text[60_000..], 1))
        .collect();
    let random = noise(50_000);
    let run = vec![b'A'; 3_000_000];
    let runs = [&text[..], &run[..500_000], &text, &run[..200_000], &text].concat();
    let empty = [gzip(b"", 6).repeat(300), gzip(small, 6), gzip(b"", 6).repeat(300)].concat();
    let both: Vec<u8> = [small, &random, small].concat();
    let fixed_and_more = [fixed(small), gzip(&text, 6), fixed(b""), fixed(small)].concat();
    vec![
        ("long blocks", text.clone(), long_blocks(&text)),
        ("tiny members", text.clone(), tiny),
        ("mixed members", text.clone(), mixed),
        ("noise", random.clone(), gzip(&random, 6)),
        ("noise within", both.clone(), gzip(&both, 6)),
        ("one letter", run.clone(), gzip(&run, 9)),
        ("long runs", runs.clone(), gzip(&runs, 6)),
        ("empty members", small.to_vec(), empty),
        ("fixed codes", [small, &text, small].concat(), fixed_and_more),
        ("padding", text.clone(), [gzip(&text, 6), vec![0; 200_000]].concat()),
        ("nothing", Vec::new(), gzip(b"", 6)),
        ("one byte", b"x".to_vec(), gzip(b"x", 6)),
    ]
}

#[test]
fn every_kind_of_file() {
    for (name, text, bytes) in files() {
        for (range, workers) in [(400, 2), (3_000, 4), (20_000, 3), (1 << 20, 1)] {
            for limit in [12 * range as usize, 4_000, 1 << 20] {
                let plan = Plan { range, limit };
                let got = read(&bytes, plan, 10_000, workers);
                assert!(got.unwrap() == text, "{name}, {plan:?}, {workers} workers");
            }
        }
    }
}

/// Returns the whole text that a stream reads from `bytes`.
fn stream(bytes: &[u8]) -> std::io::Result<Vec<u8>> {
    let mut text = Vec::new();
    let bytes = std::io::Cursor::new(bytes.to_vec());
    std::io::Read::read_to_end(&mut GzipStream::new(bytes), &mut text)?;
    Ok(text)
}

/// Checks that the result equals that of a stream: the same text, or the same error.
fn check(bytes: &[u8], plan: Plan, workers: usize) -> Result<(), TestCaseError> {
    // Without the gzip magic number, it would not be recognized as gzip.
    if bytes.len() < 2 || bytes[..2] != [0x1f, 0x8b] {
        return Ok(());
    }
    let got = read(bytes, plan, 5_000, workers);
    match (stream(bytes), got) {
        (Ok(text), Ok(got)) => prop_assert!(text == got),
        (Err(error), Err(Error::Truncated)) => {
            prop_assert_eq!(error.kind(), std::io::ErrorKind::UnexpectedEof);
        }
        (Err(error), Err(Error::Corrupt(detail))) => {
            prop_assert_eq!(error.to_string(), detail);
        }
        (expected, got) => {
            let (expected, got) = (expected.map(|text| text.len()), got.map(|text| text.len()));
            prop_assert!(false, "{:?}, but {:?} in ranges", expected, got);
        }
    }
    Ok(())
}

#[test]
fn cut_off_anywhere() {
    let text = reads(3_000, 5);
    let bytes = [gzip(&text, 6), fixed(&text), gzip(&text, 0), gzip(&text, 1)].concat();
    for cut in (2..bytes.len()).filter(|cut| cut % 7 == 0 || bytes.len() - cut < 20) {
        check(&bytes[..cut], Plan { range: 300, limit: 2_000 }, 2).unwrap();
    }
    let behind = [&bytes[..], b"garbage"].concat();
    check(&behind, Plan { range: 300, limit: 2_000 }, 2).unwrap();
}

/// The end of the data may be met while text that was read as a stream is handed over, just before ranges go on.
#[test]
fn cut_off_where_ranges_go_on_after_a_stream() {
    // Five codes of 9 bits after the 3 bits of the block's header: all others end with a byte.
    let bytes = fixed(&[&[0xff; 5], &reads(300, 7)[..]].concat());
    for cut in 40..bytes.len() {
        check(&bytes[..cut], Plan { range: 20, limit: 12 }, 1).unwrap();
    }
}

proptest! {
    #[test]
    fn any_damage_is_seen(
        seed in 0..4u64, level in 0..10u32, members in 1..4usize,
        flips in prop::collection::vec((any::<prop::sample::Index>(), 0..8u32), 0..3),
        cut in prop::option::of(any::<prop::sample::Index>()),
        range in 200..6_000u64, limit in 1_000..50_000usize, workers in 1..5usize,
    ) {
        let text = reads(30_000, seed);
        let mut bytes: Vec<u8> =
            text.chunks(text.len().div_ceil(members)).flat_map(|part| gzip(part, level)).collect();
        if let Some(cut) = cut {
            bytes.truncate(cut.index(bytes.len()));
        }
        for (at, bit) in flips {
            if !bytes.is_empty() {
                let at = at.index(bytes.len());
                bytes[at] ^= 1 << bit;
            }
        }
        check(&bytes, Plan { range, limit }, workers)?;
    }
}
