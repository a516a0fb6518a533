//! Names of mates, a file given twice, and pairs given as single reads.

use std::fs;
use std::os::unix::fs::symlink;

use super::cases;
use merganser_test_support::tools::installed;
use merganser_test_support::{Dir, Ran};

/// Returns random bases, by Knuth's generator (MMIX).
fn bases(count: usize, seed: u64) -> String {
    let step = |x: &u64| {
        Some(x.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407))
    };
    let numbers = std::iter::successors(step(&seed), step);
    numbers.map(|x| char::from(b"ACGT"[(x >> 62) as usize])).take(count).collect()
}

/// Returns FASTQ with reads of 100 bases of the genome, 50 bases apart, with names from `name`.
fn reads(genome: &str, count: usize, offset: usize, name: impl Fn(usize) -> String) -> String {
    let one = |number: usize| {
        let at = (offset + 50 * number) % (genome.len() - 100);
        format!("@{}\n{}\n+\n{}\n", name(number), &genome[at..at + 100], "I".repeat(100))
    };
    (0..count).map(one).collect()
}

/// Returns a directory with a genome, a database, and a minimizer set and a table of a host.
fn world() -> (Dir, String) {
    let dir = Dir::new();
    let genome = bases(3000, 7);
    dir.write("g.fa", format!(">g1\n{genome}\n"));
    fs::create_dir(dir.path("tax")).unwrap();
    dir.write("tax/nodes.dmp", "1\t|\t1\t|\tno rank\t|\n9\t|\t1\t|\tspecies\t|\n");
    dir.write(
        "tax/names.dmp",
        "1\t|\troot\t|\t\t|\tscientific name\t|\n9\t|\tG\t|\t\t|\tscientific name\t|\n",
    );
    dir.write("map", "g1\t9\n");
    dir.run("build -q --taxonomy tax --map map -o db.mgdb g.fa").ok();
    dir.run("build -q --format kraken2 --taxonomy tax --map map -o k2 g.fa").ok();
    dir.run("deplete index -q g.fa -o host.mgd").ok();
    dir.run("count -q -k 21 --min-count 1 g.fa -o t.mgk").ok();
    (dir, genome)
}

/// Commands that accept pairs, without their reads; all print records or lines.
const COMMANDS: [&str; 6] = [
    "classify db.mgdb",
    "classify k2",
    "deplete filter --keep host.mgd",
    "kmers filter-reads t.mgk",
    "map -e 3 --best g.fa",
    "extract reads --taxid 9 --lines lines",
];

/// Runs a command with these reads. For `extract`, the lines are those of single reads.
fn run(dir: &Dir, command: &str, reads: &str) -> Ran {
    dir.run(&format!("{command} {reads}"))
}

