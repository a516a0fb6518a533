//! Where one attack happens: a folder with the inputs of a job and empty `out/` and `tmp/`, where the program
//! runs, and beside it what it prints.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::{self, File, Metadata};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use tempfile::TempDir;

use crate::launch::Launch;
use crate::table::{Job, device_of};
use crate::world::World;
use merganser_test_support::world::names_below;

/// A folder for odd things, which attacks make.
pub(crate) const ODD: &str = "odd";

pub(crate) struct Scene {
    folder: TempDir,
    /// Names of inputs, and what they were.
    inputs: BTreeMap<String, Stamp>,
    pub(crate) job: &'static Job,
}

/// What changes if a file does.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Stamp {
    inode: u64,
    length: u64,
    modified: (i64, i64),
}

impl Stamp {
    fn of(at: &Metadata) -> Stamp {
        let modified = (at.mtime(), at.mtime_nsec());
        Stamp { inode: at.ino(), length: at.len(), modified }
    }
}

impl Scene {
    /// The inputs are hard links to those of the world: nothing may change them but a journal, which is a copy.
    pub(crate) fn new(world: &World, job: &'static Job) -> Scene {
        let folder = tempfile::Builder::new().prefix("merganser-attack-").tempdir().unwrap();
        let mut scene = Scene { folder, inputs: BTreeMap::new(), job };
        for name in ["work/out", "work/tmp", "printed"] {
            fs::create_dir_all(scene.folder.path().join(name)).unwrap();
        }
        for name in world.inputs(job) {
            let path = scene.path(&name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            match job.resumes() == Some(name.as_str()) {
                true => drop(fs::copy(world.path(&name), &path).unwrap()),
                false => fs::hard_link(world.path(&name), &path).unwrap(),
            }
            scene.inputs.insert(name, Stamp::of(&fs::metadata(path).unwrap()));
        }
        for name in world.done(job) {
            fs::hard_link(world.path(&name), scene.path(&name)).unwrap();
        }
        scene
    }

    /// Of a name where the program runs.
    pub(crate) fn path(&self, name: impl AsRef<Path>) -> PathBuf {
        self.folder.path().join("work").join(name)
    }

    pub(crate) fn inputs(&self) -> impl Iterator<Item = &str> {
        self.inputs.keys().map(String::as_str)
    }

    pub(crate) fn read(&self, name: &str) -> Vec<u8> {
        fs::read(self.path(name)).unwrap()
    }

    /// Puts another file in the place of an input; that of the world stays as it is.
    pub(crate) fn replace(&mut self, name: &str, bytes: &[u8]) {
        fs::remove_file(self.path(name)).unwrap();
        fs::write(self.path(name), bytes).unwrap();
        self.is_as_it_should_be(name);
    }

    /// Takes an input, as it is now, for what it should be.
    pub(crate) fn is_as_it_should_be(&mut self, name: &str) {
        let stamp = Stamp::of(&fs::metadata(self.path(name)).unwrap());
        self.inputs.insert(name.to_owned(), stamp);
    }

    /// The job with more arguments behind its own.
    pub(crate) fn launch(&self, more: &[&str]) -> Launch {
        let args = self.job.args().into_iter().chain(more.iter().map(OsString::from)).collect();
        self.launch_with(args)
    }

    /// With these arguments, and where the job is to compute.
    pub(crate) fn launch_with(&self, mut args: Vec<OsString>) -> Launch {
        if let Some(device) = device_of(self.job) {
            args.extend(["--device".into(), device]);
        }
        self.launch_on_processor(args)
    }

    /// With these arguments alone.
    pub(crate) fn launch_on_processor(&self, args: Vec<OsString>) -> Launch {
        let mut launch = Launch::new(&self.path(""), &self.folder.path().join("printed"), args);
        if let Some(name) = self.job.stdin() {
            launch.stdin = Some(Stdio::from(File::open(self.path(name)).unwrap()));
        }
        launch
    }

    /// Files below `out/` and `tmp/`, by their names there, but a journal.
    pub(crate) fn outputs(&self) -> Vec<String> {
        let of = |folder: &str| {
            let names = names_below(&self.path(folder));
            names.into_iter().map(|name| format!("{folder}/{name}")).collect::<Vec<_>>()
        };
        let mut names = [of("out"), of("tmp")].concat();
        names.retain(|name| self.job.resumes() != Some(name.as_str()));
        names
    }

    /// What is wrong with the inputs and the folder beside `out/` and `tmp/`.
    pub(crate) fn disturbed(&self) -> Option<String> {
        let own = ["out/", "tmp/", "odd/"];
        let is_journal = |name: &String| self.job.resumes() == Some(name.as_str());
        let there =
            |name: &String| !own.iter().any(|own| name.starts_with(own)) && !is_journal(name);
        let names = names_below(&self.path("")).into_iter().filter(there);
        for name in names {
            let stamp = fs::metadata(self.path(&name)).ok().map(|at| Stamp::of(&at));
            match self.inputs.get(&name) {
                None => return Some(format!("{name:?} was not there before")),
                Some(before) if Some(before) != stamp.as_ref() => {
                    return Some(format!("{name:?} was changed"));
                }
                Some(_) => {}
            }
        }
        let gone = |name: &&String| fs::symlink_metadata(self.path(name)).is_err();
        self.inputs.keys().find(gone).map(|name| format!("{name:?} is gone"))
    }
}
