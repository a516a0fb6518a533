//! Patterns of the command line and of files.

use merganser_test_support::Dir;
use merganser_test_support::forms::gzip;

fn text() -> Dir {
    let dir = Dir::new();
    dir.write("t.fa", ">a\nTTTTTACGTGCGTTGCATTTTTTTTGATTACAGTTTT\n");
    dir
}

#[test]
fn patterns_come_from_everywhere() {
    let dir = text();
    let hits = |args: &str| {
        let table = dir.run(&format!("search -q -e 0 t.fa {args} --format bed")).ok();
        let column = |line: &str| line.split('\t').nth(3).unwrap().to_owned();
        table.lines().map(column).collect::<Vec<_>>()
    };
    dir.write("lines", "# adapters\none\tACGTGCGTTGCA\n\ngattacag\n");
    dir.write("p.fa.gz", gzip(b">three x\nCGTG\nCGTT\n"));
    assert_eq!(hits("-p ACGTG -p GATTACAG"), ["ACGTG", "GATTACAG"]);
    assert_eq!(hits("--guides lines"), ["one", "gattacag"]);
    assert_eq!(
        hits("--patterns lines --patterns p.fa.gz -p TGATT"),
        ["one", "three", "TGATT", "gattacag"]
    );
    // The same letters with two names are two patterns, in their order.
    dir.write("same", "b\tGATTACAG\na\tGATTACAG\n");
    assert_eq!(hits("--patterns same"), ["b", "a"]);
}

#[test]
fn patterns_that_match_everywhere_because_of_their_ns_are_warned_of() {
    let dir = text();
    for (args, expected) in [
        (
            "-p NNNN -e 0",
            "pattern NNNN matches everywhere: 0 letters other than N, and 0 edits allowed",
        ),
        (
            "-p NANN -e 1",
            "pattern NANN matches everywhere: 1 letter other than N, and 1 edit allowed",
        ),
    ] {
        let ran = dir.run(&format!("search {args} t.fa --format bed"));
        assert_eq!(ran.warnings(), [format!("warning: {expected}")]);
        assert!(ran.ok().lines().count() > 20);
    }
    for args in ["-p NANN -e 0", "-p NNNN --pam NGG -e 0"] {
        assert_eq!(dir.run(&format!("search {args} t.fa --format bed")).warnings(), [""; 0]);
    }
}

#[test]
fn errors_say_where_and_what_to_do() {
    let dir = text();
    let long = "A".repeat(129);
    for (name, content, expected) in [
        (
            "empty",
            String::new(),
            "empty: it has no patterns: give FASTA, or lines of NAME<TAB>LETTERS or LETTERS",
        ),
        (
            "letters",
            "one\tACG\ntwo\tAC-G".into(),
            "letters: line 2: pattern two: '-' at letter 3 is no IUPAC letter of DNA: use A, C, G, T, U and RYSWKMBDHVN",
        ),
        (
            "long",
            format!(">x\n{long}\n"),
            "long: line 1: pattern x: it has 129 letters; a pattern has at most 128",
        ),
        (
            "twice",
            ">a\nACGT\n>a\nACG\n".into(),
            "twice: line 3: pattern a: line 1 of twice has a pattern of this name, too: leave one out, or give it another name",
        ),
        ("control", "a\u{7}b\tACGT\n".into(), "control: line 1: pattern a\\u{7}b: the name"),
        (
            "short",
            ">x\nACG\n".into(),
            "short: line 1: pattern x: with 3 edits its 3 letters match everywhere: give fewer edits (-e)",
        ),
    ] {
        dir.write(name, content);
        let error = dir.run(&format!("search -e 3 t.fa --patterns {name} -o o.tsv")).fails(1);
        assert!(error.starts_with(&format!("error: {expected}")), "{error}");
        assert!(!dir.names().contains(&"o.tsv".to_owned()));
    }
    let error = dir.run("search -e 0 t.fa -p ACGT -p ACGT").fails(1);
    assert!(error.contains("pattern ACGT: the command line has a pattern of this name"), "{error}");
    let error = dir.run("search -e 0 t.fa -p ACXT").fails(1);
    assert!(error.contains("pattern ACXT: 'X' at letter 3"), "{error}");
    let error = dir.run("search -e 0 t.fa --patterns missing").fails(1);
    assert!(error.starts_with("error: missing: "), "{error}");
    let error = dir.run("search -e 0 - --patterns -").fails(1);
    assert!(error.contains("standard input ('-') is given more than once"), "{error}");
    for args in ["t.fa -e 0", "t.fa -p ACGT", "-p ACGT -e 0", "t.fa -p ACGT -e x"] {
        assert_eq!(dir.run(&format!("search {args}")).code, Some(2), "{args}");
    }
    // Tips for names of other programs.
    for (option, tip) in [
        ("-k 2", "-e N is the maximum number of edits"),
        ("--no-rc", "--strand forward"),
        ("-f p.fa", "--patterns FILE"),
        ("-j 2", "-t N or --threads N"),
    ] {
        let said = dir.run(&format!("search -p ACGT -e 0 t.fa {option}")).stderr;
        assert!(said.contains(tip), "{option}: {said}");
    }
}