#[test]
fn mates_have_names_of_many_forms() {
    let (dir, genome) = world();
    for (mates, common) in [
        (["", ""], "r0"),
        (["/1", "/2"], "r0"),
        ([".1", ".2"], "r0"),
        (["_1", "_2"], "r0"),
        ([":1", ":2"], "r0"),
        (["-1", "-2"], "r0"),
        (["_R1", "_R2"], "r0"),
        (["_R1_001", "_R2_001"], "r0_R1_001"),
        ([" 1:N:0:A", " 2:N:0:A"], "r0"),
        ([" length=100", " length=100"], "r0"),
    ] {
        for (file, mate) in ["1.fq", "2.fq"].iter().zip(mates) {
            let offset = if *file == "1.fq" { 0 } else { 150 };
            dir.write(file, reads(&genome, 3, offset, |number| format!("r{number}{mate}")));
        }
        let pair = "-1 1.fq -2 2.fq -q";
        let first = mates[0].split(' ').next().unwrap();
        let column = |text: &str, at: usize| -> Vec<String> {
            let lines = text.lines().filter(|line| !line.starts_with('@'));
            lines.map(|line| line.split('\t').nth(at).unwrap().to_owned()).collect()
        };
        let own = run(&dir, COMMANDS[0], pair).ok();
        let names: Vec<String> = (0..3).map(|at| common.replace("r0", &format!("r{at}"))).collect();
        assert_eq!(column(&own, 1), names, "{mates:?}");
        // Kraken 2 removes only /1 and /2.
        let kraken = run(&dir, COMMANDS[1], pair).ok();
        let id = format!("r0{}", first.strip_suffix("/1").unwrap_or(first));
        assert_eq!(column(&kraken, 1)[0], id);
        let sam = run(&dir, COMMANDS[4], pair).ok();
        let both: Vec<&String> = names.iter().flat_map(|name| [name, name]).collect();
        assert_eq!(column(&sam, 0).iter().collect::<Vec<_>>(), both);
        let flags = column(&sam, 1)
            .iter()
            .map(|flags| flags.parse::<u16>().unwrap() & 0xc1)
            .collect::<Vec<_>>();
        assert_eq!(flags, [0x41, 0x81].repeat(3));
        for command in &COMMANDS[2..4] {
            let kept = run(&dir, command, pair).ok();
            assert_eq!(kept.lines().count(), 24, "{command} {mates:?}");
        }
        // Lines of both kinds, in any order, are matched with their reads.
        for lines in [&own, &kraken] {
            let turned: Vec<&str> = lines.lines().rev().collect();
            for text in [lines.clone(), turned.join("\n") + "\n"] {
                dir.write("lines", text);
                let ran = run(&dir, COMMANDS[5], "-1 1.fq -2 2.fq");
                assert!(ran.warnings().is_empty(), "{}", ran.stderr);
                assert_eq!(ran.ok().lines().count(), 24, "{mates:?}");
            }
        }
    }
}

#[test]
fn files_that_are_no_mates_are_refused() {
    let (dir, genome) = world();
    let forms = [
        ("r/1", "r/1", "both are first mates"),
        ("r/2", "r/2", "both are second mates"),
        ("r 1:N:0:A", "r 1:N:0:A", "both are first mates"),
        ("r 2:Y:0:A", "r 2:Y:0:A", "both are second mates"),
        ("E.1 x:1/1", "E.1 x:1/1", "both are first mates"),
        ("r/2", "r/1", "the second mate comes first"),
        ("r.2", "r.1", "the second mate comes first"),
        ("r 2:N:0:A", "r 1:N:0:A", "the second mate comes first"),
        ("r1", "r2", "mates must have the same name"),
        ("a.11", "a.12", "mates must have the same name"),
    ];
    dir.write("lines", "");
    for (one, two, problem) in forms {
        dir.write("1.fq", reads(&genome, 1, 0, |_| one.into()));
        dir.write("2.fq", reads(&genome, 1, 90, |_| two.into()));
        dir.write("lines", format!("C\t{}\t9\t\n", one.split([' ', '/']).next().unwrap()));
        for command in COMMANDS {
            let line = run(&dir, command, "-1 1.fq -2 2.fq").fails(1);
            let [one, two] = [one, two].map(|header| match header.split_once(' ') {
                Some((name, comment)) => {
                    let number = comment.find(['1', '2']).map_or("", |at| &comment[at..=at]);
                    format!("{name} (mate {number})")
                }
                None => header.to_owned(),
            });
            let place =
                format!("error: 1.fq: record 1 is {one}, but its mate in 2.fq is {two}: {problem}");
            assert!(line.starts_with(&place) && line.contains("--any-names"), "{command}: {line}");
            run(&dir, command, "-1 1.fq -2 2.fq --any-names -q").ok();
        }
    }
}

