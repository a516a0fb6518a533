//! Files that a sheet gives more than once.

use std::collections::HashMap;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use anyhow::{Result, bail};
use merganser_io::{Input, Segment};

use super::Sample;
use super::sheet::SampleRows;
use crate::console::Console;
use merganser_run::thousands;

/// What makes a file the same by whatever name.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Identity {
    /// Device and inode.
    File(u64, u64),
    /// The name of what is not there.
    Name(PathBuf),
}

/// The identity of a file; none of pipes and devices, which may be read more than once.
fn identity(input: &Input) -> Option<Identity> {
    let path = input.path()?;
    match fs::metadata(path) {
        Ok(there) => there.is_file().then(|| Identity::File(there.dev(), there.ino())),
        Err(_) => Some(Identity::Name(path.to_owned())),
    }
}

/// Repeats of something, the first of them in words.
#[derive(Debug, Default)]
struct Repeats {
    count: u64,
    first: String,
}

impl Repeats {
    fn add(&mut self, what: impl FnOnce() -> String) {
        if self.count == 0 {
            self.first = what();
        }
        self.count += 1;
    }
}

/// The samples of the sheet `path`, without rows that repeat an earlier one of their sample, with warnings
/// of these and of files that are in several rows.
///
/// # Errors
/// If a file is given as both mates.
pub(super) fn settle(
    path: &Path,
    samples: Vec<SampleRows>,
    console: &Console,
) -> Result<Vec<Sample>> {
    let (mut rows, mut files) = (Repeats::default(), Repeats::default());
    let mut seen: HashMap<Identity, usize> = HashMap::new();
    let mut kept = Vec::new();
    for (name, segments) in samples {
        let mut own: HashMap<Vec<Identity>, usize> = HashMap::new();
        let mut of_sample = Vec::new();
        for (line, segment) in segments {
            let mut identities: Vec<Identity> = segment.inputs().filter_map(identity).collect();
            let is_whole = identities.len() == segment.inputs().count();
            if let (Segment::Pair(one, _), [first, second]) = (&segment, &identities[..])
                && first == second
            {
                let (sheet, one) = (path.display(), one);
                bail!("{sheet}: line {line}: {one} is given as first and as second mates");
            }
            identities.sort_unstable();
            if let Some(before) = own.get(&identities).filter(|_| is_whole) {
                rows.add(|| format!("line {line}, which has the reads of line {before}"));
                continue;
            }
            for (input, identity) in segment.inputs().filter_map(|at| Some((at, identity(at)?))) {
                if let Some(before) = seen.insert(identity, line) {
                    files.add(|| format!("{input} in lines {before} and {line}"));
                }
            }
            own.insert(identities, line);
            of_sample.push(segment);
        }
        kept.push((name, of_sample));
    }
    warn(path, &rows, &files, console);
    Ok(kept)
}

fn warn(path: &Path, rows: &Repeats, files: &Repeats, console: &Console) {
    let (sheet, is_one) = (path.display(), |repeats: &Repeats| repeats.count == 1);
    if rows.count > 0 {
        console.warn(format_args!(
            "{sheet}: {} repeated and left out, so that reads count once: {}{}",
            if is_one(rows) {
                "1 row is".to_owned()
            } else {
                format!("{} rows are", thousands(rows.count))
            },
            if is_one(rows) { "" } else { "first " },
            rows.first
        ));
    }
    if files.count > 0 {
        console.warn(format_args!(
            "{sheet}: {} given in more than one row: {}{}: are the rows right?",
            if is_one(files) {
                "1 file is".to_owned()
            } else {
                format!("{} files are", thousands(files.count))
            },
            if is_one(files) { "" } else { "first " },
            files.first
        ));
    }
}
