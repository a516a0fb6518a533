//! Demultiplexing and trimming of reads.

use merganser_test_support::Dir;
use merganser_test_support::forms::gzip;
use merganser_test_support::oracle::complement;
use merganser_test_support::reads::Random;
use merganser_test_support::tools::shell;

const FRONT: [&str; 2] = ["ACGTACGATTGC", "GGATCCTTAAGA"];
const REAR: [&str; 2] = ["TTGACCATGCAA", "CAGTGGTACTTC"];

fn turned(letters: &str) -> String {
    String::from_utf8(complement(letters.as_bytes())).unwrap()
}

fn record(name: &str, letters: &str) -> String {
    format!("@{name} x\n{letters}\n+\n{}\n", "5".repeat(letters.len()))
}

/// Returns a folder with samples of one and of two barcodes, reads as `reads.fq`, and their inner letters.
fn planted() -> (Dir, String) {
    let dir = Dir::new();
    let inner = String::from_utf8(Random(5).bases(300)).unwrap();
    dir.write("one.tsv", format!("# samples\nfirst\t{}\n\nsecond one\t{}\n", FRONT[0], FRONT[1]));
    dir.write(
        "two.tsv",
        format!("first\t{}\t{}\nsecond one\t{}\t{}\n", FRONT[0], REAR[0], FRONT[1], REAR[1]),
    );
    let dual = |sample: usize| format!("TT{}{inner}{}C", FRONT[sample], turned(REAR[sample]));
    let mixed = format!("{}{inner}{}", FRONT[0], turned(REAR[1]));
    let reads = [
        record("a", &dual(0)),
        record("b", &turned(&dual(1))),
        record("c", &inner),
        record("d", &mixed),
        record("e", ""),
        record("f", &FRONT[0][..5]),
        record("g", &format!("{}{inner}", FRONT[1].replacen('C', "", 1))),
    ];
    dir.write("reads.fq", reads.concat());
    (dir, inner)
}

fn text(dir: &Dir, name: &str) -> String {
    String::from_utf8(dir.read(name)).unwrap()
}

fn names(text: &str) -> Vec<&str> {
    text.lines().step_by(4).map(|line| line.split(' ').next().unwrap_or_default()).collect()
}

#[test]
fn reads_are_divided_by_one_barcode_or_two() {
    let (dir, inner) = planted();
    let ran = dir.run(
        "search --demultiplex two.tsv -e 1 --trim reads.fq -o {}.fq --counts c.tsv --json j.json",
    );
    let said = "2 of 7 reads assigned to 2 samples, 5 refused: 3 without a barcode, 2 with one of two barcodes";
    assert_eq!(ran.stderr.lines().next(), Some(said));
    ran.ok();
    assert_eq!(text(&dir, "first.fq"), record("a", &inner));
    assert_eq!(text(&dir, "second one.fq"), record("b", &turned(&inner)));
    assert_eq!(names(&text(&dir, "unassigned.fq")), ["@c", "@d", "@e", "@f", "@g"]);
    assert_eq!(
        text(&dir, "c.tsv"),
        "category\tsample\treads\tbases\tedits\n\
         assigned\tfirst\t1\t327\t0\nassigned\tsecond one\t1\t327\t0\n\
         none\tNA\t3\t305\tNA\none_of_two\tNA\t2\t635\tNA\nambiguous\tNA\t0\t0\tNA\nempty\tNA\t0\t0\tNA\n"
    );
    let summary: serde_json::Value = serde_json::from_str(&text(&dir, "j.json")).unwrap();
    let results = &summary["results"];
    assert_eq!(results["reads"], 7);
    assert_eq!(results["samples"], serde_json::json!({"first": 1, "second one": 1}));
    assert_eq!(results["refused"]["one_of_two"], 2);
    assert_eq!(summary["parameters"]["window"], 150);
    // One barcode at either end is enough, and an edit is allowed.
    dir.run("search -q --demultiplex one.tsv -e 1 reads.fq -o {}.fq").ok();
    assert_eq!(names(&text(&dir, "first.fq")), ["@a", "@d"]);
    assert_eq!(names(&text(&dir, "second one.fq")), ["@b", "@g"]);
    dir.run("search -q --demultiplex one.tsv -e 1 --both-ends reads.fq -o {}.fq").ok();
    assert_eq!(names(&text(&dir, "unassigned.fq")).len(), 7);
    // The barcode of b is 2 letters and its own 12 away from the end.
    dir.run("search -q --demultiplex one.tsv -e 0 --window 13 reads.fq -o {}.fq").ok();
    assert_eq!(names(&text(&dir, "first.fq")), ["@d"]);
    assert_eq!(text(&dir, "second one.fq"), "");
}

