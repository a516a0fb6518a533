//! Alignments that pass through `deplete filter` as they are, compared with `samtools view`.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use merganser_test_support::Dir;
use merganser_test_support::reads::Random;
use merganser_test_support::tools::{installed, shell};

const TAGS: [&str; 6] = [
    "BC:Z:ACGT-1\tRX:Z:AA CC",
    "MM:Z:C+m,1,2;\tML:B:C,0,255\tzi:i:-70000\tzf:f:0.1\tzh:H:1AFF",
    "za:A:x\tzs:B:s,-5,700\tzg:B:f,1.5,-2e-05\tNM:i:3",
    "zz:Z:",
    "zl:i:4294967295\tzc:B:c,-1",
    "",
];

/// The flags of a mate whose mate is missing.
const LONE: usize = 69;

/// Returns the flags of the alignments of a template: pairs, single reads, and mates without their mate, with secondary
/// and supplementary alignments before and after the primary ones.
fn flags_of(number: usize) -> &'static [usize] {
    match number % 6 {
        0 => &[77, 141],
        1 if number % 4 == 1 => &[LONE],
        1 => &[4],
        2 => &[65, 129 | 256, 129, 129 | 2048],
        3 => &[16, 256],
        4 => &[2048, 0],
        _ => &[65, 65 | 2048, 137],
    }
}

/// Writes a host (`host.fa`, `host.mgd`) and alignments of reads of which half are the host's: `grouped.sam`, whose
/// header says that its templates lie side by side, and `plain.sam`, whose header says nothing.
pub(crate) fn write(dir: &Dir) {
    let mut random = Random(11);
    let contigs: Vec<Vec<u8>> = (0..2).map(|_| random.bases(20_000)).collect();
    let text = |bases: &[u8]| String::from_utf8(bases.to_vec()).unwrap();
    let [one, two] = [0, 1].map(|at| text(&contigs[at]));
    dir.write("ref.fa", format!(">c0\n{one}\n>c1\n{two}\n"));
    dir.write("host.fa", format!(">c0\n{one}\n"));
    dir.run("deplete index -q host.fa -o host.mgd").ok();
    let mut records = String::new();
    for number in 0..900 {
        for (at, flags) in flags_of(number).iter().enumerate() {
            let contig = if number % 2 == 0 { random.below(2) } else { number % 4 / 2 };
            let start = random.below(19_000);
            // Longer than the chunk of a reader now and then.
            let length = if number % 300 == 0 { 900 } else { 100 };
            let mut bases = text(&contigs[contig][start..start + length]);
            // A few bases of the host in each mate: only together are they enough.
            if number % 12 == 0 {
                bases = text(&contigs[0][start..start + 36]) + &text(&contigs[1][..length - 36]);
            }
            let quality: String =
                (0..length).map(|_| (b'!' + random.below(60) as u8) as char).collect();
            let place = match flags & 4 {
                0 => format!("c{contig}\t{}\t60\t{length}M", start + 1),
                _ => "*\t0\t0\t*".to_owned(),
            };
            let (bases, quality) = match flags & 256 {
                0 => (bases, quality),
                _ => ("*".to_owned(), "*".to_owned()),
            };
            let tags = TAGS[(number + at) % TAGS.len()];
            let tab = if tags.is_empty() { "" } else { "\t" };
            writeln!(
                records,
                "t{number}\t{flags}\t{place}\t*\t0\t0\t{bases}\t{quality}{tab}{tags}"
            )
            .unwrap();
        }
    }
    let references = "@SQ\tSN:c0\tLN:20000\n@SQ\tSN:c1\tLN:20000\n@PG\tID:x\tPN:x\n@CO\tkept\n";
    for (name, first) in
        [("grouped.sam", "@HD\tVN:1.6\tSO:unsorted\tGO:query"), ("plain.sam", "@HD\tVN:1.6")]
    {
        dir.write(name, format!("{first}\n{references}{records}"));
    }
}

