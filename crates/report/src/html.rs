//! An HTML page of results: a single file that needs no network.
//!
//! Its script (Apache ECharts and the code in `web/`, from which `page/` is built) draws [`Data`], which are in the
//! page as JSON. Names may contain any characters: here they never become markup, and the script uses them only as
//! text. A Content-Security-Policy forbids all other scripts and all network access.

use std::collections::HashSet;
use std::io::{self, Write};

use askama::Template;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest, Sha256};

use crate::data::Data;

const SCRIPT: &str = include_str!("page/page.js");
const STYLE: &str = include_str!("page/page.css");
/// The maximum number of characters of a title.
const LONGEST_TITLE: usize = 120;

/// The page up to its data.
#[derive(Template)]
#[template(path = "page_begin.html")]
struct Begin<'a> {
    title: String,
    version: &'a str,
    style: &'a str,
    style_hash: String,
    script_hash: String,
}

/// The page after its data.
#[derive(Template)]
#[template(path = "page_end.html")]
struct End<'a> {
    script: &'a str,
}

/// An error of making a page.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The data cannot be written as JSON.
    #[error("results cannot be written as JSON: {0}")]
    Json(#[from] serde_json::Error),
    /// The template of the page failed.
    #[error("cannot make the page: {0}")]
    Template(#[from] askama::Error),
    /// The page cannot be written.
    #[error("cannot write the page: {0}")]
    Io(#[from] io::Error),
}

/// Makes the page of the results of some runs, in their order. Runs of the same kind share their charts.
///
/// The page contains no time, host or folder, so equal results make equal bytes.
///
/// # Errors
/// None are known: the page is made in memory.
pub fn page(data: &[Data]) -> Result<String, Error> {
    let samples: Vec<&str> = data.iter().map(|data| data.sample.as_str()).collect();
    let mut page = PageWriter::begin(Vec::new(), &samples)?;
    for data in data {
        page.add(&serde_json::to_string(data)?)?;
    }
    String::from_utf8(page.end()?).map_err(|why| io::Error::other(why).into())
}

/// A page that is written one run after the other, so that the results of all runs are never in memory together. Its
/// bytes are those of [`page`].
#[derive(Debug)]
pub struct PageWriter<W> {
    output: W,
    /// The text before the next run.
    separator: &'static str,
}

impl<W: Write> PageWriter<W> {
    /// Writes the beginning of the page. `samples` are the names of the samples, for the title.
    ///
    /// # Errors
    /// If the output cannot be written.
    pub fn begin(mut output: W, samples: &[&str]) -> Result<PageWriter<W>, Error> {
        let begin = Begin {
            title: title(samples),
            version: env!("CARGO_PKG_VERSION"),
            style: STYLE,
            style_hash: hash(STYLE),
            script_hash: hash(SCRIPT),
        };
        output.write_all(begin.render()?.as_bytes())?;
        Ok(PageWriter { output, separator: "[" })
    }

    /// Adds the results of a run, as [`Data::to_line`] returns them.
    ///
    /// # Errors
    /// If the output cannot be written.
    pub fn add(&mut self, line: &str) -> io::Result<()> {
        self.output.write_all(self.separator.as_bytes())?;
        self.separator = ",";
        self.output.write_all(harmless(line.trim_end()).as_bytes())
    }

    /// Writes the end of the page, and returns the output.
    ///
    /// # Errors
    /// If the output cannot be written.
    pub fn end(mut self) -> Result<W, Error> {
        let open = if self.separator == "[" { "[" } else { "" };
        self.output.write_all(format!("{open}]").as_bytes())?;
        self.output.write_all(End { script: SCRIPT }.render()?.as_bytes())?;
        Ok(self.output)
    }
}

/// Returns the names of the samples, or their number.
fn title(samples: &[&str]) -> String {
    let mut seen = HashSet::new();
    let names: Vec<&str> = samples.iter().copied().filter(|name| seen.insert(*name)).collect();
    let title = match &names[..] {
        [] => "No results".to_owned(),
        names if names.len() <= 3 => names.join(", "),
        names => format!("{} samples", names.len()),
    };
    let seen = title.chars().map(|letter| if is_unseen(letter) { '\u{FFFD}' } else { letter });
    let mut seen: Vec<char> = seen.take(LONGEST_TITLE + 1).collect();
    if seen.len() > LONGEST_TITLE {
        seen.truncate(LONGEST_TITLE - 1);
        seen.push('…');
    }
    seen.into_iter().collect()
}

/// Whether a character is invisible: a control character, a line end, or a change of the text direction.
fn is_unseen(letter: char) -> bool {
    let turns = matches!(letter, '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}');
    letter.is_control() || turns || matches!(letter, '\u{2028}' | '\u{2029}')
}

/// Returns the hash of a text for a Content-Security-Policy.
fn hash(text: &str) -> String {
    format!("sha256-{}", STANDARD.encode(Sha256::digest(text)))
}

/// Escapes JSON so that it cannot end or change the HTML element that contains it.
pub(crate) fn harmless(json: &str) -> String {
    let mut out = String::with_capacity(json.len());
    for letter in json.chars() {
        match letter {
            '<' | '>' | '&' | '\u{2028}' | '\u{2029}' => {
                out.push_str(&format!("\\u{:04x}", letter as u32));
            }
            other => out.push(other),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_script_cannot_be_ended() {
        // They are in the page without escapes.
        assert!(!SCRIPT.contains("</script") && !SCRIPT.contains("<!--"));
        assert!(!STYLE.contains("</style"));
    }

    #[test]
    fn names_never_become_markup() {
        let name = "</script><img src=x onerror=alert(1)>&\u{2028}\"'\\";
        let mut data = Data::new("0.2.0", "count", name);
        data.inputs.push(name.to_owned());
        let page = page(&[data.clone()]).unwrap();
        assert_eq!(page.matches("</script").count(), 2);
        assert!(!page.contains("<img"));
        // The title's quotes are entities; the JSON is the data again.
        let (_, rest) = page.split_once("id=\"data\">").unwrap();
        let (json, _) = rest.split_once("</script>").unwrap();
        assert_eq!(serde_json::from_str::<Vec<Data>>(json).unwrap(), [data]);
    }

    #[test]
    fn titles_are_short() {
        assert_eq!(title(&[]), "No results");
        assert_eq!(title(&["a", "a", "b"]), "a, b");
        assert_eq!(title(&["a", "b", "a", "b"]), "a, b");
        assert_eq!(title(&["a", "b", "c", "d"]), "4 samples");
        assert_eq!(title(&[&"x".repeat(10_000)]).chars().count(), LONGEST_TITLE);
        assert_eq!(title(&["a\u{0}b"]), "a\u{FFFD}b");
    }
}
