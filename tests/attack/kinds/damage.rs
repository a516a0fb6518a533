//! Damaged files of all formats that are read.

pub(super) mod bytes;
pub(super) mod packed;

use super::{Attack, Chosen, Result};
use crate::expected::Expected;
use crate::judge::{Verdict, fault, orderly, quiet, refused, shown, whole, within};
use crate::launch::Ended;
use crate::scene::Scene;
use crate::world::Scale;

/// What commands have that take no `--memory`.
const AMPLE: u64 = 600 << 20;
/// Kinds of files with checksums of all that matters.
const CHECKED: [&str; 11] =
    [".mgk", ".mgq", ".mgdb", ".mgi", ".mgd", ".gz", ".bz2", ".xz", ".zst", ".bam", ".partial"];
/// Files that name other files, of which the message is then, or whose mistakes show elsewhere.
const INDIRECT: [&str; 11] = [
    "list",
    "first",
    "pairs",
    "genomes",
    "sheet.tsv",
    "library.tsv",
    "session",
    "list.txt",
    "sums",
    "ids",
    "g0.fa.fai",
];

pub(super) fn act(attack: &mut Attack<'_>) -> Result {
    let mut chosen = attack.choose(Scale::Small, |_| true);
    let names: Vec<String> = chosen.scene.inputs().map(str::to_owned).collect();
    let name = names[attack.random.below(names.len())].clone();
    let sound = chosen.scene.read(&name);
    // Below the checksums of compressed files, too.
    let unpacked = match attack.random.below(3) {
        0 => packed::unpack(&name, &sound),
        _ => None,
    };
    // Which records a shard has depends on how long files are.
    let is_cut = name.ends_with(".gz") && chosen.job().line.contains("--shard");
    let is_checked = unpacked.is_none() && !is_cut && CHECKED.iter().any(|end| name.ends_with(end));
    let (mut whats, inner) = (Vec::new(), unpacked.is_some());
    let mut bytes = unpacked.unwrap_or_else(|| sound.clone());
    for _ in 0..1 + attack.random.below(3) * attack.random.below(2) {
        whats.push(bytes::damage(&mut bytes, &mut attack.random));
    }
    if inner {
        bytes = packed::pack(&name, &bytes);
    }
    chosen.scene.replace(&name, &bytes);
    let (options, memory) = resources(attack, &chosen);
    let ended = attack.run(chosen.scene.launch(&options));
    attack.note(&format!("{name}{}: {}", if inner { " (within)" } else { "" }, whats.join("; ")));
    chosen.judge(&ended, |scene, expected, ended| {
        orderly(ended)?;
        within(ended, memory)?;
        match ended.code {
            // Its lines are commands, which may name any output now.
            _ if name == "session" => Ok(()),
            // A journal of damaged lines has samples done again.
            Some(0) if is_checked || bytes == sound || scene.job.resumes() == Some(&name) => {
                whole(scene, expected, ended)
            }
            Some(0) => well(scene, expected, ended),
            _ => {
                refused(scene, ended)?;
                if is_checked {
                    versionless(ended)?;
                }
                named(scene, &name, ended)
            }
        }
    })
}

/// Of a file whose checksums are wrong no version is believed.
fn versionless(ended: &Ended) -> Verdict {
    let claims = ["newer merganser", "another version of merganser", "version of merganser that"];
    match claims.iter().any(|claim| ended.stderr.contains(claim)) {
        true => {
            fault(format!("the version of a damaged file is believed: {}", shown(&ended.stderr)))
        }
        false => Ok(()),
    }
}

/// Options, and the memory that they allow.
pub(super) fn resources(attack: &mut Attack<'_>, chosen: &Chosen<'_>) -> (Vec<&'static str>, u64) {
    let mut options = attack.resources(chosen.job());
    if !chosen.job().takes_memory() {
        return (options, AMPLE);
    }
    let budget = attack.one_of(&["100M", "200M", "500M"]);
    options.extend(["--memory", budget]);
    (options, super::memory::bytes(budget))
}

/// Damage that is a file of another meaning: the same outputs, of other bytes.
fn well(scene: &Scene, expected: &Expected, ended: &Ended) -> Verdict {
    quiet(ended)?;
    let names = scene.outputs();
    if scene.job.has_samples() || names.iter().eq(expected.files.keys()) {
        return Ok(());
    }
    fault(format!("exit code 0, and these outputs: {names:?}"))
}

/// The message has the name of the file, or of the folder or table that it belongs to.
pub(super) fn named(scene: &Scene, name: &str, ended: &Ended) -> Verdict {
    let base = name.rsplit('/').next().unwrap_or(name);
    let folder = name.split('/').next().unwrap_or(name);
    let stem = base.trim_start_matches('.').split('.').next().unwrap_or(base);
    let says = |part: &str| ended.stderr.contains(part);
    // Too little memory is seen first.
    let is_said = [base, folder].into_iter().any(says)
        || says(&format!(" {stem}"))
        || (says("memory") && says(" gives "))
        || (scene.job.stdin() == Some(name) && says("stdin"));
    // Of all ranges together it is not seen which one was changed.
    let is_range = name.ends_with(".mgq") && says(".mgq: ");
    match is_said || is_range || INDIRECT.contains(&name) {
        true => Ok(()),
        false => fault(format!("{name} is not named: {}", shown(&ended.stderr))),
    }
}