/// Returns the lines that samtools prints, without tags that it computes because a CRAM file does not have them.
pub(crate) fn view(dir: &Dir, file: &str) -> Vec<String> {
    let options = "-T ref.fa --input-fmt-option decode_md=0";
    let lines = shell(dir.root(), &format!("samtools view {options} {file}"));
    String::from_utf8(lines).unwrap().lines().map(str::to_owned).collect()
}

pub(crate) fn template(line: &str) -> &str {
    line.split('\t').next().unwrap()
}

/// Returns the names of the templates that are left if the mates of a pair are decided together, or one by one.
fn left(dir: &Dir, together: bool) -> BTreeSet<String> {
    // Templates with several reads are interleaved mates.
    let mut single = String::new();
    let mut pairs = String::new();
    for line in view(dir, "plain.sam") {
        let fields: Vec<&str> = line.split('\t').collect();
        let flags: usize = fields[1].parse().unwrap();
        if flags & 0x900 != 0 {
            continue;
        }
        let text =
            if together && flags & 1 != 0 && flags != LONE { &mut pairs } else { &mut single };
        writeln!(text, "@{}\n{}\n+\n{}", fields[0], fields[9], fields[10]).unwrap();
    }
    let mut removed = BTreeSet::new();
    let mut all = BTreeSet::new();
    for (text, options) in [(single, ""), (pairs, "--interleaved --any-names")] {
        dir.write("x.fq", &text);
        dir.run(&format!("deplete filter -q host.mgd {options} x.fq -o x.kept.fq")).ok();
        let names = |text: &str| -> Vec<String> {
            text.lines().step_by(4).map(|line| line[1..].to_owned()).collect()
        };
        let kept = names(&String::from_utf8(dir.read("x.kept.fq")).unwrap());
        let mut kept = kept.iter().peekable();
        for name in names(&text) {
            // In the order of the input.
            match kept.next_if(|next| **next == name) {
                Some(_) => all.insert(name),
                None => removed.insert(name),
            };
        }
        assert!(kept.next().is_none());
    }
    &all - &removed
}

/// Writes `grouped.sam` and `plain.sam` in other formats, and sorted by coordinates.
pub(crate) fn convert(dir: &Dir) {
    shell(
        dir.root(),
        "samtools view --no-PG -b grouped.sam > grouped.bam
         samtools view --no-PG -b plain.sam > plain.bam
         samtools view --no-PG -C -T ref.fa grouped.sam > grouped.cram
         samtools sort --no-PG plain.sam -o sorted.bam
         samtools sort --no-PG -O cram --reference ref.fa plain.sam -o sorted.cram",
    );
}

/// Checks that an output has the alignments of the input whose template `is_kept`, and its header with a line of
/// `command`.
pub(crate) fn check(
    dir: &Dir,
    [input, output]: [&str; 2],
    is_kept: impl Fn(&str) -> bool,
    command: &str,
) {
    let expected: Vec<_> =
        view(dir, input).into_iter().filter(|line| is_kept(template(line))).collect();
    assert!(expected.len() > 100, "{}", expected.len());
    let found = view(dir, output);
    let differs = expected.iter().zip(&found).find(|(one, other)| one != other);
    assert!(found == expected, "{input} {output}: {} {} {differs:?}", found.len(), expected.len());
    let head = |file: &str| {
        let head = shell(dir.root(), &format!("samtools view -H --no-PG {file}"));
        String::from_utf8(head).unwrap()
    };
    let (before, after) = (head(input), head(output));
    let added = after.strip_prefix(&*before).unwrap_or_else(|| panic!("{before}\n{after}"));
    assert!(added.starts_with("@PG\tID:merganser\tPN:merganser\tPP:"), "{added}");
    assert!(added.contains(&format!("\tCL:merganser {command} ")), "{added}");
    assert_eq!(added.lines().count(), 1);
}

/// Checks the outputs of a run on `input`: `kept` and `removed` together have all alignments.
fn check_both(dir: &Dir, input: &str, [kept, removed]: [&str; 2], left: &BTreeSet<String>) {
    let command = "deplete filter --abs-threshold 2";
    check(dir, [input, kept], |name| left.contains(name), command);
    check(dir, [input, removed], |name| !left.contains(name), command);
}

