//! Comparison of whole searches with `map`, with the literal definition, and of files with texts in memory.

#[cfg(feature = "cuda")]
mod cuda;
mod indexes;

use merganser_io::Output;
use merganser_run::Context;
use merganser_test_random::Random;
use proptest::prelude::*;

use crate::letters::{bases, text_bases};
use crate::seeds::{FORCED, Forced};
use crate::{
    Config, Error, Format, Hit, Lengths, Operation, Pattern, PrimerPair, Strand, Threshold, Writer,
    run_primers, run_with,
};

/// Both ways to find ends: with words of several lengths, and a number of candidates from which on parts of a text are
/// left to the other way.
const WAYS: [Forced; 6] = [
    Forced::BitSliced,
    Forced::Seeds(3, f64::INFINITY),
    Forced::Seeds(5, f64::INFINITY),
    Forced::Seeds(8, f64::INFINITY),
    Forced::Seeds(4, 10.0),
    Forced::No,
];

/// Searches in all ways, and compares them.
fn find<T: AsRef<[u8]>>(
    config: &Config,
    patterns: &[Pattern],
    texts: &[T],
) -> Result<Vec<Vec<Hit>>, Error> {
    let all = WAYS.map(|way| {
        FORCED.set(way);
        crate::find(config, patterns, texts)
    });
    let mut all = all.into_iter();
    let first = all.next().unwrap();
    for other in all {
        assert_eq!(other.as_ref().ok(), first.as_ref().ok());
    }
    first
}

fn pattern(number: usize, letters: &[u8]) -> Pattern {
    Pattern::new(format!("p{number}"), letters).unwrap()
}

/// Returns texts, with repeats, and patterns that occur in them with edits.
fn case(seed: u64, ambiguous: bool) -> (Vec<Vec<u8>>, Vec<Pattern>) {
    let mut random = Random(seed);
    let unit = random.bases(7);
    let texts: Vec<Vec<u8>> = (0..3)
        .map(|_| {
            let repeat = unit.repeat(random.below(30));
            let text =
                [random.bases(150), repeat, b"A".repeat(random.below(60)), random.bases(200)]
                    .concat();
            if ambiguous { random.mutated(&text, 9) } else { text }
        })
        .collect();
    let patterns = (0..4)
        .map(|number| {
            let text = &texts[random.below(3)];
            let (start, length) = (random.below(text.len() - 40), 16 + random.below(24));
            let mut letters = random.mutated(&text[start..start + length], 12).to_ascii_uppercase();
            for letter in &mut letters {
                if !ambiguous && *letter == b'N' {
                    *letter = b'G';
                } else if ambiguous && random.below(6) == 0 {
                    *letter = b"RYSWKMBDHVN"[random.below(11)];
                }
            }
            pattern(number, &letters)
        })
        .collect();
    (texts, patterns)
}

/// Returns the letters of a pattern as an alignment has them in the direction of the text.
fn directed(hit: &Hit, patterns: &[Pattern]) -> Vec<u8> {
    let pattern = &patterns[hit.pattern];
    if hit.reverse { pattern.reverse_sets() } else { pattern.sets().to_vec() }
}

/// Checks the alignment of a guide with its PAM.
fn check_whole(hit: &Hit, config: &Config, patterns: &[Pattern], text: &[u8]) {
    let pam = String::from_utf8(config.pam.as_ref().unwrap().common_letters()).unwrap();
    let guide = String::from_utf8(patterns[hit.pattern].letters().to_vec()).unwrap();
    let whole = if config.pam_first { pam + &guide } else { guide + &pam };
    let mut patterns = patterns.to_vec();
    patterns[hit.pattern] = pattern(hit.pattern, whole.as_bytes());
    check(hit, &patterns, text, false);
}

