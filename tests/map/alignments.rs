//! SAM, BAM and CRAM as inputs, compared with `samtools fastq`.

use merganser_test_support::reads::Random;
use merganser_test_support::tools::{installed, shell};
use merganser_test_support::{Dir, gunzip, small_reads};

use crate::map::without_command;

/// A command that writes all reads, whether mates lie side by side or not.
const ALL_READS: &str = "search -q --trim -e 0 -p ACGTACGTACGTACGTACGTACGTACGTACGT";

/// Writes a SAM file of the repository's reads, every third of them on the reverse strand, with secondary and
/// supplementary alignments between them.
fn sam(dir: &Dir) -> usize {
    let mut text = String::from("@HD\tVN:1.6\n@SQ\tSN:c\tLN:1000000\n");
    let reads = [0, 1].map(|mate| String::from_utf8(gunzip(&small_reads()[mate])).unwrap());
    let mut skipped = 0;
    for (mate, reads) in reads.iter().enumerate() {
        let lines: Vec<&str> = reads.lines().collect();
        for (number, read) in lines.chunks(4).enumerate() {
            let flag = [0x41, 0x81][mate] | if number % 3 == 0 { 0x10 } else { 0 };
            let record = |flag: usize| {
                format!(
                    "r{number}\t{flag}\tc\t{}\t60\t{}M\t*\t0\t0\t{}\t{}\n",
                    number + 1,
                    read[1].len(),
                    read[1],
                    read[3]
                )
            };
            text += &record(flag);
            if number % 7 == 0 {
                text += &record(flag | 0x100);
                text += &record(flag | 0x800);
                skipped += 2;
            }
        }
    }
    dir.write("a.sam", text);
    skipped
}

#[test]
fn every_read_counts_once_on_its_own_strand() {
    if !installed(&["samtools", "bgzip"]) {
        return;
    }
    let dir = Dir::new();
    let skipped = sam(&dir);
    shell(
        dir.root(),
        "samtools view -b a.sam > a.bam && samtools fastq -n a.bam > a.fq 2> log && gzip -k a.sam",
    );
    let count = |input: &str| {
        let args = format!(
            "count -k 21 --forward-only --min-qual 20 --min-count 1 -o t.mgk --json j {input}"
        );
        dir.run(&args).ok();
        let json: serde_json::Value = serde_json::from_slice(&dir.read("j")).unwrap();
        (dir.read("t.mgk"), json["results"]["skipped_alignments"].as_u64().unwrap() as usize)
    };
    let (expected, none) = count("a.fq");
    assert_eq!(none, 0);
    for input in ["a.sam", "a.bam", "a.sam.gz", "--threads 3 a.bam"] {
        assert!(count(input) == (expected.clone(), skipped), "{input}");
    }
    let piped = dir.run_with(
        [
            "count",
            "-k",
            "21",
            "--forward-only",
            "--min-qual",
            "20",
            "--min-count",
            "1",
            "-o",
            "p.mgk",
            "-",
        ],
        &dir.read("a.bam"),
    );
    assert!(
        piped.stderr.contains(" secondary and supplementary alignments were skipped"),
        "{}",
        piped.stderr
    );
    piped.ok();
    assert!(dir.read("p.mgk") == expected);
    let bam = dir.read("a.bam");
    dir.write("short.bam", &bam[..bam.len() / 2]);
    let message = dir.run("count -k 21 -o x.mgk short.bam").fails(1);
    assert!(message.contains("short.bam: truncated"), "{message}");
    let names = dir.run(&format!("{ALL_READS} a.bam")).ok();
    let theirs = String::from_utf8(shell(dir.root(), "samtools fastq -N a.bam 2> log")).unwrap();
    assert!(names == theirs);
}

