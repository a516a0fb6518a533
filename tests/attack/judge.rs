//! Acceptable ends of a run.

use crate::expected::{Digest, Expected};
use crate::launch::Ended;
use crate::scene::Scene;
use crate::table::device;

/// `Err` describes what was wrong.
pub(crate) type Verdict = Result<(), String>;

pub(crate) fn fault<T>(text: impl Into<String>) -> Result<T, String> {
    Err(text.into())
}

/// Checks that a run did not hang, panic or die from a signal, which no attack excuses.
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

/// Checks that a run has all outputs with the expected bytes, and no other files.
pub(crate) fn whole(scene: &Scene, expected: &Expected, ended: &Ended) -> Verdict {
    same_files(scene, expected)?;
    if Digest::of(&ended.stdout) != expected.stdout {
        return fault("exit code 0, but stdout differs");
    }
    undisturbed(scene)?;
    quiet(ended)
}

/// Like [`whole`], for any content of stdout.
pub(crate) fn same_files(scene: &Scene, expected: &Expected) -> Verdict {
    let names = scene.outputs();
    if !names.iter().eq(expected.files.keys()) {
        return fault(format!("exit code {:?}, but the outputs are {names:?}", 0));
    }
    match names.iter().find(|name| Digest::of(&scene.path(name)) != expected.files[*name]) {
        Some(name) => fault(format!("exit code 0, but {name} differs")),
        None => Ok(()),
    }
}

/// Checks a successful run of a job whose output contains file names: these must not add lines, fields or markup.
pub(crate) fn same_shape(scene: &Scene, expected: &Expected, ended: &Ended) -> Verdict {
    quiet(ended)?;
    if !Digest::of(&ended.stdout).has_the_shape_of(&expected.stdout) {
        return fault("a name adds lines or fields to stdout");
    }
    let outputs = scene.outputs();
    if outputs.len() != expected.files.len() {
        return fault(format!("exit code 0, but the outputs are {outputs:?}"));
    }
    // Other outputs are named after inputs.
    for (name, of) in expected.files.iter().filter(|(name, _)| outputs.contains(name)) {
        let path = scene.path(name);
        if !Digest::of(&path).has_the_shape_of(of) {
            return fault(format!("a name adds lines or fields to {name}"));
        }
        if name.ends_with("_mqc.json") && std::fs::read(&path).unwrap().contains(&b'<') {
            return fault(format!("{name} has <"));
        }
    }
    Ok(())
}

/// Checks that a successful run reports no error.
pub(crate) fn quiet(ended: &Ended) -> Verdict {
    match ended.stderr.contains("error") {
        true => fault(format!("exit code 0, but stderr has: {}", shown(&ended.stderr))),
        false => Ok(()),
    }
}

pub(crate) fn undisturbed(scene: &Scene) -> Verdict {
    scene.disturbed().map_or(Ok(()), fault)
}

/// Checks that a run failed with a one-line error and left no files.
pub(crate) fn refused(scene: &Scene, ended: &Ended) -> Verdict {
    if ended.code != Some(1) {
        return fault(format!("exit code {:?}: {}", ended.code, shown(&ended.stderr)));
    }
    // The list of damaged genomes stays, because it says which ones to download again.
    if scene.job.keeps_a_journal() && ended.stderr.contains(" genomes are damaged, first ") {
        one_line(ended)?;
        return undisturbed(scene);
    }
    // A job with samples prints one line per failed sample.
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
        return fault(format!("not a single line with an error: {}", shown(&ended.stderr)));
    }
    match said.chars().count() > 2000 {
        true => fault(format!("an endless line with an error: {}", shown(said))),
        false => Ok(()),
    }
}

/// Checks that a run left no files and changed no inputs. Finished samples may stay.
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

/// Checks that a run either has all outputs or failed in an orderly way.
pub(crate) fn whole_or_refused(scene: &Scene, expected: &Expected, ended: &Ended) -> Verdict {
    orderly(ended)?;
    match ended.code {
        Some(0) => whole(scene, expected, ended),
        _ => refused(scene, ended),
    }
}

/// Checks that the peak is within the budget plus a tenth. Not checked with a device, whose driver takes memory of
/// its own.
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

/// Returns the first 600 characters of a message on one line.
pub(crate) fn shown(text: &str) -> String {
    let start: String = text.chars().take(600).collect();
    format!("{start:?}")
}