/// Checks the inner part of an alignment with letters outside the text, and the cost of these.
fn check_overhang(hit: &Hit, alpha: f64, patterns: &[Pattern], text: &[u8]) {
    let mut hit = hit.clone();
    let mut letters = directed(&hit, patterns);
    let operations = &mut hit.alignment.operations;
    for at_start in [true, false] {
        let clip = if at_start { operations.first() } else { operations.last() };
        let Some(&(Operation::Clip, count)) = clip else { continue };
        hit.edits -= (alpha * f64::from(count)).floor() as usize;
        if at_start {
            assert_eq!(hit.alignment.start, 0);
            operations.remove(0);
            letters.drain(..count as usize);
        } else {
            assert_eq!(hit.alignment.end, text.len());
            operations.pop();
            letters.truncate(letters.len() - count as usize);
        }
    }
    check_sets(&hit, &letters, text, false);
}

/// Checks that an alignment is one of the pattern with the text, and has the edits of the hit.
fn check(hit: &Hit, patterns: &[Pattern], text: &[u8], n_matches: bool) {
    check_sets(hit, &directed(hit, patterns), text, n_matches);
}

fn check_sets(hit: &Hit, sets: &[u8], text: &[u8], n_matches: bool) {
    let (mut i, mut j, mut edits) = (0, hit.alignment.start, 0);
    for &(operation, length) in &hit.alignment.operations {
        for _ in 0..length {
            let matches = |i: usize, j: usize| sets[i] & text_bases(text[j], n_matches) != 0;
            match operation {
                Operation::Match => assert!(matches(i, j)),
                Operation::Mismatch => assert!(!matches(i, j)),
                _ => {}
            }
            edits += usize::from(operation != Operation::Match);
            i += usize::from(operation != Operation::Deletion);
            j += usize::from(operation != Operation::Insertion);
        }
    }
    assert_eq!((i, j, edits), (sets.len(), hit.alignment.end, hit.edits));
    assert_eq!(hit.letters, text[hit.alignment.start..j].to_ascii_uppercase());
}

fn run(
    config: &Config,
    patterns: &[Pattern],
    texts: &[Vec<u8>],
    threads: usize,
) -> Result<String, Error> {
    let folder = tempfile::tempdir().unwrap();
    let (input, output) = (folder.path().join("texts.fa"), folder.path().join("hits.tsv"));
    std::fs::write(&input, fasta(texts)).unwrap();
    let mut context = Context::new();
    context.threads = threads;
    let mut tables = Vec::new();
    for way in [Forced::BitSliced, Forced::Seeds(5, f64::INFINITY), Forced::Seeds(4, 10.0)] {
        FORCED.set(way);
        let writer = Writer::new(Format::Tsv, Output::create(&output)?);
        run_with(config, patterns, &[input.clone().into()], writer, &context)?;
        tables.push(std::fs::read_to_string(&output).unwrap());
    }
    FORCED.set(Forced::No);
    assert!(tables[0] == tables[1] && tables[0] == tables[2]);
    Ok(tables.remove(0))
}

fn fasta(texts: &[Vec<u8>]) -> String {
    let record = |(number, text)| format!(">t{number} x\n{}\n", String::from_utf8_lossy(text));
    (0..).zip(texts.iter().map(Vec::as_slice)).map(record).collect::<Vec<_>>().concat()
}

