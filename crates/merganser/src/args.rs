//! The command line, as data. Every option's documentation is its help text.
#![allow(rustdoc::invalid_html_tags, reason = "help texts are no HTML: `COUNT<TAB>NUMBER`")]

pub(crate) mod build;
pub(crate) mod classify;
pub(crate) mod count;
pub(crate) mod db;
pub(crate) mod deplete;
pub(crate) mod device;
pub(crate) mod eval;
pub(crate) mod extract;
pub(crate) mod filter;
pub(crate) mod given;
mod hints;
pub(crate) mod joins;
pub(crate) mod kmers;
pub(crate) mod map;
pub(crate) mod pages;
mod parse;
pub(crate) mod reads;
pub(crate) mod report;
pub(crate) mod threads;

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

use crate::console::Level;
use crate::version;
pub(crate) use build::BuildArgs;
pub(crate) use classify::ClassifyArgs;
pub(crate) use count::CountArgs;
pub(crate) use db::DbCommand;
pub(crate) use deplete::DepleteCommand;
pub(crate) use device::DeviceArgs;
pub(crate) use eval::EvalArgs;
pub(crate) use extract::ExtractCommand;
pub(crate) use filter::FilterArgs;
pub(crate) use kmers::KmersCommand;
pub(crate) use map::{IndexArgs, MapCommandArgs};
pub(crate) use parse::parse;
pub(crate) use reads::{PairArgs, ReadsArgs};
pub(crate) use report::ReportCommand;
pub(crate) use threads::ThreadArgs;

const EXAMPLES: &str = "\
Examples:
  merganser count -k 31 -o sample.mgk reads_1.fq.gz reads_2.fq.gz
  merganser kmers dump sample.mgk | head
  merganser kmers query sample.mgk ACGTTGCAACGTTGCAACGTTGCAACGTTGC
  merganser filter -e 5 pairs.tsv -o decisions.tsv
  merganser build --taxonomy taxonomy/ -o refs.mgdb genomes/
  merganser classify refs.mgdb -1 reads_1.fq.gz -2 reads_2.fq.gz \\
    -o reads.tsv --report sample.kreport
  merganser index ref.fa -o ref.mgi
  merganser map ref.mgi -1 reads_1.fq.gz -2 reads_2.fq.gz -e 10% --rescue 20% \\
    --best --clip --max-insert 1000 --sort -o out.bam

`merganser COMMAND --help` explains a command, with examples.

Exit codes:
  0 done; 1 the input or the environment is at fault; 2 wrong usage;
  130 interrupted";

/// Counts k-mers, classifies metagenomic reads, filters pairs and maps reads: exactly, and fast.
#[derive(Debug, Parser)]
#[command(name = "merganser", version, long_version = version::long(), after_help = EXAMPLES)]
#[command(arg_required_else_help = true, subcommand_required = true, max_term_width = 80)]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) talk: Talk,
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// How much is said on stderr.
#[derive(Args, Debug)]
pub(crate) struct Talk {
    /// Say nothing on stderr but errors
    #[arg(long, short, global = true, conflicts_with = "log_level")]
    #[arg(help_heading = "Messages", display_order = 900)]
    quiet: bool,
    /// How much to say on stderr
    #[arg(long, global = true, value_name = "LEVEL", default_value = "info")]
    #[arg(help_heading = "Messages", display_order = 901)]
    log_level: Level,
}

impl Talk {
    pub(crate) fn level(&self) -> Level {
        if self.quiet { Level::Error } else { self.log_level }
    }
}

