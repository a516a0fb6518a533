//! Outputs whose names belong to other users or are write-protected.

use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};

use super::limits::{AS_ANYBODY, anybody_may_run};
use super::{Attack, Done, Result};
use crate::judge::{fault, orderly, refused, shown};
use crate::launch::Launch;
use crate::scene::ODD;
use crate::world::Scale;

/// Numbers of a user and a group that do not exist.
const SOMEBODY: (u32, u32) = (1234, 2345);

const OLD: &[u8] = b"what was there before";

pub(super) fn act(attack: &mut Attack<'_>) -> Result {
    let chosen =
        attack.choose(Scale::Small, |job| !job.outputs().is_empty() && job.stdin().is_none());
    let (job, scene) = (chosen.job(), &chosen.scene);
    if job.keeps_a_journal() {
        return Ok(Done::Skipped("an existing manifest is continued".into()));
    }
    let output = attack.one_of(&job.outputs());
    let name = format!("{ODD}/{}", &output[4..]);
    fs::create_dir(scene.path(ODD)).unwrap();
    fs::write(scene.path(&name), OLD).unwrap();
    if chown(scene.path(&name), Some(SOMEBODY.0), Some(SOMEBODY.1)).is_err()
        || !anybody_may_run(scene)
    {
        return Ok(Done::Skipped("cannot run the program as another user".into()));
    }
    let modes = |name: &str, mode| {
        fs::set_permissions(scene.path(name), Permissions::from_mode(mode)).unwrap();
    };
    let replaced = |arg| if arg == output { name.clone().into() } else { arg };
    let launch = scene.launch_with(job.args().into_iter().map(replaced).collect());
    let as_anybody = |mut launch: Launch| {
        launch.wrapper = AS_ANYBODY.into_iter().map(Into::into).collect();
        launch
    };
    let (launch, mode) = match attack.random.below(4) {
        // Run by root.
        0 => (launch, 0o640),
        1 => (launch, 0o444),
        2 => {
            modes(ODD, 0o1777);
            (as_anybody(launch), 0o666)
        }
        _ => {
            modes(ODD, 0o777);
            (as_anybody(launch), 0o444)
        }
    };
    modes(&name, mode);
    let by_root = launch.wrapper.is_empty();
    let ended = attack.run(launch);
    attack.note(&format!("{name} has mode {mode:o}"));
    chosen.judge(&ended, |scene, _, ended| {
        orderly(ended)?;
        let at = fs::metadata(scene.path(&name)).unwrap();
        let is = (at.uid(), at.gid(), at.mode() & 0o7777);
        if is != (SOMEBODY.0, SOMEBODY.1, mode) {
            return fault(format!("owner, group and mode became {is:?}"));
        }
        if by_root && ended.code == Some(0) {
            return Ok(());
        }
        let left = fs::read_dir(scene.path(ODD)).unwrap().count();
        if left != 1 || scene.read(&name) != OLD {
            return fault(format!("{left} files, or a wrong one: {}", shown(&ended.stderr)));
        }
        refused(scene, ended)
    })
}
