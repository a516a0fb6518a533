//! Files that a sheet has more than once.

use std::collections::HashMap;
use std::path::Path;

use anyhow::{Result, bail};
use merganser_io::{FileIdentity, Input, ReadInput};

use super::sheet::SampleRows;
use crate::console::Console;
use merganser_run::thousands;

/// Returns the identity of a file; `None` for pipes and devices, which may be read more than once. Reading a file reports
/// that the disk fails.
fn identity(input: &Input) -> Option<FileIdentity> {
    FileIdentity::of(input.path()?).ok().flatten()
}

/// The number of repeats, and a description of the first.
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

    /// Describes the number of repeats and the first one.
    fn words(&self, one: &str, more: &str) -> Option<String> {
        match self.count {
            0 => None,
            1 => Some(format!("1 row {one}: {}", self.first)),
            count => Some(format!("{} rows {more}, first {}", thousands(count), self.first)),
        }
    }
}

/// Returns the samples of the sheet `path` without rows that repeat an earlier one of the same sample. Warns of these,
/// and of rows that another sample has, too. Files that are in several rows are reported when they are read.
///
/// # Errors
/// If a file is given as both mates.
pub(super) fn settle(
    path: &Path,
    samples: Vec<SampleRows>,
    console: &Console,
) -> Result<Vec<SampleRows>> {
    let (mut own, mut others) = (Repeats::default(), Repeats::default());
    // The sample and the line of the first row with these files.
    let mut seen: HashMap<Vec<FileIdentity>, (usize, usize)> = HashMap::new();
    let mut kept = Vec::new();
    for (sample, mut rows) in samples.into_iter().enumerate() {
        let mut of_sample = Vec::new();
        for (line, segment) in std::mem::take(&mut rows.reads) {
            let identities: Option<Vec<FileIdentity>> = segment.inputs().map(identity).collect();
            let Some(mut identities) = identities else {
                of_sample.push((line, segment));
                continue;
            };
            if let (ReadInput::Pair(one, _), [first, second]) = (&segment, &identities[..])
                && first == second
            {
                let sheet = path.display();
                bail!("{sheet}: line {line}: {one} is given as first and as second mates");
            }
            identities.sort_unstable();
            let (first, before) = *seen.entry(identities).or_insert((sample, line));
            let words = || format!("line {line}, which has the reads of line {before}");
            match (first == sample, before == line) {
                (true, true) => {}
                (true, false) => {
                    // Haplotypes may be in rows of their own.
                    if !rows.new_assemblies.contains(&line) {
                        own.add(words);
                    }
                    continue;
                }
                (false, _) => others.add(words),
            }
            of_sample.push((line, segment));
        }
        rows.reads = of_sample;
        kept.push(rows);
    }
    let sheet = path.display();
    if let Some(rows) = own.words("is repeated", "are repeated") {
        console.warn(format_args!("{sheet}: {rows}: left out, so that reads count once"));
    }
    if let Some(rows) = others.words("belongs to two samples", "belong to two samples") {
        console.warn(format_args!("{sheet}: {rows}: does each sample have its own files?"));
    }
    Ok(kept)
}
