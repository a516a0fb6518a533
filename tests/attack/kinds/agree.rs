//! Runs that must agree: with random reads, another compression, other resources or a device must not change a byte.

use std::fs;
use std::path::Path;

use super::{Attack, Done, Result};
use crate::expected::Digest;
use crate::judge::{fault, nothing_left, orderly, shown, undisturbed};
use crate::launch::Ended;
use crate::scene::Scene;
use crate::table::{Job, goes_on};
use crate::world::Scale;
use merganser_test_support::forms::all_forms;
use merganser_test_support::oracle::complement;
use merganser_test_support::reads::{Random, Record, fasta};

/// Inputs that may have any reads, with the number of the mate.
const READS: [(&str, usize); 9] = [
    ("1.fq", 0),
    ("2.fq", 1),
    ("1.fq.gz", 0),
    ("2.fq.gz", 1),
    ("1.fq.bz2", 0),
    ("1.fq.xz", 0),
    ("1.fq.zst", 0),
    ("b.fq.gz", 0),
    ("few.fq", 0),
];

const BUDGETS: [&str; 3] = ["100M", "300M", "1G"];

/// Runs a job twice: plain, by one thread of the CPU; and in another way that must not matter.
pub(super) fn act(attack: &mut Attack<'_>) -> Result {
    let reads = |job: &Job| READS.iter().any(|(name, _)| reads(job, name));
    // The result of a shard and a certificate name inputs by their bytes.
    let names_bytes = |job: &Job| ["--shard", "--certificate"].iter().any(|o| job.line.contains(o));
    let is_compared = |job: &Job| !goes_on(job) && !names_bytes(job);
    let mut chosen = attack.choose(Scale::Small, |job| reads(job) && is_compared(job));
    let job = chosen.job();
    let world = attack.ground.world(Scale::Small);
    let texts = texts(&mut attack.random, &genome(&world.path("g0.fa")));
    let mut other = Scene::new(world, job);
    let mut forms = Vec::new();
    for (name, mate) in READS {
        if !chosen.scene.inputs().any(|own| own == name) {
            continue;
        }
        chosen.scene.replace(name, &texts[mate]);
        let mut all = all_forms(&texts[mate]);
        let (form, bytes) = all.swap_remove(attack.random.below(all.len()));
        other.replace(name, &bytes);
        forms.push(format!("{name}: {form}"));
    }
    let mut plain = job.args();
    if job.takes_threads() {
        plain.extend(["--threads", "1"].map(Into::into));
    }
    let expected = attack.run(chosen.scene.launch_on_processor(plain));
    let mut options = attack.resources(job);
    let is_limited = job.takes_memory() && attack.random.below(2) == 0;
    if is_limited {
        options.extend(["--memory", attack.one_of(&BUDGETS)]);
    }
    let found = attack.run(other.launch(&options));
    attack.note(&forms.join(", "));
    let is_refused = found.code == Some(1) && found.stderr.contains("memory");
    if is_limited && is_refused {
        orderly(&found)?;
        return nothing_left(&other).map(|()| Done::Made);
    }
    agree((&chosen.scene, &expected), (&other, &found)).map(|()| Done::Made)
}

fn reads(job: &Job, name: &str) -> bool {
    job.words().chain(job.stdin()).any(|word| word == name)
}

/// Checks that two runs gave the same files and the same text on stdout, or failed with the same message.
fn agree(expected: (&Scene, &Ended), found: (&Scene, &Ended)) -> std::result::Result<(), String> {
    for (scene, ended) in [expected, found] {
        orderly(ended)?;
        undisturbed(scene)?;
    }
    let (first, second) = (&expected.1, &found.1);
    let message =
        |ended: &Ended| ended.stderr.lines().find(|l| l.starts_with("error")).map(str::to_owned);
    if (first.code, message(first)) != (second.code, message(second)) {
        let [first, second] = [first, second].map(|ended| shown(&ended.stderr));
        return fault(format!("plain: {first}, otherwise: {second}"));
    }
    if fs::read(&first.stdout).ok() != fs::read(&second.stdout).ok() {
        return fault("stdout differs");
    }
    let outputs = |scene: &Scene| {
        let names = scene.outputs().into_iter();
        names.map(|name| (Digest::of(&scene.path(&name)), name)).collect::<Vec<_>>()
    };
    let (first, second) = (outputs(expected.0), outputs(found.0));
    match first == second {
        true => Ok(()),
        false => fault(format!("the outputs differ: {first:?}, otherwise {second:?}")),
    }
}

/// Returns the reads of both mates, as FASTQ or FASTA: tidy or not, short or long, from the genome or from nowhere.
fn texts(random: &mut Random, genome: &[u8]) -> [Vec<u8>; 2] {
    let longest = [1, 40, 150, 150, 150, 1000, 4000][random.below(7)];
    let is_fixed = random.below(3) == 0;
    let one_in = [1_000_000, 100, 20][random.below(3)];
    let number = 1 + random.below(50_000 / longest).min(random.below(800));
    let mut records = [Vec::new(), Vec::new()];
    for _ in 0..number {
        let length = if is_fixed { longest } else { 1 + random.below(longest) };
        let between = random.below(300);
        let fragment = match random.below(10) {
            0 => random.bases(length + between),
            _ => {
                let start = random.below(genome.len() - length - between);
                genome[start..start + length + between].to_vec()
            }
        };
        let fragment = random.mutated(&fragment, one_in);
        records[0].push(Record::from(&fragment[..length]));
        records[1].push(Record::from(&complement(&fragment[between..])[..]));
    }
    let (is_fastq, width) = (random.below(3) > 0, 1 + random.below(200));
    records.map(|records| match is_fastq {
        true => fastq(&records, random),
        false => fasta(&records, width, "\n"),
    })
}

/// Returns the letters of a FASTA file of one sequence.
fn genome(path: &Path) -> Vec<u8> {
    let text = fs::read(path).unwrap();
    let lines = text.split(|&byte| byte == b'\n').filter(|line| !line.starts_with(b">"));
    lines.flatten().copied().collect()
}

/// Formats records as FASTQ with random qualities; mates have the same names.
fn fastq(records: &[Record], random: &mut Random) -> Vec<u8> {
    let mut text = Vec::new();
    for (number, record) in records.iter().enumerate() {
        text.extend(format!("@r{number}\n").as_bytes());
        text.extend(&record.sequence);
        text.extend(b"\n+\n");
        text.extend(record.sequence.iter().map(|_| b'!' + random.below(42) as u8));
        text.push(b'\n');
    }
    text
}
