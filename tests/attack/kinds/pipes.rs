//! Closed pipes and streams, full devices, and pipes where regular files are needed.

use std::fs::{self, File};
use std::io::{Read, Write};
use std::process::{Command, Stdio};
use std::thread;

use super::{Attack, Chosen, Done, Result};
use crate::judge::{
    fault, nothing_left, orderly, quiet, refused, same_files, shown, undisturbed, whole,
};
use crate::launch::Ended;
use crate::table::Job;
use crate::wait;
use crate::world::Scale;

pub(super) fn act(attack: &mut Attack<'_>) -> Result {
    match attack.random.below(8) {
        0 | 1 => reader_leaves(attack),
        2 => full_stdout(attack),
        3 => full_output(attack),
        4 => full_stderr(attack),
        5 => closed(attack),
        _ => piped_input(attack),
    }
}

fn prints(chosen: &Chosen<'_>) -> bool {
    chosen.expected(|expected| expected.stdout.length > 0)
}

/// Closes the reader of stdout: the other outputs are completed without a message.
fn reader_leaves(attack: &mut Attack<'_>) -> Result {
    let to_stdout = |job: &Job| !job.line.contains("-o out/") && job.stdin().is_none();
    let scale = attack.one_of(&[Scale::Small, Scale::Large]);
    let chosen = attack.choose(scale, to_stdout);
    let length = chosen.expected(|expected| expected.stdout.length);
    let wanted = attack.random.next() % (length + 1);
    let (mut reader, writer) = std::io::pipe().unwrap();
    let mut launch = chosen.scene.launch(&attack.resources(chosen.job()));
    launch.stdout = Some(Stdio::from(writer));
    let reading = thread::spawn(move || {
        let mut read = (&mut reader).take(wanted);
        std::io::copy(&mut read, &mut std::io::sink())
    });
    let ended = attack.run(launch);
    attack.note(&format!("the reader closes after {wanted} bytes"));
    let read = reading.join().unwrap().unwrap();
    well(&chosen, &ended)?;
    match read == wanted {
        true => Ok(Done::Made),
        false => fault(format!("{read} bytes only")),
    }
}

/// Checks that files are as expected and stderr is empty.
fn well(chosen: &Chosen<'_>, ended: &Ended) -> Result {
    chosen.judge(ended, |scene, expected, ended| {
        orderly(ended)?;
        if ended.code != Some(0) {
            return fault(format!("exit code {:?}: {}", ended.code, shown(&ended.stderr)));
        }
        quiet(ended)?;
        undisturbed(scene)?;
        same_files(scene, expected)
    })
}

fn full_stdout(attack: &mut Attack<'_>) -> Result {
    let chosen = attack.choose(Scale::Small, |_| true);
    let mut launch = chosen.scene.launch(&attack.resources(chosen.job()));
    launch.stdout = Some(Stdio::from(File::options().write(true).open("/dev/full").unwrap()));
    let ended = attack.run(launch);
    attack.note("stdout is /dev/full");
    if !prints(&chosen) {
        return well(&chosen, &ended);
    }
    chosen.judge(&ended, |scene, _, ended| {
        orderly(ended)?;
        refused(scene, ended)?;
        match ended.stderr.contains("stdout") {
            true => Ok(()),
            false => fault(format!("stdout is not mentioned: {}", shown(&ended.stderr))),
        }
    })
}

/// Replaces one output by a full device.
fn full_output(attack: &mut Attack<'_>) -> Result {
    let chosen = attack.choose(Scale::Small, |job| !job.outputs().is_empty());
    let output = attack.one_of(&chosen.job().outputs());
    let args = chosen.job().args().into_iter();
    let args = args.map(|arg| if arg == output { "/dev/full".into() } else { arg }).collect();
    let empty = chosen.expected(|expected| expected.files[output].length == 0);
    let ended = attack.run(chosen.scene.launch_with(args));
    chosen.judge(&ended, |scene, _, ended| {
        orderly(ended)?;
        if empty && ended.code == Some(0) {
            return Ok(());
        }
        // A usage error: the name's suffix is wrong for this output.
        if ended.code == Some(2) {
            return nothing_left(scene);
        }
        refused(scene, ended)?;
        match ended.stderr.contains("/dev/full") {
            true => Ok(()),
            false => fault(format!("/dev/full is not mentioned: {}", shown(&ended.stderr))),
        }
    })
}

