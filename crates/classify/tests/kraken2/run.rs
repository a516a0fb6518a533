//! A plain run: files in, all that comes out in memory.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Condvar, Mutex};

use merganser_classify::Error;
use merganser_classify::kraken2::{
    InputBlocks, Kraken2Batch, Kraken2Classifier, Kraken2Counts, Kraken2Database,
    Kraken2ReportOptions, Kraken2Rules, Kraken2Sequences,
};
use merganser_io::{Header, Input, Keep, RecordBatch, RecordOptions, Records, Segment};

#[derive(Clone, Debug)]
pub(crate) struct Job {
    pub(crate) database: PathBuf,
    pub(crate) inputs: Vec<PathBuf>,
    pub(crate) paired: bool,
    pub(crate) rules: Kraken2Rules,
    pub(crate) report: Kraken2ReportOptions,
    pub(crate) threads: usize,
    pub(crate) batch_records: usize,
}

impl Job {
    pub(crate) fn new(database: &Path, inputs: Vec<PathBuf>) -> Job {
        Job {
            database: database.to_owned(),
            inputs,
            paired: false,
            rules: Kraken2Rules::default(),
            report: Kraken2ReportOptions::default(),
            threads: 1,
            batch_records: 8192,
        }
    }

    fn segments(&self) -> Vec<Segment> {
        let input = |path: &PathBuf| Input::File(path.clone());
        if self.paired {
            let pair = |both: &[PathBuf]| Segment::Pair(input(&both[0]), input(&both[1]));
            self.inputs.chunks(2).map(pair).collect()
        } else {
            self.inputs.iter().map(|path| Segment::Single(input(path))).collect()
        }
    }
}

#[derive(Debug, Default)]
pub(crate) struct Outcome {
    pub(crate) lines: Vec<u8>,
    pub(crate) report: Vec<u8>,
    pub(crate) sequences: Kraken2Sequences,
}

/// What happens in the order of the input: a turn to cut batches, and one to take results.
#[derive(Default)]
struct Turns {
    blocks: (u64, InputBlocks),
    results: (u64, Kraken2Counts, Outcome),
}

pub(crate) fn run(job: &Job) -> Result<Outcome, Error> {
    let database = Kraken2Database::open(&job.database)?;
    let mut classifier = Kraken2Classifier::new(&database, job.rules.clone())?;
    if job.report.minimizers {
        classifier = classifier.with_minimizers();
    }
    let options = RecordOptions {
        keep: Keep { header: Header::Whole, qualities: true },
        batch_records: job.batch_records,
        workers: job.threads,
        ..RecordOptions::default()
    };
    let records = Records::open(&job.segments(), options)?;
    let shared = (Mutex::new(Turns::default()), Condvar::new());
    let work = || work(&database, &classifier, &records, &shared);
    std::thread::scope(|scope| -> Result<(), Error> {
        let workers: Vec<_> = (0..job.threads).map(|_| scope.spawn(work)).collect();
        workers.into_iter().try_for_each(|worker| worker.join().unwrap())
    })?;
    let (_, mut counts, mut outcome) = shared.0.into_inner().unwrap().results;
    counts.write_report(database.taxonomy(), job.report, &mut outcome.report)?;
    Ok(outcome)
}

fn work(
    database: &Kraken2Database,
    classifier: &Kraken2Classifier<'_>,
    records: &Records,
    (turns, changed): &(Mutex<Turns>, Condvar),
) -> Result<(), Error> {
    let mut worker = classifier.worker();
    let (mut batch, mut results) = (RecordBatch::default(), Kraken2Batch::default());
    let mut sequences = Kraken2Sequences::default();
    while records.next(&mut batch)?.is_some() {
        let number = batch.number();
        let turn = turns.lock().unwrap();
        let mut turn = changed.wait_while(turn, |turn| turn.blocks.0 != number).unwrap();
        let cuts = turn.blocks.1.cut(&batch);
        turn.blocks.0 += 1;
        drop(turn);
        changed.notify_all();
        worker.classify(&mut batch, &cuts, &mut results)?;
        sequences.refill(database.taxonomy(), &batch, &results);
        let turn = turns.lock().unwrap();
        let mut turn = changed.wait_while(turn, |turn| turn.results.0 != number).unwrap();
        let (next, counts, outcome) = &mut turn.results;
        *next += 1;
        outcome.lines.extend_from_slice(results.lines());
        for mate in 0..2 {
            outcome.sequences.classified[mate].extend_from_slice(&sequences.classified[mate]);
            outcome.sequences.unclassified[mate].extend_from_slice(&sequences.unclassified[mate]);
        }
        counts.add(&mut results);
        drop(turn);
        changed.notify_all();
    }
    Ok(())
}

/// Whether a program is installed. If it is not, says so; in CI that is a failure.
pub(crate) fn installed(program: &str) -> bool {
    let found = Command::new(program).arg("--version").output().is_ok();
    let ci = std::env::var("CI").is_ok_and(|value| value == "true");
    assert!(found || !ci, "{program} is not installed, and CI needs it");
    if !found {
        eprintln!("skipped: {program} is not installed");
    }
    found
}

/// The lines and the report of the installed Kraken 2; `options` say the rules of `job`.
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

/// A report without its rank codes, which Debian's build of Kraken 2 writes without letters.
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

/// Has the installed Kraken 2 build the database of a folder.
pub(crate) fn build(folder: &Path, options: &str) {
    let mut command = Command::new("kraken2-build");
    command.arg("--build").arg("--db").arg(folder).args(["--threads", "1"]);
    let output = command.args(options.split_whitespace()).output().unwrap();
    assert!(output.status.success(), "{}", text(&output.stderr));
}
