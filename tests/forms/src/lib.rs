//! Encodes a text in every supported form: plain, and in each compression. Helpers of tests, which panic on errors.
#![allow(missing_docs, clippy::unwrap_used, reason = "helpers of tests")]

use std::io::Write;

pub fn gzip(text: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::new(6));
    encoder.write_all(text).unwrap();
    encoder.finish().unwrap()
}

pub fn bzip2(text: &[u8]) -> Vec<u8> {
    let mut encoder = bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::new(1));
    encoder.write_all(text).unwrap();
    encoder.finish().unwrap()
}

pub fn xz(text: &[u8]) -> Vec<u8> {
    let mut encoder = liblzma::write::XzEncoder::new(Vec::new(), 0);
    encoder.write_all(text).unwrap();
    encoder.finish().unwrap()
}

pub fn zstd(text: &[u8]) -> Vec<u8> {
    // With a checksum, like the files that the program writes.
    let mut encoder = zstd::stream::Encoder::new(Vec::new(), 1).unwrap();
    encoder.include_checksum(true).unwrap();
    encoder.write_all(text).unwrap();
    encoder.finish().unwrap()
}

pub fn bgzf_block(text: &[u8]) -> Vec<u8> {
    bgzf_block_of_level(text, 6)
}

/// Returns a block as large as its text.
pub fn stored_bgzf_block(text: &[u8]) -> Vec<u8> {
    bgzf_block_of_level(text, 0)
}

fn bgzf_block_of_level(text: &[u8], level: u32) -> Vec<u8> {
    let level = flate2::Compression::new(level);
    let mut deflate = flate2::write::DeflateEncoder::new(Vec::new(), level);
    deflate.write_all(text).unwrap();
    let data = deflate.finish().unwrap();
    let size = u16::try_from(18 + data.len() + 8 - 1).unwrap();
    let mut block = vec![0x1f, 0x8b, 8, 4, 0, 0, 0, 0, 0, 0xff, 6, 0, b'B', b'C', 2, 0];
    block.extend(size.to_le_bytes());
    block.extend(data);
    block.extend(crc32fast::hash(text).to_le_bytes());
    block.extend(u32::try_from(text.len()).unwrap().to_le_bytes());
    block
}

/// Cuts `text` into pieces of growing size and compresses each separately.
pub fn pieces(text: &[u8], compress: fn(&[u8]) -> Vec<u8>) -> Vec<u8> {
    let (mut rest, mut size, mut bytes) = (text, 3, Vec::new());
    while !rest.is_empty() {
        let (piece, after) = rest.split_at(size.min(rest.len()));
        bytes.extend(compress(piece));
        (rest, size) = (after, (size * 2 + 1).min(60_000));
    }
    bytes
}

/// The name of the form that is valid even without its end block.
pub const WITHOUT_END: &str = "BGZF without end block";

/// Returns the text in every form that inputs may have, each with its name.
pub fn all_forms(text: &[u8]) -> Vec<(&'static str, Vec<u8>)> {
    let bgzf = pieces(text, bgzf_block);
    let with_end = |end: &[u8]| [&bgzf, end].concat();
    let (half, rest) = text.split_at(text.len() / 2);
    vec![
        ("plain", text.to_vec()),
        ("gzip", gzip(text)),
        ("gzip members", pieces(text, gzip)),
        ("gzip padded with zeros", [gzip(text), vec![0; 1000]].concat()),
        ("gzip, empty member", [gzip(text), gzip(b"")].concat()),
        ("BGZF", with_end(&bgzf_block(b""))),
        (
            "BGZF, empty block within",
            [bgzf_block(half), bgzf_block(b""), bgzf_block(rest), bgzf_block(b"")].concat(),
        ),
        (WITHOUT_END, bgzf.clone()),
        ("BGZF padded with zeros", with_end(&[bgzf_block(b""), vec![0; 300]].concat())),
        ("BGZF, then gzip", [bgzf_block(half), gzip(rest)].concat()),
        ("gzip, then BGZF", [gzip(half), bgzf_block(rest), bgzf_block(b"")].concat()),
        ("zstd", zstd(text)),
        ("zstd frames", pieces(text, zstd)),
        ("bzip2", bzip2(text)),
        ("bzip2 streams", [bzip2(half), bzip2(rest)].concat()),
        ("xz", xz(text)),
        ("xz streams", [xz(half), xz(rest)].concat()),
    ]
}
