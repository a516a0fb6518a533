//! Text on a device: inflation compared with libdeflate, and packed letters with a plain parser.

use crate::{device, random};
use libdeflater::{CompressionLvl, Compressor};
use merganser_gpu::ingest::{DeviceInflater, DeviceText, PackedText, TextFormat, TextRules};
use merganser_inflate::bgzf::{Block, BlockWalk, Header, Inflater, header};
use merganser_inflate::{Ahead, InflateAhead, RemoteRoom, RemoteText, Text};
use proptest::prelude::*;
use std::io::Write;
use std::os::unix::fs::FileExt;
use std::sync::Arc;

/// Room for the small texts of these tests.
const ROOM: RemoteRoom =
    RemoteRoom { bytes: 1 << 20, text: 1 << 20, headroom: 1 << 12, blocks: 1 << 12 };

/// Returns the BGZF block with this DEFLATE data.
fn block_of(data: &[u8], text: &[u8]) -> Vec<u8> {
    let mut block = vec![0x1f, 0x8b, 8, 4, 0, 0, 0, 0, 0, 0xff, 6, 0, b'B', b'C', 2, 0];
    block.extend((data.len() as u16 + 25).to_le_bytes());
    block.extend(data);
    block.extend(crc32fast::hash(text).to_le_bytes());
    block.extend((text.len() as u32).to_le_bytes());
    block
}

fn deflated(text: &[u8], level: i32) -> Vec<u8> {
    let mut compressor = Compressor::new(CompressionLvl::new(level).unwrap());
    let mut data = vec![0; compressor.deflate_compress_bound(text.len())];
    let length = compressor.deflate_compress(text, &mut data).unwrap();
    data.truncate(length);
    data
}

/// Returns the blocks in `bytes`.
fn blocks_in(bytes: &[u8]) -> Vec<Block> {
    let (mut blocks, mut offset) = (Vec::new(), 0);
    while let Header::Block { size } = header(&bytes[offset..]) {
        let length = &bytes[offset + size - 4..offset + size];
        let text = u32::from_le_bytes(length.try_into().unwrap()) as usize;
        blocks.push(Block { offset, size, text });
        offset += size;
    }
    assert_eq!(offset, bytes.len());
    blocks
}

/// Inflates BGZF on the device; `None` if the device refuses it.
fn inflated(text: &mut DeviceText, bytes: &[u8]) -> Option<Vec<u8>> {
    text.bytes(bytes.len()).unwrap().copy_from_slice(bytes);
    let lines = text.inflate(&blocks_in(bytes)).unwrap()?;
    let found = text.read(0..text.len()).unwrap();
    assert_eq!(lines, found.iter().filter(|&&byte| byte == b'\n').count() as u64);
    Some(found)
}

/// Texts that need all kinds of DEFLATE data: noise, letters, runs, far and near copies, nothing.
fn texts() -> Vec<Vec<u8>> {
    let noise: Vec<u8> = random(1).map(|n| n as u8).take(65_280).collect();
    let letters =
        |seed, n| -> Vec<u8> { random(seed).map(|n| b"ACGT"[n as usize % 4]).take(n).collect() };
    let mut far = letters(2, 32_768);
    far.extend_from_within(..32_000);
    let mut near: Vec<u8> =
        (1..=300).flat_map(|n| letters(n, n as usize % 7 + 1).repeat(40)).collect();
    near.truncate(65_536);
    let skewed: Vec<u8> =
        random(3).map(|n| (n.leading_zeros() as u8).wrapping_mul(7)).take(60_000).collect();
    let qualities: Vec<u8> =
        random(4).flat_map(|n| [b"FFFFFFFF:F,#"[n as usize % 12]; 2]).take(65_280).collect();
    vec![
        Vec::new(),
        b"\n".to_vec(),
        vec![b'A'; 65_536],
        b"AB".repeat(30_000),
        noise,
        letters(5, 65_536),
        far,
        near,
        skewed,
        qualities,
    ]
}

#[test]
fn blocks_of_all_levels_are_inflated() {
    let Some(device) = device() else { return };
    let mut there = DeviceText::new(&device, ROOM).unwrap();
    for level in [0, 1, 6, 9, 12] {
        let texts: Vec<_> = texts().into_iter().filter(|t| level > 0 || t.len() < 65_000).collect();
        let bytes: Vec<u8> =
            texts.iter().flat_map(|text| block_of(&deflated(text, level), text)).collect();
        assert!(
            inflated(&mut there, &bytes).is_some_and(|found| found == texts.concat()),
            "{level}"
        );
    }
}

