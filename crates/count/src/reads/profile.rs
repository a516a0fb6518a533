//! The count of each k-mer along reads.

use std::io::Write;

use merganser_io::{Input, Output};
use merganser_run::{Cancel, Progress, run_workers_collect};

use super::index::Lookup;
use super::records::{Record, Records};
use crate::Error;

/// What was listed.
#[derive(Clone, Copy, Debug, Default)]
#[non_exhaustive]
pub struct Profiled {
    /// Reads.
    pub reads: u64,
    /// Their k-mers,
    pub kmers: u64,
    /// and those of them that the table has.
    pub found: u64,
}

/// Writes a line for each read of `inputs`, in order: its name, its number of k-mers, how many of
/// them the table has, the median of their counts, and all counts with commas between them; 0 for
/// k-mers that the table has not, and those with a letter that is no base.
///
/// Progress stage: `looking up`, in bytes of input.
///
/// # Errors
/// Bad input, an output that cannot be written.
pub fn profile(
    lookup: &dyn Lookup,
    inputs: &[Input],
    threads: usize,
    output: &mut Output,
    progress: &dyn Progress,
    cancel: &Cancel,
) -> Result<Profiled, Error> {
    let mut source = Records::open(inputs, cancel)?;
    progress.stage("looking up", source.bytes_total());
    let mut all = Profiled::default();
    let mut records = Vec::new();
    let mut bytes = 0;
    while source.next(&mut records, &mut bytes)? {
        if cancel.is_cancelled() {
            return Err(Error::Cancelled);
        }
        progress.advance(std::mem::take(&mut bytes));
        let share = records.len().div_ceil(threads).max(1);
        let shares: Vec<&[Record]> = records.chunks(share).collect();
        let parts = run_workers_collect(shares.len(), |number| {
            let mut done = Profiled::default();
            let (mut text, mut counts) = (Vec::new(), Vec::new());
            for record in shares[number] {
                lookup.counts(&record.sequence, &mut counts);
                line(record, &mut counts, &mut done, &mut text);
            }
            Ok::<_, Error>((text, done))
        })?;
        for (text, done) in parts {
            output.write_all(&text)?;
            all.reads += done.reads;
            all.kmers += done.kmers;
            all.found += done.found;
        }
        records.clear();
    }
    Ok(all)
}

fn line(record: &Record, counts: &mut [u32], done: &mut Profiled, text: &mut Vec<u8>) {
    let found = counts.iter().filter(|&&count| count > 0).count();
    done.reads += 1;
    done.kmers += counts.len() as u64;
    done.found += found as u64;
    text.extend_from_slice(record.id());
    text.push(b'\t');
    let mut listed = Vec::with_capacity(4 * counts.len());
    for (at, count) in counts.iter().enumerate() {
        if at > 0 {
            listed.push(b',');
        }
        crate::text::write_number(*count, &mut listed);
    }
    // The lower of the middle two, so that it is a count.
    let middle = counts.len().saturating_sub(1) / 2;
    let median = match counts.is_empty() {
        true => 0,
        false => *counts.select_nth_unstable(middle).1,
    };
    text.extend_from_slice(format!("{}\t{found}\t{median}\t", counts.len()).as_bytes());
    text.extend_from_slice(&listed);
    text.push(b'\n');
}
