//! Outputs to streams that the shell has opened, under each of their names.

use std::fs;
use std::os::unix::fs::symlink;

use super::{Attack, Result};
use crate::expected::Digest;
use crate::judge::{fault, nothing_left, orderly, refused, shown, undisturbed};
use crate::scene::ODD;
use crate::world::Scale;

/// Content of the stream's file before the run.
const KEEP: &[u8] = b"KEEP\n";

/// Redirections, and names of the stream that they open.
const STREAMS: [(&str, &str); 10] = [
    ("3>>odd/log", "/dev/fd/3"),
    ("3>>odd/log", "/proc/self/fd/3"),
    ("9>>odd/log", "/proc/self/fd/../fd/9"),
    ("3<>odd/log; cat <&3 >odd/read", "/dev/fd/3"),
    (">>odd/log", "/dev/stdout"),
    (">>odd/log", "/dev/fd/1"),
    (">>odd/log", "/proc/self/fd/1"),
    (">>odd/log", "/proc/thread-self/fd/1"),
    ("2>>odd/log", "/dev/stderr"),
    ("2>>odd/log", "/proc/self/fd/2"),
];

/// Checks that output is appended to the existing content, or nothing is written.
pub(super) fn act(attack: &mut Attack<'_>) -> Result {
    let chosen = attack.choose(Scale::Small, |job| !job.outputs().is_empty());
    let (job, scene) = (chosen.job(), &chosen.scene);
    let output = attack.one_of(&job.outputs());
    let (redirection, name) = attack.one_of(&STREAMS);
    let on_stdout = redirection.starts_with(">>");
    let (stdout, of) =
        chosen.expected(|expected| (expected.stdout.length, expected.files[output].clone()));
    fs::create_dir(scene.path(ODD)).unwrap();
    fs::write(scene.path("odd/log"), KEEP).unwrap();
    // The suffix of the link decides the format.
    let link = format!("{ODD}/{}", &output[4..]);
    symlink(name, scene.path(&link)).unwrap();
    let replaced = |arg| if arg == output { link.clone().into() } else { arg };
    let launch = scene.launch_with(job.args().into_iter().map(replaced).collect());
    let ended = attack.run(launch.after(&format!("exec {redirection}")));
    attack.note(&format!("{link} is {name}"));
    let log = scene.read("odd/log");
    let Some(written) = log.strip_prefix(KEEP) else {
        return fault("the content of the stream's file is lost");
    };
    let is_link = fs::symlink_metadata(scene.path(&link)).is_ok_and(|at| at.is_symlink());
    chosen.judge(&ended, |scene, _, ended| {
        orderly(ended)?;
        if !is_link || fs::metadata(scene.path("odd/log")).is_err() {
            return fault("the link or the file was replaced");
        }
        match ended.code {
            Some(0) if on_stdout && stdout > 0 => undisturbed(scene),
            Some(0) => {
                fs::write(scene.path("odd/written"), written).unwrap();
                match Digest::of(&scene.path("odd/written")) == of {
                    true => undisturbed(scene),
                    false => fault(format!("other bytes: {} of {}", written.len(), of.length)),
                }
            }
            Some(2) => nothing_left(scene),
            // The error message is in the file.
            Some(1) if redirection.starts_with("2>>") => match written.starts_with(b"error: ") {
                true => nothing_left(scene),
                false => fault("no error, or other bytes before it"),
            },
            Some(1) if !written.is_empty() => {
                fault(format!("an error after {} bytes: {}", written.len(), shown(&ended.stderr)))
            }
            _ => refused(scene, ended),
        }
    })
}
