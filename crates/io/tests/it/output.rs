//! Tests of result files.

use merganser_io::{AtomicFile, Output, OutputSet, finish_all};
use std::fs::{self, File};
use std::io::{Read, Write};
use std::os::fd::AsRawFd;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

fn names(dir: &Path) -> Vec<String> {
    let mut names: Vec<_> = fs::read_dir(dir)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

#[test]
fn a_file_appears_whole_or_not_at_all() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("t.mgk");
    let mut file = AtomicFile::create(&path).unwrap();
    file.write_all(b"header..").unwrap();
    file.write_all(&[7; 3_000_000]).unwrap();
    assert_eq!(file.position(), 3_000_008);
    assert!(!path.exists());
    drop(file);
    assert_eq!(names(dir.path()), [""; 0]);

    let mut file = AtomicFile::create(&path).unwrap();
    file.write_all(b"header..").unwrap();
    file.write_all(&[7; 20_000_000]).unwrap();
    file.patch(2, b"ADER").unwrap();
    file.write_all(b"end").unwrap();
    file.commit().unwrap();
    assert_eq!(names(dir.path()), ["t.mgk"]);
    let bytes = fs::read(&path).unwrap();
    assert_eq!(bytes.len(), 20_000_011);
    assert!(bytes.starts_with(b"heADER..\x07") && bytes.ends_with(b"\x07end"));
}

#[test]
fn the_old_file_stays_until_then_and_links_are_followed() {
    let dir = tempfile::tempdir().unwrap();
    let (path, link) = (dir.path().join("real"), dir.path().join("link"));
    fs::write(&path, "old").unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
    symlink("real", &link).unwrap();
    let mut file = AtomicFile::create(&link).unwrap();
    file.write_all(b"new").unwrap();
    assert_eq!(fs::read(&path).unwrap(), b"old");
    file.commit().unwrap();
    assert_eq!(fs::read(&path).unwrap(), b"new");
    assert!(link.is_symlink());
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o640);
}

#[test]
fn special_files_are_written_directly() {
    let mut file = AtomicFile::create(Path::new("/dev/null")).unwrap();
    file.write_all(&[1; 2_000_000]).unwrap();
    file.commit().unwrap();
    assert!(!fs::metadata("/dev/null").unwrap().is_file());
}

#[test]
fn a_full_disk_is_named() {
    let mut file = AtomicFile::create(Path::new("/dev/full")).unwrap();
    file.write_all(b"x").unwrap();
    let error = file.flush().unwrap_err();
    assert_eq!(error.to_string(), "/dev/full: cannot write: no space left on device");
    assert_eq!(error.kind(), std::io::ErrorKind::StorageFull);
    let mut file = AtomicFile::create(Path::new("/dev/full")).unwrap();
    file.write_all(b"x").unwrap();
    assert_eq!(
        file.commit().unwrap_err().to_string(),
        "/dev/full: cannot write: no space left on device"
    );
}

#[test]
fn errors_come_before_work() {
    let message = |path: &str| Output::create(Path::new(path)).unwrap_err().to_string();
    assert_eq!(
        message("/no/dir/t.mgk"),
        "/no/dir/t.mgk: cannot create this output file: the directory /no/dir does not exist"
    );
    assert_eq!(message("/"), "/: cannot create this output file: is a directory");
}

#[test]
fn gz_is_deterministic_and_read_by_others() {
    let dir = tempfile::tempdir().unwrap();
    let text: Vec<u8> = (0..300_000u32).flat_map(|number| (number / 3).to_le_bytes()).collect();
    let write = |name: &str, piece: usize| {
        let path = dir.path().join(name);
        let mut output = Output::create(&path).unwrap();
        assert!(matches!(output, Output::Gz(_)));
        for part in text.chunks(piece) {
            output.write_all(part).unwrap();
            output.flush().unwrap();
        }
        output.finish().unwrap();
        fs::read(path).unwrap()
    };
    let bytes = write("a.gz", 1000);
    assert_eq!(bytes, write("b.GZ", 77_777));
    assert!(bytes.len() < text.len());
    let mut again = Vec::new();
    flate2::read::MultiGzDecoder::new(&bytes[..]).read_to_end(&mut again).unwrap();
    assert!(again == text);
}

#[test]
fn gz_of_nothing_is_valid() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("x.gz");
    Output::create(&path).unwrap().finish().unwrap();
    let mut text = Vec::new();
    flate2::read::GzDecoder::new(&fs::read(path).unwrap()[..]).read_to_end(&mut text).unwrap();
    assert!(text.is_empty());
}

