//! The summary on stderr.

use merganser_run::{format_size, peak_rss};

use super::Finished;
use crate::args::name_of;
use crate::console::{Console, Level};
use merganser_run::thousands;

/// Says what was found and what is odd about it.
pub(super) fn print(finished: &Finished<'_>, console: &Console) {
    console.debug(format_args!(
        "{} threads, {} of memory, simd {}",
        finished.resources.threads,
        format_size(finished.resources.budget()),
        merganser_seq::simd::Level::best().name()
    ));
    if console.says(Level::Info) {
        for (name, value) in rows(finished) {
            console.info(format_args!("{name:<24}{value:>18}"));
        }
    }
    for warning in warnings(finished) {
        console.warn(warning);
    }
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

fn warnings(finished: &Finished<'_>) -> Vec<String> {
    let mut warnings = Vec::new();
    if finished.outcome.records == 0 {
        warnings.push("the input has no pairs".into());
    }
    if finished.outcome.exact_instead > 0 {
        warnings.push(format!(
            "{} pairs were decided by the exact method: --method {} does not define them",
            thousands(finished.outcome.exact_instead),
            name_of(&finished.args.method)
        ));
    }
    warnings
}
