//! Acceptable results of a run with a fault.

use crate::commands::SUMMARY;
use crate::place::{Files, OUT, Place};
use crate::shim::{Ended, Fault, Kind};

/// The output of `db prepare`.
const MANIFEST: &str = "out/o.tsv";

/// The result of an undisturbed run.
#[derive(Debug)]
pub(crate) struct Expected {
    pub(crate) outputs: Files,
    pub(crate) stdout: Vec<u8>,
    /// Whether each sample of a sheet is complete or missing by itself.
    pub(crate) one_by_one: bool,
    /// Whether the complete manifest (`out/o.tsv`) stays after a failure and says which genomes could not be read.
    pub(crate) names_failures: bool,
}

/// The effect of a fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// The run did not need the failed call, and all outputs are complete.
    Survived,
    /// The run failed with an error and left no files.
    Failed,
}

/// Judges a run before which the outputs were `before`.
///
/// # Errors
/// A description of what is wrong.
pub(crate) fn judge(
    ended: &Ended,
    fault: Option<Fault>,
    place: &Place,
    before: &Files,
    expected: &Expected,
) -> Result<Verdict, String> {
    let litter = place.litter();
    if !litter.is_empty() {
        return Err(format!("files left: {}", litter.join(", ")));
    }
    let now = place.outputs();
    match ended.status.ok_or("no end")?.code() {
        Some(0) => {
            if ended.stderr.lines().any(|line| !line.starts_with("warning: ")) {
                return Err("it succeeded with messages on stderr".into());
            }
            let now = without_mark(now, fault);
            if !same(&now, &expected.outputs) || ended.stdout != expected.stdout {
                return Err(format!("it succeeded, but {} differ", difference(&now, expected)));
            }
            Ok(Verdict::Survived)
        }
        Some(1) => {
            // With a sample sheet, each failed sample has a line.
            let most = if expected.one_by_one { 4 } else { 1 };
            let own = || ended.stderr.lines().filter(|line| !is_of_a_library(line));
            let lines = own().filter(|line| line.starts_with("error: ")).count();
            if own().count() != lines || !(1..=most).contains(&lines) {
                return Err("not a single line".into());
            }
            let names_all =
                expected.names_failures && ended.stderr.contains("; out/o.tsv names all: ");
            let left = match names_all {
                true => is_left_beside_manifest(now.clone(), before.clone(), expected),
                false => is_left(&now, before, expected),
            };
            if !left {
                return Err(format!("changed outputs: {}", changes(&now, before)));
            }
            if let Some(fault) = fault {
                names_its_cause(ended, fault, place, expected)?;
            }
            Ok(Verdict::Failed)
        }
        _ => Err("the exit code is neither 0 nor 1".into()),
    }
}

/// Whether the standard library or the C library printed a line before aborting for lack of memory.
fn is_of_a_library(line: &str) -> bool {
    let starts =
        ["memory allocation of ", "note: run with `RUST_BACKTRACE=1`", "Fatal glibc error: "];
    starts.iter().any(|start| line.starts_with(start))
}

/// Whether an output may differ between runs: summaries (`--json`) contain times, and journals stay after a failure.
fn varies(name: &str) -> bool {
    [SUMMARY, "out/journal"].contains(&name) || name.ends_with(".part")
}

/// Returns the outputs of a run that succeeded without the empty mark of a directory that it made. Memory that ends after
/// all outputs are there ends the process at once, and the mark may stay.
fn without_mark(mut now: Files, fault: Option<Fault>) -> Files {
    if fault.is_some_and(|fault| matches!(fault.kind, Kind::Allocation)) {
        now.retain(|name, bytes| !name.ends_with("/.merganser-made") || !bytes.is_empty());
    }
    now
}

fn same(now: &Files, expected: &Files) -> bool {
    now.len() == expected.len()
        && now.iter().all(|(name, bytes)| {
            varies(name) && expected.contains_key(name) || expected.get(name) == Some(bytes)
        })
}

