//! Tips for unknown options: the equivalents here of other tools' options.

use std::path::Path;

use clap::builder::StyledStr;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Command, Error};

/// A tip for options of another tool.
struct Hint {
    /// The commands that it applies to, as a prefix of their names; all if empty.
    command: &'static str,
    options: &'static [&'static str],
    /// The tip, given only for commands that have all options that it names.
    tip: &'static str,
}

const fn hint(command: &'static str, options: &'static [&'static str], tip: &'static str) -> Hint {
    Hint { command, options, tip }
}

/// The tips by order of precedence: the first that fits is given.
const HINTS: [Hint; 53] = [
    // Kraken 2
    hint(
        "classify",
        &["--db", "-d"],
        "the database is the first argument: merganser classify DATABASE READS",
    ),
    hint(
        "classify",
        &["--paired"],
        "give the mates with -1 and -2, or one file with --interleaved",
    ),
    hint("classify", &["--use-mpa-style"], "--mpa FILE writes this report, also with --report"),
    hint("classify", &["--memory-mapping"], "databases are always mapped: leave it out"),
    hint("build", &["--db", "-d"], "-o FILE names the database to write"),
    hint(
        "build",
        &["--download-taxonomy", "--download-library"],
        "nothing is downloaded: give the folder of NCBI's unpacked taxdump as --taxonomy DIR, and \
         genomes as files or folders",
    ),
    hint("build", &["--add-to-library"], "genomes are arguments: files, folders or @LIST"),
    hint("build", &["--build", "--standard"], "one run builds the whole database: leave it out"),
    // KrakenTools
    hint("extract reads", &["-k"], "--lines FILE has a line for each read, as classify wrote it"),
    hint("extract reads", &["-s"], "reads are arguments, and mates those of -1 and -2"),
    hint("report merge", &["-r", "--report-file"], "reports are arguments: leave it out"),
    hint("report bracken", &["-i"], "the report is an argument: leave the option out"),
    hint("report bracken", &["-r"], "the distribution decides the length of reads: leave it out"),
    hint("report bracken", &["-t"], "--threshold READS is the smallest number of reads"),
    hint("report bracken", &["-w"], "--out-report FILE writes a report of the estimates"),
    hint("kmers", &["-i"], "tables are arguments: leave the option out"),
    // KMC, Jellyfish and others that count
    hint("count", &["-n"], "--dry-run checks a run and writes nothing"),
    hint(
        "count",
        &["-m"],
        "--memory SIZE, e.g. 12G, limits the memory; -k K is the length of k-mers",
    ),
    hint("count", &["-c"], "--min-count N and --max-count N are the limits of the counts"),
    hint("count", &["-C", "--canonical"], "canonical k-mers are counted by default: leave it out"),
    hint("count", &["-b", "--non-canonical"], "--forward-only counts k-mers as they are read"),
    hint("count", &["-s", "--size"], "tables grow as needed: leave it out, or give --memory SIZE"),
    hint("count", &["-r"], "--storage ram keeps intermediate data in memory"),
    hint(
        "count",
        &["-1", "-2", "--paired"],
        "all files of reads are arguments: mates are counted like other reads",
    ),
    hint("kmers dump", &["-c", "--column"], "--format jellyfish separates columns by a blank"),
    hint("kmers histogram", &["--high"], "--max N leaves larger counts out"),
    hint("kmers query", &["-s", "--sequence"], "--file FILE has one k-mer per line"),
    hint("", &["-L", "--lower-count", "--ci"], "--min-count N is the smallest count"),
    hint("", &["-U", "--upper-count", "--cx"], "--max-count N is the largest count"),
    // Mappers
    hint(
        "map",
        &["-x", "--ref"],
        "the reference is the first argument: merganser map REFERENCE READS",
    ),
    hint("map", &["-d"], "merganser index REFERENCE -o FILE.mgi writes an index"),
    hint("index", &["-p"], "-o FILE names the index"),
    hint(
        "deplete filter",
        &["-d", "--db", "--index"],
        "the set is the first argument: leave the option out",
    ),
    hint(
        "deplete filter",
        &["--deplete"],
        "reads of the host are removed unless --keep is given: leave it out",
    ),
    hint("map", &["-a"], "SAM is the default: leave it out"),
    hint("map", &["-S"], "-o FILE names the output"),
    hint("map", &["-i", "--percent-identity"], "-e N% is 100 minus the percentage of identity"),
    hint("map", &["-k", "-m"], "--max-hits N limits the hits of a read; --memory SIZE the memory"),
    // Sassy, cutadapt, seqkit and others that search patterns
    hint(
        "search",
        &["-k", "--mismatches", "-m", "--max-mismatch"],
        "-e N is the maximum number of edits; with --hamming, of mismatches",
    ),
    hint(
        "search",
        &["-f", "--pattern-fasta", "--pattern-file"],
        "--patterns FILE has the patterns, as FASTA or one per line",
    ),
    hint(
        "search",
        &["-s", "--query", "-g", "-a"],
        "-p LETTERS is a pattern, and --patterns FILE a file of them",
    ),
    hint(
        "search",
        &["--no-rc", "--only-positive-strand", "-P"],
        "--strand forward searches only the forward strand",
    ),
    hint(
        "search",
        &["-1", "-2", "--paired"],
        "each file is read by itself: trim the files of mates one by one, with --keep-empty",
    ),
    hint("search", &["--alpha"], "--overhang COST is the cost of a letter outside the text"),
    hint("search", &["--bed", "-b"], "-o FILE.bed writes BED, and --format bed to stdout"),
    hint(
        "search",
        &["--degenerate", "-d", "--iupac"],
        "patterns are in IUPAC letters: leave it out",
    ),
    // All
    hint(
        "",
        &["-i", "--in", "--input", "-r", "--reads"],
        "inputs are arguments: give the files without an option",
    ),
    hint("", &["-m", "--mem", "--max-memory"], "--memory SIZE, e.g. 8G, limits the memory"),
    hint(
        "",
        &["-j", "-p", "--cpus", "--nthreads", "--num-threads", "--num_threads"],
        "-t N or --threads N is the number of threads",
    ),
    hint(
        "",
        &["--mer-len", "--kmer", "--kmer-len", "--kmer-size", "--ksize"],
        "-k K is the length of k-mers",
    ),
    hint(
        "",
        &[
            "-f",
            "--fastq-input",
            "--fasta-input",
            "--gzip-compressed",
            "--bzip2-compressed",
            "--fastq",
            "--fasta",
        ],
        "formats and compression are recognized by content: leave it out",
    ),
    hint("", &["--force", "--overwrite"], "outputs replace existing files: leave it out"),
    hint("", &["-v", "--verbose"], "--log-level debug prints more"),
];

/// Tips for verbs of other tools: the commands that they are given to, the verbs, and the tip.
const VERBS: [(&[&str], &[&str], &str); 16] = [
    (
        &["kmers"],
        &["merge", "sum", "union-sum", "join"],
        "merganser kmers union adds the counts of tables",
    ),
    (
        &[""],
        &["merge"],
        "merganser kmers union joins tables of k-mers; report merge joins reports, and map join and \
         classify join the results of shards",
    ),
    (&["", "kmers"], &["histo", "hist", "histex"], "merganser kmers histogram is the command"),
    (
        &["", "kmers", "db"],
        &["stats", "statistics", "inspect"],
        "merganser kmers info describes a table, and db info a database",
    ),
    (&["kmers"], &["diff", "difference", "minus"], "merganser kmers subtract is the command"),
    (&["kmers"], &["print", "view", "toascii"], "merganser kmers dump is the command"),
    (&[""], &["align", "mem"], "merganser map is the command"),
    (
        &[""],
        &["bracken"],
        "merganser report bracken estimates, and db bracken makes a distribution",
    ),
    (&["db"], &["build", "create"], "merganser build is the command"),
    (&["db"], &["list"], "merganser db taxa prints the taxa or sequences of a database"),
    (&["db"], &["download"], "nothing is downloaded: merganser build takes files and folders"),
    (&["deplete"], &["build", "create"], "merganser deplete index is the command"),
    (&["report"], &["combine"], "merganser report merge is the command"),
    (
        &["report"],
        &["convert", "kreport2krona", "kreport2mpa"],
        "report krona and report mpa convert reports",
    ),
    (&["kmers"], &["lookup"], "merganser kmers query is the command"),
    (
        &["kmers"],
        &["simple", "complex", "transform"],
        "each operation is a command: kmers union, intersect, subtract, eval, reduce, histogram, dump",
    ),
];

/// Adds a tip to a usage error if the intention is known; `words` is the command line.
pub(super) fn add(error: &mut Error, cli: &Command, words: &[String]) {
    let tip = match error.kind() {
        ErrorKind::UnknownArgument => {
            let (name, command) = chosen(cli, words);
            unknown(error).and_then(|option| {
                let spare = || surplus((&name, command), words, &option);
                kmc_counts(command, words, &option)
                    .or_else(|| known(&name, command, &option))
                    .or_else(|| one_dash(command, words))
                    .or_else(|| two_dashes(command, &option))
                    .or_else(spare)
            })
        }
        ErrorKind::InvalidSubcommand => verb(error, cli, &chosen(cli, words).0),
        ErrorKind::ValueValidation => one_dash(chosen(cli, words).1, words),
        _ => None,
    };
    let Some(tip) = tip else {
        // clap's own tip is that the word may be a value.
        let may_be_file = unknown(error).is_some_and(|word| Path::new(&word).exists());
        if error.to_string().contains("tip: to pass '") && !may_be_file {
            error.remove(ContextKind::Suggested);
        }
        return;
    };
    for guess in [ContextKind::SuggestedArg, ContextKind::SuggestedSubcommand] {
        error.remove(guess);
    }
    error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![StyledStr::from(tip)]));
}

