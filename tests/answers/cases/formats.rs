//! Text formats and containers of reads: blanks, byte order marks, comments, concatenated and truncated files.

use merganser_io::BgzfBlocks;

use super::cases;
use merganser_test_support::forms::gzip;
use merganser_test_support::reads::Random;
use merganser_test_support::{Dir, gunzip, small_reads, two_species};

/// Runs `count` with these arguments and returns its summary.
fn counted(dir: &Dir, args: &str) -> serde_json::Value {
    let text = dir.run(&format!("count -q --min-count 1 --format none --json - {args}")).ok();
    serde_json::from_str(&text).unwrap()
}

fn kmers(summary: &serde_json::Value) -> u64 {
    summary["results"]["total_kmers"].as_u64().unwrap()
}

/// Compresses text as BGZF with `step` bytes a block, without the empty block at the end.
fn blocks(text: &[u8], step: usize) -> Vec<u8> {
    let mut out = Vec::new();
    let mut blocks = BgzfBlocks::new(1);
    for piece in text.chunks(step) {
        blocks.compress(piece, true, &mut out);
    }
    out
}

fn ended(blocks: &[u8]) -> Vec<u8> {
    [blocks, &BgzfBlocks::END].concat()
}

/// Returns unaligned reads as uncompressed BAM.
fn bam(reads: &[Vec<u8>]) -> Vec<u8> {
    let mut out = b"BAM\x01\0\0\0\0\0\0\0\0".to_vec();
    for (number, letters) in reads.iter().enumerate() {
        let name = format!("r{number}\0");
        let mut record = [&[0xff; 8][..], &[name.len() as u8, 0, 0, 0, 0, 0, 4, 0]].concat();
        record.extend((letters.len() as u32).to_le_bytes());
        record.extend([0xff; 8]);
        record.extend([0; 4]);
        record.extend(name.bytes());
        let code = |letter: &u8| 1u8 << b"ACGT".iter().position(|base| base == letter).unwrap();
        for pair in letters.chunks(2) {
            record.push(code(&pair[0]) << 4 | pair.get(1).map_or(0, code));
        }
        record.extend(vec![40; letters.len()]);
        out.extend((record.len() as u32).to_le_bytes());
        out.extend(record);
    }
    out
}

#[test]
fn small_cases_of_fasta() {
    let Some(folder) = cases("kmers") else { return };
    let dir = Dir::new();
    let run = |k: u8, name: &str| format!("-k {k} {}", folder.join(name).display());
    for (name, k, expected) in [
        ("trail1.fa", 31, 570),
        ("ws.fa", 21, 99_980),
        ("bom.fa", 21, 100),
        ("semicolon.fa", 21, 100),
    ] {
        let summary = counted(&dir, &run(k, name));
        assert_eq!(kmers(&summary), expected, "{name}");
        assert_eq!(summary["results"]["ambiguous_letters"], 0, "{name}");
        assert_eq!(summary["warnings"], serde_json::json!([]), "{name}");
    }
    for (name, expected) in [
        (
            "mix.fa",
            "line 3: a sequence line begins with '@', as in FASTQ: give FASTA and FASTQ as files of \
             their own",
        ),
        (
            "j.fa",
            "line 2: '>' within a sequence: was a file without a last line end joined with the next \
             one? Join them again with a line end between",
        ),
    ] {
        let message = dir.run(&format!("count --format none {}", run(5, name))).fails(1);
        assert_eq!(message, format!("error: {}: {expected}\n", folder.join(name).display()));
    }
    // Given as two files, they have the right number of k-mers.
    let both = format!("{} {}", run(5, "j1.fa"), folder.join("j2.fa").display());
    assert_eq!(kmers(&counted(&dir, &both)), 52);
}

#[test]
fn a_read_behind_a_byte_order_mark_is_classified() {
    let Some(folder) = cases("classify") else { return };
    let dir = Dir::new();
    let at = |name: &str| folder.join(name).display().to_string();
    let (taxonomy, map) = (at("13-names-pipe/taxonomy"), at("m.map"));
    dir.run(&format!("build -q --taxonomy {taxonomy} --map {map} -o n.mgdb {}", at("g.fa"))).ok();
    let line = dir.run(&format!("classify -q n.mgdb {}", at("17-bom/bom.fa"))).ok();
    assert!(line.starts_with("C\tr1\t101\t150\t"), "{line}");
}

