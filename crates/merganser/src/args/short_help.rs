//! The short help (`-h`): the options that most runs need, and the examples. `--help` shows everything.

use clap::{Command, CommandFactory};

use super::Cli;

/// The options that `-h` shows, for commands that have many. Other commands show all but [`RARE`].
const SHOWN: [(&str, &str); 15] = [
    (
        "count",
        "k output format histogram model min-count max-count forward-only hpc report-html threads memory device",
    ),
    ("kmers histogram", "output max model ploidy plot report-html threads"),
    (
        "kmers filter-reads",
        "1 2 interleaved min-hits max-hits trim invert output output2 threads memory",
    ),
    ("kmers union", "output format counts min-count max-count histogram threads memory"),
    ("kmers eval", "output format min-count max-count histogram threads memory"),
    ("kmers qv", "output k hybrid maternal paternal no-plots report-html threads memory"),
    ("filter", "threshold method align verify output format report-html threads memory device"),
    ("build", "taxonomy output format map strict preset bracken max-db-size threads memory device"),
    (
        "classify",
        "1 2 interleaved output report use-names confidence unclassified-out abundance \
         bracken bracken-output sample-sheet report-html threads memory device",
    ),
    ("db prepare", "output taxonomy assembly-summary verify missing threads"),
    ("db merge-results", "output report database lowest hitmin abundance"),
    (
        "deplete filter",
        "1 2 interleaved abs-threshold rel-threshold keep output output2 summary report-html threads \
         memory",
    ),
    (
        "extract reads",
        "1 2 interleaved taxid lines report output output2 include-children exclude format report-html \
         threads",
    ),
    (
        "map",
        "1 mates interleaved threshold best best-strata all max-insert rescue clip sort output read-group \
         report-html threads memory device",
    ),
    (
        "search",
        "pattern patterns threshold hamming strand pam seed output format counts off-targets report-html \
         threads memory",
    ),
];

/// Options for special cases, hidden by `-h` of every command.
const RARE: [&str; 9] = [
    "any-names",
    "gpu-memory",
    "log-level",
    "multiqc",
    "quality-offset",
    "reference",
    "report-data",
    "sample-name",
    "tmp-dir",
];

/// Examples in the short help.
const EXAMPLES: usize = 3;

/// Returns the program's command line, with the short help of each command cut to what most runs need.
pub(crate) fn command() -> Command {
    let hidden = |option: clap::Arg| {
        let rare = option.get_long().is_some_and(|name| RARE.contains(&name));
        option.hide_short_help(rare)
    };
    Cli::command().mut_args(hidden).mut_subcommands(|command| shorten(String::new(), command))
}

/// Hides options of `command`, and of the commands below it, from the short help.
fn shorten(above: String, command: Command) -> Command {
    let name = format!("{above}{}", command.get_name());
    let shown = SHOWN.iter().find(|(command, _)| *command == name);
    let shown = shown.map(|(_, options)| options.split(' ').collect::<Vec<_>>());
    let command = command.mut_args(|option| {
        let short = option.get_short().map(String::from);
        let Some(given) = option.get_long().map(str::to_owned).or(short) else { return option };
        let is_shown = match &shown {
            Some(shown) => shown.contains(&&*given),
            None => !RARE.contains(&&*given),
        };
        if is_shown { option } else { option.hide_short_help(true) }
    });
    let command = examples_only(&name, command);
    command.mut_subcommands(|below| shorten(format!("{name} "), below))
}

/// Leaves only the first examples of the text behind the options.
fn examples_only(name: &str, command: Command) -> Command {
    let Some(text) = command.get_after_help().map(ToString::to_string) else { return command };
    let Some((before, examples)) = text.split_once("Examples:\n") else { return command };
    let examples = first_examples(examples.split("\n\n").next().unwrap_or_default());
    let more = format!("`merganser {name} --help` shows all options and examples.");
    if before.is_empty() && text.ends_with(&*examples) {
        return command;
    }
    command.after_help(format!("Examples:\n{examples}\n\n{more}")).after_long_help(text)
}

/// Returns the first [`EXAMPLES`] examples. Each begins with a line that is indented by two blanks: its command, or
/// words about the commands below it.
fn first_examples(examples: &str) -> String {
    let begins = |line: &&str| line.starts_with("  ") && !line.starts_with("   ");
    let mut begun = 0;
    let first = examples.lines().take_while(|line| {
        begun += usize::from(begins(line));
        begun <= EXAMPLES
    });
    first.collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_option_of_the_list_exists() {
        let root = Cli::command();
        for (name, options) in SHOWN {
            let mut command = &root;
            for word in name.split(' ') {
                command = command.find_subcommand(word).unwrap();
            }
            for option in options.split(' ') {
                let found = command.get_arguments().any(|it| {
                    it.get_long() == Some(option)
                        || it.get_short().map(String::from).as_deref() == Some(option)
                });
                assert!(found, "{name}: {option}");
            }
        }
    }
}
