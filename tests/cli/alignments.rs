//! SAM and BAM as inputs, held against `samtools fastq`.

use crate::support::tools::{installed, shell};
use crate::support::{Dir, gunzip, small_reads};

/// A SAM file of the repository's reads, every third of them on the reverse strand, with secondary
/// and supplementary alignments between.
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
    assert!(piped.stderr.contains("  other alignments "), "{}", piped.stderr);
    piped.ok();
    assert!(dir.read("p.mgk") == expected);
    let bam = dir.read("a.bam");
    dir.write("short.bam", &bam[..bam.len() / 2]);
    let message = dir.run("count -k 21 -o x.mgk short.bam").fails(1);
    assert!(message.contains("short.bam: truncated"), "{message}");
    let names = dir.run("kmers filter-reads --min-hits 0 t.mgk a.bam -q").ok();
    let theirs = String::from_utf8(shell(dir.root(), "samtools fastq -N a.bam 2> log")).unwrap();
    assert!(names == theirs);
}
