//! The warning about inputs whose pairs are mostly discordant.

use merganser_io::ReadInput;
use merganser_run::{Warnings, thousands};

use super::Arrangement;
use super::distances::Distances;
use super::tally::{Finding, Tallies, Tally};
use crate::{Config, Orientation};

/// Warns about inputs whose pairs are mostly discordant, once for each reason.
pub(crate) fn warn(tallies: &Tallies, config: &Config, inputs: &[ReadInput], warnings: &Warnings) {
    let findings = Arrangement::ALL.into_iter().map(Finding::Arranged);
    for finding in findings.chain([Finding::Scattered]) {
        let (affected, tally) = tallies.with_finding(finding);
        let Some(first) = affected.first().and_then(|&input| inputs.get(input)) else { continue };
        let mut place = first.inputs().map(ToString::to_string).collect::<Vec<_>>().join(" and ");
        if affected.len() > 1 {
            place += &format!(", and {} more of the inputs", thousands(affected.len() as u64 - 1));
        }
        let what = match finding {
            Finding::Arranged(arrangement) => arranged(arrangement, &tally, config),
            Finding::Scattered => scattered(&tally),
        };
        warnings.push(format!("{place}: {what}"));
    }
}

/// Describes the most frequent arrangement, and what to do about it.
fn arranged(arrangement: Arrangement, tally: &Tally, config: &Config) -> String {
    let [min, max] = config.inserts();
    let distances = tally.of(arrangement);
    let [low, median, high] = [5, 50, 95].map(|percent| distances.percentile(percent));
    let (how, remedy) = match arrangement {
        Arrangement::TooFar => (
            format!("their mates are farther apart than `max_insert` {max} allows"),
            match distances.are_wide() {
                true => "these are not fragments of one library: the reads may be spliced, or the \
                         files may not have the same pairs in the same order"
                    .to_owned(),
                false => format!("raise `max_insert`, for example to {}", above(median, high)),
            },
        ),
        Arrangement::TooNear => (
            format!("their mates are nearer than `min_insert` {min} allows"),
            format!("lower `min_insert`, for example to {}", below(low, median)),
        ),
        Arrangement::Inward => (
            "their mates face each other, as those of paired-end libraries do".to_owned(),
            "leave `orientation` out".to_owned(),
        ),
        Arrangement::Outward => (
            "their mates point away from each other, as those of mate-pair libraries do".to_owned(),
            match high > u64::from(max) && !config.learn_insert {
                true => format!(
                    "give `orientation` rf, and raise `max_insert`, for example to {}",
                    above(median, high)
                ),
                false => "give `orientation` rf".to_owned(),
            },
        ),
        Arrangement::SameStrand => (
            "their mates are on the same strand".to_owned(),
            match config.orientation {
                Orientation::Ff => "the second mates come first: swap the files".to_owned(),
                _ => "give `orientation` ff, or the reverse complement of one of the mates if it was \
                      turned before"
                    .to_owned(),
            },
        ),
        Arrangement::SameBases => (
            "their mates have the same bases".to_owned(),
            "the second mates may be a copy of the first: give the right file of second mates".to_owned(),
        ),
        Arrangement::TwoContigs => (
            "their mates are on different contigs".to_owned(),
            "the files may not have the same pairs in the same order, or the contigs are shorter than the \
             fragments"
                .to_owned(),
        ),
    };
    let seen = match arrangement {
        Arrangement::TwoContigs | Arrangement::SameBases => String::new(),
        _ => format!(
            " (about {low} to {high} bases from end to end in nine of ten of them, the median is {median})"
        ),
    };
    format!("{} because {how}{seen}; {remedy}", share(distances, tally))
}

