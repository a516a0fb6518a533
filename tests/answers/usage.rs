//! Users' mistakes: files of another kind, arguments in another order, options of other tools.

use merganser_test_support::commands::commands;
use merganser_test_support::tools::shell;
use merganser_test_support::{Dir, Ran};

/// Returns a directory with reads, genomes and a taxonomy, and a file of every kind that is made from these.
fn every_kind() -> Dir {
    let dir = Dir::new();
    shell(dir.root(), "mkdir tax genomes k2 db db/taxonomy");
    dir.write("tax/nodes.dmp", "1\t|\t1\t|\tno rank\t|\n2\t|\t1\t|\tspecies\t|\n");
    dir.write("tax/names.dmp", "1\t|\troot\t|\t\t|\tscientific name\t|\n");
    shell(dir.root(), "cp tax/* db/taxonomy; touch k2/hash.k2d");
    let mut random = merganser_test_support::reads::Random(5);
    let genome = String::from_utf8(random.bases(3000)).unwrap();
    dir.write("genomes/a.fa", format!(">a kraken:taxid|2\n{genome}\n"));
    dir.write("r.fa", format!(">1\n{}\n", &genome[..100]));
    for mate in 1..=2 {
        let reads = format!("@p/{mate}\n{}\n+\n{}\n", &genome[..100], "I".repeat(100));
        dir.write(&format!("r_{mate}.fq"), reads);
    }
    dir.run("count -q -k 21 --min-count 1 -o x.mgk r_1.fq").ok();
    dir.run("count -q -k 21 --min-count 1 --format kmc -o kmc r_1.fq").ok();
    dir.run("count -q -k 21 --min-count 1 --format kff -o x.kff r_1.fq").ok();
    dir.run("count -q -k 21 --min-count 1 --format tsv -o counts.tsv r_1.fq").ok();
    dir.run("build -q --taxonomy tax -o x.mgdb genomes").ok();
    dir.run("index -q genomes/a.fa -o x.mgi").ok();
    dir.run("map -q -e 2 x.mgi r_1.fq -o x.bam").ok();
    dir.run("classify -q x.mgdb r_1.fq --no-map --partial x.partial").ok();
    dir.run("count -q -k 21 --min-count 1 -o x.jf r_1.fq").ok();
    dir.write("pairs.tsv", "ACGT\tACGA\n");
    dir.write("x.zip", "PK\x03\x04....");
    dir.write("text", "Dear reader,\n");
    shell(dir.root(), "tar cf x.tar r.fa");
    dir
}

/// A file of the wrong kind is named, with a remedy, by every command.
#[test]
fn files_of_another_kind() {
    let dir = every_kind();
    let kinds = [
        "x.mgk",
        "x.mgdb",
        "x.mgi",
        "x.partial",
        "kmc.kmc_pre",
        "x.kff",
        "x.jf",
        "counts.tsv",
        "pairs.tsv",
        "r_1.fq",
        "x.bam",
        "x.zip",
        "x.tar",
        "k2",
        "tax",
        "genomes",
        "text",
    ];
    let runs = [
        ("count -q -k 21 --format none", "", &["r_1.fq", "x.bam", "genomes"][..]),
        ("filter -q -e 2 --format none", "", &["pairs.tsv", "counts.tsv"]),
        (
            "kmers dump",
            "-o /dev/null",
            &["x.mgk", "kmc.kmc_pre", "x.kff", "x.jf", "counts.tsv", "pairs.tsv"],
        ),
        ("db info", "", &["x.mgdb"]),
        ("index --verify", "", &["x.mgi"]),
        (
            "db add -q x.mgdb -o y.mgdb --map",
            "r.fa",
            &["counts.tsv", "pairs.tsv", "r_1.fq", "text"],
        ),
        ("build -q -o y.mgdb genomes --taxonomy", "", &["tax"]),
        ("report krona", "", &[]),
    ];
    let mut text = String::new();
    for (command, rest, fitting) in runs {
        text += &format!("$ merganser {command} FILE {rest}\n");
        for kind in kinds.iter().filter(|kind| !fitting.contains(kind)) {
            text += &dir.run(&format!("{command} {kind} {rest}")).fails(1);
        }
    }
    insta::assert_snapshot!(text);
}