#[test]
fn a_file_is_not_its_own_mate() {
    let (dir, genome) = world();
    dir.write("1.fq", reads(&genome, 2, 0, |number| format!("r{number}")));
    symlink("1.fq", dir.path("link.fq")).unwrap();
    fs::hard_link(dir.path("1.fq"), dir.path("hard.fq")).unwrap();
    dir.write("list", "./1.fq\n");
    dir.write("lines", "C\tr0\t9\t\n");
    for command in COMMANDS {
        for second in ["1.fq", "./1.fq", "link.fq", "hard.fq", "@list"] {
            let line = run(&dir, command, &format!("-1 1.fq -2 {second} --any-names")).fails(1);
            assert!(line.contains("the same file as first and as second mates"), "{line}");
        }
    }
    // The sample with this mistake is not classified, but other samples are.
    dir.write("2.fq", reads(&genome, 2, 0, |number| format!("r{number}")));
    dir.write("sheet", "a\t1.fq\tlink.fq\n");
    for command in ["classify db.mgdb -o {}.tsv", "map -e 3 g.fa -o {}.bam"] {
        let line = dir.run(&format!("{command} --sample-sheet sheet")).fails(1);
        assert!(line.contains("is given as first and as second mates"), "{line}");
    }
}

#[test]
fn files_that_are_given_twice_are_warned_of() {
    let (dir, genome) = world();
    dir.write("1.fq", reads(&genome, 2, 0, |number| format!("r{number}")));
    dir.write("2.fq", reads(&genome, 2, 100, |number| format!("r{number}")));
    symlink("1.fq", dir.path("link.fq")).unwrap();
    fs::hard_link(dir.path("1.fq"), dir.path("hard.fq")).unwrap();
    dir.write("list", "1.fq\n");
    fs::create_dir(dir.path("folder")).unwrap();
    symlink("../g.fa", dir.path("folder/h.fa")).unwrap();
    dir.write("lines", "C\tr0\t9\t\nC\tr1\t9\t\n");
    let warned = |args: &str, names: &str| {
        let ran = dir.run(args);
        let expected = format!("warning: {names}, and all that it holds counts twice");
        let found: Vec<&str> =
            ran.warnings().into_iter().filter(|line| line.starts_with(&expected)).collect();
        assert_eq!(found.len(), 1, "{args}: {}", ran.stderr);
        ran.ok();
    };
    let count = "count -k 21 -o x.mgk";
    for command in COMMANDS.iter().chain([&count]) {
        for (second, names) in [
            ("1.fq", "1.fq: is given more than once"),
            ("./1.fq", "1.fq and ./1.fq: are the same file"),
            ("link.fq", "1.fq and link.fq: are the same file"),
            ("hard.fq", "1.fq and hard.fq: are the same file"),
            ("@list", "1.fq: is given more than once"),
        ] {
            warned(&format!("{command} 1.fq {second}"), names);
        }
    }
    warned(
        "classify db.mgdb -1 1.fq -1 2.fq -2 2.fq -2 1.fq --any-names",
        "2.fq: is given more than once",
    );
    warned(
        "build --taxonomy tax --map map -o x.mgdb g.fa folder",
        "g.fa and folder/h.fa: are the same file",
    );
    warned("deplete index g.fa ./g.fa -o x.mgd", "g.fa and ./g.fa: are the same file");
    // The second file may belong to another shard.
    warned("count -k 21 -o x.mgk --shard 1/2 1.fq ./1.fq", "1.fq and ./1.fq: are the same file");
    // The summary contains the warning, too.
    dir.run("count -q -k 21 -o x.mgk 1.fq 1.fq --json j").ok();
    let summary: serde_json::Value = serde_json::from_slice(&dir.read("j")).unwrap();
    assert!(summary["warnings"][0].as_str().unwrap().starts_with("1.fq: is given more than once"));
    // No warning for copies, a table combined with itself, and reads compared with their own table.
    fs::copy(dir.path("1.fq"), dir.path("copy.fq")).unwrap();
    for args in [
        "count -k 21 -o x.mgk 1.fq copy.fq",
        "kmers union t.mgk t.mgk -o x.mgk",
        "filter -e 3 g.fa g.fa",
    ] {
        let ran = dir.run(args);
        assert!(ran.warnings().is_empty(), "{args}: {}", ran.stderr);
        ran.ok();
    }
}

