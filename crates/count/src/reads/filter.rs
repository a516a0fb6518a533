//! Which reads, and what of them, stay: by their k-mers that a table has.

use std::io::Write;

use merganser_io::{Input, Output};
use merganser_run::{Cancel, Progress, run_workers_collect};

use super::index::Lookup;
use super::records::{Record, Records};
use crate::Error;
use crate::tables::bad;

/// A number of k-mers, or a part of the k-mers of a read.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Limit {
    /// So many.
    Number(u64),
    /// Such a part, 0 to 1.
    Part(f64),
}

impl Limit {
    /// Whether `hits` of `kmers` are as many as this, or more.
    fn reached(self, hits: u64, kmers: u64) -> bool {
        match self {
            Limit::Number(number) => hits >= number,
            Limit::Part(part) => hits as f64 >= part * kmers as f64,
        }
    }

    /// Whether `hits` of `kmers` are more than this.
    fn passed(self, hits: u64, kmers: u64) -> bool {
        match self {
            Limit::Number(number) => hits > number,
            Limit::Part(part) => hits as f64 > part * kmers as f64,
        }
    }
}

/// What is done to reads.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Action {
    /// Reads stay whole or go: those with hits from the first to the second limit stay.
    Select(Limit, Option<Limit>),
    /// Reads end before the first k-mer that is not in the table is complete; what is left with less
    /// than k bases goes.
    Trim,
    /// Every base of a k-mer that is not in the table becomes N.
    MaskHard,
    /// The same become lower case, all others upper case.
    MaskSoft,
}

/// When a pair stays.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mates {
    /// If either mate would stay.
    Any,
    /// If both would.
    Both,
    /// By the hits of both mates together.
    Together,
}

/// What to filter by.
#[derive(Clone, Copy, Debug)]
pub struct FilterConfig {
    /// What is done.
    pub action: Action,
    /// The k-mers that are in the table take the place of those that are not, and the reads that
    /// would go that of those that would stay.
    pub invert: bool,
    /// When a pair stays.
    pub mates: Mates,
    /// Worker threads.
    pub threads: usize,
}

/// What was filtered. A pair is two reads.
#[derive(Clone, Copy, Debug, Default)]
#[non_exhaustive]
pub struct Filtered {
    /// Reads of the input,
    pub reads: u64,
    /// those that stay,
    pub kept: u64,
    /// and bases that were cut off or masked in them.
    pub changed_bases: u64,
}

/// Filters the reads of `inputs`: one list of inputs of single reads, or with `interleaved` of pairs;
/// or two, of first and second mates. As many outputs as lists take what stays, in order.
///
/// Progress stage: `filtering`, in bytes of input.
///
/// # Errors
/// Bad input, mates that do not belong together, an output that cannot be written.
pub fn filter_reads(
    config: &FilterConfig,
    lookup: &dyn Lookup,
    inputs: &[Vec<Input>],
    interleaved: bool,
    outputs: &mut [Output],
    progress: &dyn Progress,
    cancel: &Cancel,
) -> Result<Filtered, Error> {
    let mut sources =
        inputs.iter().map(|inputs| Records::open(inputs, cancel)).collect::<Result<Vec<_>, _>>()?;
    progress.stage("filtering", sources.iter().map(Records::bytes_total).sum());
    let mut queues: Vec<Vec<Record>> = sources.iter().map(|_| Vec::new()).collect();
    let per_unit = if interleaved { 2 } else { 1 };
    let mut filtered = Filtered::default();
    let mut names = 0u64;
    loop {
        if cancel.is_cancelled() {
            return Err(Error::Cancelled);
        }
        let (mut bytes, mut over) = (0, false);
        for (source, queue) in sources.iter_mut().zip(&mut queues) {
            while queue.len() < per_unit && source.next(queue, &mut bytes)? {}
            over |= queue.len() < per_unit;
        }
        if over {
            break;
        }
        progress.advance(bytes);
        let units = queues.iter().map(Vec::len).min().unwrap_or(0) / per_unit;
        let mut batch: Vec<Vec<Record>> = Vec::with_capacity(units);
        let mut parts: Vec<_> =
            queues.iter_mut().map(|queue| queue.drain(..units * per_unit)).collect();
        for _ in 0..units {
            batch.push(parts.iter_mut().flat_map(|part| part.take(per_unit)).collect());
        }
        drop(parts);
        for unit in &batch {
            names += 1;
            belong_together(unit, names, &sources)?;
        }
        let done = filter_batch(config, lookup, &mut batch, outputs.len())?;
        for (texts, part) in done {
            for (output, text) in outputs.iter_mut().zip(texts) {
                output.write_all(&text)?;
            }
            filtered.reads += part.reads;
            filtered.kept += part.kept;
            filtered.changed_bases += part.changed_bases;
        }
    }
    let Some(longer) = queues.iter().position(|queue| !queue.is_empty()) else {
        return Ok(filtered);
    };
    let what = format!("it has a read without a mate behind {names} pairs: is a file truncated?");
    Err(bad(sources[longer].name().as_ref(), what))
}

