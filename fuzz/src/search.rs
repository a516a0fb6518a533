//! Cases of a search, and what their hits must be by the literal definitions.

use merganser_search::{Config, Hit, Operation, Pam, Pattern, Seed, Strand, Threshold};

#[allow(dead_code, reason = "the crate and its tests use the rest")]
#[path = "../../crates/search/src/letters.rs"]
mod letters;
#[allow(dead_code, reason = "the crate and its tests use the rest")]
#[path = "../../crates/search/src/naive.rs"]
mod naive;

use letters::{bases, reverse_complement, text_bases};

/// The PAMs of cases.
const PAMS: [&str; 4] = ["NGG", "TTV", "N", "RGATC"];
/// The costs of letters outside a text. Some are not fractions of powers of two.
const COSTS: [f64; 8] = [0.0, 0.1, 0.3, 0.4, 0.5, 0.75, 0.9, 1.0];
/// The largest products of the letters of a pattern and of a text for which the literal definition is fast enough.
const MAX_CELLS: usize = 1 << 12;
const MAX_CELLS_WITH_OVERHANG: usize = 1 << 8;

/// An end of a query: pattern, whether it is reversed, place and edits.
pub type Place = (usize, bool, usize, usize);

/// Options, patterns and texts.
#[derive(Debug)]
pub struct Case {
    pub config: Config,
    pub patterns: Vec<Pattern>,
    pub texts: Vec<Vec<u8>>,
}

impl Case {
    /// Makes a case of arbitrary bytes: three of options, then lines, which are patterns up to the first empty one, and
    /// texts after it. A pattern that begins with `@` is a stretch of the texts with changed letters. `None` if there is
    /// no valid pattern.
    pub fn of(input: &[u8]) -> Option<Case> {
        let [flags, numbers, more, rest @ ..] = input else { return None };
        let lines: Vec<&[u8]> = rest.split(|&byte| byte == b'\n').collect();
        let middle = lines.iter().position(|line| line.is_empty())?;
        let letter = |&byte: &u8| match byte {
            b'-' | b'*' => byte,
            byte if byte.is_ascii_alphabetic() => byte,
            byte => b"ACGT"[usize::from(byte & 3)],
        };
        let texts: Vec<Vec<u8>> =
            lines[middle + 1..].iter().map(|line| line.iter().map(letter).collect()).collect();
        let all = texts.concat();
        let pattern = |(number, line): (usize, &&[u8])| {
            let letters = match line {
                [b'@', changes @ ..] => changed(&all, changes)?,
                line => line.to_vec(),
            };
            Pattern::new(format!("p{number}"), &letters).ok()
        };
        let patterns: Vec<Pattern> =
            lines[..middle].iter().enumerate().filter_map(pattern).collect();
        let config = config(*flags, *numbers, *more);
        (!patterns.is_empty()).then_some(Case { config, patterns, texts })
    }

    /// Checks the hits of a text: their alignments, their order, and that they are at the places of the definition.
    pub fn check(&self, text: &[u8], hits: &[Hit]) {
        let order = |hit: &Hit| (hit.alignment.start, hit.alignment.end, hit.pattern, hit.reverse);
        assert!(hits.is_sorted_by_key(order));
        hits.iter().for_each(|hit| self.check_alignment(text, hit));
        let cells = self.patterns.iter().map(|pattern| pattern.letters().len()).sum::<usize>()
            * (text.len() + 1);
        let most = match self.config.overhang {
            Some(_) => MAX_CELLS_WITH_OVERHANG,
            None => MAX_CELLS,
        };
        if cells > most || text.is_empty() {
            assert!(!text.is_empty() || hits.is_empty());
            return;
        }
        let mut expected = self.places(text);
        expected.sort_unstable();
        let mut found: Vec<Place> = hits.iter().map(|hit| self.place(hit)).collect();
        found.sort_unstable();
        match self.has_every_end() {
            true => assert_eq!(found, expected),
            false => self.check_selection(&found, &expected),
        }
    }

