//! Tags of alignments as comments of reads, compared with `samtools fastq -T`.

use merganser_test_support::Dir;
use merganser_test_support::tools::{installed, shell};

use crate::kept::{convert, view, write};
use crate::kept_by_taxa::write_lines;

#[test]
fn tags_become_comments() {
    if !installed(&["samtools"]) {
        return;
    }
    let dir = Dir::new();
    write(&dir);
    convert(&dir);
    dir.run("count -q -k 21 --min-count 1 -o host.mgk host.fa").ok();
    write_lines(&dir, "grouped.sam", false);
    for input in ["grouped.sam", "grouped.bam", "grouped.cram"] {
        for tags in ["*", "RX,BC,zi", "MM"] {
            let options = "--input-fmt-option decode_md=0 --reference ref.fa";
            let theirs =
                shell(dir.root(), &format!("samtools fastq {options} -T '{tags}' {input} 2> log"));
            let theirs = String::from_utf8(theirs).unwrap();
            let lines = theirs.lines().count();
            assert!(
                lines > 4000 && theirs.contains(if tags == "MM" { "\tMM:Z:C" } else { "\tRX:Z:" })
            );
            let reference = if input.ends_with("cram") { " --reference ref.fa" } else { "" };
            for command in [
                "deplete filter --abs-threshold 1000000 host.mgd",
                "kmers filter-reads --min-hits 0 host.mgk",
                "extract reads --taxid 0,11,12 --lines l.tsv",
            ] {
                let run = format!("{command} -q{reference} {input} --tags {tags}");
                assert!(dir.run(&run).ok() == theirs, "{run}");
            }
        }
    }
    // And back.
    dir.run("deplete filter -q --keep host.mgd grouped.bam -o kept.bam").ok();
    let [bam, fastq] = ["kept.bam", "kept.fq"];
    shell(dir.root(), "samtools view --no-PG -b -F 0x900 -f 0x4 kept.bam > unmapped.bam");
    dir.run(&format!(
        "kmers filter-reads -q --min-hits 0 host.mgk unmapped.bam --tags * -o {fastq}"
    ))
    .ok();
    dir.run(&format!("kmers filter-reads -q --min-hits 0 host.mgk {fastq} -o {bam}")).ok();
    let tags = |file: &str| -> Vec<String> {
        let of = |line: String| line.splitn(12, '\t').nth(11).unwrap_or_default().to_owned();
        view(&dir, file).into_iter().map(of).collect()
    };
    assert!(tags(bam).len() > 50);
    assert_eq!(tags(bam), tags("unmapped.bam"));
}

#[test]
fn what_comments_cannot_be_is_refused() {
    let dir = Dir::new();
    write(&dir);
    let run = |args: &str| dir.run(&format!("deplete filter -q host.mgd {args}"));
    for (args, said) in [
        ("grouped.sam --tags B", "'B' is not the name of a tag, such as BC"),
        ("grouped.sam --tags BC, -o x.fq", "'' is not the name of a tag"),
        ("grouped.sam --tags BC -o x.bam", "--tags is for FASTQ and FASTA"),
    ] {
        let ran = run(args);
        assert!(ran.code == Some(2) && ran.stderr.contains(said), "{args}: {}", ran.stderr);
    }
    dir.write("bad.sam", "r\t4\t*\t0\t0\t*\t*\t0\t0\tAC\tII\tXX:Z:a\x01b\n");
    run("bad.sam -o x.fq").ok();
    let message = run("bad.sam --tags * -o y.fq").fails(1);
    let said = "bad.sam: line 1: its tag 'XX': binary data (byte 0x01): is the file damaged?";
    assert!(message.contains(said), "{message}");
    assert!(!dir.path("y.fq").exists());
}
