//! Alignments of all kinds that are written as CRAM, compared with `samtools view`.

use std::fmt::Write as _;

use merganser_test_support::Dir;
use merganser_test_support::reads::Random;
use merganser_test_support::tools::{installed, shell};

use crate::kept::{view, write};

/// Operations with the number of bases in the read. Neighbours have different kinds.
const CIGARS: [(&str, usize); 6] = [
    ("50M", 50),
    ("3H2S20M1I10M2D17M5H", 50),
    ("10M100N2P3I37M", 50),
    ("4S40M6S", 50),
    ("25M1P1I24M", 50),
    ("1I1D49M", 50),
];

const TAGS: [&str; 7] = [
    "RG:Z:g1\tNM:i:7\tMD:Z:3A9",
    "NM:i:0\tRG:Z:g2",
    "RG:Z:unknown",
    "zb:B:c,-1,2\tzB:B:f,0.5,-3\tzh:H:1AFF\tza:A:~\tzz:Z:",
    "zt:Z:a b!~;,:\tzi:i:-70000\tzu:i:4294967295\tzf:f:1.5e+10",
    "MM:Z:C+m,1,2;\tML:B:C,0,255\tRG:Z:g2",
    "",
];

const HEADER: &str =
    "@SQ\tSN:c0\tLN:20000\n@SQ\tSN:c1\tLN:20000\n@RG\tID:g1\tSM:s\n@RG\tID:g2\n@PG\tID:x\tPN:x\n";

fn bases(random: &mut Random, count: usize) -> String {
    (0..count).map(|_| b"ACGTACGTACGTACGTNRYKMSWBDHV"[random.below(27)] as char).collect()
}

/// Returns records with every operation, type of tag and combination of flags that CRAM can store.
fn records(random: &mut Random) -> String {
    let mut records = String::new();
    for number in 0..3000 {
        let flags = random.below(0x1000);
        // samtools makes unpaired reads with flags of mates paired when it writes CRAM.
        let flags = if flags & 1 == 0 { flags & !0x28 } else { flags };
        let is_mapped = flags & 4 == 0;
        let (cigar, count) = CIGARS[random.below(CIGARS.len())];
        let contig = random.below(2);
        let at = 1 + random.below(19_800);
        let place = match (is_mapped, random.below(2)) {
            (true, _) => format!("c{contig}\t{at}\t{}\t{cigar}", random.below(256)),
            (false, 0) => format!("c{contig}\t{at}\t0\t*"),
            (false, _) => "*\t0\t0\t*".to_owned(),
        };
        // samtools ignores the contig of the mate of an unpaired read.
        let mate = match random.below(3) * (flags & 1) {
            0 => "*\t0".to_owned(),
            _ => format!("c{}\t{}", random.below(2), random.below(20_000)),
        };
        let length = random.below(2000) as i64 - 1000;
        // noodles-cram does not read samtools' containers whose unmapped reads all lack bases.
        let letters = match random.below(8) {
            0 if is_mapped => "*\t*".to_owned(),
            1 => format!("{}\t*", bases(random, count)),
            _ => {
                let quality = |_| (b'!' + random.below(94) as u8) as char;
                let quality: String = (0..count).map(quality).collect();
                format!("{}\t{quality}", bases(random, count))
            }
        };
        let name = if number % 500 == 0 { "n".repeat(254) } else { format!("r{number}") };
        let tags = TAGS[random.below(TAGS.len())];
        let tab = if tags.is_empty() { "" } else { "\t" };
        writeln!(records, "{name}\t{flags}\t{place}\t{mate}\t{length}\t{letters}{tab}{tags}")
            .unwrap();
    }
    // More operations than the field of BAM can count.
    let long = bases(random, 33_010);
    let cigar = format!("5M{}5M", "1I1P".repeat(33_000));
    writeln!(records, "long\t0\tc0\t5\t7\t{cigar}\t*\t0\t0\t{long}\t*\tzz:Z:x").unwrap();
    records
}

#[test]
fn cram_has_the_records_of_any_input() {
    if !installed(&["samtools"]) {
        return;
    }
    let dir = Dir::new();
    write(&dir);
    let text = records(&mut Random(5));
    dir.write("any.sam", format!("@HD\tVN:1.6\tSO:unsorted\n{HEADER}{text}"));
    shell(
        dir.root(),
        "samtools view --no-PG -b any.sam > any.bam
         samtools sort --no-PG any.bam -o sorted.bam
         samtools view --no-PG -C -T ref.fa any.bam 2> log > any.cram
         samtools sort --no-PG -O cram --reference ref.fa any.bam -o sorted.cram 2>> log
         samtools view --no-PG -C -T ref.fa --output-fmt-option version=3.1 any.bam 2>> log > new.cram",
    );
    for input in ["any.sam", "any.bam", "sorted.bam", "any.cram", "sorted.cram", "new.cram"] {
        let mut files = Vec::new();
        for threads in [1, 3] {
            let options = format!("-o out.cram -t {threads} --reference ref.fa");
            dir.run(&format!("deplete filter -q host.mgd {input} {options}")).ok();
            files.push(dir.read("out.cram"));
        }
        assert!(files[0] == files[1], "{input}");
        shell(dir.root(), "samtools quickcheck out.cram");
        let (found, expected) = (view(&dir, "out.cram"), view(&dir, input));
        let differs = expected.iter().zip(&found).find(|(one, other)| one != other);
        assert!(found == expected, "{input}: {} {} {differs:?}", found.len(), expected.len());
        // No other file is needed.
        let alone = shell(dir.root(), "REF_PATH=/none REF_CACHE=/none samtools view out.cram");
        let alone = String::from_utf8(alone).unwrap();
        assert!(alone.lines().eq(&expected), "{input}");
        // The program reads what it has written.
        dir.run("deplete filter -q host.mgd out.cram -o again.cram").ok();
        assert!(view(&dir, "again.cram") == expected, "{input}");
        if input.starts_with("sorted") {
            let region = "samtools view -c out.cram c1:5000-9000";
            let indexed = shell(dir.root(), &format!("samtools index out.cram && {region}"));
            let counted = shell(
                dir.root(),
                "samtools view -T ref.fa -h sorted.bam | samtools view -b -o i.bam && samtools index i.bam && samtools view -c i.bam c1:5000-9000",
            );
            assert_eq!(indexed, counted);
        }
    }
}

