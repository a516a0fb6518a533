//! Errors of the system.

use std::io;

use merganser_run::FaultKind;

/// The kind of an error of the system's.
pub fn kind_of(error: &io::Error) -> FaultKind {
    match error.kind() {
        io::ErrorKind::BrokenPipe => FaultKind::ClosedPipe,
        _ => FaultKind::Failed,
    }
}

/// An error of the crate `tempfile` without the temporary file's name, which says nothing to users.
pub(crate) fn without_name(error: io::Error) -> io::Error {
    if error.get_ref().is_some() { error.kind().into() } else { error }
}

/// Whether an error is that the process or the system has too many open files: no fault of the file that could not be
/// opened.
pub fn lacks_files(error: &io::Error) -> bool {
    let code = error.raw_os_error().map(rustix::io::Errno::from_raw_os_error);
    code.is_some_and(|code| [rustix::io::Errno::MFILE, rustix::io::Errno::NFILE].contains(&code))
}

/// What the system says of an error, in our style: lower case and without its number.
pub fn reason(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::StorageFull => return "no space left on device".into(),
        io::ErrorKind::QuotaExceeded => return "disk quota exceeded".into(),
        io::ErrorKind::FileTooLarge => {
            return "the file would be larger than is allowed (ulimit -f)".into();
        }
        _ => {}
    }
    let mut text = error.to_string();
    if let Some(number) = text.rfind(" (os error ") {
        text.truncate(number);
    }
    // "Is a directory" becomes "is a directory"; "EOF" would stay as it is.
    let mut letters = text.chars();
    match (letters.next(), letters.next()) {
        (Some(first), Some(second)) if second.is_lowercase() || second == ' ' => {
            format!("{}{}", first.to_lowercase(), &text[first.len_utf8()..])
        }
        _ => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn system_texts_are_put_into_our_style() {
        for (code, text) in [
            (2, "no such file or directory"),
            (13, "permission denied"),
            (28, "no space left on device"),
            (27, "the file would be larger than is allowed (ulimit -f)"),
            (5, "input/output error"),
        ] {
            assert_eq!(reason(&io::Error::from_raw_os_error(code)), text);
        }
    }
}
