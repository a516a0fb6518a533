//! Tests of compressed files: complete, truncated and damaged.

use crate::common::{Sums, naive, options, read_alone, read_together, reader_of};
use merganser_io::{Chunk, Error, Input, Reader};
use merganser_test_forms::{WITHOUT_END, all_forms, bgzf_block, bzip2, gzip, pieces, xz, zstd};
use std::io::Write;

fn reads(number: usize) -> Vec<u8> {
    let mut text = Vec::new();
    for read in 0..number {
        let bases: String =
            (0..50).map(|at| ['A', 'C', 'G', 'T'][(read * 7 + at * at) % 4]).collect();
        writeln!(text, "@read{read}\n{bases}\n+\n{}", "I".repeat(50)).unwrap();
    }
    text
}

#[test]
fn every_compression_from_files() {
    let dir = tempfile::tempdir().unwrap();
    let text = reads(1000);
    let expected = Sums::of(&naive(&text), 13);
    for (name, bytes) in all_forms(&text) {
        // The name does not tell the compression.
        let path = dir.path().join(name);
        std::fs::write(&path, &bytes).unwrap();
        for (chunk, workers) in [(4096, 2), (100_000, 3), (1 << 22, 1)] {
            let reader =
                Reader::open(&[Input::File(path.clone())], options(chunk, 12, workers)).unwrap();
            assert_eq!(reader.bytes_total(), Some(bytes.len() as u64));
            let sums = read_together(&reader, workers, 13).unwrap();
            assert_eq!(sums, expected, "{name}, chunks of {chunk}, {workers} workers");
            assert_eq!(reader.bytes_read(), bytes.len() as u64, "{name}");
        }
    }
}

#[test]
fn bgzf_without_its_end_block_is_warned_of_and_nothing_else_is() {
    let dir = tempfile::tempdir().unwrap();
    let text = reads(300);
    for (name, bytes) in all_forms(&text) {
        let path = dir.path().join(name);
        std::fs::write(&path, &bytes).unwrap();
        let expected = match name {
            WITHOUT_END => vec![format!(
                "{}: its BGZF data end without an end-of-file block and may be truncated: compare \
                 the file with its source (bcl2fastq, for one, writes whole files without this block)",
                path.display()
            )],
            _ => Vec::new(),
        };
        for (chunk, workers) in [(4096, 2), (1 << 22, 1)] {
            let options = options(chunk, 12, workers);
            let warnings = options.warnings.clone();
            let reader = Reader::open(&[Input::File(path.clone())], options).unwrap();
            read_together(&reader, workers, 13).unwrap();
            assert_eq!(warnings.all(), expected, "{name}");
        }
        // The same for a stream, whose end is known only when it is reached.
        let options = options(4096, 12, 1);
        let warnings = options.warnings.clone();
        read_together(&reader_of(&bytes, options), 1, 13).unwrap();
        assert_eq!(warnings.count(), expected.len(), "{name}");
    }
}

#[test]
fn shards_warn_of_a_missing_end_block_once() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("r.fq.gz");
    let text = reads(4000);
    for (end, expected) in [(bgzf_block(b""), 0), (Vec::new(), 1)] {
        std::fs::write(&path, [pieces(&text, bgzf_block), end].concat()).unwrap();
        let input = [Input::File(path.clone())];
        let warned = [1, 2, 3].map(|number| {
            let shard = format!("{number}/3").parse().unwrap();
            let options = options(4096, 12, 1);
            let warnings = options.warnings.clone();
            let inputs = merganser_io::shard(&input, shard, 12).unwrap();
            read_together(&Reader::open(&inputs, options).unwrap(), 1, 13).unwrap();
            warnings.count()
        });
        assert_eq!(warned, [0, 0, expected]);
    }
}

#[test]
fn source_bytes_add_up() {
    for (name, bytes) in all_forms(&reads(500)) {
        let reader = reader_of(&bytes, options(4096, 0, 1));
        let (mut chunk, mut sum) = (Chunk::default(), 0);
        while reader.next_chunk(&mut chunk).unwrap() {
            sum += chunk.source_bytes();
        }
        assert!(sum <= bytes.len() as u64, "{name}");
        assert!(sum + 1100 >= bytes.len() as u64, "{name}: {sum} of {}", bytes.len());
    }
}

#[test]
fn cut_off_anywhere_is_an_error() {
    let text = reads(4);
    let (half, rest) = text.split_at(text.len() / 2);
    let forms = [
        ("gzip", [gzip(half), gzip(rest)], "gzip"),
        ("BGZF", [bgzf_block(half), bgzf_block(rest)], "BGZF"),
        ("zstd", [zstd(half), zstd(rest)], "zstd"),
        ("bzip2", [bzip2(half), bzip2(rest)], "bzip2"),
        ("xz", [xz(half), xz(rest)], "xz"),
    ];
    for (name, parts, compression) in forms {
        let bytes = parts.concat();
        for cut in 1..bytes.len() {
            let result = read_alone(&reader_of(&bytes[..cut], options(64, 0, 1)), 0);
            if cut == parts[0].len() {
                // As far as can be known, the file is complete.
                assert_eq!(result.unwrap().records, naive(half), "{name}");
                continue;
            }
            match result.map(|sink| sink.records).unwrap_err() {
                // The header of the first block must be complete to be recognized as BGZF.
                Error::Truncated { compression: "gzip", .. } if compression == "BGZF" => {}
                Error::Truncated { compression: said, .. } => assert_eq!(said, compression),
                Error::UnknownFormat { .. } if cut < 6 => {}
                // The first bytes of a second gzip member may not suffice to recognize BGZF.
                Error::Corrupt { .. } if cut > parts[0].len() && cut < parts[0].len() + 6 => {}
                other => panic!("{name} cut at {cut} of {}: {other}", bytes.len()),
            }
        }
    }
}

#[test]
fn damage_is_an_error_or_harmless() {
    let text = reads(3);
    for (name, bytes) in all_forms(&text) {
        if name == "plain" || name.contains("zeros") {
            continue;
        }
        for at in 0..bytes.len() {
            let mut damaged = bytes.clone();
            damaged[at] ^= 0x41;
            if let Ok(sink) = read_alone(&reader_of(&damaged, options(64, 0, 1)), 0) {
                assert_eq!(sink.records, naive(&text), "{name}, byte {at}");
            }
        }
    }
}

#[test]
fn garbage_after_the_data_is_an_error() {
    let text = reads(3);
    for (name, compress) in
        [("gzip", gzip as fn(&[u8]) -> Vec<u8>), ("BGZF", bgzf_block), ("zstd", zstd), ("xz", xz)]
    {
        let bytes = [compress(&text), b"garbage!".to_vec()].concat();
        let result = read_alone(&reader_of(&bytes, options(1 << 16, 0, 1)), 0);
        let error = result.map(|sink| sink.records).unwrap_err();
        assert!(
            matches!(error, Error::Corrupt { .. } | Error::Truncated { .. }),
            "{name}: {error}"
        );
    }
}