/// Returns the unknown option.
fn unknown(error: &Error) -> Option<String> {
    match error.get(ContextKind::InvalidArg)? {
        ContextValue::String(text) => Some(text.clone()),
        _ => None,
    }
}

/// Returns the command that was called and its name, without the program's.
fn chosen<'a>(cli: &'a Command, words: &[String]) -> (String, &'a Command) {
    let (mut names, mut command) = (Vec::new(), cli);
    for word in words {
        if let Some(inner) = command.find_subcommand(word) {
            names.push(inner.get_name());
            command = inner;
        }
    }
    (names.join(" "), command)
}

fn known(name: &str, command: &Command, option: &str) -> Option<String> {
    let fits = |hint: &&Hint| {
        name.starts_with(hint.command)
            && hint.options.contains(&option)
            && named(hint.tip).all(|option| has(command, option))
    };
    HINTS.iter().find(fits).map(|hint| hint.tip.to_owned())
}

/// Returns a tip for KMC's limits of counts, which are a word with their value, such as `-ci5`.
fn kmc_counts(command: &Command, words: &[String], option: &str) -> Option<String> {
    let is_limit = |word: &String| {
        let value = word.strip_prefix("-ci").or_else(|| word.strip_prefix("-cx"));
        value.is_some_and(|value| value.parse::<u64>().is_ok())
    };
    let mut operands = command.get_positionals().filter_map(|operand| operand.get_value_names());
    let tip = match () {
        () if option != "-c" || !words.iter().any(is_limit) => return None,
        () if has(command, "--min-count") => {
            "--min-count N and --max-count N are the limits of the counts"
        }
        () if operands.any(|names| names.iter().any(|name| name.contains("MIN..MAX"))) => {
            "TABLE:MIN..MAX limits the counts of a table"
        }
        () => return None,
    };
    Some(tip.to_owned())
}

