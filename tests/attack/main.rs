//! Attacks the built program through the table of command lines: signals at random moments, full disks, limits of the
//! process, closed streams and pipes, damaged and forged files, hostile names, endless records, repeats, other users'
//! files and little memory. Whatever happens, a run must either succeed with the bytes of an undisturbed one, or fail
//! with a one-line error and leave no files.
//!
//! Each attack is determined by a number, its seed. (The moment of a signal also depends on the machine.)
//!
//! ```sh
//! cargo test -p merganser --test attack                                   # the short form: seeds from 1
//! MERGANSER_ATTACK_SECONDS=7200 cargo test --release -p merganser --test attack -- --nocapture
//! MERGANSER_ATTACK_SEED=4711 cargo test -p merganser --test attack -- --nocapture   # only this seed
//! ```
//!
//! With both variables, a long run begins at the seed. `MERGANSER_ATTACK_KIND=damage` selects one kind of attack,
//! and `MERGANSER_ATTACK_OF=TEXT` the commands that contain TEXT (a kind that none of them can have attacks the others).
//! `MERGANSER_ATTACK_DEVICE=cuda` attacks jobs on GPUs (`--device`), in a build with real or emulated ones. Findings
//! are printed with seed and command line; the run goes on and fails at its end.
//! `MERGANSER_ATTACK_OUTPUTS=FOLDER` does not attack: it stores the outputs of all command lines, to compare two
//! builds.
#![allow(
    clippy::unwrap_used,
    clippy::print_stderr,
    reason = "tests panic on failure and print what they skip and do"
)]

mod expected;
mod judge;
mod kinds;
mod launch;
mod plan;
mod pulse;
mod scene;
mod table;
mod wait;
mod world;

#[test]
fn no_attack_succeeds() {
    match std::env::var_os("MERGANSER_ATTACK_OUTPUTS") {
        Some(folder) => expected::Ground::new().keep_outputs(folder.as_ref()),
        None => plan::Plan::from_environment().carry_out(),
    }
}
