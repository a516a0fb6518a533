//! A profile of reads: their lengths, GC and, by position, bases and qualities.
//!
//! It is taken of the first records of an input, so it depends only on the input.

mod positions;

pub use positions::{PositionGroup, QualitySummary};

use std::collections::BTreeMap;

use crate::alignment::Formats;
use crate::{Chunk, Error, Input, Reader, ReaderOptions, Sink};
use merganser_run::Cancelled;
use positions::{Positions, code};

/// The maximum number of records of a profile.
pub const PROFILED_RECORDS: u64 = 200_000;
/// The number of bases after which no more records are added: 500 for each record, which short reads do not have. It
/// limits the time that long reads take.
pub const PROFILED_BASES: u64 = 100_000_000;
/// The maximum length of a read in bases. Longer sequences are those of a genome.
pub const LONGEST_READ: u64 = 5_000_000;
/// The number of bytes that are read at a time.
const CHUNK: usize = 256 << 10;
/// The maximum number of groups of lengths.
const GROUPS: u64 = 320;

/// A profile of the first records of an input.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ReadProfile {
    /// The number of records.
    pub records: u64,
    /// The number of their bases, with those that are not A, C, G or T.
    pub bases: u64,
    /// Whether these are all records of the input.
    pub is_whole: bool,
    /// The number of positions, and of lengths, of a group: 1 for reads of up to 320 bases.
    pub step: u64,
    /// The least length of a group, and the number of records of each group that has any, in order.
    pub lengths: Vec<(u64, u64)>,
    /// Percentages of G and C among A, C, G and T, rounded, and the number of records with each, in order. Records without
    /// such bases are left out.
    pub gc: Vec<(u64, u64)>,
    /// The groups of positions, in order, from the first base to the last one of the longest record.
    pub positions: Vec<PositionGroup>,
}

/// The reason why an input has no profile.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum NoProfile {
    /// A sequence, or its header, is too long for a read.
    #[error("a sequence has more than {LONGEST_READ} bases")]
    NoReads,
    /// The input cannot be read.
    #[error(transparent)]
    Input(Error),
    /// The work was cancelled.
    #[error(transparent)]
    Cancelled(#[from] Cancelled),
}

impl From<Error> for NoProfile {
    fn from(error: Error) -> NoProfile {
        match error {
            // The job may have room for more.
            Error::LongRecord { .. } | Error::LongLine { .. } | Error::LongHeader { .. } => {
                NoProfile::NoReads
            }
            other => NoProfile::Input(other),
        }
    }
}

impl ReadProfile {
    /// Takes the profile of an input, on the calling thread.
    ///
    /// It reads to the end of [`PROFILED_RECORDS`] records or of the record with base [`PROFILED_BASES`]. `options` are
    /// those of the job, and decide how the input is read; sizes and the number of workers are ignored.
    ///
    /// # Errors
    /// If the input cannot be read up to there, has a sequence of more than [`LONGEST_READ`] bases, or the work is
    /// cancelled.
    pub fn of_input<F: Formats>(
        input: &Input,
        options: ReaderOptions<F>,
    ) -> Result<ReadProfile, NoProfile> {
        let cancel = options.cancel.clone();
        let max_record = 3 * LONGEST_READ as usize;
        let options =
            ReaderOptions { chunk_bytes: CHUNK, overlap: 0, workers: 1, max_record, ..options };
        let reader = Reader::open(std::slice::from_ref(input), options)?;
        let (mut chunk, mut profiler) = (Chunk::default(), Profiler::default());
        while !profiler.is_full && reader.next_chunk(&mut chunk)? {
            cancel.check()?;
            chunk.parse(&mut profiler)?;
            if profiler.is_too_long() {
                return Err(NoProfile::NoReads);
            }
        }
        cancel.check()?;
        Ok(profiler.finish())
    }
}

/// Counts the records of an input in their order.
#[derive(Default)]
struct Profiler {
    records: u64,
    bases: u64,
    /// Whether no more records are added.
    is_full: bool,
    lengths: BTreeMap<u64, u64>,
    gc: BTreeMap<u64, u64>,
    positions: Positions,
    /// The record whose end is not known yet.
    open: Option<OpenRecord>,
    /// Whether a record was too long for a read.
    was_too_long: bool,
}

#[derive(Default)]
struct OpenRecord {
    length: u64,
    /// The number of bases that are A or T, and that are C or G.
    of: [u64; 2],
}

impl Profiler {
    fn is_too_long(&self) -> bool {
        self.was_too_long || self.open.as_ref().is_some_and(|open| open.length > LONGEST_READ)
    }

