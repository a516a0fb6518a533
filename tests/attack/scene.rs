//! The folder of one attack: a working directory with the inputs of a job and empty `out/` and `tmp/`, and beside it
//! the files of stdout and stderr.

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

/// The folder for files that attacks create.
pub(crate) const ODD: &str = "odd";

pub(crate) struct Scene {
    folder: TempDir,
    /// Names of inputs and their state.
    inputs: BTreeMap<String, Stamp>,
    pub(crate) job: &'static Job,
}

/// Metadata that change when a file changes.
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
    /// Creates the scene. Inputs are hard links to the world's files and must not change, except a journal, which is
    /// a copy.
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

    /// Returns the path of a name in the working directory.
    pub(crate) fn path(&self, name: impl AsRef<Path>) -> PathBuf {
        self.folder.path().join("work").join(name)
    }

    pub(crate) fn inputs(&self) -> impl Iterator<Item = &str> {
        self.inputs.keys().map(String::as_str)
    }

    pub(crate) fn read(&self, name: &str) -> Vec<u8> {
        fs::read(self.path(name)).unwrap()
    }

    /// Replaces an input by a new file; the world's file is unchanged.
    pub(crate) fn replace(&mut self, name: &str, bytes: &[u8]) {
        fs::remove_file(self.path(name)).unwrap();
        fs::write(self.path(name), bytes).unwrap();
        self.is_as_it_should_be(name);
    }

    /// Accepts the current state of an input as its correct state.
    pub(crate) fn is_as_it_should_be(&mut self, name: &str) {
        let stamp = Stamp::of(&fs::metadata(self.path(name)).unwrap());
        self.inputs.insert(name.to_owned(), stamp);
    }

    /// Returns the job with additional arguments.
    pub(crate) fn launch(&self, more: &[&str]) -> Launch {
        let args = self.job.args().into_iter().chain(more.iter().map(OsString::from)).collect();
        self.launch_with(args)
    }

    /// Returns a launch with these arguments and the attacked device.
    pub(crate) fn launch_with(&self, mut args: Vec<OsString>) -> Launch {
        if let Some(device) = device_of(self.job) {
            args.extend(["--device".into(), device]);
        }
        self.launch_on_processor(args)
    }

    /// Returns a launch with exactly these arguments.
    pub(crate) fn launch_on_processor(&self, args: Vec<OsString>) -> Launch {
        let mut launch = Launch::new(&self.path(""), &self.folder.path().join("printed"), args);
        if let Some(name) = self.job.stdin() {
            launch.stdin = Some(Stdio::from(File::open(self.path(name)).unwrap()));
        }
        launch
    }

    /// Returns the files below `out/` and `tmp/` by relative name, without journals.
    pub(crate) fn outputs(&self) -> Vec<String> {
        let of = |folder: &str| {
            let names = names_below(&self.path(folder));
            names.into_iter().map(|name| format!("{folder}/{name}")).collect::<Vec<_>>()
        };
        let mut names = [of("out"), of("tmp")].concat();
        names.retain(|name| self.job.resumes() != Some(name.as_str()));
        names
    }

    /// Describes a changed input, or a new file outside `out/` and `tmp/`, if there is one.
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
