//! Tables in Markdown.

/// A table: the first column to the left, the others to the right.
pub(crate) fn table(headers: &[&str], rows: &[Vec<String>]) -> String {
    let rule = (0..headers.len()).map(|i| if i == 0 { "---" } else { "---:" });
    let mut text =
        format!("| {} |\n| {} |\n", headers.join(" | "), rule.collect::<Vec<_>>().join(" | "));
    for row in rows {
        text.push_str(&format!("| {} |\n", row.join(" | ")));
    }
    text.push('\n');
    text
}

/// Nanoseconds of each of `items`, from the seconds of all.
pub(crate) fn nanoseconds(seconds: f64, items: usize) -> String {
    format!("{:.2}", seconds * 1e9 / items.max(1) as f64)
}

/// A number with commas between groups of three digits.
pub(crate) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_tables_read_well() {
        assert_eq!(["0", "999", "1,000", "12,345,678"], [0, 999, 1000, 12_345_678].map(grouped));
        assert_eq!(nanoseconds(1.5, 1_000_000_000), "1.50");
        let text = table(&["a", "b"], &[vec!["x".into(), "1".into()]]);
        assert_eq!(text, "| a | b |\n| --- | ---: |\n| x | 1 |\n\n");
    }
}