#[test]
fn alignments_are_kept_as_they_are() {
    if !installed(&["samtools"]) {
        return;
    }
    let dir = Dir::new();
    write(&dir);
    convert(&dir);
    let (together, one_by_one) = (left(&dir, true), left(&dir, false));
    assert!(together != one_by_one);
    let mut files = Vec::new();
    for (input, left) in [
        ("grouped.bam", &together),
        ("grouped.sam", &together),
        ("grouped.cram", &together),
        ("plain.bam", &together),
        ("plain.sam", &together),
        ("sorted.bam", &one_by_one),
        ("sorted.cram", &one_by_one),
    ] {
        let reference = if input.ends_with("cram") { "--reference ref.fa" } else { "" };
        let (mut of_threads, mut of_crams) = (Vec::new(), Vec::new());
        for threads in [1, 3] {
            let options = format!("--output-matching no.sam -t {threads} --json j {reference}");
            dir.run(&format!("deplete filter -q host.mgd {input} -o yes.bam {options}")).ok();
            check_both(&dir, input, ["yes.bam", "no.sam"], left);
            of_threads.push(["yes.bam", "no.sam"].map(|name| dir.read(name)));
            let json: serde_json::Value = serde_json::from_slice(&dir.read("j")).unwrap();
            let primary = |lines: Vec<String>| {
                let flags =
                    |line: &String| line.split('\t').nth(1).unwrap().parse::<u16>().unwrap();
                lines.iter().filter(|line| flags(line) & 0x900 == 0).count()
            };
            assert_eq!(json["results"]["reads"], primary(view(&dir, input)), "{input}");
            assert_eq!(json["results"]["kept_reads"], primary(view(&dir, "yes.bam")), "{input}");
            let options = format!("--output-matching no.cram -t {threads} {reference}");
            dir.run(&format!("deplete filter -q host.mgd {input} -o yes.cram {options}")).ok();
            check_both(&dir, input, ["yes.cram", "no.cram"], left);
            shell(dir.root(), "samtools quickcheck yes.cram no.cram");
            of_crams.push(["yes.cram", "no.cram"].map(|name| dir.read(name)));
        }
        assert!(of_crams[0] == of_crams[1], "{input}");
        assert!(of_threads[0] == of_threads[1], "{input}");
        files.push(of_threads.remove(0));
    }
    // From a pipe, the header must say that templates lie side by side. To a pipe, a file is read twice if it does not.
    let piped = |input: &str, args: &str| {
        let args = format!("deplete filter -q host.mgd {args}");
        dir.run_with(args.split(' '), &dir.read(input))
    };
    piped("grouped.bam", "- --output-matching no.sam -o yes.bam").ok();
    check_both(&dir, "grouped.bam", ["yes.bam", "no.sam"], &together);
    let message = piped("sorted.bam", "- -o yes.bam").fails(1);
    assert!(
        message.contains("bring the alignments of each read together with samtools collate"),
        "{message}"
    );
    let written = dir.run("deplete filter -q host.mgd plain.sam --output-format sam");
    let (found, all) = (written.ok(), view(&dir, "plain.sam"));
    let found: Vec<&str> = found.lines().filter(|line| !line.starts_with('@')).collect();
    let expected = all.iter().filter(|line| together.contains(template(line)));
    assert!(found.into_iter().eq(expected));
}

