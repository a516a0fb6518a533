//! Writes files of Jellyfish in the order of the bases of their k-mers, which the matrix in the header makes the order
//! of the hash.

use std::io::Write;
use std::time::Duration;

use merganser_io::AtomicFile;
use merganser_seq::kmer::Kmer;

use super::header::Header;
use crate::Error;
use crate::formats::mgk;
use crate::formats::{Encoder, Sink};

/// The size of a count in bytes, as `jellyfish count` writes by default. `jellyfish merge` gives its result the size of
/// its first input, so a smaller one would limit sums.
const COUNT_BYTES: usize = 4;

/// Encodes k-mers as records.
pub(crate) struct JfFormat {
    pub(crate) k: usize,
}

impl<K: Kmer> Encoder<K> for JfFormat {
    type Encoded = Vec<u8>;

    fn encode(&self, kmers: &[(K, u32)]) -> Vec<u8> {
        let bytes = self.k.div_ceil(4);
        let record = bytes + COUNT_BYTES;
        // Whole words are stored, so the last ones extend beyond the end.
        let mut part = vec![0; kmers.len() * record + K::BYTES];
        for (number, &(kmer, count)) in kmers.iter().enumerate() {
            let part = &mut part[number * record..];
            kmer.store(part);
            part[bytes..record].copy_from_slice(&count.to_le_bytes());
        }
        part.truncate(kmers.len() * record);
        part
    }
}

/// Writes the header and the encoded records to the file.
pub(crate) struct JfSink(AtomicFile);

impl JfSink {
    pub(crate) fn new(mut file: AtomicFile, header: &mgk::Header) -> Result<JfSink, Error> {
        let header = Header::in_order_of_bases(header.k, header.canonical, COUNT_BYTES);
        file.write_all(&header.bytes())?;
        Ok(JfSink(file))
    }
}

impl Sink<Vec<u8>> for JfSink {
    fn write(&mut self, part: Vec<u8>) -> Result<(), Error> {
        Ok(self.0.write_all(&part)?)
    }

    fn finish(self) -> Result<Duration, Error> {
        Ok(self.0.commit()?)
    }
}
