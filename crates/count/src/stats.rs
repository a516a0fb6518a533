//! Statistics of how each signature rule would cut the user's reads, without counting: Table III and Figure 4
//! of the RapidGKC paper (§III-A, §IV-C).

mod score;

use std::time::{Duration, Instant};

use merganser_io::{Chunk, Input};
use merganser_run::{ConfigError, Context, Unit};
use merganser_seq::signature::{self, Rule};

use crate::binmap::{BinMap, Slots};
use crate::cpu::partition::SuperKmers;
use crate::fragments::{Consumer, Fragment, Fragments};
use crate::job::Job;
use crate::run::reading::{self, ReadContext, read_all};
use crate::superkmer::{MAX_KMERS, gkc, record_bytes};
use crate::{Config, Error, plan};
use score::Scores;

pub use score::Score;

/// Statistics of the super-k-mers of the input under one or more rules.
#[derive(Clone, Debug)]
pub struct Stats {
    /// The number of bases of a k-mer.
    pub k: usize,
    /// The number of bases of a signature.
    pub signature_len: usize,
    /// The number of records of the input.
    pub records: u64,
    /// The number of k-mers of the input.
    pub kmers: u64,
    /// One entry for each rule, in the order of the request.
    pub rules: Vec<RuleStats>,
}

/// Statistics of the super-k-mers under one rule.
#[derive(Clone, Debug)]
pub struct RuleStats {
    /// The rule.
    pub rule: Rule,
    /// The number of super-k-mers.
    pub super_kmers: u64,
    /// Bytes of the super-k-mers in this program's encoding: a length byte, then 4 bases per byte.
    pub bytes: u64,
    /// Bytes of the super-k-mers in the paper's encoding (§III-B).
    pub gkc_bytes: u64,
    /// The number of bins.
    pub bins: usize,
    /// The number of k-mers in the largest bin.
    pub largest_bin_kmers: u64,
    /// Processor time spent on finding signatures and cutting, summed over all threads.
    pub time: Duration,
    /// d̄ of equation 1: the mean distance in bases between the minimizers of neighbouring
    /// super-k-mers; 0 if there are no such pairs.
    pub mean_distance: f64,
    /// The minimizers with the largest S-scores, largest first.
    pub best: Vec<Score>,
    /// The minimizers with the smallest S-scores, smallest first.
    pub worst: Vec<Score>,
}

/// Examines `inputs` under each of `rules`; ignores `config.rule`, the storage and the output.
///
/// A sequence longer than a batch of 4,096 bases is examined in pieces; a super-k-mer that spans two
/// pieces counts twice. The progress stage is `reading`, in bytes on disk.
///
/// # Errors
/// Fails as [`crate::run()`] does, and if k is below 3, the shortest signature.
pub fn stats(
    config: &Config,
    inputs: &[Input],
    rules: &[Rule],
    context: &Context,
) -> Result<Stats, Error> {
    let (progress, cancel) = (&*context.progress, &context.cancel);
    config.validate()?;
    let least = *signature::LENGTHS.start();
    if config.k < least {
        return Err(Error::Config(ConfigError::new(format!(
            "`k` {} is too short for signatures: use {least} or more",
            config.k
        ))));
    }
    context.validate()?;
    let job = Job::new(config, context, &[]);
    let reader = reading::open(job, inputs, cancel)?;
    progress.stage("reading", Unit::Bytes, reader.bytes_total());
    let stats = examine(config, rules, &ReadContext { job, reader: &reader, progress, cancel })
        .map_err(|error| reading::cause(&reader, cancel, error));
    progress.finish();
    stats
}

fn examine(config: &Config, rules: &[Rule], reading: &ReadContext<'_>) -> Result<Stats, Error> {
    let mut first = Chunk::default();
    let mut sample = Fragments::new(Examiner::new(config, rules), config);
    let any = reading.reader.next_chunk(&mut first)?;
    if any {
        sample.chunk(&first)?;
    }
    let (workers, tally) =
        read_all(reading, any.then_some(first), || Examiner::new(config, rules))?;
    let mut all = Examiner::new(config, rules);
    workers.into_iter().for_each(|worker| all.merge(worker));
    let bins = plan::bins(config, Some(all.kmers));
    let sampled = sample.consumer.rules;
    Ok(Stats {
        k: config.k,
        signature_len: config.signature_bases(),
        records: tally.records,
        kmers: all.kmers,
        rules: all.rules.into_iter().zip(sampled).map(|(r, s)| r.finish(&s, bins)).collect(),
    })
}

