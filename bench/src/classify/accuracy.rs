//! `merganser-bench classify accuracy`.

use super::data::{Genomes, Reads};
use super::tools::{Tools, run as call, words};
use super::{abundance, kraken, real};
use crate::count::{machine, say};
use crate::generate::reads::Model;
use anyhow::{Context, Result};
use serde_json::Value;
use std::ffi::OsString;
use std::fmt::Write;
use std::path::{Path, PathBuf};

/// `merganser-bench classify accuracy …`
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Folder of genomes, *.fna or *.fna.gz
    #[arg(long, value_name = "DIR", default_value = "../shared/data/genomes")]
    genomes: PathBuf,
    /// Taxids of the sequences: lines of name, tab, taxid
    #[arg(long, value_name = "FILE", default_value = "../shared/data/genomes/seqid2taxid.map")]
    map: PathBuf,
    /// Folder with nodes.dmp and names.dmp
    #[arg(long, value_name = "DIR", default_value = "../shared/data/taxonomy")]
    pub(super) taxonomy: PathBuf,
    /// Reads per set
    #[arg(long, value_name = "N", default_value_t = 200_000)]
    reads: u64,
    /// Lengths of short reads
    #[arg(long, value_name = "N,…", value_delimiter = ',', default_value = "100,150,250")]
    lengths: Vec<usize>,
    /// Substitutions per base of short reads
    #[arg(long, value_name = "RATE,…", value_delimiter = ',')]
    #[arg(default_value = "0,0.005,0.015,0.03,0.05")]
    substitutions: Vec<f64>,
    /// Long reads per set, with a mean of 5,000 bases and 5 % errors including indels
    #[arg(long, value_name = "N", default_value_t = 0)]
    long_reads: u64,
    /// Genomes, by the beginning of their file's name, that are left out of the database; reads are only of these.
    /// Each use of the option is one case
    #[arg(long, value_name = "NAME,…")]
    leave_out: Vec<String>,
    /// A mixture of genomes with their abundance, NAME=WEIGHT
    #[arg(long, value_name = "NAME=N,…", value_delimiter = ',')]
    mixture: Vec<String>,
    /// Real reads of one organism and its taxid, classified with the database of all genomes; 0: unknown
    #[arg(long, value_name = "FILE=TAXID", value_delimiter = ',')]
    pub(super) real: Vec<String>,
    /// Skip the case with all genomes
    #[arg(long)]
    only_left_out: bool,
    /// Options of further databases of ours, after those of the presets, e.g. "-k 24"; after " -- " options of
    /// classify
    #[arg(long, value_name = "OPTIONS", allow_hyphen_values = true)]
    also: Vec<String>,
    /// Seed of the reads
    #[arg(long, value_name = "S", default_value_t = 1)]
    seed: u64,
    /// Threads of each tool
    #[arg(long, value_name = "T", default_value_t = 2)]
    threads: usize,
    /// The merganser binary; by default the one beside this program, or on the PATH
    #[arg(long, value_name = "FILE")]
    merganser: Option<PathBuf>,
    /// Folder for databases and reads, which are kept
    #[arg(long, value_name = "DIR", default_value = "bench/data/classify")]
    dir: PathBuf,
}

/// A database and the genomes whose reads are classified.
struct Case {
    name: String,
    /// The name of the folder.
    key: String,
    database: Genomes,
    sampled: Genomes,
}

/// A tool with its database.
pub(super) struct Contestant {
    pub(super) name: String,
    pub(super) database: PathBuf,
    /// Options of `merganser classify`; `None` for Kraken 2.
    pub(super) options: Option<Vec<OsString>>,
}

/// Precision and sensitivity of a tool for one set, in per cent, and further values of `eval`.
struct Score {
    text: [String; 2],
    abundance: String,
}