#[test]
fn pairs_that_are_given_as_single_reads_are_warned_of() {
    let (dir, genome) = world();
    let mates = |number: usize| format!("r{}/{}", number / 2, number % 2 + 1);
    dir.write("il.fq", reads(&genome, 20, 0, mates));
    dir.write("single.fq", reads(&genome, 20, 0, |number| format!("SRR1.{}", number + 1)));
    let lines = |name: fn(usize) -> String| -> String {
        (0..20).map(|number| format!("C\t{}\t9\t\n", name(number))).collect()
    };
    for command in COMMANDS {
        dir.write("lines", lines(|number| format!("r{}/{}", number / 2, number % 2 + 1)));
        let ran = run(&dir, command, "il.fq");
        let expected = "warning: il.fq: its first 20 records are pairs by their names (r0/1 and r0/2), but all \
                        are read as single reads: if they are pairs, give --interleaved";
        assert_eq!(ran.warnings(), [expected], "{command}");
        ran.ok();
        dir.write("lines", (0..10).map(|pair| format!("C\tr{pair}\t9\t\n")).collect::<String>());
        let ran = run(&dir, command, "--interleaved il.fq");
        assert!(ran.warnings().is_empty(), "{command}: {}", ran.stderr);
        ran.ok();
        dir.write("lines", lines(|number| format!("SRR1.{}", number + 1)));
        let ran = run(&dir, command, "single.fq");
        assert!(ran.warnings().is_empty(), "{command}: {}", ran.stderr);
        ran.ok();
    }
    let ran = dir.run("count -k 21 -o x.mgk il.fq");
    assert!(ran.warnings().is_empty(), "{}", ran.stderr);
}

#[test]
fn files_of_mates_that_are_given_as_single_reads_are_warned_of() {
    let (dir, genome) = world();
    for name in ["a_1", "a_2", "b_1", "b_2"] {
        let (sample, mate) = name.split_once('_').unwrap();
        let names = |number| format!("{sample}.{number}.{mate}");
        dir.write(&format!("{name}.fq"), reads(&genome, 3, 0, names));
    }
    for order in ["a_1.fq a_2.fq b_1.fq b_2.fq", "a_1.fq b_1.fq a_2.fq b_2.fq"] {
        let ran = run(&dir, COMMANDS[0], order);
        let expected = "warning: a_1.fq and a_2.fq look like mates of pairs, and are classified as single reads: \
                        give -1 a_1.fq -2 a_2.fq";
        assert_eq!(ran.warnings(), [expected], "{order}");
    }
    assert!(run(&dir, COMMANDS[0], "a_1.fq b_1.fq").warnings().is_empty());
    assert!(run(&dir, COMMANDS[0], "a_1.fq b_2.fq").warnings().is_empty());
}

/// Returns SAM of these records.
fn sam(genome: &str, records: &[(&str, u16, usize)]) -> String {
    let one = |&(name, flags, at): &(&str, u16, usize)| {
        let (letters, qualities) = (&genome[at..at + 100], "I".repeat(100));
        format!("{name}\t{flags}\t*\t0\t0\t*\t*\t0\t0\t{letters}\t{qualities}\n")
    };
    format!("@HD\tVN:1.6\tSO:unsorted\n{}", records.iter().map(one).collect::<String>())
}

