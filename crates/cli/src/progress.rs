//! A progress bar on the terminal.

use std::sync::{OnceLock, mpsc};
use std::thread::JoinHandle;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use merganser_run::Progress;

use crate::console::Console;

/// Shows each stage of a run, and leaves nothing behind.
#[derive(Debug)]
pub(crate) struct Bar {
    bar: ProgressBar,
    ticker: OnceLock<Option<Ticker>>,
}

/// Moves a bar also while nothing advances. indicatif's own would panic where no thread can be
/// started; here the bar then moves when something advances.
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

const KNOWN: &str = "{msg:9} [{bar:32}] {bytes:>10} of {total_bytes} {bytes_per_sec:>12} {eta:>4}";
const UNKNOWN: &str = "{msg:9} {spinner} {bytes:>10} {bytes_per_sec:>12}";

impl Bar {
    /// A bar, or nothing if nobody would see it.
    pub(crate) fn new(console: &Console) -> Bar {
        let bar = if console.shows_progress() {
            ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr())
        } else {
            ProgressBar::hidden()
        };
        Bar { bar, ticker: OnceLock::new() }
    }
}

impl Progress for Bar {
    fn stage(&self, name: &str, total: Option<u64>) {
        if self.bar.is_hidden() {
            return;
        }
        let template = if total.is_some() { KNOWN } else { UNKNOWN };
        if let Ok(style) = ProgressStyle::with_template(template) {
            self.bar.set_style(style.progress_chars("=> "));
        }
        self.bar.reset();
        match total {
            Some(total) => self.bar.set_length(total),
            None => self.bar.unset_length(),
        }
        self.bar.set_message(name.to_owned());
        self.ticker.get_or_init(|| Ticker::start(&self.bar));
    }

    fn advance(&self, amount: u64) {
        self.bar.inc(amount);
    }

    fn finish(&self) {
        self.bar.finish_and_clear();
    }
}

impl Drop for Bar {
    /// After an error too, its message should stand alone.
    fn drop(&mut self) {
        self.bar.finish_and_clear();
        if let Some(Some(ticker)) = self.ticker.take() {
            ticker.end();
        }
    }
}
