//! The bases of a sequence that k-mers without a read cover: as intervals (BED), and how many cover each (wig).

use std::io::Write;

use merganser_io::{Output, put_decimal};

use crate::Error;

/// k-mers that overlap, one after the other.
#[derive(Debug, Default)]
pub(super) struct Track {
    /// First and last but one place at which k-mers begin that are together, ascending,
    begins: Vec<(u64, u64)>,
    /// and at which they have ended: behind their last bases.
    ends: Vec<(u64, u64)>,
    name: Vec<u8>,
    /// Whether the wig has the sequence's line.
    is_named: bool,
    text: Vec<u8>,
}

/// Bytes of text that are written at once.
const TEXT: usize = 1 << 16;

impl Track {
    pub(super) fn begin(&mut self, name: &[u8]) {
        self.name.clear();
        self.name.extend_from_slice(name);
        self.is_named = false;
    }

    /// k-mers of so many `bases` that begin at so many places from `start` on, behind those before.
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

    /// Writes what overlaps, and what is left at a sequence's end.
    pub(super) fn flush(&mut self, [bed, wig]: [&mut Output; 2]) -> Result<(), Error> {
        let (Some(&(start, _)), Some(&(_, end))) = (self.begins.first(), self.ends.last()) else {
            return Ok(());
        };
        // Behind the last base of the last k-mer.
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
        // k-mers that begin at or before a base, and those that have ended before it.
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

/// Adds so many places from `start` on, behind those before.
fn add(runs: &mut Vec<(u64, u64)>, start: u64, places: u64) {
    match runs.last_mut() {
        Some(last) if last.1 == start => last.1 += places,
        _ => runs.push((start, start + places)),
    }
}

/// Counts places of runs, ascending.
struct Steps<'r> {
    left: &'r [(u64, u64)],
    done: u64,
}

impl Steps<'_> {
    fn new(runs: &[(u64, u64)]) -> Steps<'_> {
        Steps { left: runs, done: 0 }
    }

    /// How many there are up to `at`, which does not fall from call to call.
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
