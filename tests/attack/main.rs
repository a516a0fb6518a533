//! A machine that attacks the built program, over the table of its command lines: signals at any moment, full
//! disks, limits of the process, streams and pipes that close, damaged and forged files, hostile names, records without an
//! end, repeats, other users' files and little memory. Whatever is done to it, a run ends well with the bytes of an
//! undisturbed one, or says in a line what was wrong and leaves nothing behind.
//!
//! Each attack comes of a number, its seed, and of nothing else (but for the moment of a signal, which the
//! machine decides, too):
//!
//! ```sh
//! cargo test -p merganser --test attack                                   # the short form: seeds from 1
//! MERGANSER_ATTACK_SECONDS=7200 cargo test --release -p merganser --test attack -- --nocapture
//! MERGANSER_ATTACK_SEED=4711 cargo test -p merganser --test attack -- --nocapture   # this one alone
//! ```
//!
//! `MERGANSER_ATTACK_DEVICE=cuda` attacks what computes on GPUs (`--device`), in a build that has them, emulated ones, too.
//! With both variables a long run begins at the seed; `MERGANSER_ATTACK_KIND=damage` keeps to one kind of
//! attacks. What is found is printed with its seed and command line; the run goes on, and fails at its end.
//! `MERGANSER_ATTACK_OUTPUTS=FOLDER` attacks nothing: it keeps the outputs of all command lines, to compare two builds.
#![allow(
    clippy::unwrap_used,
    clippy::print_stderr,
    reason = "a test ends by panicking, and says what it skips and what it did"
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
