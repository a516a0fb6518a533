//! Notes of runs that spilled to disk name the memory that would have been enough.

use serde_json::Value;

use merganser_test_support::Dir;
use merganser_test_support::reads::Random;

/// Writes random reads, nearly all of whose k-mers are distinct.
fn reads(dir: &Dir, name: &str, (number, seed): (usize, u64)) {
    let mut random = Random(seed);
    let mut text = Vec::new();
    for _ in 0..number {
        text.extend_from_slice(b">\n");
        text.extend(random.bases(150));
        text.push(b'\n');
    }
    dir.write(name, text);
}

/// Returns the memory that a run's note names as enough, if there is a note, after comparing the spilled bytes in the
/// note with those in `--json`.
fn note(dir: &Dir, command: &str, memory: &str) -> Option<String> {
    let ran = dir.run(&format!("{command} --memory {memory} --tmp-dir . --json sum.json"));
    let stderr = ran.stderr.clone();
    ran.ok();
    let json: Value = serde_json::from_slice(&dir.read("sum.json")).unwrap();
    let spilled = json["results"]["spilled_bytes"].as_u64().unwrap();
    let notes: Vec<&str> = stderr.lines().filter(|line| line.contains("went to disk")).collect();
    assert!(notes.len() <= 1, "{stderr}");
    assert_eq!(spilled > 0, !notes.is_empty(), "{command} {memory}: {stderr}");
    let (size, rest) = notes.first()?.strip_prefix("note: ")?.split_once(" went to disk: ")?;
    assert_eq!(size, merganser_run::format_size(spilled));
    let enough = rest.strip_prefix("with --memory ")?;
    Some(enough.strip_suffix(" it would have stayed in memory")?.to_owned())
}

/// Asserts that nothing is spilled with the named memory, that the output is the same, and that the mean of given and
/// named memory is not enough.
fn check(dir: &Dir, command: &str, memory: &str, output: &str) {
    let enough = note(dir, command, memory);
    let enough = enough.unwrap_or_else(|| panic!("{command} {memory}: nothing went to disk"));
    let table = dir.read(output);
    assert_eq!(note(dir, command, &enough), None, "{command}: {enough} is not enough");
    assert!(dir.read(output) == table);
    let [given, named] = [memory, &enough].map(|size| merganser_run::parse_size(size).unwrap());
    let less = format!("{}M", (given + named) >> 21);
    assert!(note(dir, command, &less).is_some(), "{command}: {enough}, but {less} is enough");
}

#[test]
fn the_memory_that_count_names_is_enough() {
    let dir = Dir::new();
    reads(&dir, "r.fa", (90_000, 5));
    for (memory, options) in [
        ("80M", "--threads 2 -k 31 --min-count 1"),
        ("100M", "--threads 2 -k 55 --min-count 1"),
        // This spills only super-k-mers.
        ("75M", "--threads 1 -k 27 --min-count 1"),
    ] {
        check(&dir, &format!("count {options} -o o.mgk r.fa"), memory, "o.mgk");
    }
}

#[test]
fn the_memory_that_a_union_names_is_enough() {
    let dir = Dir::new();
    for (name, seed) in [("a", 1), ("b", 2)] {
        reads(&dir, "r.fa", (45_000, seed));
        let options = "-q --threads 2 -k 31 --min-count 1 --format kff";
        dir.run(&format!("count {options} -o {name}.kff r.fa")).ok();
    }
    check(&dir, "kmers union --threads 2 -o u.mgk a.kff b.kff", "80M", "u.mgk");
}

/// Half of the remaining budget is reserved for the hits of reads in repeats.
#[test]
fn the_memory_that_map_names_is_enough() {
    let dir = Dir::new();
    let genome = String::from_utf8(Random(3).bases(200_000)).unwrap();
    dir.write("g.fa", format!(">g\n{genome}\n"));
    let read = |at: usize| format!(">{at}\n{}\n", &genome[at..at + 150]);
    dir.write("r.fa", (0..199_000).map(read).collect::<String>());
    check(&dir, "map --threads 2 -e 1 --sort -o o.bam g.fa r.fa", "150M", "o.bam");
}

#[test]
fn nothing_is_said_where_disk_was_wanted_or_nothing_is_to_be_said() {
    let dir = Dir::new();
    reads(&dir, "r.fa", (60_000, 5));
    let count = "count --threads 2 -k 31 --min-count 1 --tmp-dir . -o o.mgk r.fa";
    for options in ["-q --memory 80M", "--storage disk --memory 80M", "--memory 1G"] {
        let ran = dir.run(&format!("{count} {options}"));
        assert!(!ran.stderr.contains("went to disk"), "{options}: {}", ran.stderr);
        ran.ok();
    }
}