/// Formats a sequence as FASTA in lines of 60 letters with this line end.
fn wrapped(header: &str, letters: &[u8], end: &str) -> String {
    let line = |line: &[u8]| format!("{}{end}", std::str::from_utf8(line).unwrap());
    letters.chunks(60).fold(format!("{header}\n"), |text, letters| text + &line(letters))
}

/// Returns the sequence in other, equivalent forms of FASTA.
fn same_fasta(name: &str, letters: &[u8]) -> Vec<(&'static str, Vec<u8>)> {
    let header = format!(">{name}");
    let plain = wrapped(&header, letters, "\n");
    let mark = |text: &str| format!("\u{feff}{text}").into_bytes();
    vec![
        ("blank.fa", wrapped(&header, letters, " \n").into_bytes()),
        ("tabs.fa", wrapped(&format!("> {name} "), letters, "\t \t\r\n").into_bytes()),
        ("returns.fa", wrapped(&header, letters, "\r\r\n").into_bytes()),
        ("mark.fa", mark(&plain)),
        ("mark.fa.gz", ended(&blocks(&mark(&plain), 1000))),
        ("comments.fa", wrapped(&format!(";x\n;>y\n{header}\n;ACGT"), letters, "\n;ACGT\n").into()),
        ("within.fa", wrapped(&header, letters, "\n  \n ").into_bytes()),
    ]
}

/// Blanks, byte order marks and comments in a genome are ignored by every job.
#[test]
fn genomes_with_blanks_marks_and_comments_are_the_same() {
    let dir = Dir::new();
    let mut random = Random(3);
    let genome = random.bases(5000);
    dir.write("plain.fa", wrapped(">c1", &genome, "\n"));
    let reads = (0..40).fold(String::new(), |text, number| {
        let letters = std::str::from_utf8(&genome[number * 100..][..100]).unwrap();
        text + &format!("@r{number}\n{letters}\n+\n{}\n", "I".repeat(100))
    });
    dir.write("r.fq", reads);
    // K-mers of only half of the genome, so that BED lists the other half as missing.
    dir.write("half.fa", wrapped(">h", &genome[..2500], "\n"));
    dir.run("count -q -k 21 --min-count 1 -o half.mgk half.fa").ok();
    two_species::write_taxonomy(&dir);
    dir.write("map.tsv", "c1\t11\n");
    let results = |fasta: &str| {
        dir.run(&format!("count -q -k 31 --min-count 1 -o t.mgk {fasta}")).ok();
        dir.run(&format!("deplete index -q -o t.mgd {fasta}")).ok();
        dir.run(&format!("build -q --taxonomy tax --map map.tsv -o t.mgdb {fasta}")).ok();
        let lines = dir.run("classify -q t.mgdb r.fq").ok();
        let sam = dir.run(&format!("map -q {fasta} r.fq -e 2")).ok();
        let sam: Vec<String> =
            sam.lines().filter(|line| !line.starts_with("@PG")).map(str::to_owned).collect();
        dir.run(&format!("kmers qv -q --solid 1 -o q half.mgk {fasta}")).ok();
        let names = dir.names();
        let bed = names.iter().find(|name| name.ends_with("_only.bed")).unwrap();
        let bed = dir.read(bed);
        for name in names.iter().filter(|name| name.starts_with("q.")) {
            std::fs::remove_file(dir.path(name)).unwrap();
        }
        (dir.read("t.mgk"), dir.read("t.mgd"), lines, sam, bed)
    };
    let expected = results("plain.fa");
    assert_eq!(expected.4, b"c1\t2480\t5000\n");
    assert!(expected.3.len() > 40 && expected.2.starts_with("C\tr0\t11\t100\t"));
    for (name, text) in same_fasta("c1", &genome) {
        dir.write(name, text);
        let found = results(name);
        assert!(found == expected, "{name}: {:?}", found.3.first());
    }
}

/// Formats a read from its number, letters and qualities.
type Form = fn(usize, &str, &str) -> String;

