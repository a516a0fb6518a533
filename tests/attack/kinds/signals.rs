//! Signals at random moments.

use std::thread::sleep;
use std::time::Duration;

use libc::{
    SIGALRM, SIGCHLD, SIGCONT, SIGHUP, SIGINT, SIGIO, SIGKILL, SIGPIPE, SIGPROF, SIGPWR, SIGQUIT,
    SIGSTKFLT, SIGSTOP, SIGTERM, SIGURG, SIGUSR1, SIGUSR2, SIGVTALRM, SIGWINCH, SIGXCPU, SIGXFSZ,
};

use super::{Attack, Chosen, Done, Result};
use crate::expected::{Digest, Expected};
use crate::judge::{
    Verdict, fault, nothing_left, one_line, orderly, quiet, shown, undisturbed, whole,
};
use crate::launch::Ended;
use crate::scene::Scene;
use crate::world::Scale;

const SIGNALS: [(&str, i32); 28] = [
    ("INT", SIGINT),
    ("INT", SIGINT),
    ("TERM", SIGTERM),
    ("TERM", SIGTERM),
    ("HUP", SIGHUP),
    ("KILL", SIGKILL),
    ("KILL", SIGKILL),
    ("PIPE", SIGPIPE),
    ("STOP", SIGSTOP),
    ("QUIT", SIGQUIT),
    ("QUIT", SIGQUIT),
    ("USR1", SIGUSR1),
    ("USR1", SIGUSR1),
    ("USR2", SIGUSR2),
    ("USR2", SIGUSR2),
    ("XCPU", SIGXCPU),
    ("ALRM", SIGALRM),
    ("VTALRM", SIGVTALRM),
    ("PROF", SIGPROF),
    ("IO", SIGIO),
    ("PWR", SIGPWR),
    ("STKFLT", SIGSTKFLT),
    // Real-time signals, from the first one that the C library leaves to programs.
    ("RTMIN", 34),
    ("RTMAX", 64),
    ("XFSZ", SIGXFSZ),
    ("CHLD", SIGCHLD),
    ("URG", SIGURG),
    ("WINCH", SIGWINCH),
];
/// Signals with which users end runs.
const ORDERLY: [i32; 3] = [SIGINT, SIGTERM, SIGHUP];
/// Signals that may be ignored when a run starts.
const IGNORED: [i32; 9] =
    [SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2, SIGXCPU, SIGALRM, SIGXFSZ];

pub(super) fn act(attack: &mut Attack<'_>) -> Result {
    // Interrupt jobs that resume a journal more often.
    let any = attack.random.below(8) > 0;
    let chosen = attack.choose(Scale::Large, |job| any || job.resumes().is_some());
    let took = chosen.expected(|expected| expected.took);
    let (name, signal) = attack.one_of(&SIGNALS);
    let delay = took.mul_f64(attack.random.below(1200) as f64 / 1000.0);
    let again = (attack.random.below(3) == 0).then(|| attack.random.below(40) as u64);
    let launch = chosen.scene.launch(&attack.resources(chosen.job())).after("ulimit -c 0");
    attack.line = launch.line();
    attack.note(&format!("{name} after {delay:?}, again after {again:?} ms"));
    let running = launch.start();
    sleep(delay);
    running.signal(signal);
    match again {
        _ if signal == SIGSTOP => {
            sleep(Duration::from_millis(again.unwrap_or(100) * 4));
            running.signal(SIGCONT);
        }
        Some(milliseconds) if signal != SIGKILL => {
            sleep(Duration::from_millis(milliseconds));
            running.signal(signal);
        }
        _ => {}
    }
    let ended = running.end();
    chosen.judge(&ended, |scene, expected, ended| match signal {
        SIGKILL => killed(scene, expected, ended),
        _ => stopped(scene, expected, ended, signal),
    })?;
    once_more(attack, &chosen)
}

/// Sends signals that were ignored when the program started: the program keeps ignoring them.
pub(super) fn ignored(attack: &mut Attack<'_>) -> Result {
    let chosen = attack.choose(Scale::Large, |_| true);
    let took = chosen.expected(|expected| expected.took);
    let all = IGNORED.map(|signal| signal.to_string()).join(" ");
    let launch = chosen.scene.launch(&attack.resources(chosen.job()));
    let launch = launch.after(&format!("trap '' {all}"));
    attack.line = launch.line();
    let running = launch.start();
    let mut sent = Vec::new();
    for _ in 0..1 + attack.random.below(3) {
        let delay = took.mul_f64(attack.random.below(500) as f64 / 1000.0);
        sleep(delay);
        let signal = attack.one_of(&IGNORED);
        attack.note(&format!("after {delay:?} signal {signal}"));
        running.signal(signal);
        sent.push(signal);
    }
    let ended = running.end();
    chosen.judge(&ended, |scene, expected, ended| {
        // The signal came before the shell's first command.
        if ended.signal.is_some_and(|signal| sent.contains(&signal)) && ended.stderr.is_empty() {
            return nothing_left(scene);
        }
        orderly(ended)?;
        match ended.code {
            Some(0) => whole(scene, expected, ended),
            _ => fault(format!("exit code {:?}: {}", ended.code, shown(&ended.stderr))),
        }
    })
}

/// Checks a run after a signal that the program handles or that has no effect.
fn stopped(scene: &Scene, expected: &Expected, ended: &Ended, signal: i32) -> Verdict {
    if ended.signal == Some(signal) {
        // The signal came before the run had begun or after it had cleaned up.
        if !ended.stderr.is_empty() {
            one_line(ended)?;
        }
        return nothing_left(scene);
    }
    orderly(ended)?;
    match ended.code {
        Some(0) => whole(scene, expected, ended),
        Some(130) if ORDERLY.contains(&signal) && ended.stderr == "error: interrupted\n" => {
            nothing_left(scene)
        }
        _ => fault(format!("exit code {:?}: {}", ended.code, shown(&ended.stderr))),
    }
}

/// Checks a killed run: each file with the name of an output must be complete.
fn killed(scene: &Scene, expected: &Expected, ended: &Ended) -> Verdict {
    if ended.code == Some(0) {
        return whole(scene, expected, ended);
    }
    undisturbed(scene)?;
    for name in scene.outputs() {
        let is_whole = |of: &Digest| *of == Digest::of(&scene.path(&name));
        let journal = scene.job.keeps_a_journal() && name.ends_with(".part");
        if !is_hidden(&name) && !journal && !expected.files.get(&name).is_some_and(is_whole) {
            return fault(format!("killed, and left {name:?}"));
        }
    }
    Ok(())
}

fn is_hidden(name: &str) -> bool {
    name.contains("/.merganser-")
}

/// Runs the job again, which must succeed whatever the killed run has left.
fn once_more(attack: &mut Attack<'_>, chosen: &Chosen<'_>) -> Result {
    let ended = chosen.scene.launch(&[]).run();
    attack.note("once more");
    chosen.judge(&ended, |scene, expected, ended| {
        orderly(ended)?;
        if ended.code != Some(0) {
            return fault(format!("exit code {:?}: {}", ended.code, shown(&ended.stderr)));
        }
        quiet(ended)?;
        undisturbed(scene)?;
        let names: Vec<String> =
            scene.outputs().into_iter().filter(|name| !is_hidden(name)).collect();
        let same = |name: &String| {
            expected.files.get(name).is_some_and(|of| *of == Digest::of(&scene.path(name)))
        };
        match names.len() == expected.files.len() && names.iter().all(same) {
            true => Ok(()),
            false => fault(format!("a second run has the outputs {names:?}")),
        }
    })?;
    Ok(Done::Made)
}
