//! How a run may end.

use crate::expected::{Digest, Expected};
use crate::launch::Ended;
use crate::scene::Scene;
use crate::table::device;

/// What was wrong, in words.
pub(crate) type Verdict = Result<(), String>;

pub(crate) fn fault<T>(text: impl Into<String>) -> Result<T, String> {
    Err(text.into())
}

/// Nothing excuses these.
pub(crate) fn orderly(ended: &Ended) -> Verdict {
    if let Some(why) = &ended.hung {
        return fault(why.as_str());
    }
    if ended.code == Some(101) || ended.stderr.contains("panicked") {
        return fault(format!("a panic: {}", shown(&ended.stderr)));
    }
    match ended.signal {
        Some(signal) => fault(format!("it died of signal {signal}: {}", shown(&ended.stderr))),
        None => Ok(()),
    }
}

/// Success: all outputs, with the bytes of an undisturbed run, and nothing else.
pub(crate) fn whole(scene: &Scene, expected: &Expected, ended: &Ended) -> Verdict {
    same_files(scene, expected)?;
    if Digest::of(&ended.stdout) != expected.stdout {
        return fault("exit code 0, and other bytes on stdout");
    }
    undisturbed(scene)?;
    quiet(ended)
}

/// As `whole`, whatever is on stdout.
pub(crate) fn same_files(scene: &Scene, expected: &Expected) -> Verdict {
    let names = scene.outputs();
    if !names.iter().eq(expected.files.keys()) {
        return fault(format!("exit code {:?}, and these outputs: {names:?}", 0));
    }
    match names.iter().find(|name| Digest::of(&scene.path(name)) != expected.files[*name]) {
        Some(name) => fault(format!("exit code 0, and other bytes in {name}")),
        None => Ok(()),
    }
}

/// Success of a job that says names of files: these make no lines, fields or markup.
pub(crate) fn same_shape(scene: &Scene, expected: &Expected, ended: &Ended) -> Verdict {
    quiet(ended)?;
    if !Digest::of(&ended.stdout).has_the_shape_of(&expected.stdout) {
        return fault("a name makes other lines or fields on stdout");
    }
    let outputs = scene.outputs();
    if outputs.len() != expected.files.len() {
        return fault(format!("exit code 0, and these outputs: {outputs:?}"));
    }
    // Others are named after inputs.
    for (name, of) in expected.files.iter().filter(|(name, _)| outputs.contains(name)) {
        let path = scene.path(name);
        if !Digest::of(&path).has_the_shape_of(of) {
            return fault(format!("a name makes other lines or fields in {name}"));
        }
        if name.ends_with("_mqc.json") && std::fs::read(&path).unwrap().contains(&b'<') {
            return fault(format!("{name} has <"));
        }
    }
    Ok(())
}

/// A run without faults says nothing of one.
pub(crate) fn quiet(ended: &Ended) -> Verdict {
    match ended.stderr.contains("error") {
        true => fault(format!("exit code 0, and it says: {}", shown(&ended.stderr))),
        false => Ok(()),
    }
}

pub(crate) fn undisturbed(scene: &Scene) -> Verdict {
    scene.disturbed().map_or(Ok(()), fault)
}

/// An error of one line, and nothing left.
pub(crate) fn refused(scene: &Scene, ended: &Ended) -> Verdict {
    if ended.code != Some(1) {
        return fault(format!("exit code {:?}: {}", ended.code, shown(&ended.stderr)));
    }
    // Its list is what says which ones are to be got again.
    if scene.job.keeps_a_journal() && ended.stderr.contains(" genomes are damaged, first ") {
        one_line(ended)?;
        return undisturbed(scene);
    }
    // A line for each sample.
    let is_error = |line: &str| line.starts_with("error: ");
    if !(scene.job.has_samples() && ended.stderr.lines().all(is_error)) {
        one_line(ended)?;
    }
    nothing_left(scene)
}

pub(crate) fn one_line(ended: &Ended) -> Verdict {
    let said = ended.stderr.strip_suffix('\n').unwrap_or("");
    let odd = |letter: char| letter.is_control() && letter != '\t';
    if !said.starts_with("error: ") || said.len() < 10 || said.contains(odd) {
        return fault(format!("no single line of error: {}", shown(&ended.stderr)));
    }
    match said.chars().count() > 2000 {
        true => fault(format!("an endless line of error: {}", shown(said))),
        false => Ok(()),
    }
}

/// Nor may inputs be other ones. Of samples those that were done stay.
pub(crate) fn nothing_left(scene: &Scene) -> Verdict {
    undisturbed(scene)?;
    let mut left = scene.outputs();
    if scene.job.keeps_a_journal() {
        left.retain(|name| !name.ends_with(".part"));
    }
    if scene.job.has_samples() {
        left.retain(|name| name.contains("/."));
    }
    match left.is_empty() {
        true => Ok(()),
        false => fault(format!("left behind: {left:?}")),
    }
}

/// Either of the two.
pub(crate) fn whole_or_refused(scene: &Scene, expected: &Expected, ended: &Ended) -> Verdict {
    orderly(ended)?;
    match ended.code {
        Some(0) => whole(scene, expected, ended),
        _ => refused(scene, ended),
    }
}

/// Memory in bytes within a tenth of what was allowed. A device's driver takes its own, which is not ours to bound.
pub(crate) fn within(ended: &Ended, memory: u64) -> Verdict {
    match device().is_none() && ended.peak > memory / 10 * 11 {
        true => fault(format!(
            "{} MiB instead of {} MiB; {}",
            ended.peak >> 20,
            memory >> 20,
            shown(&ended.stderr)
        )),
        false => Ok(()),
    }
}

/// A message on one line, and not all of an endless one.
pub(crate) fn shown(text: &str) -> String {
    let start: String = text.chars().take(600).collect();
    format!("{start:?}")
}