/// Blanks around letters and qualities of reads are ignored.
#[test]
fn reads_with_blanks_are_the_same() {
    let dir = Dir::new();
    let mut random = Random(4);
    let genome = random.bases(3000);
    dir.write("g.fa", wrapped(">c1", &genome, "\n"));
    let text = |form: Form| {
        (0..30).fold(String::new(), |text, number| {
            let letters = std::str::from_utf8(&genome[number * 97..][..80]).unwrap();
            text + &form(number, letters, &"I".repeat(80))
        })
    };
    dir.write("plain.fq", text(|n, letters, quality| format!("@r{n}\n{letters}\n+\n{quality}\n")));
    let forms: [(&str, Form); 3] = [
        ("blank.fq", |n, letters, quality| format!("@ r{n}\n{letters} \t\n+\n{quality}\n")),
        ("both.fq", |n, letters, quality| format!("@\tr{n} \n{letters} \r\n+ \n{quality} \r\n")),
        ("before.fq", |n, letters, quality| format!("@r{n}\n {letters}\n+r{n}\n{quality}\n")),
    ];
    let results = |reads: &str| {
        dir.run(&format!("count -q -k 15 --min-qual 20 --min-count 1 -o t.mgk {reads}")).ok();
        let sam = dir.run(&format!("map -q g.fa {reads} -e 2")).ok();
        let records: Vec<String> =
            sam.lines().filter(|line| !line.starts_with('@')).map(str::to_owned).collect();
        (dir.read("t.mgk"), records)
    };
    let expected = results("plain.fq");
    assert!(expected.1.len() == 30 && expected.1[0].starts_with("r0\t0\tc1\t1\t"));
    for (name, form) in forms {
        dir.write(name, format!("{}\n  \n", text(form)));
        assert!(results(name) == expected, "{name}");
    }
}

/// The name is the first word of a header, even after blanks.
#[test]
fn names_may_have_a_blank_before_them() {
    let dir = Dir::new();
    let mut random = Random(5);
    let genome = random.bases(2000);
    dir.write("g.fa", wrapped("> NODE_1 length 2000", &genome, "\n"));
    dir.write("r.fa", wrapped(">\tread_1 x", &genome[700..800], "\n"));
    let sam = dir.run("map -q g.fa r.fa -e 1").ok();
    assert!(sam.contains("@SQ\tSN:NODE_1\tLN:2000"), "{sam}");
    assert!(sam.contains("\nread_1\t0\tNODE_1\t701\t"), "{sam}");
}

/// Invalid FASTA and FASTQ are refused with the line number, by every job.
#[test]
fn joined_and_mixed_files_are_errors_at_the_line() {
    let dir = Dir::new();
    let mut random = Random(6);
    let letters = String::from_utf8(random.bases(100)).unwrap();
    let quality = "I".repeat(100);
    dir.write("g.fa", format!(">g\n{letters}\n"));
    dir.run("deplete index -q -k 15 -w 5 -o g.mgd g.fa").ok();
    dir.run("count -q -k 15 --min-count 1 -o g.mgk g.fa").ok();
    let fasta = format!(">a\n{letters}\n");
    let fastq = format!("@r\n{letters}\n+\n{quality}\n");
    let cases = [
        ("mix.fa", format!("{fasta}{fastq}"), "line 3: a sequence line begins with '@'"),
        ("j.fa", format!("{}{fasta}", fasta.trim_end()), "line 2: '>' within a sequence"),
        ("jq.fa", format!("{}{fastq}", fasta.trim_end()), "line 2: '@' within a sequence"),
        ("mix.fq", format!("{fastq}{fasta}"), "record 2, line 5: a record should begin with '@'"),
        (
            "j.fq",
            format!("{}{fastq}", fastq.trim_end()),
            "record 1, line 4: the quality has 102 letters, the sequence 100, and a record seems",
        ),
        (
            "blank.fq",
            format!("@r\n{letters}\n+\n{}\n", " ".repeat(100)),
            "record 1, line 4: a blank among the qualities",
        ),
        ("nul.fq", fastq.replacen('I', "\0", 1), "record 1, line 4: byte 0x00 among the qualities"),
        ("nul.fa", fasta.replacen('C', "\0", 1), "line 2: binary data (byte 0x00) in a sequence"),
        (
            "twice.fa",
            format!("{fasta}\u{feff}{fasta}"),
            "line 3: a byte order mark within the file",
        ),
        ("indented.fa", format!("{fasta}  {fasta}"), "line 3: blanks before a header"),
        ("pearson.fa", format!(";a\n{letters}\n"), "line 2: no header '>' before the first"),
    ];
    for (name, text, expected) in cases {
        dir.write(name, text);
        for args in [
            "count -k 15 --min-qual 20 --format none",
            "map g.fa -e 2 -o o.sam",
            "deplete filter g.mgd -o o",
            "kmers filter-reads g.mgk -o o",
            "deplete index -o o.mgd",
        ] {
            // Jobs that do not use qualities do not check them.
            if args.starts_with("deplete index") && expected.ends_with("qualities") {
                continue;
            }
            let message = dir.run(&format!("{args} {name}")).fails(1);
            assert!(
                message.starts_with(&format!("error: {name}: {expected}")),
                "{args}: {message}"
            );
            assert!(!dir.names().iter().any(|name| name.starts_with("o.")), "{args}");
        }
    }
    let wide: Vec<u8> = "\u{feff}>a\nACGT\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
    dir.write("wide.fa", wide);
    assert_eq!(
        dir.run("count -k 3 --format none wide.fa").fails(1),
        "error: wide.fa: UTF-16 text; convert it with iconv -f UTF-16 -t UTF-8\n"
    );
}

