//! Counts the k-mers of reads, shows the progress, and cancels the run after a number of seconds.
//!
//! `cargo run --release --example count_with_progress -- 21 reads.fq.gz reads.mgk 60`
#![allow(clippy::print_stderr, reason = "an example")]

use std::env;
use std::error::Error;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use merganser::run::{Progress, Unit};
use merganser::{Cancel, Context, count};

/// A receiver of the progress, whose methods any thread of the run may call.
struct Percentage {
    /// The finished units of the current stage, and all its units. Threads print in turn.
    units: Mutex<(u64, u64)>,
    end: Instant,
    cancel: Cancel,
}

impl Progress for Percentage {
    fn stage(&self, name: &str, _: Unit, total: Option<u64>) {
        eprintln!("{name}");
        *self.units.lock().expect("no thread panics") = (0, total.unwrap_or(0));
    }

    fn advance(&self, amount: u64) {
        if Instant::now() >= self.end {
            self.cancel.cancel();
        }
        let mut units = self.units.lock().expect("no thread panics");
        units.0 += amount;
        if let Some(percent) = (100 * units.0).checked_div(units.1) {
            eprint!("\r{percent:>3} %");
        }
    }

    fn finish(&self) {
        eprintln!();
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let args: Vec<String> = env::args().skip(1).collect();
    let [k, reads, output, seconds] = &args[..] else {
        return Err("usage: count_with_progress K READS OUTPUT SECONDS".into());
    };

    // A clone of the flag cancels the run, also from a signal handler or another thread.
    let cancel = Cancel::default();
    let end = Instant::now() + Duration::from_secs(seconds.parse()?);
    let progress = Percentage { units: Mutex::default(), end, cancel: cancel.clone() };
    let context = Context::new().progress(progress).cancel(&cancel);
    count::run(&count::Config::new(k.parse()?), [reads], output, &context)?;
    Ok(())
}
