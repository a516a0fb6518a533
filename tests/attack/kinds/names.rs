//! Odd names, and inputs and outputs that are not regular files.

use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::symlink;
use std::path::PathBuf;
use std::process::Command;
use std::thread;

use super::{Attack, Chosen, Done, Result};
use crate::expected::Digest;
use crate::judge::{
    fault, nothing_left, one_line, orderly, quiet, refused, same_files, same_shape, shown,
    undisturbed, whole,
};
use crate::scene::{ODD, Scene};
use crate::wait;
use crate::world::Scale;

pub(super) fn act(attack: &mut Attack<'_>) -> Result {
    match attack.random.below(4) {
        0 => odd_input(attack),
        1 => odd_output(attack),
        2 => no_input(attack),
        _ => no_output(attack),
    }
}

/// Returns an odd beginning of a name; the rest of the name keeps the suffix.
fn odd(attack: &mut Attack<'_>) -> OsString {
    let long = vec![b'x'; 200 + attack.random.below(60)];
    let names: [&[u8]; 23] = [
        b"a\\tSM:b",
        b"<script>",
        b"a\nb",
        b"\n",
        b"\x1b[31m",
        b"\t",
        b"\r",
        b"\x7f",
        b"-",
        b"--",
        b" ",
        b"a b  ",
        b"\xff\xfe",
        b"caf\xc3\xa9",
        b"'",
        b"\"$(x)`",
        b"\\",
        b"*?[",
        b"@",
        b"a:2..",
        b"{}",
        b"#",
        &long,
    ];
    OsString::from_vec(names[attack.random.below(names.len())].to_vec())
}

/// Returns the arguments of the job with one argument replaced.
fn args(scene: &Scene, old: &str, new: &OsStr) -> Vec<OsString> {
    let replaced = |arg: OsString| if arg == old { new.to_owned() } else { arg };
    scene.job.args().into_iter().map(replaced).collect()
}

/// Returns the inputs that are separate arguments.
fn plain_inputs(chosen: &Chosen<'_>) -> Vec<String> {
    let words: Vec<&str> = chosen.job().words().collect();
    let inputs = chosen.scene.inputs().filter(|name| words.contains(name));
    inputs.map(str::to_owned).collect()
}

fn with_inputs<'a>(attack: &mut Attack<'a>) -> (Chosen<'a>, String) {
    let chosen = attack.choose(Scale::Small, |job| {
        let files = [".fq", ".fa", ".mgk", ".tsv", ".mgdb", ".kreport", ".partial", ".mgd", ".gz"];
        job.stdin().is_none()
            && job.words().any(|word| {
                !word.starts_with("out/") && files.iter().any(|end| word.ends_with(end))
            })
    });
    fs::create_dir(chosen.scene.path(ODD)).unwrap();
    let inputs = plain_inputs(&chosen);
    let input = inputs[attack.random.below(inputs.len())].clone();
    (chosen, input)
}

fn odd_input(attack: &mut Attack<'_>) -> Result {
    let (chosen, input) = with_inputs(attack);
    let mut name = odd(attack);
    name.push(&input);
    // In a folder, or as a bare name: then it may look like an option or a list.
    let name = match attack.random.below(2) {
        0 => OsStr::new(ODD).to_owned().into_string().map(|odd| {
            let mut path = OsString::from(odd + "/");
            path.push(&name);
            path
        }),
        _ => Ok(name),
    }
    .unwrap();
    if fs::hard_link(chosen.scene.path(&input), chosen.scene.path(&name)).is_err() {
        return Ok(Done::Skipped("the name is too long for a file".into()));
    }
    let ended = attack.run(chosen.scene.launch_with(args(&chosen.scene, &input, &name)));
    let bare = !name.as_bytes().starts_with(ODD.as_bytes());
    if bare {
        fs::remove_file(chosen.scene.path(&name)).unwrap();
    }
    chosen.judge(&ended, |scene, expected, ended| {
        orderly(ended)?;
        match ended.code {
            // The name of a list: its content names other files.
            Some(0) if name.as_bytes().starts_with(b"@") => quiet(ended),
            Some(0) if scene.job.shows_names() => same_shape(scene, expected, ended),
            Some(0) => whole(scene, expected, ended),
            // The name was taken for something else.
            Some(2) if bare => nothing_left(scene),
            Some(1) => refused(scene, ended),
            code => fault(format!("exit code {code:?}: {}", shown(&ended.stderr))),
        }
    })
}

