//! Missing folders for temporary files, which several runs share.

use std::process::Stdio;
use std::thread;
use std::time::Duration;

use super::{Attack, Result};
use crate::judge::{fault, orderly, quiet, same_files, undisturbed};
use crate::table::Job;
use crate::world::Scale;

/// Checks that the last run removes the folders that were created.
pub(super) fn act(attack: &mut Attack<'_>) -> Result {
    // Runs cannot share a journal.
    let is_alone = |job: &Job| job.stdin().is_some() || job.line.contains("--resume");
    let chosen = attack.choose(Scale::Small, |job| job.takes_tmp_dir() && !is_alone(job));
    let folder = attack.one_of(&["tmp/a", "tmp/a/b", "./tmp/a/../c/"]);
    let mut options = vec!["--tmp-dir", folder];
    if chosen.job().takes_memory() && attack.random.below(2) == 0 {
        options.extend(["--memory", attack.one_of(&["60M", "80M", "120M"])]);
    }
    // A run cannot resolve `..` in a folder that another run has removed.
    let others = if folder.contains("..") { 0 } else { attack.random.below(3) };
    let others: Vec<_> = (0..others)
        .map(|_| {
            let mut other = chosen.scene.launch(&options);
            (other.stdout, other.stderr) = (Some(Stdio::null()), Some(Stdio::null()));
            let other = other.start();
            thread::sleep(Duration::from_millis(attack.random.below(60) as u64));
            other
        })
        .collect();
    let ended = attack.run(chosen.scene.launch(&options));
    attack.note(&format!("{} more runs", others.len()));
    let codes: Vec<_> = others.into_iter().map(|other| other.end().code).collect();
    chosen.judge(&ended, |scene, expected, ended| {
        orderly(ended)?;
        if ended.code == Some(1) && ended.stderr.contains("--memory") {
            return match scene.outputs().iter().find(|name| name.starts_with("tmp/")) {
                Some(left) => fault(format!("left behind: {left}")),
                None => undisturbed(scene),
            };
        }
        if ended.code != Some(0) || codes.iter().any(|code| *code != Some(0)) {
            return fault(format!("exit codes {:?} and {codes:?}: {}", ended.code, ended.stderr));
        }
        same_files(scene, expected)?;
        undisturbed(scene)?;
        quiet(ended)
    })
}
