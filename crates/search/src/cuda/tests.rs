//! Scans on a device, real or emulated, compared with the literal definition.
#![allow(clippy::unwrap_used, reason = "helpers of tests are tests too")]

use std::sync::Arc;

use merganser_gpu::{Availability, Device, availability};
use proptest::prelude::*;

use super::{GpuPattern, GpuPatterns, GpuPiece, GpuScanner, PatternEnd};
use crate::letters::{bases, text_bases};
use crate::naive;

/// Returns the device to test, or `None` without a usable one.
fn device() -> Option<Device> {
    if !matches!(availability(), Availability::Ready(_)) {
        let reason = availability().reason();
        assert!(std::env::var_os("MERGANSER_REQUIRE_GPU").is_none(), "{reason}");
        return None;
    }
    Some(Device::open(0).unwrap())
}

/// The letters of a pattern, and its maximum number of edits.
type Query = (Vec<u8>, usize);

fn letters(of: &'static [u8], range: std::ops::Range<usize>) -> impl Strategy<Value = Vec<u8>> {
    proptest::collection::vec(proptest::sample::select(of.to_vec()), range)
}

fn queries(most: usize) -> impl Strategy<Value = Vec<Query>> {
    let one = (letters(b"ACGTACGTACGTNRYSWKMBDHV", 1..129), 0usize..31)
        .prop_map(|(letters, e)| (letters.clone(), e.min(letters.len() - 1)));
    proptest::collection::vec(one, 1..most)
}

/// Makes part of a text an occurrence of a pattern, with some edits.
fn plant(text: &mut Vec<u8>, (pattern, e): &Query, at: usize) {
    let at = at % (text.len() + 1);
    let mut copy: Vec<u8> =
        pattern.iter().map(|&letter| if letter == b'N' { b'C' } else { letter }).collect();
    for edit in 0..e / 2 {
        let at = (7 * edit + at) % copy.len();
        match edit % 3 {
            0 => copy[at] = b'A',
            1 => copy.insert(at, b'G'),
            _ if copy.len() > 1 => drop(copy.remove(at)),
            _ => {}
        }
    }
    text.splice(at..at, copy);
}

