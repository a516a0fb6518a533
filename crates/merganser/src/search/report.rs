//! The summary on stderr: what was searched, what was found, and the time.

use merganser_run::{counted, format_size, thousands};
use merganser_search::Strand;

use super::Finished;
use crate::common::{tell_skipped, tell_time};
use crate::console::Console;

/// The number of counts of hits by edits that are printed.
const SHOWN: usize = 8;

/// Prints the results and their warnings.
pub(super) fn print(finished: &Finished<'_>, console: &Console) {
    let (outcome, context) = (finished.outcome, finished.context);
    console.debug(format_args!(
        "{} threads, {} of memory, simd {}",
        context.threads,
        format_size(context.budget()),
        merganser_seq::simd::Level::best().name()
    ));
    if finished.args.explain {
        outcome.ways.iter().for_each(|way| console.info(way));
    }
    tell_skipped(outcome.skipped_alignments, console);
    let strands = match finished.args.config.strand {
        Strand::Both => "both strands",
        Strand::Forward => "forward strand",
        Strand::Reverse => "reverse complement",
    };
    console.info(format_args!(
        "{} in {} with {}, {strands}",
        counted(finished.patterns.len() as u64, "pattern"),
        counted(outcome.texts, "sequence"),
        counted(outcome.letters, "letter"),
    ));
    if outcome.gpu_letters > 0 {
        console.info(format_args!("{} on GPUs", counted(outcome.gpu_letters, "letter")));
    }
    let amplicons = outcome.amplicons.map(|count| format!("{}, ", counted(count, "amplicon")));
    let hits = format!("{}{}", counted(outcome.total(), "hit"), by_edits(&sums(finished)));
    console.info(format_args!("{}{hits}", amplicons.unwrap_or_default()));
    tell_time(finished.started, context.threads, outcome.peak_memory, console);
    let longest = finished.patterns.iter().map(|pattern| pattern.letters().len()).max();
    if outcome.texts == 0 {
        console.warn("there are no sequences in the input");
    } else if outcome.letters < longest.unwrap_or(0) as u64 && outcome.total() == 0 {
        console.warn("all sequences together are shorter than the longest pattern");
    }
    console.print_warnings();
}

/// Returns the number of hits of all patterns by edits.
pub(super) fn sums(finished: &Finished<'_>) -> Vec<u64> {
    let hits = &finished.outcome.hits;
    let columns = hits.iter().map(Vec::len).max().unwrap_or(0);
    (0..columns).map(|edits| hits.iter().filter_map(|counts| counts.get(edits)).sum()).collect()
}

fn by_edits(sums: &[u64]) -> String {
    let found = || sums.iter().enumerate().filter(|(_, count)| **count > 0);
    let mut shown: Vec<String> = found()
        .take(SHOWN)
        .map(|(edits, count)| {
            format!("{} with {}", thousands(*count), counted(edits as u64, "edit"))
        })
        .collect();
    let rest: u64 = found().skip(SHOWN).map(|(_, count)| count).sum();
    shown.extend((rest > 0).then(|| format!("{} with more", thousands(rest))));
    if shown.is_empty() { String::new() } else { format!(": {}", shown.join(", ")) }
}

#[cfg(test)]
mod tests {
    use super::by_edits;

    #[test]
    fn hits_are_shown_by_edits() {
        assert_eq!(by_edits(&[]), "");
        assert_eq!(by_edits(&[0, 0]), "");
        assert_eq!(by_edits(&[2, 0, 1300]), ": 2 with 0 edits, 1,300 with 2 edits");
        let expected = "1 with 6 edits, 1 with 7 edits, 3 with more";
        assert!(by_edits(&[1; 11]).ends_with(expected));
    }
}
