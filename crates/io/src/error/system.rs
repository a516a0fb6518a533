//! Errors of the operating system.

use std::io;

use merganser_run::FaultKind;

/// Returns the kind of a system error.
pub fn kind_of(error: &io::Error) -> FaultKind {
    match error.kind() {
        io::ErrorKind::BrokenPipe => FaultKind::ClosedPipe,
        _ => FaultKind::Failed,
    }
}

/// Removes the name of the temporary file from an error of the crate `tempfile`: it is of no use to users.
pub(crate) fn without_name(error: io::Error) -> io::Error {
    if error.get_ref().is_some() { error.kind().into() } else { error }
}

/// Whether an error means that the process or the system has too many open files. Then the file that could not be
/// opened is not at fault.
pub fn lacks_files(error: &io::Error) -> bool {
    let code = error.raw_os_error().map(rustix::io::Errno::from_raw_os_error);
    code.is_some_and(|code| [rustix::io::Errno::MFILE, rustix::io::Errno::NFILE].contains(&code))
}

/// Returns the message of a system error in the style of this program: in lower case and without the error number.
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
    // "Is a directory" becomes "is a directory", whereas "EOF" is unchanged.
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
