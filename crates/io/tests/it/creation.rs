//! `check_creation` says, without writing, whether an output can be created.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use merganser_io::{OutputSet, check_creation};

/// Returns the names in a folder, with the content of files.
fn state(folder: &Path) -> BTreeMap<PathBuf, Option<Vec<u8>>> {
    let paths = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    paths.map(|path| (path.clone(), fs::read(path).ok())).collect()
}

#[test]
fn the_check_agrees_with_creation_and_changes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    fs::write(path("file"), "before").unwrap();
    fs::create_dir(path("folder")).unwrap();
    symlink("file", path("link")).unwrap();
    symlink("new", path("open")).unwrap();
    symlink("gone/new", path("dangling")).unwrap();
    symlink("circle", path("circle")).unwrap();
    let before = state(folder.path());
    let long = "x".repeat(300);
    for (name, is_possible) in [
        ("new", true),
        ("file", true),
        ("link", true),
        ("open", true),
        ("folder/new", true),
        ("folder/../new", true),
        ("folder", false),
        ("gone/new", false),
        ("file/new", false),
        ("dangling", false),
        ("circle", false),
        (&*long, false),
        ("/dev/null", true),
    ] {
        let path = path(name);
        let checked = check_creation(&path).map_err(|error| error.to_string());
        assert!(state(folder.path()) == before, "{name}");
        // The set is dropped without being committed.
        let created = OutputSet::new().output(&path).map(drop).map_err(|error| error.to_string());
        assert!(state(folder.path()) == before, "{name}");
        assert_eq!(checked, created, "{name}");
        assert_eq!(checked.is_ok(), is_possible, "{name}: {checked:?}");
    }
    assert!(check_creation(Path::new("-")).is_ok());
}

/// Root may write everywhere, so that only other users see the refusal.
#[test]
fn folders_without_permission_are_refused() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o500)).unwrap();
    let new = folder.path().join("new");
    let can_write = fs::write(folder.path().join("probe"), "").is_ok();
    assert_eq!(check_creation(&new).is_ok(), can_write);
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o700)).unwrap();
}
