//! Reading by devices: a host that plays the device must get what the reader returns to the host alone.

use crate::common::{ReaderOptions, Sums, naive, options};
use merganser_inflate::bgzf::{Block, BlockWalk, Inflater};
use merganser_inflate::{Ahead, InflateAhead, RemoteRoom, RemoteText, Text, TextsAhead};
use merganser_io::{Chunk, Error, Input, Place, Reader, Sink};
use merganser_run::run_workers_collect;
use merganser_test_forms::{bgzf_block, gzip, pieces};
use proptest::prelude::*;
use std::fs::File;
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::Arc;

/// A device in host memory.
struct Device {
    room: RemoteRoom,
    bytes: Vec<u8>,
    text: Vec<u8>,
    /// Every how many texts the device refuses one; 0 for never.
    refuses: usize,
    texts: usize,
}

impl Device {
    fn new(room: RemoteRoom, refuses: usize) -> Device {
        Device { room, bytes: Vec::new(), text: Vec::new(), refuses, texts: 0 }
    }

    fn refuses(&mut self) -> bool {
        self.texts += 1;
        self.refuses > 0 && self.texts.is_multiple_of(self.refuses)
    }

    fn lines(&self) -> u64 {
        self.text.iter().filter(|&&byte| byte == b'\n').count() as u64
    }
}

impl RemoteText for Device {
    type Error = Error;

    fn room(&self) -> RemoteRoom {
        self.room
    }

    fn bytes(&mut self, length: usize) -> Result<&mut [u8], Error> {
        self.bytes.resize(length, 0);
        Ok(&mut self.bytes)
    }

    fn take(&mut self, length: usize) -> Result<u64, Error> {
        assert!(length <= self.room.text && length <= self.room.bytes);
        self.text = self.bytes[..length].to_vec();
        Ok(self.lines())
    }

    fn inflate(&mut self, blocks: &[Block]) -> Result<Option<u64>, Error> {
        assert!(blocks.len() <= self.room.blocks && self.bytes.len() <= self.room.bytes);
        let mut text = Text::default();
        text.raw.clone_from(&self.bytes);
        if self.refuses() || Inflater::default().inflate(&mut text, blocks, 0, |_| {}).is_err() {
            return Ok(None);
        }
        self.text = text.bytes().to_vec();
        assert!(self.text.len() <= self.room.text);
        Ok(Some(self.lines()))
    }

    fn len(&self) -> usize {
        self.text.len()
    }

    fn read(&mut self, range: Range<usize>) -> Result<Vec<u8>, Error> {
        Ok(self.text[range].to_vec())
    }

    fn prepend(&mut self, bytes: &[u8]) -> Result<(), Error> {
        assert!(bytes.len() <= self.room.headroom);
        self.text.splice(..0, bytes.iter().copied());
        Ok(())
    }

    fn end_line(&mut self) -> Result<(), Error> {
        self.text.push(b'\n');
        Ok(())
    }

    fn truncate(&mut self, length: usize) {
        self.text.truncate(length);
    }
}

/// A sink of the records of chunks in any order.
struct Parts {
    sums: Sums,
    piece: String,
    k: usize,
}

impl Sink for Parts {
    fn begin(&mut self, header: &[u8]) {
        self.sums.headers.push(String::from_utf8_lossy(header).into_owned());
    }

    fn resume(&mut self) {}

    fn sequence(&mut self, line: &[u8], _: Option<&[u8]>) {
        self.piece.push_str(&String::from_utf8_lossy(line));
    }

    fn end(&mut self) {
        crate::common::count_kmers(&self.piece, self.k, &mut self.sums.kmers);
        self.piece.clear();
    }
}

/// Reads with workers of the host and of a device; also returns the numbers of the device's chunks.
fn read_by_both(
    inputs: &[Input],
    options: ReaderOptions,
    k: usize,
    (room, refuses): (RemoteRoom, usize),
) -> Result<(Sums, [u64; 2]), Error> {
    let workers = options.workers;
    let reader = Reader::open(inputs, options)?;
    reader.begin_remote();
    let parts = run_workers_collect(workers + 2, |worker| {
        let mut device = Device::new(room, refuses);
        let (mut chunk, mut sums) = (Chunk::default(), Sums::default());
        let mut sink = Parts { sums: Sums::default(), piece: String::new(), k };
        loop {
            let place = match worker < workers {
                true => reader.next_chunk(&mut chunk)?.then_some(Place::Host),
                false => reader.next_remote::<_, Error>(&mut chunk, &mut device)?,
            };
            let Some(place) = place else { break };
            if place == Place::Remote {
                let remote = chunk.remote();
                assert!(device.text.starts_with(remote.repeated));
                assert!(!remote.in_line || !remote.is_fastq);
                // All of the device's texts are read again, by the host.
                reader.recall(&mut chunk, &mut device)?;
            }
            let stats = chunk.parse(&mut sink).inspect_err(|_| reader.stop())?;
            sums.bases += stats.bases;
        }
        sums.headers = sink.sums.headers;
        sums.kmers = sink.sums.kmers;
        Ok(sums)
    })
    .map_err(|error| reader.earliest_error(error))?;
    let mut all = Sums::default();
    for part in parts {
        all.headers.extend(part.headers);
        all.bases += part.bases;
        part.kmers.into_iter().for_each(|(kmer, n)| *all.kmers.entry(kmer).or_default() += n);
    }
    all.headers.sort();
    Ok((all, reader.remote_chunks()))
}