#[test]
fn damage_of_each_kind_is_refused() {
    let Some(device) = device() else { return };
    let mut there = DeviceText::new(&device, ROOM).unwrap();
    let text: Vec<u8> = random(7).map(|n| b"ACGTN\n"[n as usize % 6]).take(3000).collect();
    let data = deflated(&text, 6);
    let good = block_of(&data, &text);
    assert_eq!(inflated(&mut there, &good), Some(text.clone()));
    // Each bit of the data, of the checksum and of the length.
    let length = good.len();
    let bits = (18 * 8..(length - 4) * 8).step_by(5).chain((length - 8) * 8..length * 8 - 17);
    for bit in bits {
        let mut bad = good.clone();
        bad[bit / 8] ^= 1 << (bit % 8);
        // Bits after the end of the data have no meaning.
        let mut host = Text::default();
        host.raw.clone_from(&bad);
        let is_good = Inflater::default().inflate(&mut host, &blocks_in(&bad), 0, |_| {}).is_ok();
        assert!(inflated(&mut there, &bad) == is_good.then(|| text.clone()), "bit {bit}");
    }
    let empty = |data: &[u8]| block_of(data, b"");
    for (what, bad) in [
        ("a byte after the data", empty(&[3, 0, 0])),
        ("no data", empty(&[])),
        ("an unfinished block", empty(&[2, 0])),
        ("the reserved kind", empty(&[7, 0])),
        ("a stored block without its length", empty(&[1, 5])),
        ("a stored block with a wrong complement", empty(&[1, 0, 0, 0, 0])),
        ("a stored block beyond the data", empty(&[1, 9, 0, 0xf6, 0xff, 1])),
        // A fixed code: a copy at the start of the text, and length symbol 286.
        ("a copy from before the text", block_of(&[0x03, 0x02, 0], b"")),
        ("a symbol that does not exist", block_of(&[0x1b, 0x03, 0], b"")),
    ] {
        assert_eq!(inflated(&mut there, &bad), None, "{what}");
    }
}

/// The letters of a text and their cuts, found as simply as possible; `None` where the device must refuse.
fn packed(text: &[u8], rules: TextRules) -> Option<(Vec<u8>, Vec<bool>, PackedText)> {
    let lines: Vec<&[u8]> = match text.strip_suffix(b"\n") {
        Some(whole) => whole.split(|&b| b == b'\n').collect(),
        None if text.is_empty() => Vec::new(),
        None => text.split(|&b| b == b'\n').collect(),
    };
    let (mut letters, mut cuts) = (Vec::new(), vec![false]);
    let mut sums = PackedText::default();
    let is_fastq = rules.format == TextFormat::Fastq;
    if is_fastq
        && (!lines.len().is_multiple_of(4) || text.last().is_some_and(|&last| last != b'\n'))
    {
        return None;
    }
    for (number, line) in lines.iter().enumerate() {
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        let header = match is_fastq {
            true => number % 4 == 0,
            false => line.starts_with(b">") && (number > 0 || !rules.in_line),
        };
        if header {
            if is_fastq && !line.starts_with(b"@") {
                return None;
            }
            sums.records += 1;
            *cuts.last_mut().unwrap() = true;
            continue;
        }
        let quality = lines.get(number + 2).copied().unwrap_or_default();
        let quality = quality.strip_suffix(b"\r").unwrap_or(quality);
        if is_fastq {
            match number % 4 {
                2 if !line.starts_with(b"+") => return None,
                1 if quality.len() != line.len() => return None,
                3 if rules.least_quality.is_some()
                    && !line.iter().all(|b| (b'!'..=b'~').contains(b)) =>
                {
                    return None;
                }
                1 => {}
                _ => continue,
            }
        } else if line.starts_with(b";") && (number > 0 || !rules.in_line) {
            continue;
        } else if line.starts_with(b"+") && (number > 0 || !rules.in_line) {
            return None;
        }
        for (at, &letter) in line.iter().enumerate() {
            match letter {
                b' ' | b'\t' | b'\r' if !is_fastq => continue,
                b'>' | b'@' => return None,
                b'!'..=b'~' => {}
                _ => return None,
            }
            let base = b"ACGTUacgtu".contains(&letter);
            let low =
                base && is_fastq && rules.least_quality.is_some_and(|least| quality[at] < least);
            sums.letters += 1;
            sums.not_bases += u64::from(!base);
            sums.low_quality += u64::from(low);
            letters.push(letter);
            if !base || low {
                *cuts.last_mut().unwrap() = true;
            }
            cuts.push(!base || low);
        }
    }
    Some((letters, cuts, sums))
}

