use super::*;
use crate::run::build_of;
use merganser_io::AtomicFile;
use merganser_run::{Cancel, Context};
use proptest::prelude::*;

fn built(reference: Reference, threads: usize, memory: u64) -> Index {
    let context = Context::new().threads(threads).memory(memory);
    build_of(reference, &context, None, None).unwrap().0
}

fn key_of(letters: &[u8]) -> Key {
    let reference = Reference::of(&[letters.to_vec()]);
    let planes = reference.text().window(0);
    Key { planes, packed: interleave(planes) }
}

/// Returns a strategy for contigs with repeats and runs of N.
fn contigs() -> impl Strategy<Value = Vec<Vec<u8>>> {
    let piece = prop_oneof![
        proptest::collection::vec(proptest::sample::select(b"ACGT".to_vec()), 1..60),
        Just(b"ACGTTGCAACGTTTGACA".to_vec()),
        Just(b"NN".to_vec()),
        (1usize..20).prop_map(|n| b"A".repeat(n)),
    ];
    let contig = proptest::collection::vec(piece, 1..20).prop_map(|pieces| pieces.concat());
    // A reference of only N is an error.
    let has_bases = |contigs: &Vec<Vec<u8>>| contigs.iter().flatten().any(|&letter| letter != b'N');
    proptest::collection::vec(contig, 1..5).prop_filter("N alone", has_bases)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(20))]

    #[test]
    fn every_occurrence_is_found(contigs in contigs(), threads in 1usize..4) {
        let index = built(Reference::of(&contigs), threads, 1 << 30);
        let view = index.view();
        for (contig, letters) in index.contigs().iter().zip(&contigs) {
            for len in [8, 9, 13, 20, 32] {
                for at in 0..(letters.len() + 1).saturating_sub(len) {
                    let seed = &letters[at..at + len];
                    if seed.contains(&b'N') {
                        continue;
                    }
                    let key = key_of(seed);
                    let positions = view.find_short(&key, len);
                    let mut word = [Lookup { query: 0, offset: 0, len: len as u32, until: 0, key, positions }];
                    Bisections::default().narrow(&view, &mut word, 0..1);
                    let found = &view.positions[word[0].positions.clone()];
                    prop_assert!(found.contains(&(contig.start + at as u32)), "{} {}", at, len);
                    // Positions near a contig's end or an N may be found in addition.
                    for &position in found {
                        let at = view.text.contig_at(i64::from(position));
                        let contig = &view.text.contigs[at];
                        let true_bases = (0..len as u32).all(|i| {
                            position + i < contig.end()
                                && view.text.code((position + i) as usize)
                                    == merganser_seq::base::code(seed[i as usize]).unwrap()
                        });
                        let broken = position + len as u32 > contig.end()
                            || view.text.has_others(position as usize, position as usize + len);
                        prop_assert!(true_bases || broken);
                    }
                }
            }
        }
    }

    #[test]
    fn files_hold_the_same_whatever_threads_and_memory(contigs in contigs()) {
        let dir = tempfile::tempdir().unwrap();
        let mut files = Vec::new();
        for (threads, memory) in [(1, 1 << 30), (3, 100 << 20)] {
            let path = dir.path().join("x.mgi");
            let context = Context::new().threads(threads).memory(memory);
            let file = Some(AtomicFile::create(&path).unwrap());
            let reference = Reference::of(&contigs);
            let (mapped, _) = build_of(reference, &context, None, file).unwrap();
            mapped.check(2, &Cancel::default()).unwrap();
            files.push(std::fs::read(&path).unwrap());
        }
        prop_assert!(files[0] == files[1]);
        let opened = Index::open(dir.path().join("x.mgi")).unwrap();
        opened.check(2, &Cancel::default()).unwrap();
        let memory = built(Reference::of(&contigs), 2, 1 << 30);
        prop_assert_eq!(opened.contigs(), memory.contigs());
        prop_assert_eq!(opened.view().positions, memory.view().positions);
        prop_assert_eq!(opened.view().table, memory.view().table);
        prop_assert_eq!(opened.view().text.low, memory.view().text.low);
        prop_assert_eq!(opened.view().text.others, memory.view().text.others);
    }
}

#[test]
fn damaged_files_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("x.mgi");
    let context = Context::new().threads(1).memory(1 << 30);
    let reference = Reference::of(&[b"ACGTACGTTGCATGCA".repeat(40)]);
    let file = Some(AtomicFile::create(&path).unwrap());
    build_of(reference, &context, None, file).unwrap();
    let good = std::fs::read(&path).unwrap();
    let message = |bytes: &[u8]| {
        std::fs::write(&path, bytes).unwrap();
        let opened = Index::open(&path).and_then(|index| index.check(1, &Cancel::default()));
        let message = opened.unwrap_err().to_string();
        message.rsplit_once("x.mgi: ").unwrap().1.to_owned()
    };
    assert!(message(b">x\nACGT\n").starts_with("not a merganser index (.mgi), but FASTA: "));
    assert!(message(&good[..100]).starts_with("the index is truncated within its header"));
    assert!(message(&good[..good.len() - 1]).starts_with("the index is truncated or was changed"));
    for (at, expected) in [
        (8, "the header is damaged"),
        (20, "the header is damaged"),
        (1000, "it is damaged between its sections"),
        (4096, "section 1 of 6"),
    ] {
        let mut bytes = good.clone();
        bytes[at] ^= 4;
        assert!(message(&bytes).starts_with(expected), "{at}");
    }
}

#[test]
fn too_little_memory_is_an_error() {
    let context = Context::new().threads(2).memory(1 << 20);
    let reference = Reference::of(&[b"ACGT".repeat(1000)]);
    let done = build_of(reference, &context, None, None);
    assert!(done.unwrap_err().to_string().starts_with("indexing with 2 threads needs at least "));
}

#[test]
fn repeats_are_estimated() {
    let mut random = 7u64;
    let mut bases = |count: usize| -> Vec<u8> {
        let mut next = || {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            b"ACGT"[(random >> 60) as usize % 4]
        };
        (0..count).map(|_| next()).collect()
    };
    let (unique, element) = (bases(300_000), bases(500));
    let repeats =
        |sequence: Vec<u8>| built(Reference::of(&[sequence]), 1, 1 << 30).view().repeats();
    assert_eq!(repeats(unique.clone()), 1);
    // Each k-mer of the element has 400 places.
    let many = repeats([unique, element.repeat(400)].concat());
    assert!((50..400).contains(&many), "{many}");
}
