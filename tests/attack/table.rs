//! The command lines that are attacked.

use std::env;
use std::ffi::OsString;

pub(crate) use merganser_test_support::commands::Row as Job;

use merganser_test_support::commands::ROWS;

/// Returns the device that attacked commands use, if it is not the CPU.
pub(crate) fn device() -> Option<OsString> {
    env::var_os("MERGANSER_ATTACK_DEVICE")
}

/// Returns the device that a job uses, if it is not the CPU.
pub(crate) fn device_of(job: &Job) -> Option<OsString> {
    device().filter(|_| job.takes_device())
}

/// Whether a job is among those that are selected by a part of their command line.
pub(crate) fn is_selected(job: &Job) -> bool {
    job.line.contains(&env::var("MERGANSER_ATTACK_OF").unwrap_or_default())
}

/// Returns all jobs: lines that read files and write only to `out/`.
pub(crate) fn jobs() -> Vec<&'static Job> {
    ROWS.iter().filter(|row| !row.is_apart()).collect()
}

/// The journal of a job that continues a run that ended after two of three samples.
pub(crate) const JOURNAL: &str = "j";

/// Whether a job continues an earlier run.
pub(crate) fn goes_on(job: &Job) -> bool {
    job.resumes() == Some(JOURNAL)
}
