//! What several commands need.

use std::fs;
use std::path::PathBuf;

use anyhow::{Result, bail};
use merganser_io::Input;

/// Sees to it that no output would take the place of an input or of another output: a slip of the
/// shell should not cost the reads.
///
/// # Errors
/// Which file it is.
pub(crate) fn refuse_to_replace(outputs: &[PathBuf], inputs: &[Input]) -> Result<()> {
    let outputs: Vec<&PathBuf> =
        outputs.iter().filter(|path| !fs::metadata(path).is_ok_and(|at| !at.is_file())).collect();
    for (number, output) in outputs.iter().enumerate() {
        if output.as_os_str() == "-" {
            continue;
        }
        if outputs[..number].contains(output) {
            bail!("{}: two outputs cannot go to the same file", output.display());
        }
        let Ok(place) = fs::canonicalize(output) else { continue };
        let same = |input: &&Input| match input {
            Input::File(path) => fs::canonicalize(path).is_ok_and(|path| path == place),
            Input::Stdin => false,
        };
        if inputs.iter().any(|input| same(&input)) {
            bail!("{}: is an input, and will not be replaced by an output", output.display());
        }
    }
    Ok(())
}

/// A number with commas between thousands.
pub(crate) fn thousands(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() * 4 / 3 + 1);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::thousands;

    #[test]
    fn commas_stand_between_thousands() {
        let cases = [(0, "0"), (999, "999"), (1000, "1,000"), (1234567, "1,234,567")];
        for (number, text) in cases {
            assert_eq!(thousands(number), text);
        }
    }
}
