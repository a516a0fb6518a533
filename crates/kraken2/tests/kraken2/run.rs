//! Runs with all outputs in memory.

use std::path::{Path, PathBuf};
use std::process::Command;

use merganser_io::{Input, ReadInput};
use merganser_kraken2::Error;
use merganser_kraken2::{Kraken2Config, Kraken2Database, Kraken2ReportOptions, run_with};
use merganser_run::{Context, DeviceChoice};
use merganser_taxreport::output::{Outputs, ReadOutput};

#[derive(Clone, Debug)]
pub(crate) struct Job {
    pub(crate) database: PathBuf,
    /// Further databases.
    pub(crate) beside: Vec<PathBuf>,
    pub(crate) inputs: Vec<PathBuf>,
    pub(crate) paired: bool,
    pub(crate) rules: Kraken2Config,
    pub(crate) report: Kraken2ReportOptions,
    pub(crate) threads: usize,
    pub(crate) batch_records: usize,
    pub(crate) device: DeviceChoice,
    pub(crate) gpu_memory: Option<u64>,
}

impl Job {
    pub(crate) fn new(database: &Path, inputs: Vec<PathBuf>) -> Job {
        Job {
            database: database.to_owned(),
            beside: Vec::new(),
            inputs,
            paired: false,
            rules: Kraken2Config::default(),
            report: Kraken2ReportOptions::default(),
            threads: 1,
            batch_records: 8192,
            device: DeviceChoice::Cpu,
            gpu_memory: None,
        }
    }

    fn segments(&self) -> Vec<ReadInput> {
        let input = |path: &PathBuf| Input::File(path.clone());
        if self.paired {
            let pair = |both: &[PathBuf]| ReadInput::Pair(input(&both[0]), input(&both[1]));
            self.inputs.chunks(2).map(pair).collect()
        } else {
            self.inputs.iter().map(|path| ReadInput::Single(input(path))).collect()
        }
    }
}

/// The outputs of a run; reads are grouped by mate.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Written {
    pub(crate) lines: Vec<u8>,
    pub(crate) report: Vec<u8>,
    pub(crate) classified: [Vec<u8>; 2],
    pub(crate) unclassified: [Vec<u8>; 2],
    pub(crate) segments: Vec<u8>,
    pub(crate) partial: Vec<u8>,
}

pub(crate) fn run(job: &Job) -> Result<Written, Error> {
    let databases = std::iter::once(&job.database).chain(&job.beside);
    let database = Kraken2Database::open_all(databases)?;
    let config = Kraken2Config {
        report_minimizer_data: job.report.minimizers,
        batch_records: Some(job.batch_records),
        ..job.rules.clone()
    };
    let mut context = Context::new().threads(job.threads).device(job.device.clone());
    context.gpu_memory = job.gpu_memory;
    let mut written = Written::default();
    let Written { lines, report, classified, unclassified, segments, partial } = &mut written;
    let mut outputs = Outputs {
        lines: Some(lines),
        classified: Some(reads(classified, job.paired)),
        unclassified: Some(reads(unclassified, job.paired)),
        // Segments need all k-mers of a read.
        segments: if job.rules.quick { None } else { Some(segments) },
        partial: Some(partial),
        pass: None,
    };
    let segments = job.segments();
    let outcome = run_with(&config, &database, &segments, &mut outputs, &context)?;
    outcome.counts.write_report(database.taxonomy(), job.report, report)?;
    Ok(written)
}

fn reads([one, two]: &mut [Vec<u8>; 2], paired: bool) -> ReadOutput<'_> {
    match paired {
        true => ReadOutput { mates: Some([one, two]), ..ReadOutput::default() },
        false => ReadOutput { single: Some(one), ..ReadOutput::default() },
    }
}

/// Whether a program is installed. If not, prints a message; with `CI=true` it panics.
pub(crate) fn installed(program: &str) -> bool {
    let found = Command::new(program).arg("--version").output().is_ok();
    let ci = std::env::var("CI").is_ok_and(|value| value == "true");
    assert!(found || !ci, "{program} is not installed, and CI needs it");
    if !found {
        eprintln!("skipped: {program} is not installed");
    }
    found
}

/// Returns the lines and the report of the installed Kraken 2; `options` must match the rules of `job`.
pub(crate) fn judge(job: &Job, options: &str) -> (String, String) {
    let folder = tempfile::tempdir().unwrap();
    let [lines, report] = ["lines", "report"].map(|name| folder.path().join(name));
    let mut command = Command::new("kraken2");
    command.arg("--db").arg(&job.database).arg("--output").arg(&lines).arg("--report").arg(&report);
    command.args(options.split_whitespace()).args(job.paired.then_some("--paired"));
    let is_gzip = job.inputs[0].extension().is_some_and(|end| end == "gz");
    command.args(is_gzip.then_some("--gzip-compressed")).args(&job.inputs);
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", text(&output.stderr));
    (std::fs::read_to_string(lines).unwrap(), std::fs::read_to_string(report).unwrap())
}

/// Removes the rank codes of a report, because Debian's build of Kraken 2 writes them without letters.
pub(crate) fn without_ranks(report: &[u8]) -> Vec<u8> {
    let line = |line: &str| {
        let mut fields: Vec<&str> = line.split('\t').collect();
        let rank = fields.len() - 3;
        fields.remove(rank);
        fields.join("\t") + "\n"
    };
    text(report).lines().map(line).collect::<String>().into_bytes()
}

pub(crate) fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Builds the database of a folder with the installed Kraken 2.
pub(crate) fn build(folder: &Path, options: &str) {
    let mut command = Command::new("kraken2-build");
    command.arg("--build").arg("--db").arg(folder).args(["--threads", "1"]);
    let output = command.args(options.split_whitespace()).output().unwrap();
    assert!(output.status.success(), "{}", text(&output.stderr));
}
