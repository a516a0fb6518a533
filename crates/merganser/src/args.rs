//! The command line as data. The doc comment of an option is its help text.
#![allow(rustdoc::invalid_html_tags, reason = "help texts are not HTML: `COUNT<TAB>NUMBER`")]

pub(crate) mod barcodes;
pub(crate) mod build;
pub(crate) mod classify;
pub(crate) mod count;
pub(crate) mod db;
pub(crate) mod deplete;
pub(crate) mod device;
mod dry_run;
mod environment;
pub(crate) mod eval;
pub(crate) mod extract;
pub(crate) mod filter;
pub(crate) mod given;
mod hints;
pub(crate) mod joins;
pub(crate) mod kmers;
pub(crate) mod map;
#[cfg(test)]
mod options_page;
pub(crate) mod pages;
mod parse;
pub(crate) mod reads;
pub(crate) mod report;
pub(crate) mod search;
mod short_help;
pub(crate) mod taxon;
pub(crate) mod threads;

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

use crate::console::Level;
pub(crate) use build::BuildArgs;
pub(crate) use classify::ClassifyArgs;
pub(crate) use count::CountArgs;
pub(crate) use db::DbCommand;
pub(crate) use deplete::DepleteCommand;
pub(crate) use device::DeviceArgs;
pub(crate) use dry_run::DryRunArgs;
pub(crate) use eval::EvalArgs;
pub(crate) use extract::ExtractCommand;
pub(crate) use filter::FilterArgs;
pub(crate) use kmers::KmersCommand;
pub(crate) use map::{IndexArgs, MapCommandArgs};
pub(crate) use parse::parse;
pub(crate) use reads::{PairArgs, ReadsArgs};
pub(crate) use report::ReportCommand;
pub(crate) use search::SearchArgs;
pub(crate) use short_help::command;
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
  merganser search -p GTGYCAGCMGCCGCGGTAA -e 2 genome.fa -o hits.tsv

`merganser COMMAND --help` shows all options of a command, with examples.

Exit codes:
  0    success
  1    an error in the input or the environment
  2    wrong usage
  130  interrupted (Ctrl-C)";

/// Count k-mers, classify metagenomic reads, remove host reads and map reads: fast and exact
#[derive(Debug, Parser)]
#[command(name = "merganser", version, disable_version_flag = true, after_help = EXAMPLES)]
#[command(arg_required_else_help = true, subcommand_required = true, max_term_width = 80)]
pub(crate) struct Cli {
    /// Print the version; with --verbose also the features, the commit and what this machine has
    #[arg(short = 'V', long, action = clap::ArgAction::Version)]
    version: Option<bool>,
    #[command(flatten)]
    pub(crate) talk: Talk,
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// The options that control messages on stderr.
#[derive(Args, Debug)]
pub(crate) struct Talk {
    /// Print only errors on stderr
    #[arg(long, short, global = true, conflicts_with = "log_level")]
    #[arg(help_heading = "Messages", display_order = 900)]
    quiet: bool,
    /// Print messages of this level and above on stderr
    #[arg(long, global = true, value_name = "LEVEL", default_value = "info")]
    #[arg(help_heading = "Messages", display_order = 901)]
    log_level: Level,
}

impl Talk {
    pub(crate) fn level(&self) -> Level {
        if self.quiet { Level::Error } else { self.log_level }
    }
}

/// The command to run.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Count the k-mers of reads or genomes
    ///
    /// Writes a sorted table of the distinct k-mers with their counts, and a summary to stderr. The table
    /// depends only on the input and the options that select k-mers and the format, never on the number of
    /// threads, the memory or the device: equal runs give equal bytes.
    Count(Box<CountArgs>),
    /// Inspect, combine and query k-mer tables
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
    /// Decide which pairs of a read and a reference segment are worth aligning
    ///
    /// Writes one decision per pair: accepted or rejected, and the number of edits. The exact method
    /// computes the edit distance. No method rejects a pair within the threshold, except
    /// gatekeeper-original, which is there for comparison.
    Filter(Box<FilterArgs>),
    /// Build a classification database from reference genomes
    ///
    /// The database is for `merganser classify`. Its bytes depend only on the genomes, the taxonomy, the
    /// taxids, --parts and the options under Sketches.
    Build(Box<BuildArgs>),
    /// Assign each read to a taxon
    ///
    /// Compares the reads with a database of `merganser build` or of Kraken 2, and writes a line for each
    /// read and reports of all reads. The output depends only on the database, the reads and the options
    /// under Output, Reports, Reads and Decision, never on the number of threads, the memory or the device.
    Classify(Box<ClassifyArgs>),
    /// Prepare, inspect, extend and split classification databases
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
    /// Merge, filter, convert and plot classification reports
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
    /// Extract the reads that were assigned to given taxa
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
    /// Remove or keep a host's reads, using exact sets of minimizers
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
    /// The index's bytes depend only on the reference.
    Index(Box<IndexArgs>),
    /// Map reads: find every place in a reference within a given number of edits
    ///
    /// Writes SAM, BAM or CRAM. The output depends only on the reference, the reads and the options under
    /// Hits, Reports and Output, never on the number of threads, the memory or the device.
    Map(Box<MapCommandArgs>),
    /// Search genomes or reads for short patterns: guides, primers, barcodes, probes
    ///
    /// Finds every occurrence of each pattern within a number of edits, on both strands. The output depends only on the
    /// patterns, the texts and the options under Hits, Guides and Output, never on the number of threads or the memory.
    Search(Box<SearchArgs>),
    /// List this machine's GPUs, and why any cannot be used
    ///
    /// Prints the CUDA runtime of this build, the driver that it needs and the driver that is installed.
    /// Set MERGANSER_DISABLE_CUDA=1 to switch CUDA off.
    #[command(after_help = "Examples:\n  merganser devices\n  \
        MERGANSER_DISABLE_CUDA=1 merganser devices")]
    Devices,
    /// Print a shell's completion script
    #[command(after_help = "Examples:\n  merganser completions bash \\\n    \
        > ~/.local/share/bash-completion/completions/merganser\n  \
        merganser completions zsh > _merganser")]
    Completions {
        /// Shell to complete commands for
        shell: clap_complete::Shell,
    },
    /// Write the manual pages
    #[command(after_help = "Examples:\n  merganser man | man -l -\n  \
        merganser man ~/.local/share/man/man1")]
    Man {
        /// Existing directory for the pages of all commands; without it, the main page goes to stdout
        #[arg(value_name = "DIR")]
        directory: Option<PathBuf>,
    },
}

/// Returns the name of an enumeration's value on the command line.
pub(crate) fn name_of(value: &impl ValueEnum) -> String {
    value.to_possible_value().map_or_else(String::new, |value| value.get_name().to_owned())
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::Cli;

    /// Examples must fit 80 columns: wrapped by the terminal, they could not be copied.
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
