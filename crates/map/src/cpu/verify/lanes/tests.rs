use super::*;
use crate::NMode;
use crate::cpu::verify::scan::Scan;
use crate::reference::Reference;
use merganser_test_random::Random;
use proptest::prelude::*;

/// Keeps the fewest edits for each end.
fn best(mut ends: Vec<End>) -> Vec<End> {
    ends.sort_unstable();
    ends.dedup_by_key(|end| (end.query, end.position));
    ends
}

/// Compares lanes with the scan, which sees all alignments within the windows' reach. Every end that lanes find
/// must exist, and not with fewer edits than the true number; candidates are rejected exactly in windows
/// without ends.
fn check(queries: &Queries, windows: &[Window], text: &Text<'_>) {
    let (mut lanes, mut scanned) = (Vec::new(), Vec::new());
    let mut rejected = 0;
    Lanes::default().run(queries, windows, text, &mut lanes, |candidates| rejected += candidates);
    for window in windows {
        let query = queries.get(window.query as usize);
        let wide = Window { first: window.first - 40, width: window.width + 80, ..*window };
        let mut found = Vec::new();
        Scan::default().ends(window.query, &query, &wide, text, NMode::Mismatch, &mut found);
        let ends = window.ends(&query);
        found.retain(|end| (ends[0]..ends[1]).contains(&i64::from(end.position)));
        scanned.extend(found);
    }
    let (lanes, scanned) = (best(lanes), best(scanned));
    for end in &lanes {
        let truth = scanned.iter().find(|t| (t.query, t.position) == (end.query, end.position));
        assert!(truth.is_some_and(|truth| truth.edits <= end.edits), "{end:?} is not so good");
    }
    let is_wide = |window: &Window| queries.get(window.query as usize).edits > MAX_EDITS;
    if windows.iter().any(is_wide) {
        return assert_eq!(rejected, 0);
    }
    let with_ends = windows.iter().filter(|w| lanes.iter().any(|end| end.query == w.query));
    let candidates: u32 = windows.iter().map(|window| window.candidates).sum();
    assert_eq!(candidates - rejected, with_ends.map(|window| window.candidates).sum::<u32>());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn lanes_are_the_scan(
        seed in any::<u64>(),
        len in 20usize..200,
        e in 0usize..32,
        count in 1usize..40,
    ) {
        let mut random = Random(seed);
        let mut next = |below: usize| random.below(below);
        let letters: Vec<u8> = (0..3000).map(|_| b"ACGT"[next(4)]).collect();
        let reference = Reference::of(std::slice::from_ref(&letters));
        let text = reference.text();
        let (mut queries, mut windows, mut exact) = (Queries::default(), Vec::new(), Vec::new());
        for number in 0..count {
            let len = len.saturating_sub(next(3)).max(2 * e + 2).max(18);
            let at = 300 + next(2000);
            let mut read = letters[at..at + len].to_vec();
            // The middle of the read stays free of edits, as a seed.
            let middle = len / 2;
            let mut made = 0;
            for _ in 0..next(e + 2) {
                let place = next(read.len());
                if place.abs_diff(middle) < 4 + e {
                    continue;
                }
                made += 1;
                match next(3) {
                    0 if place > middle && read.len() > len => drop(read.remove(place)),
                    1 if place > middle => read.insert(place, b"ACGT"[next(4)]),
                    _ => read[place] = b"ACGT"[next(4)],
                }
            }
            queries.push(&read, e).unwrap();
            let room = band(e).unwrap() - 2 * e - 1;
            let width = next(room.min(6) + 1);
            let first = at as i64 - next(width + 1) as i64;
            let query = 2 * number as u32;
            let window = Window { query, first, width: width as u32, candidates: 1 };
            prop_assert!(window.is_plain(&queries.get(2 * number), &text, band(e).unwrap()));
            windows.push(window);
            if made <= e {
                exact.push((query, made, at as i64));
            }
        }
        check(&queries, &windows, &text);
        let mut ends = Vec::new();
        Lanes::default().run(&queries, &windows, &text, &mut ends, |_| ());
        for (query, made, _) in exact {
            prop_assert!(ends.iter().any(|end| end.query == query && end.edits as usize <= made));
        }
    }
}
