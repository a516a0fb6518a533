//! Checks of names that become part of a path or a cell of a table.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;

/// The maximum number of bytes of a name that becomes part of a file name. File names may have 255.
const MAX_BYTES: usize = 200;

/// Checks a name that comes from the content of a file (a sample in a sheet, the reads or an assembly in a header)
/// and becomes part of the name of an output.
///
/// Such names must not change the path that the user gave. Refused are empty names, names with `/` or NUL, names
/// that begin with `.`, names of more than 200 bytes, and names that [`check_cell`] refuses.
///
/// # Errors
/// If the name is refused; the error is the message.
pub fn check_stored_name(name: &OsStr) -> Result<(), String> {
    let bytes = name.as_bytes();
    let shown = name.display();
    if bytes.is_empty() {
        return Err("a name is empty, and files are named after it".into());
    }
    if bytes[0] == b'.' || bytes.iter().any(|byte| matches!(byte, b'/' | 0)) {
        return Err(format!(
            "the name '{shown}' has / or NUL in it or . at its beginning, and files are named after it"
        ));
    }
    if bytes.len() > MAX_BYTES {
        return Err(format!(
            "a name has {} bytes, and files are named after it: up to {MAX_BYTES} are allowed",
            bytes.len()
        ));
    }
    check_cell(name)
}

/// Checks a name that becomes a cell of a table: a tab or a line end would split the cell or the row.
///
/// # Errors
/// If the name has control characters; the error is the message.
pub fn check_cell(name: &OsStr) -> Result<(), String> {
    match name.to_string_lossy().contains(char::is_control) {
        true => Err(format!(
            "the name '{}' has control characters, which tables cannot hold: rename it",
            name.display()
        )),
        false => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_stored(name: &[u8]) -> bool {
        check_stored_name(OsStr::from_bytes(name)).is_ok()
    }

    #[test]
    fn names_are_no_paths() {
        for name in [&b"a"[..], b"a.b", b"", b"caf\xc3\xa9", b"\xff", b"a b", b"-", b"~"] {
            assert_eq!(is_stored(name), !name.is_empty(), "{}", name.escape_ascii());
        }
        assert!(is_stored(&[b'a'; MAX_BYTES]) && !is_stored(&[b'a'; MAX_BYTES + 1]));
        for name in [
            &b"."[..],
            b"..",
            b".a",
            b"/",
            b"/a",
            b"a/b",
            b"../a",
            b"a\0b",
            b"a\tb",
            b"a\nb",
            b"\x1b[2J",
            b"\x7f",
        ] {
            assert!(!is_stored(name), "{}", name.escape_ascii());
        }
    }

    #[test]
    fn cells_have_no_control_characters() {
        let is_cell = |name: &str| check_cell(OsStr::new(name)).is_ok();
        assert!(is_cell("../a b/.c") && is_cell(""));
        assert!(!is_cell("a\tb") && !is_cell("a\r") && !is_cell("\u{85}"));
    }
}
