//! A page of results for a browser: one file that needs no network.
//!
//! Its script (Apache ECharts and the code in `web/`, which builds `page/`) draws what [`Data`] hold, which stand in the page as
//! JSON. Names in them may hold anything: here they never become markup, and the script makes texts of them alone. A
//! Content-Security-Policy lets no other script run, and nothing be fetched.

use std::collections::HashSet;

use askama::Template;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest, Sha256};

use crate::data::Data;

const SCRIPT: &str = include_str!("page/page.js");
const STYLE: &str = include_str!("page/page.css");
/// Letters of a title, at most.
const LONGEST_TITLE: usize = 120;

#[derive(Template)]
#[template(path = "page.html")]
struct Page<'a> {
    title: String,
    version: &'a str,
    style: &'a str,
    style_hash: String,
    script: &'a str,
    script_hash: String,
    data: String,
}

/// Why there is no page.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The data have no text.
    #[error("results cannot be written as JSON: {0}")]
    Json(#[from] serde_json::Error),
    /// The page could not be put together.
    #[error("the page cannot be made: {0}")]
    Template(#[from] askama::Error),
}

/// The page of the results of some runs, in their order; those of the same kind are drawn beside each other.
///
/// It has no time, host or folder: the same results make the same bytes.
///
/// # Errors
/// None are known: the page is made in memory.
pub fn page(data: &[Data]) -> Result<String, Error> {
    let page = Page {
        title: title(data),
        version: env!("CARGO_PKG_VERSION"),
        style: STYLE,
        style_hash: hash(STYLE),
        script: SCRIPT,
        script_hash: hash(SCRIPT),
        data: harmless(&serde_json::to_string(data)?),
    };
    Ok(page.render()?)
}

/// The samples' names, or how many there are.
fn title(data: &[Data]) -> String {
    let mut seen = HashSet::new();
    let names = data.iter().map(|data| data.sample.as_str());
    let names: Vec<&str> = names.filter(|name| seen.insert(*name)).collect();
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

/// Whether a letter is none that is seen: it ends lines or turns the direction of others.
fn is_unseen(letter: char) -> bool {
    let turns = matches!(letter, '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}');
    letter.is_control() || turns || matches!(letter, '\u{2028}' | '\u{2029}')
}

/// The name of a text in a Content-Security-Policy.
fn hash(text: &str) -> String {
    format!("sha256-{}", STANDARD.encode(Sha256::digest(text)))
}

/// JSON without what would end or change the element that it stands in.
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
        // In the page they are as they are.
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
        let of = |names: &[&str]| {
            title(&names.iter().map(|name| Data::new("", "", name)).collect::<Vec<_>>())
        };
        assert_eq!(of(&[]), "No results");
        assert_eq!(of(&["a", "a", "b"]), "a, b");
        assert_eq!(of(&["a", "b", "a", "b"]), "a, b");
        assert_eq!(of(&["a", "b", "c", "d"]), "4 samples");
        assert_eq!(of(&[&"x".repeat(10_000)]).chars().count(), LONGEST_TITLE);
        assert_eq!(of(&["a\u{0}b"]), "a\u{FFFD}b");
    }
}
