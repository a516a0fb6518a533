//! A progress bar on the terminal.

use std::fmt::Write;
use std::sync::{OnceLock, mpsc};
use std::thread::JoinHandle;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};
use merganser_run::{Progress, Unit, format_size};

use crate::console::{Console, prints_results};
use crate::failure::with_flags;

/// A bar that shows the current stage of a run and disappears at the end.
#[derive(Debug)]
pub(crate) struct Bar {
    console: Console,
    bar: ProgressBar,
    ticker: OnceLock<Option<Ticker>>,
}

/// A thread that redraws a bar while nothing advances. The ticker of indicatif panics if no thread can be started;
/// this bar is then redrawn only when something advances.
#[derive(Debug)]
struct Ticker {
    over: mpsc::Sender<()>,
    thread: JoinHandle<()>,
}

impl Ticker {
    fn start(bar: &ProgressBar) -> Option<Ticker> {
        let (over, until) = mpsc::channel();
        let bar = bar.clone();
        let tick = move || {
            while until.recv_timeout(TICK) == Err(mpsc::RecvTimeoutError::Timeout) {
                if !bar.is_finished() {
                    bar.tick();
                }
            }
        };
        Some(Ticker { over, thread: merganser_run::start(tick).ok()? })
    }

    fn end(self) {
        drop(self.over);
        let _ = self.thread.join();
    }
}

const TICK: Duration = Duration::from_millis(200);

impl Bar {
    /// Makes a bar, which is hidden if stderr is not a terminal or only warnings are printed.
    pub(crate) fn new(console: &Console) -> Bar {
        let bar = if console.shows_progress() {
            ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr())
        } else {
            ProgressBar::hidden()
        };
        Bar { console: *console, bar, ticker: OnceLock::new() }
    }
}

impl Progress for Bar {
    fn stage(&self, name: &str, unit: Unit, total: Option<u64>) {
        if self.bar.is_hidden() || prints_results() {
            return;
        }
        if let Ok(style) = ProgressStyle::with_template("{line}") {
            let name = name.to_owned();
            let line = move |state: &ProgressState, text: &mut dyn Write| {
                let _ = text.write_str(&StageProgress::new(&name, unit, state).line(width()));
            };
            self.bar.set_style(style.with_key("line", line));
        }
        self.bar.reset();
        match total {
            Some(total) => self.bar.set_length(total),
            None => self.bar.unset_length(),
        }
        self.ticker.get_or_init(|| Ticker::start(&self.bar));
    }

    fn advance(&self, amount: u64) {
        if !prints_results() {
            self.bar.inc(amount);
        }
    }

    fn finish(&self) {
        self.bar.finish_and_clear();
    }

    /// Prints a line above the bar.
    fn note(&self, message: &str) {
        self.bar.suspend(|| self.console.info(with_flags(message)));
    }

    fn warned(&self) {
        self.bar.suspend(|| self.console.print_warnings());
    }
}

impl Drop for Bar {
    /// Removes the bar, so that it is not mixed with an error message.
    fn drop(&mut self) {
        self.bar.finish_and_clear();
        if let Some(Some(ticker)) = self.ticker.take() {
            ticker.end();
        }
    }
}

/// Returns the columns of the terminal. It is called for each line, because a window may be resized.
pub(crate) fn width() -> usize {
    terminal_size::terminal_size_of(std::io::stderr()).map_or(80, |(width, _)| usize::from(width.0))
}

/// The progress of a stage.
#[derive(Clone, Copy, Debug)]
struct StageProgress<'a> {
    name: &'a str,
    unit: Unit,
    done: u64,
    total: Option<u64>,
    a_second: f64,
    left: Duration,
}

const LONGEST_BAR: usize = 32;
const SHORTEST_BAR: usize = 8;

