//! Damaged reads, and empty files whose names promise a compressed or binary format.

use merganser_test_support::Dir;
use merganser_test_support::forms::xz;
use merganser_test_support::reads::{Random, fastq, untidy};
use merganser_test_support::tools::{installed, shell};
use merganser_test_support::two_species::prepared;

/// An empty file is a valid empty text, but not a valid compressed file, BAM or CRAM.
#[test]
fn empty_files_with_a_promise_are_truncated() {
    let dir = prepared();
    dir.write("x.fa", format!(">x\n{}\n", "ACGTTGCATGCA".repeat(20)));
    for (end, kind) in [
        ("gz", "gzip"),
        ("BGZ", "gzip"),
        ("bz2", "bzip2"),
        ("xz", "xz"),
        ("zst", "zstd"),
        ("bam", "BAM"),
        ("cram", "CRAM"),
    ] {
        let file = format!("e.fq.{end}");
        dir.write(&file, "");
        let expected = format!(
            "error: {file}: truncated: the {kind} data end before they are complete; copy or download \
             the file again\n"
        );
        for command in
            ["count -q -k 21 -o o", "classify -q refs.mgdb -o o", "map -q -e 3 x.fa -o o"]
        {
            assert_eq!(dir.run(&format!("{command} {file}")).fails(1), expected, "{command}");
            assert!(!dir.path("o").exists());
        }
    }
    dir.write("e.tsv.gz", "");
    dir.write("m.accession2taxid.gz", "");
    assert!(dir.run("kmers dump e.tsv.gz").fails(1).starts_with("error: e.tsv.gz: not a "));
    let message =
        dir.run("build --taxonomy tax --map m.accession2taxid.gz -o o.mgdb g0.fa").fails(1);
    assert!(message.contains("m.accession2taxid.gz: truncated: "), "{message}");
    // The compressed form of an empty text is valid.
    if installed(&["gzip"]) {
        shell(dir.root(), "printf '' | gzip > n.fq.gz");
        dir.run("count -q -k 21 -o n.mgk n.fq.gz").ok();
    }
    dir.write("e.fq", "");
    dir.run("count -q -k 21 -o e.mgk e.fq").ok();
    assert_eq!(dir.read("n.mgk"), dir.read("e.mgk"));
}

/// Zstandard frames with a window of 2 GiB are read if memory allows, and otherwise refused with a message.
#[test]
fn windows_of_zstd() {
    if !installed(&["zstd"]) {
        return;
    }
    let dir = Dir::new();
    dir.write("r.fq", fastq(&untidy(300, 2), "\n"));
    shell(dir.root(), "zstd -q --long=31 -c r.fq > /dev/null");
    // From a pipe, so that the frame does not store its size.
    shell(dir.root(), "cat r.fq | zstd -q --long=31 > r.fq.zst");
    dir.run("count -q -k 21 --memory 24G -o a.mgk r.fq").ok();
    dir.run("count -q -k 21 --memory 24G -o b.mgk r.fq.zst").ok();
    assert_eq!(dir.read("a.mgk"), dir.read("b.mgk"));
    assert_eq!(
        dir.run("count -q -k 21 --memory 300M -o c.mgk r.fq.zst").fails(1),
        "error: r.fq.zst: its zstd data need a window of more than 128 MiB in memory: give more \
         --memory, or compress it again without --long\n"
    );
}

/// The dictionary of xz is limited as the window of zstd is.
#[test]
fn dictionaries_of_xz() {
    let dir = Dir::new();
    let text = fastq(&untidy(300, 2), "\n");
    dir.write("r.fq", &text);
    let mut data = xz(&text);
    // The header of the first block: its size, flags, the filter, the bytes of its properties, and the dictionary.
    assert_eq!(data[13..16], [0, 0x21, 1]);
    data[16] = 36; // 1 GiB
    let end = 12 + 4 * usize::from(data[12]);
    let mut sum = flate2::Crc::new();
    sum.update(&data[12..end]);
    data[end..end + 4].copy_from_slice(&sum.sum().to_le_bytes());
    dir.write("r.fq.xz", data);
    dir.run("count -q -k 21 --memory 24G -o a.mgk r.fq").ok();
    dir.run("count -q -k 21 --memory 24G -o b.mgk r.fq.xz").ok();
    assert_eq!(dir.read("a.mgk"), dir.read("b.mgk"));
    assert_eq!(
        dir.run("count -q -k 21 --memory 300M -o c.mgk r.fq.xz").fails(1),
        "error: r.fq.xz: its xz data need a window of more than 128 MiB in memory: give more --memory, \
         or compress it again with a smaller dictionary, such as that of xz -9\n"
    );
}

/// Damage that makes the CRAM decoder panic is reported in one line, like other damage.
#[test]
fn damaged_cram_is_one_line() {
    if !installed(&["samtools"]) {
        return;
    }
    let dir = Dir::new();
    let mut random = Random(12);
    let letters = String::from_utf8(random.bases(3000)).unwrap();
    let mut sam = "@HD\tVN:1.6\n@SQ\tSN:a\tLN:3000\n".to_owned();
    for read in 0..300 {
        let at = random.below(2900);
        let quality: String = (0..100).map(|_| char::from(b'#' + random.below(38) as u8)).collect();
        sam += &format!(
            "r{read}\t0\ta\t{}\t60\t100M\t*\t0\t0\t{}\t{quality}\n",
            at + 1,
            &letters[at..at + 100]
        );
    }
    dir.write("r.sam", sam);
    dir.write("a.fa", format!(">a\n{letters}\n"));
    for version in ["3.0", "3.1,archive"] {
        let command = format!(
            "samtools view -C --output-fmt-option version={version} -T a.fa -o r.cram r.sam"
        );
        shell(dir.root(), &command);
        let sound = dir.read("r.cram");
        let expected = dir.run("count -q -k 21 -o a.mgk r.cram --reference a.fa");
        assert_eq!(expected.code, Some(0), "{}", expected.stderr);
        let whole = 0..sound.len();
        for (what, bytes) in super::flipped(&sound, std::slice::from_ref(&whole), 60) {
            dir.write("d.cram", bytes);
            let ran = dir.run("count -q -k 21 -o b.mgk d.cram --reference a.fa");
            if ran.code == Some(0) {
                continue;
            }
            let message = ran.fails(1);
            assert!(message.starts_with("error: d.cram: "), "{what}: {message}");
        }
    }
}