/// Returns the problem of a command line that is valid but does not mean what it says: KMC's `-ocmax` would name an
/// output.
pub(super) fn misunderstood(cli: &Command, words: &[String]) -> Option<String> {
    let modes = ["min", "max", "sum", "diff", "left", "right"];
    let mode =
        |word: &String| modes.into_iter().find(|mode| word.strip_prefix("-oc") == Some(*mode));
    let mode = words.iter().take_while(|word| *word != "--").find_map(mode)?;
    if !has(chosen(cli, words).1, "--counts") {
        return None;
    }
    Some(format!(
        "-oc{mode} would name the output c{mode}: --counts MODE has the meaning of KMC's option"
    ))
}

/// Returns the options that a tip names.
fn named(tip: &str) -> impl Iterator<Item = &str> {
    tip.split([' ', ',', ':', ';', '%']).filter(|word| word.starts_with('-'))
}

/// Whether a command has this option, given as `-o` or `--output`.
fn has(command: &Command, option: &str) -> bool {
    command.get_arguments().any(|arg| match option.strip_prefix("--") {
        Some(long) => arg.get_long() == Some(long),
        None => option.strip_prefix('-').is_some_and(|letter| {
            let letters = arg.get_short_and_visible_aliases().unwrap_or_default();
            letters.iter().any(|known| *letter == known.to_string())
        }),
    })
}

