//! The bases of a sequence that k-mers without a read cover: as intervals (BED), and how many cover each (wig).

use std::io::Write;

use merganser_io::{Output, put_decimal};

use crate::Error;

/// k-mers that overlap, one after the other.
#[derive(Debug, Default)]
pub(super) struct Track {
    /// First and last but one place at which k-mers begin that are together, ascending.
    runs: Vec<(u64, u64)>,
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

    /// k-mers of k bases that begin at so many places from `start` on, behind those before.
    pub(super) fn run(
        &mut self,
        start: u64,
        kmers: u64,
        k: u64,
        [bed, wig]: [&mut Output; 2],
    ) -> Result<(), Error> {
        match self.runs.last_mut() {
            Some(last) if last.1 == start => last.1 += kmers,
            Some(last) if start < last.1 + k - 1 => self.runs.push((start, start + kmers)),
            _ => {
                self.flush(k, [bed, wig])?;
                self.runs.push((start, start + kmers));
            }
        }
        Ok(())
    }

    /// Writes what overlaps, and what is left at a sequence's end.
    pub(super) fn flush(&mut self, k: u64, [bed, wig]: [&mut Output; 2]) -> Result<(), Error> {
        let (Some(&(start, _)), Some(&(_, end))) = (self.runs.first(), self.runs.last()) else {
            return Ok(());
        };
        // Behind the last base of the last k-mer.
        let end = end + k - 1;
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
        let (mut begun, mut ended) = (Steps::new(&self.runs), Steps::new(&self.runs));
        for at in start..end {
            let depth = begun.up_to(at) - at.checked_sub(k).map_or(0, |before| ended.up_to(before));
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
        self.runs.clear();
        Ok(())
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
