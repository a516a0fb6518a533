//! The bases of a sequence that are covered by k-mers in no read, as intervals (BED) and as the coverage of each base
//! (wig).

use std::io::Write;

use merganser_io::{Output, put_decimal};

use crate::Error;

/// Collects overlapping k-mers and writes them when no further one can overlap.
#[derive(Debug, Default)]
pub(super) struct Track {
    /// Half-open intervals of the start positions of k-mers, ascending.
    begins: Vec<(u64, u64)>,
    /// Half-open intervals of the end positions of the same k-mers; each end is the position after the last base.
    ends: Vec<(u64, u64)>,
    name: Vec<u8>,
    /// Whether the wig file has the header line of the current sequence.
    is_named: bool,
    text: Vec<u8>,
}

/// The size, in bytes, at which the text is written.
const TEXT: usize = 1 << 16;

impl Track {
    pub(super) fn begin(&mut self, name: &[u8]) {
        self.name.clear();
        self.name.extend_from_slice(name);
        self.is_named = false;
    }

    /// Adds `kmers` k-mers of `bases` bases that begin at consecutive positions from `start` on, after all
    /// earlier ones.
    pub(super) fn run(
        &mut self,
        start: u64,
        kmers: u64,
        bases: u64,
        [bed, wig]: [&mut Output; 2],
    ) -> Result<(), Error> {
        if self.ends.last().is_some_and(|last| start >= last.1 - 1) {
            self.flush([bed, wig])?;
        }
        add(&mut self.begins, start, kmers);
        add(&mut self.ends, start + bases, kmers);
        Ok(())
    }

    /// Writes the collected k-mers; also to be called at the end of a sequence.
    pub(super) fn flush(&mut self, [bed, wig]: [&mut Output; 2]) -> Result<(), Error> {
        let (Some(&(start, _)), Some(&(_, end))) = (self.begins.first(), self.ends.last()) else {
            return Ok(());
        };
        // The end of the last k-mer: the position after its last base.
        let end = end - 1;
        self.text.clear();
        self.text.extend_from_slice(&self.name);
        self.text.push(b'\t');
        put_decimal(start, &mut self.text);
        self.text.push(b'\t');
        put_decimal(end, &mut self.text);
        self.text.push(b'\n');
        bed.write_all(&self.text)?;
        self.text.clear();
        if !self.is_named {
            self.text.extend_from_slice(b"variableStep chrom=");
            self.text.extend_from_slice(&self.name);
            self.text.push(b'\n');
            self.is_named = true;
        }
        // The coverage of a base is the number of k-mers that begin at or before it, less those that end before it.
        let (mut begun, mut ended) = (Steps::new(&self.begins), Steps::new(&self.ends));
        for at in start..end {
            let depth = begun.up_to(at) - ended.up_to(at);
            put_decimal(at + 1, &mut self.text);
            self.text.push(b'\t');
            put_decimal(depth, &mut self.text);
            self.text.push(b'\n');
            if self.text.len() >= TEXT {
                wig.write_all(&self.text)?;
                self.text.clear();
            }
        }
        wig.write_all(&self.text)?;
        self.begins.clear();
        self.ends.clear();
        Ok(())
    }
}

/// Adds consecutive positions from `start` on, after all earlier ones.
fn add(runs: &mut Vec<(u64, u64)>, start: u64, places: u64) {
    match runs.last_mut() {
        Some(last) if last.1 == start => last.1 += places,
        _ => runs.push((start, start + places)),
    }
}

/// Counts the positions in ascending intervals.
struct Steps<'r> {
    left: &'r [(u64, u64)],
    done: u64,
}

impl Steps<'_> {
    fn new(runs: &[(u64, u64)]) -> Steps<'_> {
        Steps { left: runs, done: 0 }
    }

    /// Returns the number of positions up to and including `at`, which must not decrease from call to call.
    fn up_to(&mut self, at: u64) -> u64 {
        while let [(start, end), rest @ ..] = self.left {
            if *end > at + 1 {
                return self.done + (at + 1).saturating_sub(*start);
            }
            self.done += end - start;
            self.left = rest;
        }
        self.done
    }
}
