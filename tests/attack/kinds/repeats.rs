//! Repetitive references and reads: memory must not grow with the number of hits or of combinations of mates.

use std::ffi::OsString;
use std::fmt::Write;

use super::memory::bytes;
use super::{Attack, Chosen, Result};
use crate::judge::{fault, orderly, quiet, refused, shown, within};
use crate::table::Job;
use crate::world::Scale;
use merganser_test_support::oracle;
use merganser_test_support::reads::{Random, Record, fasta};
use merganser_test_support::repeats::repeats;

pub(super) fn act(attack: &mut Attack<'_>) -> Result {
    match attack.random.below(3) {
        0 => any_job(attack),
        _ => map(attack),
    }
}

/// Runs any job with a repetitive genome and reads of it.
fn any_job(attack: &mut Attack<'_>) -> Result {
    let is_given = |job: &Job| job.words().any(|word| ["g0.fa", "1.fq", "2.fq"].contains(&word));
    // CRAM records and ranges belong to the genome that they were made with.
    let is_bound = |job: &Job| [".cram", "--ranges"].iter().any(|word| job.line.contains(word));
    let will_do = |job: &Job| job.takes_memory() && is_given(job) && !is_bound(job);
    let mut chosen = attack.choose(Scale::Small, will_do);
    let length = 1000 + attack.up_to(200_000) as usize;
    let (what, genome) = repeats(&mut attack.random, length);
    let reads = Reads::of(&genome, 50, &mut attack.random);
    replace(&mut chosen, &genome, &reads);
    let (mut options, budget) = (attack.resources(chosen.job()), budget(attack));
    options.extend(["--memory", budget]);
    let ended = attack.run(chosen.scene.launch(&options));
    attack.note(&format!("{length} bases of {what}"));
    judge(&chosen, &ended, budget)
}

/// Runs `map` with random options that decide how many hits and pairs are kept.
fn map(attack: &mut Attack<'_>) -> Result {
    let mut chosen =
        attack.choose(Scale::Small, |job| job.line.starts_with("map -e 3 --best g0.fa -1"));
    let paired = attack.random.below(2) == 0;
    let select = attack.one_of(&["", "--best", "--best-strata --max-hits 5", "--max-hits 7"]);
    // The number of combinations is the product of the mates' hits.
    let most = if paired && select.is_empty() { 3000 } else { 3_000_000 };
    let length = 500 + attack.up_to(most) as usize;
    let (what, genome) = repeats(&mut attack.random, length);
    let reads = Reads::of(&genome, 2, &mut attack.random);
    replace(&mut chosen, &genome, &reads);
    let budget = budget(attack);
    let inputs = if paired { "g0.fa -1 1.fq -2 2.fq" } else { "g0.fa 1.fq 2.fq" };
    let edits = attack.one_of(&["0 --hamming", "0", "1", "3", "5", "8"]);
    let rescue = if paired { attack.one_of(&["", "--rescue 10"]) } else { "" };
    let sort = attack.one_of(&["", "--sort"]);
    let threads = attack.one_of(&["1", "2"]);
    let line = format!(
        "map -q -e {edits} {rescue} {select} {sort} {inputs} -o out/o.bam --threads {threads} --memory {budget}"
    );
    let args = line.split_whitespace().map(OsString::from).collect();
    let ended = attack.run(chosen.scene.launch_with(args));
    attack.note(&format!("{length} bases of {what}"));
    judge(&chosen, &ended, budget)
}

fn budget(attack: &mut Attack<'_>) -> &'static str {
    attack.one_of(&["120M", "200M", "500M"])
}

/// Checks that a run keeps to its memory and either succeeds or says that this is too little.
fn judge(chosen: &Chosen<'_>, ended: &crate::launch::Ended, budget: &str) -> Result {
    chosen.judge(ended, |scene, _, ended| {
        within(ended, bytes(budget))?;
        orderly(ended)?;
        match ended.code {
            Some(0) => quiet(ended),
            _ if ended.stderr.contains("memory") => refused(scene, ended),
            _ => fault(format!("memory is not mentioned: {}", shown(&ended.stderr))),
        }
    })
}

/// FASTQ texts of reads and of their mates.
struct Reads([String; 2]);

impl Reads {
    fn of(genome: &[u8], number: usize, random: &mut Random) -> Reads {
        let mut texts = [String::new(), String::new()];
        let length = [30, 60, 100][random.below(3)];
        for read in 0..number {
            let start = random.below(genome.len() - 400);
            for (mate, text) in texts.iter_mut().enumerate() {
                let mut letters = genome[start + 200 * mate..][..length].to_vec();
                if mate == 1 {
                    letters = oracle::complement(&letters);
                }
                let (letters, quality) = (String::from_utf8(letters).unwrap(), "I".repeat(length));
                writeln!(text, "@r{read}/{}\n{letters}\n+\n{quality}", mate + 1).unwrap();
            }
        }
        Reads(texts)
    }
}

/// Replaces the job's genome and reads.
fn replace(chosen: &mut Chosen<'_>, genome: &[u8], reads: &Reads) {
    let text = String::from_utf8(fasta(&[Record::from(genome)], 80, "\n")).unwrap();
    let genome = text.replacen(">sequence0 of a test", ">g0|kraken:taxid|11", 1);
    let names: Vec<String> = chosen.scene.inputs().map(str::to_owned).collect();
    for (name, text) in [("g0.fa", &genome), ("1.fq", &reads.0[0]), ("2.fq", &reads.0[1])] {
        if names.iter().any(|own| own == name) {
            chosen.scene.replace(name, text.as_bytes());
        }
    }
}