/// What to do.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Count the k-mers of reads or genomes
    ///
    /// Writes a table of the distinct k-mers with their counts, sorted, and a summary to stderr.
    /// The table's bytes depend on nothing but the reads and -k, --min-count, --max-count,
    /// --forward-only, --min-qual and --format.
    Count(Box<CountArgs>),
    /// Look into tables of k-mers, make tables of tables, hold reads against them
    #[command(
        arg_required_else_help = true,
        after_help = "Examples:\n  \
        merganser kmers info sample.mgk\n  \
        merganser kmers histogram sample.mgk -o sample.hist\n  \
        merganser kmers union -o both.mgk a.mgk b.mgk"
    )]
    Kmers {
        #[command(subcommand)]
        command: Box<KmersCommand>,
    },
    /// Say which pairs of a read and a reference segment are worth aligning
    ///
    /// Writes a decision for each pair: accepted or rejected, and the number of edits. The exact
    /// method gives the edit distance; no pair within the threshold is rejected by any method but
    /// gatekeeper-original, which is there to compare with.
    Filter(Box<FilterArgs>),
    /// Build a database of reference genomes for `merganser classify`
    ///
    /// The database's bytes depend on nothing but the genomes, the taxonomy, the taxids and the
    /// options under Sketches and --parts.
    Build(Box<BuildArgs>),
    /// Find the taxon that each read comes from
    ///
    /// What is written depends on nothing but the database, the reads and the options under Output,
    /// Reports, Reads and Decision.
    Classify(Box<ClassifyArgs>),
    /// Look into databases that `merganser build` wrote, add to them, join their results
    #[command(
        arg_required_else_help = true,
        after_help = "Examples:\n  \
        merganser db info refs.mgdb\n  \
        merganser db add --taxonomy taxonomy/ refs.mgdb mine.fa.gz"
    )]
    Db {
        #[command(subcommand)]
        command: DbCommand,
    },
    /// Put Kraken-style reports together, keep clades of them, convert them
    #[command(
        arg_required_else_help = true,
        after_help = "Examples:\n  \
        merganser report merge a.kreport b.kreport -o table.tsv\n  \
        merganser report krona sample.kreport -o sample.krona"
    )]
    Report {
        #[command(subcommand)]
        command: ReportCommand,
    },
    /// Write the reads that were classified as some taxa
    #[command(
        arg_required_else_help = true,
        after_help = "Examples:\n  \
        merganser extract reads --taxid 562 --lines reads.tsv reads.fq.gz \\\n    \
        -o ecoli.fq.gz"
    )]
    Extract {
        #[command(subcommand)]
        command: ExtractCommand,
    },
    /// Score classified reads against their true taxa, at each rank
    Eval(EvalArgs),
    /// Remove a host's reads from a sample, or keep them, by exact sets of minimizers
    #[command(
        arg_required_else_help = true,
        after_help = "Examples:\n  \
        merganser deplete index -o host.mgd host.fa.gz\n  \
        merganser deplete filter host.mgd -1 a_1.fq.gz -2 a_2.fq.gz \\\n    \
        -o clean_#.fq.gz"
    )]
    Deplete {
        #[command(subcommand)]
        command: DepleteCommand,
    },
    /// Index a reference for `merganser map`
    ///
    /// The index's bytes depend on nothing but the reference.
    Index(Box<IndexArgs>),
    /// Find every place of a reference where a read lies with a few edits
    ///
    /// Writes SAM, BAM or CRAM. What is written depends on nothing but the reference, the reads and the
    /// options under Hits, Reports and Output.
    Map(Box<MapCommandArgs>),
    /// Show the GPUs of this machine, and why one cannot be used
    ///
    /// Names the CUDA runtime of this build, the driver that it needs and the one that is there.
    /// MERGANSER_DISABLE_CUDA=1 switches CUDA off.
    #[command(after_help = "Examples:\n  merganser devices\n  \
        MERGANSER_DISABLE_CUDA=1 merganser devices")]
    Devices,
    /// Print a shell's completion script
    #[command(after_help = "Examples:\n  merganser completions bash \\\n    \
        > ~/.local/share/bash-completion/completions/merganser\n  \
        merganser completions zsh > _merganser")]
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
    /// Write the manual pages
    #[command(after_help = "Examples:\n  merganser man | man -l -\n  \
        merganser man ~/.local/share/man/man1")]
    Man {
        /// Existing directory for the pages of all commands; without it, the first page goes to
        /// stdout
        #[arg(value_name = "DIR")]
        directory: Option<PathBuf>,
    },
}

/// The possible values of an enumeration whose names are ours to choose.
pub(crate) fn name_of(value: &impl ValueEnum) -> String {
    value.to_possible_value().map_or_else(String::new, |value| value.get_name().to_owned())
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::Cli;

    /// What is written for 80 columns is not wrapped there: a broken example is none.
    #[test]
    fn examples_are_not_broken() {
        let mut commands = vec![Cli::command()];
        while let Some(command) = commands.pop() {
            let text = command.get_after_help().map(ToString::to_string).unwrap_or_default();
            let name = command.get_name();
            assert!(text.contains("Examples:\n  "), "{name}");
            for line in text.lines() {
                assert!(line.chars().count() <= 80, "{name}: {line}");
            }
            commands.extend(command.get_subcommands().cloned());
        }
    }
}
