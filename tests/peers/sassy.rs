//! Sassy's unit tests (`src/search.rs`): patterns in texts, their places and costs.

use merganser_test_support::Dir;

use super::data::{Cases, function, literals, peer};

/// A hit: first letter, end, edits and strand.
type Hit = (usize, usize, usize, char);

fn hits(text: &str, options: &str) -> Vec<Hit> {
    let dir = Dir::new();
    dir.write("t.fa", format!(">t\n{text}\n"));
    let table = dir.run(&format!("search -q t.fa {options}")).ok();
    let hit = |line: &str| {
        let cells: Vec<&str> = line.split('\t').collect();
        let number = |at: usize| cells[at].parse().unwrap();
        (number(1), number(2), number(4), cells[5].chars().next().unwrap())
    };
    table.lines().skip(1).map(hit).collect()
}

/// Text, options, and the hits that must be there; if `all`, there are no others.
type Case = (&'static str, &'static str, &'static str, bool, &'static [Hit]);

const CASES: [Case; 14] = [
    ("exact_match", "ACGT", "-p ACGT -e 0", true, &[(0, 4, 0, '+')]),
    ("no_match", "TTTT", "-p ACGT -e 2", true, &[]),
    (
        "multiple_end_positions",
        "AAAA",
        "-p AA -e 0",
        true,
        &[(0, 2, 0, '+'), (1, 3, 0, '+'), (2, 4, 0, '+')],
    ),
    ("trace_path_0_edits", "GGGGATGCGGG", "-p ATGC -e 0", true, &[(4, 8, 0, '+')]),
    ("trace_path_1_edits", "GGGGATTGCGGG", "-p ATGC -e 1", true, &[(5, 9, 1, '+')]),
    ("README, one pattern", "AAAATTGAAA", "-p ATCG -e 1", true, &[(3, 7, 1, '+')]),
    ("README, ATG", "CCCCATGCCCCTTT", "-p ATG -e 0", true, &[(4, 7, 0, '+')]),
    ("README, TTT", "CCCCATGCCCCTTT", "-p TTT -e 0", true, &[(11, 14, 0, '+')]),
    (
        "overshoot_simple_prefix",
        "GGGGTTTTTTTTTTTTTTTT",
        "-p AAAAGGGG -e 2 --overhang 0.5 --all-ends",
        false,
        &[(0, 4, 2, '+')],
    ),
    (
        "overshoot_simple_suffix",
        "TTTTTTTTTTTTTTTTGGGG",
        "-p GGGGAAAA -e 2 --overhang 0.5",
        false,
        &[(16, 20, 2, '+')],
    ),
    (
        "overshoot_test_prefix_and_suffix",
        "GGGGGAAAAA",
        "-p AAAAGGGG -e 2 --overhang 0.5 --all-ends",
        false,
        &[(0, 4, 2, '+'), (6, 10, 2, '+')],
    ),
    (
        "trace_path_with_overhang_prefix",
        "ATCGGGGGGGGGG",
        "-p ATCGATCG -e 2 --overhang 0.5 --all-ends",
        false,
        &[(0, 4, 2, '+')],
    ),
    (
        "trace_path_with_overhang_suffix",
        "GGGGGGGATCG",
        "-p ATCGATCG -e 2 --overhang 0.5",
        false,
        &[(7, 11, 2, '+')],
    ),
    ("n_frac, N after the match", "NNNNNNNNACGTACGT", "-p ACGTACGT -e 1", true, &[(8, 16, 0, '+')]),
];

#[test]
fn places_are_those_of_unit_tests() {
    let mut cases = Cases::of("Sassy");
    for (name, text, options, all, expected) in CASES {
        let found = hits(text, &format!("{options} --strand forward"));
        let passed = expected.iter().all(|hit| found.contains(hit));
        cases.add(name, passed && (!all || found.len() == expected.len()));
    }
    both_strands(&mut cases);
    let mut text = "G".repeat(1000);
    let places = [50, 150, 250, 350, 450, 800];
    for place in places {
        text.replace_range(place..place + 8, "ATCGATCA");
    }
    let found = hits(&text, "-p ATCGATCA -e 1 --strand forward");
    cases.add("fixed_matches", found == places.map(|place| (place, place + 8, 0, '+')));
    cases.end(&[]);
}

fn both_strands(cases: &mut Cases) {
    let text = "GGGGGGGGTGATCGATGGGGGGGG";
    cases.add("fwd_rc_search", hits(text, "-p ATCGATCA -e 0") == [(8, 16, 0, '-')]);
    let forward = hits(text, "-p ATCGATCA -e 0 --strand forward");
    cases.add("fwd_rc_search, forward only", forward.is_empty());
    let rc = hits("GGGGGGGGATGCGGAAAA", "-p TCCGGAT -e 1");
    cases.add("trace_path_0_edits_rc", rc.contains(&(8, 15, 1, '-')));
    let n = hits("NNNN", "-p ACGT -e 3");
    cases.add("n_frac, only N", n.is_empty());
    cases.add("n_frac, only N match", hits("NNNN", "-p ACGT -e 0 --match-n").len() == 2);
}

/// The cases with long texts, which are read from the source: a hit begins within the edits of the expected place.
#[test]
fn places_in_long_texts_are_those_of_unit_tests() {
    let Some(path) = peer("sassy/src/search.rs") else { return };
    let source = std::fs::read_to_string(path).unwrap();
    let mut cases = Cases::of("Sassy, long texts");
    for (name, edits, place) in
        [("no_extra_matches", 6, 277), ("search_bug_2", 1, 436), ("search_bug_3", 18, 3)]
    {
        let [pattern, text] = literals(function(&source, &format!("fn {name}()")))[..2] else {
            panic!("{name}")
        };
        let found = hits(text, &format!("-p {pattern} -e {edits} --strand forward"));
        cases.add(name, found.iter().any(|hit| hit.0.abs_diff(place) <= edits));
    }
    let texts = literals(function(&source, "fn fwd_rc_test()"));
    let found = hits(texts[1], &format!("-p {} -e 20", texts[0]));
    cases.add("fwd_rc_test", found.iter().any(|hit| hit.2 == 0 && hit.3 == '-'));
    cases.end(&[]);
}
