//! Endless lines, names and records, and more of them than any memory holds.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{BufWriter, Write};

use super::memory::bytes;
use super::{Attack, Result};
use crate::judge::{fault, orderly, refused, shown, within};
use crate::table::Job;
use crate::world::Scale;

/// Pieces that are repeated.
const PIECES: [&str; 12] =
    ["A", "x", "N", "\t", " ", "9", "\n", ">\n", ">a\nAC\n", "@a\nAC\n+\nII\n", "7\t1\n", "A\t1\n"];
/// Texts before the repeated pieces.
const STARTS: [&str; 8] = ["", ">", "@r\n", "@r\nACGT\n+\n", "3\t|\t", "x\t", "#", "@SQ\tSN:"];

pub(super) fn act(attack: &mut Attack<'_>) -> Result {
    match attack.random.below(16) {
        0 => no_journal(attack),
        _ => text(attack),
    }
}

fn text(attack: &mut Attack<'_>) -> Result {
    let world = attack.ground.world(Scale::Small);
    let reads_text = |job: &Job| world.inputs(job).iter().any(|name| is_text(name));
    let mut chosen = attack.choose(Scale::Small, |job| job.takes_memory() && reads_text(job));
    let names: Vec<String> =
        chosen.scene.inputs().filter(|name| is_text(name)).map(str::to_owned).collect();
    let name = &names[attack.random.below(names.len())];
    let sound = chosen.scene.read(name);
    let (start, piece) = (attack.one_of(&STARTS), attack.one_of(&PIECES));
    // Each line of a session would have an answer.
    let piece = if name == "session" && piece.contains('\n') { "x" } else { piece };
    let length = (50 << 20) + attack.random.below(250 << 20);
    let at = attack.random.below(4) * sound.len() / 4;
    let path = chosen.scene.path(name);
    fs::remove_file(&path).unwrap();
    let file = BufWriter::new(File::create(&path).unwrap());
    if name.ends_with(".gz") {
        let level = flate2::Compression::fast();
        let mut gzip = flate2::write::GzEncoder::new(file, level);
        write(&mut gzip, &[], 0, start, piece, length);
        gzip.finish().unwrap().flush().unwrap();
    } else {
        write(file, &sound, at, start, piece, length);
    }
    chosen.scene.is_as_it_should_be(name);
    let budget = attack.one_of(&["60M", "100M", "300M"]);
    let mut options = attack.resources(chosen.job());
    options.extend(["--memory", budget]);
    let ended = attack.run(chosen.scene.launch(&options));
    attack.note(&format!("{name}: at {at} {start:?} and {length} bytes of {piece:?}"));
    chosen.judge(&ended, |scene, _, ended| {
        within(ended, bytes(budget))?;
        orderly(ended)?;
        match ended.code {
            Some(0) => Ok(()),
            _ => refused(scene, ended),
        }
    })
}

/// Replaces the journal of samples by an endless file or one that stores nothing.
fn no_journal(attack: &mut Attack<'_>) -> Result {
    let chosen = attack.choose(Scale::Small, |job| job.resumes().is_some());
    let names =
        ["/dev/zero", "/dev/full", "/dev/null", "/dev/random", "/dev/stdin", "-", ".", "out"];
    let (name, budget) = (attack.one_of(&names), attack.one_of(&["60M", "100M", "300M"]));
    let journal = chosen.job().resumes();
    let args = chosen.job().args().into_iter();
    let replaced = |arg: OsString| if arg.to_str() == journal { name.into() } else { arg };
    let args = args.map(replaced).chain(["--memory", budget].map(OsString::from)).collect();
    let before = chosen.scene.outputs();
    let ended = attack.run(chosen.scene.launch_with(args));
    chosen.judge(&ended, |scene, _, ended| {
        within(ended, bytes(budget))?;
        orderly(ended)?;
        refused(scene, ended)?;
        match ended.stderr.contains(name) && scene.outputs() == before {
            true => Ok(()),
            false => fault(format!("reported too late, or not named: {}", shown(&ended.stderr))),
        }
    })
}

fn is_text(name: &str) -> bool {
    let ends =
        [".fq", ".fa", ".tsv", ".dmp", ".sam", ".txt", ".fq.gz", ".lines", ".kreport", ".fai"];
    ends.iter().any(|end| name.ends_with(end)) || !name.contains('.')
}

/// Writes a valid text with endless content at the beginning of one of its lines.
fn write(mut out: impl Write, sound: &[u8], at: usize, start: &str, piece: &str, length: usize) {
    let line = sound[..at].iter().rposition(|&byte| byte == b'\n').map_or(0, |end| end + 1);
    out.write_all(&sound[..line]).unwrap();
    out.write_all(start.as_bytes()).unwrap();
    let block = piece.repeat((1 << 16) / piece.len());
    (0..length / block.len()).for_each(|_| out.write_all(block.as_bytes()).unwrap());
    out.write_all(b"\n").unwrap();
    out.write_all(&sound[line..]).unwrap();
    out.flush().unwrap();
}
