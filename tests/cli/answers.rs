//! Right answers on input that is unusual and real: for each, what comes out, and what is said.

mod databases;

use std::path::PathBuf;

use crate::support::root;

/// A folder of cases, or `None`, said on stderr, where they are not here.
fn cases(name: &str) -> Option<PathBuf> {
    let path = root().join("../shared/cases").join(name);
    if path.exists() {
        return Some(path);
    }
    eprintln!("skipped: {} is not here", path.display());
    None
}