/// Writes a reference of three sequences (`ref.fa`) and unsorted alignments of pairs to it (`a.sam`) with
/// substitutions, insertions, deletions, clips and bases N, among them unmapped mates and secondary alignments.
fn aligned(dir: &Dir) {
    let mut random = Random(7);
    let contigs: Vec<Vec<u8>> = (0..3).map(|_| random.bases(20_000)).collect();
    let mut fasta = String::new();
    let mut text = String::from("@HD\tVN:1.6\n");
    for (number, contig) in contigs.iter().enumerate() {
        fasta += &format!(">c{number} of three\n");
        for line in contig.chunks(60) {
            fasta += &format!("{}\n", String::from_utf8_lossy(line));
        }
        text += &format!("@SQ\tSN:c{number}\tLN:{}\n", contig.len());
    }
    dir.write("ref.fa", fasta.to_ascii_lowercase());
    for number in 0..3000 {
        for mate in [0x41, 0x81] {
            let (contig, start) = (random.below(3), random.below(19_800));
            let at = |range: std::ops::Range<usize>| {
                &contigs[contig][start + range.start..start + range.end]
            };
            let (cigar, mut letters) = match random.below(6) {
                0 => ("40M2I58M", [at(0..40), &random.bases(2), at(40..98)].concat()),
                1 => ("40M3D60M", [at(0..40), at(43..103)].concat()),
                2 => ("10S80M10S", [&random.bases(10), at(0..80), &random.bases(10)].concat()),
                3 => ("50M9N50M5H", [at(0..50), at(59..109)].concat()),
                _ => ("100M", at(0..100).to_vec()),
            };
            for _ in 0..random.below(4) {
                let (place, letter) = (random.below(100), b"ACGTN"[random.below(5)]);
                letters[place] = letter;
            }
            let flag = mate | [0, 0x10][random.below(2)];
            let quality: String =
                (0..100).map(|_| char::from(33 + random.below(42) as u8)).collect();
            let mut line = |flag: usize, place: &str, cigar: &str, quality: &str| {
                let letters = String::from_utf8_lossy(&letters);
                text += &format!(
                    "r{number}\t{flag}\t{place}\t{cigar}\t*\t0\t0\t{letters}\t{quality}\n"
                );
            };
            let place = format!("c{contig}\t{}\t60", start + 1);
            match number % 11 {
                0 => line(mate | 4, "*\t0\t0", "*", &quality),
                1 => line(flag, &place, cigar, "*"),
                _ => line(flag, &place, cigar, &quality),
            }
            if number % 7 == 0 {
                line(flag | 0x100, &place, cigar, &quality);
            }
        }
    }
    dir.write("a.sam", text);
}

#[test]
fn cram_gives_the_reads_that_samtools_gives() {
    if !installed(&["samtools"]) {
        return;
    }
    let dir = Dir::new();
    aligned(&dir);
    shell(
        dir.root(),
        "samtools view -C -T ref.fa -o unsorted.cram a.sam 2> log
         samtools sort -o a.bam a.sam 2> log
         samtools view -C -T ref.fa -o sorted.cram a.bam 2> log
         samtools view -C -T ref.fa --output-fmt-option seqs_per_slice=97 -o slices.cram a.bam
         samtools view -C -T ref.fa --output-fmt-option slices_per_container=4 \
           --output-fmt-option seqs_per_slice=50 -o many.cram a.bam
         samtools view -C -T ref.fa --output-fmt-option version=3.1 -o new.cram a.bam 2> log
         samtools view -C -T ref.fa --output-fmt-option version=3.1 --output-fmt-option archive \
           -o archive.cram a.sam 2> log
         samtools view -C -T ref.fa --output-fmt-option embed_ref=1 -o embedded.cram a.bam
         samtools view -C --output-fmt-option no_ref=1 -o none.cram a.bam
         samtools view -C --output-fmt-option no_ref=1 -o none_unsorted.cram a.sam
         samtools fastq -N a.sam > unsorted.fq 2> log && samtools fastq -N a.bam > sorted.fq 2> log
         mkdir plain && cp ref.fa plain/ && gzip -c ref.fa > ref.fa.gz && test -f ref.fa.fai",
    );
    let count = |input: &str| {
        dir.run(&format!(
            "count -k 21 --forward-only --min-count 1 --min-qual 20 -o t.mgk --json j {input}"
        ))
        .ok();
        let json: serde_json::Value = serde_json::from_slice(&dir.read("j")).unwrap();
        (dir.read("t.mgk"), json["results"]["skipped_alignments"].as_u64().unwrap())
    };
    let expected = (count("a.sam").0, 2 * 3000u64.div_ceil(7));
    assert!(count("a.sam") == expected);
    for input in [
        "--reference ref.fa unsorted.cram",
        "--reference plain/ref.fa sorted.cram",
        "--reference ref.fa.gz --threads 3 sorted.cram",
        "--reference ref.fa --threads 4 slices.cram",
        "--reference ref.fa --threads 3 many.cram",
        "--reference ref.fa new.cram",
        "--reference ref.fa archive.cram",
        "embedded.cram",
        "none.cram",
        "none_unsorted.cram",
        "--reference ref.fa none_unsorted.cram",
    ] {
        assert!(count(input) == expected, "{input}");
    }
    // Compare names, letters and order, and qualities where they exist (samtools invents missing ones).
    let lines = |text: &str| -> Vec<String> {
        let lines: Vec<&str> = text.lines().collect();
        let record = |four: &[&str]| match four[3].bytes().all(|byte| byte == b'~' || byte == b'B')
        {
            true => four[..3].join("\n"),
            false => four.join("\n"),
        };
        lines.chunks(4).map(record).collect()
    };
    for (input, theirs) in [("unsorted.cram", "unsorted.fq"), ("many.cram", "sorted.fq")] {
        let ours = dir.run(&format!("{ALL_READS} --reference ref.fa {input}")).ok();
        let theirs = String::from_utf8(dir.read(theirs)).unwrap();
        let (mut ours, mut theirs) = (lines(&ours), lines(&theirs));
        if input == "many.cram" {
            // Of neighbours with one name, samtools writes the first mate first.
            ours.sort();
            theirs.sort();
        }
        assert!(ours == theirs, "{input}");
    }
    // The other commands that accept reads.
    dir.run("kmers profile -q --reference ref.fa -o p t.mgk sorted.cram").ok();
    dir.run("kmers profile -q -o q t.mgk a.bam").ok();
    assert!(dir.read("p") == dir.read("q"));
    shell(
        dir.root(),
        "samtools collate -u -O a.bam > pairs.bam 2> log && samtools view -C -T ref.fa -o pairs.cram pairs.bam 2> log",
    );
    dir.run("map -q ref.fa pairs.cram -e 5 --reference ref.fa -o p.sam").ok();
    dir.run("map -q ref.fa pairs.bam -e 5 -o q.sam").ok();
    assert!(dir.run("map -q ref.fa a.bam -e 5 -o no.sam").fails(1).contains("samtools collate"));
    // The command in the header names the files.
    let records = |file: &str| without_command(&String::from_utf8(dir.read(file)).unwrap());
    assert!(records("p.sam") == records("q.sam"));
    dir.run("filter -q -e 5 --reference ref.fa sorted.cram a.bam -o p.tsv").ok();
    dir.run("filter -q -e 5 a.bam a.bam -o q.tsv").ok();
    assert!(dir.read("p.tsv") == dir.read("q.tsv"));
}