/// Arguments in the wrong order and folders with another layout are named, with a remedy.
#[test]
fn arguments_at_another_place() {
    let dir = every_kind();
    let swapped = dir.run("classify r_1.fq x.mgdb --no-map").fails(2);
    assert_eq!(
        swapped,
        "error: x.mgdb is a database of merganser build (.mgdb), not reads: give it first, as in merganser classify x.mgdb r_1.fq\n"
    );
    let kraken = dir.run("classify k2 r_1.fq --no-map").fails(1);
    assert_eq!(kraken, "error: k2/opts.k2d: no such file or directory\n");
    let reversed = dir.run("build --taxonomy genomes -o y.mgdb tax").fails(1);
    assert_eq!(
        reversed,
        "error: tax: not a folder of FASTA files, but a folder with a taxonomy: --taxonomy takes it\n"
    );
    dir.write("kmers.txt", "ACGT\n");
    dir.write("s", "a\tr_1.fq\n");
    shell(dir.root(), "mkfifo pipe");
    let file = dir.run("kmers query x.mgk kmers.txt").fails(2);
    assert_eq!(file, "error: kmers.txt: is a file, not a k-mer: give --file kmers.txt\n");
    for (run, said) in [
        ("kmers set-counts x.mgk 3 -o y", "give a count of 1 or more first, then the table"),
        (
            "classify x.mgdb --sample-sheet s -o {}.k --bracken pipe --bracken-output {}.b",
            "--bracken pipe: with --sample-sheet, each sample reads the distribution: give a file",
        ),
        ("count -k 21 --memory 8 -o y r_1.fq", "'8' is 8 bytes: give a unit, e.g. 8G"),
    ] {
        let ran = dir.run(run);
        assert_eq!(ran.code, Some(2));
        assert!(ran.stderr.contains(said), "{}", ran.stderr);
    }
    let layout = dir.run("build --taxonomy db -o y.mgdb genomes").fails(1);
    assert_eq!(
        layout,
        "error: db: no nodes.dmp in this folder, but in its subfolder taxonomy: give that one\n"
    );
}

/// Files of mates that are given as single reads have a warning.
#[test]
fn mates_as_single_reads() {
    let dir = every_kind();
    let warned = |ran: Ran| ran.warnings().join("\n");
    let look = "warning: r_1.fq and r_2.fq look like mates of pairs, and are";
    assert_eq!(
        warned(dir.run("classify x.mgdb r_1.fq r_2.fq --no-map")),
        format!("{look} classified as single reads: give -1 r_1.fq -2 r_2.fq")
    );
    assert_eq!(
        warned(dir.run("kmers filter-reads x.mgk r_1.fq r_2.fq -o /dev/null")),
        format!("{look} filtered as single reads: give -1 r_1.fq -2 r_2.fq")
    );
    dir.write("s.fq", dir.read("r_1.fq"));
    assert_eq!(
        warned(dir.run("map x.mgi r_1.fq r_2.fq s.fq -e 2 -o /dev/null")),
        format!("{look} mapped as single reads: give -1 r_1.fq -2 r_2.fq")
    );
    for paired in [
        "classify x.mgdb -1 r_1.fq -2 r_2.fq --no-map",
        "kmers filter-reads x.mgk -1 r_1.fq -2 r_2.fq -o /dev/null",
        "map x.mgi r_1.fq -2 r_2.fq -e 2 -o /dev/null",
        "map x.mgi r_1.fq r_2.fq -e 2 -o /dev/null",
        "map x.mgi -U r_1.fq r_2.fq -e 2 -o /dev/null",
        "count -k 21 --format none r_1.fq r_2.fq",
    ] {
        assert_eq!(warned(dir.run(paired)), "", "{paired}");
    }
    // The names of files do not matter where reads have numbers, and the first mates are named first.
    shell(dir.root(), "cp r_1.fq k1.fq; cp r_2.fq other.fq; mkfifo p1 p2");
    assert_eq!(
        warned(dir.run("classify x.mgdb other.fq k1.fq --no-map")),
        "warning: k1.fq and other.fq look like mates of pairs, and are classified as single reads: \
         give -1 k1.fq -2 other.fq"
    );
    assert_eq!(warned(dir.run("classify x.mgdb -U other.fq -U k1.fq --no-map")), "");
    assert_eq!(
        warned(dir.run("classify x.mgdb p1 p2 --no-map --dry-run")),
        "warning: p1 and p2 are classified as single reads: if they are mates of pairs, give them \
         with -1 and -2"
    );
    // No warning for unrelated reads with such names.
    dir.write("r_2.fq", "@q/2\nACGTTGCATTGACGATCAGTAC\n+\nIIIIIIIIIIIIIIIIIIIIII\n");
    assert_eq!(warned(dir.run("classify x.mgdb r_1.fq r_2.fq --no-map")), "");
}

