//! Runs a command once for each of its faults.

use std::fmt;

use crate::commands::Line;
use crate::judge::{Expected, Verdict, judge};
use crate::place::{Files, OUT, Place};
use crate::shim::{Ended, Fault, KINDS, Kind, Mode, Slot};
use merganser_test_support::reads::Random;

const EINTR: i32 = 4;
const EIO: i32 = 5;
const EAGAIN: i32 = 11;
const ENOMEM: i32 = 12;
const ENOSPC: i32 = 28;
/// Bytes that a call in mode `Less` transfers.
const LESS: i32 = 61;

/// The number of faults of each kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Extent {
    /// A few of each kind, chosen by a fixed seed.
    Sample,
    /// One for each call. Of the allocator's calls and those that extend the heap, of which there may be a hundred
    /// thousand, the first [`FIRST`] and then one in [`STEP`].
    Most,
    /// One for each call.
    All,
}

/// One worker's faults of a command: one of several equal shares, numbered from 0.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Share {
    pub(crate) extent: Extent,
    at: usize,
    of: usize,
}

impl Share {
    /// Returns the shares of `workers` workers. A sample has few faults and is not divided.
    pub(crate) fn all(extent: Extent, workers: usize) -> impl Iterator<Item = Share> + Clone {
        let of = if extent == Extent::Sample { 1 } else { workers };
        (0..of).map(move |at| Share { extent, at, of })
    }

    /// Returns the numbers of threads that a command runs with; only one number, by command, for a sample.
    pub(crate) fn threads(self, command: &str) -> &'static [u32] {
        match self.extent {
            Extent::Sample if command.len().is_multiple_of(2) => &[1],
            Extent::Sample => &[2],
            Extent::Most | Extent::All => &[1, 2],
        }
    }

    /// Returns the calls that belong to this share.
    pub(crate) fn take(self, numbers: Vec<u64>) -> impl Iterator<Item = u64> {
        numbers.into_iter().skip(self.at).step_by(self.of)
    }
}

/// Number of calls at the start that all fail, one at a time, with [`Extent::Most`].
const FIRST: u64 = 256;
/// Step between the failing calls after the first ones.
const STEP: usize = 16;

/// Results of all faults.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    pub(crate) survived: u64,
    pub(crate) failed: u64,
    /// The number of faults by kind.
    pub(crate) faults: [u64; KINDS.len()],
    pub(crate) wrong: u64,
}

impl Tally {
    /// Counts a wrong run and prints it immediately, because all runs may take long.
    pub(crate) fn note(&mut self, wrong: String) {
        eprintln!("{wrong}");
        self.wrong += 1;
    }

    pub(crate) fn add(&mut self, other: Tally) {
        self.survived += other.survived;
        self.failed += other.failed;
        for (sum, number) in self.faults.iter_mut().zip(other.faults) {
            *sum += number;
        }
        self.wrong += other.wrong;
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Tally { survived, failed, faults, .. } = self;
        write!(formatter, "{failed} runs failed, {survived} succeeded; faults:")?;
        let kinds = KINDS.iter().zip(faults).filter(|(_, number)| **number > 0);
        kinds.into_iter().try_for_each(|(kind, number)| write!(formatter, " {kind:?} {number}"))
    }
}

/// A command in its directory.
struct Subject<'s> {
    slot: &'s Slot,
    place: &'s Place,
    args: Vec<String>,
    /// Outputs that exist before a run: none, or older ones with the same names.
    befores: Vec<Files>,
    expected: Expected,
    share: Share,
    tally: Tally,
}

/// Runs a command with a share of its faults.
pub(crate) fn sweep(slot: &Slot, place: &Place, line: &Line, share: Share) -> Tally {
    let mut tally = Tally::default();
    let all = share.threads(&line.text);
    for &threads in all {
        let args: Vec<String> = line.arguments(threads);
        if threads > all[0] && !args.contains(&"--threads".into()) {
            break;
        }
        let start = place.outputs();
        match Subject::new(slot, place, args, start.clone(), share) {
            Ok((mut subject, calls)) => {
                if share.extent != Extent::Sample && share.at == 0 {
                    let all: u64 = calls.iter().sum();
                    eprintln!("{all} calls: {}", subject.args.join(" "));
                }
                subject.all(calls);
                tally.add(subject.tally);
            }
            Err(wrong) => tally.note(wrong),
        }
        place.set_outputs(&start);
    }
    tally
}

impl<'s> Subject<'s> {
    /// Runs the command undisturbed, twice, and counts its calls.
    fn new(
        slot: &'s Slot,
        place: &'s Place,
        args: Vec<String>,
        start: Files,
        share: Share,
    ) -> Result<(Subject<'s>, [u64; KINDS.len()]), String> {
        let ended = slot.run(&args, place.root(), None, &[]).unwrap();
        if ended.status.is_none_or(|status| !status.success()) {
            return Err(format!("{}: undisturbed: {}", args.join(" "), ended.stderr));
        }
        let one_by_one = args.iter().any(|arg| arg == "--sample-sheet");
        let names_failures = args[..2] == ["db", "prepare"];
        let (outputs, stdout) = (place.outputs(), ended.stdout);
        let expected = Expected { outputs, stdout, one_by_one, names_failures };
        let made = expected.outputs.keys().filter(|name| !start.contains_key(*name));
        let old = made.map(|name| (name.clone(), b"old".to_vec()));
        let mut befores = vec![start.clone()];
        // Some commands continue an earlier run.
        let goes_on = args.iter().any(|arg| arg == "--resume" || arg == "prepare");
        if !goes_on && !expected.outputs.keys().any(|name| name[OUT.len()..].contains('/')) {
            befores.push(start.clone().into_iter().chain(old).collect());
        }
        let calls = ended.record.calls;
        let tally = Tally::default();
        let mut subject = Subject { slot, place, args, befores, expected, share, tally };
        for before in 0..subject.befores.len() {
            subject.run(None, before);
        }
        Ok((subject, calls))
    }

