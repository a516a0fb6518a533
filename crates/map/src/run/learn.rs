//! Learning the insert sizes of a library, before the first pair is reported.
//!
//! The pairs are the first ones of the whole input, in its order, so the result depends neither on the number of
//! threads nor on the shard. Their mates are searched one by one, as the search for pairs depends on the insert sizes.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use merganser_io::{Input, ReadInput};
use merganser_run::engine::{Source, each_batch};
use merganser_run::locks::{into_inner, lock};
use merganser_run::{Context, Silent, Warnings, thousands};

use super::worker::named;
use crate::cpu::{Mapper, Singles};
use crate::hits::Hit;
use crate::index::IndexView;
use crate::insert_sizes::{InsertSizes, MAX_PAIRS, MIN_PAIRS};
use crate::room::Room;
use crate::source::{ReadBatch, ReadSource};
use crate::trace::Alignment;
use crate::{Config, Error, Select};

/// The number of bases of reads, and of letters of comments that are kept, after which no further batch is searched, whatever was learned from them: as many as
/// [`MAX_PAIRS`] pairs of 250 bases have.
const MAX_BASES: u64 = 2 * 250 * MAX_PAIRS as u64;
/// The maximum memory of the reads in these batches: letters, qualities and names.
const MAX_BYTES: u64 = 3 * MAX_BASES;

/// Whether a run learns insert sizes; `paired` says that its inputs may have pairs.
pub(super) fn is_wanted(config: &Config, paired: bool) -> bool {
    config.learn_insert && config.max_insert.is_none() && paired
}

/// Returns the memory of the reads that are kept until insert sizes are learned, in bytes; 0 if no reads are kept, or
/// nothing is to be learned.
pub(super) fn held_bytes(learns: bool, inputs: &[ReadInput]) -> u64 {
    let holds = learns && !can_be_read_twice(inputs);
    if holds { MAX_BYTES } else { 0 }
}

/// Whether all inputs can be read twice.
fn can_be_read_twice(inputs: &[ReadInput]) -> bool {
    inputs.iter().flat_map(ReadInput::inputs).all(Input::is_file)
}

/// Returns the options with learned insert sizes; those that are given stay. Without enough pairs, the options stay
/// the same, and a note says so if there are pairs.
///
/// # Errors
/// If the given minimum is above the learned maximum.
pub(super) fn complete(
    config: &Config,
    learned: &Learned,
    context: &Context,
) -> Result<Config, Error> {
    let mut config = config.clone();
    match &learned.sizes {
        Some(sizes) => {
            let [least, most] = sizes.range;
            config.min_insert.get_or_insert(least);
            config.max_insert = Some(most);
        }
        None => {
            let [_, most] = config.inserts();
            config.max_insert = Some(most);
            if !learned.from_pairs {
                return Ok(config);
            }
            context.progress.note(&format!(
                "fewer than {} of the first pairs have one best hit of each mate: insert sizes are not learned, and \
                 `max_insert` is {most}",
                thousands(MIN_PAIRS as u64)
            ));
        }
    }
    config.validate()?;
    Ok(config)
}

/// The result of learning from the beginning of the input.
pub(super) struct Learned {
    /// The insert sizes; `None` if there are too few pairs.
    pub(super) sizes: Option<InsertSizes>,
    /// Whether there are any pairs.
    from_pairs: bool,
}

/// The insert sizes of the pairs of a batch.
#[derive(Debug, Default)]
struct Sample {
    batch: u64,
    /// In the order of the pairs; those that nothing can be learned from are left out.
    sizes: Vec<u32>,
    bases: u64,
}

/// Searches batches of reads for insert sizes.
pub(super) struct Learner<'r> {
    view: IndexView<'r>,
    config: Config,
    gaps: &'r [[u32; 2]],
    room: Room,
    /// The maximum length of a record, in bytes.
    longest: usize,
    context: &'r Context,
    samples: Mutex<Vec<Sample>>,
    pairs: AtomicU64,
    bases: AtomicU64,
    /// Whether there are any pairs so far.
    from_pairs: AtomicBool,
}

/// The state of a thread.
pub(super) struct Searcher<'l> {
    mates: Singles<'l>,
    alignment: Alignment,
}

