//! Example commands in pages and help texts.

use std::path::{Path, PathBuf};

use crate::Dir;

/// A command as a page or a help text shows it.
pub struct Example {
    pub place: String,
    pub command: String,
}

/// Joins lines that end in a backslash with the next ones; each has the number of its first line, from 1.
fn logical_lines<'t>(lines: impl Iterator<Item = &'t str>) -> Vec<(usize, String)> {
    let mut joined: Vec<(usize, String)> = Vec::new();
    let mut open = false;
    for (number, line) in lines.enumerate() {
        match joined.last_mut().filter(|_| open) {
            Some((_, text)) => *text += line.trim(),
            None => joined.push((number + 1, line.to_owned())),
        }
        let (_, text) = joined.last_mut().unwrap();
        open = text.ends_with('\\');
        if open {
            text.pop();
        }
    }
    joined
}

/// Whether a line runs this program, possibly in a pipeline or after assignments of variables.
fn runs_ours(command: &str) -> bool {
    let begins = |part: &str| {
        let mut words = part.split_whitespace();
        words.find(|word| !word.contains('=')) == Some("merganser")
    };
    command.split('|').any(begins)
}

/// Returns the commands of a page in fenced blocks and in paragraphs that are indented by four blanks.
pub fn of_page(path: &Path) -> Vec<Example> {
    let text = std::fs::read_to_string(path).unwrap();
    let name = path.file_name().unwrap().to_string_lossy().into_owned();
    let mut fenced = false;
    let mut examples = Vec::new();
    for (number, line) in logical_lines(text.lines()) {
        if line.starts_with("```") {
            fenced = !fenced;
        } else if fenced || line.starts_with("    ") {
            let line = line.trim();
            let line = line.strip_prefix("$ ").unwrap_or(line);
            let line = line.replace("cargo run --release -- ", "merganser ");
            if runs_ours(&line) {
                examples.push(Example { place: format!("{name}:{number}"), command: line });
            }
        }
    }
    examples
}

/// Adds the pages of a folder and its subfolders.
pub fn find_pages(folder: &Path, pages: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            find_pages(&path, pages);
        } else if path.extension().is_some_and(|end| end == "md") {
            pages.push(path);
        }
    }
}

/// Returns the commands under `Examples:` in the help of a command.
pub fn of_help(command: &str) -> Vec<Example> {
    let help = Dir::new().run(&format!("{command} --help")).ok();
    let lines = help.lines().skip_while(|line| *line != "Examples:").skip(1);
    let lines = logical_lines(lines.take_while(|line| !line.is_empty()));
    let commands = lines.into_iter().map(|(_, line)| line.trim().to_owned());
    // The lines between commands describe them and end in a colon.
    let commands: Vec<String> = commands.filter(|line| runs_ours(line)).collect();
    assert!(!commands.is_empty(), "{command}: no example");
    let place = format!("merganser {command} --help");
    commands.into_iter().map(|command| Example { place: place.clone(), command }).collect()
}