fn table(patterns: &[Pattern], hits: &[Vec<Hit>]) -> String {
    let mut text = [crate::output::HEADER, b"\n"].concat();
    for (number, hits) in hits.iter().enumerate() {
        let name = format!("t{number}");
        let add = |hit| {
            crate::output::append(Format::Tsv, patterns, name.as_bytes(), hit, None, &mut text)
        };
        hits.iter().for_each(add);
    }
    String::from_utf8(text).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, ..ProptestConfig::default() })]

    #[test]
    fn hits_are_those_of_map(seed: u64, e in 0u32..7, hamming: bool) {
        let (texts, patterns) = case(seed, false);
        let folder = tempfile::tempdir().unwrap();
        let fasta: String = (0..)
            .zip(&texts)
            .map(|(number, text)| format!(">{number}\n{}\n", String::from_utf8_lossy(text)))
            .collect();
        std::fs::write(folder.path().join("r.fa"), fasta).unwrap();
        let context = Context::new();
        let (index, _) = merganser_map::build_in_memory(folder.path().join("r.fa"), &context).unwrap();
        let map = merganser_map::Config { hamming, ..merganser_map::Config::new(Threshold::Edits(e)) };
        let letters: Vec<_> = patterns.iter().map(Pattern::letters).collect();
        let mapped = merganser_map::run_in_memory(&map, &index, &letters, &context).unwrap();
        let mut expected = Vec::new();
        for (pattern, hits) in mapped.into_iter().enumerate() {
            expected.extend(hits.into_iter().map(|hit| {
                (hit.contig, hit.position as usize, pattern, hit.reverse, hit.edits as usize, hit.cigar)
            }));
        }
        expected.sort_by_key(|hit| (hit.0, hit.1, hit.2, hit.3, hit.4, format!("{:?}", hit.5)));
        let config = Config { hamming, ..Config::new(Threshold::Edits(e)) };
        let mut found = Vec::new();
        for (contig, hits) in find(&config, &patterns, &texts).unwrap().into_iter().enumerate() {
            for hit in hits {
                check(&hit, &patterns, &texts[contig], false);
                let Hit { pattern, reverse, edits, alignment, .. } = hit;
                found.push((contig, alignment.start, pattern, reverse, edits, alignment.operations));
            }
        }
        found.sort_by_key(|hit| (hit.0, hit.1, hit.2, hit.3, hit.4, format!("{:?}", hit.5)));
        prop_assert_eq!(found, expected);
    }

    #[test]
    fn every_end_is_found(seed: u64, e in 0u32..7, n_matches: bool, hamming: bool) {
        let (texts, patterns) = case(seed, true);
        let base = Config { n_matches, hamming, all_ends: true, ..Config::new(Threshold::Edits(e)) };
        for strand in [Strand::Forward, Strand::Reverse, Strand::Both] {
            let found = find(&Config { strand, ..base.clone() }, &patterns, &texts).unwrap();
            for (text, hits) in texts.iter().zip(found) {
                let sets: Vec<u8> = text.iter().map(|&letter| text_bases(letter, n_matches)).collect();
                let mut expected = Vec::new();
                for (number, pattern) in patterns.iter().enumerate() {
                    for reverse in [false, true].into_iter().filter(|&reverse| strand.searches(reverse)) {
                        let query = if reverse { pattern.reverse_sets() } else { pattern.sets().to_vec() };
                        let ends = match hamming {
                            true => crate::naive::substitutions(&query, &sets, e as usize),
                            false => crate::naive::ends(&query, &sets, e as usize),
                        };
                        expected.extend(ends.into_iter().map(|(end, edits)| (number, reverse, end, edits)));
                    }
                }
                hits.iter().for_each(|hit| check(hit, &patterns, text, n_matches));
                let mut found: Vec<_> = hits
                    .iter()
                    .map(|hit| (hit.pattern, hit.reverse, hit.alignment.end, hit.edits))
                    .collect();
                found.sort_unstable();
                prop_assert_eq!(found, expected);
            }
        }
    }

    /// Guides are compared with all stretches of letters before each PAM, on both strands.
    #[test]
    fn guides_are_found_next_to_their_pam(
        seed: u64, e in 0u32..5, hamming: bool, pam_first: bool, several: bool,
        limit in proptest::option::of((1usize..30, 0usize..3)),
    ) {
        let (texts, patterns) = case(seed, true);
        let pam = match (pam_first, several) {
            (true, false) => "TTV",
            (true, true) => "TTV,CTA",
            (false, false) => "NG",
            (false, true) => "AG,CT,GC",
        };
        let config = Config {
            hamming,
            pam: Some(pam.parse().unwrap()),
            pam_first,
            seed: limit.map(|(letters, edits)| crate::Seed { letters, edits }),
            ..Config::new(Threshold::Edits(e))
        };
        let hits = find(&config, &patterns, &texts).unwrap();
        for (text, hits) in texts.iter().zip(&hits) {
            let forward: Vec<u8> = text.iter().map(|&letter| text_bases(letter, false)).collect();
            let backward = crate::letters::reverse_complement(&forward);
            let mut expected = Vec::new();
            for (number, pattern) in patterns.iter().enumerate() {
                for reverse in [false, true] {
                    let text = if reverse != pam_first { &backward } else { &forward };
                    let guide = if pam_first { pattern.reverse_sets() } else { pattern.sets().to_vec() };
                    let pams = config.pam.as_ref().unwrap().sets_after(pam_first);
                    let letters = pams[0].len();
                    for end in 0..=text.len() - letters {
                        let follows = |pam: &Vec<u8>| {
                            text[end..].iter().zip(pam).all(|(letter, bases)| letter & bases != 0)
                        };
                        if !pams.iter().any(follows) {
                            continue;
                        }
                        let before = &text[end.saturating_sub(guide.len() + e as usize)..end];
                        let edits = crate::naive::anchored(&guide, before, hamming, limit.unwrap_or_default());
                        let Some(edits) = edits.filter(|&edits| edits <= e as usize) else { continue };
                        let end = end + letters;
                        let place = if reverse != pam_first { text.len() - end } else { end };
                        expected.push((number, reverse, edits, place));
                    }
                }
            }
            let mut found: Vec<_> = hits
                .iter()
                .map(|hit| {
                    let begins = hit.reverse != pam_first;
                    let place = if begins { hit.alignment.start } else { hit.alignment.end };
                    (hit.pattern, hit.reverse, hit.edits, place)
                })
                .collect();
            found.sort_unstable();
            expected.sort_unstable();
            prop_assert_eq!(found, expected);
            for hit in hits {
                check_whole(hit, &config, &patterns, text);
            }
        }
        for threads in [1, 3] {
            let expected = table(&patterns, &hits);
            prop_assert_eq!(run(&config, &patterns, &texts, threads).unwrap(), expected);
        }
    }

    #[test]
    fn patterns_extend_beyond_texts_at_a_cost(seed: u64, e in 0u32..4, alpha in 0usize..5) {
        let mut random = Random(seed);
        let alpha = [0.3, 0.4, 0.5, 0.75, 1.0][alpha];
        let texts: Vec<Vec<u8>> = (0..6)
            .map(|_| {
                let length = 1 + random.below(40);
                random.bases(length)
            })
            .collect();
        let whole = [&b"ACG"[..], &texts[0][..], b"TTG"].concat();
        let cut = random.below(whole.len().saturating_sub(8).max(1));
        let patterns = [pattern(0, &whole[cut..whole.len().min(cut + 12)]), pattern(1, &random.bases(9))];
        prop_assume!(patterns.iter().all(|pattern| pattern.letters().len() > e as usize));
        let config = Config { overhang: Some(alpha), all_ends: true, ..Config::new(Threshold::Edits(e)) };
        for (text, hits) in texts.iter().zip(find(&config, &patterns, &texts).unwrap()) {
            let sets: Vec<u8> = text.iter().map(|&letter| bases(letter)).collect();
            let mut expected = Vec::new();
            for (number, pattern) in patterns.iter().enumerate() {
                for (reverse, query) in [(false, pattern.sets().to_vec()), (true, pattern.reverse_sets())] {
                    let ends = crate::naive::ends_with_overhang(&query, &sets, e as usize, alpha);
                    expected.extend(ends.into_iter().map(|(end, edits)| (number, reverse, end, edits)));
                }
            }
            let mut found = Vec::new();
            for hit in &hits {
                check_overhang(hit, alpha, &patterns, text);
                let outside = match hit.alignment.operations.last() {
                    Some(&(Operation::Clip, count)) if hit.alignment.operations.len() > 1 => count as usize,
                    _ => 0,
                };
                found.push((hit.pattern, hit.reverse, hit.alignment.end + outside, hit.edits));
            }
            found.sort_unstable();
            prop_assert_eq!(found, expected);
        }
        let config = Config { all_ends: false, ..config };
        let expected = table(&patterns, &find(&config, &patterns, &texts).unwrap());
        prop_assert_eq!(run(&config, &patterns, &texts, 2).unwrap(), expected);
    }

    #[test]
    fn amplicons_lie_between_primers_that_face_each_other(seed: u64, e in 0u32..3, min in 0usize..60, more in 1usize..300) {
        let mut random = Random(seed);
        let texts: Vec<Vec<u8>> = (0..3).map(|_| random.bases(500)).collect();
        let mut pairs = Vec::new();
        for number in 0..3 {
            let text = &texts[random.below(3)];
            let (start, length) = (random.below(250), 40 + random.below(200));
            let forward = text[start..start + 9].to_vec();
            let reverse = crate::searcher::reverse_complement(&text[start + length - 9..start + length]);
            let (forward, reverse) = if number == 1 { (reverse, forward) } else { (forward, reverse) };
            pairs.push(PrimerPair::new(format!("pair{number}"), &forward, &reverse).unwrap());
        }
        let config = Config::new(Threshold::Edits(e));
        let lengths = Lengths { min_amplicon: min, max_amplicon: min + more };
        let mut expected = String::new();
        for (number, text) in texts.iter().enumerate() {
            let patterns: Vec<Pattern> =
                pairs.iter().flat_map(|pair| [pair.forward.clone(), pair.reverse.clone()]).collect();
            let hits = find(&config, &patterns, &[text]).unwrap().remove(0);
            for last in hits.iter().filter(|hit| hit.reverse) {
                for first in hits.iter().filter(|hit| !hit.reverse && hit.pattern ^ 1 == last.pattern) {
                    let place = first.alignment.start..last.alignment.end;
                    let length = place.end.saturating_sub(place.start);
                    if first.alignment.end > last.alignment.start || !(min..=min + more).contains(&length) {
                        continue;
                    }
                    let forward = first.pattern % 2 == 0;
                    let (strand, letters, edits) = match forward {
                        true => ('+', text[place.clone()].to_vec(), [first.edits, last.edits]),
                        false => {
                            let letters = crate::searcher::reverse_complement(&text[place.clone()]);
                            ('-', letters, [last.edits, first.edits])
                        }
                    };
                    expected += &format!(
                        "t{number}\t{}\t{}\tpair{}\t{strand}\t{length}\t{}\t{}\t{}\n",
                        place.start, place.end, last.pattern / 2, edits[0], edits[1],
                        String::from_utf8(letters).unwrap(),
                    );
                }
            }
        }
        let folder = tempfile::tempdir().unwrap();
        let (input, path) = (folder.path().join("texts.fa"), folder.path().join("amplicons.tsv"));
        std::fs::write(&input, fasta(&texts)).unwrap();
        let output = (Format::Tsv, Output::create(&path).unwrap());
        let mut context = Context::new();
        context.threads = 2;
        let outcome = run_primers(&config, lengths, &pairs, &[input.into()], output, &context).unwrap();
        let text = std::fs::read_to_string(path).unwrap();
        let (_, lines) = text.split_once('\n').unwrap();
        prop_assert_eq!(lines, expected);
        prop_assert_eq!(outcome.amplicons, Some(lines.lines().count() as u64));
    }

    /// Stretches are short in tests, so that clusters cross their borders.
    #[test]
    fn files_have_the_hits_of_texts_in_memory(seed: u64, e in 0u32..7, all_ends: bool, ambiguous: bool) {
        let (texts, patterns) = case(seed, ambiguous);
        let config = Config { all_ends, ..Config::new(Threshold::Edits(e)) };
        let expected = table(&patterns, &find(&config, &patterns, &texts).unwrap());
        for threads in [1, 3] {
            prop_assert_eq!(run(&config, &patterns, &texts, threads).unwrap(), expected.clone());
        }
    }
}