#[test]
fn alignments_are_pairs_by_their_flags() {
    let (dir, genome) = world();
    let pairs = [("a", 77, 0), ("a", 141, 200), ("b", 77, 300), ("b", 141, 500)];
    dir.write("pairs.sam", sam(&genome, &pairs));
    dir.write(
        "1.fq",
        reads(&genome, 2, 0, |number| ["a", "b"][number].into())
            .replace(&genome[50..150], &genome[300..400]),
    );
    dir.write(
        "2.fq",
        format!(
            "@a\n{}\n+\n{q}\n@b\n{}\n+\n{q}\n",
            &genome[200..300],
            &genome[500..600],
            q = "I".repeat(100)
        ),
    );
    dir.write("lines", "C\ta\t9\t\nC\tb\t9\t\n");
    for command in [0, 1, 4].map(|at| COMMANDS[at]) {
        let two = run(&dir, command, "-1 1.fq -2 2.fq --any-names -q").ok();
        let of_pairs = run(&dir, command, "pairs.sam");
        assert!(of_pairs.warnings().is_empty(), "{}", of_pairs.stderr);
        // Only headers may differ: they contain the command line.
        let records = |text: &str| -> Vec<String> {
            text.lines().filter(|line| !line.starts_with('@')).map(str::to_owned).collect()
        };
        assert_eq!(records(&of_pairs.ok()), records(&two), "{command}");
        let piped = dir.run_with(format!("{command} - -q").split(' '), &dir.read("pairs.sam"));
        assert_eq!(records(&piped.ok()), records(&two), "{command}");
        let named = run(&dir, command, "--interleaved pairs.sam -q").ok();
        assert_eq!(records(&named), records(&two), "{command}");
    }
    let names = |text: &str| -> Vec<String> {
        text.lines().step_by(4).map(|line| line[1..].to_owned()).collect()
    };
    for command in [2, 3, 5].map(|at| COMMANDS[at]) {
        let ran = run(&dir, command, "pairs.sam");
        assert!(ran.warnings().is_empty(), "{}", ran.stderr);
        assert_eq!(names(&ran.ok()), ["a/1", "a/2", "b/1", "b/2"], "{command}");
    }
    // A mate that matches the host also removes the other mate.
    dir.write(
        "half.sam",
        sam(&format!("{genome}{}", bases(100, 3)), &[("a", 77, 0), ("a", 141, 3000)]),
    );
    assert_eq!(dir.run("deplete filter -q host.mgd half.sam").ok(), "");
}

#[test]
fn alignments_that_are_not_in_the_order_of_pairs_are_refused() {
    let (dir, genome) = world();
    let sorted = [("a", 99, 0), ("b", 99, 100), ("a", 147, 200), ("b", 147, 300)];
    let mixed = [
        ("a", 77, 0),
        ("a", 141, 200),
        ("x", 4, 300),
        ("y", 77, 400),
        ("b", 77, 500),
        ("b", 141, 600),
    ];
    dir.write("sorted.sam", sam(&genome, &sorted));
    dir.write("mixed.sam", sam(&genome, &mixed));
    dir.write("firsts.sam", sam(&genome, &[("a", 77, 0), ("b", 77, 100)]));
    dir.write("single.sam", sam(&genome, &[("a", 4, 0), ("b", 4, 100)]));
    let lines = |args: &str| {
        let ran = dir.run(args);
        let warned = ran.warnings().join("|");
        let names = |line: &str| line.split('\t').nth(1).unwrap().to_owned();
        (ran.ok().lines().map(names).collect::<Vec<_>>(), warned)
    };
    for command in [0, 1, 2, 3, 4].map(|at| COMMANDS[at]) {
        for file in ["sorted.sam", "mixed.sam"] {
            let line = run(&dir, command, &format!("{file} -o out")).fails(1);
            assert_eq!(
                line,
                format!(
                    "error: {file}: reads are mates by their flags, but do not lie side by side, the first one \
                     first; bring the mates together: samtools collate -u -O {file} | merganser … -\n"
                ),
                "{command}"
            );
            assert!(!dir.names().contains(&"out".to_owned()), "{command}");
        }
    }
    let line = dir.run("classify db.mgdb --interleaved sorted.sam").fails(1);
    assert!(line.contains("samtools collate"), "{line}");
    // Alignments that are written again are brought together by their names, and k-mers have no mates.
    for command in ["deplete filter --keep host.mgd", "kmers filter-reads t.mgk"] {
        let ran = run(&dir, command, "sorted.sam -o out.bam");
        assert!(!ran.stderr.contains("error"), "{}", ran.stderr);
        ran.ok();
    }
    let counted = dir.run("count -k 21 -o x.mgk sorted.sam");
    assert!(!counted.stderr.contains("mates"), "{}", counted.stderr);
    counted.ok();
    // A mate that is not beside its mate has none in a file that is grouped by name.
    dir.write("grouped.sam", sam(&genome, &mixed).replace("SO:unsorted", "SO:unsorted\tGO:query"));
    let (names, warned) = lines("classify db.mgdb grouped.sam");
    assert_eq!(names, ["a", "x", "y/1", "b"]);
    assert_eq!(warned, "");
    for (file, expected) in [("firsts.sam", ["a/1", "b/1"]), ("single.sam", ["a", "b"])] {
        assert_eq!(
            lines(&format!("classify db.mgdb {file}")),
            (expected.map(String::from).to_vec(), String::new())
        );
    }
    let line = dir.run("map -e 3 --strand forward g.fa mixed.sam").fails(1);
    assert!(line.contains("mates are on both strands: leave --strand out"), "{line}");
}

