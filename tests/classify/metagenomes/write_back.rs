//! Reads written back, and reads and bases that are skipped.

use super::world::{World, lines};
use merganser_test_support::gunzip;

fn records(text: &str) -> Vec<String> {
    let lines: Vec<&str> = text.lines().collect();
    lines.chunks(4).map(|four| four.join("\n")).collect()
}

/// Outputs with Kraken 2's `#` have unchanged records with comments and qualities; a gz suffix compresses.
#[test]
fn classified_and_unclassified_reads_are_the_input_again() {
    let world = World::built();
    let dir = &world.dir;
    let out = "--classified-out c#.fq.gz --unclassified-out u#.fq";
    let text = dir.run(&format!("classify refs.mgdb -1 1.fq -2 2.fq -q {out}")).ok();
    let found = lines(&text);
    for mate in ["1", "2"] {
        let input = records(&String::from_utf8(dir.read(&format!("{mate}.fq"))).unwrap());
        let split = |classified: bool| -> Vec<String> {
            let both = input.iter().zip(&found);
            both.filter(|(_, line)| (line.taxid != 0) == classified)
                .map(|(r, _)| r.clone())
                .collect()
        };
        let classified = gunzip(&dir.path(&format!("c_{mate}.fq.gz")));
        assert_eq!(records(&String::from_utf8(classified).unwrap()), split(true));
        let rest = String::from_utf8(dir.read(&format!("u_{mate}.fq"))).unwrap();
        assert_eq!(records(&rest), split(false));
        assert!(!split(false).is_empty());
    }
    // Single reads go to the name without `#`, together with pairs; without `#`, mates are interleaved.
    dir.run("classify refs.mgdb -1 1.fq -2 2.fq -U 1.fq -q --no-map --classified-out m#.fq").ok();
    for name in ["m.fq", "m_1.fq", "m_2.fq"] {
        assert!(!dir.read(name).is_empty());
    }
    dir.run("classify refs.mgdb -1 1.fq -2 2.fq -q --no-map --unclassified-out one.fq").ok();
    let one = records(&String::from_utf8(dir.read("one.fq")).unwrap());
    let (first, second) = (dir.read("u_1.fq"), dir.read("u_2.fq"));
    let first = records(&String::from_utf8(first).unwrap());
    let second = records(&String::from_utf8(second).unwrap());
    let both = first.into_iter().zip(second).flat_map(|(one, two)| [one, two]);
    assert_eq!(one, both.collect::<Vec<_>>());
    // Unclassified reads remain unclassified.
    let again = dir.run("classify refs.mgdb --interleaved one.fq -q").ok();
    assert!(lines(&again).iter().all(|line| line.taxid == 0));
}

#[test]
fn fasta_comes_back_as_fasta() {
    let world = World::built();
    let dir = &world.dir;
    let read = String::from_utf8_lossy(&world.genomes[1][20_000..20_120]).into_owned();
    dir.write("r.fa", format!(">x y z\n{}\n{}\n>e\n", &read[..60], &read[60..]));
    dir.run("classify refs.mgdb r.fa -q --no-map --classified-out c --unclassified-out u").ok();
    assert_eq!(String::from_utf8(dir.read("c")).unwrap(), format!(">x y z\n{read}\n"));
    assert_eq!(dir.read("u"), b">e\n\n");
}

#[test]
fn lengths_and_qualities_that_take_no_part() {
    let world = World::built();
    let dir = &world.dir;
    let genome = String::from_utf8_lossy(&world.genomes[2]).into_owned();
    let record = |name: &str, length: usize, quality: &str| {
        format!("@{name}\n{}\n+\n{}\n", &genome[..length], quality.repeat(length))
    };
    let text = record("short", 60, "I")
        + &record("good", 100, "I")
        + &record("bad", 100, "#")
        + &record("long", 300, "I");
    dir.write("r.fq", text);
    let taxids = |options: &str| -> Vec<u32> {
        let text = dir.run(&format!("classify refs.mgdb r.fq -q {options}")).ok();
        lines(&text).iter().map(|line| line.taxid).collect()
    };
    assert_eq!(taxids(""), [21, 21, 21, 21]);
    assert_eq!(taxids("--min-read-len 61"), [0, 21, 21, 21]);
    assert_eq!(taxids("--min-read-len 60 --max-read-len 299"), [21, 21, 21, 0]);
    assert_eq!(taxids("--min-qual 20"), [21, 21, 0, 21]);
    assert_eq!(taxids("--min-qual 2"), [21, 21, 21, 21]);
    assert_eq!(taxids("--min-qual 3"), [21, 21, 0, 21]);
    // The line has the full length of the read; skipped reads are counted and written back completely.
    let ran = dir.run(
        "classify refs.mgdb r.fq --min-read-len 61 --min-qual 20 --json j \
                       -o o --unclassified-out u",
    );
    assert!(ran.stderr.contains("1 reads were skipped because of their length"), "{}", ran.stderr);
    ran.ok();
    let json: serde_json::Value = serde_json::from_slice(&dir.read("j")).unwrap();
    assert_eq!(json["results"]["passed_over"], 1);
    let found = lines(&String::from_utf8(dir.read("o")).unwrap());
    assert_eq!((&found[0].length[..], found[0].candidates.len()), ("60", 0));
    assert_eq!(
        String::from_utf8(dir.read("u")).unwrap(),
        record("short", 60, "I") + &record("bad", 100, "#")
    );
    // The other mate of a skipped read is still used.
    dir.write("1.fq", record("p/1", 60, "I"));
    dir.write("2.fq", record("p/2", 100, "I"));
    let pair = dir.run("classify refs.mgdb -1 1.fq -2 2.fq -q --min-read-len 61").ok();
    assert_eq!((lines(&pair)[0].taxid, &lines(&pair)[0].length[..]), (21, "60|100"));
}
