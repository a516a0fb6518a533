//! Common complaints about other k-mer counters: a test for each one that other modules do not cover.

use merganser_test_support::forms::gzip;
use merganser_test_support::oracle::{self, Rule};
use merganser_test_support::reads::{fasta, fastq, untidy};
use merganser_test_support::tools::shell;
use merganser_test_support::{Dir, MERGANSER};

/// "Too many open files": inputs and bins may outnumber the allowed open files.
#[test]
fn few_files_are_open_at_a_time() {
    let dir = Dir::new();
    let records = untidy(100, 1);
    let names: Vec<String> = (0..100).map(|number| format!("r{number}.fq")).collect();
    for (name, record) in names.iter().zip(&records) {
        dir.write(name, fastq(std::slice::from_ref(record), "\n"));
    }
    dir.write("list", names.join("\n"));
    let counted = shell(
        dir.root(),
        &format!(
            "ulimit -n 24; {MERGANSER} count -k 21 --min-count 1 --format tsv -o - --bins 2000 \
             --storage disk --tmp-dir tmp --threads 4 @list"
        ),
    );
    let expected = oracle::count(&records, Rule::new(21, true));
    assert!(counted == oracle::tsv(&expected, 1).as_bytes());
}

/// FASTA with many lines per record, whatever its name.
#[test]
fn multi_line_fasta_needs_no_option() {
    let dir = Dir::new();
    let records = untidy(50, 2);
    dir.write("genome.fastq", fasta(&records, 60, "\n"));
    dir.write("genome.fa", fasta(&records, 1000, "\n"));
    let [one, two] = ["genome.fastq", "genome.fa"]
        .map(|name| dir.run(&format!("count -k 21 --format tsv -o - {name}")).ok());
    assert!(!one.is_empty());
    assert_eq!(one, two);
}

/// A failure has a nonzero exit code; an empty result is a success with a warning.
#[test]
fn exit_codes_tell() {
    let dir = Dir::new();
    dir.write("empty.fq", "");
    dir.write("short.fq", "@1\nACGT\n+\nIIII\n");
    dir.write("once.fa", ">1\nACCTGGATTACAGGAACCATTTGAGACCATTAG\n");
    let mut text = String::new();
    for input in ["empty.fq", "short.fq", "once.fa"] {
        let ran = dir.run(&format!("count -k 31 -o {input}.mgk {input}"));
        assert_eq!(ran.warnings().len(), 1, "{}", ran.stderr);
        text += &format!("{}\n", ran.warnings()[0]);
        ran.ok();
        assert_eq!(dir.run(&format!("kmers dump {input}.mgk")).ok(), "");
    }
    dir.run("count -k 31 -o x.mgk gone.fq").fails(1);
    assert_eq!(dir.run("count -k 31 --nonsense gone.fq").code, Some(2));
    insta::assert_snapshot!(text);
}

/// The help documents the accepted letters, and the number of other letters is reported.
#[test]
fn the_alphabet_is_documented_and_reported() {
    let dir = Dir::new();
    let help = dir.run("count --help").ok();
    assert!(help.contains("A, C, G and T count in either case; U counts as T"), "{help}");
    dir.write("r.fa", ">1\nACGTNNRacguACG\n");
    let ran = dir.run("count -k 3 --min-count 1 --format tsv -o - r.fa");
    let said = ran.stderr.lines().next().unwrap();
    assert!(said.ends_with("; 3 not A C G T U"), "{said}");
    assert_eq!(ran.ok(), "ACG\t5\nGTA\t2\n");
}

