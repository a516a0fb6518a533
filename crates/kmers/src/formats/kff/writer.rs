//! Writes KFF files like KMC, so that kmc_tools can read them: a raw section of single k-mers in ascending order, and
//! an index. Numbers are big-endian.

use std::io::Write;
use std::time::Duration;

use merganser_io::AtomicFile;
use merganser_seq::kmer::Kmer;

use crate::Error;
use crate::formats::mgk::Header;
use crate::formats::packed::{count_bytes, store_packed};
use crate::formats::{Encoder, Sink, Totals};

/// The offset of the number of blocks of the raw section: after the header, the variables and the letter of the
/// section.
const NUMBER_AT: u64 = 78;

/// Encodes k-mers as blocks of one k-mer.
pub(crate) struct KffFormat {
    pub(crate) k: usize,
    /// The size of a count in bytes.
    pub(crate) data_size: usize,
}

impl KffFormat {
    pub(crate) fn new(k: usize, largest_count: u32) -> KffFormat {
        KffFormat { k, data_size: count_bytes(largest_count) }
    }
}

impl<K: Kmer> Encoder<K> for KffFormat {
    type Encoded = Vec<u8>;

    fn encode(&self, kmers: &[(K, u32)]) -> Vec<u8> {
        let bytes = self.k.div_ceil(4);
        let record = bytes + self.data_size;
        // Whole words are stored, so the last ones extend beyond the end.
        let mut part = vec![0; kmers.len() * record + K::BYTES + 4];
        let spare = 32 - 8 * self.data_size as u32;
        for (number, &(kmer, count)) in kmers.iter().enumerate() {
            let part = &mut part[number * record..];
            // The padding comes first.
            store_packed(kmer, 4 * bytes, part);
            (count << spare).swap_bytes().store(&mut part[bytes..]);
        }
        part.truncate(kmers.len() * record);
        part
    }
}

/// Writes the encoded k-mers to the file.
pub(crate) struct KffSink {
    file: AtomicFile,
    header: Header,
    data_size: usize,
}

impl KffSink {
    pub(crate) fn new(
        mut file: AtomicFile,
        header: Header,
        format: &KffFormat,
    ) -> Result<KffSink, Error> {
        let data_size = format.data_size;
        // Version 1.0; A C G T = 0 1 2 3; each k-mer once; canonical or not; no free block.
        let mut start = b"KFF\x01\x00\x1b\x01".to_vec();
        start.push(u8::from(header.canonical));
        start.extend([0; 4]);
        let k = header.k as u64;
        variables(
            &[("k", k), ("max", 1), ("data_size", data_size as u64), ("ordered", 1)],
            &mut start,
        );
        start.push(b'r');
        debug_assert_eq!(start.len() as u64, NUMBER_AT);
        start.extend([0; 8]);
        file.write_all(&start)?;
        Ok(KffSink { file, header, data_size })
    }
}

/// Appends a section of variables.
fn variables(variables: &[(&str, u64)], out: &mut Vec<u8>) {
    out.push(b'v');
    out.extend((variables.len() as u64).to_be_bytes());
    for (name, value) in variables {
        out.extend(name.as_bytes());
        out.push(0);
        out.extend(value.to_be_bytes());
    }
}

impl Sink<Vec<u8>> for KffSink {
    fn write(&mut self, part: Vec<u8>) -> Result<(), Error> {
        Ok(self.file.write_all(&part)?)
    }

    fn totals(&mut self, totals: &Totals) {
        totals.put(&mut self.header);
    }

    fn finish(mut self) -> Result<Duration, Error> {
        let index = self.file.position();
        // The index: three entries, each with its distance from the end of the index.
        let end = index + 1 + 8 + 3 * 9 + 8;
        let mut tail = vec![b'i'];
        tail.extend(3u64.to_be_bytes());
        for (kind, place) in [(b'v', 12), (b'r', NUMBER_AT - 1), (b'v', end)] {
            tail.push(kind);
            tail.extend(place.wrapping_sub(end).to_be_bytes());
        }
        tail.extend([0; 8]);
        let footer = tail.len();
        let header = &self.header;
        let size = self.data_size as u64;
        variables(
            &[
                ("first_index", index),
                ("min_count", header.min_count.into()),
                ("max_count", header.max_count.into()),
                ("counter_size", size),
                // The size of this section in bytes.
                ("footer_size", 106),
            ],
            &mut tail,
        );
        debug_assert_eq!(tail.len() - footer, 106);
        tail.extend(b"KFF");
        self.file.write_all(&tail)?;
        self.file.patch(NUMBER_AT, &self.header.kmers.to_be_bytes())?;
        Ok(self.file.commit()?)
    }
}
