//! `search` on real or emulated GPUs has the same bytes as on the CPU. Skipped with a message without a GPU, or a failure
//! with `MERGANSER_REQUIRE_GPU=1`.

use merganser_test_support::gpus::{two_devices, usable};
use merganser_test_support::oracle::complement;
use merganser_test_support::reads::Random;
use merganser_test_support::{Dir, Ran, program};

/// Returns a folder with patterns, guides, primers, a contig of several stretches and a short one, and reads of several
/// batches, all of which have parts of the patterns.
fn prepared() -> Dir {
    let dir = Dir::new();
    let mut random = Random(31);
    let patterns: Vec<Vec<u8>> = (0..6).map(|at| random.bases(20 + at)).collect();
    let mut text = random.bases(700_000);
    for at in 0..300 {
        let pattern = match random.below(2) {
            0 => patterns[at % 6].clone(),
            _ => complement(&patterns[at % 6]),
        };
        let from = random.below(text.len() - 40);
        let copy = random.mutated(&pattern, 12);
        text[from..from + copy.len()].copy_from_slice(&copy);
    }
    text[50_000..50_100].fill(b'N');
    let line =
        |name: &str, letters: &[u8]| format!(">{name}\n{}\n", String::from_utf8_lossy(letters));
    let named = |(at, letters): (usize, &Vec<u8>)| line(&format!("p{at}"), letters);
    dir.write("p.fa", patterns.iter().enumerate().map(named).collect::<String>());
    dir.write("t.fa", line("long", &text) + &line("short", &text[..30]) + ">empty\n");
    let pair = [&patterns[0], &patterns[1]].map(|one| String::from_utf8_lossy(one));
    dir.write("pairs.tsv", format!("a\t{}\t{}\n", pair[0], pair[1]));
    let read = |at: usize| {
        let from = random.below(text.len() - 300);
        let letters = String::from_utf8_lossy(&text[from..from + random.below(300)]);
        format!("@r{at}\n{letters}\n+\n{}\n", "I".repeat(letters.len()))
    };
    dir.write("r.fq", (0..3000).map(read).collect::<String>());
    dir
}

/// Returns the hits, the counts, and the number of letters that GPUs searched, if there are any: CPU workers wait for them.
fn searched(dir: &Dir, args: &str) -> ([Vec<u8>; 2], u64) {
    let args = format!("search {args} --counts c.tsv --json j.json -q");
    let mut command = program();
    command.current_dir(dir.root()).args(args.split_whitespace());
    let output = command.env("MERGANSER_TEST_GPUS_ALONE", "1").output().unwrap();
    Ran::new(&output, dir.root()).ok();
    let summary: serde_json::Value = serde_json::from_slice(&dir.read("j.json")).unwrap();
    let letters = summary["results"]["gpu_letters"].as_u64().unwrap();
    assert!(letters == 0 || summary["machine"]["device"] != "cpu", "{args}");
    ([dir.read("o"), dir.read("c.tsv")], letters)
}

#[test]
fn search_writes_the_same_on_cuda() {
    if !usable() {
        return;
    }
    let dir = prepared();
    let two = two_devices();
    let mut by_gpus = 0;
    for options in [
        "--patterns p.fa -e 4 t.fa r.fq --format tsv",
        "--patterns p.fa -e 20% --strand reverse --match-n t.fa --format bed",
        "--patterns p.fa -e 3 --all-ends r.fq t.fa --format tsv",
        "--patterns p.fa -e 5 --hamming t.fa --format tsv",
        "--guides p.fa --pam NGG -e 4 --seed 8:1 t.fa --format sam",
        "--guides p.fa --pam TTV --pam-first -e 4 --hamming r.fq t.fa --format tsv",
        "--primers pairs.tsv -e 4 --max-amplicon 100000 t.fa --format fasta",
    ] {
        let (expected, none) = searched(&dir, &format!("{options} -o o --device cpu"));
        assert_eq!(none, 0);
        assert!(expected[0].len() > 200, "{options}: no hits");
        for devices in ["cuda:0", "cuda:0 --threads 1", "cuda:0 --gpu-memory 300M", two] {
            let (found, letters) = searched(&dir, &format!("{options} -o o --device {devices}"));
            assert_eq!(found, expected, "{options} --device {devices}");
            by_gpus += letters;
        }
    }
    assert!(by_gpus > 0, "no letters were searched on devices");
}

#[test]
fn what_devices_cannot_do_is_said() {
    if !usable() {
        return;
    }
    let dir = prepared();
    let run =
        |options: &str| dir.run(&format!("search -p ACGTTGCATG -e 2 t.fa {options} -q -o o.tsv"));
    let said = run("--overhang 0.5 --device cuda").fails(2);
    assert!(said.contains("--overhang cannot be used on a GPU"), "{said}");
    let said = run("--device cuda --gpu-memory 1M").fails(1);
    assert!(said.contains("cuda:0 has 1023 KiB of memory"), "{said}");
    assert!(!dir.root().join("o.tsv").exists());
    run("--device auto --gpu-memory 1M").ok();
}
