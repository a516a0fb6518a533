//! `merganser kmers qv --range`.

use std::path::Path;

use anyhow::Result;
use merganser_assembly::{Config, Error, Subject, run_range};
use merganser_run::{Context, Shard, thousands};

use crate::console::Console;
use crate::files::RunFiles;
use crate::holds::Holds;

/// An evaluation with a range of the k-mers.
pub(super) struct Job<'j> {
    pub(super) config: &'j Config,
    pub(super) range: Shard,
    /// The name of the reads.
    pub(super) reads: &'j str,
    pub(super) output: &'j Path,
}

impl Job<'_> {
    pub(super) fn run(
        self,
        subject: Subject,
        files: RunFiles,
        context: &Context,
        console: &Console,
    ) -> Result<()> {
        let Job { config, range, reads, output } = self;
        let set = files.write(Holds::RANGE, [output]).check()?;
        let names: Vec<String> =
            subject.assemblies.iter().map(|assembly| assembly.name.clone()).collect();
        let judged = run_range(config, subject, range, reads, output, &set, context)?;
        set.commit_last().map_err(Error::from)?;
        for (name, only) in names.iter().zip(&judged.only) {
            let kmers = thousands(only.distinct);
            console.info(format_args!("{name}: {kmers} k-mers of range {range} are in no read"));
        }
        Ok(())
    }
}
