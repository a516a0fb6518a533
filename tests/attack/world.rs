//! The files that jobs read, of two sizes.

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use crate::table::{JOURNAL, Job, goes_on, jobs};
use merganser_test_support::MERGANSER;
use merganser_test_support::world::{self, SMALL, Size, names_below};

/// How large.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Scale {
    /// Hundreds of reads: a run takes some hundredths of a second.
    Small,
    /// Tens of thousands, so that there is something to do while signals come.
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

/// A folder with all files.
#[derive(Debug)]
pub(crate) struct World(PathBuf);

impl World {
    /// Makes a folder of this name and all files in it.
    pub(crate) fn make(folder: PathBuf, scale: Scale) -> World {
        world::make(&folder, scale.size(), jobs());
        let job = jobs().into_iter().find(|job| goes_on(job)).unwrap();
        let ran = Command::new(MERGANSER)
            .args(job.args())
            .current_dir(&folder)
            .stdin(Stdio::null())
            .status();
        assert!(ran.unwrap().success(), "{}", job.line);
        let world = World(folder);
        world.stop_after_two_samples();
        world
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    /// As if the run with a journal had been killed before its last sample.
    fn stop_after_two_samples(&self) {
        let journal = fs::read_to_string(self.path(JOURNAL)).unwrap();
        let lines: Vec<&str> = journal.lines().collect();
        assert_eq!(lines.len(), 3, "{journal}");
        fs::write(self.path(JOURNAL), format!("{}\n{}\n", lines[0], lines[1])).unwrap();
        for name in ["out/both.tsv", "out/both.kreport"] {
            fs::remove_file(self.path(name)).unwrap();
        }
    }

    /// The outputs of samples that are done before a job begins, by names in the folder.
    pub(crate) fn done(&self, job: &Job) -> Vec<String> {
        match goes_on(job) {
            true => {
                names_below(&self.path("out")).iter().map(|name| format!("out/{name}")).collect()
            }
            false => Vec::new(),
        }
    }

    /// The files that a job reads, by names in the folder.
    pub(crate) fn inputs(&self, job: &Job) -> Vec<String> {
        job.inputs(&self.0)
    }
}
