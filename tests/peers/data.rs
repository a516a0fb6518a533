//! The folder of peers' data, and the list of cases of each peer.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Returns a path in a peer's repository, or `None`, with a message, if it is missing.
pub(crate) fn peer(path: &str) -> Option<PathBuf> {
    let Ok(folder) = std::env::var("MERGANSER_PEERS_DATA") else {
        eprintln!("skipped: MERGANSER_PEERS_DATA is not set (see tests/peers/fetch.sh)");
        return None;
    };
    let path = Path::new(&folder).join(path);
    if path.exists() {
        return Some(path);
    }
    eprintln!("skipped: {} is missing", path.display());
    None
}

/// Returns the paths of the files in a folder whose names end with `suffix`, sorted, also in folders below it.
pub(crate) fn files(folder: &Path, suffix: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(files(&path, suffix));
        } else if path.to_string_lossy().ends_with(suffix) {
            found.push(path);
        }
    }
    found.sort();
    found
}

/// Returns the text of a function of a source file: from its name to the next function.
pub(crate) fn function<'a>(source: &'a str, name: &str) -> &'a str {
    let start = source.find(name).unwrap_or_else(|| panic!("no {name}"));
    let body = &source[start + name.len()..];
    body.find("\n}\n").or(body.find("\n    }\n")).map_or(body, |end| &body[..end])
}

/// Returns the string literals in a text without escapes, in their order.
pub(crate) fn literals(text: &str) -> Vec<&str> {
    text.split('"').skip(1).step_by(2).collect()
}

/// The cases of a peer: those with the expected result, and those without.
#[derive(Debug)]
pub(crate) struct Cases {
    peer: &'static str,
    passed: usize,
    different: BTreeSet<String>,
}

impl Cases {
    pub(crate) fn of(peer: &'static str) -> Cases {
        Cases { peer, passed: 0, different: BTreeSet::new() }
    }

    pub(crate) fn add(&mut self, name: &str, passed: bool) {
        if passed {
            self.passed += 1;
        } else {
            self.different.insert(name.to_owned());
        }
    }

    /// Prints the numbers, and asserts that `known` cases differ, and no others.
    #[track_caller]
    pub(crate) fn end(self, known: &[&str]) {
        eprintln!("{}: {} passed, {} differ", self.peer, self.passed, self.different.len());
        for name in &self.different {
            eprintln!("{}: {name} differs", self.peer);
        }
        let known: BTreeSet<String> = known.iter().map(|&name| name.to_owned()).collect();
        assert_eq!(self.different, known, "{}: other cases differ than expected", self.peer);
        assert!(self.passed > 0);
    }
}