#[test]
fn inputs_without_reads_are_warned_of() {
    let dir = Dir::new();
    dir.write("g.fa", format!(">g\n{}\n", "ACGTTGCAAGGCTTACGACT".repeat(20)));
    dir.write("empty.fq", "");
    dir.run("count -q -k 21 --min-count 1 g.fa -o t.mgk").ok();
    dir.run("deplete index -q g.fa -o host.mgd").ok();
    for command in [
        "deplete filter host.mgd empty.fq -o x.fq",
        "kmers filter-reads t.mgk empty.fq -o x.fq",
        "kmers profile t.mgk empty.fq -o x.tsv",
    ] {
        let ran = dir.run(command);
        assert_eq!(ran.warnings(), ["warning: there are no reads in the input"], "{command}");
        ran.ok();
    }
    let ran = dir.run("search -p ACGTTGCA -e 1 empty.fq -o x.tsv");
    assert_eq!(ran.warnings(), ["warning: there are no sequences in the input"]);
}

/// Command lines that mean something else than they say, or nothing.
#[test]
fn what_was_meant_is_said() {
    let dir = Dir::new();
    dir.write("g.fa", format!(">g\n{}\n", "ACGTTGCAAGGCTTACGACT".repeat(20)));
    dir.run("count -q -k 21 --min-count 1 g.fa -o t.mgk").ok();
    dir.write("t.mgk.gz", gzip(&dir.read("t.mgk")));
    for (command, code, said) in [
        ("kmers dump t.mgk:2..", 2, "this command takes no bounds of counts"),
        ("kmers dump missing.mgk:2..", 1, "missing.mgk:2.."),
        ("kmers info t.mgk.gz", 1, "a compressed table of k-mers"),
        ("kmers union t.mgk t.mgk -ocmax", 2, "--counts MODE"),
        ("kmers union t.mgk t.mgk -o u.txt", 2, "a .mgk table by default: end its name in"),
        ("kmers qv -o . t.mgk g.fa", 2, "this is a folder"),
        ("kmers qv -o out/ t.mgk g.fa", 2, "out/sample"),
        ("kmers query --file g.fa t.mgk", 1, "kmers profile"),
        (
            "kmers filter-reads --min-hits 5 --max-hits 2 t.mgk g.fa",
            2,
            "is larger than --max-hits 2",
        ),
        ("report merge --sample-names a,a g.fa g.fa", 2, "has the name a twice"),
    ] {
        let error = dir.run(command).fails(code);
        assert!(error.contains(said), "{command}: {error}");
    }
    assert_eq!(dir.names(), ["g.fa", "t.mgk", "t.mgk.gz"]);
}

/// Counts are not limited to 255 or 65,535.
#[test]
fn counts_are_whole() {
    let dir = Dir::new();
    dir.write("r.fa", format!(">1\n{}\n", "A".repeat(200_030)));
    let ran = dir.run("count -k 31 --format tsv -o - --histogram h --hist-max 1000 r.fa");
    assert_eq!(
        ran.warnings(),
        ["warning: the histogram leaves out 1 distinct k-mers that occur more than 1000 times \
          (--hist-max)"]
    );
    assert_eq!(ran.ok(), format!("{}\t200000\n", "A".repeat(31)));
    assert_eq!(dir.read("h"), b"");
    let histogram = dir.run("count -k 31 --format none --histogram - r.fa").ok();
    assert_eq!(histogram, "200000\t1\n");
}

/// Every small k works, also with tiny inputs.
#[test]
fn small_k_and_tiny_inputs() {
    let dir = Dir::new();
    let records = untidy(30, 10);
    dir.write("r.fq", fastq(&records, "\n"));
    for k in 1..=14 {
        for canonical in [true, false] {
            let strands = if canonical { "" } else { "--forward-only" };
            let expected = oracle::count(&records, Rule::new(k, canonical));
            let args = format!("count -k {k} {strands} --format tsv -o - r.fq");
            assert_eq!(dir.run(&args).ok(), oracle::tsv(&expected, 2), "{args}");
        }
    }
    for (text, expected) in
        [("", ""), (">1\n", ""), (">1\nACG\n", ""), (">1\nACCTG\n", "ACCTG\t1\n")]
    {
        dir.write("tiny.fa", text);
        let args = "count -k 5 --min-count 1 --format tsv -o - tiny.fa";
        assert_eq!(dir.run(args).ok(), expected, "{text:?}");
    }
}