    fn all(&mut self, calls: [u64; KINDS.len()]) {
        for kind in KINDS {
            let calls = calls[kind as usize];
            for number in self.share.take(numbers(kind, calls, self.share.extent)) {
                self.fail(Fault { kind, number, error: error_of(kind), mode: Mode::Once });
            }
            self.further(kind, calls);
        }
    }

    /// Injects faults that persist, and interruptions and short transfers, which a correct program survives.
    fn further(&mut self, kind: Kind, calls: u64) {
        if calls == 0 {
            return;
        }
        let fault = |number, error, mode| Fault { kind, number, error, mode };
        if matches!(kind, Kind::Read | Kind::Write) {
            self.run(Some(fault(1, LESS, Mode::Less)), 0);
        }
        let numbers = match self.share.extent {
            extent @ (Extent::Most | Extent::All) => numbers(kind, calls, extent),
            Extent::Sample => vec![1 + Random(calls).next() % calls],
        };
        for number in self.share.take(numbers) {
            if matches!(kind, Kind::Open | Kind::Create | Kind::Read | Kind::Write) {
                self.run(Some(fault(number, EINTR, Mode::Once)), 0);
            }
            if matches!(kind, Kind::Write | Kind::Memory | Kind::Thread) {
                self.run(Some(fault(number, error_of(kind), Mode::FromThenOn)), 0);
            }
        }
    }

    /// Injects a fault in a run without existing outputs, and for some kinds also in one that replaces outputs.
    fn fail(&mut self, fault: Fault) {
        let both = matches!(fault.kind, Kind::Rename | Kind::Sync | Kind::Create);
        for before in 0..self.befores.len() {
            if both || before as u64 == fault.number % self.befores.len() as u64 {
                self.run(Some(fault), before);
            }
        }
    }

    fn run(&mut self, fault: Option<Fault>, before: usize) {
        let before = &self.befores[before];
        self.place.set_outputs(before);
        let ended = self.slot.run(&self.args, self.place.root(), fault, &[]).unwrap();
        if fault.is_some() && ended.record.struck == 0 {
            // With several threads, a run sometimes makes fewer calls.
            return;
        }
        let judged = judge(&ended, fault, self.place, before, &self.expected);
        let harmless = fault.is_none_or(|fault| fault.error == EINTR || fault.mode == Mode::Less);
        let judged = match judged {
            Ok(Verdict::Failed) if harmless => Err("an unexpected failure".into()),
            judged => judged,
        };
        match judged {
            Ok(Verdict::Survived) => self.tally.survived += 1,
            Ok(Verdict::Failed) => self.tally.failed += 1,
            Err(wrong) => {
                let text = self.describe(&wrong, fault, &ended);
                self.tally.note(text);
            }
        }
        if let Some(fault) = fault {
            self.tally.faults[fault.kind as usize] += 1;
        }
    }

    fn describe(&self, wrong: &str, fault: Option<Fault>, ended: &Ended) -> String {
        let what = fault.map_or("undisturbed".into(), |fault| {
            let Fault { kind, number, error, mode } = fault;
            let file = &ended.record.path;
            format!(
                "{kind:?} {number} ({error}, {mode:?}) {file}, {}:{number}:{error}:{}",
                kind as i32, mode as i32
            )
        });
        let status = ended.status.map_or("killed".into(), |status| status.to_string());
        format!(
            "{}: {what}: {status}: {wrong}\n    {}",
            self.args.join(" "),
            ended.stderr.trim_end()
        )
    }
}

fn error_of(kind: Kind) -> i32 {
    match kind {
        Kind::Create | Kind::Write | Kind::Rename | Kind::Resize => ENOSPC,
        Kind::Memory | Kind::Allocation => ENOMEM,
        Kind::Thread => EAGAIN,
        _ => EIO,
    }
}

/// Returns the numbers of the calls that fail, one at a time, of `calls` calls.
fn numbers(kind: Kind, calls: u64, extent: Extent) -> Vec<u64> {
    let most = match kind {
        Kind::Sync | Kind::Rename => 3,
        Kind::Write | Kind::Create | Kind::Thread | Kind::Allocation => 2,
        _ => 1,
    };
    // With several threads, there may be more calls than were counted; the last ones belong to the end of the run.
    if extent == Extent::Most && matches!(kind, Kind::Allocation | Kind::Memory) {
        let rest = (FIRST + 1..=calls + 1).step_by(STEP);
        return (1..=FIRST.min(calls + 1)).chain(rest).collect();
    }
    if extent != Extent::Sample || calls <= most {
        return (1..=calls + 1).collect();
    }
    let mut random = Random(calls << 8 | kind as u64);
    (0..most).map(|_| 1 + random.next() % calls).collect()
}
