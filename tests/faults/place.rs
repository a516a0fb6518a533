//! A directory in which commands run repeatedly, from the same state each time.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use merganser_test_support::{Dir, names};

/// The folder of outputs.
pub(crate) const OUT: &str = "out/";

/// Contents of files by relative name.
pub(crate) type Files = BTreeMap<String, Vec<u8>>;

/// A copy of all inputs, with empty `out` and `tmp`.
pub(crate) struct Place {
    dir: Dir,
    /// The state of the inputs, none of which may change.
    inputs: BTreeMap<String, Input>,
}

/// The size, modification time (seconds, nanoseconds) and inode of an input, which reveal a change.
type Input = (u64, i64, i64, u64);

impl Place {
    pub(crate) fn copy_of(prepared: &Path) -> Place {
        let dir = Dir::new();
        copy(prepared, dir.root());
        let inputs = inputs(dir.root());
        Place { dir, inputs }
    }

    pub(crate) fn root(&self) -> &Path {
        self.dir.root()
    }

    /// Returns the current outputs.
    pub(crate) fn outputs(&self) -> Files {
        let mut files = Files::new();
        let outputs = self.dir.names().into_iter().filter(|name| is_output(name));
        outputs.for_each(|name| add(self.root(), name, &mut files));
        files
    }

    /// Replaces the current outputs by `files`.
    pub(crate) fn set_outputs(&self, files: &Files) {
        if self.outputs() == *files {
            return;
        }
        for name in self.dir.names().iter().filter(|name| is_output(name)) {
            let path = self.dir.path(name);
            remove(&path);
        }
        fs::create_dir_all(self.dir.path(OUT)).unwrap();
        for (name, bytes) in files {
            fs::create_dir_all(self.dir.path(name).parent().unwrap()).unwrap();
            self.dir.write(name, bytes);
        }
    }

    /// Returns the files that are neither inputs nor outputs, and changed inputs; removes the files.
    pub(crate) fn litter(&self) -> Vec<String> {
        let mut litter: Vec<String> =
            names(&self.dir.path("tmp")).into_iter().map(|name| format!("tmp/{name}")).collect();
        let hidden =
            names(&self.dir.path(OUT)).into_iter().filter(|name| name.starts_with(".merganser-"));
        litter.extend(hidden.map(|name| OUT.to_owned() + &name));
        litter.iter().for_each(|name| remove(&self.dir.path(name)));
        let now = inputs(self.root());
        for (name, _) in now.iter().filter(|(name, _)| !self.inputs.contains_key(*name)) {
            remove(&self.dir.path(name));
            litter.push(name.clone());
        }
        let changed = self.inputs.iter().filter(|(name, input)| now.get(*name) != Some(input));
        litter.extend(changed.map(|(name, _)| format!("the input {name} is changed")));
        litter
    }
}

/// Whether a name is the folder of outputs, or a file that a command changes in its place.
fn is_output(name: &str) -> bool {
    name == "out" || name.starts_with("own.")
}

fn remove(path: &Path) {
    if path.is_dir() { fs::remove_dir_all(path) } else { fs::remove_file(path) }.unwrap();
}

fn copy(from: &Path, to: &Path) {
    for name in names(from) {
        let (from, to): (PathBuf, PathBuf) = (from.join(&name), to.join(&name));
        if from.is_dir() {
            fs::create_dir(&to).unwrap();
            copy(&from, &to);
        } else {
            fs::copy(&from, &to).unwrap();
        }
    }
}

fn add(root: &Path, name: String, files: &mut Files) {
    let path = root.join(&name);
    if path.is_dir() {
        names(&path).iter().for_each(|inner| add(root, format!("{name}/{inner}"), files));
    } else {
        files.insert(name, fs::read(path).unwrap());
    }
}

/// Returns all files, also those in folders, except outputs and the content of `tmp`.
fn inputs(root: &Path) -> BTreeMap<String, Input> {
    let mut found = BTreeMap::new();
    let mut folders = vec![String::new()];
    while let Some(folder) = folders.pop() {
        for name in names(&root.join(&folder)) {
            let whole = format!("{folder}{name}");
            let at = fs::metadata(root.join(&whole)).unwrap();
            if at.is_dir() && whole != "tmp" && !is_output(&whole) {
                folders.push(format!("{whole}/"));
            } else if at.is_file() && !(folder.is_empty() && is_output(&name)) {
                found.insert(whole, (at.len(), at.mtime(), at.mtime_nsec(), at.ino()));
            }
        }
    }
    found
}
