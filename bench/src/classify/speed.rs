//! `merganser-bench classify speed`.

use super::data::Genomes;
use super::kraken;
use super::tools::{Tools, words};
use crate::count::{machine, say};
use crate::measure::{Cost, measure};
use anyhow::{Context, Result};
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// `merganser-bench classify speed …`
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Folder of genomes, *.fna or *.fna.gz
    #[arg(long, value_name = "DIR")]
    genomes: PathBuf,
    /// Taxids of the sequences: lines of name, tab, taxid
    #[arg(long, value_name = "FILE")]
    map: PathBuf,
    /// Folder with nodes.dmp and names.dmp
    #[arg(long, value_name = "DIR")]
    taxonomy: PathBuf,
    /// Reads to classify
    #[arg(long, value_name = "FILE")]
    reads: PathBuf,
    /// Runs of each tool
    #[arg(long, value_name = "N", default_value_t = 3)]
    runs: usize,
    /// Runs of kraken2-build, which takes long; 0 uses an existing database
    #[arg(long, value_name = "N", default_value_t = 1)]
    kraken_builds: usize,
    /// Only prepare the inputs of kraken2-build, outside of any measurement
    #[arg(long)]
    prepare: bool,
    /// Threads of each tool
    #[arg(long, value_name = "T", default_value_t = 2)]
    threads: usize,
    /// The merganser binary; by default the one beside this program, or on the PATH
    #[arg(long, value_name = "FILE")]
    merganser: Option<PathBuf>,
    /// Folder for databases, which are kept
    #[arg(long, value_name = "DIR", default_value = "bench/data/classify-speed")]
    dir: PathBuf,
}

const PRESETS: [&str; 2] = ["metacache", "sensitive"];

/// Runs the tools in turn; the report is written to stdout as Markdown.
pub(crate) fn run(args: &Args) -> Result<()> {
    let tools = Tools::find(args.merganser.as_deref())?;
    std::fs::create_dir_all(&args.dir)
        .with_context(|| format!("cannot create {}", args.dir.display()))?;
    let dir = args.dir.canonicalize()?;
    let database = dir.join("kraken2");
    if let Some([_, build]) = &tools.kraken
        && !database.join("library").exists()
    {
        let genomes = Genomes::open(&args.genomes, &args.map)?;
        kraken::prepare(build, &genomes, &args.taxonomy, &database)?;
    }
    if args.prepare {
        return Ok(());
    }
    say(&format!("{}{}\n", machine::describe(), tools.versions()))?;
    let builds = builds(args, &tools, &dir)?;
    say(&table("build", &builds))?;
    let queries = queries(args, &tools, &dir)?;
    say(&table("classify", &queries))
}

/// The costs of a tool's runs.
struct Row {
    name: String,
    costs: Vec<Cost>,
    /// Bytes of the outputs.
    written: u64,
}

fn builds(args: &Args, tools: &Tools, dir: &Path) -> Result<Vec<Row>> {
    let mut rows = Vec::new();
    if let Some([_, build]) = &tools.kraken {
        let folder = dir.join("kraken2");
        let mut costs = Vec::new();
        for _ in 0..args.kraken_builds {
            // kraken2-build does nothing if a database exists.
            for name in ["hash.k2d", "opts.k2d", "taxo.k2d", "seqid2taxid.map"] {
                let _ = std::fs::remove_file(folder.join(name));
            }
            costs.push(once(dir, &kraken::build(build, &folder, args.threads))?);
        }
        let written = std::fs::metadata(folder.join("hash.k2d"))?.len();
        rows.push(Row { name: "kraken2-build".into(), costs, written });
    }
    for preset in PRESETS {
        let output = dir.join(format!("{preset}.mgdb"));
        let threads = args.threads.to_string();
        let mut command = words([&tools.merganser, &"build", &"-q", &"--preset", &preset]);
        command.extend(absolute([(&"-t", &args.taxonomy), (&"--map", &args.map)])?);
        command.extend(words([&"-o", &output, &"--threads", &threads]));
        command.push(args.genomes.canonicalize()?.into());
        let costs = (0..args.runs).map(|_| once(dir, &command)).collect::<Result<_>>()?;
        rows.push(Row {
            name: format!("merganser, {preset}"),
            costs,
            written: std::fs::metadata(output)?.len(),
        });
    }
    Ok(rows)
}