/// Describes discordant pairs with various arrangements.
fn scattered(tally: &Tally) -> String {
    let kinds = [
        (Arrangement::TwoContigs, "on different contigs"),
        (Arrangement::SameStrand, "on the same strand"),
        (Arrangement::Outward, "away from each other"),
        (Arrangement::TooFar, "too far apart"),
        (Arrangement::TooNear, "too near"),
        (Arrangement::Inward, "towards each other"),
        (Arrangement::SameBases, "at the same bases"),
    ];
    let seen = kinds.map(|(arrangement, what)| (tally.of(arrangement).pairs(), what));
    let seen = seen.into_iter().filter(|(pairs, _)| *pairs > 0);
    let seen: Vec<String> =
        seen.map(|(pairs, what)| format!("{} {what}", thousands(pairs))).collect();
    format!(
        "{} of {} pairs with hits of both mates are discordant, and their mates lie anywhere ({}); the files \
         may not have the same pairs in the same order",
        thousands(tally.discordant()),
        thousands(tally.pairs()),
        seen.join(", ")
    )
}

/// Describes the share of pairs that are discordant for one reason.
fn share(some: &Distances, tally: &Tally) -> String {
    let (some, all) = (thousands(some.pairs()), thousands(tally.pairs()));
    format!("{some} of {all} pairs with hits of both mates are discordant")
}

/// Returns a round number below which nearly all distances are: the 95th percentile plus its distance from the
/// median.
fn above(median: u64, high: u64) -> u64 {
    let most = 2 * high - median;
    let unit = 100.max(10u64.pow(most.max(1).ilog10().saturating_sub(1)));
    most.next_multiple_of(unit).min(u64::from(u32::MAX))
}

/// Returns a round number that nearly all distances exceed, computed in the same manner from the 5th
/// percentile.
fn below(low: u64, median: u64) -> u64 {
    (2 * low).saturating_sub(median) / 10 * 10
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use merganser_filter::Threshold;
    use merganser_io::Input;

    use super::*;

    #[test]
    fn round_numbers() {
        assert_eq!([above(751, 823), above(3000, 3200), above(400, 400)], [900, 3400, 400]);
        assert_eq!(above(10_000, 14_100), 19_000);
        assert_eq!(above(u64::from(u32::MAX) - 1, u64::from(u32::MAX)), u64::from(u32::MAX));
        assert_eq!([below(100, 120), below(10, 90)], [80, 0]);
    }

    fn message(pairs: impl Iterator<Item = (Arrangement, u32)>) -> String {
        let config = Config { min_insert: Some(100), ..Config::new(Threshold::Edits(3)) };
        let file = |name: &str| Input::File(PathBuf::from(name));
        let inputs = [ReadInput::Single(file("s")), ReadInput::Pair(file("a_1"), file("a_2"))];
        let mut tallies = Tallies::default();
        pairs.for_each(|known| tallies.discordant(1, Some(known)));
        tallies.concordant(1);
        let warnings = Warnings::default();
        warn(&tallies, &config, &inputs, &warnings);
        let all = warnings.all();
        assert_eq!(all.len(), 1, "{all:?}");
        all[0].clone()
    }

    #[test]
    fn messages_name_files_numbers_and_remedies() {
        let near = (1000..2000).map(|number| (Arrangement::TooFar, 600 + number % 100));
        assert_eq!(
            message(near),
            "a_1 and a_2: 1,000 of 1,001 pairs with hits of both mates are discordant because their mates are \
             farther apart than `max_insert` 500 allows (about 607 to 695 bases from end to end in nine of ten of them, \
             the median is 655); raise `max_insert`, for example to 800"
        );
        let wide = message((0..40).map(|number| (Arrangement::TooFar, 600 + 900 * number)));
        assert!(wide.contains("may be spliced") && !wide.contains("raise"), "{wide}");
        let short = message((0..40).map(|_| (Arrangement::TooNear, 90)));
        assert!(short.contains("`min_insert` 100") && short.ends_with("to 90"), "{short}");
        let mixed = [Arrangement::SameStrand, Arrangement::Outward, Arrangement::TooFar];
        let mixed = message(mixed.into_iter().cycle().take(30).map(|kind| (kind, 9000)));
        assert!(
            mixed.contains("(10 on the same strand, 10 away from each other, 10 too far apart)"),
            "{mixed}"
        );
    }
}
