//! Full disks: file systems in memory with random sizes, for outputs and for temporary files.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::{Attack, Done, Result};
use crate::judge::{fault, shown, whole_or_refused};
use crate::world::Scale;

/// A mounted file system, unmounted when dropped.
struct Mounted(PathBuf);

impl Mounted {
    fn new(path: &Path, bytes: u64) -> Option<Mounted> {
        let size = format!("size={bytes}");
        let made = Command::new("mount")
            .args(["-t", "tmpfs", "-o", &size, "merganser-attack"])
            .arg(path)
            .stderr(Stdio::null())
            .status();
        made.is_ok_and(|status| status.success()).then(|| Mounted(path.to_owned()))
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(&self.0).status();
    }
}

pub(super) fn act(attack: &mut Attack<'_>) -> Result {
    let of_temporaries = attack.random.below(2) == 0;
    let scale = attack.one_of(&[Scale::Small, Scale::Large]);
    let chosen = attack.choose(scale, |job| !of_temporaries || job.takes_tmp_dir());
    let most = chosen.expected(|expected| {
        let bytes = expected.files.values().map(|file| file.length).sum::<u64>();
        bytes * 5 / 4 + (1 << 16)
    });
    let mut options = attack.resources(chosen.job());
    // With little memory, more is written to disk.
    if chosen.job().takes_memory() && of_temporaries {
        options.extend(["--memory", attack.one_of(&["60M", "80M", "120M"])]);
    }
    let mut mounted = Vec::new();
    let mut sizes = Vec::new();
    for folder in ["out", "tmp"] {
        if (folder == "tmp") == of_temporaries || attack.random.below(4) == 0 {
            let bytes = match attack.random.below(2) {
                0 => 4096 + attack.up_to(most * 2),
                _ => 4096 + attack.random.next() % most,
            };
            let path = chosen.scene.path(folder);
            let Some(mount) = Mounted::new(&path, bytes) else {
                return Ok(Done::Skipped("this user may not mount file systems".into()));
            };
            mounted.push(mount);
            sizes.push(format!("{folder}/ has {bytes} bytes"));
        }
    }
    let ended = attack.run(chosen.scene.launch(&options));
    attack.note(&sizes.join(", "));
    chosen.judge(&ended, |scene, expected, ended| {
        whole_or_refused(scene, expected, ended)?;
        let says = |part: &str| ended.stderr.contains(part);
        match ended.code == Some(0) || ["out", "tmp", "memory"].iter().any(|part| says(part)) {
            true => Ok(()),
            false => fault(format!("the message names no file: {}", shown(&ended.stderr))),
        }
    })
}
