//! Checks comments, messages and pages against the words that `CONTRIBUTING.md` lists under "Language".

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::source::{comments, literals};

/// Files that are not checked: generated ones, and the tests of this check.
const UNCHECKED: [&str; 2] = ["crates/report/src/page/page.js", "xtask/src/words.rs"];
/// The heading in `CONTRIBUTING.md` under which the lists are.
const SECTION: &str = "\n## Language\n";
/// Begins the line that lists the openings.
const OPENINGS: &str = "A summary never begins with ";
/// Heads the table whose first column has the phrases.
const TABLE: &str = "| not |";

/// The two lists.
struct Lists {
    /// First words that a doc comment must not have.
    openings: Vec<String>,
    /// Phrases that no text must have, in lower case.
    phrases: Vec<String>,
}

/// Text of a file: a paragraph, a comment or a string literal.
struct Passage {
    /// Number of its first line, from 1.
    line: usize,
    /// Its words, separated by single blanks.
    text: String,
    /// The text documents an item.
    is_doc: bool,
}

/// Prints each place of a checkout with a refused word.
///
/// # Errors
/// If there is one, or if a file cannot be read.
pub(crate) fn check(directory: &Path) -> Result<(), String> {
    let guide = fs::read_to_string(directory.join("CONTRIBUTING.md"))
        .map_err(|error| format!("CONTRIBUTING.md: {error}"))?;
    let lists = Lists::parse(&guide)?;
    let mut found = [0; 2];
    for path in tracked(directory)? {
        let Ok(text) = fs::read_to_string(directory.join(&path)) else { continue };
        for passage in passages(&path, &text) {
            for (kind, word) in lists.refused(&passage) {
                found[usize::from(kind == "word")] += 1;
                println!("{path}:{}: {kind} `{word}`", passage.line);
            }
        }
    }
    match found {
        [0, 0] => Ok(()),
        [openings, words] => Err(format!(
            "{openings} openings and {words} words that CONTRIBUTING.md, Language, refuses"
        )),
    }
}

impl Lists {
    fn parse(guide: &str) -> Result<Lists, String> {
        let section = guide.split_once(SECTION).map(|(_, rest)| rest);
        let section = section.and_then(|rest| rest.split("\n## ").next());
        let section = section.ok_or("CONTRIBUTING.md: no section Language")?;
        let quoted = |text: &str| -> Vec<String> {
            text.split('`').skip(1).step_by(2).map(str::to_owned).collect()
        };
        let openings = section.lines().find(|line| line.starts_with(OPENINGS));
        let table = section.lines().skip_while(|line| !line.starts_with(TABLE));
        let table = table.take_while(|line| line.starts_with('|'));
        let rows = table.filter_map(|line| line.strip_prefix("| ")?.split('|').next());
        let lists = Lists {
            openings: openings.map(quoted).unwrap_or_default(),
            phrases: rows.flat_map(quoted).collect(),
        };
        if lists.openings.is_empty() || lists.phrases.is_empty() {
            return Err("CONTRIBUTING.md, Language: no list of words".to_owned());
        }
        Ok(lists)
    }

    /// Returns what a passage has of the lists: the kind and the word.
    fn refused<'l>(&'l self, passage: &Passage) -> Vec<(&'static str, &'l str)> {
        let begins = |word: &&String| {
            let rest = passage.text.strip_prefix(word.as_str());
            rest.is_some_and(|rest| rest.starts_with([' ', ',', ':']))
        };
        let opening = self.openings.iter().filter(|_| passage.is_doc).find(begins);
        // `None` is a value of Rust and Python.
        let lower = passage.text.replace("None", "`None`").to_lowercase();
        let words = self.phrases.iter().filter(|phrase| has(&lower, phrase));
        let opening = opening.map(|word| ("opening", word.as_str()));
        opening.into_iter().chain(words.map(|word| ("word", word.as_str()))).collect()
    }
}

/// Whether a text has a phrase as whole words.
fn has(text: &str, phrase: &str) -> bool {
    text.match_indices(phrase).any(|(at, _)| {
        let end = text[at + phrase.len()..].chars().next();
        let before = text[..at].chars().next_back();
        let inside = |letter: Option<char>| {
            letter.is_some_and(|letter| letter.is_alphanumeric() || "_-`'".contains(letter))
        };
        !inside(before) && !inside(end)
    })
}

