//! The choice of the way in which each query is found.

use std::collections::BTreeMap;
use std::fmt;

use merganser_seq::simd::Level;

use super::cost::most_entries;
use super::cost::{Machine, bit_sliced};
use super::segments::split;
use super::set::{Set, words};
use super::sides::MAX_EDITS;
use super::table::Table;
use super::windows::MAX_LETTERS;
use crate::queries::{Queries, Query};

/// The lengths of words.
const WORDS: std::ops::RangeInclusive<usize> = 8..=12;
/// The maximum number of segments of a query.
const MAX_SEGMENTS: usize = 5;
/// The number of queries of the same length and edits of which words are counted.
const SAMPLES: usize = 3;
/// The number of letters that texts of unknown length are taken to have.
const UNKNOWN: u64 = 200_000_000;

/// Limits of a plan.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    /// The number of letters of all texts, if it is known.
    pub(crate) letters: Option<u64>,
    /// The bytes that tables may take.
    pub(crate) memory: u64,
    /// The number of threads, which wait while tables are made.
    pub(crate) threads: usize,
}

/// A way that tests prescribe.
#[cfg(test)]
#[derive(Clone, Copy, Debug)]
pub(crate) enum Forced {
    /// The one that takes less time.
    No,
    /// Only the bit-sliced kernels.
    BitSliced,
    /// Words of this length wherever possible, and the cycles for each letter of a chunk from which on it is left out.
    Seeds(usize, f64),
}

#[cfg(test)]
std::thread_local! {
    /// The way that plans of this thread choose.
    pub(crate) static FORCED: std::cell::Cell<Forced> = const { std::cell::Cell::new(Forced::No) };
}

/// The way in which some queries are found, and why.
#[derive(Clone, Debug, PartialEq)]
pub struct Way {
    /// The number of queries: patterns on one strand each.
    pub queries: usize,
    /// The number of letters of a word and of entries of the table, if the queries are found by seeds.
    pub seeds: Option<(usize, usize)>,
    /// The estimated cycles for each letter of the text, and those of the other way.
    pub cycles: [f64; 2],
    /// The reason.
    pub why: &'static str,
}

/// The tables of both directions.
#[derive(Debug, Default)]
pub(crate) struct Seeds {
    sets: [Option<Set>; 2],
}

impl Seeds {
    /// Chooses a way for each query, and makes the tables.
    pub(crate) fn plan(queries: &Queries, limits: Limits, level: Level) -> (Seeds, Vec<Way>) {
        let (mut seeds, mut ways) = (Seeds::default(), Vec::new());
        let mut memory = limits.memory;
        for in_complement in [false, true].into_iter().filter(|&one| queries.scans(one)) {
            let limits = Limits { memory, ..limits };
            let planner = Planner { queries, in_complement, limits, machine: Machine::of(level) };
            let set = planner.plan(&mut ways);
            memory -= set.as_ref().map_or(0, Set::bytes);
            seeds.sets[usize::from(in_complement)] = set;
        }
        (seeds, ways)
    }

    /// Returns the queries of a direction that are found by seeds.
    pub(crate) fn set(&self, in_complement: bool) -> Option<&Set> {
        self.sets[usize::from(in_complement)].as_ref()
    }

    /// Returns the bytes of the tables while they are made.
    pub(crate) fn bytes(&self) -> u64 {
        self.sets.iter().flatten().map(Set::bytes).sum()
    }
}

/// Queries of the same length and edits, by these.
type Classes = BTreeMap<(usize, usize), Vec<u32>>;

/// A possible set: queries with the number of their segments.
#[derive(Debug, Default)]
struct Choice {
    q: usize,
    members: Vec<(u32, usize)>,
    /// The estimated number of entries of the table.
    entries: usize,
    /// The cycles for each letter of the text.
    cycles: f64,
    /// The cycles of the other way for the same queries.
    others: f64,
}

struct Planner<'q> {
    queries: &'q Queries,
    in_complement: bool,
    limits: Limits,
    machine: Machine,
}