fn write(folder: &Path, name: &str, bytes: &[u8]) -> Input {
    let path = folder.join(name);
    std::fs::write(&path, bytes).unwrap();
    Input::from(path)
}

/// Room for texts of up to `bytes` bytes of a plain file, or `blocks` blocks.
fn room(bytes: usize, headroom: usize, blocks: usize) -> RemoteRoom {
    RemoteRoom { bytes, text: 1 << 20, headroom, blocks }
}

fn text() -> impl Strategy<Value = String> {
    let letters = "[ACGTNacgtu]{0,200}";
    let fastq = prop::collection::vec(("[a-z0-9 >@+]{0,20}", letters), 1..12).prop_map(|records| {
        let record = |(name, letters): (String, String)| {
            format!("@{name}\n{letters}\n+\n{}\n", "@".repeat(letters.len()))
        };
        records.into_iter().map(record).collect::<String>()
    });
    let lines = prop::collection::vec(
        prop_oneof![
            8 => "[ACGTNacgtu]{0,70}", 2 => "[ACGT]{200,900}", 2 => ">[a-z >;]{0,30}", 1 => ";[A-Z]{0,20}",
            1 => Just("AC GT\tA\r".to_owned()), 1 => Just(String::new()),
        ],
        0..40,
    );
    let fasta = lines.prop_map(|lines| format!(">first\n{}", lines.join("\n")));
    (prop_oneof![fastq, fasta], any::<bool>()).prop_map(|(mut text, ended)| {
        if !ended {
            text.truncate(text.trim_end_matches('\n').len());
        }
        text
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn both_sides_together_return_each_record_once(
        texts in prop::collection::vec(text(), 1..4), chunk in 1..300usize, overlap in 0..40usize,
        bytes in 1..700usize, headroom in 0..800usize, blocks in 1..4usize, size in 1..400usize,
        refuses in 0..4usize, workers in 1..3usize,
    ) {
        let folder = tempfile::tempdir().unwrap();
        let k = overlap + 1;
        let records: Vec<_> = texts.iter().flat_map(|text| naive(text.as_bytes())).collect();
        let expected = Sums::of(&records, k);
        let plain: Vec<_> = texts.iter().enumerate()
            .map(|(i, text)| write(folder.path(), &format!("{i}"), text.as_bytes())).collect();
        let sides = (room(bytes, headroom, blocks), refuses);
        let (found, _) = read_by_both(&plain, options(chunk, overlap, workers), k, sides)
            .map_err(|error| TestCaseError::fail(error.to_string()))?;
        prop_assert_eq!(&found, &expected);

        let packed: Vec<_> = texts.iter().enumerate().map(|(i, text)| {
            let mut packed: Vec<u8> = text.as_bytes().chunks(size).flat_map(bgzf_block).collect();
            packed.extend(bgzf_block(b""));
            write(folder.path(), &format!("{i}.gz"), &packed)
        }).collect();
        let sides = (room(1 << 20, headroom, blocks), refuses);
        let (found, _) = read_by_both(&packed, options(chunk, overlap, workers), k, sides)
            .map_err(|error| TestCaseError::fail(error.to_string()))?;
        prop_assert_eq!(&found, &expected);
    }
}

#[test]
fn sound_files_go_to_the_device_and_others_do_not() {
    let folder = tempfile::tempdir().unwrap();
    let record = format!("@read\n{}\n+\n{}\n", "ACGTTGCA".repeat(12), "I".repeat(96));
    let text = record.repeat(400);
    let packed = [pieces(text.as_bytes(), bgzf_block), bgzf_block(b"")].concat();
    let sides = (room(1 << 20, 1 << 16, 2), 0);
    for (name, bytes, is_sent) in [
        ("a.fq", text.clone().into_bytes(), true),
        ("b.fq.gz", packed.clone(), true),
        ("c.fq.gz", gzip(text.as_bytes()), false),
        ("d.sam", record_of_sam().repeat(400).into_bytes(), false),
    ] {
        let input = write(folder.path(), name, &bytes);
        let read = read_by_both(&[input], options(1000, 0, 1), 1, sides);
        let Ok((found, [sent, _])) = read else {
            // SAM is refused by the reader of these tests.
            assert_eq!(name, "d.sam");
            continue;
        };
        assert_eq!((found.headers.len(), sent > 0), (400, is_sent), "{name}");
    }
    // BGZF that turns into gzip goes on, on the host.
    let both = [pieces(text.as_bytes(), bgzf_block), gzip(text.as_bytes())].concat();
    let input = write(folder.path(), "e.fq.gz", &both);
    let (found, _) = read_by_both(&[input], options(1000, 0, 1), 1, sides).unwrap();
    assert_eq!(found.headers.len(), 800);
}

fn record_of_sam() -> String {
    format!("read\t4\t*\t0\t0\t*\t*\t0\t0\t{}\t*\n", "ACGT".repeat(20))
}

#[test]
fn errors_are_those_of_the_host_alone() {
    let folder = tempfile::tempdir().unwrap();
    let record = format!("@read\n{}\n+\n{}\n", "ACGTTGCA".repeat(12), "I".repeat(96));
    let text = record.repeat(300).into_bytes();
    let mut short = text.clone();
    let at = record.len() * 200 + 7;
    short.remove(at);
    let packed = [pieces(&text, bgzf_block), bgzf_block(b"")].concat();
    let mut damaged = packed.clone();
    // The checksum of the last block before the empty one, and the data of the same block.
    let checksum = packed.len() - bgzf_block(b"").len() - 8;
    damaged[checksum] ^= 0x55;
    let cut = packed[..checksum - 5].to_vec();
    for (name, bytes) in [
        ("short.fq", short.clone()),
        ("short.fq.gz", [pieces(&short, bgzf_block), bgzf_block(b"")].concat()),
        ("damaged.fq.gz", damaged),
        ("cut.fq.gz", cut),
        ("cut.fq", text[..text.len() - 150].to_vec()),
    ] {
        let input = [write(folder.path(), name, &bytes)];
        let reader = Reader::open(&input, options(1000, 0, 1)).unwrap();
        let alone = crate::common::read_together(&reader, 1, 1).unwrap_err().to_string();
        for blocks in [1, 3, 100] {
            let sides = (room(1 << 20, 1 << 16, blocks), 0);
            let both = read_by_both(&input, options(1000, 0, 1), 1, sides).map(drop);
            let both = both.expect_err(name);
            assert_eq!(both.to_string(), alone, "{name}");
        }
    }
}

/// An inflater that works ahead in host memory: the texts of `blocks` blocks each, until it refuses.
#[derive(Debug)]
struct HostAhead {
    blocks: usize,
    texts: usize,
}

struct HostTexts(std::vec::IntoIter<Ahead>);

impl InflateAhead for HostAhead {
    fn start(&self, file: &Arc<File>, walk: &BlockWalk) -> Option<Box<dyn TextsAhead>> {
        let (mut walk, mut all) = (walk.clone(), Vec::new());
        for _ in 0..self.texts {
            let (from, mut blocks) = (walk.clone(), Vec::new());
            let read_at = |bytes: &mut [u8], at| file.read_exact_at(bytes, at);
            let found = walk.next(read_at, |_, _, count| count >= self.blocks, &mut blocks);
            let mut text = Text::default();
            text.raw.resize((walk.offset() - from.offset()) as usize, 0);
            file.read_exact_at(&mut text.raw, from.offset()).unwrap();
            let inflated = Inflater::default().inflate(&mut text, &blocks, 0, |_| {});
            if found.is_err() || inflated.is_err() {
                all.push(Ahead::Rest(from));
                return Some(Box::new(HostTexts(all.into_iter())));
            }
            let length = text.raw.len() as u64;
            all.push(Ahead::Text(Arc::new(text.bytes().to_vec()), length));
        }
        all.push(Ahead::Rest(walk));
        Some(Box::new(HostTexts(all.into_iter())))
    }
}

impl TextsAhead for HostTexts {
    fn next(&mut self) -> Ahead {
        self.0.next().unwrap()
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    #[test]
    fn text_that_is_inflated_ahead_is_the_same(
        text in text(), chunk in 1..300usize, overlap in 0..40usize, size in 1..200usize,
        blocks in 1..5usize, texts in 0..20usize, other in any::<bool>(), cut in 0..40usize,
    ) {
        let folder = tempfile::tempdir().unwrap();
        let mut packed: Vec<u8> = text.as_bytes().chunks(size).flat_map(bgzf_block).collect();
        packed.extend(if other { gzip(b"") } else { bgzf_block(b"") });
        packed.truncate(packed.len() - cut.saturating_sub(20).min(packed.len() - 30));
        let input = [write(folder.path(), "r.gz", &packed)];
        let read = |inflater: Option<Arc<dyn InflateAhead>>| {
            let options = ReaderOptions { inflater, ..options(chunk, overlap, 1) };
            let reader = Reader::open(&input, options).unwrap();
            let read = crate::common::read_alone(&reader, overlap + 1);
            read.map(|found| found.records).map_err(|error| error.to_string())
        };
        prop_assert_eq!(read(Some(Arc::new(HostAhead { blocks, texts }))), read(None));
    }
}
