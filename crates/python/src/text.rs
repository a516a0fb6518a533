//! Words of messages.

use merganser_run::thousands;

/// Returns a number with a noun, which gets an "s" if the number is not 1.
pub(crate) fn counted(number: u64, noun: &str) -> String {
    let end = if number == 1 { "" } else { "s" };
    format!("{} {noun}{end}", thousands(number))
}
