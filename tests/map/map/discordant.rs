//! Warnings about inputs in which most pairs are discordant.

use std::fmt::Write as _;

use super::*;
use merganser_test_support::oracle::complement;

/// Bases of a mate.
const READ: usize = 100;

/// Positions of both mates: contig, first base, and whether on the reverse strand.
type Places = [(usize, usize, bool); 2];

/// A directory with a reference of two contigs.
struct World {
    dir: Dir,
    contigs: [Vec<u8>; 2],
}

impl World {
    fn new() -> World {
        let mut random = Random(11);
        let contigs = [random.bases(60_000), random.bases(60_000)];
        let dir = Dir::new();
        dir.write("ref.fa", fasta(&contigs));
        World { dir, contigs }
    }

    fn read(&self, (contig, from, reverse): (usize, usize, bool)) -> Vec<u8> {
        let letters = &self.contigs[contig][from..from + READ];
        if reverse { complement(letters) } else { letters.to_vec() }
    }

    /// Writes pairs to `NAME_1.fq` and `NAME_2.fq`.
    fn write(&self, name: &str, pairs: &[Places]) {
        for mate in 0..2 {
            let mut text = String::new();
            for (number, places) in pairs.iter().enumerate() {
                let letters = String::from_utf8(self.read(places[mate])).unwrap();
                writeln!(text, "@{name}{number}\n{letters}\n+\n{}", "I".repeat(READ)).unwrap();
            }
            self.dir.write(&format!("{name}_{}.fq", mate + 1), text);
        }
    }

    /// Returns the warnings of a run with these arguments.
    fn warnings(&self, args: &str) -> Vec<String> {
        let ran = self.dir.run(&format!("map ref.fa -e 4 --best -o o.bam {args}"));
        let warnings = ran.warnings().into_iter().map(str::to_owned).collect();
        ran.ok();
        warnings
    }

    /// Maps these pairs and returns the only warning.
    #[track_caller]
    fn warning(&self, pairs: &[Places], options: &str) -> String {
        self.write("p", pairs);
        let warnings = self.warnings(&format!("-1 p_1.fq -2 p_2.fq {options}"));
        assert_eq!(warnings.len(), 1, "{warnings:?}");
        warnings[0].clone()
    }
}

/// Returns pairs whose mates point towards each other, with these outer distances.
fn inward(lengths: impl IntoIterator<Item = usize>) -> Vec<Places> {
    let pairs = lengths.into_iter().enumerate().map(|(number, bases)| {
        let from = 100 + 37 * number % 20_000;
        let mates = [(0, from, false), (0, from + bases - READ, true)];
        if number % 2 == 0 { mates } else { [mates[1], mates[0]] }
    });
    pairs.collect()
}

/// Returns `count` pairs along the reference whose first bases have this distance.
fn laid(count: usize, distance: usize, strands: [bool; 2]) -> Vec<Places> {
    let pair = |number| {
        let from = 100 + 41 * number;
        [(0, from, strands[0]), (0, from + distance, strands[1])]
    };
    (0..count).map(pair).collect()
}

#[test]
fn distances_that_are_not_allowed() {
    let world = World::new();
    let far = inward((0..100).map(|number| 700 + number));
    let warning = world.warning(&far, "");
    for part in ["p_1.fq and p_2.fq: 100 of 100 pairs", "--max-insert 500", "for example to 900"] {
        assert!(warning.contains(part), "{warning}");
    }
    assert_eq!(world.warnings("-1 p_1.fq -2 p_2.fq --max-insert 900"), [""; 0]);
    let near = world.warning(&far, "--min-insert 850 --max-insert 2000");
    assert!(near.contains("nearer than --min-insert 850") && near.contains("lower"), "{near}");
    let spliced = inward((0..100).map(|number| 600 + 300 * number));
    let warning = world.warning(&spliced, "");
    assert!(warning.contains("may be spliced") && !warning.contains("raise"), "{warning}");
}

#[test]
fn strands_that_are_not_those_of_pairs() {
    let world = World::new();
    let warning = world.warning(&laid(40, 300, [false, false]), "");
    assert!(warning.contains("on the same strand (about 40"), "{warning}");
    let warning = world.warning(&laid(40, 0, [true, true]), "");
    assert!(warning.contains("may be a copy of the first"), "{warning}");
    let warning = world.warning(&laid(40, 2900, [true, false]), "");
    assert!(warning.contains("point away from each other"), "{warning}");
    assert!(warning.contains("raise --max-insert, for example to 3100"), "{warning}");
    assert!(warning.contains("give --orientation rf"), "{warning}");
    let outward = "-1 p_1.fq -2 p_2.fq --orientation rf --max-insert 3100";
    assert_eq!(world.warnings(outward), [""; 0]);
    let warning = world.warning(&laid(40, 300, [false, true]), "--orientation rf");
    assert!(warning.contains("leave --orientation out"), "{warning}");
    // Dovetailed mates are concordant: each reaches beyond the first sequenced base of the other.
    world.write("p", &laid(40, 30, [true, false]));
    assert_eq!(world.warnings("-1 p_1.fq -2 p_2.fq"), [""; 0]);
    // Mates at the same position: neither extends beyond the other.
    let mates = |number: usize| [(0, 50 * number, false), (0, 50 * number, true)];
    world.write("p", &(0..40).map(mates).collect::<Vec<_>>());
    assert_eq!(world.warnings("-1 p_1.fq -2 p_2.fq"), [""; 0]);
}

