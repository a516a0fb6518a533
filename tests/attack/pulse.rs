//! Detects processes that hang; on a busy machine the clock alone does not show this.

use std::fs;
use std::time::{Duration, Instant};

/// A process that uses no processor time for this long waits forever.
const STILL: Duration = Duration::from_secs(150);
/// Processor time in hundredths of a second that no attack needs, even on 2 cores with a test build.
const ENDLESS: u64 = 30_000;

/// Observes the processor time of a process.
pub(crate) struct Pulse {
    process: u32,
    ticks: u64,
    since: Instant,
    looked: Instant,
}

impl Pulse {
    pub(crate) fn new(process: u32) -> Pulse {
        let now = Instant::now();
        Pulse { process, ticks: 0, since: now, looked: now }
    }

    /// Returns the reason to kill the process, if there is one; checks at most once a second.
    pub(crate) fn stopped(&mut self) -> Option<String> {
        if self.looked.elapsed() < Duration::from_secs(1) {
            return None;
        }
        self.looked = Instant::now();
        let ticks = self.spent();
        if ticks != self.ticks {
            (self.ticks, self.since) = (ticks, Instant::now());
        }
        if self.since.elapsed() > STILL {
            return Some(format!("it waits forever, in {}", self.places()));
        }
        (ticks > ENDLESS).then(|| format!("no end after {} s of processor time", ticks / 100))
    }

    fn spent(&self) -> u64 {
        let text = fs::read_to_string(format!("/proc/{}/stat", self.process)).unwrap_or_default();
        // The name in parentheses may contain anything; user and system time are the 14th and 15th fields.
        let fields = text.rsplit(')').next().unwrap_or("").split_whitespace().skip(11).take(2);
        fields.filter_map(|field| field.parse::<u64>().ok()).sum()
    }

    /// Returns the kernel functions in which its threads wait.
    fn places(&self) -> String {
        let tasks = fs::read_dir(format!("/proc/{}/task", self.process)).into_iter().flatten();
        let place = |task: fs::DirEntry| {
            let read = |name: &str| fs::read_to_string(task.path().join(name)).unwrap_or_default();
            format!("{}({})", read("wchan").trim(), read("syscall").trim())
        };
        tasks.flatten().map(place).collect::<Vec<_>>().join(", ")
    }
}