/// The files of a checkout that have comments, messages or prose.
fn tracked(directory: &Path) -> Result<Vec<String>, String> {
    let listed = Command::new("git").arg("-C").arg(directory).arg("ls-files").output();
    let listed = listed.map_err(|error| format!("git: {error}"))?;
    let kinds = [".rs", ".cu", ".cuh", ".hpp", ".md", ".py", ".pyi", ".sh", ".js", ".ts", ".yml"];
    let names = String::from_utf8_lossy(&listed.stdout).into_owned();
    let names = names.lines().filter(|name| kinds.iter().any(|kind| name.ends_with(kind)));
    let names = names.filter(|name| !UNCHECKED.contains(name));
    Ok(names.map(str::to_owned).collect())
}

fn passages(path: &str, text: &str) -> Vec<Passage> {
    if [".rs", ".cu", ".cuh", ".hpp"].iter().any(|end| path.ends_with(end)) {
        let mut passages = of_comments(&comments(text));
        passages.extend(of_paragraphs(&literals(text)));
        return passages;
    }
    if path.ends_with(".md") {
        return of_paragraphs(&prose(path, text));
    }
    of_paragraphs(text)
}

/// Neighbouring comment lines of one kind are a passage.
fn of_comments(text: &str) -> Vec<Passage> {
    let mut passages: Vec<Passage> = Vec::new();
    let mut before = "";
    for (number, line) in text.lines().enumerate() {
        let line = line.trim();
        let marker = ["///", "//!", "//", "/*"].into_iter().find(|marker| line.starts_with(marker));
        let marker = marker.unwrap_or("");
        let content = line[marker.len()..].trim();
        let starts = content.is_empty() || marker != before || passages.is_empty();
        let is_doc = marker.len() == 3 && marker != before;
        before = marker;
        if starts {
            passages.push(Passage { line: number + 1, text: String::new(), is_doc });
        }
        add(&mut passages, content);
    }
    passages
}

/// Lines up to an empty one are a passage.
fn of_paragraphs(text: &str) -> Vec<Passage> {
    let mut passages = vec![Passage { line: 1, text: String::new(), is_doc: false }];
    for (number, line) in text.lines().enumerate() {
        if line.trim().is_empty() {
            passages.push(Passage { line: number + 2, text: String::new(), is_doc: false });
        }
        add(&mut passages, line.trim());
    }
    passages
}

/// Adds a line to the last passage.
fn add(passages: &mut [Passage], line: &str) {
    if let Some(last) = passages.last_mut().filter(|_| !line.is_empty()) {
        let blank = if last.text.is_empty() { "" } else { " " };
        last.text += blank;
        last.text += line;
    }
}

/// Blanks out what is no prose of ours: fenced blocks, and the section that lists the words.
fn prose(path: &str, text: &str) -> String {
    let (mut fenced, mut listed) = (false, false);
    let mut kept = String::new();
    for line in text.lines() {
        if line.starts_with("## ") {
            listed = path == "CONTRIBUTING.md" && line == SECTION.trim();
        }
        let fence = line.trim_start().starts_with("```");
        fenced ^= fence;
        if !fenced && !fence && !listed {
            kept += line;
        }
        kept.push('\n');
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    const GUIDE: &str = "# C\n\n## Language\n\nA summary never begins with `Of`, `What`.\n\n\
                         | not | instead |\n|---|---|\n| `so many`, `held against` | N |\n\n| now |\n| `this` |\n\n## Next\n";

    fn found(path: &str, text: &str) -> Vec<(usize, String)> {
        let lists = Lists::parse(GUIDE).unwrap();
        let all = passages(path, text);
        let all = all.iter().flat_map(|passage| {
            let words = lists.refused(passage);
            words.into_iter().map(|(_, word)| (passage.line, word.to_owned()))
        });
        all.collect()
    }

    #[test]
    fn refuses_openings_of_doc_comments_and_words_everywhere() {
        let code = "//! What it does.\n\n/// Of a read.\nfn so_many() {}\n// What else: so\n// many.\n\
                    const A: &str = \"held against\";\nlet held_against = 1; // Of no doc\n";
        let expected = [(1, "What"), (3, "Of"), (5, "so many"), (7, "held against")]
            .map(|(line, word)| (line, word.to_owned()));
        assert_eq!(found("a.rs", code), expected);
        assert!(found("a.rs", "/// Offsets.\nfn of() {} // so-many\n").is_empty());
    }

    #[test]
    fn pages_are_read_without_code_and_without_the_list_itself() {
        let page = "Held\nagainst it.\n\n```\nso many\n```\n";
        assert_eq!(found("a.md", page), [(1, "held against".to_owned())]);
        assert!(found("CONTRIBUTING.md", GUIDE).is_empty());
    }
}
