//! DEFLATE data and texts through the kernels of the ingest, emulated on the host: what they accept is what the host finds.
#![no_main]

use std::cell::RefCell;

use libfuzzer_sys::fuzz_target;
use merganser_fuzz::device::{block_of, compare, inflated_here, text_of};
use merganser_gpu::Device;
use merganser_gpu::ingest::{DeviceText, TextFormat, TextRules};
use merganser_inflate::bgzf::Block;
use merganser_inflate::{BgzfBlocks, RemoteRoom, RemoteText};

const ROOM: RemoteRoom = RemoteRoom { bytes: 1 << 17, text: 1 << 17, headroom: 64, blocks: 8 };

thread_local! {
    static TEXT: RefCell<DeviceText> = RefCell::new(
        DeviceText::new(&Device::open(0).expect("an emulated device"), ROOM).expect("room"),
    );
}

/// Inflates one block on the device.
fn inflated(there: &mut DeviceText, bytes: &[u8]) -> Option<Vec<u8>> {
    let text = u32::from_le_bytes(*bytes.last_chunk()?) as usize;
    let block = Block { offset: 0, size: bytes.len(), text };
    there.bytes(bytes.len()).expect("room").copy_from_slice(bytes);
    there.inflate(&[block]).expect("no failure")?;
    Some(there.read(0..there.len()).expect("no failure"))
}

fuzz_target!(|input: &[u8]| {
    let [kind, parameter, rest @ ..] = input else { return };
    TEXT.with_borrow_mut(|there| match kind % 4 {
        0 => {
            // Arbitrary data, with the checksum and size that libdeflate finds, or others.
            let block = block_of(rest, *parameter);
            let (found, expected) = (inflated(there, &block), inflated_here(&block));
            assert!(found.is_none() || found == expected);
        }
        1 => {
            let text = rest.repeat(1 + usize::from(*parameter) / 8);
            let text = &text[..text.len().min(BgzfBlocks::TEXT)];
            let mut block = Vec::new();
            BgzfBlocks::new(parameter % 13).compress(text, true, &mut block);
            assert!(text.is_empty() || inflated(there, &block).as_deref() == Some(text));
        }
        kind => {
            let format = if kind == 2 { TextFormat::Fasta } else { TextFormat::Fastq };
            let least_quality = (kind == 3 && *parameter > 0).then_some(*parameter);
            let rules = TextRules { format, in_line: false, least_quality };
            let text = text_of(rest, format);
            there.bytes(text.len()).expect("room").copy_from_slice(&text);
            there.take(text.len()).expect("no failure");
            let Some(sums) = there.pack(rules).expect("no failure") else { return };
            let bases = there.stream().download_vec(there.bases()).expect("no failure");
            compare(&text, sums, &bases);
        }
    });
});
