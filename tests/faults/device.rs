//! Calls of the CUDA runtime that fail, in a build whose devices are emulated.

use std::fs;
use std::path::Path;

use crate::judge::{Expected, Verdict, judge};
use crate::place::Place;
use crate::shim::{Ended, Slot};
use crate::sweep::{Extent, Share, Tally, arguments};
use merganser_test_support::reads::Random;

/// Runs that use devices; each gives the bytes that it gives without.
pub(crate) const COMMANDS: [&str; 11] = [
    "count -k 21 --min-count 1 -o o.mgk --histogram oh 1.fq --device cuda:0",
    "count -k 55 --min-count 1 -o o.mgk 1.fq --device cuda:0,0 --gpu-memory 50M --storage disk",
    "filter -e 5 pairs.tsv -o o.tsv --device cuda:0",
    "build --taxonomy tax -o o.mgdb g0.fa g1.fa --device cuda:0",
    "classify refs.mgdb 1.fq -o o.tsv --report or --device cuda:0",
    "classify refs.mgdb -1 1.fq -2 2.fq -o - --device cuda:0,0",
    "classify k2 1.fq -o o.tsv --report or --device cuda:0",
    "index g0.fa -o o.mgi --device cuda:0",
    "map -e 5 ref.mgi 1.fq -o o.sam --device cuda:0",
    "map -e 5 ref.mgi -1 1.fq -2 2.fq -o o.bam --sort --device cuda:0",
    "kmers filter-reads t.mgk 1.fq -o o.fq --device cuda:0",
];

/// What calls give instead: an error that is none of memory, no memory, and an error that all calls
/// give from then on, as after a kernel that went wrong.
const FAULTS: [&str; 3] = ["999", "2", "700:on"];

/// Whether this build has devices, and they are emulated.
pub(crate) fn emulated(slot: &Slot, place: &Path) -> bool {
    let ended = slot.run(&["devices"], place, None, &[]).unwrap();
    let emulated = String::from_utf8_lossy(&ended.stdout).contains("emulated GPU");
    if !emulated {
        assert!(std::env::var_os("MERGANSER_REQUIRE_GPU").is_none(), "no emulated GPU");
        eprintln!("skipped: needs a build with emulated GPUs");
    }
    emulated
}

/// Runs a command with a share of the calls of the runtime that fail.
pub(crate) fn sweep(slot: &Slot, place: &Place, command: &str, share: Share) -> Tally {
    let mut tally = Tally::default();
    let start = place.outputs();
    let on_cpu = command.split(" --device").next().unwrap();
    let ended = slot.run(&arguments(on_cpu, 1), place.root(), None, &[]).unwrap();
    assert!(ended.status.is_some_and(|status| status.success()), "{on_cpu}: {}", ended.stderr);
    let expected = Expected {
        outputs: place.outputs(),
        stdout: ended.stdout,
        one_by_one: false,
        names_failures: false,
    };
    for &threads in share.threads(command) {
        let args = arguments(command, threads);
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
        assert!(calls > 0, "{command}: no device was used");
        for number in share.take(numbers(calls, share.extent)) {
            FAULTS.iter().for_each(|fault| {
                run(Some(format!("{number}:{fault}")));
            });
        }
    }
    place.set_outputs(&start);
    tally
}

/// Runs it with a fault; and the calls that were made when it struck, or in all.
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