/// Pairs in two files of FASTQ, with tags in their headers, and with other comments.
#[test]
fn reads_become_alignments_with_their_tags() {
    if !installed(&["samtools"]) {
        return;
    }
    let dir = Dir::new();
    write(&dir);
    let read = |mate: usize| -> String {
        let of = |number: usize| {
            let illumina = format!(" {mate}:N:0:ACGT");
            let comment = ["\tBC:Z:AC GT\tzi:i:-7", &illumina, "\tML:B:C,1,2"][number % 3];
            format!("@r{number}/{mate}{comment}\n{}\n+\n{}\n", "ACGTN".repeat(9), "I".repeat(45))
        };
        (0..30).map(of).collect()
    };
    dir.write("1.fq", read(1));
    dir.write("2.fq", read(2));
    dir.run("deplete filter -q host.mgd -1 1.fq -2 2.fq -o pairs.bam").ok();
    dir.write("0.fq", read(1).replace("/1", "").replace(" 1:N:0:ACGT", ""));
    dir.run("deplete filter -q host.mgd 0.fq -o single.sam").ok();
    shell(
        dir.root(),
        "samtools import -i -T '*' -1 1.fq -2 2.fq -o theirs.bam 2> log
         samtools import -T '*' -0 0.fq -o theirs.sam 2>> log",
    );
    for [ours, theirs] in [["pairs.bam", "theirs.bam"], ["single.sam", "theirs.sam"]] {
        // samtools makes tags of the comments of Illumina.
        let fields = |file: &str| -> Vec<String> {
            let lines = view(&dir, file).into_iter();
            lines.map(|line| line.replace("\tBC:Z:ACGT", "")).collect()
        };
        assert_eq!(fields(ours), fields(theirs));
        assert_eq!(fields(ours).len() % 30, 0);
    }
    // The whole circle: tags of BAM as comments of FASTQ, and back.
    shell(dir.root(), "samtools fastq -n -T BC,zi,ML -1 b1.fq -2 b2.fq pairs.bam 2> log");
    dir.run("deplete filter -q host.mgd -1 b1.fq -2 b2.fq -o again.bam").ok();
    assert_eq!(view(&dir, "again.bam"), view(&dir, "pairs.bam"));
}

#[test]
fn what_alignments_cannot_be_is_refused() {
    let dir = Dir::new();
    write(&dir);
    dir.write("mapped.sam", "@SQ\tSN:c\tLN:50\na\t0\tc\t5\t0\t*\t*\t0\t0\tAC\tII\n");
    for (args, code, said) in [
        ("--any-names -1 grouped.sam -2 plain.sam -o x.bam", 1, "mates in two files of alignments"),
        ("plain.sam grouped.sam -o x.bam", 2, "one input at a time"),
        ("plain.sam --rename -o x.bam", 2, "--rename is for FASTQ"),
        (
            "plain.sam -o x.bam --output-matching y.fq",
            2,
            "all outputs for reads must be alignments",
        ),
        ("--interleaved grouped.sam -o x#.bam", 2, "alignments of both mates belong into one file"),
        ("plain.sam -o x#.fq", 2, "give --interleaved for alignments of pairs"),
        ("plain.sam -o x.fq --output-matching y#.fq", 2, "or leave # out"),
        ("plain.sam -o x.cram.gz", 2, "CRAM is already compressed"),
        ("mapped.sam -o x.cram", 1, "mapped.sam: record 1: CRAM cannot store a mapped alignment"),
        ("plain.sam -o x.bam.gz", 2, "BAM is already compressed"),
        ("missing.bam -o x.bam", 1, "missing.bam: cannot open"),
    ] {
        let message = dir.run(&format!("deplete filter -q host.mgd {args}")).fails(code);
        assert!(message.contains(said), "{args}: {message}");
    }
    dir.write("empty.bam", "");
    dir.run("deplete filter -q host.mgd empty.bam -o x.bam").fails(1);
    dir.write("cut.sam", &dir.read("grouped.sam")[..90_001]);
    dir.run("deplete filter -q host.mgd cut.sam -o x.bam").fails(1);
    // No reads.
    dir.write("head.sam", "@HD\tVN:1.6\n@SQ\tSN:c\tLN:5\n");
    let written = dir.run("deplete filter -q host.mgd head.sam --output-format sam").ok();
    assert!(written.starts_with("@HD\tVN:1.6\n@SQ\tSN:c\tLN:5\n@PG\tID:merganser\t"), "{written}");
    assert!(!dir.path("x.bam").exists());
}