#[test]
fn a_margin_refuses_reads() {
    let dir = Dir::new();
    dir.write("s.tsv", "a\tAAGCTCGGAC\nb\tAAGCTCCCAC\n");
    // One edit from a, and one from b; none from a, and two from b.
    dir.write("r.fa", ">1\nAAGCTCGCACTTTTT\n>2\nAAGCTCGGACTTTTT\n>3\nAAGCTCGGAC\n");
    for (options, counts) in [
        ("", [2, 0, 0, 1, 0]),
        ("--margin 2", [2, 0, 0, 1, 0]),
        ("--margin 3", [0, 0, 0, 3, 0]),
        ("--trim", [1, 0, 0, 1, 1]),
        ("--both-ends", [0, 0, 3, 0, 0]),
    ] {
        let args = format!("search --demultiplex s.tsv -e 1 r.fa -o {{}}.fa --counts - {options}");
        let ran = dir.run(&args);
        assert_eq!(ran.stderr.contains("all reads of a are ambiguous"), options == "--margin 3");
        let table = ran.ok();
        let rows = table.lines().skip(1).map(|line| line.split('\t').collect::<Vec<_>>());
        let reads: Vec<(String, u64)> =
            rows.map(|row| (row[0].to_owned() + row[1], row[2].parse().unwrap())).collect();
        let names = ["assigneda", "assignedb", "noneNA", "one_of_twoNA", "ambiguousNA", "emptyNA"];
        assert!(reads.iter().zip(names).all(|(row, name)| row.0 == name), "{table}");
        let [a, none, one, ambiguous, empty] = counts;
        let expected = [a, 0, none, one, ambiguous, empty];
        assert_eq!(reads.iter().map(|row| row.1).collect::<Vec<_>>(), expected, "{options}");
        let refused =
            text(&dir, "unassigned.fa").lines().filter(|line| line.starts_with('>')).count();
        assert_eq!(refused as u64, none + one + ambiguous + empty);
    }
    assert!(text(&dir, "unassigned.fa").contains(">3\nAAGCTCGGAC\n"));
}

#[test]
fn adapters_are_trimmed() {
    let (dir, inner) = planted();
    dir.write("a.fa", format!(">front\n{}\n>rear\n{}\n", FRONT[0], REAR[1]));
    let ran = dir.run("search --trim --patterns a.fa -e 1 reads.fq --counts c.tsv --json j.json");
    let said = "3 of 7 reads had adapters; 6 reads written, with";
    assert!(ran.stderr.starts_with(said), "{}", ran.stderr);
    let out = ran.ok();
    assert_eq!(names(&out), ["@a", "@b", "@c", "@d", "@f", "@g"]);
    assert!(out.contains(&record("d", &inner)));
    assert_eq!(
        text(&dir, "c.tsv"),
        format!(
            "adapter\tletters\tat_start\tat_end\nfront\t{}\t2\t0\nrear\t{}\t1\t1\n",
            FRONT[0], REAR[1]
        )
    );
    let summary: serde_json::Value = serde_json::from_str(&text(&dir, "j.json")).unwrap();
    assert_eq!(summary["results"]["empty_reads"], 1);
    dir.write("r.fa", format!(">1\n{}\n>2\nACGT\n", FRONT[0]));
    let left = dir.run(&format!("search -q --trim -p {} -e 0 r.fa", FRONT[0])).ok();
    assert_eq!(left, ">2\nACGT\n");
}

