//! Jobs that are divided among machines: the joined result has the same bytes as a single run.

use merganser_test_support::reads::{Random, Record, fasta, fastq, untidy};
use merganser_test_support::{Dir, small_reads};

/// Asserts that `inputs` counted in one run and counted in shards, joined in one step or by ranges, give the same
/// table.
fn joined_is_counted(
    dir: &Dir,
    inputs: &str,
    options: &str,
    cut: &str,
    shards: usize,
    ranges: usize,
) {
    let (count, case) = (format!("count {options}"), format!("{options} {cut} {shards} {ranges}"));
    dir.run(&format!("{count} {cut} -o whole.mgk --histogram whole.hist {inputs}")).ok();
    let parts: Vec<String> = (1..=shards).map(|at| format!("part{at}.mgk")).collect();
    for (at, part) in parts.iter().enumerate() {
        dir.run(&format!("{count} --shard {}/{shards} -o {part} {inputs}", at + 1)).ok();
        dir.run(&format!("kmers verify {part}")).ok();
    }
    let cut = if cut.is_empty() { "--min-count 2" } else { cut };
    let all = parts.join(" ");
    dir.run(&format!("kmers union {cut} -o joined.mgk --histogram joined.hist {all}")).ok();
    let pieces: Vec<String> = (1..=ranges).map(|at| format!("range{at}.mgk")).collect();
    for (at, piece) in pieces.iter().enumerate() {
        // The order of the shards does not matter.
        let all: Vec<&str> =
            parts.iter().cycle().skip(at).take(shards).map(String::as_str).collect();
        let all = all.join(" ");
        dir.run(&format!("kmers union {cut} --range {}/{ranges} -o {piece} {all}", at + 1)).ok();
        dir.run(&format!("kmers verify {piece}")).ok();
    }
    let reversed: Vec<&str> = pieces.iter().rev().map(String::as_str).collect();
    let reversed = reversed.join(" ");
    dir.run(&format!("kmers concat -o concat.mgk --histogram concat.hist {reversed}")).ok();
    for name in ["joined", "concat"] {
        assert!(dir.read(&format!("{name}.mgk")) == dir.read("whole.mgk"), "{name}.mgk: {case}");
        assert_eq!(
            dir.read(&format!("{name}.hist")),
            dir.read("whole.hist"),
            "{name}.hist: {case}"
        );
    }
}

fn contigs(random: &mut Random) -> Vec<Record> {
    (0..5).map(|at| Record::from(&random.bases(4000 * at)[..])).collect()
}

#[test]
fn shards_are_joined_to_one_count() {
    let dir = Dir::new();
    let mut random = Random(7);
    let genome = fasta(&contigs(&mut random), 60, "\n");
    dir.write("genome.fa", &genome);
    dir.write("empty.fa", "");
    let [one, two] = small_reads();
    let inputs = format!("{} genome.fa empty.fa {} genome.fa", one.display(), two.display());
    for (options, cut, shards, ranges) in [
        ("-k 31", "", 3, 2),
        ("-k 31", "--min-count 1", 7, 5),
        ("-k 21 --forward-only", "--min-count 3 --max-count 40", 2, 1),
        ("-k 5", "", 4, 3),
        ("-k 1 --min-qual 20", "--min-count 1", 2, 2),
        ("-k 70 --min-qual 20", "", 3, 2),
        ("-k 15 --hpc", "", 3, 4),
        ("-k 31", "", 1, 1),
        ("-k 31", "--min-count 2", 40, 40),
    ] {
        joined_is_counted(&dir, &inputs, options, cut, shards, ranges);
    }
}

/// Files are divided within if their compression allows it (plain, BGZF, gzip with several members), and otherwise
/// as a whole.
#[test]
fn files_of_every_compression_are_divided() {
    let dir = Dir::new();
    let mut random = Random(8);
    dir.write("reads.fq", fastq(&untidy(3000, 8), "\r\n"));
    dir.write("contig.fa", fasta(&[Record::from(&random.bases(300_000)[..])], 70, "\n"));
    let sh = |command: &str| {
        let ran = std::process::Command::new("sh")
            .arg("-c")
            .arg(command)
            .current_dir(dir.root())
            .status();
        assert!(ran.unwrap().success(), "{command}");
    };
    sh(
        "for f in reads.fq contig.fa; do bgzip -c $f > b.$f.gz; gzip -c $f > one.$f.gz; zstd -q $f; done",
    );
    sh("for f in reads.fq contig.fa; do split -b 50000 --filter 'gzip' $f > many.$f.gz; done");
    let all = "b.reads.fq.gz one.contig.fa.gz many.reads.fq.gz contig.fa reads.fq.zst many.contig.fa.gz b.contig.fa.gz reads.fq";
    for (k, shards) in [(31, 5), (128, 3), (4, 11)] {
        joined_is_counted(&dir, all, &format!("-k {k}"), "", shards, 2);
    }
    // Each file that can be divided gives every shard some k-mers.
    for file in [
        "b.reads.fq.gz",
        "many.reads.fq.gz",
        "reads.fq",
        "contig.fa",
        "b.contig.fa.gz",
        "many.contig.fa.gz",
    ] {
        for at in 1..=3 {
            dir.run(&format!("count -k 31 --shard {at}/3 -o x.mgk {file}")).ok();
            let info = dir.run("kmers info --json x.mgk").ok();
            assert!(!info.contains("\"kmers\": 0,"), "{file} {at}: {info}");
            assert!(info.contains(&format!("\"piece\": \"shard {at}/3\"")), "{info}");
        }
    }
}

