//! Whether a process still does something: on a busy machine the clock alone does not tell.

use std::fs;
use std::time::{Duration, Instant};

/// Without a tick of processor time for so long it waits for something that does not come.
const STILL: Duration = Duration::from_secs(150);
/// In hundredths of a second: no attack has work for so long, not on 2 cores of a test build.
const ENDLESS: u64 = 30_000;

/// The processor time of a process, watched.
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

    /// Why it should be ended, if it should; looks once a second.
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
            return Some(format!("it waits for ever, in {}", self.places()));
        }
        (ticks > ENDLESS).then(|| format!("it works for ever, {} s already", ticks / 100))
    }

    fn spent(&self) -> u64 {
        let text = fs::read_to_string(format!("/proc/{}/stat", self.process)).unwrap_or_default();
        // Behind the name, which may hold anything: user and system time are the 14th and 15th fields.
        let fields = text.rsplit(')').next().unwrap_or("").split_whitespace().skip(11).take(2);
        fields.filter_map(|field| field.parse::<u64>().ok()).sum()
    }

    /// Where in the system its threads are.
    fn places(&self) -> String {
        let tasks = fs::read_dir(format!("/proc/{}/task", self.process)).into_iter().flatten();
        let place = |task: fs::DirEntry| {
            let read = |name: &str| fs::read_to_string(task.path().join(name)).unwrap_or_default();
            format!("{}({})", read("wchan").trim(), read("syscall").trim())
        };
        tasks.flatten().map(place).collect::<Vec<_>>().join(", ")
    }
}
