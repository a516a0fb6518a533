//! The definition of a hit, word by word, for tests: plain dynamic programming over the whole
//! reference.

use merganser_seq::base::code;

use crate::{Config, Metric, NMode, Strand};

/// A hit of a read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct NaiveHit {
    /// Edits.
    pub edits: usize,
    /// The contig's number.
    pub contig: usize,
    /// The last base, counted from 0 in the contig's forward coordinates.
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

/// The reverse complement; letters that are no bases become N.
pub fn reverse_complement(read: &[u8]) -> Vec<u8> {
    read.iter()
        .rev()
        .map(|&letter| code(letter).map_or(b'N', |code| b"TGCA"[usize::from(code)]))
        .collect()
}

/// The hits of a read in their order, all of them whatever [`Config::select`] says.
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
            let ends = match config.metric {
                Metric::Edit => silenced(edit_ends(&read, text, e, config.n_mode), e),
                Metric::Hamming => hamming_ends(&read, text, e, config.n_mode),
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

/// All (edits, end) with at most e edits from some start.
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

/// Good ends are taken by (edits, position); each silences those within e of it.
fn silenced(mut ends: Vec<(usize, usize)>, e: usize) -> Vec<(usize, usize)> {
    ends.sort_unstable();
    let mut taken: Vec<(usize, usize)> = Vec::new();
    for (edits, end) in ends {
        if taken.iter().all(|&(_, other)| other.abs_diff(end) > e) {
            taken.push((edits, end));
        }
    }
    taken
}

/// The alignment that ends at `end` with as few edits as possible, as operations from the first
/// base on (`=`, `X`, `D` a base of the reference alone, `I` a base of the read alone), and its
/// first base: traced back from the end, along the diagonal if it can be, else as a deletion, else
/// as an insertion.
pub fn align(read: &[u8], text: &[u8], end: usize, mode: NMode) -> (usize, Vec<u8>) {
    let text = &text[..=end];
    let (rows, columns) = (read.len() + 1, text.len() + 1);
    let mut table = vec![0; rows * columns];
    for i in 1..rows {
        table[i * columns] = i;
        for j in 1..columns {
            let cost = usize::from(!letters_match(mode, read[i - 1], text[j - 1]));
            table[i * columns + j] = (table[(i - 1) * columns + j - 1] + cost)
                .min(table[(i - 1) * columns + j] + 1)
                .min(table[i * columns + j - 1] + 1);
        }
    }
    let (mut i, mut j) = (read.len(), text.len());
    let mut operations = Vec::new();
    while i > 0 {
        let here = table[i * columns + j];
        let matched = j > 0 && letters_match(mode, read[i - 1], text[j - 1]);
        if j > 0 && table[(i - 1) * columns + j - 1] + usize::from(!matched) == here {
            operations.push(if matched { b'=' } else { b'X' });
            (i, j) = (i - 1, j - 1);
        } else if j > 0 && table[i * columns + j - 1] + 1 == here {
            operations.push(b'D');
            j -= 1;
        } else {
            operations.push(b'I');
            i -= 1;
        }
    }
    operations.reverse();
    (j, operations)
}

#[cfg(test)]
mod tests {
    use super::*;
    use merganser_filter::Threshold;

    #[test]
    fn hits_known_by_heart() {
        let config = Config::new(Threshold::Edits(1));
        let contigs = [b"TTACGTACCTT".to_vec(), b"GGTACGTAA".to_vec()];
        // Forward in the first contig with its end at base 8 (of 0), one edit or none around it;
        // its reverse complement GGTACGT begins the second.
        let found = hits(&config, &contigs, b"ACGTACC");
        let hit = |edits, contig, end, reverse| NaiveHit { edits, contig, end, reverse };
        assert_eq!(found, [hit(0, 0, 8, false), hit(0, 1, 6, true)]);
        assert_eq!(align(b"ACGTACC", &contigs[0], 8, NMode::Mismatch), (2, b"=======".to_vec()));
        assert_eq!(align(b"ACGACC", &contigs[0], 8, NMode::Mismatch).1.len(), 7);
    }

    #[test]
    fn the_better_end_silences_its_neighbours() {
        assert_eq!(silenced(vec![(1, 4), (0, 5), (1, 6), (1, 8)], 2), [(0, 5), (1, 8)]);
        assert_eq!(silenced(vec![(1, 4), (1, 5), (1, 7)], 1), [(1, 4), (1, 7)]);
    }
}
