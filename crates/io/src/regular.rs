//! Files that are read at any place, or more than once, and pipes that are given for them.

use std::fs::{self, File, Metadata};
use std::io;
use std::os::unix::fs::FileTypeExt;
use std::path::Path;

use crate::FileKind;

/// Opens a file that is read at any place, or more than once. A pipe or a device is not opened, which might wait for its
/// writer for ever. Folders are opened, for the caller to name.
///
/// # Errors
///
/// If it cannot be opened, or is a pipe or a device; the error then says what to do.
pub fn open_file(path: &Path) -> io::Result<File> {
    match name_of(&fs::metadata(path)?) {
        Some(what) => Err(io::Error::new(io::ErrorKind::NotSeekable, complaint(what, "this"))),
        None => File::open(path),
    }
}

/// Says what is wrong with an input that is no regular file and begins with `head`, if that is the beginning of a kind
/// that is read from files alone. `-` and `stdin` are standard input.
pub fn in_stream(path: &Path, head: &[u8]) -> Option<String> {
    let what = match path.as_os_str().as_encoded_bytes() {
        b"-" | b"stdin" => "a stream",
        _ => name_of(&fs::metadata(path).ok()?)?,
    };
    let kind = FileKind::of_bytes(head).filter(|kind| kind.is_of_files())?;
    Some(complaint(what, &kind.to_string()))
}

/// The name of what can be read once at most, from its beginning on.
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
    use super::{in_stream, open_file};
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
        let table = b"\x89MGK\r\n\x1a\n";
        let said = in_stream(&pipe, table).unwrap();
        assert_eq!(said, format!("it is a pipe, and a table of k-mers (.mgk) {advice}"));
        assert!(in_stream("stdin".as_ref(), table).unwrap().starts_with("it is a stream, "));
        for (path, head) in [(&file, &table[..]), (&pipe, b">a\nACGT\n")] {
            assert_eq!(in_stream(path, head), None);
        }
    }
}