/// Packs a text on the device and compares it with [`packed`].
fn compare(there: &mut DeviceText, text: &[u8], prepended: usize, rules: TextRules) {
    let (first, rest) = text.split_at(prepended.min(text.len()).min(ROOM.headroom));
    there.bytes(rest.len()).unwrap().copy_from_slice(rest);
    there.take(rest.len()).unwrap();
    there.prepend(first).unwrap();
    let expected = packed(text, rules);
    let found = there.pack(rules).unwrap();
    assert_eq!(
        found,
        expected.as_ref().map(|(.., sums)| *sums),
        "{:?}",
        String::from_utf8_lossy(text)
    );
    let Some((letters, cuts, _)) = expected else { return };
    let words = there.stream().download_vec(there.bases()).unwrap();
    let bits = there.stream().download_vec(there.cuts()).unwrap();
    for (at, &letter) in letters.iter().enumerate() {
        let cut = bits[at / 64] >> (at % 64) & 1 == 1;
        assert_eq!(cut, cuts[at], "the cut of letter {at}");
        let code = words[at / 32] >> (62 - 2 * (at % 32)) & 3;
        let expected = match letter.to_ascii_uppercase() {
            b'A' => 0,
            b'C' => 1,
            b'G' => 2,
            b'T' | b'U' => 3,
            _ => continue,
        };
        assert_eq!(code, expected, "letter {at}");
    }
}

/// Lines of FASTA and FASTQ, mostly sound.
fn fastq_text() -> impl Strategy<Value = Vec<u8>> {
    let letter = prop_oneof![20 => proptest::sample::select(b"ACGTacgtUN".to_vec()), 1 => proptest::sample::select(b".-*R".to_vec())];
    let record = (proptest::collection::vec(letter, 0..400), any::<u64>(), 0u8..60);
    (proptest::collection::vec(record, 0..40), any::<bool>()).prop_map(|(records, carriage)| {
        let end: &[u8] = if carriage { b"\r\n" } else { b"\n" };
        let mut text = Vec::new();
        for (letters, seed, oddity) in records {
            let qualities: Vec<u8> =
                random(seed % 1000).map(|n| b'!' + (n % 42) as u8).take(letters.len()).collect();
            let mut lines = [b"@read/1 text".to_vec(), letters, b"+".to_vec(), qualities];
            match oddity {
                0 => lines[0][0] = b'>',
                1 => lines[2].clear(),
                2 => lines[3].push(b'I'),
                3 => lines[1].push(b' '),
                4 => lines[3].insert(0, b'\t'),
                _ => {}
            }
            for line in lines {
                text.extend(line);
                text.extend(end);
            }
        }
        text
    })
}

fn fasta_text() -> impl Strategy<Value = Vec<u8>> {
    let line = prop_oneof![
        12 => proptest::collection::vec(proptest::sample::select(b"ACGTacgtUNAAAA".to_vec()), 0..200),
        3 => Just(b">name of a sequence".to_vec()),
        1 => Just(b";comment".to_vec()),
        1 => Just(b"ACG T\tA\r".to_vec()),
        1 => Just(b"-".to_vec()),
    ];
    let odd = proptest::sample::select(vec![
        b"AC>GT".to_vec(),
        b"@x".to_vec(),
        b"+".to_vec(),
        b"A\x00".to_vec(),
        b"\xc3".to_vec(),
    ]);
    (
        proptest::collection::vec(line, 0..80),
        proptest::option::weighted(0.2, odd),
        any::<[bool; 2]>(),
    )
        .prop_map(|(mut lines, odd, [carriage, ended])| {
            lines.extend(odd);
            let mut text = lines.join(if carriage { &b"\r\n"[..] } else { &b"\n"[..] });
            if ended && !text.is_empty() {
                text.push(b'\n');
            }
            text
        })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]
    #[test]
    fn letters_are_packed_as_a_plain_parser_finds_them(
        fastq in fastq_text(), fasta in fasta_text(), prepended in 0usize..600,
        least in proptest::option::of(b'!'..b'J'), in_line in any::<bool>(),
    ) {
        let Some(device) = device() else { return Ok(()) };
        let mut there = DeviceText::new(&device, ROOM).unwrap();
        let rules = TextRules { format: TextFormat::Fastq, in_line: false, least_quality: least };
        compare(&mut there, &fastq, prepended, rules);
        let rules = TextRules { format: TextFormat::Fasta, in_line, least_quality: None };
        compare(&mut there, &fasta, prepended, rules);
    }

    #[test]
    fn any_bytes_in_any_blocks_come_back(
        texts in proptest::collection::vec(
            (proptest::collection::vec(any::<u8>(), 1..60), 1usize..400, 0usize..65_000, 0i32..13), 1..5),
    ) {
        let Some(device) = device() else { return Ok(()) };
        let mut there = DeviceText::new(&device, ROOM).unwrap();
        let (mut bytes, mut expected) = (Vec::new(), Vec::new());
        for (unit, times, size, level) in texts {
            let mut text = unit.repeat(times);
            text.truncate(size);
            bytes.extend(block_of(&deflated(&text, level), &text));
            expected.extend(text);
        }
        prop_assert!(inflated(&mut there, &bytes) == Some(expected));
    }
}