/// Returns the ends by the literal definition.
fn expected(
    queries: &[Query],
    pieces: &[GpuPiece<'_>],
    n_matches: bool,
    anchor: &[u8],
) -> Vec<PatternEnd> {
    let mut ends = Vec::new();
    for (pattern, (letters, e)) in (0..).zip(queries) {
        let sets: Vec<u8> = letters.iter().map(|&letter| bases(letter)).collect();
        for (number, piece) in (0..).zip(pieces) {
            let text: Vec<u8> =
                piece.letters.iter().map(|&letter| text_bases(letter, n_matches)).collect();
            let of_piece = naive::ends(&sets, &text, *e).into_iter().filter(|&(end, _)| {
                let after = &text[end..];
                piece.owned.contains(&end)
                    && after.len() >= anchor.len()
                    && anchor.iter().zip(after).all(|(set, bases)| set & bases != 0)
            });
            ends.extend(of_piece.map(|(end, edits)| PatternEnd {
                pattern,
                piece: number,
                end: end as u64,
                edits: edits as u16,
            }));
        }
    }
    ends
}

/// Returns patterns on a device.
fn upload(device: &Device, queries: &[Query], n_matches: bool, anchor: &[u8]) -> Arc<GpuPatterns> {
    let sets: Vec<Vec<u8>> = queries
        .iter()
        .map(|(letters, _)| letters.iter().map(|&letter| bases(letter)).collect())
        .collect();
    let patterns: Vec<GpuPattern<'_>> =
        sets.iter().zip(queries).map(|(sets, &(_, edits))| GpuPattern { sets, edits }).collect();
    Arc::new(GpuPatterns::new(device, &patterns, n_matches, anchor).unwrap())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn ends_are_those_of_the_definition(
        queries in queries(12),
        texts in proptest::collection::vec(letters(b"ACGTACGTACGTacgtuNRYSWKMBDHVX-", 0..400), 1..8),
        plants in proptest::collection::vec((0usize..100, 0usize..100, 0usize..400), 0..12),
        anchor in prop_oneof![2 => Just(Vec::new()), 1 => letters(b"NGR", 1..4)],
        skipped in 0usize..40,
        n_matches: bool,
    ) {
        let Some(device) = device() else { return Ok(()) };
        let mut texts = texts;
        for (query, text, at) in plants {
            let text = text % texts.len();
            plant(&mut texts[text], &queries[query % queries.len()], at);
        }
        let anchor: Vec<u8> = anchor.iter().map(|&letter| bases(letter)).collect();
        let owned = |letters: &Vec<u8>| 1 + skipped..(letters.len() + 1).saturating_sub(skipped / 2);
        let pieces: Vec<GpuPiece<'_>> =
            texts.iter().map(|letters| GpuPiece { letters, owned: owned(letters) }).collect();
        let patterns = upload(&device, &queries, n_matches, &anchor);
        let mut scanner = GpuScanner::new(&patterns, 20_000, 0).unwrap();
        let expected = expected(&queries, &pieces, n_matches, &anchor);
        for _ in 0..2 {
            prop_assert_eq!(&scanner.scan(&pieces).unwrap(), &expected);
        }
    }
}

#[test]
fn scans_with_more_ends_than_there_is_room_for_are_repeated_in_parts() {
    let Some(device) = device() else { return };
    let queries: Vec<Query> =
        (0..11).map(|i| (vec![b"AN"[i % 2]; 1 + i % 4], i % 2 * (i % 4))).collect();
    let patterns = upload(&device, &queries, false, &[]);
    let mut scanner = GpuScanner::new(&patterns, 300_000, 0).unwrap();
    let text = vec![b'A'; 150_000];
    let owned = 10..text.len() - 5;
    let pieces = [
        GpuPiece { letters: &text, owned: owned.clone() },
        GpuPiece { letters: &text[..99_999], owned: 1..100_000 },
    ];
    let ends = scanner.scan(&pieces).unwrap();
    assert_eq!(ends, expected(&queries, &pieces, false, &[]));
    assert!(ends.len() > 2_000_000);
    assert!(scanner.add(&pieces[0]).unwrap());
    scanner.start().unwrap();
    let mut some = Vec::new();
    assert!(!scanner.finish(&mut some, 1000).unwrap() && some.is_empty());
    assert_eq!(scanner.scan(&pieces).unwrap(), ends);
}

#[test]
fn pieces_without_room_are_left_to_the_next_batch() {
    let Some(device) = device() else { return };
    let queries = [(b"ACGTACGT".to_vec(), 2)];
    let patterns = upload(&device, &queries, false, &[]);
    let mut scanner = GpuScanner::new(&patterns, 100, 0).unwrap();
    let piece = |letters| GpuPiece { letters, owned: 1..letters.len() + 1 };
    let pieces = [piece(b"ACGTACG"), piece(b"TTTTACGTACGT"), piece(&[b'A'; 90])];
    let added: Vec<bool> = pieces.iter().map(|piece| scanner.add(piece).unwrap()).collect();
    assert_eq!(added, [true, true, false]);
    let mut ends = Vec::new();
    scanner.start().unwrap();
    assert!(scanner.finish(&mut ends, usize::MAX).unwrap());
    assert!(scanner.is_done().unwrap());
    assert_eq!(ends, expected(&queries, &pieces[..2], false, &[]));
    assert_eq!(scanner.scan(&pieces[2..]).unwrap(), []);
    assert_eq!(scanner.scan(&[]).unwrap(), []);
    assert!(GpuScanner::bytes(&patterns, 1000, 1) > 1000);
}
