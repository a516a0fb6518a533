//! The rows of the table of commands that are attacked.

use std::env;
use std::ffi::OsString;

pub(crate) use merganser_test_support::commands::Row as Job;

use merganser_test_support::commands::ROWS;

/// What all attacked commands are to compute on, if it is not the processor.
pub(crate) fn device() -> Option<OsString> {
    env::var_os("MERGANSER_ATTACK_DEVICE")
}

/// What a job is to compute on, if it is not the processor.
pub(crate) fn device_of(job: &Job) -> Option<OsString> {
    device().filter(|_| job.takes_device())
}

/// All jobs: they read something, and write to `out/` alone.
pub(crate) fn jobs() -> Vec<&'static Job> {
    ROWS.iter().filter(|row| !row.is_apart()).collect()
}

/// The journal that a job goes on with, where a run has ended after two of three samples.
pub(crate) const JOURNAL: &str = "j";

/// Whether this is the job that goes on.
pub(crate) fn goes_on(job: &Job) -> bool {
    job.resumes() == Some(JOURNAL)
}
