//! `map --shard` and `map join`: joined shards have the bytes of a single run.

use std::fs;

use super::sorted::{PAIRS, world};
use merganser_test_support::Dir;

/// Maps in one run and in shards, and asserts that the joined files are the same; returns their names.
fn joined_is_mapped(dir: &Dir, run: &str, shards: usize, join: &str) {
    dir.run(&format!("{run} -o one.bam")).ok();
    let mut files = String::new();
    // The order of the shards does not matter.
    for at in (1..=shards).rev() {
        let threads = 1 + at % 3;
        dir.run(&format!("{run} -t {threads} --shard {at}/{shards} -o s{at}.bam")).ok();
        files += &format!(" s{at}.bam");
    }
    dir.run(&format!("map join {files} -o joined.bam {join}")).ok();
    for end in ["", ".bai"] {
        let [one, joined] =
            ["one", "joined"].map(|name| fs::read(dir.path(&format!("{name}.bam{end}"))).ok());
        assert!(one == joined, "{run}: {shards} shards: {end}");
        assert_eq!(one.is_some(), end.is_empty() || run.contains("--sort"), "{run}");
    }
    for name in ["one.bam", "joined.bam", "one.bam.bai", "joined.bam.bai"] {
        let _ = fs::remove_file(dir.path(name));
    }
}

#[test]
fn shards_are_joined_to_one_run() {
    let dir = world(9_000);
    for (options, shards, join) in [
        ("", 3, "-t 1"),
        (" --best --sort", 4, "-t 3"),
        (" --sort --level 6", 2, "-t 2 --memory 60M"),
        (" --best-strata --no-unmapped --level 0", 5, ""),
        (" -R @RG\\tID:a\\tSM:x -R @RG\\tID:b\\tSM:x --clip --sort", 3, "-t 2"),
        (" --eqx --best", 1, ""),
        (" --best --sort", 40, ""),
    ] {
        joined_is_mapped(&dir, &format!("{PAIRS}{options}"), shards, join);
    }
    // Fewer reads than shards, and no reads.
    dir.write("two.fq", "@a\nACGTTGCAACGTACGTTGCA\n+\nIIIIIIIIIIIIIIIIIIII\n@b\nAC\n+\nII\n");
    dir.write("none.fq", "");
    joined_is_mapped(&dir, "map ref.mgi two.fq none.fq -e 1", 3, "");
    joined_is_mapped(&dir, "map ref.mgi none.fq -e 1 --sort", 2, "");
}

/// Shards that do not belong together are refused in one line that names the file and the difference; no output is
/// left.
#[test]
fn what_does_not_go_together() {
    let dir = world(9000);
    dir.write("other.fa", {
        let mut text = dir.read("ref.fa");
        let at = text.len() - 3;
        text[at] = if text[at] == b'A' { b'C' } else { b'A' };
        text
    });
    let shard = |name: &str, rest: &str| {
        dir.run(&format!("map -q -e 3 -o {name}.bam {rest}")).ok();
    };
    shard("a", "--shard 1/3 ref.fa reads.fq");
    shard("b", "--shard 2/3 ref.fa reads.fq");
    shard("c", "--shard 3/3 ref.fa reads.fq");
    shard("reads", "--shard 3/3 ref.fa one.fq");
    shard("reference", "--shard 3/3 other.fa reads.fq");
    shard("four", "--shard 3/4 ref.fa reads.fq");
    shard("options", "--shard 3/3 ref.fa reads.fq --best");
    shard("level", "--shard 3/3 ref.fa reads.fq --level 5");
    shard("sorted", "--shard 3/3 ref.fa reads.fq --sort");
    shard("whole", "ref.fa reads.fq");
    let c = dir.read("c.bam");
    dir.write("cut.bam", &c[..c.len() - 28]);
    dir.write("short.bam", &c[..40]);
    dir.write("empty.bam", "");
    let mut flipped = c.clone();
    let middle = c.len() / 2;
    flipped[middle] ^= 4;
    dir.write("flipped.bam", flipped);
    // A block is missing, but the end marker is present.
    let mut without = c.clone();
    without.drain(block(&c, 3) + 5..block(&c, 4));
    dir.write("without.bam", without);
    let before = dir.names();
    let mut said = String::new();
    let mut refuse = |code: i32, args: &str| {
        said += &format!("$ merganser {args}\n{}", dir.run(args).fails(code));
        assert_eq!(dir.names(), before, "{args}");
    };
    for name in [
        "reads",
        "reference",
        "four",
        "options",
        "level",
        "sorted",
        "whole",
        "b",
        "cut",
        "short",
        "empty",
        "flipped",
        "without",
        "missing",
    ] {
        refuse(1, &format!("map join a.bam b.bam {name}.bam -o o.bam"));
    }
    refuse(1, "map join a.bam b.bam -o o.bam");
    refuse(1, "map join a.bam b.bam reads.fq -o o.bam");
    refuse(1, "map join a.bam b.bam c.bam -o a.bam");
    refuse(2, "map join a.bam b.bam c.bam -o o.sam");
    refuse(2, "map join a.bam b.bam c.bam -o o.bam --index-format csi");
    refuse(2, "map ref.fa reads.fq -e 3 --shard 1/3");
    refuse(2, "map ref.fa reads.fq -e 3 --shard 1/3 -o o.cram --sort");
    refuse(2, "map ref.fa reads.fq -e 3 --shard 1/3 -o o.bam --report-html o.html");
    refuse(1, "map ref.fa - -e 3 --shard 1/3 -o o.bam");
    insta::assert_snapshot!(said.replace(env!("CARGO_PKG_VERSION"), "VERSION"));
}