/// `-1` and `-2` take one file each and may be repeated, in all commands. Files of mates beside them are an error, which
/// names the remedy, and so are lists with commas.
#[test]
fn files_of_mates_have_an_option_each() {
    let dir = every_kind();
    shell(
        dir.root(),
        "sed s/p/q/ r_1.fq > s_1.fq; sed s/p/q/ r_2.fq > s_2.fq; cp s_1.fq fwd.fq; cp s_2.fq rev.fq; mkfifo p1 p2",
    );
    dir.run("deplete index -q genomes/a.fa -o x.mgd").ok();
    let repeat = "repeat these options for each file: -1 a_1.fq -1 b_1.fq -2 a_2.fq -2 b_2.fq";
    for (command, rest) in [
        ("classify x.mgdb --no-map", ""),
        ("map x.mgi -e 2 -o o.sam", ""),
        ("deplete filter -o o.fq", "x.mgd"),
        ("deplete filter -o o.fq x.mgd", ""),
        ("kmers filter-reads -o o.fq x.mgk", ""),
    ] {
        let run = |reads: &str| dir.run(format!("{command} {reads} {rest}").trim_end());
        assert!(
            run("-1 r_1.fq -1 s_1.fq -2 r_2.fq -2 s_2.fq").stderr.contains("2 pairs"),
            "{command}"
        );
        for mates in ["-1 r_1.fq s_1.fq -2 r_2.fq s_2.fq", "-1 r_1.fq fwd.fq -2 r_2.fq rev.fq"] {
            let line = run(mates).fails(2);
            assert!(line.contains(repeat) && line.lines().count() == 1, "{command}: {line}");
        }
        let ran = run("-1 r_1.fq,s_1.fq -2 r_2.fq,s_2.fq");
        assert_eq!(ran.code, Some(1));
        assert!(ran.stderr.contains("commas do not separate files"), "{command}: {}", ran.stderr);
        let ran = run("-1 r_1.fq,gone.fq -2 r_2.fq");
        assert!(ran.code == Some(1) && !ran.stderr.contains("commas"), "{command}: {}", ran.stderr);
    }
    for command in ["classify x.mgdb --no-map", "map x.mgi -e 2 -o o.sam"] {
        let run = |reads: &str| dir.run(&format!("{command} -1 r_1.fq -2 r_2.fq {reads}"));
        let streams = run("p1 p2").fails(2);
        assert!(
            streams.contains("p1 and p2 may be mates") && streams.contains(repeat),
            "{streams}"
        );
        run("r.fa").ok();
    }
    dir.run("classify x.mgdb --no-map -1 r_1.fq -2 r_2.fq -U s_1.fq -U s_2.fq").ok();
    dir.run("map x.mgi -e 2 -o o.sam -1 r_1.fq -2 r_2.fq -U s_1.fq s_2.fq").ok();
    let line = dir.run("map x.mgi -e 2 -o o.sam r_1.fq -2 r_2.fq -U").fails(2);
    assert!(line.contains("-2 without -1 cannot be used with -U"), "{line}");
}

/// For options of Kraken 2, KMC and other tools, the message names our options.
#[test]
fn options_of_other_tools() {
    let dir = Dir::new();
    let cases = [
        "classify --db refs r.fq",
        "classify refs.mgdb --paired a.fq b.fq",
        "classify refs.mgdb r.fq --use-mpa-style",
        "classify refs.mgdb --gzip-compressed r.fq",
        "classify refs.mgdb -m 8G r.fq",
        "build --db refs",
        "build --download-taxonomy --db refs",
        "build --add-to-library x.fa",
        "count -k 21 -m12 -ci2 r.fq x",
        "count -k 21 -ci2 r.fq",
        "count -C -m 21 -s 100M r.fa",
        "count --canonical -k 21 r.fa",
        "count --paired -k 21 a b",
        "count -k 21 -j 4 r.fa",
        "kmers dump -c x.mgk",
        "kmers dump -L 3 x.mgk",
        "map -x ref.fa r.fq",
        "map -a ref.fa r.fq",
        "map ref.fa r.fq -threads 4",
        "count --k 31 r.fa",
        "kmers union -ci5 a.mgk b.mgk",
        "kmers dump -ci5 a.mgk",
        "kmers simple a.mgk b.mgk",
        "deplete build p.fa",
        "deplete filter --deplete h.mgd r.fq",
        "report convert a.kreport",
        "report bracken -r 100 a.kreport",
        "index -p x a.fa",
        "index a.fa b.fa -o x.mgi",
        "map ref.fa r.fq -pairs x",
        "filter --mem 3G x",
        "dump x.mgk",
        "taxa refs.mgdb",
        "count --verbose r.fa",
        "index ref.fa ref.mgi",
        "kmers eval -o x.mgk a.mgk + b.mgk",
        "count --force r.fa",
    ];
    let mut text = String::new();
    for args in cases {
        let ran = dir.run(args);
        assert_eq!(ran.code, Some(2), "{args}: {}", ran.stderr);
        let said = |line: &&str| line.starts_with("error: ") || line.starts_with("  tip: ");
        let said: Vec<&str> = ran.stderr.lines().filter(said).collect();
        assert_eq!(said.len(), 2, "{args}: {}", ran.stderr);
        text += &format!("$ merganser {args}\n{}\n", said.join("\n"));
    }
    insta::assert_snapshot!(text);
}