impl<'r> Learner<'r> {
    pub(super) fn new(
        view: IndexView<'r>,
        config: &Config,
        gaps: &'r [[u32; 2]],
        room: Room,
        longest: usize,
        context: &'r Context,
    ) -> Learner<'r> {
        // Only single best hits are needed.
        let config = Config { select: Select::Best, share: None, ..config.clone() };
        let (pairs, bases) = (AtomicU64::new(0), AtomicU64::new(0));
        Learner {
            view,
            config,
            gaps,
            room,
            longest,
            context,
            samples: Mutex::default(),
            pairs,
            bases,
            from_pairs: AtomicBool::new(false),
        }
    }

    pub(super) fn searcher(&self) -> Searcher<'_> {
        let cancel = &self.context.cancel;
        Searcher {
            mates: Singles::new(self.view, &self.config, self.gaps, self.room, cancel),
            alignment: Alignment::of_run(cancel),
        }
    }

    /// Whether more batches are needed.
    pub(super) fn wants_more(&self) -> bool {
        self.pairs.load(Ordering::Relaxed) < MAX_PAIRS as u64
            && self.bases.load(Ordering::Relaxed) < MAX_BASES
    }

    /// Searches the pairs of a batch.
    ///
    /// # Errors
    /// If a read cannot be searched, or the run is cancelled.
    pub(super) fn look(&self, searcher: &mut Searcher<'_>, batch: &ReadBatch) -> Result<(), Error> {
        let mut sample = Sample { batch: batch.number(), ..Sample::default() };
        // Comments that are kept take memory, too.
        let size = |at| batch.get(at)[1].len() + batch.comment(at).len();
        sample.bases = (0..batch.len()).map(|at| size(at) as u64).sum();
        if batch.paired {
            self.from_pairs.store(true, Ordering::Relaxed);
            let found = searcher.sizes(batch, &self.config, &mut sample.sizes);
            found.map_err(|error| named(error, batch, &self.config))?;
        }
        self.pairs.fetch_add(sample.sizes.len() as u64, Ordering::Relaxed);
        self.bases.fetch_add(sample.bases, Ordering::Relaxed);
        lock(&self.samples).push(sample);
        Ok(())
    }

    /// Reads and searches the beginning of files, which are read again afterwards.
    ///
    /// # Errors
    /// If the beginning of the input is at fault, or the run is cancelled.
    pub(super) fn read(&self, inputs: &[ReadInput]) -> Result<(), Error> {
        let (threads, cancel) = (self.context.threads, &self.context.cancel);
        // The same warnings follow when the input is read again.
        let mut quiet = self.context.clone();
        quiet.warnings = Warnings::default();
        let source = ReadSource::open(inputs, &self.config, &quiet, self.longest, None, None)?;
        let begin = Begin { source: &source, learner: self };
        let searcher = || self.searcher();
        let done = each_batch(&begin, threads, &Silent, cancel, searcher, |searcher, batch| {
            self.look(searcher, batch)
        });
        // A fault behind the pairs that suffice is found when the input is read again.
        if self.wants_more() || cancel.is_cancelled() { done.map(drop) } else { Ok(()) }
    }

    /// Returns what was learned.
    pub(super) fn finish(self) -> Learned {
        let mut samples = into_inner(self.samples);
        samples.sort_unstable_by_key(|sample| sample.batch);
        // Threads may have searched more batches than are needed.
        let (mut sizes, mut bases) = (Vec::new(), 0);
        for sample in samples {
            if sizes.len() >= MAX_PAIRS || bases >= MAX_BASES {
                break;
            }
            sizes.extend(sample.sizes);
            bases += sample.bases;
        }
        sizes.truncate(MAX_PAIRS);
        let from_pairs = self.from_pairs.into_inner();
        Learned { sizes: InsertSizes::learn(sizes), from_pairs }
    }
}

impl Searcher<'_> {
    /// Appends the insert sizes of the pairs of a batch whose mates both have one best hit.
    fn sizes(
        &mut self,
        batch: &ReadBatch,
        config: &Config,
        sizes: &mut Vec<u32>,
    ) -> Result<(), Error> {
        let letters = (0..batch.len()).map(|at| batch.get(at)[1]);
        self.mates.search(letters, |at, problem| batch.error(at, problem))?;
        for read in (0..batch.len()).step_by(2) {
            if let [Some(one), Some(two)] = [read, read + 1].map(|mate| only(self.mates.hits(mate)))
            {
                let mapper = &self.mates.mapper;
                sizes.extend(insert_size(mapper, &mut self.alignment, config, read, [one, two]));
            }
        }
        Ok(())
    }
}

/// Returns the best hit of a read if no other one has as few edits.
fn only(hits: &[Hit]) -> Option<Hit> {
    match hits {
        [only] => Some(*only),
        [best, next, ..] if next.edits > best.edits => Some(*best),
        _ => None,
    }
}

/// Returns the insert size of a pair whose mates have these hits; `None` if their contigs, their strands or their
/// order are not those of a pair.
fn insert_size(
    mapper: &Mapper<'_>,
    alignment: &mut Alignment,
    config: &Config,
    read: usize,
    hits: [Hit; 2],
) -> Option<u32> {
    if hits[0].contig != hits[1].contig {
        return None;
    }
    let left = config.orientation.left(hits.map(|hit| hit.reverse))?;
    let spans = [0, 1].map(|mate| {
        let (queries, text) = (&mapper.queries, &mapper.view.text);
        alignment.of_hit(queries, read + mate, &hits[mate], text, config.n_mode, &[]);
        [alignment.start, alignment.end - 1]
    });
    let contig = &mapper.view.text.contigs[hits[0].contig as usize];
    config.orientation.insert_on(contig, spans[left], spans[1 - left])
}

/// The beginning of the input, until enough was learned from it.
struct Begin<'b, 'r> {
    source: &'b ReadSource<'b>,
    learner: &'b Learner<'r>,
}

impl Source for Begin<'_, '_> {
    type Batch = ReadBatch;
    type Error = Error;

    fn next(&self, batch: &mut ReadBatch) -> Result<Option<u64>, Error> {
        if self.learner.wants_more() { self.source.next(batch) } else { Ok(None) }
    }

    fn number(batch: &ReadBatch) -> u64 {
        batch.number()
    }

    fn stop(&self, number: u64) {
        self.source.stop(number);
    }
}
