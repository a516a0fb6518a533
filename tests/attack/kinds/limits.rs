//! Limits of the process (`ulimit`).

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::{Command, Stdio};

use super::{Attack, Done, Result};
use crate::judge::whole_or_refused;
use crate::scene::Scene;
use crate::world::Scale;
use merganser_test_support::MERGANSER;
use merganser_test_support::tools::by_chance;

pub(super) fn act(attack: &mut Attack<'_>) -> Result {
    let scale = attack.one_of(&[Scale::Small, Scale::Small, Scale::Large]);
    let chosen = attack.choose(scale, |_| true);
    let options = attack.resources(chosen.job());
    let launch = chosen.scene.launch(&options);
    let launch = match attack.random.below(8) {
        0..3 => {
            let limit = format!("ulimit -v {}", 40_000 + attack.up_to(1_500_000));
            if !can_be_loaded(&limit) {
                return Ok(Done::Skipped("the program cannot be loaded within the limit".into()));
            }
            launch.after(&limit)
        }
        3..5 => launch.after(&format!("ulimit -n {}", 4 + attack.random.below(20))),
        5 => launch.after(&format!("ulimit -s {}", 64 + attack.up_to(448))),
        6 => {
            let bytes = chosen.expected(|expected| {
                expected.files.values().map(|file| file.length).max().unwrap_or(1000)
            });
            // stdout and stderr go to files, too, and need room for messages.
            launch.after(&format!("ulimit -f {}", 2 + attack.up_to(bytes / 400)))
        }
        _ => {
            if !anybody_may_run(&chosen.scene) {
                return Ok(Done::Skipped("cannot run the program as another user".into()));
            }
            let processes = 1 + attack.random.below(6);
            let mut launch = launch;
            let inner = format!("ulimit -u {processes}; exec \"$0\" \"$@\"");
            let shell = ["bash", "-c", &inner];
            launch.wrapper = AS_ANYBODY.into_iter().chain(shell).map(Into::into).collect();
            launch
        }
    };
    let ended = attack.run(launch);
    chosen.judge(&ended, whole_or_refused)
}

/// Whether the program starts under a limit, which depends on its size and thus on the build.
fn can_be_loaded(limit: &str) -> bool {
    let line = format!("{limit} && exec \"$0\" --version");
    let mut command = Command::new("sh");
    command.args(["-c", &line, &MERGANSER]).stdout(Stdio::null()).stderr(Stdio::null());
    // 127 is the shell's exit code if the loader fails.
    command.status().is_ok_and(|status| status.code().is_some_and(|code| code != 127))
}

/// Starts a program as a user without privileges.
pub(super) const AS_ANYBODY: [&str; 4] =
    ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"];

/// Makes the scene accessible to all users; returns whether the program can run as another user.
pub(super) fn anybody_may_run(scene: &Scene) -> bool {
    if !by_chance("setpriv") || !by_chance("bash") {
        return false;
    }
    let open = || fs::Permissions::from_mode(0o777);
    let root = scene.path("");
    let root = root.parent().unwrap();
    for folder in [root.to_owned(), scene.path(""), scene.path("out"), scene.path("tmp")] {
        fs::set_permissions(folder, open()).unwrap();
    }
    let status = Command::new(AS_ANYBODY[0])
        .args(&AS_ANYBODY[1..])
        .args([&*MERGANSER, "--version"])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    status.is_ok_and(|status| status.success())
}