/// Runs all cases; the report is written to stdout as Markdown.
pub(crate) fn run(args: &Args) -> Result<()> {
    let tools = Tools::find(args.merganser.as_deref())?;
    let genomes = Genomes::open(&args.genomes, &args.map)?;
    say(&format!("{}{}\n", machine::describe(), tools.versions()))?;
    for case in cases(args, &genomes)? {
        say(&one_case(args, &tools, &case)?)?;
    }
    Ok(())
}

fn cases(args: &Args, genomes: &Genomes) -> Result<Vec<Case>> {
    let mut cases = Vec::new();
    let all = |name: &str, key: &str, sampled| Case {
        name: name.into(),
        key: key.into(),
        database: genomes.clone(),
        sampled,
    };
    if !args.only_left_out {
        cases.push(all("All genomes", "all", genomes.clone()));
    }
    if !args.real.is_empty() {
        cases.push(all("Real reads", "all", genomes.clone()));
    }
    if !args.mixture.is_empty() {
        let mut sampled = genomes.clone();
        sampled.files.clear();
        for part in &args.mixture {
            let (name, weight) = part.split_once('=').context("--mixture takes NAME=WEIGHT")?;
            let weight: usize = weight.parse().context("--mixture takes NAME=WEIGHT")?;
            let (chosen, _) = genomes.split(&[name.to_owned()])?;
            (0..weight).for_each(|_| sampled.files.extend(chosen.files.iter().cloned()));
        }
        cases.push(all("Mixture", "all", sampled));
    }
    for names in &args.leave_out {
        let stems: Vec<String> = names.split(',').map(str::to_owned).collect();
        let (sampled, database) = genomes.split(&stems)?;
        let name = format!("Left out: {}", stems.join(", "));
        cases.push(Case { name, key: format!("without-{}", stems.join("-")), database, sampled });
    }
    Ok(cases)
}

fn one_case(args: &Args, tools: &Tools, case: &Case) -> Result<String> {
    let folder = args.dir.join(&case.key);
    std::fs::create_dir_all(&folder)
        .with_context(|| format!("cannot create {}", folder.display()))?;
    let contestants = contestants(args, tools, case, &folder)?;
    if case.name == "Real reads" {
        return real::table(args, tools, &contestants, &folder);
    }
    let mut text = format!("## {}\n\n| reads |", case.name);
    for rank in ["species", "genus"] {
        contestants.iter().for_each(|tool| text += &format!(" {}, {rank} |", tool.name));
    }
    text += &format!("\n|---|{}\n", "---:|".repeat(2 * contestants.len()));
    let mut abundances = String::new();
    for (name, model) in models(args) {
        let key = format!("{}-{name}-{}-{}", case.name, args.reads, args.seed);
        let key: String = key.chars().map(|c| if c.is_alphanumeric() { c } else { '_' }).collect();
        let reads = case.sampled.reads(&model, args.seed, args.threads, &folder.join(key))?;
        let mut scores = Vec::new();
        for tool in &contestants {
            let score = score(args, tools, tool, &reads, &folder)?;
            let _ = writeln!(abundances, "| {name} | {} | {} |", tool.name, score.abundance);
            if case.name == "Mixture"
                && let Some(cells) = abundance::estimated(args, tools, tool, &reads, &folder)?
            {
                let _ = writeln!(abundances, "| | {}, estimated | {cells} |", tool.name);
            }
            scores.push(score);
        }
        let cells = |rank: usize| scores.iter().map(move |s| format!(" {} |", s.text[rank]));
        let row: String = cells(0).chain(cells(1)).collect();
        let _ = writeln!(text, "| {name} |{row}");
    }
    text += "\nSensitivity / precision, per cent.\n\n";
    if case.name == "Mixture" {
        text +=
            "| reads | tool | deviation, species | false taxa | deviation, genus | false taxa |\n";
        text += &format!("|---|---|---:|---:|---:|---:|\n{abundances}\n");
    }
    Ok(text)
}

