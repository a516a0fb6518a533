//! Comparison with the band of single pairs.

use super::*;
use crate::NMode;
use crate::batch::PairBatch;
use crate::cpu::banded;
use proptest::prelude::*;

/// Returns a strategy for a read and a segment made from it by edits.
fn pair() -> impl Strategy<Value = (Vec<u8>, Vec<u8>)> {
    let letters = proptest::sample::select(b"ACGT".to_vec());
    let read = proptest::collection::vec(letters.clone(), 0..180);
    let edits = proptest::collection::vec((any::<u16>(), 0..3, letters), 0..25);
    (read, edits).prop_map(|(read, edits)| {
        let mut segment = read.clone();
        for (at, kind, letter) in edits {
            let at = usize::from(at) % (segment.len() + 1);
            match kind {
                0 => segment.insert(at, letter),
                _ if at == segment.len() => {}
                1 => drop(segment.remove(at)),
                _ => segment[at] = letter,
            }
        }
        (read, segment)
    })
}

proptest! {
    #[test]
    fn groups_have_the_distances_of_their_pairs(
        pairs in proptest::collection::vec((pair(), 0usize..24), 1..80),
    ) {
        let mut batch = PairBatch::new();
        let mut kept = Vec::new();
        for ((read, segment), e) in &pairs {
            if let Some(band) = Band::global(read.len(), segment.len(), *e) {
                batch.push(read, segment).unwrap();
                kept.push((band, *e));
            }
        }
        let width = kept.iter().map(|(band, _)| band.width).max().unwrap_or(1);
        let columns = pairs.iter().map(|((_, segment), _)| segment.len()).max().unwrap_or(0);
        for level in Level::available() {
            let mut group = Group::default();
            // The second round checks that a group leaves nothing behind.
            for _ in 0..2 {
                group.start(width, columns, 24);
                for (i, (band, _)) in kept.iter().enumerate() {
                    let [read, segment] = batch.views(i);
                    let mut place = group.next(segment.len(), *band);
                    match batch.words(i, columns.div_ceil(64)).filter(|_| i % 2 == 0) {
                        Some(words) => place.fill_words(words),
                        None => place.fill([&read, &segment]),
                    }
                }
                group.run(level);
            }
            for (i, &(_, e)) in kept.iter().enumerate() {
                let [read, segment] = batch.views(i);
                let one = banded::global(&read, &segment, e, NMode::Mismatch, &mut Default::default());
                prop_assert_eq!(group.score(i, e), one);
            }
        }
    }
}