/// samtools leaves out the lengths of templates that can be computed from both mates, in whatever order these are, and the
/// qualities of reads without any. Some lengths are not those that it would compute.
#[test]
fn what_cram_leaves_out_is_computed_as_by_samtools() {
    if !installed(&["samtools"]) {
        return;
    }
    let dir = Dir::new();
    write(&dir);
    let (mut random, mut text) = (Random(8), String::new());
    for number in 0..1000 {
        // If mates begin at the same base, the sign is arbitrary.
        let start = 1000 + random.below(60);
        let starts = [start, start + 1 + random.below(60)];
        let starts = if random.below(2) == 0 { starts } else { [starts[1], starts[0]] };
        let lengths = [0, 1].map(|_| 1 + random.below(50));
        let [left, right] =
            [starts[0].min(starts[1]), (0..2).map(|m| starts[m] + lengths[m]).max().unwrap()];
        let is_stored = random.below(4) == 0;
        let length = (right - left + if is_stored { random.below(3) } else { 0 }) as i64;
        let first_in_file = random.below(2);
        for mate in [first_in_file, 1 - first_in_file] {
            let other = 1 - mate;
            let is_left = (starts[mate], mate) < (starts[other], other);
            let length = if is_left { length } else { -length };
            let flags = 0x3 | [0x40, 0x80][mate] | [0x10, 0x20][random.below(2)];
            let letters = String::from_utf8(random.bases(lengths[mate])).unwrap();
            let quality = ["*".to_owned(), "!".repeat(lengths[mate]), "I".repeat(lengths[mate])];
            writeln!(
                text,
                "r{number}\t{flags}\tc0\t{}\t60\t{}M\t=\t{}\t{length}\t{letters}\t{}",
                starts[mate],
                lengths[mate],
                starts[other],
                quality[random.below(3)]
            )
            .unwrap();
        }
    }
    dir.write("pairs.sam", format!("@HD\tVN:1.6\n{HEADER}{text}"));
    shell(
        dir.root(),
        "samtools view --no-PG -C -T ref.fa pairs.sam > any.cram
         samtools sort --no-PG -O cram --reference ref.fa pairs.sam -o sorted.cram",
    );
    for input in ["any.cram", "sorted.cram"] {
        dir.run(&format!("deplete filter -q host.mgd {input} --reference ref.fa -o o.sam")).ok();
        let (found, expected) = (view(&dir, "o.sam"), view(&dir, input));
        let differs = expected.iter().zip(&found).find(|(one, other)| one != other);
        assert!(found == expected, "{input}: {differs:?}");
    }
}

/// Records that CRAM cannot store become the same as those that samtools writes.
#[test]
fn cram_loses_what_samtools_loses() {
    if !installed(&["samtools"]) {
        return;
    }
    let dir = Dir::new();
    write(&dir);
    let of = |name: &str, flags: usize, cigar: &str| {
        format!("{name}\t{flags}\tc0\t7\t60\t{cigar}\t*\t0\t0\tACGTACGTAC\tIIIIIIIIII\n")
    };
    let last = of("d", 0x20, "10M");
    let text =
        [of("a", 0, "4=2X4="), of("b", 0, "3M2M5M"), of("c", 4, "10M"), last.clone()].concat();
    dir.write("x.sam", format!("@HD\tVN:1.6\n{HEADER}{text}"));
    shell(dir.root(), "samtools view -C -T ref.fa x.sam > theirs.cram");
    dir.run("deplete filter -q host.mgd x.sam -o ours.cram").ok();
    let (ours, theirs) = (view(&dir, "ours.cram"), view(&dir, "theirs.cram"));
    assert_eq!(ours[..3], theirs[..3]);
    assert!(ours[2].starts_with("c\t4\tc0\t7\t0\t*\t"));
    // samtools makes a paired read of this.
    assert_eq!(format!("{}\n", ours[3]), last);
}

#[test]
fn reads_become_cram() {
    if !installed(&["samtools"]) {
        return;
    }
    let dir = Dir::new();
    write(&dir);
    dir.write("x.fq", "@a\tBC:Z:A C\nACGTN\n+\nIIII!\n@b\nA\n+\n~\n");
    dir.run("deplete filter -q host.mgd x.fq -o x.cram").ok();
    dir.run("deplete filter -q host.mgd x.fq -o x.sam").ok();
    assert_eq!(view(&dir, "x.cram"), view(&dir, "x.sam"));
    assert_eq!(view(&dir, "x.cram")[0], "a\t4\t*\t0\t0\t*\t*\t0\t0\tACGTN\tIIII!\tBC:Z:A C");
    // No reads.
    dir.write("head.sam", "@HD\tVN:1.6\n@SQ\tSN:c\tLN:5\n");
    dir.run("deplete filter -q host.mgd head.sam -o x.cram").ok();
    shell(dir.root(), "samtools quickcheck x.cram");
    assert!(view(&dir, "x.cram").is_empty());
    let written = dir.run("deplete filter -q host.mgd x.fq --output-format cram");
    assert!(written.stdout.starts_with(b"CRAM\x03\x00"));
}
