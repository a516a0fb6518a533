//! Damages inputs of all formats.

pub(super) mod bytes;
pub(super) mod packed;

use super::{Attack, Chosen, Result};
use crate::expected::Expected;
use crate::judge::{Verdict, fault, orderly, quiet, refused, shown, whole, within};
use crate::launch::Ended;
use crate::scene::Scene;
use crate::world::Scale;

/// Memory of commands without `--memory`, in bytes.
const AMPLE: u64 = 600 << 20;
/// Suffixes of formats whose checksums cover all relevant content.
const CHECKED: [&str; 11] =
    [".mgk", ".mgq", ".mgdb", ".mgi", ".mgd", ".gz", ".bz2", ".xz", ".zst", ".bam", ".partial"];
/// Files that name other files, to which the message then refers, and files whose mistakes show elsewhere.
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
    // Also damage the content of compressed files, behind the checksums.
    let unpacked = match attack.random.below(3) {
        0 => packed::unpack(&name, &sound),
        _ => None,
    };
    // The length of a compressed file decides which records a shard has.
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
            // The lines of a session are commands, which may now name any output.
            _ if name == "session" => Ok(()),
            // With damaged lines in the journal, samples are done again.
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

/// Checks that the version in a file with wrong checksums is not reported.
fn versionless(ended: &Ended) -> Verdict {
    let claims = ["newer merganser", "another version of merganser", "version of merganser that"];
    match claims.iter().any(|claim| ended.stderr.contains(claim)) {
        true => {
            fault(format!("the version of a damaged file is reported: {}", shown(&ended.stderr)))
        }
        false => Ok(()),
    }
}

/// Returns random options for resources and the memory in bytes that they allow.
pub(super) fn resources(attack: &mut Attack<'_>, chosen: &Chosen<'_>) -> (Vec<&'static str>, u64) {
    let mut options = attack.resources(chosen.job());
    if !chosen.job().takes_memory() {
        return (options, AMPLE);
    }
    let budget = attack.one_of(&["100M", "200M", "500M"]);
    options.extend(["--memory", budget]);
    (options, super::memory::bytes(budget))
}

/// Checks a run whose damaged input is still valid: it has the expected outputs, with any content.
fn well(scene: &Scene, expected: &Expected, ended: &Ended) -> Verdict {
    quiet(ended)?;
    let names = scene.outputs();
    // Outputs are named after samples.
    let has_samples = scene.job.has_samples() || scene.job.line.contains("--demultiplex");
    if has_samples || names.iter().eq(expected.files.keys()) {
        return Ok(());
    }
    fault(format!("exit code 0, but the outputs are {names:?}"))
}

/// Checks that the message names the file, or the folder or table that it belongs to.
pub(super) fn named(scene: &Scene, name: &str, ended: &Ended) -> Verdict {
    let base = name.rsplit('/').next().unwrap_or(name);
    let folder = name.split('/').next().unwrap_or(name);
    let stem = base.trim_start_matches('.').split('.').next().unwrap_or(base);
    let says = |part: &str| ended.stderr.contains(part);
    // A lack of memory is reported first.
    let is_said = [base, folder].into_iter().any(says)
        || says(&format!(" {stem}"))
        || (says("memory") && says(" gives "))
        || (scene.job.stdin() == Some(name) && says("stdin"));
    // An inconsistency between ranges does not show which one was changed.
    let is_range = name.ends_with(".mgq") && says(".mgq: ");
    match is_said || is_range || INDIRECT.contains(&name) {
        true => Ok(()),
        false => fault(format!("{name} is not named: {}", shown(&ended.stderr))),
    }
}
