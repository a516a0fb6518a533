//! What all jobs' errors have in common: their kind, and how they name what was asked.

use std::fmt;

/// What kind of error it is, for whoever has to act on any job's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum FaultKind {
    /// What was asked is out of range or does not go together: the caller's own fault.
    Config,
    /// The run was cancelled.
    Cancelled,
    /// Whoever read the output went away.
    ClosedPipe,
    /// The input or the environment is at fault.
    Failed,
}

/// An error of one of the crates. Its message is one line that says what was wrong, where, and what
/// to do; fields of configurations and of [`Resources`](crate::Resources) stand in it in backticks,
/// so that a program can put its own names for them in their places, by [`with_names`].
pub trait Fault: std::error::Error + Send + Sync + 'static {
    /// What kind of error it is.
    fn kind(&self) -> FaultKind;
}

/// What was asked is out of range, or two things do not go together. The message names fields in
/// backticks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigError(String);

impl ConfigError {
    /// An error with this message of one line, which names fields in backticks.
    pub fn new(message: impl Into<String>) -> ConfigError {
        ConfigError(message.into())
    }
}

impl fmt::Display for ConfigError {
    /// The message, with fields in backticks.
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

/// A message in which each word in backticks for which `name` has another one is replaced by that,
/// without backticks; what else is in backticks stays as it is.
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