fn with_outputs<'a>(attack: &mut Attack<'a>) -> (Chosen<'a>, &'static str) {
    let chosen = attack.choose(Scale::Small, |job| !job.outputs().is_empty());
    fs::create_dir(chosen.scene.path(ODD)).unwrap();
    let output = attack.one_of(&chosen.job().outputs());
    (chosen, output)
}

fn odd_output(attack: &mut Attack<'_>) -> Result {
    let (chosen, output) = with_outputs(attack);
    let mut name = OsString::from(format!("{ODD}/"));
    name.push(odd(attack));
    name.push(&output[4..]);
    // Bracken's distributions, beside a database, have longer names.
    let too_long = name.len() - ODD.len() - 1 > 255 - ".60mers.kmer_distrib".len();
    let ended = attack.run(chosen.scene.launch_with(args(&chosen.scene, output, &name)));
    chosen.judge(&ended, |scene, expected, ended| {
        orderly(ended)?;
        if ended.code != Some(0) {
            let code = if ended.code == Some(2) { 2 } else { 1 };
            let is_empty = fs::read_dir(scene.path(ODD)).unwrap().next().is_none();
            nothing_left(scene)?;
            if code == 1 {
                one_line(ended)?;
            }
            let said = shown(&ended.stderr);
            return if is_empty && (too_long || code == 2) { Ok(()) } else { fault(said) };
        }
        let files = fs::read_dir(scene.path(ODD)).unwrap().map(|entry| entry.unwrap().path());
        let files: Vec<_> = files.collect();
        // Some commands replace placeholders in the name.
        let has_place = ["{}", "#"].iter().any(|place| name.to_string_lossy().contains(place));
        if has_place && !scene.path(&name).exists() {
            // Two mates, or the three samples of a sheet.
            return if (1..=3).contains(&files.len()) {
                Ok(())
            } else {
                fault(format!("these files: {files:?}"))
            };
        }
        if Digest::of(&scene.path(&name)) != expected.files[output] {
            return fault("the file with this name differs");
        }
        // Bracken's distributions and indexes are written beside their main output.
        let beside = expected.files.keys().filter(|file| file.starts_with(output)).count();
        match files.len() == beside {
            true => undisturbed(scene),
            false => fault(format!("these files: {files:?}")),
        }
    })
}

/// Replaces an input by something that is not a regular file, or is useless.
fn no_input(attack: &mut Attack<'_>) -> Result {
    let (chosen, input) = with_inputs(attack);
    let scene = &chosen.scene;
    let odd = |name: &str| format!("{ODD}/{name}");
    symlink("nowhere", scene.path(odd("dangling"))).unwrap();
    symlink("loop", scene.path(odd("loop"))).unwrap();
    fs::create_dir(scene.path(odd("folder"))).unwrap();
    fs::write(scene.path(odd("empty")), "").unwrap();
    make_fifo(scene, &odd("fifo"));
    let input_below = format!("{input}/x");
    let names = [
        "/dev/null",
        "/dev/zero",
        "/dev/full",
        "/",
        ".",
        "",
        "odd/dangling",
        "odd/loop",
        "odd/folder",
        "odd/empty",
        "odd/fifo",
        "odd/missing",
        "missing/missing",
        &input_below,
        "-",
        "@odd/empty",
        "@odd/missing",
        "@",
        "/proc/self/mem",
        "/proc/self/environ",
    ];
    let name = names[attack.random.below(names.len())];
    if name == "odd/fifo" {
        // Opened for reading and writing, so that opening does not block.
        let path = scene.path(name);
        let bytes = scene.read(&input);
        thread::spawn(move || {
            let file = File::options().write(true).open(path);
            file.and_then(|mut file| std::io::Write::write_all(&mut file, &bytes))
        });
    }
    let ended = attack.run(scene.launch_with(args(scene, &input, OsStr::new(name))));
    if name == "odd/fifo" {
        // The writer may still be waiting for a reader.
        drop(File::options().read(true).write(true).open(scene.path(name)));
    }
    chosen.judge(&ended, |scene, expected, ended| {
        orderly(ended)?;
        match ended.code {
            Some(0) if name == "odd/fifo" && !scene.job.shows_names() => {
                whole(scene, expected, ended)
            }
            Some(0) => quiet(ended),
            Some(2) => nothing_left(scene),
            _ => refused(scene, ended),
        }
    })
}