#[test]
fn the_last_line_end_is_found_and_lines_are_ended() {
    let Some(device) = device() else { return };
    let mut there = DeviceText::new(&device, ROOM).unwrap();
    for (before, after) in [(0, 0), (1, 0), (5, 20_000), (100_000, 300_000)] {
        let mut text = vec![b'A'; before];
        text.push(b'\n');
        text.extend(vec![b'C'; after]);
        there.bytes(text.len()).unwrap().copy_from_slice(&text);
        assert_eq!(there.take(text.len()).unwrap(), 1);
        assert_eq!(there.line_end(0).unwrap(), Some(before));
        there.end_line().unwrap();
        assert_eq!(there.line_end(0).unwrap(), Some(text.len()));
        there.truncate(before);
        assert_eq!((there.len(), there.line_end(0).unwrap()), (before, None));
    }
}

/// Reads all texts of a file that is inflated ahead, and the rest on the host. Returns also the bytes that the device
/// inflated.
fn read_ahead(device: &merganser_gpu::Device, bytes: &[u8]) -> (Vec<u8>, u64) {
    let mut file = tempfile::tempfile().unwrap();
    file.write_all(bytes).unwrap();
    let (file, walk) = (Arc::new(file), BlockWalk::new(bytes.len() as u64));
    let mut texts = DeviceInflater::of_files(device, 0).start(&file, &walk).unwrap();
    let (mut found, mut inflated) = (Vec::new(), 0);
    loop {
        match texts.next() {
            Ahead::Text(text, size) => {
                found.extend((*text).as_ref());
                inflated += size;
            }
            Ahead::Rest(mut walk) => {
                let start = walk.offset() as usize;
                let read_at = |to: &mut [u8], at| file.read_exact_at(to, at);
                let mut blocks = Vec::new();
                let _ = walk.next(read_at, |_, _, _| false, &mut blocks);
                let mut text = Text::default();
                text.raw = bytes[start..walk.offset() as usize].to_vec();
                let rest = Inflater::default().inflate(&mut text, &blocks, 0, |_| {});
                if rest.is_ok() {
                    found.extend(text.bytes());
                }
                return (found, inflated);
            }
        }
    }
}

#[test]
fn files_are_inflated_ahead_of_their_readers() {
    let Some(device) = device() else { return };
    let text: Vec<u8> = random(9).map(|n| b"ACGT\n"[n as usize % 5]).take(60_000).collect();
    // Stored blocks, so that few bytes are decoded and several texts are made.
    let stored = block_of(&deflated(&text, 0), &text);
    let many = stored.repeat(420);
    let (found, inflated) = read_ahead(&device, &many);
    assert!(found == text.repeat(420) && inflated == many.len() as u64);
    // The host goes on at a damaged block, at what is no block, and at a cut.
    let mut damaged = many.clone();
    let at = stored.len() * 300 + 400;
    damaged[at] ^= 1;
    let (found, inflated) = read_ahead(&device, &damaged);
    assert!(text.repeat(420).starts_with(&found) && inflated < at as u64);
    let other = [&many[..], b"\x1f\x8b\x08\0\0\0\0\0\0\0"].concat();
    let (found, inflated) = read_ahead(&device, &other);
    assert!(found == text.repeat(420) && inflated == many.len() as u64);
    let (found, inflated) = read_ahead(&device, &many[..many.len() - 9]);
    assert!(text.repeat(420).starts_with(&found) && inflated < many.len() as u64);
    // A reader may end early.
    let (file, walk) = (tempfile::tempfile().unwrap(), BlockWalk::new(many.len() as u64));
    (&file).write_all(&many).unwrap();
    let mut texts = DeviceInflater::of_files(&device, 0).start(&Arc::new(file), &walk).unwrap();
    assert!(matches!(texts.next(), Ahead::Text(..)));
}
