//! The results of the host for the data of the target `device_text`.

use merganser_gpu::ingest::{PackedText, TextFormat};
use merganser_inflate::Text;
use merganser_inflate::bgzf::{Block, Inflater};

use crate::fastx::read;

/// Returns a BGZF block with this DEFLATE data and the checksum and size of the text that libdeflate finds, or a size of
/// `other` if the data are damaged.
pub fn block_of(data: &[u8], other: u8) -> Vec<u8> {
    let mut block = vec![0x1f, 0x8b, 8, 4, 0, 0, 0, 0, 0, 0xff, 6, 0, b'B', b'C', 2, 0];
    block.extend((data.len() as u16 + 25).to_le_bytes());
    block.extend(data);
    let mut text = Vec::new();
    let stream = flate2::read::DeflateDecoder::new(data);
    let whole = std::io::Read::read_to_end(&mut std::io::Read::take(stream, 1 << 16), &mut text);
    if whole.is_err() {
        text.truncate(usize::from(other));
    }
    block.extend(crc32fast::hash(&text).to_le_bytes());
    block.extend((text.len() as u32).to_le_bytes());
    block
}

/// Inflates one block on the host.
pub fn inflated_here(bytes: &[u8]) -> Option<Vec<u8>> {
    let size = u32::from_le_bytes(*bytes.last_chunk()?) as usize;
    let mut text = Text::default();
    text.raw = bytes.to_vec();
    let block = Block { offset: 0, size: bytes.len(), text: size };
    Inflater::default().inflate(&mut text, &[block], 0, |_| {}).ok()?;
    Some(text.bytes().to_vec())
}

/// A text with a sound first record and a last line end.
pub fn text_of(rest: &[u8], format: TextFormat) -> Vec<u8> {
    let mut text = match format {
        TextFormat::Fasta => b">first\nAC\n".to_vec(),
        TextFormat::Fastq => b"@first\nAC\n+\nII\n".to_vec(),
    };
    text.extend(rest);
    if text.last() != Some(&b'\n') {
        text.push(b'\n');
    }
    text
}

/// Asserts that the host's parser accepts a text and finds the same letters in it.
pub fn compare(text: &[u8], sums: PackedText, bases: &[u64]) {
    let found = read(text, 1 << 20, 1).expect("the device has accepted it");
    let letters: Vec<u8> = found.records.iter().flat_map(|(letters, _)| letters).copied().collect();
    assert_eq!((sums.letters, sums.records), (letters.len() as u64, found.records.len() as u64));
    for (at, letter) in letters.iter().enumerate() {
        let code = match letter.to_ascii_uppercase() {
            b'A' => 0,
            b'C' => 1,
            b'G' => 2,
            b'T' | b'U' => 3,
            _ => continue,
        };
        assert_eq!(bases[at / 32] >> (62 - 2 * (at % 32)) & 3, code, "letter {at}");
    }
}