/// Texts of one letter, or of a short unit, have a candidate of the same pattern at each position.
#[test]
fn repeats_and_gaps_are_searched_in_all_ways() {
    let texts = [
        b"A".repeat(700),
        b"AC".repeat(300),
        [&b"N".repeat(300)[..], b"GATTACAGATTACAGATTAC", &b"n".repeat(300)].concat(),
        [&b"R".repeat(40)[..], &b"ACG".repeat(100), b"NNNRYSWKM", &b"ACG".repeat(20)].concat(),
    ];
    let letters =
        [&b"AAAAAAAAAAAAAAAAAAAAAAA"[..], b"ACACACACACGCACACACACACA", b"GATTACAGATTACAGATTAC"];
    let patterns: Vec<Pattern> =
        (0..).zip(letters).map(|(n, letters)| pattern(n, letters)).collect();
    for (e, hamming, n_matches) in [(4, false, false), (2, false, true), (3, true, false)] {
        let config = Config { hamming, n_matches, ..Config::new(Threshold::Edits(e)) };
        let hits = find(&config, &patterns, &texts).unwrap();
        assert!(hits.iter().all(|hits| !hits.is_empty()));
    }
}

#[test]
fn patterns_that_match_everywhere_are_refused() {
    let config = Config::new(Threshold::Edits(4));
    let error = find(&config, &[pattern(0, b"ACGT")], &[b"ACGT"]).unwrap_err().to_string();
    assert_eq!(
        error,
        "pattern p0: with 4 edits its 4 letters match everywhere: give fewer edits (`threshold`)"
    );
    assert!(Pattern::new("x", b"AC-GT").unwrap_err().to_string().contains("'-' at letter 3"));
    assert!(Pattern::new("x", &[b'A'; 129]).unwrap_err().to_string().contains("129 letters"));
    assert!(Pattern::new("x", b"").is_err());
    assert_eq!(bases(b'u'), 8);
}