#[test]
fn cram_without_its_reference_says_what_is_missing() {
    if !installed(&["samtools"]) {
        return;
    }
    let dir = Dir::new();
    aligned(&dir);
    shell(
        dir.root(),
        "samtools view -C -T ref.fa -o unsorted.cram a.sam 2> log
         samtools sort a.sam 2> log | samtools view -C -T ref.fa -o sorted.cram - 2> log
         samtools view -C -T ref.fa --output-fmt-option version=2.1 -o old.cram a.sam 2> log
         sed 's/^>c0/>d0/' ref.fa > named.fa
         head -n 50 ref.fa > short.fa
         sed '2s/a/c/;2s/g/t/' ref.fa > other.fa
         head -c 40000 sorted.cram > cut.cram
         (head -c 40000 sorted.cram; printf XXXX; tail -c +40005 sorted.cram) > damaged.cram",
    );
    let fails = |input: &str| dir.run(&format!("count -k 21 -o t.mgk {input}")).fails(1);
    let cases = [
        (
            "sorted.cram",
            "sorted.cram: record 1: the file omits bases that equal the reference: give the FASTA \
          file of the reference with --reference",
        ),
        ("unsorted.cram", "unsorted.cram: record 2: the file omits bases"),
        ("--reference none.fa sorted.cram", "none.fa: cannot open: no such file or directory"),
        (
            "--reference named.fa sorted.cram",
            "sorted.cram: record 1: aligned to 'c0', which named.fa \
          does not have; --reference must be the FASTA file that the reads were aligned to",
        ),
        (
            "--reference short.fa sorted.cram",
            "aligned to 'c0' of 20000 bases, which has 2940 in \
          short.fa; --reference must be",
        ),
        (
            "--reference other.fa sorted.cram",
            "sorted.cram: record 1: aligned to a sequence other than \
          'c0' of other.fa (MD5); --reference must be",
        ),
        ("--reference ref.fa cut.cram", "cut.cram: truncated: the CRAM data end"),
        ("--reference ref.fa damaged.cram", "damaged.cram: record 1: "),
        ("--reference ref.fa old.cram", "old.cram: CRAM: version 2.1 is not supported, only 3.0"),
    ];
    for (input, expected) in cases {
        let message = fails(input);
        assert!(message.contains(expected), "{input}: {message}");
        assert_eq!(message.trim_end().lines().count(), 1, "{message}");
        assert!(!dir.root().join("t.mgk").exists());
    }
}

#[test]
fn sam_needs_no_header() {
    if !installed(&["samtools"]) {
        return;
    }
    let dir = Dir::new();
    let skipped = sam(&dir);
    shell(
        dir.root(),
        "samtools view a.sam > bare.sam && gzip -k bare.sam && bgzip -c bare.sam > b.gz",
    );
    let count = |input: &str| {
        dir.run(&format!("count -k 21 --min-count 1 -o t.mgk --json j {input}")).ok();
        let json: serde_json::Value = serde_json::from_slice(&dir.read("j")).unwrap();
        (dir.read("t.mgk"), json["results"]["skipped_alignments"].as_u64().unwrap() as usize)
    };
    let expected = count("a.sam");
    assert_eq!(expected.1, skipped);
    for input in ["bare.sam", "bare.sam.gz", "b.gz"] {
        assert!(count(input) == expected, "{input}");
    }
}
