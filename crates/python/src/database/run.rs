//! Runs of classification with databases of both kinds.

use merganser::classify::Error;
use merganser::classify::kraken2::{
    Kraken2Config, Kraken2Database, Kraken2Outcome, classify as classify_kraken2,
};
use merganser::classify::run::{Outputs, RunConfig, classify};
use merganser::io::OutputSet;
use merganser::run::{Cancel, Progress, Resources, Warnings};

use super::files::Files;
use super::opened::Opened;
use crate::reads::Reads;

/// A run over some reads.
pub(super) struct Run<'r> {
    pub(super) config: &'r RunConfig,
    pub(super) resources: &'r Resources,
    pub(super) reads: &'r Reads,
}

impl Run<'_> {
    /// Classifies the reads and writes `outputs`.
    pub(super) fn records(
        &self,
        opened: &Opened,
        outputs: &mut Outputs<'_>,
        progress: &dyn Progress,
        cancel: &Cancel,
    ) -> Result<(), Error> {
        let segments = &self.reads.segments;
        let records = match opened {
            Opened::Own(database) => {
                classify(
                    self.config,
                    self.resources,
                    database,
                    segments,
                    outputs,
                    progress,
                    cancel,
                )?
                .records
            }
            Opened::Kraken2(database) => self.kraken2(database, outputs, progress, cancel)?.records,
        };
        warn_of_none(records, &self.resources.warnings);
        Ok(())
    }

    fn kraken2(
        &self,
        database: &Kraken2Database,
        outputs: &mut Outputs<'_>,
        progress: &dyn Progress,
        cancel: &Cancel,
    ) -> Result<Kraken2Outcome, Error> {
        let (config, segments): (&Kraken2Config, _) = (&self.config.kraken2, &self.reads.segments);
        let resources = self.resources;
        Ok(classify_kraken2(config, resources, database, segments, outputs, progress, cancel)?)
    }

    /// Classifies the reads and writes all files. Returns the text of the report.
    pub(super) fn files(
        &self,
        opened: &Opened,
        files: &Files,
        progress: &dyn Progress,
        cancel: &Cancel,
    ) -> Result<Vec<u8>, Error> {
        let Run { config, resources, reads } = *self;
        let (set, warnings) = (OutputSet::new(), &resources.warnings);
        let mut open = files.open(&set)?;
        let (text, records) = match opened {
            Opened::Own(database) => {
                let mut outputs = open.streams();
                let segments = &reads.segments;
                let outcome = classify(
                    config,
                    resources,
                    database,
                    segments,
                    &mut outputs,
                    progress,
                    cancel,
                )?;
                (files.write(&outcome, database, &set, warnings)?, outcome.records)
            }
            Opened::Kraken2(database) => {
                let mut outcome = self.kraken2(database, &mut open.streams(), progress, cancel)?;
                (files.write_kraken2(&mut outcome, database, &set, warnings)?, outcome.records)
            }
        };
        open.finish()?;
        set.commit()?;
        warn_of_none(records, warnings);
        Ok(text)
    }
}

/// Warns if a run had no reads.
fn warn_of_none(records: u64, warnings: &Warnings) {
    if records == 0 {
        warnings.push("there are no reads in the input");
    }
}