#[test]
fn samtools_collate_is_what_helps() {
    if !installed(&["samtools"]) {
        return;
    }
    let (dir, genome) = world();
    // Also of reads without their mates, as after samtools view -F 4.
    let sorted = [
        ("a", 77, 0),
        ("x", 77, 50),
        ("b", 77, 100),
        ("y", 141, 150),
        ("a", 141, 200),
        ("b", 141, 300),
        ("z", 141, 400),
    ];
    dir.write("sorted.sam", sam(&genome, &sorted));
    let few = sorted.iter().filter(|read| !["a", "b"].contains(&read.0)).copied();
    dir.write("few.sam", sam(&genome, &few.collect::<Vec<_>>()));
    for (file, reads) in [("sorted.sam", 5), ("few.sam", 3)] {
        dir.run(&format!("classify db.mgdb {file}")).fails(1);
        for options in ["-u -O", "-f -O"] {
            let collated = std::process::Command::new("samtools")
                .args(["collate"])
                .args(options.split(' '))
                .arg(file)
                .current_dir(dir.root())
                .output()
                .unwrap();
            assert!(collated.status.success());
            let ran = dir.run_with(["classify", "db.mgdb", "-"], &collated.stdout);
            assert!(ran.warnings().is_empty(), "{}", ran.stderr);
            assert_eq!(ran.ok().lines().count(), reads);
        }
    }
}

#[test]
fn the_cases_of_mates() {
    let Some(folder) = cases("classify") else { return };
    let dir = Dir::new();
    for name in ["m.map", "g.fa", "13-names-pipe", "09-mates"] {
        symlink(folder.join(name), dir.path(name)).unwrap();
    }
    dir.run("build -q --taxonomy 13-names-pipe/taxonomy --map m.map -o n.mgdb g.fa").ok();
    dir.run("build -q --format kraken2 --taxonomy 13-names-pipe/taxonomy --map m.map -o k2 g.fa")
        .ok();
    dir.run("deplete index -q -o host.mgd g.fa").ok();
    let line = dir.run("classify n.mgdb -1 09-mates/s_1.fq -2 09-mates/s_1.fq").fails(1);
    assert!(line.contains("the same file as first and as second mates"), "{line}");
    let sra = "-1 09-mates/sra_1.fq -2 09-mates/sra_2.fq -q";
    assert!(
        dir.run(&format!("classify n.mgdb {sra}")).ok().starts_with("C\tSRR1.1\t101\t150|150\t")
    );
    let line = dir.run(&format!("classify k2 {sra}")).ok();
    assert!(line.starts_with("C\tSRR1.1.1\t101\t150|150\t"), "{line}");
    let ran = dir.run("deplete filter host.mgd 09-mates/il.fq -o il.fq");
    assert!(ran.warnings()[0].contains("give --interleaved"), "{}", ran.stderr);
    let ran = dir.run("deplete filter host.mgd --interleaved 09-mates/il.fq -o il.fq");
    assert!(ran.stderr.contains("3 of 9 pairs were kept"), "{}", ran.stderr);
}
