//! Two encodings of super-k-mers: the paper's, and the length-prefixed one.

use super::cut::{Cutter, Strands, SuperKmer};
use super::markdown::{grouped, nanoseconds, table};
use super::reads::{Batch, Sample};
use super::{clock, gkc as direct};
use anyhow::{Result, ensure};
use merganser_count::superkmer::{self, gkc, record_bytes};
use merganser_seq::kmer::Kmer;
use merganser_seq::packed;
use merganser_seq::simd::Level;
use std::hint::black_box;
use std::num::NonZeroUsize;

/// Bytes that may be read behind the last record.
pub(crate) const PADDING: usize = 64;

/// Gives `visit` the canonical k-mers of the record of `kmers` k-mers whose packed bases start
/// `bases`; [`PADDING`] bytes may follow them.
#[inline(always)]
pub(crate) fn expand<K: Kmer>(bases: &[u8], kmers: usize, k: usize, mut visit: impl FnMut(K)) {
    let mask = K::mask(k);
    let mut forward = K::from_packed(bases, k);
    let mut reverse = forward.reverse_complement(k);
    for next in k..k + kmers {
        visit(forward.least(reverse));
        let byte = bases.get(next / 4).copied().unwrap_or(0);
        let code = byte >> (6 - 2 * (next % 4)) & 3;
        forward = forward.push(code, mask);
        reverse = reverse.push_complement(code, k);
    }
}

/// Gives `visit` the canonical k-mers of records that take all but the last [`PADDING`] bytes.
#[inline(always)]
pub(crate) fn expand_all<K: Kmer>(records: &[u8], k: usize, mut visit: impl FnMut(K)) {
    let mut at = 0;
    while at + PADDING < records.len() {
        let kmers = usize::from(records[at]) + 1;
        expand(&records[at + 1..], kmers, k, &mut visit);
        at += record_bytes(kmers, k);
    }
}

/// A sample, cut.
struct Input {
    k: usize,
    batches: Vec<(Batch, Vec<SuperKmer>)>,
    bases: usize,
    super_kmers: usize,
    kmers: usize,
}

impl Input {
    fn new(sample: &Sample, k: usize) -> Self {
        let mut cutter = Cutter::new(k);
        let mut input =
            Self { k, batches: Vec::new(), bases: sample.letters.len(), super_kmers: 0, kmers: 0 };
        for batch in sample.batches() {
            let mut all = Vec::new();
            cutter.cut(&batch, |super_kmer| all.push(super_kmer));
            input.super_kmers += all.len();
            input.kmers += all.iter().map(|s| s.kmers).sum::<usize>();
            input.batches.push((batch, all));
        }
        input
    }

    /// Writes all super-k-mers in the paper's encoding.
    fn gkc(&self, read: &mut Vec<u8>, out: &mut Vec<u8>) {
        out.clear();
        for (batch, super_kmers) in &self.batches {
            gkc::encode_read(&batch.codes, read);
            for s in super_kmers {
                gkc::append(read, s.at, s.kmers + self.k - 1, out);
            }
        }
    }

    /// Writes all super-k-mers as records, as they stand in the reads.
    fn records(&self, words: &mut Vec<u64>, out: &mut [u8]) {
        let mut to = 0;
        for (batch, super_kmers) in &self.batches {
            packed::pack(Level::best(), &batch.codes, words);
            for s in super_kmers {
                to += superkmer::write(words, s.at, s.kmers, self.k, &mut out[to..]);
            }
        }
    }

    /// Writes all super-k-mers as records of the lesser strand.
    fn least_records(&self, strands: &mut Strands, out: &mut [u8]) {
        let mut to = 0;
        for (batch, super_kmers) in &self.batches {
            strands.pack(&batch.codes);
            for s in super_kmers {
                to += strands.write(s.at, s.kmers, self.k, &mut out[to..]);
            }
        }
    }

    fn record_bytes(&self) -> usize {
        let all = self.batches.iter().flat_map(|(_, super_kmers)| super_kmers);
        all.map(|s| record_bytes(s.kmers, self.k)).sum()
    }
}

/// The headers of the table of encodings.
const HEADERS: [&str; 7] = [
    "encoding",
    "bytes",
    "bytes a k-mer",
    "reads coded, ns a base",
    "copied, ns a super-k-mer",
    "both, ns a super-k-mer",
    "decoded, ns a k-mer",
];

/// A row of the table.
struct Row {
    name: &'static str,
    bytes: usize,
    /// Seconds to code the reads, before any super-k-mer is copied.
    reads: f64,
    /// Seconds to code the reads and copy the super-k-mers.
    encode: f64,
    decode: Option<f64>,
}

impl Row {
    fn cells(&self, input: &Input) -> Vec<String> {
        vec![
            self.name.to_owned(),
            grouped(self.bytes as u64),
            format!("{:.2}", self.bytes as f64 / input.kmers as f64),
            nanoseconds(self.reads, input.bases),
            nanoseconds((self.encode - self.reads).max(0.0), input.super_kmers),
            nanoseconds(self.encode, input.super_kmers),
            self.decode.map_or("–".into(), |seconds| nanoseconds(seconds, input.kmers)),
        ]
    }
}

