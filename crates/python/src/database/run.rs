//! Runs of classification with databases of both kinds.

use merganser_classify::Error;
use merganser_classify::{Outputs, RunConfig, run_with};
use merganser_io::OutputSet;
use merganser_kraken2::{Kraken2Config, Kraken2Database, Kraken2Outcome, run_with as run_kraken2};
use merganser_run::Context;

use super::files::Files;
use super::opened::Opened;
use crate::reads::Reads;

/// A run over some reads.
pub(super) struct Run<'r> {
    pub(super) config: &'r RunConfig,
    pub(super) context: &'r Context,
    pub(super) reads: &'r Reads,
}

impl Run<'_> {
    /// Classifies the reads and writes `outputs`.
    pub(super) fn records(&self, opened: &Opened, outputs: &mut Outputs<'_>) -> Result<(), Error> {
        let segments = &self.reads.segments;
        let records = match opened {
            Opened::Own(database) => {
                run_with(self.config, database, segments, outputs, self.context)?.records
            }
            Opened::Kraken2(database) => self.kraken2(database, outputs)?.records,
        };
        self.context.warnings.expect_reads(records);
        Ok(())
    }

    fn kraken2(
        &self,
        database: &Kraken2Database,
        outputs: &mut Outputs<'_>,
    ) -> Result<Kraken2Outcome, Error> {
        let (config, segments): (&Kraken2Config, _) = (&self.config.kraken2, &self.reads.segments);
        let context = self.context;
        Ok(run_kraken2(config, database, segments, outputs, context)?)
    }

    /// Classifies the reads and writes all files. Returns the text of the report.
    pub(super) fn files(&self, opened: &Opened, files: &Files) -> Result<Vec<u8>, Error> {
        let Run { config, context, reads } = *self;
        let (set, warnings) = (OutputSet::new(), &context.warnings);
        let mut open = files.open(&reads.segments, (&set, context.budget()))?;
        let (text, records) = match opened {
            Opened::Own(database) => {
                let mut outputs = open.streams();
                let segments = &reads.segments;
                let outcome = run_with(config, database, segments, &mut outputs, context)?;
                (files.write(&outcome, database, &set, warnings)?, outcome.records)
            }
            Opened::Kraken2(database) => {
                let mut outcome = self.kraken2(database, &mut open.streams())?;
                (files.write_kraken2(&mut outcome, database, &set, warnings)?, outcome.records)
            }
        };
        open.finish(context)?;
        set.commit()?;
        warnings.expect_reads(records);
        Ok(text)
    }
}