/// A job is identified by the content of its reads: copies with other paths and times are the same job; a file of
/// the same size whose middle differs is another job.
#[test]
fn copies_of_reads_are_one_job_and_other_content_is_not() {
    let dir = world(9000);
    let text = dir.read("reads.fq");
    assert!(text.len() > 1 << 18);
    let mut other = text.clone();
    let middle = (text.len() / 2..).find(|&at| b"ACGT".contains(&text[at])).unwrap();
    other[middle] = if other[middle] == b'A' { b'C' } else { b'A' };
    dir.write("other.fq", other);
    fs::create_dir(dir.path("elsewhere")).unwrap();
    dir.write("elsewhere/copy", &text);
    let copy = fs::File::options().write(true).open(dir.path("elsewhere/copy")).unwrap();
    copy.set_modified(std::time::UNIX_EPOCH).unwrap();
    for (name, args) in [
        ("whole", "reads.fq"),
        ("one", "--shard 1/2 reads.fq"),
        ("copy", "--shard 2/2 elsewhere/copy"),
        ("other", "--shard 2/2 other.fq"),
    ] {
        dir.run(&format!("map -q -e 3 -o {name}.bam ref.fa {args}")).ok();
    }
    dir.run("map join -q one.bam copy.bam -o joined.bam").ok();
    assert!(dir.read("joined.bam") == dir.read("whole.bam"));
    let said = dir.run("map join one.bam other.bam -o o.bam").fails(1);
    assert!(said.contains("other.bam: "), "{said}");
}

/// Words of a quoted option are not taken for the files of the command, which shards may name differently.
#[test]
fn options_behind_a_read_group_are_compared() {
    let dir = world(3000);
    let map = |name: &str, shard: &str, more: &[&str]| {
        let group = r"@RG\tID:a\tSM:it's\tDS:x -- y -1 z";
        let args = [
            "map", "-q", "-e", "3", "-R", group, "--shard", shard, "-o", name, "ref.fa", "reads.fq",
        ];
        dir.run_with([&args[..], more].concat(), b"").ok();
    };
    map("a.bam", "1/2", &[]);
    map("b.bam", "2/2", &["--eqx"]);
    let said = dir.run("map join a.bam b.bam -o o.bam").fails(1);
    assert!(said.starts_with("error: b.bam: was not mapped like a.bam"), "{said}");
    map("c.bam", "2/2", &[]);
    dir.run("map join -q a.bam c.bam -o o.bam").ok();
}

/// Returns the start of a BGZF block; blocks of records follow three blocks of the header.
fn block(file: &[u8], number: usize) -> usize {
    let size = |at: usize| usize::from(u16::from_le_bytes([file[at + 16], file[at + 17]])) + 1;
    (0..number).fold(0, |at, _| at + size(at))
}

/// Damaged sorted shards with correct checksums are refused: their records are checked.
#[test]
fn records_that_are_none_are_refused() {
    let dir = world(3000);
    for at in 1..=2 {
        dir.run(&format!(
            "map -q -e 3 --sort --shard {at}/2 ref.fa reads.fq -o {at}.bam --level 0"
        ))
        .ok();
    }
    let whole = dir.read("1.bam");
    // Stored data: 18 bytes of BGZF header, 5 of the deflate block, then the text.
    let (begin, end) = (block(&whole, 3) + 23, block(&whole, 4) - 8);
    for (at, byte) in
        [(0, 0x7f), (3, 0xff), (4, 99), (7, 0x70), (11, 0x7f), (12, 0xff), (17, 0xff), (23, 0xff)]
    {
        let mut changed = whole.clone();
        changed[begin + at] = byte;
        let checksum = crc32fast::hash(&changed[begin..end]);
        changed[end..end + 4].copy_from_slice(&checksum.to_le_bytes());
        dir.write("1.bam", changed);
        let said = dir.run("map join 1.bam 2.bam -o o.bam").fails(1);
        assert!(said.contains("1.bam: is damaged after byte"), "{at}: {said}");
        assert!(!dir.path("o.bam").exists());
    }
}