/// The table of encodings.
///
/// # Errors
///
/// If the encodings do not give the same k-mers.
pub(crate) fn report<K: Kmer>(threads: NonZeroUsize, sample: &Sample, k: usize) -> Result<String> {
    let input = Input::new(sample, k);
    ensure!(input.kmers > 0, "no read has k = {k} bases");
    let ([direct, by_codes], check) = gkc_rows::<K>(threads, &input)?;
    let (record, found) = record_row::<K>(threads, &input);
    ensure!(found == check, "the encodings differ in their k-mers");
    let rows = [direct, by_codes, record, least_row(threads, &input)];
    let rows: Vec<Vec<String>> = rows.iter().map(|row| row.cells(&input)).collect();
    Ok(format!(
        "### Encodings of super-k-mers, k = {k}: {} super-k-mers, {} k-mers\n\n{}",
        grouped(input.super_kmers as u64),
        grouped(input.kmers as u64),
        table(&HEADERS, &rows)
    ))
}

/// The sum of k-mers, and how many.
type Check = (u64, usize);

#[inline(always)]
fn add<K: Kmer>(check: &mut Check, kmer: K) {
    *check = (check.0.wrapping_add(kmer.low()), check.1 + 1);
}

/// The paper's encoding: decoded directly, and by way of an array of codes.
fn gkc_rows<K: Kmer>(threads: NonZeroUsize, input: &Input) -> Result<([Row; 2], Check)> {
    let (reads, ()) = clock::best(threads, || {
        let mut read = Vec::new();
        move || {
            for (batch, _) in &input.batches {
                gkc::encode_read(&batch.codes, &mut read);
                black_box(&read);
            }
        }
    });
    let (encode, bytes) = clock::best(threads, || {
        let (mut read, mut out) = (Vec::new(), Vec::new());
        move || {
            input.gkc(&mut read, &mut out);
            black_box(&out).len()
        }
    });
    let mut data = Vec::with_capacity(bytes);
    input.gkc(&mut Vec::new(), &mut data);
    let (fast, check) = clock::best(threads, || {
        || {
            let mut check = (0, 0);
            direct::kmers::<K>(&data, input.k, |kmer| add(&mut check, kmer));
            check
        }
    });
    let (slow, found) = decode_by_codes::<K>(threads, &data, input.k);
    ensure!(found == check, "two decoders differ in their k-mers");
    let row = |name, decode| Row { name, bytes, reads, encode, decode: Some(decode) };
    let rows = [row("paper (§III-B)", fast), row("paper (§III-B), through codes", slow)];
    Ok((rows, check))
}

fn decode_by_codes<K: Kmer>(threads: NonZeroUsize, data: &[u8], k: usize) -> (f64, Check) {
    clock::best(threads, || {
        let mut codes = Vec::new();
        move || {
            let mut check = (0, 0);
            gkc::decode(data, &mut codes, |codes| roll::<K>(codes, k, &mut check));
            check
        }
    })
}

/// Adds the canonical k-mers of codes.
fn roll<K: Kmer>(codes: &[u8], k: usize, check: &mut Check) {
    let mask = K::mask(k);
    let (mut forward, mut reverse) = (K::default(), K::default());
    for (i, &code) in codes.iter().enumerate() {
        forward = forward.push(code, mask);
        reverse = reverse.push_complement(code, k);
        if i + 1 >= k {
            add(check, forward.least(reverse));
        }
    }
}

/// The length-prefixed records.
fn record_row<K: Kmer>(threads: NonZeroUsize, input: &Input) -> (Row, Check) {
    let bytes = input.record_bytes();
    let room = bytes + PADDING;
    let (encode, ()) = clock::best(threads, || {
        let (mut words, mut out) = (Vec::new(), vec![1; room]);
        move || {
            input.records(&mut words, &mut out);
            black_box(&out);
        }
    });
    let (reads, ()) = clock::best(threads, || {
        let mut words = Vec::new();
        move || {
            for (batch, _) in &input.batches {
                packed::pack(Level::best(), &batch.codes, &mut words);
                black_box(&words);
            }
        }
    });
    let mut out = vec![1; room];
    input.records(&mut Vec::new(), &mut out);
    let (decode, check) = clock::best(threads, || {
        || {
            let mut check = (0, 0);
            expand_all::<K>(&out, input.k, |kmer| add(&mut check, kmer));
            check
        }
    });
    (Row { name: "length and 2 bits", bytes, reads, encode, decode: Some(decode) }, check)
}

/// The same of the lesser strand: what makes equal super-k-mers equal records.
fn least_row(threads: NonZeroUsize, input: &Input) -> Row {
    let bytes = input.record_bytes();
    let (encode, ()) = clock::best(threads, || {
        let (mut strands, mut out) = (Strands::default(), vec![1; bytes + PADDING]);
        move || {
            input.least_records(&mut strands, &mut out);
            black_box(&out);
        }
    });
    let (reads, ()) = clock::best(threads, || {
        let mut strands = Strands::default();
        move || {
            for (batch, _) in &input.batches {
                strands.pack(&batch.codes);
                black_box(&strands);
            }
        }
    });
    Row {
        name: "length and 2 bits, lesser strand (the default)",
        bytes,
        reads,
        encode,
        decode: None,
    }
}