const CUT: &str = "truncated: the BAM data end without their end-of-file block; copy or download the \
                   file again (if it is whole, samtools view -b writes one that has it)";

/// BAM that is truncated between two blocks is refused by every job.
#[test]
fn bam_without_its_end_block_is_refused() {
    let dir = Dir::new();
    let mut random = Random(7);
    let genome = random.bases(3000);
    let reads: Vec<Vec<u8>> = (0..400).map(|at| genome[at * 7..][..150].to_vec()).collect();
    dir.write("g.fa", wrapped(">g|kraken:taxid|11", &genome, "\n"));
    let packed = blocks(&bam(&reads), 5000);
    dir.write("whole.bam", ended(&packed));
    let half: usize = {
        let mut at = 0;
        while at < packed.len() / 2 {
            at += BgzfBlocks::size(&packed[at..]);
        }
        at
    };
    dir.write("cut.bam", &packed[..half]);
    dir.write("all_but_the_end.bam", &packed);
    // Two concatenated files like those of samtools cat, apart from the second header.
    let rest = blocks(&bam(&reads)[12..], 5000);
    dir.write("cat.bam", ended(&[ended(&packed), rest].concat()));
    dir.write("gzip.bam", gzip(&bam(&reads)));
    two_species::write_taxonomy(&dir);
    dir.run("deplete index -q -o g.mgd g.fa").ok();
    dir.run("build -q --taxonomy tax -o g.mgdb g.fa").ok();
    dir.run("count -q -k 21 --min-count 1 -o g.mgk g.fa").ok();
    let records =
        |name: &str| counted(&dir, &format!("-k 21 {name}"))["results"]["records"].clone();
    assert_eq!((records("whole.bam"), records("gzip.bam")), (400.into(), 400.into()));
    assert_eq!(records("cat.bam"), 800);
    let jobs = [
        "count -k 21 --format none",
        "count -k 21 --shard 1/2 -o o.mgk",
        "map g.fa -e 2 -o o.sam",
        "deplete filter g.mgd -o o.fq",
        "classify g.mgdb -o o.tsv",
        "kmers filter-reads g.mgk -o o.fq",
        "filter -e 2 -o o.tsv whole.bam",
    ];
    for job in jobs {
        for name in ["cut.bam", "all_but_the_end.bam"] {
            let message = dir.run(&format!("{job} {name}")).fails(1);
            assert_eq!(message, format!("error: {name}: {CUT}\n"), "{job}");
            assert!(!dir.names().iter().any(|name| name.starts_with("o.")), "{job}");
        }
    }
    // In a pipe, the missing block is noticed at the end.
    let ran = dir.run_with("count -k 21 --format none -".split(' '), &packed[..half]);
    assert_eq!(ran.fails(1), format!("error: stdin: {CUT}\n"));
}

