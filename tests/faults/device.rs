//! Failing calls of the CUDA runtime, in a build with emulated devices.

use std::fs;
use std::path::Path;

use crate::commands::Line;
use crate::judge::{Expected, Verdict, judge};
use crate::place::Place;
use crate::shim::{Ended, Slot};
use crate::sweep::{Extent, Share, Tally};
use merganser_test_support::commands::ROWS;
use merganser_test_support::reads::Random;

/// Returns lines that use devices; each has the same result as on the CPU.
pub(crate) fn lines() -> Vec<Line> {
    let rows = ROWS.iter().filter(|row| row.is_run_with_faults_of_devices());
    let more = [
        "count -k 55 --min-count 1 -o out/o.mgk 1.fq --device cuda:0,0 --gpu-memory 50M --storage disk",
        "classify refs.mgdb -1 1.fq -2 2.fq -o - --device cuda:0,0",
    ];
    let more = more.into_iter().map(|line| Line::of(line.to_owned()));
    rows.map(|row| Line::new(row, " --device cuda:0")).chain(more).collect()
}

/// Injected errors: one unrelated to memory, out of memory, and one that all later calls return, too, like after a
/// failed kernel.
const FAULTS: [&str; 3] = ["999", "2", "700:on"];

/// Whether this build has emulated devices.
pub(crate) fn emulated(slot: &Slot, place: &Path) -> bool {
    let ended = slot.run(&["devices"], place, None, &[]).unwrap();
    let emulated = String::from_utf8_lossy(&ended.stdout).contains("emulated GPU");
    if !emulated {
        assert!(std::env::var_os("MERGANSER_REQUIRE_GPU").is_none(), "no emulated GPU");
        eprintln!("skipped: needs a build with emulated GPUs");
    }
    emulated
}

/// Runs a command with a share of the possible failures of runtime calls.
pub(crate) fn sweep(slot: &Slot, place: &Place, line: &Line, share: Share) -> Tally {
    let mut tally = Tally::default();
    let start = place.outputs();
    let on_cpu = Line::of(line.text.split(" --device").next().unwrap().to_owned());
    let ended = slot.run(&on_cpu.arguments(1), place.root(), None, &[]).unwrap();
    assert!(ended.status.is_some_and(|status| status.success()), "{on_cpu:?}: {}", ended.stderr);
    let expected = Expected {
        outputs: place.outputs(),
        stdout: ended.stdout,
        one_by_one: false,
        names_failures: false,
    };
    for &threads in share.threads(&line.text) {
        let args = line.arguments(threads);
        let mut run = |fault: Option<String>| {
            place.set_outputs(&start);
            let (ended, calls) = run(slot, place, &args, fault.as_deref());
            let judged = judge(&ended, None, place, &start, &expected);
            match judged {
                Ok(Verdict::Survived) => tally.survived += 1,
                Ok(Verdict::Failed) if fault.is_some() => tally.failed += 1,
                Ok(Verdict::Failed) => tally.note(format!("{args:?}: {}", ended.stderr)),
                Err(wrong) => {
                    let (args, said) = (args.join(" "), ended.stderr.trim_end());
                    tally.note(format!("{args}: {fault:?}: {wrong}\n    {said}"));
                }
            }
            calls
        };
        let calls = run(None).unwrap_or(0);
        assert!(calls > 0, "{}: used no device", line.text);
        for number in share.take(numbers(calls, share.extent)) {
            FAULTS.iter().for_each(|fault| {
                run(Some(format!("{number}:{fault}")));
            });
        }
    }
    place.set_outputs(&start);
    tally
}

/// Runs the command with a fault; returns its end and the number of calls up to the fault, or in total.
fn run(slot: &Slot, place: &Place, args: &[String], fault: Option<&str>) -> (Ended, Option<u64>) {
    let calls = slot.beside("calls");
    let _ = fs::remove_file(&calls);
    let mut variables = vec![("MERGANSER_EMULATED_CALLS", calls.display().to_string())];
    variables.extend(fault.map(|fault| ("MERGANSER_EMULATED_FAULT", fault.to_owned())));
    let ended = slot.run(args, place.root(), None, &variables).unwrap();
    let calls = fs::read_to_string(calls).ok().and_then(|text| text.parse().ok());
    (ended, calls)
}

fn numbers(calls: u64, extent: Extent) -> Vec<u64> {
    if extent != Extent::Sample {
        return (1..=calls + 1).collect();
    }
    let mut random = Random(calls);
    (0..6).map(|_| 1 + random.next() % calls).collect()
}