fn make_fifo(scene: &Scene, name: &str) {
    assert!(Command::new("mkfifo").arg(scene.path(name)).status().unwrap().success());
}

/// Returns the number of files in the folder for odd things, without journals.
fn files_of(scene: &Scene) -> usize {
    let entries = fs::read_dir(scene.path(ODD)).unwrap().map(|entry| entry.unwrap().path());
    let is_journal = |path: &PathBuf| {
        scene.job.keeps_a_journal() && path.extension().is_some_and(|end| end == "part")
    };
    entries.filter(|path| !is_journal(path)).count()
}

/// Parts of messages about outputs that cannot be streams.
const NO_STREAMS: [&str; 2] =
    ["a pipe, a device or an open stream", "a manifest must be a regular file"];

/// Replaces an output by something that is not a regular file, or cannot be written.
fn no_output(attack: &mut Attack<'_>) -> Result {
    let (chosen, output) = with_outputs(attack);
    let scene = &chosen.scene;
    // The suffix decides the format.
    let base = &output[4..];
    let [dangling, fifo, looped, far] =
        ["dangling", "fifo", "loop", "far"].map(|name| format!("{ODD}/{name}-{base}"));
    fs::create_dir(scene.path("odd/folder")).unwrap();
    symlink("target", scene.path(&dangling)).unwrap();
    symlink(format!("loop-{base}"), scene.path(&looped)).unwrap();
    symlink("missing/target", scene.path(&far)).unwrap();
    make_fifo(scene, &fifo);
    let before = files_of(scene);
    let below = format!("{fifo}/x");
    let names = [
        &dangling,
        &fifo,
        "/dev/null",
        "",
        "odd/folder",
        "odd/folder/",
        &looped,
        &far,
        ".",
        "..",
        "/",
        "odd/missing/x",
        &below,
        "/proc/x",
        "/dev/fd/77",
        "/proc/self/fd/77",
    ];
    let at = attack.random.below(names.len());
    let reading = (at == 1).then(|| {
        let path = scene.path(&fifo);
        thread::spawn(move || Digest::of(&path))
    });
    let ended = attack.run(scene.launch_with(args(scene, output, OsStr::new(names[at]))));
    let read = reading.map(|reading| wait::released(&scene.path(&fifo), reading));
    chosen.judge(&ended, |scene, expected, ended| {
        orderly(ended)?;
        let new = files_of(scene) - before;
        let of = &expected.files[output];
        match (ended.code, at) {
            (Some(0), 0) if Digest::of(&scene.path("odd/target")) == *of => undisturbed(scene),
            (Some(0), 1) if read.as_ref() == Some(of) => undisturbed(scene),
            (Some(0), 2) => quiet(ended),
            (Some(0), 3) => same_files(scene, expected),
            (Some(0), _) => fault(format!("exit code 0; {new} new files; read {read:?}")),
            // Formats that are not written sequentially, or are read again.
            (Some(1), 1 | 2) if NO_STREAMS.iter().any(|why| ended.stderr.contains(why)) => {
                refused(scene, ended)
            }
            (Some(1), 3..) if new == 0 => refused(scene, ended),
            (Some(2), _) if new == 0 => nothing_left(scene),
            _ => fault(format!("{new} new files; {}", shown(&ended.stderr))),
        }
    })
}