/// Sends messages to a full device: the run still succeeds.
fn full_stderr(attack: &mut Attack<'_>) -> Result {
    let chosen = attack.choose(Scale::Small, |_| true);
    let resources = attack.resources(chosen.job());
    let args = chosen.job().words().map(Into::into);
    let args = args.chain(resources.into_iter().map(Into::into)).collect();
    let mut launch = chosen.scene.launch_with(args);
    launch.stderr = Some(Stdio::from(File::options().write(true).open("/dev/full").unwrap()));
    let ended = attack.run(launch);
    attack.note("stderr is /dev/full");
    chosen.judge(&ended, |scene, expected, ended| {
        orderly(ended)?;
        if ended.code != Some(0) {
            return fault(format!("exit code {:?}", ended.code));
        }
        whole(scene, expected, ended)
    })
}

/// Closes standard streams: an error if the job needs them.
fn closed(attack: &mut Attack<'_>) -> Result {
    let chosen = attack.choose(Scale::Small, |_| true);
    let which = attack.one_of(&["<&-", ">&-", "2>&-", "<&- >&-", "<&- 2>&-", "<&- >&- 2>&-"]);
    let closes = |stream| which.split(' ').any(|closed| closed == stream);
    let launch = chosen.scene.launch(&attack.resources(chosen.job()));
    let launch = launch.after(&format!("exec {which}"));
    let ended = attack.run(launch);
    let missing = match () {
        () if closes("<&-") && chosen.job().stdin().is_some() => "stdin is closed",
        () if closes(">&-") && prints(&chosen) => "stdout is closed",
        () => return well(&chosen, &ended),
    };
    chosen.judge(&ended, |scene, _, ended| {
        orderly(ended)?;
        if closes("2>&-") {
            return match ended.code {
                Some(1) => nothing_left(scene),
                code => fault(format!("exit code {code:?}")),
            };
        }
        refused(scene, ended)?;
        match ended.stderr.contains(" is closed") {
            true => Ok(()),
            false => fault(format!("not that {missing}: {}", shown(&ended.stderr))),
        }
    })
}

/// Suffixes of files that need random access or are read several times.
const OF_FILES: [&str; 13] = [
    ".mgk", ".kff", ".jf", ".kmc_pre", ".kmc_suf", ".ktab", ".mgdb", ".mgi", ".mgd", ".idx",
    ".mgx", ".k2d", ".partial",
];

/// Replaces such an input by a pipe.
fn piped_input(attack: &mut Attack<'_>) -> Result {
    let is_of_files = |name: &&str| OF_FILES.iter().any(|end| name.ends_with(end));
    let names = |job: &Job| {
        let members = ["k", "k2", "y.meryl"];
        job.words()
            .any(|word| is_of_files(&word) && !word.starts_with("out/") || members.contains(&word))
    };
    let mut chosen = attack.choose(Scale::Small, names);
    let inputs: Vec<String> = chosen
        .scene
        .inputs()
        .filter(|name| is_of_files(name) || name.contains(".meryl/"))
        .map(str::to_owned)
        .collect();
    let input = &inputs[attack.random.below(inputs.len())];
    let (path, bytes) = (chosen.scene.path(input), chosen.scene.read(input));
    fs::remove_file(&path).unwrap();
    assert!(Command::new("mkfifo").arg(&path).status().unwrap().success());
    let writing = {
        let path = path.clone();
        thread::spawn(move || {
            let file = File::options().write(true).open(path);
            file.and_then(|mut file| file.write_all(&bytes))
        })
    };
    let ended = attack.run(chosen.scene.launch(&[]));
    attack.note(&format!("{input} is a pipe"));
    let _ = wait::released(&path, writing);
    chosen.scene.is_as_it_should_be(input);
    chosen.judge(&ended, |scene, expected, ended| {
        orderly(ended)?;
        match ended.code {
            Some(0) if scene.job.shows_names() => quiet(ended),
            Some(0) => whole(scene, expected, ended),
            _ if ended.stderr.contains("is a pipe") => refused(scene, ended),
            code => fault(format!("exit code {code:?}, no pipe named: {}", shown(&ended.stderr))),
        }
    })
}
