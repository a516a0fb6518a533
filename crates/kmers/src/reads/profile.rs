//! Lists the count of each k-mer along reads.

use merganser_io::{Input, Output, ReadInput};

use super::Job;
use super::batch::{self, OfReads, Read};
use super::long_profile::{LongProfiles, encode};
use crate::Error;

/// The results of a profile.
#[derive(Clone, Copy, Debug, Default)]
#[non_exhaustive]
pub struct Profiled {
    /// The number of reads.
    pub reads: u64,
    /// The number of their k-mers.
    pub kmers: u64,
    /// The number of their k-mers that the table has.
    pub found: u64,
    /// The number of secondary and supplementary alignments that were skipped.
    pub skipped_alignments: u64,
}

/// Writes a line for each read of `inputs`, in the order of the input: its name, its number of k-mers, the number that
/// the table has, the median of their counts, and all counts, separated by commas. The count is 0 for k-mers
/// that the table does not have, and for those with a letter that is not a base.
///
/// The progress stage is `looking up`, in bytes of input.
///
/// # Errors
/// If an input is invalid, or an output cannot be written.
pub fn profile(job: Job<'_>, inputs: &[Input], output: &mut Output) -> Result<Profiled, Error> {
    let segments: Vec<ReadInput> = inputs.iter().cloned().map(ReadInput::Single).collect();
    let outputs = std::slice::from_mut(output);
    let lines = Lines { long: LongProfiles::new(&job.context.temp_dir) };
    let done = batch::run(job, &lines, &segments, "looking up", outputs)?;
    let none = Profiled { skipped_alignments: done.skipped, ..Profiled::default() };
    let profiled = done.tallies.into_iter().fold(none, |sum, part| Profiled {
        reads: sum.reads + part.reads,
        kmers: sum.kmers + part.kmers,
        found: sum.found + part.found,
        ..sum
    });
    job.context.warnings.expect_reads(profiled.reads);
    Ok(profiled)
}

struct Lines {
    long: LongProfiles,
}

impl OfReads for Lines {
    type Tally = Profiled;

    /// Returns 2: the lines, and the counts of a stretch.
    fn texts(&self) -> usize {
        2
    }

    fn takes_stretches(&self) -> bool {
        true
    }

    /// Returns the copies for counts as text.
    fn more_copies(&self) -> u64 {
        4
    }

    fn settle(&self, texts: &mut [Vec<u8>], outputs: &mut [Output]) -> Result<(), Error> {
        match &*texts[1] {
            [] => Ok(()),
            counts => self.long.take(counts, &mut outputs[0]),
        }
    }

    fn unit(
        &self,
        reads: &mut [Read<'_>],
        texts: &mut [Vec<u8>],
        done: &mut Profiled,
    ) -> Result<(), Error> {
        for read in reads {
            match read.stretch {
                None => line(read, done, &mut texts[0]),
                Some(stretch) => {
                    let Read { record, counts, .. } = read;
                    done.reads += u64::from(stretch.ends);
                    done.kmers += counts.len() as u64;
                    done.found += counts.iter().filter(|&&count| count > 0).count() as u64;
                    encode(record.name, stretch, counts, &mut texts[1]);
                }
            }
        }
        Ok(())
    }
}

fn line(read: &mut Read<'_>, done: &mut Profiled, text: &mut Vec<u8>) {
    let Read { record, counts, .. } = read;
    let found = counts.iter().filter(|&&count| count > 0).count();
    done.reads += 1;
    done.kmers += counts.len() as u64;
    done.found += found as u64;
    text.extend_from_slice(record.name);
    text.push(b'\t');
    let mut listed = Vec::with_capacity(4 * counts.len());
    for (at, count) in counts.iter().enumerate() {
        if at > 0 {
            listed.push(b',');
        }
        merganser_io::put_decimal(u64::from(*count), &mut listed);
    }
    // The median is the lower of the two middle counts if their number is even.
    let middle = counts.len().saturating_sub(1) / 2;
    let median = match counts.is_empty() {
        true => 0,
        false => *counts.select_nth_unstable(middle).1,
    };
    text.extend_from_slice(format!("{}\t{found}\t{median}\t", counts.len()).as_bytes());
    text.extend_from_slice(&listed);
    text.push(b'\n');
}
