//! Damaged files: every wrong output is preceded by an error.

mod changed;
mod foreign;
mod inputs;

use std::ops::Range;

use merganser_test_support::Dir;
use merganser_test_support::reads::{Random, fasta, untidy};
use merganser_test_support::two_species::prepared;

/// A description of the damage, and the damaged bytes.
pub(crate) type Damaged = (String, Vec<u8>);

/// Returns copies of a file with one flipped bit: `each` copies for each region.
pub(crate) fn flipped(sound: &[u8], regions: &[Range<usize>], each: usize) -> Vec<Damaged> {
    let mut random = Random(sound.len() as u64);
    let mut all = Vec::new();
    for region in regions.iter().filter(|region| !region.is_empty()) {
        for _ in 0..each {
            let at = region.start + random.below(region.len());
            let bit = random.below(8);
            let mut bytes = sound.to_vec();
            bytes[at] ^= 1 << bit;
            all.push((format!("bit {bit} of byte {at} of {region:?}"), bytes));
        }
    }
    all
}

/// Returns copies of a file in which a block of at most `most` bytes is overwritten by another block.
pub(crate) fn moved(sound: &[u8], number: usize, most: usize) -> Vec<Damaged> {
    let mut random = Random(sound.len() as u64 + 1);
    let mut all = Vec::new();
    while all.len() < number {
        let length = 1 + random.below(most.min(sound.len() / 2));
        let [from, to] = [0; 2].map(|_| random.below(sound.len() - length));
        let mut bytes = sound.to_vec();
        bytes.copy_within(from..from + length, to);
        if bytes != sound {
            all.push((format!("{length} bytes of {from} at {to}"), bytes));
        }
    }
    all
}

fn number(bytes: &[u8], at: usize) -> usize {
    u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap()) as usize
}

/// Asserts that every command that reads the damaged file fails and names it.
fn refused(dir: &Dir, file: &str, damaged: Vec<Damaged>, commands: &[&str]) {
    for (what, bytes) in damaged {
        dir.write(file, bytes);
        for command in commands {
            let ran = dir.run(command);
            assert_eq!(ran.code, Some(1), "{what}: {command}: {}", ran.stderr);
            let message = ran.fails(1);
            assert!(message.starts_with(&format!("error: {file}: ")), "{what}: {message}");
        }
    }
}

#[test]
fn a_flipped_bit_of_a_database_is_never_unnoticed() {
    let dir = prepared();
    let reads: Vec<u8> = dir.read("1.fq")[..5000].to_vec();
    let end = reads.windows(2).rposition(|pair| pair == b"\n@").unwrap();
    dir.write("few.fq", &reads[..=end]);
    let sound = dir.read("refs.mgdb");
    let [directory, meta] = [88, 96].map(|at| number(&sound, at));
    let regions = [0..152, 152..4096, 4096..directory, directory..meta, meta..sound.len()];
    let mut damaged = flipped(&sound, &regions, 32);
    damaged.extend(moved(&sound, 20, 300));
    let info = dir.run("db info refs.mgdb").ok();
    for (what, bytes) in &damaged {
        dir.write("refs.mgdb", bytes);
        let ran = dir.run("db info refs.mgdb");
        match ran.code {
            Some(0) => assert_eq!(ran.ok(), info, "{what}"),
            _ => drop(ran.fails(1)),
        }
    }
    let commands = ["classify refs.mgdb few.fq --threads 2", "db verify refs.mgdb"];
    refused(&dir, "refs.mgdb", damaged, &commands);
    // Commands that use other parts of the database refuse it, too.
    let mut bytes = sound.clone();
    bytes[directory - 1] ^= 1;
    dir.write("refs.mgdb", bytes);
    for command in [
        "classify refs.mgdb few.fq -o o --report r --hits-per-ref h",
        "classify refs.mgdb few.fq -o o --report-minimizer-data --report r --threads 1",
        "db add --taxonomy tax refs.mgdb g0.fa -o o",
    ] {
        let message = dir.run(command).fails(1);
        assert!(message.contains("refs.mgdb: table "), "{command}: {message}");
        assert!(!dir.names().iter().any(|name| name.len() == 1), "{:?}", dir.names());
    }
}

#[test]
fn a_flipped_bit_of_an_index_is_never_unnoticed() {
    let dir = Dir::new();
    let mut random = Random(77);
    let (one, two) = (random.bases(6000), random.bases(2500));
    let text = |letters: &[u8]| String::from_utf8(letters.to_vec()).unwrap();
    dir.write("x.fa", format!(">a\n{}N{}\n>b\n{}\n", text(&one), text(&two), text(&two)));
    dir.write("r.fq", format!("@r\n{}\n+\n{}\n", text(&one[100..200]), "I".repeat(100)));
    dir.run("index x.fa -o x.mgi").ok();
    let sound = dir.read("x.mgi");
    let section = |at: usize| {
        let start = number(&sound, 24 + 24 * at);
        start..start + number(&sound, 32 + 24 * at)
    };
    let mut regions: Vec<Range<usize>> = (0..6).map(section).collect();
    // The gaps between the sections.
    let ends = regions.iter().map(|region| region.end);
    let starts = regions.iter().skip(1).map(|region| region.start).chain([sound.len()]);
    let gaps: Vec<Range<usize>> = ends.zip(starts).map(|(end, start)| end..start).collect();
    regions.extend(gaps.into_iter().chain([0..180, 180..4096]));
    let mut damaged = flipped(&sound, &regions, 14);
    assert!(damaged.len() >= 150);
    damaged.extend(moved(&sound, 20, 300));
    let commands = ["map -e 3 x.mgi r.fq --threads 2", "index --verify x.mgi"];
    refused(&dir, "x.mgi", damaged, &commands);
}

#[test]
fn a_flipped_bit_of_a_table_is_never_unnoticed() {
    let dir = Dir::new();
    dir.write("r.fa", fasta(&untidy(60, 3), 80, "\n"));
    dir.run("count -k 21 -o t.mgk r.fa").ok();
    let sound = dir.read("t.mgk");
    let [index, sections] = [72, 80].map(|at| number(&sound, at));
    let regions = [0..128, 128..index, index..sections, sections..sound.len()];
    let mut damaged = flipped(&sound, &regions, 40);
    damaged.extend(moved(&sound, 20, 300));
    let commands = ["kmers dump t.mgk -o o", "kmers histogram t.mgk", "kmers verify t.mgk"];
    refused(&dir, "t.mgk", damaged, &commands);
    assert!(!dir.path("o").exists());
}