    /// Counts the open record, which has ended.
    fn close(&mut self) {
        let Some(OpenRecord { length, of: [at, gc] }) = self.open.take() else { return };
        if length > LONGEST_READ {
            self.was_too_long = true;
            return;
        }
        self.records += 1;
        self.bases += length;
        *self.lengths.entry(length).or_default() += 1;
        if at + gc > 0 {
            let percent = (200 * gc + at + gc) / (2 * (at + gc));
            *self.gc.entry(percent).or_default() += 1;
        }
    }

    fn finish(mut self) -> ReadProfile {
        self.close();
        let longest = self.lengths.last_key_value().map_or(0, |(&length, _)| length);
        let step = step(longest);
        let mut lengths = BTreeMap::new();
        for (length, records) in self.lengths {
            *lengths.entry(length / step * step).or_default() += records;
        }
        ReadProfile {
            records: self.records,
            bases: self.bases,
            is_whole: !self.is_full,
            step,
            lengths: lengths.into_iter().collect(),
            gc: self.gc.into_iter().collect(),
            positions: self.positions.groups(longest, step),
        }
    }
}

impl Sink for Profiler {
    fn begin(&mut self, _header: &[u8]) {
        self.close();
        self.is_full |= self.records == PROFILED_RECORDS || self.bases >= PROFILED_BASES;
        self.open = (!self.is_full).then(OpenRecord::default);
    }

    fn resume(&mut self) {}

    fn sequence(&mut self, line: &[u8], quality: Option<&[u8]>) {
        let Some(open) = self.open.as_mut().filter(|open| open.length <= LONGEST_READ) else {
            return;
        };
        self.positions.add(open.length, line, quality);
        open.length += line.len() as u64;
        for &letter in line {
            match code(letter) {
                0 | 3 => open.of[0] += 1,
                1 | 2 => open.of[1] += 1,
                _ => {}
            }
        }
    }

    fn end(&mut self) {}

    /// Qualities are counted as they are: a job that does not use them accepts any bytes, and its profile must not fail.
    fn uses_qualities(&self) -> bool {
        false
    }
}

