//! The summary on stderr.

use std::fmt::Write;
use std::time::Duration;

use merganser_count::Outcome;
use merganser_run::{counted, format_size, thousands};

use super::Finished;
use crate::common::{number_of_files, tell_skipped, tell_spilled, tell_time};
use crate::console::{self, Console, Level};

/// Prints what was counted, the result and which k-mers were kept, and the time; then warnings.
pub(super) fn print(finished: &Finished<'_>, console: &Console) {
    if console.says(Level::Debug) {
        setup(finished, console);
        for (name, value) in rows(finished) {
            console.debug(format_args!("{name:<24}{value:>18}"));
        }
    }
    let (k, outcome) = (finished.config.k, finished.outcome);
    console.info(format_args!(
        "counted {k}-mers of {}: {} in {}{}",
        number_of_files(finished.inputs),
        counted(outcome.letters, "letter"),
        counted(outcome.records, "record"),
        unused(finished)
    ));
    tell_skipped(outcome.skipped_alignments, console);
    console.info(format_args!(
        "{} distinct {k}-mers, {} in all; {}",
        thousands(outcome.distinct_kmers()),
        thousands(outcome.total_kmers),
        verdict(finished)
    ));
    tell_time(finished.started, finished.context.threads, outcome.peak_memory, console);
    if let Some(memory) = finished.outcome.enough_memory {
        tell_spilled(finished.outcome.spilled_bytes, memory, console);
    }
    console.print_warnings();
}

/// Prints the setup of the run and the time of each stage.
fn setup(finished: &Finished<'_>, console: &Console) {
    let (config, outcome) = (finished.config, finished.outcome);
    console.debug(format_args!(
        "{} threads, {} of memory, simd {}, signature {} of {} bases, {} bins",
        finished.context.threads,
        format_size(finished.context.budget()),
        merganser_seq::simd::Level::best().name(),
        config.rule.name(),
        config.signature_bases(),
        outcome.bins
    ));
    console.debug(format_args!(
        "{} super-k-mers in {}, {} of temporary files",
        thousands(outcome.super_kmers),
        format_size(outcome.super_kmer_bytes),
        format_size(outcome.spilled_bytes)
    ));
    for (name, time) in outcome.stages.iter() {
        console.debug(format_args!("{name:<16}{:>9.3} s", time.as_secs_f64()));
    }
}

/// Describes the letters that break k-mers, if there are any.
fn unused(finished: &Finished<'_>) -> String {
    let mut text = String::new();
    let outcome = finished.outcome;
    if outcome.ambiguous_letters > 0 {
        let _ = write!(text, "; {} not A C G T U", thousands(outcome.ambiguous_letters));
    }
    if let (Some(least), 1..) = (finished.config.min_qual, outcome.low_quality_bases) {
        let low = thousands(outcome.low_quality_bases);
        let _ = write!(text, "; {low} of a quality below {least}");
    }
    text
}

fn rows(finished: &Finished<'_>) -> Vec<(String, String)> {
    let (config, outcome) = (finished.config, finished.outcome);
    let elapsed = finished.started.elapsed();
    let histogram = &outcome.histogram;
    let mut rows = vec![
        ("records".into(), thousands(outcome.records)),
        ("letters".into(), thousands(outcome.letters)),
        ("  not A C G T U".into(), thousands(outcome.ambiguous_letters)),
    ];
    if let Some(least) = config.min_qual {
        rows.push((format!("  quality below {least}"), thousands(outcome.low_quality_bases)));
    }
    rows.push((format!("{}-mers", config.k), thousands(outcome.total_kmers)));
    rows.push(("  distinct".into(), thousands(histogram.distinct(1, u32::MAX))));
    if config.least() > 1 {
        let below = histogram.distinct(1, config.least() - 1);
        rows.push((format!("  below {}", config.least()), thousands(below)));
    }
    if config.most() < u32::MAX {
        let above = histogram.distinct(config.most() + 1, u32::MAX);
        rows.push((format!("  above {}", config.most()), thousands(above)));
    }
    rows.push(("throughput".into(), throughput(outcome, elapsed)));
    rows
}

fn throughput(outcome: &Outcome, elapsed: Duration) -> String {
    let rate = outcome.letters as f64 / 1e6 / elapsed.as_secs_f64().max(1e-6);
    format!("{rate:.1} Mb/s")
}

/// Says which k-mers were kept and why. By default, k-mers that occur once are dropped, which should not come as a
/// surprise.
fn verdict(finished: &Finished<'_>) -> String {
    let (config, outcome) = (finished.config, finished.outcome);
    let verb = if config.format == merganser_count::Format::None { "found" } else { "kept" };
    let mut text = format!("{verb} {} k-mers", thousands(outcome.kept_kmers));
    let _ = match (config.least(), config.most()) {
        (1, u32::MAX) => write!(text, ": all of them (--min-count 1)"),
        (least, u32::MAX) => {
            write!(text, " that occur {least} times or more (--min-count {least})")
        }
        (least, most) => write!(
            text,
            " that occur {least} to {most} times (--min-count {least} --max-count {most})"
        ),
    };
    text
}

/// Adds the warning about the histogram's file.
pub(super) fn warn(finished: &Finished<'_>) {
    if finished.beyond_histogram > 0 {
        console::warnings().push(format!(
            "the histogram leaves out {} distinct k-mers that occur more than {} times (--hist-max)",
            thousands(finished.beyond_histogram),
            finished.args.hist_max.unwrap_or(u32::MAX)
        ));
    }
}
