//! Reads of some taxa, by what a run of `classify` wrote of them.

mod decisions;
mod lines;
mod names;
mod relatives;
mod steps;
mod worker;

use std::collections::HashSet;
use std::io::Write;
use std::path::Path;

use merganser_alignments::RecordOptions;
use merganser_gpu::DeviceInfo;
use merganser_io::{BgzfBlocks, Header, Keep, ReadInput, Records};
use merganser_run::engine::Engine;
use merganser_run::{Budget, Cancel, Progress, Resources, Shortage, Stages, Unit, thousands};

use crate::Error;
use merganser_io::shown;

pub use relatives::{Relatives, relatives_in_report, relatives_in_taxonomy};

use steps::Steps;
use worker::{Tally, Worker, Written};

/// Memory of a thread: what it reads, batches that wait, texts that wait for their turn.
const THREAD: u64 = 9 * BATCH[1] as u64;
/// How often a record is there at the same time, at most: as it was read (twice for a moment), as it is
/// written, and that compressed.
const COPIES: u64 = 4;
/// Records and bytes of a batch, which decide where blocks of compressed outputs end.
const BATCH: [usize; 2] = [16 << 10, 2 << 20];

/// Which reads are extracted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ExtractConfig {
    /// Those of these taxa; 0 is of the unclassified.
    pub taxids: HashSet<u64>,
    /// All others that have a line, instead.
    pub exclude: bool,
    /// They are written as FASTA, whatever they come as.
    pub fasta: bool,
    /// Take mates by their place in the inputs, whatever their names; else these must be
    /// [those of mates](merganser_io::are_mates).
    pub any_names: bool,
    /// Taxids that lines may have, in order: lines with others are counted. None: any.
    pub known: Option<Vec<u64>>,
}

impl ExtractConfig {
    /// Reads of these taxa.
    pub fn new(taxids: impl IntoIterator<Item = u64>) -> ExtractConfig {
        ExtractConfig { taxids: taxids.into_iter().collect(), ..ExtractConfig::default() }
    }

    /// Whether reads of this taxon are extracted.
    fn wants(&self, taxid: u64) -> bool {
        self.taxids.contains(&taxid) != self.exclude
    }
}

/// Where reads of one kind go.
pub struct ExtractStream<'o> {
    /// What takes their text,
    pub output: &'o mut (dyn Write + Send),
    /// which is compressed before, as BGZF, by all threads.
    pub gzip: bool,
}

/// Where extracted reads go. A pair goes to the `mates`, or, where these are not, both mates one after
/// the other to `single`.
#[derive(Default)]
pub struct ExtractOutputs<'o> {
    /// For reads that stand for themselves.
    pub single: Option<ExtractStream<'o>>,
    /// For first mates and second mates.
    pub mates: Option<[ExtractStream<'o>; 2]>,
}

/// What came of it. A pair is one read.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct ExtractOutcome {
    /// Reads of the input.
    pub records: u64,
    /// Secondary and supplementary alignments of the inputs, whose reads stand in others.
    pub skipped_alignments: u64,
    /// `extracting` is the time of all threads together.
    pub stages: Stages,
    /// None: it is done by the CPU.
    pub devices: Vec<DeviceInfo>,
    /// The largest resident size of the process so far, in bytes, if the system tells it.
    pub peak_memory: Option<u64>,
    /// Reads that were extracted.
    pub extracted: u64,
    /// Lines of results.
    pub lines: u64,
    /// Reads without a line, which are not extracted,
    pub without_line: u64,
    /// and the first of them.
    pub first_without_line: Option<String>,
    /// Lines with a taxid that is not among the known ones,
    pub unknown: u64,
    /// and the first: its taxid, and the name of its read.
    pub first_unknown: Option<(u64, String)>,
    /// The first read that does not stand where its line does: from there on, reads were looked for
    /// by name.
    pub out_of_order: Option<String>,
    /// Reads that have the line of the read before, as mates do.
    pub shared: u64,
    /// Lines that were taken in the order of the reads, and whose read has another line of the other decision
    /// among those that were looked up by name: how many, and the first such read.
    pub doubled: (u64, Option<String>),
}

