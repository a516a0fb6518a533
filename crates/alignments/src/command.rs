//! Words of the command in a header (@PG, CL).

use std::path::Path;

use merganser_io::{Input, ReadInput};

/// Appends the files of a command: mates by their options, and after `--` the first file, if the reads are compared with
/// one, and all other inputs.
pub fn put_files(first: Option<&Path>, inputs: &[ReadInput], command: &mut String) {
    if inputs.iter().any(|input| matches!(input, ReadInput::Interleaved(_))) {
        command.push_str(" --interleaved");
    }
    for input in inputs {
        if let ReadInput::Pair(one, two) = input {
            let [one, two] = [one, two].map(|input| quoted(&input_name(input)));
            *command += &format!(" -1 {one} -2 {two}");
        }
    }
    let others = inputs.iter().filter(|input| !matches!(input, ReadInput::Pair(..)));
    let others = others.flat_map(ReadInput::inputs).map(input_name);
    let first = first.map(|path| path.display().to_string());
    let mut before = " --";
    for name in first.into_iter().chain(others) {
        *command += &format!("{before} {}", quoted(&name));
        before = "";
    }
}

/// Returns the name of an input; `-` for standard input.
fn input_name(input: &Input) -> String {
    input.path().map_or("-".to_owned(), |path| path.display().to_string())
}

/// Quotes a word for a shell if needed. Control characters, which a header must not contain, become `?`.
pub fn quoted(word: &str) -> String {
    let word = word.replace(char::is_control, "?");
    let is_plain = |letter: char| letter.is_alphanumeric() || "-_./:@%+=,".contains(letter);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word;
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_quoted_for_a_shell() {
        assert_eq!(quoted("a/b_1.fq.gz"), "a/b_1.fq.gz");
        assert_eq!(quoted("a b"), "'a b'");
        assert_eq!(quoted("it's\tone"), r"'it'\''s?one'");
        assert_eq!(quoted(""), "''");
    }
}