/// Ranges also work with tables that are not shards: joined, they have the same k-mers as the whole.
#[test]
fn ranges_of_any_tables() {
    let dir = Dir::new();
    let mut random = Random(9);
    for name in ["a", "b", "c"] {
        dir.write(&format!("{name}.fa"), fasta(&contigs(&mut random), 60, "\n"));
        dir.run(&format!("count -k 13 --min-count 1 -o {name}.mgk {name}.fa")).ok();
    }
    for options in ["", "--counts max --min-count 2"] {
        dir.run(&format!("kmers union {options} -o whole.mgk a.mgk b.mgk:1.. c.mgk a.mgk")).ok();
        for at in 1..=3 {
            dir.run(&format!(
                "kmers union {options} --range {at}/3 -o r{at}.mgk a.mgk b.mgk:1.. c.mgk a.mgk"
            ))
            .ok();
        }
        dir.run("kmers concat -o joined.mgk r1.mgk r2.mgk r3.mgk").ok();
        let [whole, joined] =
            ["whole", "joined"].map(|name| dir.run(&format!("kmers dump {name}.mgk")).ok());
        assert!(whole == joined && !whole.is_empty(), "{options}");
    }
}

#[test]
fn pieces_are_never_taken_for_the_whole() {
    let dir = Dir::new();
    let mut random = Random(10);
    dir.write("a.fa", fasta(&contigs(&mut random), 60, "\n"));
    dir.write("b.fa", fasta(&contigs(&mut random), 60, "\n"));
    for (name, args) in [
        ("a1", "-k 21 --shard 1/2 a.fa"),
        ("a2", "-k 21 --shard 2/2 a.fa"),
        ("b2", "-k 21 --shard 2/2 b.fa"),
        ("f2", "-k 21 --forward-only --shard 2/2 a.fa"),
        ("q2", "-k 21 --min-qual 3 --shard 2/2 a.fa"),
        ("t3", "-k 21 --shard 3/3 a.fa"),
        ("w", "-k 21 a.fa"),
    ] {
        dir.run(&format!("count {args} -o {name}.mgk")).ok();
    }
    let union = |args: &str| dir.run(&format!("kmers union -o x.mgk {args}")).fails(1);
    for (args, expected) in [
        ("a1.mgk", "shard 2/2 is missing"),
        ("a1.mgk b2.mgk", "another job"),
        ("a1.mgk q2.mgk", "another job"),
        ("a1.mgk t3.mgk", "another job"),
        ("a1.mgk f2.mgk", "another job"),
        ("a1.mgk w.mgk", "a whole table"),
        ("w.mgk a2.mgk", "a whole table"),
        ("a1.mgk a2.mgk:2..", "only the union"),
        ("--counts max a1.mgk a2.mgk", "only the union"),
    ] {
        let message = union(args);
        assert!(message.contains(expected), "{args}: {message}");
    }
    for (args, expected) in [
        ("--format kmc", "ranges of k-mers are .mgk tables"),
        ("--counter-max 9", "--counter-max requires whole tables"),
    ] {
        let command = format!("kmers union -o x.mgk --range 1/2 {args} a1.mgk a2.mgk");
        let message = dir.run(&command).fails(2);
        assert!(message.contains(expected), "{args}: {message}");
    }
    std::fs::copy(dir.path("a1.mgk"), dir.path("again.mgk")).unwrap();
    assert!(union("a1.mgk again.mgk a2.mgk").contains("given twice"));
    for args in [
        "kmers dump a1.mgk",
        "kmers query a1.mgk ACGTACGTACGTACGTACGTA",
        "kmers intersect -o x.mgk a1.mgk a2.mgk",
        "kmers reduce -o x.mgk a1.mgk",
        "kmers histogram a1.mgk",
        "kmers matrix -o x.tsv a1.mgk a2.mgk",
    ] {
        let message = dir.run(args).fails(1);
        assert!(message.contains("it is only shard 1/2"), "{args}: {message}");
    }
    for at in 1..=2 {
        dir.run(&format!("kmers union --range {at}/2 -o r{at}.mgk a1.mgk a2.mgk")).ok();
        dir.run(&format!("kmers union --min-count 2 --range {at}/2 -o s{at}.mgk a1.mgk a2.mgk"))
            .ok();
    }
    let concat = |args: &str| dir.run(&format!("kmers concat -o x.mgk {args}")).fails(1);
    for (args, expected) in [
        ("r1.mgk", "range 2/2 is missing"),
        ("r1.mgk s2.mgk", "another job"),
        ("a1.mgk a2.mgk", "it is shard 1/2"),
        ("w.mgk", "not a range"),
        ("r1.mgk w.mgk", "a whole table"),
    ] {
        let message = concat(args);
        assert!(message.contains(expected), "{args}: {message}");
    }
    assert!(dir.run("kmers dump r2.mgk").fails(1).contains("it is only range 2/2"));
    assert!(!dir.names().contains(&"x.mgk".to_owned()));
}

