//! Small inputs of which the right answer is known, and what is printed where there is none.

mod mates;
mod sam;

use std::path::PathBuf;

use crate::support::root;

/// A folder or file of the project's small cases, or `None`, said on stderr, where these are not there.
pub(crate) fn cases(name: &str) -> Option<PathBuf> {
    let path = root().join("../shared/cases").join(name);
    if path.exists() {
        return Some(path);
    }
    eprintln!("skipped: {} is not here", path.display());
    None
}
