//! The summary on stderr.

use merganser_map::Select;
use merganser_run::{format_size, peak_rss, thousands};

use super::Finished;
use crate::common::tell_spilled;
use crate::console::{Console, Level};

/// Prints the results and their warnings.
pub(super) fn print(finished: &Finished<'_>, console: &Console) {
    console.debug(format_args!(
        "{} threads, {} of memory, simd {}, index of {} with k = {}",
        finished.context.threads,
        format_size(finished.context.budget()),
        merganser_seq::simd::Level::best().name(),
        format_size(finished.index.bytes()),
        finished.index.k()
    ));
    if console.says(Level::Info) {
        for (name, value) in rows(finished) {
            console.info(format_args!("{name:<24}{value:>18}"));
        }
    }
    let outcome = finished.outcome;
    if outcome.spilled_bytes > 0 {
        tell_spilled(outcome.spilled_bytes, outcome.memory_without_spill, console);
    }
    console.print_warnings();
}

fn rows(finished: &Finished<'_>) -> Vec<(&'static str, String)> {
    let (reported, effort) = (&finished.outcome.reported, &finished.outcome.effort);
    let is_early = finished.args.config.select != Select::All;
    let one_hit = if is_early { "  with one best hit" } else { "  with one hit" };
    let mut rows = vec![
        ("reads", thousands(reported.reads)),
        ("  mapped", thousands(reported.mapped)),
        (one_hit, thousands(reported.unique)),
    ];
    if finished.outcome.skipped_alignments > 0 {
        rows.insert(1, ("  other alignments", thousands(finished.outcome.skipped_alignments)));
    }
    if reported.pairs > 0 {
        rows.push(("pairs", thousands(reported.pairs)));
        let [least, most] = finished.outcome.inserts;
        let learned = finished.outcome.insert_sizes.is_some();
        let name = if learned { "  learned insert sizes" } else { "  insert sizes" };
        rows.push((name, format!("{least} to {most}")));
        rows.push(("  concordant", thousands(reported.concordant)));
        if finished.args.config.rescue.is_some() {
            rows.push(("    by a rescued mate", thousands(reported.rescued)));
        }
        rows.push(("  discordant", thousands(reported.discordant)));
        rows.push(("  one mate mapped", thousands(reported.one_mate)));
    }
    rows.push(("mappings", thousands(reported.mappings)));
    rows.push(("candidates", thousands(effort.candidates)));
    rows.push(("  rejected", thousands(effort.rejected)));
    rows.push(("  verified", thousands(effort.verified)));
    if effort.gpu_reads > 0 {
        rows.push(("reads mapped on GPUs", thousands(effort.gpu_reads)));
    }
    let threads = finished.context.threads as f64;
    let times = effort.times;
    for (name, time) in [
        ("time, index", finished.indexing.as_secs_f64()),
        ("      seeding", times.seeding.as_secs_f64() / threads),
        ("      filter", times.filter.as_secs_f64() / threads),
        ("      verification", times.verification.as_secs_f64() / threads),
        ("      waiting for GPUs", times.device.as_secs_f64() / threads),
        ("      output", times.output.as_secs_f64() / threads),
        ("      in all", finished.started.elapsed().as_secs_f64()),
    ] {
        rows.push((name, format!("{time:.2} s")));
    }
    rows.extend(peak_rss().map(|peak| ("peak memory", format_size(peak))));
    rows
}
