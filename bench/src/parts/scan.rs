//! The stages between letters and signatures, at each SIMD level.

use super::reads::{BATCH_BASES, Sample};
use super::{clock, markdown};
use merganser_count::Config;
use merganser_seq::signature::{Rule, Scanner, changes};
use merganser_seq::simd::Level;
use merganser_seq::{base, packed};
use std::hint::black_box;
use std::num::NonZeroUsize;

/// Bases that the second-level cache holds: what memory costs is not the stages' matter.
const CACHED: usize = 64 * BATCH_BASES;

/// What every stage is run on.
#[derive(Clone, Copy)]
struct Load<'s> {
    k: usize,
    letters: &'s [u8],
    /// Passes over the letters.
    rounds: usize,
}

/// A stage that takes a batch of letters or codes.
#[derive(Clone, Copy)]
enum Stage {
    Encode,
    Pack,
    Scan(Rule),
    /// The default rule's scan, and where its signatures change.
    ScanAndChanges,
}

impl Stage {
    fn name(self) -> String {
        match self {
            Self::Encode => "letters to codes".into(),
            Self::Pack => "codes to 2 bits".into(),
            Self::Scan(rule) => format!("signatures: {}", rule.name()),
            Self::ScanAndChanges => {
                format!("signatures: {}, and their changes", Rule::ALL[0].name())
            }
        }
    }

    /// Seconds for all rounds. Each batch is encoded first, so that its codes
    /// are in the cache as they are in a run; the caller takes the time of that off.
    fn seconds(self, threads: NonZeroUsize, load: Load<'_>, level: Level) -> f64 {
        let Load { k, letters, rounds } = load;
        let (rule, p) = match self {
            Self::Scan(rule) => (rule, Config::default_signature_len(k)),
            _ => (Rule::ALL[0], Config::default_signature_len(k)),
        };
        let make = || {
            let mut scanner = Scanner::new(level, rule, k, p, true);
            let (mut codes, mut words) = (Vec::new(), Vec::new());
            let (mut flags, mut bits) = (Vec::new(), Vec::new());
            move || {
                for batch in (0..rounds).flat_map(|_| letters.chunks(BATCH_BASES)) {
                    codes.clear();
                    black_box(base::encode(level, batch, &mut codes));
                    match self {
                        Self::Encode => {}
                        Self::Pack => packed::pack(level, &codes, &mut words),
                        Self::Scan(_) => drop(black_box(scanner.scan(&codes))),
                        Self::ScanAndChanges => {
                            changes(level, scanner.scan(&codes), &mut flags, &mut bits);
                        }
                    }
                    black_box((&codes, &words, &bits));
                }
            }
        };
        clock::best(threads, make).0
    }
}

/// The table of stages for k-mers of `k` bases.
pub(crate) fn report(threads: NonZeroUsize, sample: &Sample, k: usize) -> String {
    let levels = Level::available();
    let rules = Rule::ALL.map(Stage::Scan);
    let stages: Vec<Stage> = [Stage::Encode, Stage::Pack]
        .into_iter()
        .chain(rules)
        .chain([Stage::ScanAndChanges])
        .collect();
    let letters = &sample.letters[..sample.letters.len().min(CACHED)];
    let rounds = sample.letters.len() / letters.len();
    let load = Load { k, letters, rounds };
    let mut rows: Vec<Vec<String>> = stages.iter().map(|stage| vec![stage.name()]).collect();
    for &level in &levels {
        let encode = Stage::Encode.seconds(threads, load, level);
        for (row, stage) in rows.iter_mut().zip(&stages) {
            let seconds = match stage {
                Stage::Encode => encode,
                _ => (stage.seconds(threads, load, level) - encode).max(0.0),
            };
            row.push(markdown::nanoseconds(seconds, rounds * letters.len()));
        }
    }
    let mut headers = vec!["ns a base"];
    headers.extend(levels.iter().map(|level| level.name()));
    let p = Config::default_signature_len(k);
    format!(
        "### Scan, k = {k}, p = {p}, batches of {BATCH_BASES} bases\n\n{}",
        markdown::table(&headers, &rows)
    )
}
