//! The literal definition of a hit, for tests: dynamic programming over the whole reference.

use merganser_seq::base::code;

use super::{Config, NMode, Strand};

/// A hit of a read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct NaiveHit {
    /// The number of edits.
    pub edits: usize,
    /// The number of the contig.
    pub contig: usize,
    /// The position of the last base in the contig's forward coordinates, from 0.
    pub end: usize,
    /// Whether the read's reverse complement was found.
    pub reverse: bool,
}

/// Whether two letters match.
pub fn letters_match(mode: NMode, a: u8, b: u8) -> bool {
    match (code(a), code(b)) {
        (Some(a), Some(b)) => a == b,
        _ => mode == NMode::Match,
    }
}

/// Returns the reverse complement; ambiguous letters become N.
pub fn reverse_complement(read: &[u8]) -> Vec<u8> {
    read.iter()
        .rev()
        .map(|&letter| code(letter).map_or(b'N', |code| b"TGCA"[usize::from(code)]))
        .collect()
}

/// Returns all hits of a read, sorted, whatever [`Config::select`] is.
pub fn hits(config: &Config, contigs: &[Vec<u8>], read: &[u8]) -> Vec<NaiveHit> {
    let e = config.threshold.edits(read.len());
    let mut hits = Vec::new();
    if e >= read.len() {
        return hits;
    }
    for reverse in [false, true] {
        if config.strand == if reverse { Strand::Forward } else { Strand::Reverse } {
            continue;
        }
        let read = if reverse { reverse_complement(read) } else { read.to_vec() };
        for (contig, text) in contigs.iter().enumerate() {
            let ends = match config.hamming {
                false => {
                    let start = |end: usize| {
                        let from = (end + 1).saturating_sub(read.len() + e);
                        let to = text.len().min(end + e + 1);
                        from + align(&read, &text[from..to], end - from, config.n_mode).start
                    };
                    let ends = edit_ends(&read, text, e, config.n_mode);
                    silenced(ends, e, (!config.echoes).then_some(start))
                }
                true => hamming_ends(&read, text, e, config.n_mode),
            };
            hits.extend(ends.into_iter().map(|(edits, end)| NaiveHit {
                edits,
                contig,
                end,
                reverse,
            }));
        }
    }
    hits.sort_unstable();
    hits
}

/// Returns (edits, end) for each end with at most `e` edits from some start.
fn edit_ends(read: &[u8], text: &[u8], e: usize, mode: NMode) -> Vec<(usize, usize)> {
    let mut column: Vec<usize> = (0..=read.len()).collect();
    let mut ends = Vec::new();
    for (end, &letter) in text.iter().enumerate() {
        let mut diagonal = 0;
        for (i, &base) in read.iter().enumerate() {
            let cost = diagonal + usize::from(!letters_match(mode, base, letter));
            diagonal = column[i + 1];
            column[i + 1] = cost.min(diagonal + 1).min(column[i] + 1);
        }
        if column[read.len()] <= e {
            ends.push((column[read.len()], end));
        }
    }
    ends
}

fn hamming_ends(read: &[u8], text: &[u8], e: usize, mode: NMode) -> Vec<(usize, usize)> {
    let windows = text.windows(read.len()).enumerate();
    let ends = windows.map(|(start, window)| {
        let differs = |&(&a, &b): &(&u8, &u8)| !letters_match(mode, a, b);
        (read.iter().zip(window).filter(differs).count(), start + read.len() - 1)
    });
    ends.filter(|&(edits, _)| edits <= e).collect()
}

/// Selects good ends in order of edits, then position, except those one base behind an end with fewer edits, which may
/// be those of alignments that end with a deletion. Each one that is selected silences the ends within `e` bases of
/// it and, if `start` is given, those whose alignments begin within `e` bases of where its own one does.
pub fn silenced(
    mut ends: Vec<(usize, usize)>,
    e: usize,
    start: Option<impl Fn(usize) -> usize>,
) -> Vec<(usize, usize)> {
    ends.sort_unstable();
    let mut taken: Vec<(usize, usize)> = Vec::new();
    for &(edits, end) in &ends {
        let is_extended = edits > 0 && end > 0 && ends.contains(&(edits - 1, end - 1));
        // Alignments that begin within e bases of each other end within 4 e.
        let mut near = taken.iter().filter(|(_, other)| other.abs_diff(end) <= 4 * e);
        let is_silenced = near.clone().any(|&(_, other)| other.abs_diff(end) <= e)
            || start.as_ref().is_some_and(|start| {
                near.any(|&(_, other)| start(other).abs_diff(start(end)) <= e)
            });
        if !is_silenced && !is_extended {
            taken.push((edits, end));
        }
    }
    taken
}

