//! Calls of the system that fail: every command ends with an error of one line and leaves nothing,
//! or can do without, and then gives all its bytes.
//!
//! Instead of a sample, `MERGANSER_FAULTS=most` has every call of every command fail, but for most of the
//! allocator's, which takes half an hour; `MERGANSER_FAULTS=all` every call, which takes hours.
//! `MERGANSER_FAULTS_OF=TEXT` chooses commands that contain a text. With `TMPDIR` in memory (`/dev/shm`) nobody waits
//! for a disk, which takes most of the time else.
#![allow(
    clippy::unwrap_used,
    clippy::print_stderr,
    reason = "a test ends by panicking, and says what it skips"
)]

mod commands;
mod device;
mod judge;
mod place;
mod shim;
mod support;
mod sweep;

use std::sync::Mutex;
use std::thread;

use place::Place;
use shim::{Shim, Slot};
use support::Dir;
use sweep::{Extent, Tally};

/// Runs a command with all its faults.
type Sweep = fn(&Slot, &Place, &str, Extent) -> Tally;

/// Runs the commands on all cores, each in its own place.
fn sweep_all(shim: &Shim, prepared: &Dir, commands: &[&str], sweep: Sweep) {
    let extent = match std::env::var("MERGANSER_FAULTS").as_deref() {
        Ok("all") => Extent::All,
        Ok("most") => Extent::Most,
        _ => Extent::Sample,
    };
    let of = std::env::var("MERGANSER_FAULTS_OF").unwrap_or_default();
    let queue = Mutex::new(commands.iter().filter(|command| command.contains(&of)));
    let work = |worker: usize| {
        let (slot, place) = (shim.slot(&worker.to_string()), Place::copy_of(prepared.root()));
        let mut tally = Tally::default();
        loop {
            let next = queue.lock().unwrap().next();
            let Some(command) = next else { return tally };
            tally.add(sweep(&slot, &place, command, extent));
        }
    };
    let workers = thread::available_parallelism().unwrap().get();
    let mut tally = Tally::default();
    thread::scope(|scope| {
        let work = &work;
        let workers: Vec<_> = (0..workers).map(|at| scope.spawn(move || work(at))).collect();
        workers.into_iter().for_each(|worker| tally.add(worker.join().unwrap()));
    });
    eprintln!("{tally}");
    assert_eq!(tally.wrong, 0, "runs that went wrong, as said above");
}

#[test]
fn calls_that_fail() {
    let Some(shim) = Shim::build() else { return };
    sweep_all(&shim, &commands::prepared(), &commands::COMMANDS, sweep::sweep);
}

#[test]
fn calls_of_devices_that_fail() {
    let Some(shim) = Shim::build() else { return };
    let prepared = commands::prepared();
    if device::emulated(&shim.slot("devices"), prepared.root()) {
        sweep_all(&shim, &prepared, &device::COMMANDS, device::sweep);
    }
}