/// Cuts every batch under every rule and sums the statistics.
struct Examiner {
    rules: Vec<RuleExaminer>,
    kmers: u64,
}

impl Examiner {
    fn new(config: &Config, rules: &[Rule]) -> Examiner {
        let rules = rules.iter().map(|&rule| RuleExaminer::new(config, rule)).collect();
        Examiner { rules, kmers: 0 }
    }

    fn merge(&mut self, other: Examiner) {
        self.kmers += other.kmers;
        for (rule, more) in self.rules.iter_mut().zip(other.rules) {
            rule.merge(more);
        }
    }
}

impl Consumer for Examiner {
    fn batch(&mut self, codes: &[u8], fragments: &[Fragment]) -> Result<(), Error> {
        for rule in &mut self.rules {
            rule.examine(codes, fragments)?;
        }
        let k = self.rules.first().map_or(1, |rule| rule.k);
        let kmers = fragments.iter().map(|f| (f.end - f.start + 1).saturating_sub(k) as u64);
        self.kmers += kmers.sum::<u64>();
        Ok(())
    }
}

/// A super-k-mer of the current batch.
#[derive(Clone, Copy)]
struct Cut {
    signature: u32,
    at: usize,
    kmers: usize,
}

struct RuleExaminer {
    rule: Rule,
    k: usize,
    superkmers: SuperKmers,
    cuts: Vec<Cut>,
    slots: Slots,
    weights: Vec<u64>,
    super_kmers: u64,
    bytes: u64,
    gkc_bytes: u64,
    time: Duration,
    scores: Scores,
}

impl RuleExaminer {
    fn new(config: &Config, rule: Rule) -> RuleExaminer {
        let config = Config { rule, ..config.clone() };
        let slots = Slots::new(config.signature_bases());
        RuleExaminer {
            rule,
            k: config.k,
            superkmers: SuperKmers::new(&config),
            cuts: Vec::new(),
            slots,
            weights: vec![0; slots.count()],
            super_kmers: 0,
            bytes: 0,
            gkc_bytes: 0,
            time: Duration::ZERO,
            scores: Scores::new(&config),
        }
    }

    fn examine(&mut self, codes: &[u8], fragments: &[Fragment]) -> Result<(), Error> {
        let started = Instant::now();
        let cuts = &mut self.cuts;
        cuts.clear();
        self.superkmers.each(codes, fragments, |signature, at, kmers| {
            cuts.push(Cut { signature, at, kmers });
            Ok(())
        })?;
        self.time += started.elapsed();
        let mut fragments = fragments.iter().peekable();
        for cut in &self.cuts {
            while fragments.next_if(|f| f.end <= cut.at).is_some() {}
            let start = fragments.peek().map_or(0, |f| f.start);
            self.super_kmers += 1;
            self.weights[self.slots.of(cut.signature)] += cut.kmers as u64;
            self.bytes += kept_bytes(cut.kmers, self.k);
            self.gkc_bytes += gkc::bytes(cut.at - start, cut.kmers + self.k - 1) as u64;
        }
        self.scores.add(codes, &self.cuts);
        Ok(())
    }

    fn merge(&mut self, other: RuleExaminer) {
        self.super_kmers += other.super_kmers;
        self.bytes += other.bytes;
        self.gkc_bytes += other.gkc_bytes;
        self.time += other.time;
        self.weights.iter_mut().zip(&other.weights).for_each(|(all, more)| *all += more);
        self.scores.merge(other.scores);
    }

    /// Returns the statistics of the rule; the bins are balanced by `sample`, as in counting.
    fn finish(self, sample: &RuleExaminer, bins: usize) -> RuleStats {
        let map = BinMap::balanced(self.slots, &sample.weights, bins);
        let mut loads = vec![0u64; bins];
        for (slot, &weight) in self.weights.iter().enumerate() {
            loads[map.bin_of_slot(slot)] += weight;
        }
        let (mean_distance, best, worst) = self.scores.finish();
        RuleStats {
            rule: self.rule,
            super_kmers: self.super_kmers,
            bytes: self.bytes,
            gkc_bytes: self.gkc_bytes,
            bins,
            largest_bin_kmers: loads.into_iter().max().unwrap_or(0),
            time: self.time,
            mean_distance,
            best,
            worst,
        }
    }
}

/// Returns the number of bytes of the records of a super-k-mer.
fn kept_bytes(kmers: usize, k: usize) -> u64 {
    let (full, rest) = (kmers / MAX_KMERS, kmers % MAX_KMERS);
    let last = if rest > 0 { record_bytes(rest, k) } else { 0 };
    (full * record_bytes(MAX_KMERS, k) + last) as u64
}
