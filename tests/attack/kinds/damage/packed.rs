//! Contents of compressed files.

use std::io::{Read, Write};

use merganser_test_support::forms::{bzip2, gzip, xz, zstd};

/// Decompresses a file if its name says that it is compressed.
pub(in crate::kinds) fn unpack(name: &str, bytes: &[u8]) -> Option<Vec<u8>> {
    let mut text = Vec::new();
    let read = if name.ends_with(".gz") || name.ends_with(".bam") {
        flate2::read::MultiGzDecoder::new(bytes).read_to_end(&mut text)
    } else if name.ends_with(".bz2") {
        bzip2::read::MultiBzDecoder::new(bytes).read_to_end(&mut text)
    } else if name.ends_with(".xz") {
        liblzma::read::XzDecoder::new(bytes).read_to_end(&mut text)
    } else if name.ends_with(".zst") {
        zstd::Decoder::new(bytes).unwrap().read_to_end(&mut text)
    } else {
        return None;
    };
    read.unwrap();
    Some(text)
}

/// Compresses a text in the format of the file's name.
pub(super) fn pack(name: &str, text: &[u8]) -> Vec<u8> {
    match name.rsplit('.').next() {
        Some("bam") => bgzf_of(&[text]),
        Some("gz") => gzip(text),
        Some("bz2") => bzip2(text),
        Some("xz") => xz(text),
        _ => zstd(text),
    }
}

/// Bytes of text in a BGZF block.
pub(in crate::kinds) const TEXT: usize = 40_000;

/// Compresses texts as BGZF (SAM specification, section 4.1); each text begins a block, and an empty block ends the
/// file.
pub(in crate::kinds) fn bgzf_of(texts: &[&[u8]]) -> Vec<u8> {
    let mut all = Vec::new();
    for block in texts.iter().flat_map(|text| text.chunks(TEXT)).chain([&[][..]]) {
        let level = flate2::Compression::fast();
        let mut deflate = flate2::write::DeflateEncoder::new(Vec::new(), level);
        deflate.write_all(block).unwrap();
        let data = deflate.finish().unwrap();
        let mut sum = flate2::Crc::new();
        sum.update(block);
        all.extend([31, 139, 8, 4, 0, 0, 0, 0, 0, 255, 6, 0, b'B', b'C', 2, 0]);
        all.extend((data.len() as u16 + 25).to_le_bytes());
        all.extend(data);
        all.extend(sum.sum().to_le_bytes());
        all.extend((block.len() as u32).to_le_bytes());
    }
    all
}
