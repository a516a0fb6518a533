//! A table of the number of hits of each pattern.

use std::io::{self, Write};

use merganser_io::put_decimal;

use crate::{Outcome, Pattern};

/// Writes a table with a line for each pattern, in their order: its name, its letters, its number of hits with 0, 1, …
/// edits, and the number of all hits. A pattern that may have fewer edits than others has NA for the rest.
///
/// # Errors
/// If it cannot be written.
pub fn write_counts(
    outcome: &Outcome,
    patterns: &[Pattern],
    out: &mut dyn Write,
) -> io::Result<()> {
    let columns = outcome.hits.iter().map(Vec::len).max().unwrap_or(0);
    let mut text = b"pattern\tletters".to_vec();
    put_header(columns, &mut text);
    for (pattern, hits) in patterns.iter().zip(&outcome.hits) {
        text.extend_from_slice(pattern.name().as_bytes());
        text.push(b'\t');
        text.extend_from_slice(pattern.letters());
        put_counts(hits, columns, &mut text);
        out.write_all(&text)?;
        text.clear();
    }
    out.write_all(&text)
}

/// Appends the names of the columns of counts, and the end of the line.
pub(super) fn put_header(columns: usize, text: &mut Vec<u8>) {
    (0..columns).for_each(|edits| text.extend_from_slice(format!("\tedits_{edits}").as_bytes()));
    text.extend_from_slice(b"\ttotal\n");
}

/// Appends the number of hits with 0, 1, … edits, with NA for missing columns, their sum, and the end of the line.
pub(super) fn put_counts(hits: &[u64], columns: usize, text: &mut Vec<u8>) {
    for edits in 0..columns {
        text.push(b'\t');
        match hits.get(edits) {
            Some(count) => put_decimal(*count, text),
            None => text.extend_from_slice(b"NA"),
        }
    }
    text.push(b'\t');
    put_decimal(hits.iter().sum(), text);
    text.push(b'\n');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_have_a_line_each() {
        let pattern = |name: &str, letters: &str| Pattern::new(name, letters.as_bytes()).unwrap();
        let patterns = [pattern("a", "ACGT"), pattern("b", "ggrcaa")];
        let outcome = Outcome { hits: vec![vec![3], vec![1, 0, 20]], ..Outcome::default() };
        let table = |outcome: &Outcome, patterns: &[Pattern]| {
            let mut text = Vec::new();
            write_counts(outcome, patterns, &mut text).unwrap();
            String::from_utf8(text).unwrap()
        };
        let expected = "pattern\tletters\tedits_0\tedits_1\tedits_2\ttotal\n\
            a\tACGT\t3\tNA\tNA\t3\nb\tGGRCAA\t1\t0\t20\t21\n";
        assert_eq!(table(&outcome, &patterns), expected);
        assert_eq!(table(&Outcome::default(), &[]), "pattern\tletters\ttotal\n");
    }
}
