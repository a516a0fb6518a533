//! The files on the path of a read in a job, as listed in the documentation of its crate.

use std::fs;
use std::io;
use std::path::Path;

/// The heading of the list.
const HEADING: &str = "//! # The path of a read";

/// Returns the files that a crate's documentation lists, below `crates`; `None` if it has no list.
///
/// # Errors
/// If the file cannot be read, or if a listed file does not exist.
pub(crate) fn of_crate(crates: &Path, name: &str) -> io::Result<Option<Vec<String>>> {
    let page = crates.join(name).join("src/lib.rs");
    let Ok(text) = fs::read_to_string(&page) else { return Ok(None) };
    let Some(files) = listed(&text) else { return Ok(None) };
    match files.iter().find(|file| !crates.join(file).exists()) {
        Some(file) => Err(io::Error::other(format!("{}: there is no {file}", page.display()))),
        None => Ok(Some(files)),
    }
}

/// Returns the paths in backticks under the heading.
fn listed(text: &str) -> Option<Vec<String>> {
    let (_, list) = text.split_once(HEADING)?;
    let lines = list.lines().skip(1).take_while(|line| {
        line.starts_with("//!") && !line.starts_with("//! #") && !line.starts_with("//! ```")
    });
    let text: String = lines.collect();
    let quoted = text.split('`').skip(1).step_by(2);
    Some(quoted.filter(|path| path.ends_with(".rs")).map(str::to_owned).collect())
}

#[cfg(test)]
mod tests {
    use super::listed;

    #[test]
    fn paths_in_backticks_are_the_way() {
        let text = "//! Counts.\n//!\n//! # The path of a read\n//!\n//! 1. `io/src/reader.rs` reads\n//!    (`x`).\n//! # Other\n//! `a.rs`\n";
        assert_eq!(listed(text), Some(vec!["io/src/reader.rs".to_owned()]));
        assert_eq!(listed("//! Counts.\n"), None);
    }
}
