//! The pages of a mapping.

use std::path::PathBuf;

use anyhow::Result;
use merganser_io::OutputSet;
use merganser_map::Error;
use merganser_report::data::Data;
use merganser_report::multiqc::Kind;
use merganser_run::thousands;

use super::Finished;
use super::job::Job;
use crate::args::map::MapArgs;
use crate::holds::Holds;
use crate::pages::{Pages, frame, inputs_of, mapping, parameter};

/// Returns the paths of a job's pages.
pub(super) fn paths(args: &MapArgs, job: &Job) -> Vec<(Holds, PathBuf)> {
    Pages::paths(&args.pages, Kind::Mapping, job.name.as_deref())
}

/// Creates the pages, and begins to take profiles of the reads.
///
/// # Errors
/// If one cannot be created.
pub(super) fn create(args: &MapArgs, job: &Job, set: &OutputSet) -> Result<Pages> {
    let pages = Pages::create(&args.pages, Kind::Mapping, job.name.as_deref(), set);
    let mut pages = pages.map_err(Error::from)?;
    pages.profile(inputs_of(&job.inputs), args.config.quality_offset);
    Ok(pages)
}

/// Writes the pages.
///
/// # Errors
/// If one cannot be written.
pub(super) fn write(finished: &Finished<'_>, job: &Job, pages: Pages) -> Result<()> {
    if Pages::is_wanted(&finished.args.pages) {
        pages.write(Kind::Mapping, of(finished, job))?;
    }
    Ok(())
}

fn of(finished: &Finished<'_>, job: &Job) -> Data {
    let (args, outcome) = (finished.args, finished.outcome);
    let sample = job.name.as_deref();
    let mut data = frame("map", &args.pages, sample, inputs_of(finished.inputs));
    let reference = args.reference.file_name().unwrap_or_default();
    data.parameters = vec![
        parameter("reference", reference.to_string_lossy()),
        parameter("threshold", args.config.threshold),
        parameter("hits", args.config.select),
        parameter("strand", args.config.strand),
        parameter("clip", args.config.clip),
    ];
    if outcome.reported.pairs > 0 {
        let [least, most] = outcome.inserts;
        let learned = outcome.insert_sizes.map_or(String::new(), |sizes| {
            format!(
                ", learned from {} pairs, median {}",
                thousands(sizes.pairs),
                sizes.quartiles[1]
            )
        });
        data.parameters.push(parameter("insert sizes", format!("{least} to {most}{learned}")));
    }
    if outcome.reported.reads == 0 {
        data.warnings.push("There are no reads in the input.".to_owned());
    }
    if outcome.reported.cut > 0 {
        let cut = outcome.reported.cut;
        data.warnings.push(format!("Hits of {cut} reads or pairs were left out (--max-hits)."));
    }
    data.mapping = Some(mapping::of(finished.index, outcome));
    data
}