fn belong_together(unit: &[Record], number: u64, sources: &[Records]) -> Result<(), Error> {
    let [first, second] = unit else { return Ok(()) };
    if first.pair_id() == second.pair_id() {
        return Ok(());
    }
    let ids = [first, second].map(|read| String::from_utf8_lossy(read.id()).into_owned());
    let name = sources[sources.len() - 1].name();
    let reason = format!(
        "pair {number}: {} and {} are no mates; are reads missing or in another order?",
        ids[0], ids[1]
    );
    Err(bad(name.as_ref(), reason))
}

type Part = (Vec<Vec<u8>>, Filtered);

/// Filters a batch by all workers; their texts, in order.
fn filter_batch(
    config: &FilterConfig,
    lookup: &dyn Lookup,
    batch: &mut [Vec<Record>],
    outputs: usize,
) -> Result<Vec<Part>, Error> {
    let share = batch.len().div_ceil(config.threads).max(1);
    let shares: Vec<_> = batch.chunks_mut(share).map(std::sync::Mutex::new).collect();
    run_workers_collect(shares.len().max(1), |number| {
        let mut worker = Worker { config, lookup, counts: Vec::new(), done: Filtered::default() };
        let mut texts = vec![Vec::new(); outputs];
        let Some(share) = shares.get(number) else { return Ok((texts, worker.done)) };
        for unit in share.lock().unwrap_or_else(std::sync::PoisonError::into_inner).iter_mut() {
            worker.done.reads += unit.len() as u64;
            if worker.keeps(unit) {
                worker.done.kept += unit.len() as u64;
                for (mate, read) in unit.iter().enumerate() {
                    read.write(&mut texts[mate % outputs]);
                }
            }
        }
        Ok((texts, worker.done))
    })
}

struct Worker<'w> {
    config: &'w FilterConfig,
    lookup: &'w dyn Lookup,
    counts: Vec<u32>,
    done: Filtered,
}

impl Worker<'_> {
    /// Changes the reads of a unit, and says whether it stays.
    fn keeps(&mut self, unit: &mut [Record]) -> bool {
        let FilterConfig { action, invert, mates, .. } = *self.config;
        if let Action::Select(least, most) = action {
            let hits: Vec<(u64, u64)> = unit.iter().map(|read| self.hits(read)).collect();
            let within = |(hits, kmers): (u64, u64)| {
                least.reached(hits, kmers) && !most.is_some_and(|most| most.passed(hits, kmers))
            };
            let stays = match mates {
                Mates::Any => hits.iter().any(|&one| within(one)),
                Mates::Both => hits.iter().all(|&one| within(one)),
                Mates::Together => {
                    within(hits.iter().fold((0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1)))
                }
            };
            return stays != invert;
        }
        let mut left = 0;
        let before = self.done.changed_bases;
        for read in &mut *unit {
            left += usize::from(self.change(read));
        }
        let stays = if mates == Mates::Both { left == unit.len() } else { left > 0 };
        if !stays {
            self.done.changed_bases = before;
        }
        stays
    }

    /// k-mers of a read that the table has, and all.
    fn hits(&mut self, read: &Record) -> (u64, u64) {
        self.lookup.counts(&read.sequence, &mut self.counts);
        let hits = self.counts.iter().filter(|&&count| count > 0).count();
        (hits as u64, self.counts.len() as u64)
    }

    /// Trims or masks a read; false if nothing of use is left.
    fn change(&mut self, read: &mut Record) -> bool {
        self.lookup.counts(&read.sequence, &mut self.counts);
        let k = self.lookup.k();
        let invert = self.config.invert;
        let is_bad = |count: &u32| (*count == 0) != invert;
        if self.config.action == Action::Trim {
            let whole = read.sequence.len();
            if whole < k {
                return false;
            }
            let length = match self.counts.iter().position(is_bad) {
                Some(0) => 0,
                Some(first) => first + k - 1,
                None => whole,
            };
            self.done.changed_bases += (whole - length) as u64;
            read.sequence.truncate(length);
            if let Some(quality) = &mut read.quality {
                quality.truncate(length);
            }
            return length > 0;
        }
        let soft = self.config.action == Action::MaskSoft;
        let mut until = 0;
        for (at, letter) in read.sequence.iter_mut().enumerate() {
            if self.counts.get(at).is_some_and(is_bad) {
                until = at + k;
            }
            let masked = at < until;
            self.done.changed_bases += u64::from(masked);
            match (masked, soft) {
                (true, false) => *letter = b'N',
                (true, true) => letter.make_ascii_lowercase(),
                (false, true) => letter.make_ascii_uppercase(),
                (false, false) => {}
            }
        }
        true
    }
}
