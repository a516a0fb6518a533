//! Forged files in our own formats: changed content with correct checksums.

mod binary;
mod json;
mod shards;

use super::damage::{self, bytes};
use super::{Attack, Result};
use crate::judge::{Verdict, fault, orderly, quiet, refused, shown, undisturbed, within};
use crate::launch::Ended;
use crate::scene::Scene;
use crate::table::Job;
use crate::world::Scale;
use merganser_test_support::mend;
use merganser_test_support::reads::Random;

/// One of our own formats with checksums.
#[derive(Clone, Copy)]
enum Format {
    /// Numbers at fixed positions: the bytes of the header, and a function that corrects the checksums.
    Binary(usize, fn(&mut [u8])),
    /// A JSON header followed by other content, and a function that corrects the checksums.
    Json(fn(&mut [u8])),
    /// A shard of `map`.
    Shard,
    /// A sample sheet: names of samples and their files.
    Sheet,
}

/// The formats by suffix.
const FORMATS: [(&str, Format); 9] = [
    (".mgk", Format::Binary(128, mend::table)),
    (".mgdb", Format::Binary(160, mend::database)),
    (".mgi", Format::Binary(mend::INDEX_HEADER, mend::index)),
    (".mgd", Format::Binary(mend::SET_BLOCKS, mend::minimizers)),
    (".partial", Format::Binary(400, mend::whole)),
    (".mgq", Format::Json(mend::whole)),
    (".mgx", Format::Json(mend::matrix)),
    (".bam", Format::Shard),
    ("sheet.tsv", Format::Sheet),
];

/// Returns the format of an input of a job, if it is one of our own.
fn format(job: &Job, name: &str) -> Option<Format> {
    let found = FORMATS.iter().find(|(end, _)| name.ends_with(end)).map(|(_, format)| *format);
    // Other BAM files have no mark with a digest.
    let is_own =
        |format: &Format| !matches!(format, Format::Shard) || job.line.starts_with("map join ");
    found.filter(|format| !name.starts_with("out/") && is_own(format))
}

pub(super) fn act(attack: &mut Attack<'_>) -> Result {
    // Formats are equally frequent; some are inputs of only one job.
    let reads = |job: &Job, end: &str| {
        job.words().any(|word| word.ends_with(end) && format(job, word).is_some())
    };
    let ends = FORMATS.iter().map(|(end, _)| *end);
    let ends: Vec<&str> =
        ends.filter(|end| !super::candidates(|job| reads(job, end)).is_empty()).collect();
    let end = attack.one_of(&ends);
    let mut chosen = attack.choose(Scale::Small, |job| reads(job, end));
    let job = chosen.job();
    let names: Vec<String> = chosen.scene.inputs().map(str::to_owned).collect();
    let is_own = |name: &&String| name.ends_with(end) && format(job, name).is_some();
    let own: Vec<&String> = names.iter().filter(is_own).collect();
    let name = own[attack.random.below(own.len())];
    let mut forged = chosen.scene.read(name);
    let done = format(job, name).map(|format| forge(&mut forged, format, &mut attack.random));
    let (what, is_seen) = done.unwrap_or_default();
    chosen.scene.replace(name, &forged);
    let (options, memory) = damage::resources(attack, &chosen);
    let ended = attack.run(chosen.scene.launch(&options));
    attack.note(&format!("{name}: {what}"));
    chosen.judge(&ended, |scene, _, ended| {
        orderly(ended)?;
        within(ended, memory)?;
        match ended.code {
            Some(0) if is_seen => fault("exit code 0, but the records do not match the mark"),
            Some(0) => harmless(scene, ended),
            _ => {
                refused(scene, ended)?;
                damage::named(scene, name, ended)
            }
        }
    })
}

/// Changes a file; returns a description and whether a checksum reveals the change.
fn forge(bytes: &mut Vec<u8>, format: Format, random: &mut Random) -> (String, bool) {
    if let Format::Shard = format {
        return shards::change(bytes, random);
    }
    let mut whats = Vec::new();
    for _ in 0..1 + random.below(3) * random.below(2) {
        whats.push(match format {
            Format::Binary(header, _) => binary::change(bytes, header, random),
            Format::Json(_) => json::change(bytes, random),
            Format::Sheet | Format::Shard => sample(bytes, random),
        });
        if let Format::Binary(_, mend) | Format::Json(mend) = format {
            mend(bytes);
        }
    }
    (whats.join("; "), false)
}

/// Renames a sample.
fn sample(sheet: &mut Vec<u8>, random: &mut Random) -> String {
    let name = json::NAMES[random.below(json::NAMES.len())];
    let mut lines: Vec<&[u8]> = sheet.split_inclusive(|&byte| byte == b'\n').collect();
    let at = random.below(lines.len());
    let cells = lines[at].iter().position(|&byte| byte == b'\t').unwrap_or(0);
    let line = [format!("\"{name}\"").as_bytes(), &lines[at][cells..]].concat();
    lines[at] = &line;
    *sheet = lines.concat();
    format!("line {}: {name:?}", at + 1)
}

/// Checks that outputs are in their places and have no control characters.
fn harmless(scene: &Scene, ended: &Ended) -> Verdict {
    undisturbed(scene)?;
    quiet(ended)?;
    let outputs = scene.outputs();
    if let Some(name) = outputs.iter().find(|name| !name.starts_with("out/")) {
        return fault(format!("exit code 0, and {name:?} is left"));
    }
    let paths = outputs.iter().map(|name| scene.path(name)).chain([ended.stdout.clone()]);
    for path in paths {
        let text = std::fs::read(&path).unwrap();
        // Binary files may contain any byte.
        let is_odd = |letter: char| letter.is_control() && !"\t\n\r".contains(letter);
        if let Ok(text) = std::str::from_utf8(&text)
            && let Some(line) = text.lines().find(|line| line.contains(is_odd))
        {
            return fault(format!("{} has control characters: {}", path.display(), shown(line)));
        }
    }
    match ended.stderr.contains(|letter: char| letter.is_control() && letter != '\n') {
        true => fault(format!("control characters on stderr: {}", shown(&ended.stderr))),
        false => Ok(()),
    }
}
