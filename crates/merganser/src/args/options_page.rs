//! The page of the book that lists all options, made of their definitions.
//!
//! The test compares it with `docs/reference/options.md`; `MERGANSER_WRITE_PAGES=1` writes that file.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;

use clap::{Arg, Command, CommandFactory};

use super::Cli;

/// Options that this many commands share are described once, at the top.
const COMMON: usize = 2;

const HEAD: &str = "\
# Options

This page lists the options of all commands. It is generated from their definitions; `merganser COMMAND --help`
explains them at length, with examples.

";

/// An option: how it is written, and its row of a table.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Row {
    /// With dashes, and the name of its value.
    option: String,
    meaning: String,
}

/// A command below the program's name.
struct Listed {
    name: String,
    about: String,
    rows: Vec<Row>,
}

fn page() -> String {
    let mut cli = Cli::command().disable_help_subcommand(true);
    cli.build();
    let mut commands = Vec::new();
    list("", &cli, &mut commands);
    let mut users: BTreeMap<&Row, usize> = BTreeMap::new();
    for row in commands.iter().flat_map(|command| &command.rows) {
        *users.entry(row).or_default() += 1;
    }
    let is_common = |row: &Row| users[row] >= COMMON;
    let common: Vec<&Row> = users.keys().copied().filter(|row| is_common(row)).collect();
    let mut page = HEAD.to_owned();
    page += "## Options of several commands\n\n";
    table(&mut page, common.iter().copied());
    for Listed { name, about, rows } in &commands {
        write!(page, "\n## {name}\n\n{about}.\n\n").unwrap();
        let own: Vec<&Row> = rows.iter().filter(|row| !is_common(row)).collect();
        if !own.is_empty() {
            table(&mut page, own.into_iter());
            page.push('\n');
        }
        let shared = rows.iter().filter(|row| is_common(row)).map(|row| first_name(&row.option));
        let shared: Vec<String> = shared.collect();
        if !shared.is_empty() {
            writeln!(page, "Common options: {}.", shared.join(", ")).unwrap();
        }
    }
    page
}

/// Adds the commands below `command` that do a job.
fn list(above: &str, command: &Command, commands: &mut Vec<Listed>) {
    for below in command.get_subcommands().filter(|below| !below.is_hide_set()) {
        let name = format!("{above}{}", below.get_name());
        if !below.is_subcommand_required_set() {
            let shown = |option: &&Arg| {
                !option.is_hide_set() && !option.is_global_set() && option.get_id() != "help"
            };
            let about = below.get_about().map(ToString::to_string).unwrap_or_default();
            let rows = below.get_arguments().filter(shown).map(Row::new).collect();
            commands.push(Listed { name: name.clone(), about, rows });
        }
        list(&format!("{name} "), below, commands);
    }
}

impl Row {
    fn new(option: &Arg) -> Row {
        let short = option.get_short().map(|short| format!("-{short}"));
        let long = option.get_long().map(|long| format!("--{long}"));
        let names: Vec<String> = short.into_iter().chain(long).collect();
        let value = option.get_value_names().filter(|_| option.get_action().takes_values());
        let value = value.and_then(|names| names.first()).map(|name| format!("<{name}>"));
        let parts: Vec<String> = [names.join(", ")].into_iter().chain(value).collect();
        let mut meaning = option.get_help().map(ToString::to_string).unwrap_or_default();
        let values: Vec<String> = (option.get_possible_values().iter())
            .filter(|value| !value.is_hide_set() && option.get_action().takes_values())
            .map(|value| format!("`{}`", value.get_name()))
            .collect();
        if !values.is_empty() {
            write!(meaning, " ({})", values.join(", ")).unwrap();
        }
        let defaults =
            option.get_default_values().first().filter(|_| option.get_action().takes_values());
        if let Some(default) = defaults.map(|default| default.to_string_lossy()) {
            write!(meaning, " [default: {default}]").unwrap();
        }
        Row { option: parts.join(" ").trim().to_owned(), meaning }
    }
}

/// The long name of an option, or its short one, as code.
fn first_name(option: &str) -> String {
    let mut words = option.split([' ', ',']).filter(|word| word.starts_with('-'));
    format!("`{}`", words.next_back().unwrap_or(option))
}

fn table<'r>(page: &mut String, rows: impl Iterator<Item = &'r Row>) {
    *page += "|option|meaning|\n|---|---|\n";
    for Row { option, meaning } in rows {
        let [option, meaning] = [option, meaning].map(|text| text.replace('|', "\\|"));
        let meaning = meaning.replace('<', "\\<");
        writeln!(page, "|`{option}`|{meaning}|").unwrap();
    }
}

#[test]
fn the_page_is_that_of_the_definitions() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference/options.md");
    let page = page();
    if std::env::var_os("MERGANSER_WRITE_PAGES").is_some() {
        std::fs::write(&path, &page).unwrap();
    }
    let written = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(written == page, "{}: write it with MERGANSER_WRITE_PAGES=1", path.display());
}
