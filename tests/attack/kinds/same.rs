//! Outputs that are also inputs or other outputs, by any path.

use std::ffi::OsString;
use std::fs::{self, File};
use std::os::unix::fs::symlink;
use std::process::Stdio;

use super::{Attack, Result};
use crate::judge::{fault, nothing_left, orderly, refused, shown};
use crate::scene::ODD;
use crate::world::Scale;

pub(super) fn act(attack: &mut Attack<'_>) -> Result {
    let chosen = attack.choose(Scale::Small, |job| !job.outputs().is_empty());
    let (job, scene) = (chosen.job(), &chosen.scene);
    let outputs = job.outputs();
    let output = attack.one_of(&outputs);
    let inputs: Vec<&str> = scene.inputs().collect();
    let input = attack.one_of(&inputs);
    let other = outputs.iter().find(|&&other| other != output);
    let odd = |name: &str| format!("{ODD}/{name}");
    fs::create_dir(scene.path(ODD)).unwrap();
    let mut stdin = None;
    let path = match attack.random.below(9) {
        0 => input.to_owned(),
        1 => {
            fs::hard_link(scene.path(input), scene.path(odd("hard"))).unwrap();
            odd("hard")
        }
        2 => {
            symlink(scene.path(input), scene.path(odd("soft"))).unwrap();
            odd("soft")
        }
        3 => {
            symlink(scene.path(""), scene.path(odd("folder"))).unwrap();
            format!("{ODD}/folder/{input}")
        }
        4 => format!("out/../{input}"),
        5 => format!("/proc/self/cwd/./{input}"),
        6 => scene.path(input).display().to_string(),
        7 if job.stdin().is_none() => {
            stdin = Some(Stdio::from(File::open(scene.path(input)).unwrap()));
            attack.one_of(&["/proc/self/fd/0", "/dev/stdin", "/dev/fd/0"]).to_owned()
        }
        _ => other.map_or(format!("./{input}"), |other| format!("out/.././{other}")),
    };
    let replaced = |arg: OsString| if arg == output { path.clone().into() } else { arg };
    let mut launch = scene.launch_with(job.args().into_iter().map(replaced).collect());
    launch.stdin = stdin.or(launch.stdin);
    let ended = attack.run(launch);
    attack.note(&format!("{path} is {input}"));
    // A database may be replaced by its extended version.
    if job.line.starts_with("db add") && input.ends_with(".mgdb") && ended.code == Some(0) {
        return chosen.judge(&ended, |_, _, ended| orderly(ended));
    }
    chosen.judge(&ended, |scene, _, ended| {
        orderly(ended)?;
        // A usage error: the name's suffix is wrong for this output.
        if ended.code == Some(2) {
            return nothing_left(scene);
        }
        refused(scene, ended)?;
        let why = ["is an input", "two outputs cannot", "stdin is not open for writing"];
        match why.iter().any(|why| ended.stderr.contains(why)) {
            true => Ok(()),
            false => fault(format!("refused for another reason: {}", shown(&ended.stderr))),
        }
    })
}