/// `-t` and `-@` mean threads in every command with threads.
#[test]
fn short_names_of_threads() {
    let dir = every_kind();
    let mut with_threads = 0;
    for command in commands() {
        let help = dir.run(&format!("{command} --help")).ok();
        if help.contains("--threads <N>") {
            let help = help.split_whitespace().collect::<Vec<_>>().join(" ");
            assert!(help.contains("-t, --threads <N> Number of threads"), "{command}");
            assert!(help.contains("[alias: -@]"), "{command}");
            with_threads += 1;
        }
        assert!(!help.contains("-t, --taxonomy"), "{command}");
    }
    assert!(with_threads > 15, "{with_threads}");
    for run in [
        "count -k 21 --format none -t 2 r_1.fq",
        "count -k 21 --format none -@ 2 r_1.fq",
        "count -k 21 --format none -t2 r_1.fq",
        "kmers union --format none -t 2 x.mgk kmc",
        "build -q --taxonomy tax -t 2 -o y.mgdb genomes",
        "classify -t 2 x.mgdb r_1.fq -o y",
        "map -@2 x.mgi r_1.fq -e 2 -o y",
        "db add -@ 2 --taxonomy tax x.mgdb genomes -o y",
        "filter -t 1 -e 1 pairs.tsv",
        "index -t 2 r.fa -o y",
    ] {
        let ran = dir.run(run);
        assert!(!ran.stderr.contains("-t means threads"), "{run}: {}", ran.stderr);
        ran.ok();
    }
}

/// In this release, a folder as the value of `-t` is still taken as the taxonomy.
#[test]
fn a_folder_as_t_is_the_taxonomy() {
    let dir = every_kind();
    dir.write("truth.tsv", "p\t2\n");
    dir.write("kraken.tsv", "C\tp\t2\t100\t2:5\n");
    let warning = "warning: -t means threads: write --taxonomy tax; -t tax is taken as the taxonomy \
                   in this release only";
    for run in [
        "build -t tax -o y.mgdb genomes",
        "build -t tax --threads 2 -o y.mgdb genomes",
        "db add -t tax x.mgdb genomes -o z.mgdb",
        "classify --references genomes -t tax r_1.fq -o y",
        "eval -t tax truth.tsv kraken.tsv",
    ] {
        let ran = dir.run(run);
        assert_eq!(ran.warnings().first(), Some(&warning), "{run}: {}", ran.stderr);
        ran.ok();
    }
    assert!(dir.read("y.mgdb") == dir.read("x.mgdb"));
    for (wrong, said) in [
        ("build -t tax --taxonomy tax -o y genomes", "--taxonomy is given already"),
        ("build -t 2 -o y genomes", "--taxonomy <PATH> is missing"),
        ("build -t 2 -@ 2 --taxonomy tax -o y genomes", "is given more than once"),
        (
            "build -t gone -o y genomes",
            "give a number; the folder of a taxonomy goes to --taxonomy",
        ),
        ("classify x.mgdb -t tax r_1.fq", "require --references"),
        ("eval -t 2 truth.tsv kraken.tsv", "eval runs on one thread"),
    ] {
        let ran = dir.run(wrong);
        assert_eq!(ran.code, Some(2), "{wrong}: {}", ran.stderr);
        assert!(ran.stderr.contains(said), "{wrong}: {}", ran.stderr);
    }
}
