//! All ends of alignments, compared with edlib.

use std::process::Command;

use merganser_test_support::Dir;
use merganser_test_support::reads::Random;
use merganser_test_support::tools::shell;

/// Compares the ends with the fewest edits of each pattern in each text with those of edlib, in mode HW: the pattern
/// anywhere in the text.
const JUDGE: &str = r#"
import edlib, itertools, sys
iupac = dict(A="A", C="C", G="G", T="T", R="AG", Y="CT", S="CG", W="AT", K="GT", M="AC", B="CGT", D="AGT", H="ACT",
             V="ACG", N="ACGT")
equal = [(a, b) for a, b in itertools.permutations(iupac, 2) if set(iupac[a]) & set(iupac[b])]
match_n = sys.argv[1] == "match"
def records(name):
    for record in open(name).read().split(">")[1:]:
        name, *letters = record.split("\n")
        yield name, "".join(letters)
found = {}
for line in open("hits.tsv").read().split("\n")[1:-1]:
    text, start, end, pattern, edits, *_ = line.split("\t")
    found.setdefault((text, pattern), {}).setdefault(int(edits), set()).add(int(end))
compared = 0
for text, letters in records("texts.fa"):
    # x is equal to no letter.
    letters = letters if match_n else letters.replace("N", "x")
    for pattern, query in records("patterns.fa"):
        best = edlib.align(query, letters, mode="HW", task="locations", k=int(sys.argv[2]), additionalEqualities=equal)
        hits = found.pop((text, pattern), {})
        if best["editDistance"] < 0:
            assert not hits, (text, pattern, hits)
            continue
        assert min(hits) == best["editDistance"], (text, pattern, hits, best)
        ends = {end + 1 for _, end in best["locations"] if end >= 0}
        assert hits[min(hits)] == ends, (text, pattern, hits[min(hits)], ends)
        compared += len(ends)
assert not found
print(compared)
"#;

#[test]
fn ends_are_those_of_edlib() {
    let python = "/usr/bin/python3";
    let has_edlib = Command::new(python).args(["-c", "import edlib"]).output();
    if !has_edlib.is_ok_and(|ran| ran.status.success()) {
        eprintln!("skipped: edlib for {python} is not installed");
        return;
    }
    let dir = Dir::new();
    dir.write("judge.py", JUDGE);
    let mut random = Random(11);
    let text = |letters: &[u8]| String::from_utf8(letters.to_vec()).unwrap();
    for round in 0..8 {
        let (mut texts, mut patterns) = (String::new(), String::new());
        let letters: Vec<Vec<u8>> = (0..6)
            .map(|_| {
                let length = 100 + random.below(3_000);
                let mut letters = random.bases(length);
                for _ in 0..length / 40 {
                    letters[random.below(length)] = b"NNNRYK"[random.below(6)];
                }
                letters
            })
            .collect();
        for (number, letters) in letters.iter().enumerate() {
            texts += &format!(">t{number}\n{}\n", text(letters));
        }
        for number in 0..25 {
            let source = &letters[random.below(letters.len())];
            let length = 8 + random.below(60);
            let start = random.below(source.len() - length);
            let mut letters = source[start..start + length].to_vec();
            for letter in &mut letters {
                match random.below(12) {
                    0 => *letter = b"ACGT"[random.below(4)],
                    1 => *letter = b"RYSWKMBDHVN"[random.below(11)],
                    _ => {}
                }
            }
            patterns += &format!(">p{number}\n{}\n", text(&letters));
        }
        dir.write("texts.fa", texts);
        dir.write("patterns.fa", patterns);
        let edits = round % 7;
        let (option, rule) = if round % 2 == 0 { ("--match-n", "match") } else { ("", "none") };
        dir.run(&format!(
            "search -q --patterns patterns.fa -e {edits} --all-ends --strand forward {option} texts.fa -o hits.tsv"
        ))
        .ok();
        let compared = shell(dir.root(), &format!("{python} judge.py {rule} {edits}"));
        eprintln!("-e {edits} {rule}: {} ends", String::from_utf8_lossy(&compared).trim());
    }
}