fn queries(args: &Args, tools: &Tools, dir: &Path) -> Result<Vec<Row>> {
    let reads = args.reads.canonicalize().context("cannot find --reads")?;
    let mut commands = Vec::new();
    let output = |name: &str| dir.join(format!("{name}.out"));
    if let Some([program, _]) = &tools.kraken {
        let folder = dir.join("kraken2");
        let command = kraken::classify(program, &folder, &reads, &output("kraken2"), args.threads);
        commands.push(("kraken2".to_owned(), command, output("kraken2")));
    }
    for preset in PRESETS {
        let (database, threads) = (dir.join(format!("{preset}.mgdb")), args.threads.to_string());
        let out = output(preset);
        let mut command = words([&tools.merganser, &"classify", &"-q", &database, &reads]);
        command.extend(words([&"-o", &out, &"--threads", &threads]));
        commands.push((format!("merganser, {preset}"), command, out));
    }
    let mut costs = vec![Vec::new(); commands.len()];
    for _ in 0..args.runs {
        for (at, (_, command, _)) in commands.iter().enumerate() {
            costs[at].push(once(dir, command)?);
        }
    }
    let rows = commands.into_iter().zip(costs).map(|((name, _, out), costs)| {
        let written = std::fs::metadata(out).map_or(0, |at| at.len());
        Row { name, costs, written }
    });
    Ok(rows.collect())
}

fn absolute<const N: usize>(pairs: [(&&str, &PathBuf); N]) -> Result<Vec<OsString>> {
    let mut words = Vec::new();
    for (option, path) in pairs {
        let place =
            path.canonicalize().with_context(|| format!("cannot find {}", path.display()))?;
        words.extend([OsString::from(option), place.into()]);
    }
    Ok(words)
}

fn once(dir: &Path, command: &[OsString]) -> Result<Cost> {
    let folder = tempfile::Builder::new().prefix("run-").tempdir_in(dir)?;
    Ok(measure(command, folder.path())?.0)
}

/// Returns the table of one job, with the ratio of each time to that of the first row.
fn table(job: &str, rows: &[Row]) -> String {
    let mut text = format!(
        "| {job} | wall s | CPU s | peak GB | written GB | first / this |\n|---|---:|---:|---:|---:|---:|\n"
    );
    let first = rows.first().map(|row| median(&row.costs).wall);
    for row in rows.iter().filter(|row| !row.costs.is_empty()) {
        let middle = median(&row.costs);
        let wall = |cost: &Cost| cost.wall;
        let least = row.costs.iter().map(wall).fold(f64::INFINITY, f64::min);
        let most = row.costs.iter().map(wall).fold(0.0, f64::max);
        text += &format!(
            "| {} | {:.2} ({least:.2} to {most:.2}) | {:.2} | {:.2} | {:.2} | {:.1} |\n",
            row.name,
            middle.wall,
            middle.cpu,
            middle.peak as f64 / 1e9,
            row.written as f64 / 1e9,
            first.unwrap_or(f64::NAN) / middle.wall
        );
    }
    text + "\n"
}

/// Returns the run with the median wall time.
fn median(costs: &[Cost]) -> Cost {
    let mut sorted = costs.to_vec();
    sorted.sort_by(|a, b| a.wall.total_cmp(&b.wall));
    sorted.get(sorted.len() / 2).copied().unwrap_or(Cost { wall: f64::NAN, cpu: 0.0, peak: 0 })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ratios_are_to_the_first_row() {
        let cost = |wall| Cost { wall, cpu: 1.0, peak: 2_000_000_000 };
        let rows = [
            Row { name: "a".into(), costs: vec![cost(10.0)], written: 0 },
            Row { name: "b".into(), costs: vec![cost(9.0), cost(4.0), cost(5.0)], written: 5 },
        ];
        let text = table("build", &rows);
        assert!(text.contains("| b | 5.00 (4.00 to 9.00) | 1.00 | 2.00 | 0.00 | 2.0 |"), "{text}");
    }
}