/// An alignment of a hit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NaiveAlignment {
    /// The position of the first base in the contig, from 0.
    pub start: usize,
    /// The position of the last base.
    pub end: usize,
    /// The operations from the first base on: `=`, `X`, `D` for a base of only the reference, `I` for a base of
    /// only the read.
    pub operations: Vec<u8>,
}

/// The number of edits, then the number of gaps.
type Cost = (usize, usize);
const NEVER: Cost = (usize::MAX / 2, 0);

/// The minimum costs of aligning each prefix of a read to each prefix of a text.
struct Costs {
    columns: usize,
    /// Costs of any alignment.
    any: Vec<Cost>,
    deletion: Vec<Cost>,
    insertion: Vec<Cost>,
}

impl Costs {
    fn of(read: &[u8], text: &[u8], mode: NMode) -> Costs {
        let (rows, columns) = (read.len() + 1, text.len() + 1);
        let all = || vec![NEVER; rows * columns];
        let mut costs = Costs { columns, any: all(), deletion: all(), insertion: all() };
        costs.any[..columns].fill((0, 0));
        let opened = |(edits, openings): Cost| (edits + 1, openings + 1);
        let extended = |(edits, openings): Cost| (edits + 1, openings);
        for i in 1..rows {
            for j in 0..columns {
                let at = i * columns + j;
                let above = at - columns;
                costs.insertion[at] =
                    opened(costs.any[above]).min(extended(costs.insertion[above]));
                let mut best = costs.insertion[at];
                if j > 0 {
                    costs.deletion[at] =
                        opened(costs.any[at - 1]).min(extended(costs.deletion[at - 1]));
                    let matched = letters_match(mode, read[i - 1], text[j - 1]);
                    let (edits, openings) = costs.any[above - 1];
                    let diagonal = (edits + usize::from(!matched), openings);
                    best = best.min(costs.deletion[at]).min(diagonal);
                }
                costs.any[at] = best;
            }
        }
        costs
    }
}

/// Returns the alignment to report for a hit that ends at `end`.
///
/// Alignments with the hit's number of edits are considered that end at `end`, or up to that many bases after
/// it if it is also the fewest of that end. Among these, the alignment with the fewest gaps is chosen, then the
/// one with the first end, then, base by base from its end, aligned bases rather than a deletion, and a
/// deletion rather than an insertion, so that gaps are leftmost.
pub fn align(read: &[u8], text: &[u8], end: usize, mode: NMode) -> NaiveAlignment {
    let full = Costs::of(read, text, mode);
    let last = |end: usize| full.any[read.len() * full.columns + end + 1];
    let edits = last(end).0;
    let ends = (end..text.len().min(end + edits + 1)).filter(|&end| last(end).0 == edits);
    let end = ends.min_by_key(|&end| last(end).1).unwrap_or(end);
    let (mut i, mut j) = (read.len(), end + 1);
    let mut operations = Vec::new();
    while i > 0 {
        let at = i * full.columns + j;
        let (edits, openings) = full.any[at];
        let matched = j > 0 && letters_match(mode, read[i - 1], text[j - 1]);
        let before = (edits.wrapping_sub(usize::from(!matched)), openings);
        if j > 0 && full.any[at - full.columns - 1] == before {
            operations.push(if matched { b'=' } else { b'X' });
            (i, j) = (i - 1, j - 1);
            continue;
        }
        let deletes = full.deletion[at] == full.any[at];
        loop {
            let at = i * full.columns + j;
            let (table, before) = match deletes {
                true => (&full.deletion, at - 1),
                false => (&full.insertion, at - full.columns),
            };
            let (edits, openings) = table[at];
            operations.push(if deletes { b'D' } else { b'I' });
            if deletes {
                j -= 1
            } else {
                i -= 1
            }
            if full.any[before] == (edits - 1, openings.wrapping_sub(1)) {
                break;
            }
        }
    }
    operations.reverse();
    NaiveAlignment { start: j, end, operations }
}