/// Whether no new files were left and existing outputs are unchanged.
fn is_left(now: &Files, before: &Files, expected: &Expected) -> bool {
    if !expected.one_by_one {
        let sure = |files: &Files| {
            files.clone().into_iter().filter(|(name, _)| !name.ends_with(".part")).collect()
        };
        let (now, before): (Files, Files) = (sure(now), sure(before));
        return now == before;
    }
    let whole = |(name, bytes): (&String, &Vec<u8>)| {
        varies(name)
            || before.get(name) == Some(bytes)
            || expected.outputs.get(name) == Some(bytes)
            || names_failed_samples(name, bytes)
    };
    now.iter().all(whole) && before.keys().all(|name| now.contains_key(name))
}

/// Whether a file is a complete page of all samples that names those that failed.
fn names_failed_samples(name: &str, bytes: &[u8]) -> bool {
    let text = String::from_utf8_lossy(bytes);
    name == "out/all.html"
        && text.trim_end().ends_with("</html>")
        && text.contains("This sample failed")
}

/// Like [`is_left`], except that the manifest exists and has as many lines as in the undisturbed run.
fn is_left_beside_manifest(mut now: Files, mut before: Files, expected: &Expected) -> bool {
    let lines = |bytes: &Vec<u8>| bytes.iter().filter(|byte| **byte == b'\n').count();
    before.remove(MANIFEST);
    let is_whole = now.remove(MANIFEST).is_some_and(|manifest| {
        manifest.ends_with(b"\n")
            && expected.outputs.get(MANIFEST).map(lines) == Some(lines(&manifest))
    });
    is_whole && is_left(&now, &before, expected)
}

fn difference(now: &Files, expected: &Expected) -> String {
    let changes = changes(now, &expected.outputs);
    if changes.is_empty() { "the bytes of stdout".into() } else { changes }
}

fn changes(now: &Files, before: &Files) -> String {
    let missing = before.keys().filter(|name| !now.contains_key(*name));
    let missing = missing.map(|name| format!("{name} is missing"));
    let other = now.iter().filter(|(name, bytes)| before.get(*name) != Some(bytes));
    let other = other.map(|(name, bytes)| match before.contains_key(name) {
        true => format!("{name} is another ({} bytes)", bytes.len()),
        false => format!("{name} is there ({} bytes)", bytes.len()),
    });
    missing.chain(other).collect::<Vec<_>>().join(", ")
}

/// Checks that the message names the file of the failed call, if it is one of ours, and the system's reason.
fn names_its_cause(
    ended: &Ended,
    fault: Fault,
    place: &Place,
    expected: &Expected,
) -> Result<(), String> {
    let says = |text: &str| ended.stderr.contains(text);
    let own = place.root().display().to_string();
    let file = ended.record.path.strip_prefix(&own).unwrap_or(&ended.record.path);
    if matches!(fault.kind, Kind::Allocation | Kind::Memory) {
        return if says("memory") { Ok(()) } else { Err("memory is not mentioned".into()) };
    }
    let reason = match fault.error {
        5 => "input/output error",
        11 => "resource temporarily unavailable",
        28 => "no space left on device",
        _ => "",
    };
    if !says(reason) {
        return Err(format!("the message does not contain {reason:?}"));
    }
    let file = file.trim_start_matches('/');
    if fault.kind == Kind::Thread || file.is_empty() || ended.record.path == format!("/{file}") {
        return Ok(());
    }
    let file = file.trim_start_matches("./");
    let temporary = file.contains(".merganser-") || file.starts_with("tmp");
    // Sets of files are named by their common prefix.
    let start = |name: &str, ends: &[char]| {
        let bare = name.strip_prefix(OUT).unwrap_or(name);
        let length = bare.find(ends).unwrap_or(bare.len());
        name[..name.len() - bare.len() + length].to_owned()
    };
    let named = match temporary {
        true => says("tmp") || expected.outputs.keys().any(|name| says(&start(name, &['/']))),
        false => says(file) || says(&start(file, &['/', '.'])),
    };
    if named { Ok(()) } else { Err(format!("the message does not name {file}")) }
}
