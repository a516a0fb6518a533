//! The table of commands (`tests/support/src/commands/table.txt`), from which tests know all commands.

use std::collections::BTreeMap;

use merganser_test_support::Dir;
use merganser_test_support::commands::{ROWS, Row, commands};

fn begins(row: &Row, command: &str) -> bool {
    format!("{} ", row.line).starts_with(&format!("{command} "))
}

#[test]
fn the_table_has_every_command() {
    let mut missing = commands();
    missing.retain(|command| !ROWS.iter().any(|row| begins(row, command)));
    assert!(missing.is_empty(), "{missing:?}");
}

/// Options that the table lists for a line are options of its command.
#[test]
fn rows_take_what_they_are_said_to_take() {
    let (dir, mut helps) = (Dir::new(), BTreeMap::new());
    // `kmers convert` is an alias, which the help does not list.
    let commands = [commands(), vec!["kmers convert".into()]].concat();
    for row in ROWS.iter() {
        let command =
            commands.iter().filter(|command| begins(row, command)).max_by_key(|c| c.len());
        let command = command.unwrap_or_else(|| panic!("{}", row.line));
        let help =
            helps.entry(command).or_insert_with(|| dir.run(&format!("{command} --help")).ok());
        for (takes, option) in [
            (row.takes_memory(), "--memory <"),
            (row.takes_tmp_dir(), "--tmp-dir <"),
            (row.takes_threads(), "--threads <"),
            (row.takes_device(), "--device <"),
            (row.takes_json(), "--json <"),
        ] {
            assert!(!takes || help.contains(option), "{}: {option}", row.line);
        }
    }
}
