//! Indexes of `merganser index` as texts: the outputs are those of the FASTA file.

use std::fs;

use merganser_test_support::Dir;
use merganser_test_support::reads::Random;

/// Returns a folder with a genome in `g.fa` and its index `g.mgi`: a contig longer than a stretch, lower case, N, and
/// several lines.
fn world() -> Dir {
    let dir = Dir::new();
    let mut random = Random(11);
    let mut bases = |count| String::from_utf8(random.bases(count)).unwrap();
    let (long, end) = (bases(700_000), bases(3001));
    let middle = bases(500).to_lowercase() + &"N".repeat(200) + &bases(77) + "nnACGTN";
    let lines = |letters: &str| {
        letters
            .as_bytes()
            .chunks(70)
            .fold(String::new(), |text, line| text + std::str::from_utf8(line).unwrap() + "\n")
    };
    let contigs = [(">long first", &long), (">middle", &middle), (">end topology=circular", &end)];
    dir.write(
        "g.fa",
        contigs.map(|(name, letters)| format!("{name}\n{}", lines(letters))).concat(),
    );
    dir.run("index -q g.fa -o g.mgi").ok();
    let stretch = |text: &str, at: usize| text[at..at + 20].to_owned();
    let patterns = [
        stretch(&long, 491_510),
        stretch(&middle, 100),
        stretch(&end, 2970),
        "GGATTACAGATTACAACGTT".to_owned(),
    ];
    dir.write(
        "p.txt",
        patterns
            .concat()
            .as_bytes()
            .chunks(20)
            .map(|p| String::from_utf8(p.to_ascii_uppercase()).unwrap() + "\n")
            .collect::<String>(),
    );
    dir.write("pairs.tsv", format!("a\t{}\t{}\n", "GATTACA", "TGTTAGC"));
    dir
}

/// Runs a search, and returns its output without the names of texts in SAM's header.
fn output(dir: &Dir, options: &str, text: &str, name: &str) -> Vec<u8> {
    dir.run(&format!("search -q {options} {text} -o {name} --counts c.tsv --memory 1G")).ok();
    let output = dir.read(name);
    let counts = dir.read("c.tsv");
    let is_sam = name.ends_with(".sam");
    let lines = output.split_inclusive(|&byte| byte == b'\n');
    let kept = lines.filter(|line| !(is_sam && line.starts_with(b"@PG")));
    [kept.collect::<Vec<_>>().concat(), counts].concat()
}

#[test]
fn outputs_are_those_of_the_fasta_file() {
    let dir = world();
    for (options, name) in [
        ("--patterns p.txt -e 6", "o.tsv"),
        ("--patterns p.txt -e 4 --match-n -t 3", "o.bed"),
        ("--patterns p.txt -e 5 --overhang 0.5", "o.tsv"),
        ("--patterns p.txt -e 8 --hamming --pam NGG,NAG", "o.sam"),
        ("--patterns p.txt -e 3", "o.sam"),
        ("--primers pairs.tsv -e 1", "o.fa"),
    ] {
        let [fasta, index] = ["g.fa", "g.mgi"].map(|text| output(&dir, options, text, name));
        assert!(fasta.len() > 200, "{options}: {}", String::from_utf8_lossy(&fasta));
        assert!(fasta == index, "{options}");
    }
    // BAM is compressed, and its header names the input: the records are compared as SAM.
    dir.run("search -q --patterns p.txt -e 3 g.mgi -o o.bam").ok();
    assert!(dir.read("o.bam").starts_with(&[31, 139]));
}

#[test]
fn indexes_and_files_are_searched_in_their_order() {
    let dir = world();
    let mut random = Random(3);
    let other = format!(">other\n{}\n", String::from_utf8(random.bases(900)).unwrap());
    dir.write("other.fa", other);
    let options = "--patterns p.txt -e 6";
    let [fasta, index] =
        ["other.fa g.fa", "other.fa g.mgi"].map(|it| output(&dir, options, it, "o.tsv"));
    assert!(fasta == index);
    dir.write("list", "g.mgi\nother.fa\n");
    let [fasta, index] = ["g.fa other.fa", "@list"].map(|it| output(&dir, options, it, "o.sam"));
    assert!(fasta == index);
    // The same sequences twice cannot be in the header of SAM.
    let error = dir.run("search -q --patterns p.txt -e 1 g.fa g.mgi -o o.sam").fails(1);
    assert!(error.contains("g.mgi: record 1: another sequence has the name long"), "{error}");
}

#[test]
fn damaged_indexes_leave_no_output() {
    let dir = world();
    let good = dir.read("g.mgi");
    dir.write("cut.mgi", &good[..good.len() - 5000]);
    let mut bytes = good.clone();
    bytes[4096 + 70_000] ^= 1;
    dir.write("damaged.mgi", &bytes);
    dir.write("head.mgi", &good[..40]);
    for (name, problem) in [
        ("cut.mgi", "cut.mgi: the index "),
        ("damaged.mgi", "damaged.mgi: cannot read: section 1 of 6 is damaged (checksum)"),
        ("head.mgi", "head.mgi: "),
    ] {
        for output in ["o.tsv", "o.sam"] {
            let run = format!("search -q --patterns p.txt -e 2 {name} -o {output} --counts c.tsv");
            let error = dir.run(&run).fails(1);
            assert!(error.starts_with(&format!("error: {problem}")), "{error}");
            assert_eq!(error.trim_end().lines().count(), 1, "{error}");
            assert!(!dir.names().iter().any(|name| name == output || name == "c.tsv"));
        }
    }
}

#[test]
fn streams_of_indexes_are_refused() {
    let dir = world();
    let file = fs::File::open(dir.path("g.mgi")).unwrap();
    let program = merganser_test_support::program()
        .args(["search", "-q", "-p", "GATTACA", "-e", "1", "-"])
        .stdin(file)
        .output()
        .unwrap();
    let error = String::from_utf8(program.stderr).unwrap();
    assert_eq!((program.status.code(), program.stdout.len()), (Some(1), 0), "{error}");
    assert!(
        error.starts_with("error: stdin: cannot open: it is a stream, and an index of"),
        "{error}"
    );
}

#[test]
fn other_letters_are_n_in_an_index() {
    let dir = Dir::new();
    dir.write("g.fa", ">a\nTTTTGATTACRTTTTGATTACATTTTGATUACATT\n");
    dir.run("index -q g.fa -o g.mgi").ok();
    let hits = |text: &str| dir.run(&format!("search -q -p GATTACA -e 0 {text} --format bed")).ok();
    let line = |start: usize| format!("a\t{start}\t{}\tGATTACA\t0\t+\n", start + 7);
    assert_eq!(hits("g.fa"), line(4) + &line(15) + &line(26));
    assert_eq!(hits("g.mgi"), line(15) + &line(26));
}
