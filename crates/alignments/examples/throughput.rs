//! Measures how fast inputs are read and parsed: `throughput [--threads N] [--chunk BYTES] FILE...`.
//! Prints the number of records and bases, and the rate in bytes of text and in bytes on disk.

#![allow(clippy::print_stdout)]

use merganser_alignments::ReaderOptions;
use merganser_io::{Chunk, Error, Reader, Sink, expand_inputs};
use merganser_run::run_workers_collect;
use std::time::Instant;

#[derive(Default)]
struct Lengths {
    records: u64,
    bases: u64,
    text: u64,
}

impl Sink for Lengths {
    #[inline]
    fn begin(&mut self, _header: &[u8]) {
        self.records += 1;
    }

    #[inline]
    fn resume(&mut self) {}

    #[inline]
    fn repeated(&mut self, bases: usize) {
        self.bases = self.bases.wrapping_sub(bases as u64);
    }

    #[inline]
    fn sequence(&mut self, line: &[u8], _quality: Option<&[u8]>) {
        self.bases = self.bases.wrapping_add(line.len() as u64);
    }

    #[inline]
    fn end(&mut self) {}
}

fn main() -> Result<(), Error> {
    let (mut threads, mut paths, mut options) = (1, Vec::new(), ReaderOptions::default());
    let mut args = std::env::args().skip(1);
    while let Some(arg) = args.next() {
        let mut number = || args.next().and_then(|text| text.parse().ok()).unwrap_or(1);
        match arg.as_str() {
            "--threads" => threads = number(),
            "--chunk" => options.chunk_bytes = number(),
            _ => paths.push(arg.into()),
        }
    }
    options = ReaderOptions { overlap: 27, workers: threads, ..options };
    let start = Instant::now();
    let reader = Reader::open(&expand_inputs(&paths)?, options)?;
    let parts = run_workers_collect(threads, |_| {
        let (mut chunk, mut sink) = (Chunk::default(), Lengths::default());
        while reader.next_chunk(&mut chunk)? {
            chunk.parse(&mut sink).inspect_err(|_| reader.stop())?;
            sink.text += chunk.text_len() as u64;
        }
        Ok(sink)
    })
    .map_err(|error| reader.earliest_error(error))?;
    let seconds = start.elapsed().as_secs_f64();
    let sum = |part: fn(&Lengths) -> u64| parts.iter().map(part).sum::<u64>();
    let text = sum(|part| part.text);
    println!(
        "{} records, {} bases, {text} bytes of text in {seconds:.3} s: {:.2} GB/s of text, {:.3} GB/s on disk",
        sum(|part| part.records),
        sum(|part| part.bases),
        text as f64 / 1e9 / seconds,
        reader.bytes_read() as f64 / 1e9 / seconds,
    );
    Ok(())
}