/// A job is identified by the content of its inputs: copies with other paths and times are the same job; a file of
/// the same size whose middle differs is another job.
#[test]
fn copies_of_inputs_are_one_job_and_other_content_is_not() {
    let dir = Dir::new();
    let mut random = Random(12);
    let text = fasta(
        &(0..9).map(|_| Record::from(&random.bases(40_000)[..])).collect::<Vec<_>>(),
        60,
        "\n",
    );
    dir.write("a.fa", &text);
    std::fs::create_dir(dir.path("elsewhere")).unwrap();
    let copy = std::fs::File::create(dir.write("elsewhere/copy", &text)).unwrap();
    std::io::Write::write_all(&mut &copy, text.as_ref()).unwrap();
    copy.set_modified(std::time::UNIX_EPOCH).unwrap();
    let mut other = text;
    let middle = other.len() / 2;
    other[middle] = if other[middle] == b'A' { b'C' } else { b'A' };
    dir.write("other.fa", other);
    for (name, args) in [
        ("whole", "a.fa a.fa"),
        ("one", "--shard 1/2 a.fa a.fa"),
        ("two", "--shard 2/2 a.fa a.fa"),
        ("copy", "--shard 2/2 elsewhere/copy a.fa"),
        ("first", "--shard 2/2 other.fa a.fa"),
        ("second", "--shard 2/2 a.fa other.fa"),
    ] {
        dir.run(&format!("count -q -k 21 --min-count 1 {args} -o {name}.mgk")).ok();
    }
    assert!(dir.read("two.mgk") == dir.read("copy.mgk"));
    dir.run("kmers union -q --min-count 1 -o joined.mgk one.mgk copy.mgk").ok();
    assert!(dir.read("joined.mgk") == dir.read("whole.mgk"));
    for name in ["first", "second"] {
        let said = dir.run(&format!("kmers union -o x.mgk one.mgk {name}.mgk")).fails(1);
        assert!(said.contains("another job"), "{name}: {said}");
    }
}

#[test]
fn what_does_not_go_with_shards_is_refused() {
    let dir = Dir::new();
    dir.write("a.fa", ">a\nACGTACGT\n");
    for (args, expected) in [
        ("--shard 0/2 a.fa", "not a shard of a job"),
        ("--shard 3/2 a.fa", "not a shard of a job"),
        ("--shard two a.fa", "not a shard of a job"),
    ] {
        let ran = dir.run(&format!("count -k 5 -o x.mgk {args}"));
        assert_eq!(ran.code, Some(2), "{args}");
        assert!(ran.stderr.contains(expected), "{args}: {}", ran.stderr);
    }
    for (args, expected) in [
        ("--shard 1/2 --histogram h a.fa", "--shard cannot be used with --histogram"),
        ("--shard 1/2 --report-html h a.fa", "--shard cannot be used with --report-html"),
        ("--shard 1/2 --max-count 9 a.fa", "a k-mer that is rare in one shard"),
        ("--shard 1/2 --min-count 2 a.fa", "a k-mer that is rare in one shard"),
        ("--shard 1/2 --format kff a.fa", "shards are joined as .mgk tables"),
    ] {
        let message = dir.run(&format!("count -k 5 -o x.mgk {args}")).fails(2);
        assert!(message.contains(expected), "{args}: {message}");
    }
    for (args, expected) in [
        ("--shard 1/2 -", "shards are parts of files"),
        ("--shard 1/2 missing.fa", "missing.fa: cannot open: no such file"),
    ] {
        let message = dir.run(&format!("count -k 5 -o x.mgk {args}")).fails(1);
        assert!(message.contains(expected), "{args}: {message}");
    }
    assert_eq!(dir.names(), ["a.fa"]);
}

/// An error in a shard names the position in the file.
#[test]
fn errors_of_shards_say_where() {
    let dir = Dir::new();
    let record = |at: usize| format!("@r{at}\nACGTACGTAC\n+\nIIIIIIIIII\n");
    let mut text: String = (0..100).map(record).collect();
    text += "@short\nACGT\n+\nIII\n";
    text += &(0..100).map(record).collect::<String>();
    dir.write("a.fq", &text);
    let messages: Vec<String> = (1..=4)
        .map(|at| dir.run(&format!("count -k 5 --shard {at}/4 -o x{at}.mgk a.fq")))
        .filter(|ran| ran.code != Some(0))
        .map(|ran| ran.fails(1))
        .collect();
    let [message] = &messages[..] else { panic!("{messages:?}") };
    assert!(message.contains("a.fq (from byte "), "{message}");
}