impl Planner<'_> {
    fn plan(&self, ways: &mut Vec<Way>) -> Option<Set> {
        #[cfg(test)]
        match FORCED.get() {
            Forced::No => {}
            Forced::BitSliced => return None,
            Forced::Seeds(q, most) => return self.forced(q, most),
        }
        let numbers: Vec<u32> = self.queries.numbers(self.in_complement).collect();
        let all: f64 = numbers.iter().map(|&number| self.bit_sliced(number)).sum();
        let letters = self.limits.letters.unwrap_or(UNKNOWN) as f64;
        let by_kernel = |queries, cycles, why| Way { queries, seeds: None, cycles, why };
        if all * letters < Machine::PLAN {
            ways.push(by_kernel(numbers.len(), [all, all], "the texts are short"));
            return None;
        }
        let classes = self.classes(&numbers);
        if classes.is_empty() {
            let why = "seeds find patterns of up to 64 letters and 16 edits, without overhang";
            ways.push(by_kernel(numbers.len(), [all, all], why));
            return None;
        }
        let choices = WORDS.map(|q| self.choice(&classes, q));
        let gain = |choice: &Choice| choice.others - choice.cycles;
        let possible = choices.filter(|choice| !choice.members.is_empty());
        let Some(best) = possible.max_by(|a, b| gain(a).total_cmp(&gain(b))) else {
            let why = "seeds would be too frequent, or there is too little memory";
            ways.push(by_kernel(numbers.len(), [all, all], why));
            return None;
        };
        if gain(&best) <= 0.0 {
            let cycles = [all, best.cycles + all - best.others];
            ways.push(by_kernel(numbers.len(), cycles, "it takes less time"));
            return None;
        }
        let room = self.limits.memory.saturating_sub(Table::bytes(best.q)) / Table::ENTRY;
        let set = Set::new(self.queries, &best.members, best.q, room as usize, self.machine);
        let (found, entries) = (set.queries.len(), set.table.len());
        if found > 0 {
            let cycles = [self.cycles(best.q, entries), set.others];
            let seeds = Some((best.q, entries));
            ways.push(Way { queries: found, seeds, cycles, why: "it takes less time" });
        }
        if found < numbers.len() {
            let rest = all - set.others;
            let full = found < best.members.len();
            let why =
                if full { "the table has no room for more" } else { "seeds would be too frequent" };
            ways.push(by_kernel(numbers.len() - found, [rest, rest], why));
        }
        (found > 0).then_some(set)
    }

    #[cfg(test)]
    fn forced(&self, q: usize, most: f64) -> Option<Set> {
        let classes = self.classes(&self.queries.numbers(self.in_complement).collect::<Vec<_>>());
        let all = classes.into_iter().flat_map(|((length, edits), numbers)| {
            let good =
                (1..=MAX_SEGMENTS).filter(move |&count| split(length, edits, count, q).is_some());
            numbers.into_iter().filter_map(move |number| {
                good.clone()
                    .nth(number as usize % good.clone().count().max(1))
                    .map(|count| (number, count))
            })
        });
        let members: Vec<(u32, usize)> = all.collect();
        let machine = Machine { candidates: [1e-9; 2], ..self.machine };
        let set = Set::new(self.queries, &members, q, usize::MAX, machine);
        (!set.queries.is_empty()).then_some(Set { others: most, ..set })
    }

    fn bit_sliced(&self, number: u32) -> f64 {
        bit_sliced(self.query(number), self.queries.hamming(), self.machine)
    }

    fn query(&self, number: u32) -> &Query {
        &self.queries.all()[number as usize]
    }

    /// Returns the queries that seeds can find.
    fn classes(&self, numbers: &[u32]) -> Classes {
        let mut classes = Classes::new();
        for &number in numbers {
            let Query { sets, edits, .. } = self.query(number);
            let fits = sets.len() <= MAX_LETTERS && *edits <= MAX_EDITS;
            if fits && self.queries.overhang().is_none() {
                classes.entry((sets.len(), *edits)).or_default().push(number);
            }
        }
        classes
    }

    /// Returns the queries that should be found by words of `q` letters.
    fn choice(&self, classes: &Classes, q: usize) -> Choice {
        let mut choice = Choice { q, ..Choice::default() };
        if Table::bytes(q) > self.limits.memory {
            return choice;
        }
        for numbers in classes.values() {
            let step = numbers.len().div_ceil(SAMPLES);
            let samples: Vec<u32> = numbers.iter().copied().step_by(step).collect();
            let others = self.bit_sliced(samples[0]);
            let counts = (1..=MAX_SEGMENTS).filter_map(|count| {
                let counted =
                    samples.iter().map(|&number| self.count_words(number, count, q, others));
                let sum = counted.sum::<Option<usize>>()?;
                Some((sum / samples.len(), count))
            });
            let Some((entries, count)) = counts.min() else { continue };
            choice.members.extend(numbers.iter().map(|&number| (number, count)));
            choice.entries += entries * numbers.len();
            choice.others += others * numbers.len() as f64;
        }
        choice.cycles = self.cycles(q, choice.entries);
        choice
    }

    /// Returns the number of words of all segments of a query; `None` if it cannot be divided like this, or has too
    /// many words for seeds to be faster.
    fn count_words(&self, number: u32, count: usize, q: usize, others: f64) -> Option<usize> {
        let query = self.query(number);
        let segments = split(query.sets.len(), query.edits, count, q)?;
        let hamming = self.queries.hamming();
        let most = most_entries(others, q, self.machine.candidate(hamming));
        let mut sum = 0;
        let mut add = |_, _| {
            sum += 1;
            sum <= most
        };
        segments
            .iter()
            .all(|segment| words(query, segment, q, hamming).visit(&mut add))
            .then_some(sum)
    }

    /// Returns the estimated cycles for each letter of the text, those of making the table included.
    fn cycles(&self, q: usize, entries: usize) -> f64 {
        let letters = self.limits.letters.unwrap_or(UNKNOWN).max(1) as f64;
        let made = entries as f64 * Machine::ENTRY * self.limits.threads as f64 / letters;
        self.machine.table(q, entries, self.queries.hamming()) + made
    }
}

impl Way {
    /// Returns the estimated time of these ways as a part of that of the bit-sliced kernels.
    pub(crate) fn share_of_bit_sliced(ways: &[Way]) -> f64 {
        let own: f64 = ways.iter().map(|way| way.cycles[0]).sum();
        let bit_sliced = |way: &Way| way.cycles[usize::from(way.seeds.is_some())];
        let all: f64 = ways.iter().map(bit_sliced).sum();
        if all > 0.0 { (own / all).min(1.0) } else { 1.0 }
    }
}

impl fmt::Display for Way {
    /// Writes a line such as `624 queries by seeds, words of 12 letters, 2207134 entries: …`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [own, other] = self.cycles;
        let (way, alternative) = match self.seeds {
            Some(_) => ("by seeds", "bit-sliced"),
            None => ("bit-sliced", "by seeds"),
        };
        write!(f, "{} queries {way}", self.queries)?;
        if let Some((letters, entries)) = self.seeds {
            write!(f, ", words of {letters} letters, {entries} entries")?;
        }
        write!(f, ": {}; estimated cycles for each letter of the text: {own:.1}", self.why)?;
        if own == other { Ok(()) } else { write!(f, ", {alternative} {other:.1}") }
    }
}
