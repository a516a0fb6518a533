//! Profiles of sequences that come in stretches. The counts are stored, in a temporary file if there are many,
//! until their number and median are known, with which the output line begins.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use merganser_io::{Output, SpillFile, Stretch, put_decimal};
use merganser_run::locks::lock;

use crate::Error;

/// The size of counts that are kept in memory, in bytes.
const WAITING: usize = 4 << 20;
/// The number of bytes of stored counts that are read at a time.
const PIECE: usize = 1 << 20;
/// The number of values of half a count: the median is found by its upper 16 bits, then by its lower 16 bits.
const HALF: usize = 1 << 16;

/// Appends the encoded counts of a stretch of the record `name`, for [`LongProfiles::take`].
pub(super) fn encode(name: &[u8], stretch: Stretch, counts: &[u32], bytes: &mut Vec<u8>) {
    bytes.reserve(5 + name.len() + 4 * counts.len());
    bytes.push(u8::from(stretch.begins) | u8::from(stretch.ends) << 1);
    bytes.extend_from_slice(&(name.len() as u32).to_le_bytes());
    bytes.extend_from_slice(name);
    counts.iter().for_each(|count| bytes.extend_from_slice(&count.to_le_bytes()));
}

/// The profile that is being assembled; only one at a time.
pub(super) struct LongProfiles {
    folder: PathBuf,
    open: Mutex<Option<Open>>,
}

/// The state of the current record.
struct Open {
    name: Vec<u8>,
    kmers: u64,
    found: u64,
    /// The number of counts with each upper half.
    upper: Vec<u64>,
    /// The counts that are not in the file yet.
    waiting: Vec<u8>,
    /// The file with all earlier counts.
    file: SpillFile,
}

impl LongProfiles {
    /// Creates an empty state; counts are stored in `folder`.
    pub(super) fn new(folder: &Path) -> LongProfiles {
        LongProfiles { folder: folder.to_owned(), open: Mutex::new(None) }
    }

    /// Adds the counts of the next stretch; writes the record's line after the last one.
    ///
    /// # Errors
    /// If the counts or the line cannot be written.
    pub(super) fn take(&self, bytes: &[u8], output: &mut Output) -> Result<(), Error> {
        let mut open = lock(&self.open);
        let Some((&[flags, a, b, c, d], rest)) = bytes.split_first_chunk() else { return Ok(()) };
        let (name, counts) = rest.split_at(u32::from_le_bytes([a, b, c, d]) as usize);
        if flags & 1 != 0 {
            *open = Some(Open::new(name, &self.folder));
        }
        let Some(record) = open.as_mut() else { return Ok(()) };
        record.add(counts)?;
        if flags & 2 != 0 {
            record.write(output)?;
            *open = None;
        }
        Ok(())
    }
}

impl Open {
    fn new(name: &[u8], folder: &Path) -> Open {
        let (upper, waiting, file) = (vec![0; HALF], Vec::new(), SpillFile::new(folder));
        Open { name: name.to_vec(), kmers: 0, found: 0, upper, waiting, file }
    }

    fn add(&mut self, counts: &[u8]) -> Result<(), Error> {
        for count in numbers(counts) {
            self.kmers += 1;
            self.found += u64::from(count > 0);
            self.upper[count as usize / HALF] += 1;
        }
        self.waiting.extend_from_slice(counts);
        if self.waiting.len() >= WAITING {
            self.file.append(&self.waiting)?;
            self.waiting.clear();
        }
        Ok(())
    }

    /// Passes all counts to `take`, in the order of the k-mers.
    fn each(&self, mut take: impl FnMut(&[u8]) -> Result<(), Error>) -> Result<(), Error> {
        let (mut piece, mut at) = (Vec::new(), 0);
        while at < self.file.bytes() {
            piece.resize((self.file.bytes() - at).min(PIECE as u64) as usize, 0);
            self.file.read_at(at, &mut piece)?;
            take(&piece)?;
            at += piece.len() as u64;
        }
        self.waiting.chunks(PIECE).try_for_each(take)
    }

    /// Returns the median: the lower of the two middle counts if their number is even.
    fn median(&self) -> Result<u32, Error> {
        let (upper, left) = place(&self.upper, self.kmers.saturating_sub(1) / 2);
        let mut lower = vec![0; HALF];
        self.each(|counts| {
            let same = numbers(counts).filter(|&count| count as usize / HALF == upper);
            same.for_each(|count| lower[count as usize % HALF] += 1);
            Ok(())
        })?;
        Ok((upper * HALF + place(&lower, left).0) as u32)
    }

    fn write(&self, output: &mut Output) -> Result<(), Error> {
        let mut text = self.name.clone();
        for number in [self.kmers, self.found, self.median()?.into()] {
            text.push(b'\t');
            put_decimal(number, &mut text);
        }
        text.push(b'\t');
        let mut first = true;
        self.each(|counts| {
            for count in numbers(counts) {
                if !std::mem::take(&mut first) {
                    text.push(b',');
                }
                put_decimal(count.into(), &mut text);
            }
            output.write_all(&text)?;
            text.clear();
            Ok(())
        })?;
        Ok(output.write_all(b"\n")?)
    }
}

/// Decodes counts.
fn numbers(bytes: &[u8]) -> impl Iterator<Item = u32> {
    bytes.as_chunks().0.iter().map(|&count| u32::from_le_bytes(count))
}

/// Returns the value at `place` in the sorted list of all values, given the number of items with each value, and its
/// position among the equal ones.
fn place(values: &[u64], mut place: u64) -> (usize, u64) {
    for (value, &many) in values.iter().enumerate() {
        if place < many {
            return (value, place);
        }
        place -= many;
    }
    (0, 0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_median_is_the_lower_middle_one(
            mut counts in proptest::collection::vec(
                prop_oneof![0u32..4, Just(65_535), Just(65_536), any::<u32>()], 1..60),
            at in 0usize..60,
        ) {
            let mut open = Open::new(b"a", Path::new("."));
            let bytes: Vec<u8> = counts.iter().flat_map(|count| count.to_le_bytes()).collect();
            let (one, two) = bytes.split_at(4 * at.min(counts.len()));
            open.add(one).unwrap();
            open.add(two).unwrap();
            let found = open.median().unwrap();
            counts.sort_unstable();
            prop_assert_eq!(found, counts[(counts.len() - 1) / 2]);
        }
    }
}