/// Adapters that reads end with are given as their reverse complements; a warning says so if they are not.
#[test]
fn adapters_at_the_end_of_reads() {
    let (dir, inner) = planted();
    let insert = &inner[..60];
    let read = |at: usize| match at % 3 {
        0 => record(&at.to_string(), &format!("{insert}AGATCGGAAGAGC{}", &inner[100..120])),
        _ => record(&at.to_string(), &inner[..93]),
    };
    dir.write("r.fq", (0..100).map(read).collect::<String>());
    let turned = turned("AGATCGGAAGAGC");
    let trim = |adapter: &str| dir.run(&format!("search --trim -p {adapter} -e 10% r.fq"));
    let right = trim(&turned);
    assert!(!right.stderr.contains("warning: "), "{}", right.stderr);
    assert!(right.ok().contains(&record("0", insert)));
    let wrong = trim("AGATCGGAAGAGC").stderr;
    assert!(wrong.contains("most reads with adapters lost more than half"), "{wrong}");
}

/// With `--keep-empty`, files of mates that are trimmed one by one stay in step; without, a note says that they do not.
#[test]
fn trimmed_files_of_mates_stay_in_step() {
    let (dir, inner) = planted();
    dir.write("ref.fa", format!(">c\n{inner}\n"));
    let mates = |number: usize, empty: &str| {
        let letters = |name: &str| {
            if name == empty { FRONT[0].to_owned() } else { format!("{}{inner}", FRONT[0]) }
        };
        ["a", "b", "c"].map(|name| record(&format!("{name}/{number}"), &letters(name))).concat()
    };
    dir.write("m_1.fq", mates(1, "a"));
    dir.write("m_2.fq", mates(2, "b"));
    let trim = |args: &str| dir.run(&format!("search --trim -p {} -e 0 {args}", FRONT[0]));
    let note = "--keep-empty writes reads without letters as N";
    for number in 1..=2 {
        let files = format!("m_{number}.fq -o t_{number}.fq");
        let ran = trim(&files);
        assert!(ran.stderr.contains("1 without letters left out\nnote: "), "{}", ran.stderr);
        assert!(ran.stderr.contains(note), "{}", ran.stderr);
        let ran = trim(&format!("{files} --keep-empty"));
        assert!(ran.stderr.contains("1 without letters written as N"), "{}", ran.stderr);
        assert!(!ran.stderr.contains(note) && ran.warnings().is_empty(), "{}", ran.stderr);
    }
    assert!(text(&dir, "t_1.fq").starts_with("@a/1 x\nN\n+\n!\n@b/1 x\n"));
    let ran = dir.run("map ref.fa -e 1 -1 t_1.fq -2 t_2.fq -o o.sam");
    assert!(ran.stderr.contains("3 pairs"), "{}", ran.stderr);
    let warned = trim("m_1.fq m_2.fq --keep-empty -o t.fq");
    assert_eq!(
        warned.warnings(),
        [
            "warning: m_1.fq and m_2.fq look like mates of pairs, and all reads go to one output: trim each \
          file by itself, with --keep-empty"
        ]
    );
    let tip = dir.run(&format!("search --trim -p {} -e 0 -1 m_1.fq -2 m_2.fq", FRONT[0])).stderr;
    assert!(tip.contains("trim the files of mates one by one, with --keep-empty"), "{tip}");
    let fasta = format!(">1\n{}\n>2\nACGT\n", FRONT[0]);
    dir.write("r.fa", fasta);
    assert_eq!(trim("-q --keep-empty r.fa").ok(), ">1\nN\n>2\nACGT\n");
}

