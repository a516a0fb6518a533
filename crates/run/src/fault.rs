//! The common interface of all jobs' errors: their kind, and the names of options in their messages.

use std::fmt;

/// The kind of an error, for callers that handle errors of any job.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum FaultKind {
    /// Values are out of range or conflict: an error of the caller.
    Config,
    /// The run was cancelled.
    Cancelled,
    /// The reader of the output closed the pipe.
    ClosedPipe,
    /// The input or the environment is at fault.
    Failed,
}

/// An error of a job. Its message is one line that says what is wrong, where, and what
/// to do. Fields of configurations and of [`Context`](crate::Context) are in backticks,
/// so that a program can replace them with its own names ([`with_names`]).
pub trait Fault: std::error::Error + Send + Sync + 'static {
    /// Returns the kind of the error.
    fn kind(&self) -> FaultKind;
}

/// The error of values that are out of range or conflict. The message has names of fields in backticks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigError(String);

impl ConfigError {
    /// Creates an error with this one-line message, which has names of fields in backticks.
    pub fn new(message: impl Into<String>) -> ConfigError {
        ConfigError(message.into())
    }
}

impl fmt::Display for ConfigError {
    /// Writes the message, with fields in backticks.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl std::error::Error for ConfigError {}

impl Fault for ConfigError {
    fn kind(&self) -> FaultKind {
        FaultKind::Config
    }
}

/// Replaces each word in backticks for which `name` returns a name by that name, without backticks; other words stay
/// in backticks.
///
/// ```
/// let flag = |field: &str| (field == "min_count").then(|| "--min-count".to_owned());
/// let message = merganser_run::with_names("`min_count` 0 is too small: see `man`", flag);
/// assert_eq!(message, "--min-count 0 is too small: see `man`");
/// ```
pub fn with_names(message: &str, name: impl Fn(&str) -> Option<String>) -> String {
    let mut text = String::with_capacity(message.len());
    let mut rest = message;
    while let Some((before, after)) = rest.split_once('`') {
        text += before;
        match after.split_once('`').and_then(|(word, left)| Some((name(word)?, left))) {
            Some((new, left)) => {
                text += &new;
                rest = left;
            }
            None => {
                text.push('`');
                rest = after;
            }
        }
    }
    text + rest
}

#[cfg(test)]
mod tests {
    use super::with_names;

    #[test]
    fn only_what_is_known_gets_another_name() {
        let name = |field: &str| match field {
            "k" => Some("-k".to_owned()),
            "bins" => Some("--bins".to_owned()),
            _ => None,
        };
        for (message, expected) in [
            ("`k` 0 or `bins` 0", "-k 0 or --bins 0"),
            ("a`k.fq: `k`", "a`k.fq: -k"),
            ("run `samtools`", "run `samtools`"),
            ("``k`` and `", "`-k` and `"),
            ("", ""),
        ] {
            assert_eq!(with_names(message, name), expected);
        }
    }
}
