//! Small inputs of which the right answer is known, and what is printed where there is none.

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

/// A folder or file of the project's small cases, or `None`, said on stderr, where these are not there.
fn cases(name: &str) -> Option<PathBuf> {
    let path = root().join("../shared/cases").join(name);
    if path.exists() {
        return Some(path);
    }
    eprintln!("skipped: {} is not here", path.display());
    None
}
