//! Records the commit that a program is built from, in `MERGANSER_COMMIT`, which the build may also set itself.
//!
//! The commit of a clone is read from the files of git, and that of a package of crates.io from its
//! `.cargo_vcs_info.json`, because git need not be installed. Builds for debugging record none: they would be
//! made again after each commit.

use std::fs;
use std::path::{Path, PathBuf};

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-env-changed=MERGANSER_COMMIT");
    let is_given = std::env::var_os("MERGANSER_COMMIT").is_some_and(|given| !given.is_empty());
    let is_debug = std::env::var("PROFILE").is_ok_and(|profile| profile == "debug");
    if is_given || is_debug {
        return;
    }
    let crate_root = PathBuf::from(std::env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default());
    let commit = of_package(&crate_root).or_else(|| of_clone(&crate_root.join("../..")));
    if let Some(commit) = commit {
        println!("cargo::rustc-env=MERGANSER_COMMIT={commit}");
    }
}

/// Returns the commit in the file that `cargo package` adds to a crate.
fn of_package(root: &Path) -> Option<String> {
    let text = fs::read_to_string(root.join(".cargo_vcs_info.json")).ok()?;
    let (_, rest) = text.split_once("\"sha1\"")?;
    commit(rest.split('"').nth(1)?)
}

/// Returns the commit that is checked out in the clone at `root`.
fn of_clone(root: &Path) -> Option<String> {
    let at = root.join(".git");
    // A work tree has a file that names its folder.
    let folder = match fs::read_to_string(&at) {
        Ok(text) => root.join(text.strip_prefix("gitdir:")?.trim()),
        Err(_) => at,
    };
    let head = read(&folder.join("HEAD"))?;
    // Each commit adds a line to it, also if no file of the branch was there before, because git had packed it.
    read(&folder.join("logs/HEAD"));
    let Some(branch) = head.strip_prefix("ref:").map(str::trim) else { return commit(&head) };
    let common = fs::read_to_string(folder.join("commondir"));
    let common = common.map_or_else(|_| folder.clone(), |path| folder.join(path.trim()));
    // Changes of the branch, and of all branches that git has packed into one file.
    let loose = read(&common.join(branch));
    let packed = read(&common.join("packed-refs")).unwrap_or_default();
    let is_branch = |line: &&str| line.split_once(' ').is_some_and(|(_, name)| name == branch);
    let of_packed = || packed.lines().find(is_branch).map(str::to_owned);
    commit(&loose.or_else(of_packed)?)
}

/// Reads a file of git, and has cargo watch it.
fn read(path: &Path) -> Option<String> {
    let text = fs::read_to_string(path).ok()?;
    println!("cargo::rerun-if-changed={}", path.display());
    Some(text)
}

/// Returns the first twelve digits of the hash that a text begins with.
fn commit(text: &str) -> Option<String> {
    let hash = text.split_whitespace().next()?;
    let is_hash = hash.len() >= 40 && hash.bytes().all(|digit| digit.is_ascii_hexdigit());
    is_hash.then(|| hash[..12].to_owned())
}