impl<'a> StageProgress<'a> {
    fn new(name: &'a str, unit: Unit, state: &ProgressState) -> StageProgress<'a> {
        let (done, total) = (state.pos(), state.len());
        StageProgress { name, unit, done, total, a_second: state.per_sec(), left: state.eta() }
    }

    /// Formats the line with as many facts as fit into `width` columns; the least important ones are omitted first.
    fn line(&self, width: usize) -> String {
        let name = format!("{:9}", self.name);
        for facts in self.facts() {
            let taken = name.len() + facts.len() + 2;
            let line = match self.total {
                None if taken <= width + 1 => format!("{name} {facts}"),
                Some(total) if taken + SHORTEST_BAR + 2 <= width => {
                    let bar = (width - taken - 2).min(LONGEST_BAR);
                    format!("{name} [{}] {facts}", filled(self.done, total, bar))
                }
                _ => continue,
            };
            return line.trim_end().to_owned();
        }
        // The window is too narrow for a bar.
        let short = format!("{} {}", self.name, self.per_cent());
        short.trim_end().chars().take(width).collect()
    }

    /// Returns the alternatives for the text after the bar, the longest first.
    fn facts(&self) -> Vec<String> {
        let (per_cent, left) = (self.per_cent(), clock(self.left));
        if self.unit == Unit::Steps {
            return vec![format!("{per_cent} {left:>6}"), per_cent];
        }
        let done = amount(self.done, self.unit);
        let rate = format!("{}/s", amount(self.a_second as u64, self.unit));
        match self.total.map(|total| amount(total, self.unit)) {
            Some(total) => vec![
                format!("{done:>9} of {total} {rate:>11} {left:>6}"),
                format!("{done:>9} of {total} {left:>6}"),
                format!("{per_cent} {left:>6}"),
                per_cent,
            ],
            None => vec![format!("{done:>9} {rate:>11}"), format!("{done:>9}")],
        }
    }

    fn per_cent(&self) -> String {
        let share = |total: u64| self.done.min(total) as f64 * 100.0 / total.max(1) as f64;
        self.total.map_or_else(String::new, |total| format!("{:3.0}%", share(total)))
    }
}

/// Draws a bar of `width` columns.
fn filled(done: u64, total: u64, width: usize) -> String {
    let share = done.min(total) as f64 / total.max(1) as f64;
    let full = (share * width as f64) as usize;
    let head = if full < width { ">" } else { "" };
    format!("{:width$}", format!("{}{head}", "=".repeat(full)))
}

/// Formats a number with its unit.
fn amount(number: u64, unit: Unit) -> String {
    let letter = match unit {
        Unit::Bytes => return format_size(number),
        Unit::Bases => "b",
        Unit::Kmers => " k-mers",
        Unit::Steps => "",
    };
    let thousands = number.checked_ilog10().unwrap_or(0) / 3;
    let prefix = ["", "k", "M", "G", "T", "P", "E"][thousands as usize];
    let value = number as f64 / 1000f64.powi(thousands as i32);
    let digits = usize::from(thousands > 0 && value < 100.0);
    format!("{value:.digits$} {prefix}{letter}").trim_end().to_owned()
}

/// Formats a time in seconds, minutes or hours.
fn clock(time: Duration) -> String {
    match time.as_secs() {
        seconds @ 0..60 => format!("{seconds}s"),
        seconds @ 60..3600 => format!("{}m{:02}s", seconds / 60, seconds % 60),
        seconds @ 3600..360_000 => format!("{}h{:02}m", seconds / 3600, seconds / 60 % 60),
        _ => "-".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GIB: u64 = 1 << 30;

    fn reading(unit: Unit, done: u64, total: Option<u64>) -> StageProgress<'static> {
        let left = Duration::from_secs(754);
        StageProgress { name: "classify", unit, done, total, a_second: 123_456_789.0, left }
    }

    #[test]
    fn lines_fit_any_width() {
        let times = [0, 59, 3599, 359_999, u64::MAX];
        for unit in [Unit::Bytes, Unit::Bases, Unit::Kmers, Unit::Steps] {
            for total in [None, Some(0), Some(999), Some(123 * GIB), Some(u64::MAX)] {
                for (number, time) in times.into_iter().enumerate() {
                    let done = total.unwrap_or(u64::MAX) / 4 * number as u64;
                    let left = Duration::from_secs(time);
                    let of =
                        StageProgress { left, a_second: done as f64, ..reading(unit, done, total) };
                    for width in 0..120 {
                        let line = of.line(width);
                        assert!(line.chars().count() <= width, "{width}: {line}");
                        assert!(width < 9 || line.starts_with("classify"), "{width}: {line}");
                    }
                }
            }
        }
    }

    #[test]
    fn what_matters_least_goes_first() {
        let bytes = reading(Unit::Bytes, GIB / 2, Some(2 * GIB));
        for (width, line) in [
            (
                100,
                "classify  [========>                       ]   512 MiB of 2.00 GiB   118 MiB/s 12m34s",
            ),
            (
                80,
                "classify  [======>                    ]   512 MiB of 2.00 GiB   118 MiB/s 12m34s",
            ),
            (60, "classify  [====>              ]   512 MiB of 2.00 GiB 12m34s"),
            (40, "classify  [====>           ]  25% 12m34s"),
            (24, "classify  25%"),
            (16, "classify  25%"),
            (5, "class"),
        ] {
            assert_eq!(bytes.line(width), line);
        }
    }

    #[test]
    fn units_are_those_of_the_stage() {
        let line = |unit, total| reading(unit, 81, total).line(80);
        let tables = line(Unit::Steps, Some(256));
        assert!(tables.ends_with("]  32% 12m34s"), "{tables}");
        let kmers = reading(Unit::Kmers, 1_234_567, Some(98_765_432)).line(80);
        assert!(kmers.contains("1.2 M k-mers of 98.8 M k-mers"), "{kmers}");
        let bases = reading(Unit::Bases, 4_600_000, Some(3_100_000_000)).line(80);
        assert!(bases.contains("4.6 Mb of 3.1 Gb"), "{bases}");
        assert_eq!(line(Unit::Bytes, None), "classify       81 B   118 MiB/s");
    }
}
