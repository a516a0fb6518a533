//! Writes reads to files, divided at random.

use std::fmt::Write;
use std::path::{Path, PathBuf};

use merganser_io::{Input, ReadInput};

use merganser_test_random::Random;

/// Reads as pairs of mates. The second mates are ignored for single reads.
pub(crate) type Reads = Vec<[Vec<u8>; 2]>;

/// Writes reads as pairs or single reads, named by their position in all reads, which is `from` for the first.
pub(crate) fn write(reads: &[[Vec<u8>; 2]], from: usize, paired: bool, stem: &Path) -> ReadInput {
    let file = |mate: usize| {
        let mut text = String::new();
        for (at, read) in reads.iter().enumerate() {
            let letters = String::from_utf8_lossy(&read[mate]);
            writeln!(text, ">r{}\n{letters}", from + at).unwrap();
        }
        let path = stem.with_extension(format!("{mate}.fa"));
        std::fs::write(&path, text).unwrap();
        Input::File(path)
    };
    if paired { ReadInput::Pair(file(0), file(1)) } else { ReadInput::Single(file(0)) }
}

/// Writes reads to one to five inputs, some of which may be empty.
pub(crate) fn divide(
    reads: &Reads,
    paired: bool,
    folder: &Path,
    random: &mut Random,
) -> Vec<ReadInput> {
    let parts = 1 + random.below(5);
    let mut cuts: Vec<usize> = (1..parts).map(|_| random.below(reads.len() + 1)).collect();
    cuts.extend([0, reads.len()]);
    cuts.sort_unstable();
    let part = |(at, ends): (usize, &[usize])| {
        write(&reads[ends[0]..ends[1]], ends[0], paired, &folder.join(format!("part{at}")))
    };
    cuts.windows(2).enumerate().map(part).collect()
}

/// Shuffles paths.
pub(crate) fn shuffled(mut paths: Vec<PathBuf>, random: &mut Random) -> Vec<PathBuf> {
    for at in (1..paths.len()).rev() {
        paths.swap(at, random.below(at + 1));
    }
    paths
}
