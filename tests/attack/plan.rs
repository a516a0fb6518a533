//! Number, order and duration of attacks.

use std::any::Any;
use std::collections::BTreeMap;
use std::env;
use std::fmt::Write;
use std::panic::{self, AssertUnwindSafe};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use merganser_run::{Cancel, Numbers, each};

use crate::expected::Ground;
use crate::kinds::{Attack, Done, KINDS};

/// Duration of the short form, including preparation.
const SHORT: Duration = Duration::from_secs(30);
/// Maximum number of attacks in the short form, so that it is the same on fast and slow machines.
const SHORT_ATTACKS: u64 = 750;
/// Number of concurrent attacks, which are mostly waiting.
const WORKERS: usize = 2;

pub(crate) struct Plan {
    first: u64,
    /// Whether only one seed is run.
    alone: bool,
    time: Duration,
    attacks: u64,
    kind: Option<String>,
}

#[derive(Default)]
struct Tally {
    /// Number of attacks by kind.
    made: BTreeMap<&'static str, u64>,
    /// Number of attacks that are impossible on this machine, by kind and reason.
    skipped: BTreeMap<String, u64>,
    findings: Vec<String>,
}

impl Plan {
    pub(crate) fn from_environment() -> Plan {
        let number = |name: &str| {
            env::var(name).ok().map(|text| text.parse::<u64>().unwrap_or_else(|_| panic!("{name}")))
        };
        let (seed, seconds) = (number("MERGANSER_ATTACK_SEED"), number("MERGANSER_ATTACK_SECONDS"));
        Plan {
            first: seed.unwrap_or(1),
            alone: seed.is_some() && seconds.is_none(),
            time: seconds.map_or(SHORT, Duration::from_secs),
            attacks: seconds.map_or(SHORT_ATTACKS, |_| u64::MAX),
            kind: env::var("MERGANSER_ATTACK_KIND").ok(),
        }
    }

    /// Runs the attacks.
    ///
    /// # Panics
    /// If one succeeds.
    pub(crate) fn carry_out(&self) {
        let (begun, ground) = (Instant::now(), Ground::new());
        let tally = Mutex::new(Tally::default());
        let seeds = self.first as usize..usize::MAX;
        let work = |seeds: &mut Numbers<'_>| {
            for seed in seeds.map(|seed| seed as u64) {
                let over = match self.alone {
                    true => seed > self.first,
                    false => seed - self.first >= self.attacks || begun.elapsed() > self.time,
                };
                if over {
                    break;
                }
                self.attack(&ground, seed, &tally);
            }
            Ok::<_, Box<dyn std::error::Error + Send + Sync>>(())
        };
        each(WORKERS, seeds, &Cancel::default(), work).unwrap();
        let tally = tally.into_inner().unwrap();
        eprintln!("{}", tally.text(begun.elapsed()));
        let findings = &tally.findings;
        assert!(findings.is_empty(), "{} findings:\n{}", findings.len(), findings.join("\n"));
    }

    fn attack(&self, ground: &Ground, seed: u64, tally: &Mutex<Tally>) {
        let (name, act) = KINDS[(seed % KINDS.len() as u64) as usize];
        if self.kind.as_ref().is_some_and(|kind| kind != name) && !self.alone {
            return;
        }
        let mut attack = Attack::new(ground, seed);
        let result = panic::catch_unwind(AssertUnwindSafe(|| act(&mut attack)));
        let result = result.unwrap_or_else(|panic| Err(format!("the test: {}", text_of(&*panic))));
        let mut tally = tally.lock().unwrap();
        match result {
            Ok(Done::Made) => *tally.made.entry(name).or_default() += 1,
            Ok(Done::Skipped(why)) => {
                *tally.skipped.entry(format!("{name}: {why}")).or_default() += 1;
            }
            Err(finding) => {
                *tally.made.entry(name).or_default() += 1;
                let text = format!("seed {seed} ({name}): {}\n    {finding}", attack.line);
                eprintln!("FOUND {text}");
                tally.findings.push(text);
            }
        }
    }
}

impl Tally {
    fn text(&self, took: Duration) -> String {
        let mut text = format!("attacks in {} s:", took.as_secs());
        for (kind, number) in &self.made {
            write!(text, " {number} {kind},").unwrap();
        }
        write!(text, " {} in all", self.made.values().sum::<u64>()).unwrap();
        for (what, number) in &self.skipped {
            write!(text, "\nskipped: {number} of {what}").unwrap();
        }
        text
    }
}

fn text_of(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("a panic").to_owned()
}
