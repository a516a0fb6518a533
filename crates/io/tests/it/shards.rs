//! Tests of shards: read one after the other, they give the inputs, for any number of shards.

use crate::common::{Collector, ReaderOptions, kmers_of, naive};
use flate2::Compression;
use flate2::write::GzEncoder;
use merganser_io::{BgzfBlocks, Chunk, Input, Reader, fingerprint, shard};
use merganser_run::{Cancel, Shard};
use merganser_test_random::Random;
use proptest::prelude::*;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

const K: usize = 4;

fn gzip(text: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(text).unwrap();
    encoder.finish().unwrap()
}

/// Compresses text, in blocks or members of `step` bytes.
fn pack(text: &[u8], how: How, step: usize) -> Vec<u8> {
    match how {
        How::Plain => text.to_vec(),
        How::OneMember => gzip(text),
        How::Members => text.chunks(step).flat_map(gzip).collect(),
        How::Blocks => {
            let mut bytes = Vec::new();
            let mut blocks = BgzfBlocks::new(6);
            for text in text.chunks(step) {
                blocks.compress(text, true, &mut bytes);
            }
            bytes.extend_from_slice(&BgzfBlocks::END);
            bytes
        }
        How::Zstd => zstd::encode_all(text, 1).unwrap(),
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum How {
    Plain,
    OneMember,
    Members,
    Blocks,
    Zstd,
}

/// Passes the records of `inputs` to the collector.
fn read(inputs: &[Input], chunk_bytes: usize, collector: &mut Collector) {
    let options = ReaderOptions { chunk_bytes, overlap: K - 1, ..ReaderOptions::default() };
    let reader = Reader::open(inputs, options).unwrap();
    let mut chunk = Chunk::default();
    while reader.next_chunk(&mut chunk).unwrap() {
        chunk.parse(collector).unwrap();
    }
}

/// Compares the shards with the whole and returns the number of shards that are not empty.
fn check(files: &[(PathBuf, Vec<u8>)], of: u16, chunk_bytes: usize) -> usize {
    let inputs: Vec<Input> = files.iter().map(|(path, _)| Input::File(path.clone())).collect();
    let mut collector = Collector::new(K);
    let mut filled = 0;
    for number in 1..=of {
        let part = shard(&inputs, Shard::new(number, of).unwrap(), K - 1).unwrap();
        filled += usize::from(!part.is_empty());
        read(&part, chunk_bytes, &mut collector);
    }
    let expected: Vec<_> = files.iter().flat_map(|(_, text)| naive(text)).collect();
    assert_eq!(collector.records, expected, "{of} shards");
    assert_eq!(collector.kmers, kmers_of(&expected, K), "{of} shards");
    filled
}

fn write(dir: &Path, name: &str, bytes: &[u8]) -> PathBuf {
    let path = dir.join(name);
    fs::write(&path, bytes).unwrap();
    path
}

fn how() -> impl Strategy<Value = How> {
    prop::sample::select(vec![
        How::Plain,
        How::Plain,
        How::Blocks,
        How::Members,
        How::OneMember,
        How::Zstd,
    ])
}

fn fasta() -> impl Strategy<Value = Vec<u8>> {
    let contig = (
        "[a-z>@]{0,6}",
        prop::collection::vec("[ACGTN]{1,12}", 0..12),
        prop::sample::select(vec!["\n", "\r\n"]),
    );
    prop::collection::vec(contig, 1..6).prop_map(|contigs| {
        let line = |(name, lines, end): (String, Vec<String>, &str)| {
            let lines: String = lines.iter().map(|line| format!("{line}{end}")).collect();
            format!(">{name}{end}{lines}").into_bytes()
        };
        contigs.into_iter().flat_map(line).collect()
    })
}

fn fastq() -> impl Strategy<Value = Vec<u8>> {
    let record = ("[a-z@+]{0,6}", "[ACGTN]{0,20}", "[@+I-L]{20}");
    prop::collection::vec(record, 1..12).prop_map(|records| {
        let record = |(name, bases, quality): (String, String, String)| {
            format!("@{name}\n{bases}\n+\n{}\n", &quality[..bases.len()]).into_bytes()
        };
        records.into_iter().flat_map(record).collect()
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]
    #[test]
    fn shards_are_the_inputs(
        texts in prop::collection::vec((prop_oneof![fasta(), fastq()], how(), 1usize..200, 0usize..3), 1..4),
        of in 1u16..9, chunk_bytes in 8usize..300,
    ) {
        let dir = tempfile::tempdir().unwrap();
        let file = |(at, (text, how, step, blank)): (usize, &(Vec<u8>, How, usize, usize))| {
            let text = [&b"\n".repeat(*blank)[..], text].concat();
            (write(dir.path(), &at.to_string(), &pack(&text, *how, *step)), text)
        };
        let files: Vec<_> = texts.iter().enumerate().map(file).collect();
        check(&files, of, chunk_bytes);
    }
}

fn reads() -> Vec<u8> {
    let record = |(at, bases): (usize, &[u8])| {
        [format!("@read{at}\n").as_bytes(), bases, b"\n+\n", &[b'@'; 100], b"\n"].concat()
    };
    Random(1).bases(4000 * 100).chunks(100).enumerate().flat_map(record).collect()
}

/// Every format that can be cut is cut: no shard is empty.
#[test]
fn large_files_are_cut() {
    let dir = tempfile::tempdir().unwrap();
    let mut contig = b">one\n".to_vec();
    for line in Random(1).bases(9000 * 60).chunks(60) {
        contig.extend_from_slice(line);
        contig.push(b'\n');
    }
    let reads = reads();
    for (text, name) in [(&contig, "contig"), (&reads, "reads")] {
        for how in [How::Plain, How::Members, How::Blocks] {
            let path = write(dir.path(), name, &pack(text, how, 20_000));
            assert_eq!(check(&[(path, text.clone())], 5, 50_000), 5, "{name} {how:?}");
        }
        for how in [How::OneMember, How::Zstd] {
            let path = write(dir.path(), name, &pack(text, how, 0));
            assert_eq!(check(&[(path, text.clone())], 5, 50_000), 1, "{name} {how:?}");
        }
    }
}

#[test]
fn what_is_no_file_is_refused() {
    let half = Shard::new(1, 2).unwrap();
    let message = |inputs: &[Input]| shard(inputs, half, 3).unwrap_err().to_string();
    assert!(
        message(&[Input::Stdin]).contains("shards are parts of files"),
        "{}",
        message(&[Input::Stdin])
    );
    let missing = message(&[Input::File("/no/file".into())]);
    assert!(missing.contains("no such file"), "{missing}");
}

/// Damage is reported by the shard that reads it.
#[test]
fn damage_is_seen() {
    let dir = tempfile::tempdir().unwrap();
    let reads = reads();
    for how in [How::Members, How::Blocks] {
        let mut bytes = pack(&reads, how, 30_000);
        let middle = bytes.len() / 2;
        bytes[middle] ^= 0x55;
        let input = Input::File(write(dir.path(), "damaged", &bytes));
        let failed = |number| {
            let part = shard(std::slice::from_ref(&input), Shard::new(number, 3).unwrap(), 3);
            let Ok(part) = part else { return true };
            let reader = Reader::open(&part, ReaderOptions::default()).unwrap();
            let mut chunk = Chunk::default();
            loop {
                match reader.next_chunk(&mut chunk) {
                    Ok(true) => {}
                    Ok(false) => return false,
                    Err(_) => return true,
                }
            }
        };
        assert!((1..=3).any(failed), "{how:?}");
    }
}

#[test]
fn fingerprints_tell_files_apart() {
    let dir = tempfile::tempdir().unwrap();
    let of = |names: &[&str]| {
        let inputs: Vec<Input> =
            names.iter().map(|name| Input::File(dir.path().join(name))).collect();
        fingerprint::<Box<dyn std::error::Error + Send + Sync>>(&inputs, 2, &Cancel::default())
            .unwrap()
    };
    for (name, bytes) in [("a", "ACGT"), ("b", "ACGA"), ("c", "ACGT"), ("d", "ACG"), ("e", "")] {
        write(dir.path(), name, bytes.as_bytes());
    }
    assert_eq!(of(&["a", "b"]), of(&["c", "b"]));
    let all = [of(&["a"]), of(&["b"]), of(&["d"]), of(&["e"]), of(&["a", "b"]), of(&["b", "a"])];
    for (at, one) in all.iter().enumerate() {
        assert!(!all[at + 1..].contains(one));
    }
    // One byte in the middle of a large file; the same bytes at another time.
    let mut large = b"ACGT".repeat(100_000);
    write(dir.path(), "large", &large);
    let before = of(&["large"]);
    let again = fs::File::create(dir.path().join("again")).unwrap();
    (&again).write_all(&large).unwrap();
    again.set_modified(std::time::UNIX_EPOCH).unwrap();
    assert_eq!(of(&["again"]), before);
    large[200_000] = b'C';
    write(dir.path(), "large", &large);
    assert_ne!(of(&["large"]), before);
}