#[test]
fn bytes_do_not_depend_on_threads_or_compression() {
    let dir = Dir::new();
    let mut random = Random(11);
    let mut bases = |count| String::from_utf8(random.bases(count)).unwrap();
    let codes: Vec<String> = (0..20).map(|_| bases(16)).collect();
    let rows = codes.iter().enumerate().map(|(n, code)| format!("s{n}\t{code}\n"));
    dir.write("s.tsv", rows.collect::<String>());
    let reads = (0..3000).map(|n| {
        let letters = bases(n % 40) + &codes[n % 20] + &bases(100 + n % 700);
        record(&format!("r{n}"), &if n % 3 == 0 { turned(&letters) } else { letters })
    });
    let reads = reads.collect::<String>();
    dir.write("r.fq", &reads);
    dir.write("r.fq.gz", gzip(reads.as_bytes()));
    let command = "search -q --demultiplex s.tsv -e 2 --trim";
    dir.run(&format!("{command} r.fq -t 1 -o one.{{}}.fq")).ok();
    dir.run(&format!("{command} r.fq.gz -t 4 --memory 400M -o four.{{}}.fq")).ok();
    dir.run(&format!("{command} r.fq -t 1 -o one.{{}}.fq.gz")).ok();
    dir.run(&format!("{command} r.fq -t 4 -o four.{{}}.fq.gz")).ok();
    let samples = (0..20).map(|n| format!("s{n}")).chain(["unassigned".to_owned()]);
    let mut assigned = 0;
    for sample in samples {
        let plain = dir.read(&format!("one.{sample}.fq"));
        assert_eq!(plain, dir.read(&format!("four.{sample}.fq")), "{sample}");
        let packed = dir.read(&format!("one.{sample}.fq.gz"));
        assert_eq!(packed, dir.read(&format!("four.{sample}.fq.gz")), "{sample}");
        let unpacked = shell(dir.root(), &format!("gzip -dc one.{sample}.fq.gz"));
        assert_eq!(unpacked, plain, "{sample}");
        assigned += if sample == "unassigned" { 0 } else { plain.len() };
    }
    assert!(assigned > reads.len() * 9 / 10);
}

