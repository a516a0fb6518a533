//! Checks the literal definitions on cases worked out by hand.

use crate::naive::{NaiveHit, align, hits, letters_match, silenced};
use crate::{Config, NMode};
use merganser_filter::Threshold;

#[test]
fn hits_known_by_heart() {
    let config = Config::new(Threshold::Edits(1));
    let contigs = [b"TTACGTACCTT".to_vec(), b"GGTACGTAA".to_vec()];
    // Forward in the first contig, ending at base 8 (from 0) without edits; the reverse complement, GGTACGT,
    // begins the second contig.
    let found = hits(&config, &contigs, b"ACGTACC");
    let hit = |edits, contig, end, reverse| NaiveHit { edits, contig, end, reverse };
    assert_eq!(found, [hit(0, 0, 8, false), hit(0, 1, 6, true)]);
    let found = align(b"ACGTACC", &contigs[0], 8, NMode::Mismatch);
    assert_eq!((found.start, found.end, &found.operations[..]), (2, 8, &b"======="[..]));
    assert_eq!(align(b"ACGACC", &contigs[0], 8, NMode::Mismatch).operations.len(), 7);
}

#[test]
fn the_better_end_silences_its_neighbours() {
    let by_ends =
        |ends: &[(usize, usize)], e| silenced(ends.to_vec(), e, None::<fn(usize) -> usize>);
    assert_eq!(by_ends(&[(1, 4), (0, 5), (1, 6), (1, 8)], 2), [(0, 5), (1, 8)]);
    assert_eq!(by_ends(&[(1, 4), (1, 5), (1, 7)], 1), [(1, 4), (1, 7)]);
    // A silenced end silences nothing: 8 begins near 5, which makes room for 10.
    let starts = |end: usize| if end == 8 { 1 } else { end - 4 };
    assert_eq!(silenced(vec![(0, 5), (1, 8), (2, 10)], 2, Some(starts)), [(0, 5), (2, 10)]);
}

/// Returns all alignments of a read to stretches that end at `end`, written from the end on with letters in
/// order of preference: `A` aligned, `B` deleted, `C` inserted.
fn all(read: &[u8], end: usize, most: usize) -> Vec<Vec<u8>> {
    let mut found = Vec::new();
    let mut open = vec![(read.len(), end + 1, Vec::new())];
    while let Some((i, j, written)) = open.pop() {
        let gaps = written.iter().filter(|&&letter| letter != b'A').count();
        if gaps > most {
            continue;
        }
        if i == 0 {
            found.push(written);
            continue;
        }
        let with = |letter| [&written[..], &[letter]].concat();
        if j > 0 {
            open.push((i - 1, j - 1, with(b'A')));
            open.push((i, j - 1, with(b'B')));
        }
        open.push((i - 1, j, with(b'C')));
    }
    found
}

fn edits(read: &[u8], text: &[u8], end: usize, written: &[u8]) -> usize {
    let (mut i, mut j, mut edits) = (read.len(), end + 1, 0);
    for &letter in written {
        i -= usize::from(letter != b'B');
        j -= usize::from(letter != b'C');
        let differs = letter != b'A' || !letters_match(NMode::Mismatch, read[i], text[j]);
        edits += usize::from(differs);
    }
    edits
}

proptest::proptest! {
    #![proptest_config(proptest::prelude::ProptestConfig::with_cases(60))]

    /// All alignments are listed, and the smallest one by the rule is expected.
    #[test]
    fn the_alignment_is_the_least_of_all(
        text in proptest::collection::vec(proptest::sample::select(b"ACA".to_vec()), 1..9),
        read in proptest::collection::vec(proptest::sample::select(b"ACA".to_vec()), 1..7),
        end in 0usize..9,
    ) {
        let end = end % text.len();
        let of = |end: usize| {
            let all = all(&read, end, read.len()).into_iter().map(|written| {
                let gaps = written.chunk_by(|a, b| a == b).filter(|run| run[0] != b'A').count();
                (edits(&read, &text, end, &written), gaps, end, written)
            });
            all.min().unwrap()
        };
        let fewest = of(end).0;
        let ends = (end..text.len().min(end + fewest + 1)).map(of);
        let least = ends.filter(|found| found.0 == fewest).min().unwrap();
        let found = align(&read, &text, end, NMode::Mismatch);
        let written: Vec<u8> = found.operations.iter().rev().map(|letter| match letter {
            b'D' => b'B',
            b'I' => b'C',
            _ => b'A',
        }).collect();
        proptest::prop_assert_eq!((found.end, written), (least.2, least.3));
    }
}
