//! The inputs of jobs, in two sizes.

use std::fs;
use std::path::PathBuf;
use std::process::Stdio;

use crate::table::{JOURNAL, Job, goes_on, jobs};
use merganser_test_support::program;
use merganser_test_support::world::{self, SMALL, Size, names_below};

/// The size of the inputs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Scale {
    /// Hundreds of reads: each run takes some hundredths of a second.
    Small,
    /// Tens of thousands of reads, so that signals arrive while a run is working.
    Large,
}

impl Scale {
    fn size(self) -> Size {
        match self {
            Scale::Small => SMALL,
            Scale::Large => Size { bases: 250_000, reads: 50_000 },
        }
    }
}

/// A folder with all inputs.
#[derive(Debug)]
pub(crate) struct World(PathBuf);

impl World {
    /// Creates the folder and all files in it.
    pub(crate) fn make(folder: PathBuf, scale: Scale) -> World {
        world::make(&folder, scale.size(), jobs());
        let job = jobs().into_iter().find(|job| goes_on(job)).unwrap();
        let ran = program().args(job.args()).current_dir(&folder).stdin(Stdio::null()).status();
        assert!(ran.unwrap().success(), "{}", job.line);
        let world = World(folder);
        world.stop_after_two_samples();
        world
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    /// Changes the files as if the run with a journal had been killed before its last sample.
    fn stop_after_two_samples(&self) {
        let journal = fs::read_to_string(self.path(JOURNAL)).unwrap();
        let lines: Vec<&str> = journal.lines().collect();
        assert_eq!(lines.len(), 3, "{journal}");
        fs::write(self.path(JOURNAL), format!("{}\n{}\n", lines[0], lines[1])).unwrap();
        for name in ["out/both.tsv", "out/both.kreport"] {
            fs::remove_file(self.path(name)).unwrap();
        }
    }

    /// Returns the outputs of samples that are finished before a job begins, by relative name.
    pub(crate) fn done(&self, job: &Job) -> Vec<String> {
        match goes_on(job) {
            true => {
                names_below(&self.path("out")).iter().map(|name| format!("out/{name}")).collect()
            }
            false => Vec::new(),
        }
    }

    /// Returns the files that a job reads, by relative name.
    pub(crate) fn inputs(&self, job: &Job) -> Vec<String> {
        job.inputs(&self.0)
    }
}
