//! Words of the command in a header (@PG, CL).

use merganser_io::Input;

/// Returns the name of an input; `-` for standard input.
pub fn input_name(input: &Input) -> String {
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
