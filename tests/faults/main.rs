//! Failing system calls: every command either fails with a one-line error and leaves no files, or succeeds with all
//! its outputs.
//!
//! By default, a sample of the calls fails. With `MERGANSER_FAULTS=most`, every call of every command fails once,
//! except most of the allocator's, which takes half an hour; with `MERGANSER_FAULTS=all`, every call, which takes
//! hours. `MERGANSER_FAULTS_OF=TEXT` selects the commands that contain a text. Files are in memory (`/dev/shm`) if
//! it has room and `TMPDIR` is not set, because waiting for a disk would take most of the time.
#![allow(
    clippy::unwrap_used,
    clippy::print_stderr,
    reason = "tests panic on failure and print what they skip"
)]

mod commands;
mod device;
mod judge;
mod place;
mod shim;
mod sweep;

use std::path::Path;
use std::process::Command;
use std::sync::Mutex;
use std::thread;

use commands::Line;
use merganser_test_support::Dir;
use place::Place;
use shim::{Shim, Slot};
use sweep::{Extent, Share, Tally};

/// A function that runs a command with a share of its faults.
type Sweep = fn(&Slot, &Place, &Line, Share) -> Tally;

/// Creates the directories of tests in memory from now on, if there is a GB of room.
fn work_in_memory() {
    let memory = Path::new("/dev/shm");
    let df = Command::new("df").args(["--output=avail", "-B1M"]).arg(memory).output();
    let text = df.map(|df| String::from_utf8_lossy(&df.stdout).into_owned()).unwrap_or_default();
    let room = text.split_whitespace().last().and_then(|room| room.parse().ok()).unwrap_or(0);
    if room >= 1024 && std::env::var_os("TMPDIR").is_none() {
        // The other test may have set it already.
        let _ = tempfile::env::override_temp_dir(memory);
    }
}

/// Runs the commands on all cores, each worker in its own directory.
fn sweep_all(shim: &Shim, prepared: &Dir, lines: &[Line], sweep: Sweep) {
    let extent = match std::env::var("MERGANSER_FAULTS").as_deref() {
        Ok("all") => Extent::All,
        Ok("most") => Extent::Most,
        _ => Extent::Sample,
    };
    let of = std::env::var("MERGANSER_FAULTS_OF").unwrap_or_default();
    let workers = thread::available_parallelism().unwrap().get();
    let shares = Share::all(extent, workers);
    let chosen = lines.iter().filter(|line| line.text.contains(&of));
    let all = chosen.flat_map(|line| shares.clone().map(move |share| (line, share)));
    let queue = Mutex::new(all);
    let work = |worker: usize| {
        let (slot, place) = (shim.slot(&worker.to_string()), Place::copy_of(prepared.root()));
        let mut tally = Tally::default();
        loop {
            let next = queue.lock().unwrap().next();
            let Some((line, share)) = next else { return tally };
            tally.add(sweep(&slot, &place, line, share));
        }
    };
    let mut tally = Tally::default();
    thread::scope(|scope| {
        let work = &work;
        let workers: Vec<_> = (0..workers).map(|at| scope.spawn(move || work(at))).collect();
        workers.into_iter().for_each(|worker| tally.add(worker.join().unwrap()));
    });
    eprintln!("{tally}");
    assert_eq!(tally.wrong, 0, "runs went wrong, as listed above");
}

#[test]
fn calls_that_fail() {
    let Some(shim) = Shim::build() else { return };
    work_in_memory();
    sweep_all(&shim, &commands::prepared(), &commands::lines(), sweep::sweep);
}

#[test]
fn calls_of_devices_that_fail() {
    let Some(shim) = Shim::build() else { return };
    work_in_memory();
    let prepared = commands::prepared();
    if device::emulated(&shim.slot("devices"), prepared.root()) {
        sweep_all(&shim, &prepared, &device::lines(), device::sweep);
    }
}