#[test]
fn what_is_wrong_is_said_in_one_line() {
    let (dir, _) = planted();
    let packed = gzip(&dir.read("reads.fq"));
    dir.write("cut.fq.gz", &packed[..packed.len() - 12]);
    dir.write("none.fq", "");
    for (name, rows) in [
        ("twice.tsv", "a\tACGTACGT\na\tACGTACGA\n"),
        ("same.tsv", "a\tACGTACGT\nb\tacgtacgt\n"),
        ("path.tsv", "a/b\tACGTACGT\n"),
        ("reserved.tsv", "unassigned\tACGTACGT\n"),
        ("no.tsv", "# nothing\n"),
        ("part.tsv", "a\tACGTACGT\tACGTACGA\nb\tACCTACGA\n"),
    ] {
        dir.write(name, rows);
    }
    for (args, code, problem) in [
        ("--demultiplex twice.tsv -e 1 reads.fq", 1, "line 2: sample a is on line 1, too"),
        ("--demultiplex same.tsv -e 1 reads.fq", 1, "line 2: line 1 has the same barcode"),
        ("--demultiplex path.tsv -e 1 reads.fq", 1, "'a/b' has / or NUL in it"),
        ("--demultiplex reserved.tsv -e 1 reads.fq", 1, "rename it"),
        ("--demultiplex no.tsv -e 1 reads.fq", 1, "it has no samples"),
        ("--demultiplex part.tsv -e 1 reads.fq", 1, "give all samples one barcode, or all two"),
        ("--demultiplex missing.tsv -e 1 reads.fq", 1, "missing.tsv"),
        ("--demultiplex one.tsv -e 12 reads.fq", 1, "match everywhere: give fewer edits (-e)"),
        ("--demultiplex one.tsv -e 1 --window 11 reads.fq", 1, "more than the --window of 11"),
        ("--demultiplex one.tsv -e 1 --window 0 reads.fq", 2, "--window is out of range"),
        ("--demultiplex one.tsv -e 1 --margin 0 reads.fq", 2, "--margin is out of range"),
        ("--demultiplex one.tsv -e 1 cut.fq.gz", 1, "cut.fq.gz"),
        ("--demultiplex one.tsv -e 1 missing.fq", 1, "missing.fq"),
        ("--demultiplex one.tsv -e 1 -t 1 --memory 20M reads.fq", 1, "--memory"),
        ("--trim -p ACGTACGT -e 8 reads.fq", 1, "match everywhere"),
    ] {
        let output = if args.starts_with("--trim") { "out.fq" } else { "out.{}.fq" };
        let error = dir.run(&format!("search {args} -o {output}")).fails(code);
        assert!(error.contains(problem), "{args}: {error}");
        let left = std::fs::read_dir(dir.root()).unwrap();
        let left = left.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        assert_eq!(left.filter(|name| name.starts_with("out")).count(), 0, "{args}");
    }
    for (args, problem) in [
        ("--demultiplex one.tsv -e 1 reads.fq -o out.fq", "put {} where the sample's name belongs"),
        ("--demultiplex one.tsv -e 1 reads.fq", "put {} where the sample's name belongs"),
        ("--demultiplex one.tsv -e 1 reads.fq -o {}.bam", "cannot be BAM: end its name in .fq"),
        ("--demultiplex one.tsv -e 1 -p ACGT reads.fq -o {}.fq", "cannot be used with"),
        ("--demultiplex one.tsv -e 1 --hamming reads.fq -o {}.fq", "cannot be used with"),
        ("--trim -e 1 reads.fq", "required"),
        ("-p ACGT -e 1 --window 10 reads.fq", "required"),
        ("--trim -p ACGT -e 1 --margin 2 reads.fq", "cannot be used with"),
        ("--trim -p ACGT -e 1 --both-ends reads.fq", "cannot be used with"),
    ] {
        let ran = dir.run(&format!("search {args}"));
        assert_eq!(ran.code, Some(2), "{args}: {}", ran.stderr);
        assert!(ran.stderr.contains(problem), "{args}: {}", ran.stderr);
    }
    let error = dir.run("search --demultiplex one.tsv -e 1 reads.fq -o {}.fa").fails(1);
    assert!(error.contains("end its name in .fq"), "{error}");
    dir.write("first.fq", "kept");
    let error = dir.run("search --demultiplex one.tsv -e 1 first.fq -o {}.fq").fails(1);
    assert!(error.contains("is an input"), "{error}");
    assert_eq!(text(&dir, "first.fq"), "kept");
    let ran = dir.run("search --demultiplex one.tsv -e 1 none.fq -o {}.fq");
    assert!(ran.stderr.contains("there are no reads in the input"), "{}", ran.stderr);
    ran.ok();
    assert_eq!((text(&dir, "second one.fq"), text(&dir, "unassigned.fq")), Default::default());
}

#[test]
fn names_of_samples_may_have_odd_characters() {
    let dir = Dir::new();
    let names = ["a b", "é*?", "-o", "{}", "x'\"$(y)", "s.gz"];
    let codes = ["AAAACCCC", "CCCCGGGA", "GATTACAG", "TTGACCAT", "CAGTGGTA", "ACTCTTAG"];
    let rows = names.iter().zip(codes).map(|(name, code)| format!("{name}\t{code}\n"));
    dir.write("s.tsv", rows.collect::<String>());
    let reads = codes.iter().enumerate().map(|(n, code)| record(&n.to_string(), code));
    dir.write("r.fq", reads.collect::<String>());
    std::fs::create_dir(dir.path("out")).unwrap();
    dir.run("search -q --demultiplex s.tsv -e 0 r.fq -o out/{}.fq").ok();
    for (n, (name, code)) in names.iter().zip(codes).enumerate() {
        assert_eq!(text(&dir, &format!("out/{name}.fq")), record(&n.to_string(), code));
    }
}