    /// Whether every end is a hit; otherwise, hits silence other ends near them.
    fn has_every_end(&self) -> bool {
        let Config { hamming, all_ends, pam, seed, .. } = &self.config;
        *hamming || *all_ends || pam.is_some() || seed.is_some()
    }

    /// Whether places are those where alignments begin, as the pattern is found in the reverse complement of the text.
    fn is_in_complement(&self, reverse: bool) -> bool {
        let Config { pam, pam_first, seed, .. } = &self.config;
        (pam.is_some() || seed.is_some()) && reverse != *pam_first
    }

    /// Returns the place of a hit: its end, with letters outside the text, or its start.
    fn place(&self, hit: &Hit) -> Place {
        let alignment = &hit.alignment;
        let outside = match alignment.operations[..] {
            [_, .., (Operation::Clip, count)] => count as usize,
            _ => 0,
        };
        let place = match self.is_in_complement(hit.reverse) {
            true => alignment.start,
            false => alignment.end + outside,
        };
        (hit.pattern, hit.reverse, place, hit.edits)
    }

    /// Checks that each hit is at an end with its edits, or shortly after it, and that each end is near a hit that is at
    /// least as good.
    fn check_selection(&self, found: &[Place], ends: &[Place]) {
        let is_of = |a: &Place, b: &Place| (a.0, a.1) == (b.0, b.1);
        for hit in found {
            let is_at = |end: &Place| end.3 == hit.3 && (end.2..=end.2 + hit.3).contains(&hit.2);
            assert!(ends.iter().any(|end| is_of(end, hit) && is_at(end)), "{hit:?} has no end");
        }
        for end in ends {
            let reach = 5 * self.most_edits(end.0);
            let silences = |hit: &Place| hit.3 <= end.3 && hit.2.abs_diff(end.2) <= reach;
            assert!(found.iter().any(|hit| is_of(end, hit) && silences(hit)), "{end:?} is missed");
        }
    }

    fn most_edits(&self, pattern: usize) -> usize {
        self.config.threshold.edits(self.patterns[pattern].letters().len())
    }

    /// Returns the places of all ends in a text.
    fn places(&self, text: &[u8]) -> Vec<Place> {
        let n_matches = self.config.n_matches;
        let forward: Vec<u8> = text.iter().map(|&letter| text_bases(letter, n_matches)).collect();
        let backward = reverse_complement(&forward);
        let mut places = Vec::new();
        for (number, pattern) in self.patterns.iter().enumerate() {
            for reverse in [false, true] {
                let other = if reverse { Strand::Forward } else { Strand::Reverse };
                if self.config.strand == other {
                    continue;
                }
                let in_complement = self.is_in_complement(reverse);
                let text = if in_complement { &backward } else { &forward };
                let sets: Vec<u8> = pattern.letters().iter().map(|&letter| bases(letter)).collect();
                let turned = reverse != in_complement;
                let sets = if turned { reverse_complement(&sets) } else { sets };
                for (end, edits) in self.ends(&sets, text, self.most_edits(number)) {
                    let place = if in_complement { text.len() - end } else { end };
                    places.push((number, reverse, place, edits));
                }
            }
        }
        places
    }

    /// Returns the ends of a pattern in a text, both as sets of bases in the direction of the scan.
    fn ends(&self, pattern: &[u8], text: &[u8], e: usize) -> Vec<(usize, usize)> {
        let Config { pam, pam_first, seed, hamming, overhang, .. } = &self.config;
        if let Some(cost) = overhang {
            return naive::ends_with_overhang(pattern, text, e, *cost);
        }
        if pam.is_none() && seed.is_none() {
            return match hamming {
                true => naive::substitutions(pattern, text, e),
                false => naive::ends(pattern, text, e),
            };
        }
        let pam = pam.as_ref().map(sets_of).unwrap_or_default();
        let pam = if *pam_first { reverse_complement(&pam) } else { pam };
        let seed = seed.map_or((0, 0), |seed| (seed.letters, seed.edits));
        let mut ends = Vec::new();
        for end in 0..(text.len() + 1).saturating_sub(pam.len()) {
            if text[end..].iter().zip(&pam).any(|(letter, bases)| letter & bases == 0) {
                continue;
            }
            let before = &text[end.saturating_sub(pattern.len() + e)..end];
            let edits = naive::anchored(pattern, before, *hamming, seed);
            ends.extend(edits.filter(|&edits| edits <= e).map(|edits| (end + pam.len(), edits)));
        }
        ends
    }