/// Returns the names and models of the simulated reads.
fn models(args: &Args) -> Vec<(String, Model)> {
    let mut models = Vec::new();
    for &length in &args.lengths {
        for &rate in &args.substitutions {
            let name = format!("{} × {length}, {} %", args.reads, 100.0 * rate);
            models.push((name, Model::single(length, args.reads, rate)));
        }
    }
    if args.long_reads > 0 {
        models.push((format!("{} long, 5 %", args.long_reads), Model::long(args.long_reads)));
    }
    models
}

/// Builds the databases of a case and returns the tools: Kraken 2, our presets, and those of --also.
fn contestants(args: &Args, tools: &Tools, case: &Case, folder: &Path) -> Result<Vec<Contestant>> {
    let mut contestants = Vec::new();
    if let Some([_, build]) = &tools.kraken {
        let database = folder.join("kraken2");
        if !database.join("hash.k2d").exists() {
            kraken::prepare(build, &case.database, &args.taxonomy, &database)?;
            call(&kraken::build(build, &database, args.threads))?;
        }
        contestants.push(Contestant { name: "Kraken 2".to_owned(), database, options: None });
    }
    let mut built: Vec<&str> = Vec::new();
    let presets = ["--preset sensitive", "--preset metacache"];
    for options in presets.into_iter().chain(args.also.iter().map(String::as_str)) {
        let (of_build, of_classify) = options.split_once("-- ").unwrap_or((options, ""));
        let known = built.iter().position(|other| *other == of_build.trim());
        let database = folder.join(format!("{}.mgdb", known.unwrap_or(built.len())));
        if known.is_none() {
            built.push(of_build.trim());
            let mut command = words([&tools.merganser, &"build", &"-q", &"-t", &args.taxonomy]);
            command.extend(words([&"--map", &case.database.map, &"-o", &database]));
            command.extend(of_build.split_whitespace().map(Into::into));
            command.extend(case.database.files.iter().map(Into::into));
            call(&command)?;
        }
        contestants.push(Contestant {
            name: options.trim_start_matches("--preset ").trim_start_matches("-- ").to_owned(),
            database,
            options: Some(of_classify.split_whitespace().map(Into::into).collect()),
        });
    }
    Ok(contestants)
}

fn score(
    args: &Args,
    tools: &Tools,
    tool: &Contestant,
    reads: &Reads,
    folder: &Path,
) -> Result<Score> {
    let found = judged(args, tools, tool, reads, folder)?;
    let percent = |rank: &str, key: &str| {
        let value = found["ranks"][rank][key].as_f64();
        value.map_or("-".to_owned(), |share| format!("{:.2}", 100.0 * share))
    };
    let pair = |rank| format!("{} / {}", percent(rank, "sensitivity"), percent(rank, "precision"));
    let abundance = ["species", "genus"]
        .map(|rank| format!("{} | {}", percent(rank, "deviation"), percent(rank, "false_taxa")));
    Ok(Score { text: ["species", "genus"].map(pair), abundance: abundance.join(" | ") })
}

/// Classifies reads and returns the result of `eval`.
pub(super) fn judged(
    args: &Args,
    tools: &Tools,
    tool: &Contestant,
    reads: &Reads,
    folder: &Path,
) -> Result<Value> {
    let output = folder.join("reads.out");
    match (&tools.kraken, &tool.options) {
        (Some([program, _]), None) => {
            call(&kraken::classify(program, &tool.database, &reads.file, &output, args.threads))?;
        }
        (_, options) => {
            let threads = args.threads.to_string();
            let program = &tools.merganser;
            let mut command = words([program, &"classify", &"-q", &tool.database, &reads.file]);
            command.extend(words([&"-o", &output, &"--threads", &threads]));
            command.extend(options.iter().flatten().cloned());
            call(&command)?;
        }
    }
    let mut command = words([&tools.merganser, &"eval", &"-q", &"-t", &args.taxonomy]);
    command.extend(words([&reads.truth, &output, &"--json"]));
    serde_json::from_str(&call(&command)?).context("eval printed no JSON")
}
