//! Signals at any moment.

use std::thread::sleep;
use std::time::Duration;

use libc::{SIGCONT, SIGHUP, SIGINT, SIGKILL, SIGPIPE, SIGSTOP, SIGTERM};

use super::{Attack, Chosen, Done, Result};
use crate::expected::{Digest, Expected};
use crate::judge::{Verdict, fault, nothing_left, orderly, quiet, shown, undisturbed, whole};
use crate::launch::Ended;
use crate::scene::Scene;
use crate::world::Scale;

const SIGNALS: [(&str, i32); 9] = [
    ("INT", SIGINT),
    ("INT", SIGINT),
    ("TERM", SIGTERM),
    ("TERM", SIGTERM),
    ("HUP", SIGHUP),
    ("KILL", SIGKILL),
    ("KILL", SIGKILL),
    ("PIPE", SIGPIPE),
    ("STOP", SIGSTOP),
];

pub(super) fn act(attack: &mut Attack<'_>) -> Result {
    let chosen = attack.choose(Scale::Large, |_| true);
    let took = chosen.expected(|expected| expected.took);
    let (name, signal) = attack.one_of(&SIGNALS);
    let delay = took.mul_f64(attack.random.below(1200) as f64 / 1000.0);
    let again = (attack.random.below(3) == 0).then(|| attack.random.below(40) as u64);
    let launch = chosen.scene.launch(&attack.resources(chosen.job()));
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

/// After a signal that the program takes note of, or does not mind.
fn stopped(scene: &Scene, expected: &Expected, ended: &Ended, signal: i32) -> Verdict {
    // So early that it had begun nothing.
    if ended.signal == Some(signal) {
        return nothing_left(scene);
    }
    orderly(ended)?;
    match ended.code {
        Some(0) => whole(scene, expected, ended),
        Some(130) if ended.stderr == "error: interrupted\n" => nothing_left(scene),
        _ => fault(format!("exit code {:?}: {}", ended.code, shown(&ended.stderr))),
    }
}

/// Nothing that looks like an output and is none.
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

/// The next run goes well, whatever this one has left.
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
            false => fault(format!("after that other outputs: {names:?}")),
        }
    })?;
    Ok(Done::Made)
}