    /// Checks that the operations of a hit align its pattern with the text, with its edits.
    fn check_alignment(&self, text: &[u8], hit: &Hit) {
        let Config { pam, pam_first, n_matches, overhang, .. } = &self.config;
        let guide = self.patterns[hit.pattern].letters().iter().map(|&letter| bases(letter));
        let (guide, pam) = (guide.collect::<Vec<u8>>(), pam.as_ref().map(sets_of));
        let pam = pam.unwrap_or_default();
        let sets = if *pam_first { [pam, guide].concat() } else { [guide, pam].concat() };
        let sets = if hit.reverse { reverse_complement(&sets) } else { sets };
        let (mut i, mut j, mut edits) = (0, hit.alignment.start, 0);
        for &(operation, length) in &hit.alignment.operations {
            if operation == Operation::Clip {
                let cost = overhang.expect("letters outside a text") * f64::from(length);
                assert_eq!(j, if i == 0 { 0 } else { text.len() });
                edits += cost.floor() as usize;
                i += length as usize;
                continue;
            }
            for _ in 0..length {
                let matches = || sets[i] & text_bases(text[j], *n_matches) != 0;
                match operation {
                    Operation::Match => assert!(matches(), "{hit:?}"),
                    Operation::Mismatch => assert!(!matches(), "{hit:?}"),
                    _ => {}
                }
                edits += usize::from(operation != Operation::Match);
                i += usize::from(operation != Operation::Deletion);
                j += usize::from(operation != Operation::Insertion);
            }
        }
        assert_eq!((i, j, edits), (sets.len(), hit.alignment.end, hit.edits), "{hit:?}");
        assert_eq!(hit.letters, text[hit.alignment.start..j].to_ascii_uppercase(), "{hit:?}");
    }
}

fn sets_of(pam: &Pam) -> Vec<u8> {
    pam.to_string().bytes().map(bases).collect()
}

/// Returns a stretch of the texts: its start and its length, then pairs of a position and a letter that replaces, or is
/// inserted if the position is odd.
fn changed(all: &[u8], changes: &[u8]) -> Option<Vec<u8>> {
    let [start, length, changes @ ..] = changes else { return None };
    let start = usize::from(*start).min(all.len());
    let end = all.len().min(start + usize::from(length % 64));
    let mut letters = all[start..end].to_vec();
    for change in changes.chunks_exact(2) {
        let at = usize::from(change[0] / 2);
        if at < letters.len() {
            letters.splice(at..at + usize::from(1 - change[0] % 2), [change[1]]);
        }
    }
    Some(letters)
}

fn config(flags: u8, numbers: u8, more: u8) -> Config {
    let is = |flag: u8| flags & flag != 0;
    let edits = u32::from(numbers & 7);
    let threshold = match is(128) {
        true => format!("{}%", 6 * edits).parse().expect("a threshold"),
        false => Threshold::Edits(edits),
    };
    let strands = [Strand::Both, Strand::Both, Strand::Forward, Strand::Reverse];
    Config {
        hamming: is(1),
        all_ends: is(2),
        n_matches: is(4),
        strand: strands[usize::from(numbers >> 3 & 3)],
        overhang: is(8).then_some(COSTS[usize::from(numbers >> 5)]),
        pam: is(16).then(|| PAMS[usize::from(more & 3)].parse().expect("a PAM")),
        pam_first: is(32),
        seed: is(64).then_some(Seed {
            letters: 1 + usize::from(more >> 4),
            edits: usize::from(more >> 2 & 3),
        }),
        ..Config::new(threshold)
    }
}