#[test]
fn several_outputs_appear_together_or_not_at_all() {
    let dir = tempfile::tempdir().unwrap();
    let open = |path: &Path| {
        let mut output = Output::create(path).unwrap();
        output.write_all(b"text").unwrap();
        output
    };
    let [plain, packed] = ["a", "b.gz"].map(|name| dir.path().join(name));
    let full = Path::new("/dev/full");
    let error = finish_all([open(&plain), open(full), open(&packed)]).unwrap_err();
    assert_eq!(error.to_string(), "/dev/full: cannot write: no space left on device");
    assert_eq!(names(dir.path()), [""; 0]);
    finish_all([open(&plain), open(&packed)]).unwrap();
    assert_eq!(names(dir.path()), ["a", "b.gz"]);
    assert_eq!(fs::read(&plain).unwrap(), b"text");
}

#[test]
fn a_link_that_leads_nowhere_yet_is_followed() {
    let dir = tempfile::tempdir().unwrap();
    let path = |name: &str| dir.path().join(name);
    fs::create_dir(path("sub")).unwrap();
    symlink("sub/middle", path("link")).unwrap();
    symlink("new", path("sub/middle")).unwrap();
    let mut file = AtomicFile::create(&path("link")).unwrap();
    file.write_all(b"text").unwrap();
    file.commit().unwrap();
    assert!(path("link").is_symlink() && path("sub/middle").is_symlink());
    assert_eq!(fs::read(path("sub/new")).unwrap(), b"text");
    symlink("circle", path("circle")).unwrap();
    let error = AtomicFile::create(&path("circle")).unwrap_err().to_string();
    assert!(error.contains("circle: cannot create this output file: "), "{error}");
    symlink("missing/file", path("lost")).unwrap();
    let error = AtomicFile::create(&path("lost")).unwrap_err().to_string();
    assert!(error.ends_with("/missing does not exist"), "{error}");
    assert_eq!(names(dir.path()), ["circle", "link", "lost", "sub"]);
}

/// A new file has the permissions that the umask leaves. A file that replaces another one has the permissions of
/// that file, except setuid and setgid, because its content is different.
#[test]
fn permissions_are_kept_and_those_of_others_are_not() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("x");
    let mode = || fs::metadata(&path).unwrap().permissions().mode() & 0o7777;
    let write = || AtomicFile::create(&path).unwrap().commit().unwrap();
    for (before, after) in [
        (0o600, 0o600),
        (0o644, 0o644),
        (0o666, 0o666),
        (0o640, 0o640),
        (0o4755, 0o755),
        (0o6711, 0o711),
    ] {
        fs::write(&path, "old").unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(before)).unwrap();
        write();
        assert_eq!(mode(), after, "{before:o}");
    }
    fs::remove_file(&path).unwrap();
    File::create(&path).unwrap();
    let plain = mode();
    fs::remove_file(&path).unwrap();
    write();
    assert_eq!(mode(), plain);
}

#[test]
fn names_may_be_as_long_as_they_can_be() {
    let dir = tempfile::tempdir().unwrap();
    let longest = "x".repeat(255);
    AtomicFile::create(&dir.path().join(&longest)).unwrap().commit().unwrap();
    assert_eq!(names(dir.path()), [longest]);
    let error = AtomicFile::create(&dir.path().join("x".repeat(256))).unwrap_err().to_string();
    assert!(error.ends_with(": cannot create this output file: file name too long"), "{error}");
}

#[test]
fn messages_do_not_name_the_temporary_file() {
    // A directory in which no files can be created.
    let error = AtomicFile::create(Path::new("/proc/self/x")).unwrap_err().to_string();
    assert!(!error.contains(".merganser"), "{error}");
    let error = AtomicFile::temporary(Path::new("/proc/self")).unwrap_err().to_string();
    assert!(error.starts_with("/proc/self: cannot make a temporary file here: "), "{error}");
    assert!(!error.contains("at path"), "{error}");
}

#[test]
fn a_temporary_file_has_no_name() {
    let dir = tempfile::tempdir().unwrap();
    let folder = dir.path().join("a/b");
    let mut file = AtomicFile::temporary(&folder).unwrap();
    // Only the mark of a created directory.
    assert_eq!(names(&folder), [".merganser-made"]);
    file.write_all(b"text").unwrap();
    let mut reader = file.reader().unwrap();
    file.commit().unwrap();
    assert_eq!(names(dir.path()), [""; 0]);
    let mut text = String::new();
    std::io::Seek::rewind(&mut reader).unwrap();
    reader.read_to_string(&mut text).unwrap();
    assert_eq!(text, "text");
}