/// Returns the number of positions of a group: the smallest of 1, 2, 5, 10, 20 … that makes at most [`GROUPS`] groups and
/// is a multiple of what is counted together at these positions.
fn step(longest: u64) -> u64 {
    let least = positions::width(longest.saturating_sub(1));
    let steps = (0..).map(|at| [1, 2, 5][at % 3] * 10u64.pow(at as u32 / 3));
    steps.into_iter().find(|&step| step >= least && longest <= GROUPS * step).unwrap_or(least)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SequencesOnly;
    use proptest::prelude::*;

    /// A read: letters, and qualities as letters.
    type Read = (Vec<u8>, Vec<u8>);

    /// Counts reads by the definition of a profile.
    fn plain(reads: &[Read], step: u64, has_qualities: bool) -> ReadProfile {
        let longest = reads.iter().map(|(letters, _)| letters.len()).max().unwrap_or(0) as u64;
        let (mut lengths, mut gc) = (BTreeMap::new(), BTreeMap::new());
        for (letters, _) in reads {
            *lengths.entry(letters.len() as u64 / step * step).or_default() += 1;
            let of = |bases: &[u8]| letters.iter().filter(|letter| bases.contains(letter)).count();
            let (strong, all) = (of(b"GCgc"), of(b"ACGTUacgtu"));
            if all > 0 {
                let percent = (100.0 * strong as f64 / all as f64 + 1e-9).round() as u64;
                *gc.entry(percent).or_default() += 1;
            }
        }
        let group = |from: u64| {
            let to = (from + step).min(longest);
            let of = |read: &'_ Read, which: usize| -> Vec<u8> {
                let bytes = if which == 0 { &read.0 } else { &read.1 };
                let length = bytes.len();
                bytes[length.min(from as usize)..length.min(to as usize)].to_vec()
            };
            let letters: Vec<u8> = reads.iter().flat_map(|read| of(read, 0)).collect();
            let mut qualities: Vec<u8> = reads.iter().flat_map(|read| of(read, 1)).collect();
            qualities.iter_mut().for_each(|letter| *letter -= b'!');
            qualities.sort_unstable();
            let count = |bases: &[u8]| {
                letters.iter().filter(|letter| bases.contains(letter)).count() as u64
            };
            let [a, c, g, t] = [&b"Aa"[..], b"Cc", b"Gg", b"TtUu"].map(count);
            let at = |quarter: usize| qualities[(qualities.len() * quarter).div_ceil(4) - 1];
            PositionGroup {
                from: from + 1,
                to,
                bases: [a, c, g, t, letters.len() as u64 - a - c - g - t],
                quality: has_qualities.then(|| QualitySummary {
                    sum: qualities.iter().map(|&quality| u64::from(quality)).sum(),
                    quartiles: [at(1), at(2), at(3)],
                }),
            }
        };
        ReadProfile {
            records: reads.len() as u64,
            bases: reads.iter().map(|(letters, _)| letters.len() as u64).sum(),
            is_whole: true,
            step,
            lengths: lengths.into_iter().collect(),
            gc: gc.into_iter().collect(),
            positions: (0..longest).step_by(step as usize).map(group).collect(),
        }
    }

    /// Returns the profile of a file.
    fn of_text(text: &[u8]) -> Result<ReadProfile, NoProfile> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("reads");
        std::fs::write(&path, text).unwrap();
        ReadProfile::of_input::<SequencesOnly>(&Input::File(path), ReaderOptions::default())
    }

    fn fastq(reads: &[Read]) -> Vec<u8> {
        reads
            .iter()
            .flat_map(|(letters, quality)| {
                [b"@r\n", &letters[..], b"\n+\n", quality, b"\n"].concat()
            })
            .collect()
    }

    fn fasta(reads: &[Read], width: usize) -> Vec<u8> {
        let record = |(letters, _): &Read| {
            let lines = letters.chunks(width).flat_map(|line| [line, b"\n"].concat());
            b">r\n".iter().copied().chain(lines).collect::<Vec<_>>()
        };
        reads.iter().flat_map(record).collect()
    }

    fn reads(longest: usize) -> impl Strategy<Value = Vec<Read>> {
        let letter = prop::sample::select(b"ACGTacgtNUuR".to_vec());
        let read = prop::collection::vec((letter, b'!'..=b'~'), 1..longest)
            .prop_map(|read| read.into_iter().unzip());
        prop::collection::vec(read, 1..30)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(32))]

        #[test]
        fn short_reads_are_counted_by_position(reads in reads(321), width in 1usize..90) {
            prop_assert_eq!(of_text(&fastq(&reads)).unwrap(), plain(&reads, 1, true));
            prop_assert_eq!(of_text(&fasta(&reads, width)).unwrap(), plain(&reads, 1, false));
        }

        #[test]
        fn long_reads_are_counted_in_groups(reads in reads(25_000)) {
            let longest = reads.iter().map(|read| read.0.len()).max().unwrap() as u64;
            let step = step(longest);
            prop_assert!(longest.div_ceil(step) <= GROUPS);
            prop_assert_eq!(of_text(&fastq(&reads)).unwrap(), plain(&reads, step, true));
            prop_assert_eq!(of_text(&fasta(&reads, 70)).unwrap(), plain(&reads, step, false));
        }
    }

    #[test]
    fn groups_of_positions_are_whole() {
        let steps = [0, 1, 320, 321, 640, 1_001, 10_000, 10_001, 99_999, 5_000_000].map(step);
        assert_eq!(steps, [1, 1, 1, 2, 2, 10, 50, 100, 500, 20_000]);
        for longest in [900u64, 1_000, 1_001, 3_200, 9_999, 10_001, 123_456, 1_000_001] {
            assert_eq!(step(longest) % positions::width(longest - 1), 0, "{longest}");
        }
    }

    #[test]
    fn a_profile_is_of_the_first_records() {
        let one: Read = (b"ACGTN".to_vec(), b"IIII#".to_vec());
        let mut text = fastq(&vec![one.clone(); PROFILED_RECORDS as usize]);
        let whole = of_text(&text).unwrap();
        assert_eq!((whole.records, whole.is_whole), (PROFILED_RECORDS, true));
        // Later records are not counted.
        text.extend(b"@r\nTTTTTTTT\n+\nIIIIIIII\n".repeat(9));
        let part = of_text(&text).unwrap();
        assert_eq!(part, ReadProfile { is_whole: false, ..whole });
        assert_eq!(part.gc, [(50, PROFILED_RECORDS)]);
    }

    #[test]
    fn genomes_have_no_profile() {
        let line = [&b"ACGT".repeat(20)[..], b"\n"].concat();
        let genome = [b">chr1\n", &line.repeat(LONGEST_READ as usize / 80 + 1)[..]].concat();
        assert!(matches!(of_text(&genome), Err(NoProfile::NoReads)));
        // Also if the sequence ends in the chunk in which it becomes too long.
        let plasmid = [&genome[..], b">plasmid\nACGT\n"].concat();
        assert!(matches!(of_text(&plasmid), Err(NoProfile::NoReads)));
        let long = vec![b'A'; 3 * LONGEST_READ as usize];
        assert!(matches!(of_text(&fastq(&[(long.clone(), long)])), Err(NoProfile::NoReads)));
        assert!(matches!(of_text(b"@r\nAC\n+\nI\n"), Err(NoProfile::Input(_))));
        let empty = of_text(b"").unwrap();
        assert_eq!((empty.records, empty.positions.len(), empty.step), (0, 0, 1));
    }
}