#[test]
fn letters_of_hits_are_those_of_the_text() {
    let pam = Some("NGG".parse().unwrap());
    let config = Config { pam, ..Config::new(Threshold::Edits(1)) };
    let hits = find(&config, &[pattern(0, b"GATTACAG")], &[b"aaccuctgtaauXaa"]).unwrap();
    let letters: Vec<&[u8]> = hits[0].iter().map(|hit| &hit.letters[..]).collect();
    assert_eq!((letters, hits[0][0].reverse), (vec![&b"CCUCTGTAAUX"[..]], true));
}

#[test]
fn empty_texts_have_no_hits() {
    for overhang in [None, Some(0.0), Some(0.5)] {
        let config = Config { overhang, ..Config::new(Threshold::Edits(1)) };
        let hits = find(&config, &[pattern(0, b"CCAG")], &[&b""[..], b"CC"]).unwrap();
        assert!(hits[0].is_empty());
        assert_eq!(hits[1].is_empty(), overhang.is_none());
    }
}

/// 5I and 5S end one hit each with the same first and last letter.
#[test]
fn hits_beyond_a_text_are_sorted_by_the_letters_outside() {
    let config = Config { overhang: Some(1.0), all_ends: true, ..Config::new(Threshold::Edits(6)) };
    let hits = find(&config, &[pattern(0, b"CCTGTAATC")], &[b"TTACTTACCAG"]).unwrap().remove(0);
    assert!(hits.windows(2).all(|pair| pair[0].key() < pair[1].key()));
}