#[test]
fn outputs_of_a_set_appear_when_all_are_finished() {
    let dir = tempfile::tempdir().unwrap();
    let [plain, packed, left] = ["a", "b.gz", "c"].map(|name| dir.path().join(name));
    let set = OutputSet::new();
    let mut first = set.file(&plain).unwrap();
    first.write_all(b"text").unwrap();
    first.commit().unwrap();
    let mut second = set.output(&packed).unwrap();
    second.write_all(b"text").unwrap();
    second.finish().unwrap();
    assert!(!plain.exists() && !packed.exists());
    assert_eq!(set.bytes_of(&plain), 4);
    drop(set.file(&left).unwrap());
    set.commit().unwrap();
    assert_eq!(names(dir.path()), ["a", "b.gz"]);
    assert_eq!(set.bytes_of(&plain), 0);

    // A set that is not committed, for instance after an error, leaves no file.
    let other = OutputSet::new();
    other.file(&left).unwrap().commit().unwrap();
    drop(other);
    assert_eq!(names(dir.path()), ["a", "b.gz"]);
}

#[test]
fn a_set_that_cannot_appear_as_a_whole_is_taken_back() {
    let dir = tempfile::tempdir().unwrap();
    let [one, two] = ["one", "two"].map(|name| dir.path().join(name));
    let set = OutputSet::new();
    for path in [&one, &two] {
        set.file(path).unwrap().commit().unwrap();
    }
    // A directory has been created there in the meantime.
    fs::create_dir(&two).unwrap();
    let error = set.commit().unwrap_err().to_string();
    assert!(error.ends_with("two: cannot write: is a directory"), "{error}");
    assert_eq!(names(dir.path()), ["two"]);
}

/// The replaced files are restored.
#[test]
fn a_set_that_cannot_appear_as_a_whole_replaces_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let path = |name: &str| dir.path().join(name);
    let set = OutputSet::new();
    for name in ["old", "new", "other", "last"] {
        set.file(path(name)).unwrap().commit().unwrap();
    }
    fs::write(path("old"), "1").unwrap();
    fs::write(path("other"), "2").unwrap();
    fs::create_dir(path("last")).unwrap();
    let error = set.commit().unwrap_err().to_string();
    assert!(error.ends_with("last: cannot write: is a directory"), "{error}");
    assert_eq!(names(dir.path()), ["last", "old", "other"]);
    assert_eq!(fs::read(path("old")).unwrap(), b"1");
    assert_eq!(fs::read(path("other")).unwrap(), b"2");

    fs::remove_dir(path("last")).unwrap();
    for name in ["old", "other", "last"] {
        set.file(path(name)).unwrap().commit().unwrap();
    }
    set.commit().unwrap();
    assert_eq!(names(dir.path()), ["last", "old", "other"]);
    assert_eq!(fs::read(path("old")).unwrap(), b"");
}

/// The reader of a pipe may go away: the other outputs are still completed, and the last output ends the run.
#[test]
fn a_reader_that_goes_away_takes_no_other_output_with_it() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("file");
    let piped = |set: &OutputSet| {
        let (reader, writer) = std::io::pipe().unwrap();
        let name = format!("/proc/self/fd/{}", writer.as_raw_fd());
        let output = set.output(Path::new(&name)).unwrap();
        drop(reader);
        output
    };
    let (set, text) = (OutputSet::new(), vec![b'x'; 3_000_000]);
    let mut pipes = [piped(&set), piped(&set)];
    let mut file = set.output(&path).unwrap();
    for output in pipes.iter_mut().chain([&mut file]) {
        output.write_all(&text).unwrap();
        output.flush().unwrap();
        output.write_all(&text).unwrap();
    }
    for output in pipes.into_iter().chain([file]) {
        output.finish().unwrap();
    }
    set.commit().unwrap();
    assert_eq!(fs::metadata(&path).unwrap().len(), 6_000_000);

    for set in [OutputSet::new(), OutputSet::alone()] {
        let mut alone = piped(&set);
        let error = alone.write_all(&text).unwrap_err();
        assert_eq!(error.kind(), std::io::ErrorKind::BrokenPipe);
    }
}
