//! Files that need random access or are read more than once, and pipes that are given in their place.

use std::fs::{self, File, Metadata};
use std::io;
use std::os::unix::fs::FileTypeExt;
use std::path::Path;

use crate::FileKind;

/// Opens a file that needs random access or is read more than once. A pipe or a device is not opened, because that
/// might wait for its writer without limit. Directories are opened; the caller reports them.
///
/// # Errors
///
/// If the file cannot be opened, or is a pipe or a device. The error says what to do.
pub fn open_file(path: &Path) -> io::Result<File> {
    match name_of(&fs::metadata(path)?) {
        Some(what) => Err(io::Error::new(io::ErrorKind::NotSeekable, complaint(what, "this"))),
        None => File::open(path),
    }
}

/// Returns the message for an input that is not a regular file, if it begins with `head` and that is the beginning
/// of a kind that can be read only from files. `-` and `stdin` are standard input.
pub fn in_stream(path: &Path, head: &[u8]) -> Option<String> {
    let what = match path.as_os_str().as_encoded_bytes() {
        b"-" | b"stdin" => "a stream",
        _ => name_of(&fs::metadata(path).ok()?)?,
    };
    let kind = FileKind::of_bytes(head).filter(|kind| kind.is_of_files())?;
    Some(complaint(what, &kind.to_string()))
}

/// Whether a path is stdin (`-`), a pipe or a device, which can be read at most once.
pub fn is_read_once(path: &Path) -> bool {
    let is_named = |at: Metadata| name_of(&at).is_some();
    path.as_os_str() == "-" || fs::metadata(path).is_ok_and(is_named)
}

/// Returns the name of an input that can be read at most once and only from its beginning; `None` for files and
/// directories.
fn name_of(at: &Metadata) -> Option<&'static str> {
    match () {
        () if at.is_file() || at.is_dir() => None,
        () if at.file_type().is_fifo() => Some("a pipe"),
        () if at.file_type().is_socket() => Some("a socket"),
        () => Some("a device"),
    }
}

fn complaint(what: &str, wanted: &str) -> String {
    format!(
        "it is {what}, and {wanted} must be read from a file: write it to a file first, and name that"
    )
}

#[cfg(test)]
mod tests {
    use super::{in_stream, is_read_once, open_file};
    use std::fs;
    use std::path::Path;

    #[test]
    fn pipes_and_devices_are_named() {
        let dir = tempfile::tempdir().unwrap();
        let [pipe, file] = ["pipe", "file"].map(|name| dir.path().join(name));
        rustix::fs::mknodat(
            rustix::fs::CWD,
            &pipe,
            rustix::fs::FileType::Fifo,
            rustix::fs::Mode::RWXU,
            0,
        )
        .unwrap();
        fs::write(&file, "").unwrap();
        let message = |path: &Path| open_file(path).unwrap_err().to_string();
        let advice = "must be read from a file: write it to a file first, and name that";
        assert_eq!(message(&pipe), format!("it is a pipe, and this {advice}"));
        assert_eq!(message("/dev/null".as_ref()), format!("it is a device, and this {advice}"));
        assert!(open_file(&file).is_ok() && open_file(dir.path()).is_ok());
        assert!([&pipe, Path::new("/dev/null"), Path::new("-")].into_iter().all(is_read_once));
        assert!(![&file, dir.path(), &dir.path().join("missing")].into_iter().any(is_read_once));
        let table = b"\x89MGK\r\n\x1a\n";
        let said = in_stream(&pipe, table).unwrap();
        assert_eq!(said, format!("it is a pipe, and a table of k-mers (.mgk) {advice}"));
        assert!(in_stream("stdin".as_ref(), table).unwrap().starts_with("it is a stream, "));
        for (path, head) in [(&file, &table[..]), (&pipe, b">a\nACGT\n")] {
            assert_eq!(in_stream(path, head), None);
        }
    }
}
