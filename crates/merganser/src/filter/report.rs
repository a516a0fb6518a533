//! The summary on stderr.

use merganser_run::{format_size, peak_rss};

use super::Finished;
use crate::console::{Console, Level};
use merganser_run::thousands;

/// Prints the results and their warnings.
pub(super) fn print(finished: &Finished<'_>, console: &Console) {
    console.debug(format_args!(
        "{} threads, {} of memory, simd {}",
        finished.context.threads,
        format_size(finished.context.budget()),
        merganser_seq::simd::Level::best().name()
    ));
    if console.says(Level::Info) {
        for (name, value) in rows(finished) {
            console.info(format_args!("{name:<24}{value:>18}"));
        }
    }
    console.print_warnings();
}

fn rows(finished: &Finished<'_>) -> Vec<(&'static str, String)> {
    let outcome = finished.outcome;
    let mut rows = vec![
        ("pairs", thousands(outcome.records)),
        ("  accepted", thousands(outcome.accepted)),
        ("  rejected", thousands(outcome.records - outcome.accepted)),
    ];
    if outcome.undefined > 0 {
        rows.push(("  accepted as undefined", thousands(outcome.undefined)));
    }
    if outcome.gpu_pairs > 0 {
        rows.push(("  decided on GPUs", thousands(outcome.gpu_pairs)));
    }
    if let Some(verified) = outcome.verified {
        rows.push(("within the threshold", thousands(verified.exact_accepted)));
        rows.push(("  false rejects", thousands(verified.false_rejects)));
        rows.push(("  false accepts", thousands(verified.false_accepts)));
    }
    let seconds = finished.started.elapsed().as_secs_f64();
    rows.push(("time", format!("{seconds:.2} s")));
    let rate = outcome.records as f64 / 1e6 / seconds.max(1e-6);
    rows.push(("throughput", format!("{rate:.2} M pairs/s")));
    rows.extend(peak_rss().map(|peak| ("peak memory", format_size(peak))));
    rows
}
