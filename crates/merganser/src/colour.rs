//! Colours on the terminal.

use std::io::IsTerminal;

/// Whether stderr gets colours: it is a terminal that has some, and `NO_COLOR` (<https://no-color.org>) is not set.
pub(crate) fn is_wanted() -> bool {
    let is_set = |name| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    let is_dumb = std::env::var_os("TERM").is_none_or(|term| term == "dumb");
    std::io::stderr().is_terminal() && !is_set("NO_COLOR") && !is_dumb
}

const BLUE: &str = "\x1b[34m";
const YELLOW: &str = "\x1b[33m";
const GREY: &str = "\x1b[90m";
const PLAIN: &str = "\x1b[0m";

/// Colours the bars, dots and axes of a plot.
pub(crate) fn plot(text: &str) -> String {
    let mut out = String::with_capacity(2 * text.len());
    let mut last = PLAIN;
    for letter in text.chars() {
        let colour = match letter {
            '\u{2581}'..='\u{258F}' => BLUE,
            '•' => YELLOW,
            '│' | '┤' | '└' | '─' | '┬' => GREY,
            ' ' => last,
            _ => PLAIN,
        };
        // A line end has no colour, so that a line that is cut does not colour the next one.
        let colour = if letter == '\n' { PLAIN } else { colour };
        if colour != last {
            out.push_str(colour);
        }
        last = colour;
        out.push(letter);
    }
    if last != PLAIN {
        out.push_str(PLAIN);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_have_a_colour_and_words_have_none() {
        assert_eq!(plot("genome 705 kb"), "genome 705 kb");
        assert_eq!(plot("a ██ •\nb"), "a \x1b[34m██ \x1b[33m•\x1b[0m\nb");
        assert_eq!(plot("┤█"), "\x1b[90m┤\x1b[34m█\x1b[0m");
    }
}
