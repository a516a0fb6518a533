//! Small inputs with known answers, and the messages for inputs without one.

mod databases;
mod formats;
mod kmers;
mod map;
mod mates;
mod model;
mod names;
mod reports;
mod sam;
mod trio;

use std::path::PathBuf;

use merganser_test_support::root;

/// Returns a file or folder of the project's small cases, or `None`, with a message, if they are missing.
fn cases(name: &str) -> Option<PathBuf> {
    let path = root().join("../shared/cases").join(name);
    if path.exists() {
        return Some(path);
    }
    eprintln!("skipped: {} is missing", path.display());
    None
}
