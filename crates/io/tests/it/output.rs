//! Result files.

use merganser_io::{AtomicFile, Output, finish_all};
use std::fs;
use std::io::{Read, Write};
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
