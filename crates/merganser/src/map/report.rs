//! The summary on stderr.

use merganser_io::ReadInput;
use merganser_map::{Reported, Select};
use merganser_run::{counted, format_size, thousands};

use super::Finished;
use crate::common::{number_of_files, tell_skipped, tell_spilled, tell_time};
use crate::console::{Console, Level};

/// Prints what was mapped, the result and the time; then warnings.
pub(super) fn print(finished: &Finished<'_>, console: &Console) {
    console.debug(format_args!(
        "{} threads, {} of memory, simd {}, index of {} with k = {}",
        finished.context.threads,
        format_size(finished.context.budget()),
        merganser_seq::simd::Level::best().name(),
        format_size(finished.index.bytes()),
        finished.index.k()
    ));
    if console.says(Level::Debug) {
        for (name, value) in rows(finished) {
            console.debug(format_args!("{name:<24}{value:>18}"));
        }
    }
    let outcome = finished.outcome;
    console.info(format_args!(
        "mapped {} to {}: {}",
        number_of_files(finished.inputs.iter().flat_map(ReadInput::inputs)),
        finished.args.reference.display(),
        queried(&outcome.reported)
    ));
    tell_skipped(outcome.skipped_alignments, console);
    console.info(found(finished));
    tell_time(finished.started, finished.context.threads, outcome.peak_memory, console);
    if outcome.spilled_bytes > 0 {
        tell_spilled(outcome.spilled_bytes, outcome.memory_without_spill, console);
    }
    console.print_warnings();
}

/// Describes the reads: pairs, and the mates of pairs among the reads.
fn queried(reported: &Reported) -> String {
    match (reported.pairs, reported.reads) {
        (0, reads) => counted(reads, "read"),
        (pairs, reads) if reads == 2 * pairs => counted(pairs, "pair"),
        (pairs, reads) => {
            format!("{} and {}", counted(pairs, "pair"), counted(reads - 2 * pairs, "read"))
        }
    }
}

/// Describes the result: mapped reads, and concordant pairs if there are pairs.
fn found(finished: &Finished<'_>) -> String {
    let reported = &finished.outcome.reported;
    let percent = |part: u64, all: u64| 100.0 * part as f64 / all.max(1) as f64;
    let mut text = format!(
        "{} of {} mapped ({:.2} %), {} {}; {}",
        thousands(reported.mapped),
        counted(reported.reads, "read"),
        percent(reported.mapped, reported.reads),
        thousands(reported.unique),
        one_hit(finished),
        counted(reported.mappings, "hit")
    );
    if reported.pairs > 0 {
        text += &format!(
            "; {} of {} concordant ({:.2} %)",
            thousands(reported.concordant),
            counted(reported.pairs, "pair"),
            percent(reported.concordant, reported.pairs)
        );
    }
    if finished.outcome.insert_sizes.is_some() {
        let [least, most] = finished.outcome.inserts;
        text += &format!(", with learned insert sizes of {least} to {most}");
    }
    text
}

/// Returns the words for reads with a single hit.
fn one_hit(finished: &Finished<'_>) -> &'static str {
    let is_early = finished.args.config.select != Select::All;
    if is_early { "with one best hit" } else { "with one hit" }
}

fn rows(finished: &Finished<'_>) -> Vec<(&'static str, String)> {
    let (reported, effort) = (&finished.outcome.reported, &finished.outcome.effort);
    let mut rows = vec![
        ("reads", thousands(reported.reads)),
        ("  mapped", thousands(reported.mapped)),
        (one_hit(finished), thousands(reported.unique)),
    ];
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
    rows
}