/// Writes the reads of `segments` that the lines of the file `lines` (`-` is stdin) say are of the
/// taxa of `config`, in the order of the reads.
///
/// Lines are Kraken's: `C` or `U`, the read's name, and its taxid or `NAME (taxid N)`; what follows is
/// not looked at. As long as they are in the order of the reads, a line for each (or for two mates that
/// follow each other), both are read side by side. From the first read on that is not where its line is, the names of all lines that are left
/// are held in memory. Names are compared as they are, then without the `/1` or `/2` of mates.
///
/// Progress stage: `extract`, in bytes of reads.
///
/// # Errors
/// Reads or lines that are malformed, names that do not fit into memory, a name with two lines of which
/// one is extracted and one is not, lines that have none of the reads, and what cannot be written.
pub fn extract_reads(
    config: &ExtractConfig,
    resources: &Resources,
    lines: &Path,
    segments: &[ReadInput],
    outputs: ExtractOutputs<'_>,
    progress: &dyn Progress,
    cancel: &Cancel,
) -> Result<ExtractOutcome, Error> {
    resources.validate()?;
    let room = room(resources)?;
    let options = RecordOptions {
        keep: Keep { header: Header::Whole, qualities: !config.fasta },
        batch_records: BATCH[0],
        batch_bytes: BATCH[1],
        workers: resources.threads,
        max_record: merganser_io::longest_record(room / 2, COPIES),
        any_names: config.any_names,
        find_pairs: true,
        cancel: cancel.clone(),
        warnings: resources.warnings.clone(),
        ..RecordOptions::default()
    };
    let records = Records::open(segments, options)?;
    progress.stage("extract", Unit::Bytes, records.bytes_total());
    let steps = Steps::new(records, lines, config, room / 2)?;
    let written = Written { outputs };
    let (gzip, apart) = (written.gzip(), written.outputs.mates.is_some());
    let engine = Engine::new(&steps, written, 4 * resources.threads as u64, progress, cancel);
    let workers = engine.run(resources.threads, || {
        let (blocks, tally) = (BgzfBlocks::new(LEVEL), Tally::default());
        Worker { steps: &steps, fasta: config.fasta, gzip, apart, blocks, tally }
    })?;
    engine.finish()?.finish()?;
    progress.finish();
    let mut total = Tally::default();
    workers.into_iter().for_each(|worker| total.add(worker.tally));
    let mut outcome = steps.finish()?;
    outcome.take(total);
    if outcome.records > 0 && outcome.without_line == outcome.records {
        let what = match outcome.lines {
            0 => "there are no lines in it, and there are reads",
            _ => "none of the reads has a line in it: it is of other reads",
        };
        return Err(Error::content(shown(lines), what));
    }
    if let Some((taxid, read)) = &outcome.first_unknown {
        let (lines, count) = (shown(lines).display(), thousands(outcome.unknown));
        resources.warnings.push(format!(
            "{lines}: {count} lines have taxids that are not known, first {taxid} (read {read}): which taxa \
             these are below cannot be told; give the taxonomy, database or report that the lines were made \
             with"
        ));
    }
    if let (count, Some(read)) = &outcome.doubled {
        let (lines, count) = (shown(lines).display(), thousands(*count));
        resources.warnings.push(format!(
            "{lines}: {count} lines have another line of the same read and of another taxon, first read {read}, and \
             reads are in another order than lines: a wrong one of these reads may have been taken; give each \
             read a name of its own, or reads in the order of the lines"
        ));
    }
    outcome.peak_memory = merganser_run::peak_rss();
    Ok(outcome)
}

/// Of compressed outputs, as of all others.
const LEVEL: u8 = 4;

/// Bytes for long records and names.
fn room(resources: &Resources) -> Result<u64, Error> {
    let what = format_args!("extracting reads with {} threads needs", resources.threads);
    Ok(Budget::of_run(resources, THREAD).check(what, Shortage::FEWER_THREADS)?)
}

impl ExtractOutcome {
    fn take(&mut self, tally: Tally) {
        self.records = tally.records;
        self.extracted = tally.extracted;
        self.without_line = tally.without_line;
        self.first_without_line = tally.first.map(|(_, name)| name);
        self.stages.add("extracting", tally.time);
    }
}