#[test]
fn files_whose_pairs_are_in_another_order() {
    let world = World::new();
    let mut random = Random(3);
    let mut lie = |contigs: usize| {
        let reverse = random.below(2) == 0;
        (random.below(contigs), random.below(59_000), reverse)
    };
    let one_contig: Vec<Places> = (0..400).map(|_| [lie(1), lie(1)]).collect();
    let warning = world.warning(&one_contig, "");
    assert!(warning.contains("lie anywhere") && warning.contains("same order"), "{warning}");
    let other_contigs: Vec<Places> =
        (0..100).map(|number| [(0, 20 * number, false), (1, 30 * number, true)]).collect();
    let warning = world.warning(&other_contigs, "");
    assert!(warning.contains("100 of 100") && warning.contains("different contigs"), "{warning}");
}

#[test]
fn most_pairs_of_an_input_are_wanted_and_twenty() {
    let world = World::new();
    let mixed =
        |far: usize, good: usize| inward((0..far).map(|_| 900).chain((0..good).map(|_| 300)));
    for (far, good, warns) in [(19, 0, false), (20, 0, true), (40, 40, false), (41, 40, true)] {
        world.write("p", &mixed(far, good));
        let warnings = world.warnings("-1 p_1.fq -2 p_2.fq");
        assert_eq!(warnings.len(), usize::from(warns), "{far} {good} {warnings:?}");
    }
    // The warning is per input: most pairs of both inputs together are concordant.
    world.write("good", &mixed(0, 400));
    world.write("far", &mixed(50, 0));
    let both = "-1 good_1.fq -1 far_1.fq -2 good_2.fq -2 far_2.fq";
    let warnings = world.warnings(both);
    assert_eq!(warnings.len(), 1);
    assert!(warnings[0].starts_with("warning: far_1.fq and far_2.fq: 50 of 50 "), "{warnings:?}");
    // Several inputs with the same fault have one warning.
    world.write("again", &mixed(30, 0));
    let three = "-1 far_1.fq -1 good_1.fq -1 again_1.fq -2 far_2.fq -2 good_2.fq -2 again_2.fq";
    let warnings = world.warnings(three);
    assert_eq!(warnings.len(), 1);
    let begin = "warning: far_1.fq and far_2.fq, and 1 more of the inputs: 80 of 80 ";
    assert!(warnings[0].starts_with(begin), "{warnings:?}");
}

/// In a reference with two copies of a genome, every read has two equally good hits.
#[test]
fn reads_of_both_haplotypes_of_a_reference() {
    let world = World::new();
    world.dir.write("ref.fa", fasta(&[world.contigs[0].clone(), world.contigs[0].clone()]));
    let warning = world.warning(&inward((0..60).map(|_| 900)), "");
    assert!(warning.contains("60 of 60 pairs"), "{warning}");
}

#[test]
fn warnings_are_the_same_whatever_the_threads_and_the_form_of_the_input() {
    let world = World::new();
    let pairs = inward((0..9000).map(|number| 600 + number % 150));
    let expected = world.warning(&pairs, "-t 1");
    for options in ["-t 4", "--sort", "--rescue 10%", "--clip", "--json j"] {
        assert_eq!(world.warning(&pairs, options), expected, "{options}");
    }
    let json: serde_json::Value = serde_json::from_slice(&world.dir.read("j")).unwrap();
    assert_eq!(format!("warning: {}", json["warnings"][0].as_str().unwrap()), expected);
    let read = |mate| String::from_utf8(world.dir.read(&format!("p_{mate}.fq"))).unwrap();
    let [one, two] = [read(1), read(2)];
    let records = |text: &str| -> Vec<String> {
        let lines: Vec<&str> = text.lines().collect();
        lines.chunks(4).map(|record| record.join("\n") + "\n").collect()
    };
    let both = records(&one).into_iter().zip(records(&two));
    world.dir.write("both.fq", both.map(|(one, two)| one + &two).collect::<String>());
    let interleaved = world.warnings("--interleaved both.fq");
    assert_eq!(interleaved, [expected.replace("p_1.fq and p_2.fq", "both.fq")]);
    world.dir.write("sheet", "s\tp_1.fq\tp_2.fq\n");
    let ran = world.dir.run("map ref.fa -e 4 --best -o {}.bam --sample-sheet sheet");
    assert_eq!(ran.warnings(), [&expected]);
    // Each shard warns about its own pairs.
    let shard = world.warnings("-1 p_1.fq -2 p_2.fq --shard 1/2");
    assert!(shard.len() == 1 && shard[0].contains("farther apart"), "{shard:?}");
}