/// BGZF text without its end block is read, with one warning per file.
#[test]
fn bgzf_text_without_its_end_block_is_warned_of() {
    let dir = Dir::new();
    let [one, _] = small_reads();
    let text = gunzip(&one);
    let packed = blocks(&text, 60_000);
    dir.write("whole.fq.gz", ended(&packed));
    dir.write("joined.fq.gz", ended(&[ended(&packed), packed.clone()].concat()));
    dir.write("open.fq.gz", &packed);
    dir.write("plain.fq", &text);
    let fasta: Vec<u8> = text
        .split(|&byte| byte == b'\n')
        .collect::<Vec<_>>()
        .chunks_exact(4)
        .flat_map(|read| [b">", &read[0][1..], b"\n", read[1], b"\n"].concat())
        .collect();
    let packed = blocks(&fasta, 60_000);
    // In FASTA, nothing shows whether the last record is complete.
    dir.write("cut.fa.gz", &packed[..BgzfBlocks::size(&packed)]);
    let warned = |name: &str| {
        format!(
            "{name}: its BGZF data end without an end-of-file block and may be truncated: compare the \
             file with its source (bcl2fastq, for one, writes whole files without this block)"
        )
    };
    for (name, expected) in [
        ("whole.fq.gz", vec![]),
        ("joined.fq.gz", vec![]),
        ("plain.fq", vec![]),
        ("open.fq.gz", vec![warned("open.fq.gz")]),
        ("--threads 4 open.fq.gz", vec![warned("open.fq.gz")]),
        ("cut.fa.gz", vec![warned("cut.fa.gz")]),
    ] {
        assert_eq!(
            counted(&dir, &format!("-k 21 {name}"))["warnings"],
            serde_json::json!(expected)
        );
    }
    let whole = counted(&dir, "-k 21 plain.fq")["results"].clone();
    assert_eq!(counted(&dir, "-k 21 open.fq.gz")["results"]["total_kmers"], whole["total_kmers"]);
    dir.run("deplete index -q -k 15 -w 5 -o r.mgd plain.fq").ok();
    let ran = dir.run("deplete filter r.mgd open.fq.gz -o o.fq");
    assert_eq!(ran.warnings(), [format!("warning: {}", warned("open.fq.gz"))]);
}

/// Adds 31 to all qualities, as in Illumina's files before 2011.
fn to_64(text: &[u8]) -> Vec<u8> {
    let mut lines: Vec<Vec<u8>> = text.split(|&byte| byte == b'\n').map(<[u8]>::to_vec).collect();
    for quality in lines.iter_mut().skip(3).step_by(4) {
        quality.iter_mut().for_each(|letter| *letter += 31);
    }
    lines.join(&b'\n')
}

#[test]
fn qualities_of_phred_64_are_told_and_read() {
    let dir = Dir::new();
    let text = gunzip(&small_reads()[0]);
    dir.write("33.fq", &text);
    dir.write("64.fq", to_64(&text));
    let count = |args: &str| counted(&dir, &format!("-k 21 {args}"));
    let expected = count("--min-qual 20 33.fq");
    let low = |summary: &serde_json::Value| summary["results"]["low_quality_bases"].clone();
    assert!(low(&expected).as_u64() > Some(0));
    assert_eq!(expected["warnings"], serde_json::json!([]));
    let asked = count("--min-qual 20 --quality-offset 64 64.fq");
    assert_eq!(asked["results"]["total_kmers"], expected["results"]["total_kmers"]);
    assert_eq!((low(&asked), asked["warnings"].clone()), (low(&expected), serde_json::json!([])));
    assert_eq!(asked["parameters"]["quality_offset"], 64);

    let unasked = count("--min-qual 20 64.fq");
    assert_eq!(low(&unasked), 0);
    let warning = unasked["warnings"][0].as_str().unwrap();
    assert!(warning.starts_with("64.fq: the qualities of the first "), "{warning}");
    assert!(
        warning.ends_with(
            "as in Phred+64, but --min-qual reads them as Phred+33: give --quality-offset 64"
        ),
        "{warning}"
    );
    // Without --min-qual, qualities are ignored.
    assert_eq!(count("64.fq")["warnings"], serde_json::json!([]));

    let message =
        dir.run("count -k 21 --min-qual 20 --quality-offset 64 --format none 33.fq").fails(1);
    assert!(
        message.contains("below those of Phred+64, which begin at ';': leave out --quality-offset")
    );
    assert_eq!(dir.run("count -k 21 --quality-offset 63 33.fq").code, Some(2));
}