/// Returns a tip for a long option with one dash, such as `-threads`.
fn one_dash(command: &Command, words: &[String]) -> Option<String> {
    let long = |word: &String| {
        let name = word.strip_prefix('-').filter(|name| name.len() > 1)?;
        let name = name.split('=').next().unwrap_or(name);
        has(command, &format!("--{name}"))
            .then(|| format!("long options begin with two dashes: --{name}"))
    };
    words.iter().find_map(long)
}

/// Returns a tip for a letter with two dashes, such as `--k`.
fn two_dashes(command: &Command, option: &str) -> Option<String> {
    let letter = option.strip_prefix("--").filter(|name| name.len() == 1)?;
    let short = format!("-{letter}");
    has(command, &short).then(|| format!("options of one letter begin with one dash: {short}"))
}

/// Returns a tip for an argument too many.
fn surplus((name, command): (&str, &Command), words: &[String], argument: &str) -> Option<String> {
    let has_output =
        words.iter().any(|word| word.starts_with("-o") || word.starts_with("--output"));
    match () {
        () if argument.starts_with('-') => None,
        () if name == "index" && has_output => {
            Some("an index has one reference: join the files".to_owned())
        }
        () if name == "kmers eval" => {
            Some("the expression is one argument: put it in quotes, as in --help".to_owned())
        }
        () => has(command, "-o").then(|| "an output is named with -o FILE".to_owned()),
    }
}

/// Returns a tip for a verb of `kmers` or `db` without that noun, or for one that the noun `name` lacks.
fn verb(error: &Error, cli: &Command, name: &str) -> Option<String> {
    let ContextValue::String(word) = error.get(ContextKind::InvalidSubcommand)? else {
        return None;
    };
    if (name, word.as_str()) == ("db", "merge") {
        return Some(
            "classify with several databases at once, or build one of all genomes; db merge-results \
             joins results"
                .to_owned(),
        );
    }
    if let Some((_, _, tip)) =
        VERBS.iter().find(|(nouns, verbs, _)| nouns.contains(&name) && verbs.contains(&&**word))
    {
        return Some((*tip).to_owned());
    }
    let mut nouns = cli.get_subcommands().filter(|noun| noun.find_subcommand(word).is_some());
    let noun = nouns.next()?.get_name().to_owned();
    Some(format!("merganser {noun} {word} is the command"))
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::{HINTS, chosen, has, named};
    use crate::args::Cli;

    /// A tip for one command names options of that command, and no tip is for an option that the command has.
    #[test]
    fn tips_hold() {
        let mut cli = Cli::command();
        cli.build();
        for hint in HINTS.iter().filter(|hint| !hint.command.is_empty()) {
            let words: Vec<String> = hint.command.split(' ').map(str::to_owned).collect();
            let (name, command) = chosen(&cli, &words);
            assert_eq!(name, hint.command);
            assert!(named(hint.tip).all(|option| has(command, option)), "{}", hint.tip);
            for option in hint.options {
                assert!(!has(command, option), "{option}");
            }
        }
    }
}
