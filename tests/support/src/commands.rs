//! The commands of the program.

mod table;

pub use table::{ROWS, Row};

use crate::Dir;

/// Returns every command and subcommand, as the help lists them.
pub fn commands() -> Vec<String> {
    let dir = Dir::new();
    let below = |command: &str| {
        let help = dir.run(&format!("{command} -h")).ok();
        let lines = help.lines().skip_while(|line| *line != "Commands:").skip(1);
        let names =
            lines.take_while(|line| !line.is_empty()).filter(|line| !line.starts_with("   "));
        let names =
            names.filter_map(|line| line.split_whitespace().next()).filter(|n| *n != "help");
        names.map(|name| format!("{command} {name}").trim().to_owned()).collect::<Vec<_>>()
    };
    let mut all = below("");
    all.extend(["kmers", "db", "report", "extract", "deplete"].iter().flat_map(|noun| below(noun)));
    assert!(all.len() > 30, "{all:?}");
    all
}