#[test]
fn classify_reads_phred_64() {
    let dir = Dir::new();
    let mut random = Random(9);
    two_species::write_taxonomy(&dir);
    let genomes = two_species::write_genomes(&dir, 20_000, &mut random);
    dir.run("build -q --taxonomy tax -o t.mgdb g0.fa g1.fa").ok();
    dir.run("build -q --format kraken2 --taxonomy tax -o k2 g0.fa g1.fa").ok();
    // Reads of good bases and reads of bad bases.
    let text = (0..40).fold(String::new(), |text, number| {
        let letters = std::str::from_utf8(&genomes[0][number * 100..][..100]).unwrap();
        let quality = if number % 2 == 0 { "I" } else { "#" }.repeat(100);
        text + &format!("@r{number}\n{letters}\n+\n{quality}\n")
    });
    dir.write("33.fq", &text);
    dir.write("64.fq", to_64(text.as_bytes()));
    for database in ["t.mgdb", "k2"] {
        let run = |args: &str| dir.run(&format!("classify {database} --min-qual 20 {args}"));
        let expected = run("33.fq").ok();
        assert_eq!(expected.lines().filter(|line| line.starts_with('C')).count(), 20);
        assert_eq!(run("33.fq").warnings(), [""; 0]);
        assert_eq!(run("--quality-offset 64 64.fq").ok(), expected);
        let unasked = run("64.fq");
        assert_eq!(unasked.warnings().len(), 1, "{}", unasked.stderr);
        assert!(unasked.warnings()[0].contains("give --quality-offset 64"));
        // Reads are written as Phred+33.
        run("--quality-offset 64 64.fq --classified-out c.fq --unclassified-out u.fq").ok();
        let written = [dir.read("c.fq"), dir.read("u.fq")].concat();
        let line = |text: &[u8], line: &str| {
            text.split(|&byte| byte == b'\n').filter(|other| *other == line.as_bytes()).count()
        };
        assert_eq!((line(&written, &"I".repeat(100)), line(&written, &"#".repeat(100))), (20, 20));
    }
}

/// Alignments always have Phred+33: --quality-offset has one warning, unless FASTQ is given, too.
#[test]
fn alignments_are_never_phred_64() {
    let dir = Dir::new();
    let mut random = Random(64);
    let reads: Vec<Vec<u8>> = (0..20).map(|_| random.bases(100)).collect();
    dir.write("a.bam", bam(&reads));
    dir.write("b.bam", bam(&reads[..5]));
    let sam: String = reads
        .iter()
        .map(|read| {
            let (letters, quality) = (std::str::from_utf8(read).unwrap(), "I".repeat(100));
            format!("r\t4\t*\t0\t0\t*\t*\t0\t0\t{letters}\t{quality}\n")
        })
        .collect();
    dir.write("a.sam", format!("@HD\tVN:1.6\n{sam}"));
    let said = "the qualities of alignments are always Phred+33: leave out --quality-offset";
    let count = |args: &str| counted(&dir, &format!("-k 21 --quality-offset 64 {args}"));
    for (files, first) in
        [("a.bam", "a.bam"), ("a.sam", "a.sam"), ("b.bam a.sam a.bam", "b.bam (and 2 more inputs)")]
    {
        let summary = count(&format!("--min-qual 20 {files}"));
        assert_eq!(summary["warnings"], serde_json::json!([format!("{first}: {said}")]));
        let plain = counted(&dir, &format!("-k 21 --min-qual 20 {files}"));
        assert_eq!(plain["warnings"], serde_json::json!([]));
        assert_eq!(plain["results"]["total_kmers"], summary["results"]["total_kmers"]);
    }
    // No warning if qualities are not used, or if another input has Phred+64.
    assert_eq!(count("a.bam")["warnings"], serde_json::json!([]));
    dir.write("64.fq", format!("@r\n{}\n+\n{}\n", "ACGT".repeat(25), "h".repeat(100)));
    assert_eq!(count("--min-qual 20 a.bam 64.fq")["warnings"], serde_json::json!([]));
    two_species::write_taxonomy(&dir);
    two_species::write_genomes(&dir, 20_000, &mut random);
    dir.run("build -q --taxonomy tax -o t.mgdb g0.fa g1.fa").ok();
    let ran = dir.run("classify t.mgdb --min-qual 20 --quality-offset 64 a.bam b.bam -o l");
    assert_eq!(ran.warnings(), [format!("warning: a.bam (and 1 more inputs): {said}")]);
    ran.ok();
}
