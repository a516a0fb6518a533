//! `map --tags`: records keep the tags of their reads, compared with a plain definition and with `bwa mem -C`.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs::File;
use std::process::Stdio;

use merganser_test_support::oracles::map::naive::reverse_complement;
use merganser_test_support::reads::Random;
use merganser_test_support::tools::{installed, shell};
use merganser_test_support::{Dir, MERGANSER};

/// Tags of reads in the input, and those of them that records keep with `--tags *`.
const TAGS: [[&str; 2]; 6] = [
    ["BC:Z:ACGT-1\tRX:Z:AA CC", "BC:Z:ACGT-1\tRX:Z:AA CC"],
    [
        "MM:Z:C+m,1,2;\tML:B:C,0,255\tMN:i:120\tzi:i:-70000",
        "MM:Z:C+m,1,2;\tML:B:C,0,255\tMN:i:120\tzi:i:-70000",
    ],
    ["za:A:x\tNM:i:99\tzs:B:s,-5,700\tMD:Z:1\tAS:i:7", "za:A:x\tzs:B:s,-5,700"],
    ["zz:Z:\tXS:i:4\tXM:i:3\tXA:Z:c0,+1,5M,0;\tms:i:1\tMC:Z:5M\tMQ:i:3", "zz:Z:"],
    [
        "zl:i:4294967295\tzh:H:1AFF\tzf:f:0.1\tXM:Z:AC\tOQ:Z:II",
        "zl:i:4294967295\tzh:H:1AFF\tzf:f:0.1\tXM:Z:AC",
    ],
    ["", ""],
];
/// Tags that map writes.
const OWN: [&str; 9] = ["NM", "MD", "NH", "HI", "XA", "SA", "MQ", "MC", "ms"];
const GROUPS: [&str; 2] = ["@RG\tID:g0\tSM:s\tPL:ONT", "@RG\tSM:s\tID:g1\tLB:l"];

/// The number and the role of a read: 0 is a single read.
type Key = (usize, usize);

/// Returns the tags of a read, and whether it has a read group.
fn tags_of((number, role): Key) -> ([&'static str; 2], Option<usize>) {
    let group = (number % 5 > 0).then_some(number % 2);
    (TAGS[(number + role) % TAGS.len()], group)
}

/// Returns a folder with a reference (`ref.fa`), whose second contig is a circle, and unaligned reads (`in.sam`): pairs
/// and single reads, of which some are in a repeat, some over the junction of the circle, and some of nowhere.
fn world() -> Dir {
    let (dir, mut random) = (Dir::new(), Random(5));
    let mut contigs = [random.bases(6000), random.bases(3000)];
    let repeat = contigs[0][500..1000].to_vec();
    contigs[0][4000..4500].copy_from_slice(&repeat);
    let text = |bases: &[u8]| String::from_utf8(bases.to_vec()).unwrap();
    dir.write(
        "ref.fa",
        format!(">c0\n{}\n>c1 circular=true\n{}\n", text(&contigs[0]), text(&contigs[1])),
    );
    let mut records = String::new();
    for number in 0..360 {
        let around = [&contigs[1][..], &contigs[1][..400]].concat();
        let template = match number % 6 {
            0 => random.bases(300),
            1 => repeat[100..400].to_vec(),
            2 => around[2900..3200].to_vec(),
            _ => {
                let start = random.below(5600);
                contigs[0][start..start + 300].to_vec()
            }
        };
        let reverse = reverse_complement(&template);
        let (one, two) =
            if number % 2 == 0 { (&template, &reverse) } else { (&reverse, &template) };
        let reads = if number % 4 == 3 { vec![(4, one)] } else { vec![(77, one), (141, two)] };
        for (flags, bases) in reads {
            let (tags, group) = tags_of((number, flags >> 6 & 3));
            let quality: String =
                (0..120).map(|_| (b'#' + random.below(40) as u8) as char).collect();
            write!(
                records,
                "t{number}\t{flags}\t*\t0\t0\t*\t*\t0\t0\t{}\t{quality}",
                text(&bases[..120])
            )
            .unwrap();
            if !tags[0].is_empty() {
                write!(records, "\t{}", tags[0]).unwrap();
            }
            if let Some(group) = group {
                write!(records, "\tRG:Z:g{group}").unwrap();
            }
            records.push('\n');
        }
    }
    dir.write("in.sam", format!("@HD\tVN:1.6\tGO:query\n{}\n{records}", GROUPS.join("\n")));
    dir.run("index -q ref.fa -o ref.mgi").ok();
    dir
}

/// Returns what samtools prints, or nothing if it is not installed.
fn view(dir: &Dir, arguments: &str) -> String {
    let command = format!("samtools view -T ref.fa --input-fmt-option decode_md=0 {arguments}");
    String::from_utf8(shell(dir.root(), &command)).unwrap()
}

/// Returns the read of a record, its flags and its tags.
fn parsed(line: &str) -> (Key, usize, Vec<&str>) {
    let fields: Vec<&str> = line.split('\t').collect();
    let flags: usize = fields[1].parse().unwrap();
    ((fields[0][1..].parse().unwrap(), flags >> 6 & 3), flags, fields[11..].to_vec())
}

/// Returns the tags without those that map writes, and checks that each is there once.
fn of_read<'l>(tags: &[&'l str]) -> Vec<&'l str> {
    let names: BTreeSet<&str> = tags.iter().map(|tag| &tag[..2]).collect();
    assert_eq!(names.len(), tags.len(), "{tags:?}");
    tags.iter().copied().filter(|tag| !OWN.contains(&&tag[..2])).collect()
}

#[test]
fn records_keep_the_tags_of_their_reads() {
    if !installed(&["samtools"]) {
        return;
    }
    let dir = world();
    shell(
        dir.root(),
        "samtools view --no-PG -b in.sam > in.bam; samtools view --no-PG -C -T ref.fa in.sam > in.cram",
    );
    let map = "map -q ref.mgi --reference ref.fa --all -e 3";
    dir.run(&format!("{map} in.sam -o plain.sam")).ok();
    for input in ["in.sam", "in.bam", "in.cram"] {
        for (output, options) in
            [("o.sam", ""), ("o.bam", "--secondary-seq"), ("o.bam", "--sort"), ("o.cram", "--sort")]
        {
            dir.run(&format!("{map} {input} --tags * {options} -o {output}")).ok();
            let header = view(&dir, &format!("-H {output}"));
            for group in GROUPS {
                assert!(header.lines().any(|line| line == group), "{input} {output}: {header}");
            }
            let records = view(&dir, output);
            let mut seen = [0; 4];
            for line in records.lines() {
                let (key, flags, tags) = parsed(line);
                let ([_, kept], group) = tags_of(key);
                let mut expected: Vec<&str> =
                    kept.split('\t').filter(|tag| !tag.is_empty()).collect();
                let group = group.map(|group| format!("RG:Z:g{group}"));
                expected.extend(group.as_deref());
                let mut found = of_read(&tags);
                if output == "o.cram" {
                    // Its read group is a field of the record.
                    found.sort_by_key(|tag| tag.starts_with("RG:"));
                }
                assert_eq!(found, expected, "{input} {output}: {line}");
                assert!(flags & 4 != 0 || !tags.contains(&"NM:i:99"), "{line}");
                seen[match flags {
                    _ if flags & 4 != 0 => 0,
                    _ if flags & 256 != 0 => 1,
                    _ if flags & 2048 != 0 => 2,
                    _ => 3,
                }] += 1;
            }
            assert!(seen.iter().all(|&number| number > 20), "{seen:?}");
            assert_eq!(records.lines().count(), view(&dir, "plain.sam").lines().count());
        }
    }
    // Without the option, records are the same without these tags.
    dir.run(&format!("{map} in.sam --tags * -o o.sam")).ok();
    let without: String = view(&dir, "o.sam").lines().fold(String::new(), |mut all, line| {
        let kept = of_read(&parsed(line).2).len();
        let fields: Vec<&str> = line.split('\t').collect();
        all += &fields[..fields.len() - kept].join("\t");
        all + "\n"
    });
    assert!(without == view(&dir, "plain.sam"));
    // Named tags, and the tags of a read that is cut.
    dir.run(&format!("{map} in.bam --tags AS,BC,MM --crop 100 -o o.sam")).ok();
    let names: BTreeSet<String> = view(&dir, "o.sam")
        .lines()
        .flat_map(|line| {
            of_read(&parsed(line).2).iter().map(|tag| tag[..2].to_owned()).collect::<Vec<_>>()
        })
        .collect();
    assert_eq!(names.into_iter().collect::<Vec<_>>(), ["AS", "BC", "RG"]);
}

#[test]
fn tags_of_an_earlier_alignment_are_replaced() {
    if !installed(&["samtools"]) {
        return;
    }
    let dir = world();
    let map = "map -q ref.mgi --reference ref.fa --best --xa 5 -e 3";
    dir.run(&format!("{map} in.sam --tags * -o first.bam")).ok();
    // Old values of all tags, and the strand of the alignment.
    shell(
        dir.root(),
        r"samtools view -h first.bam |
          sed -E '/^@/!{s/NM:i:[0-9]+/NM:i:77/; s/MC:Z:[^\t]*/MC:Z:7M/; s/$/\tAS:i:1\ttp:A:P\tPG:Z:x/}' |
          samtools sort -n -o aligned.bam -",
    );
    dir.run(&format!("{map} in.sam --tags * -o o.sam")).ok();
    dir.run(&format!("{map} aligned.bam --tags * -o again.sam")).ok();
    let sorted = |file: &str| -> BTreeMap<(Key, usize), BTreeSet<String>> {
        let lines = view(&dir, file);
        let parsed = lines.lines().map(parsed);
        parsed
            .map(|(key, flags, tags)| ((key, flags), tags.into_iter().map(str::to_owned).collect()))
            .collect()
    };
    let [first, again] = ["o.sam", "again.sam"].map(sorted);
    assert!(first.len() > 600 && first == again);
}

#[test]
fn comments_of_fastq_are_kept_as_by_bwa() {
    if !installed(&["samtools", "bwa"]) {
        return;
    }
    let dir = world();
    shell(
        dir.root(),
        "samtools fastq -n -T BC,RX,MM,ML,zi,za in.sam -1 one.fq -2 two.fq -s rest.fq -0 other.fq 2> log
         samtools fastq -N -T BC,RX,MM,ML,zi,za in.sam 2>> log | sed -E 's/^(@t[0-9]+\\/[12])\\t/\\1 /' > mixed.fq
         bwa index ref.fa 2>> log
         bwa mem -C ref.fa one.fq two.fq 2>> log | grep -v ^@ > bwa.sam",
    );
    dir.run("map -q ref.mgi -1 one.fq -2 two.fq --tags * --best -e 3 -o o.sam").ok();
    let tags = |lines: &str| -> BTreeMap<Key, String> {
        let lines = lines.lines().map(parsed).filter(|(_, flags, _)| flags & 0x900 == 0);
        let kept = |tags: Vec<&str>| -> String {
            let own = ["AS", "XS", "XA", "pa"];
            tags.into_iter()
                .filter(|tag| !OWN.contains(&&tag[..2]) && !own.contains(&&tag[..2]))
                .collect::<Vec<_>>()
                .join("\t")
        };
        lines.map(|(key, _, tags)| (key, kept(tags))).collect()
    };
    let ours = tags(&view(&dir, "o.sam"));
    let theirs = tags(&String::from_utf8(dir.read("bwa.sam")).unwrap());
    assert!(ours.len() > 500 && ours.values().filter(|tags| tags.contains("BC:Z:")).count() > 60);
    assert_eq!(ours, theirs);
    // With a blank after the name, mates in one file, and as sorted CRAM.
    dir.run(
        "map -q ref.mgi --reference ref.fa one.fq two.fq --tags * --best -e 3 --sort -o o.cram",
    )
    .ok();
    assert_eq!(tags(&view(&dir, "o.cram")), ours);
    let text = String::from_utf8(dir.read("mixed.fq")).unwrap();
    assert!(text.contains("/1 BC:Z:") || text.contains("/2 BC:Z:"), "{text}");
    dir.run("map -q ref.mgi -U mixed.fq --tags BC --best -e 3 -o o.sam").ok();
    let found = view(&dir, "o.sam").matches("\tBC:Z:ACGT-1").count();
    assert_eq!(found, text.matches("BC:Z:ACGT-1").count());
    // Other comments are no tags.
    let (bases, quality) = ("A".repeat(40), "I".repeat(40));
    let read = |header: &str| format!("@{header}\n{bases}\n+\n{quality}\n");
    let comments = "b\tBC:i:x\tRX:Z:A\tlen=8\tRX:Z:C";
    dir.write("other.fq", read("a 1:N:0:ACGT") + &read(comments));
    dir.run("map -q ref.mgi -U other.fq --tags * -e 0 -o o.sam --unmapped rest.fq").ok();
    let found: Vec<String> =
        view(&dir, "o.sam").lines().map(|line| line.split('\t').skip(11).collect()).collect();
    assert_eq!(found, ["", "RX:Z:A"]);
    assert_eq!(String::from_utf8(dir.read("rest.fq")).unwrap(), read("a") + &read("b\tRX:Z:A"));
}

#[test]
fn the_bytes_do_not_depend_on_threads_shards_and_streams() {
    let dir = world();
    let sam = String::from_utf8(dir.read("in.sam")).unwrap();
    // More reads than one batch has.
    let (head, records): (Vec<&str>, Vec<&str>) =
        sam.lines().partition(|line| line.starts_with('@'));
    let many = head.join("\n") + "\n" + &(records.join("\n") + "\n").repeat(12);
    let pairs: Vec<&str> = many.lines().filter(|line| !line.contains("\t4\t*")).collect();
    for name in ["first.sam", "second.sam"] {
        dir.write(name, pairs.join("\n") + "\n");
    }
    dir.write("many.sam", many);
    for (first, options) in [
        ("many.sam", "in.sam"),
        ("first.sam", "second.sam --sort --interleaved --learn-insert"),
        ("many.sam", "in.sam --best --sort"),
    ] {
        let run = format!("map -q ref.mgi {first} {options} -e 3 --tags *");
        dir.run(&format!("{run} -t 1 -o one.bam")).ok();
        for other in ["-t 3", "-t 2 --memory 200M"] {
            dir.run(&format!("{run} {other} -o two.bam")).ok();
            assert!(dir.read("one.bam") == dir.read("two.bam"), "{options} {other}");
        }
        for shard in 1..=3 {
            dir.run(&format!("{run} -t {shard} --shard {shard}/3 -o s{shard}.bam")).ok();
        }
        dir.run("map join -q s1.bam s2.bam s3.bam -o two.bam").ok();
        assert!(dir.read("one.bam") == dir.read("two.bam"), "{options}: shards");
        // Only the name in @PG differs.
        let arguments = run.replace(first, "-");
        let stdin = Stdio::from(File::open(dir.path(first)).unwrap());
        let ran = dir.start(&format!("{arguments} -t 2 -o two.sam --output-format bam"), stdin);
        assert!(ran.wait_with_output().unwrap().status.success(), "{MERGANSER} {arguments}");
        dir.run(&format!("{run} -t 2 -o one.sam --output-format bam")).ok();
        let body = |name: &str| -> Vec<u8> {
            let bytes = merganser_test_support::gunzip(&dir.path(name));
            let text = u32::from_le_bytes(bytes[4..8].try_into().unwrap()) as usize;
            let head = String::from_utf8_lossy(&bytes[8..8 + text]).replace(first, "-");
            [head.as_bytes(), &bytes[8 + text..]].concat()
        };
        assert!(body("one.sam") == body("two.sam"), "{options}: stream");
    }
}

#[test]
fn read_groups_are_kept_or_replaced() {
    let dir = world();
    let run = |arguments: &str| dir.run(&format!("map -q ref.mgi -e 3 {arguments}"));
    let groups = |text: &str| -> Vec<String> {
        text.lines().filter(|line| line.starts_with("@RG")).map(str::to_owned).collect()
    };
    let sam = String::from_utf8(dir.read("in.sam")).unwrap();
    assert_eq!(groups(&run("in.sam").ok()), [""; 0]);
    assert!(!run("in.sam").ok().contains("\tRG:Z:"));
    // Equal lines of several inputs, with fields in another order.
    dir.write("same.sam", sam.replace(GROUPS[0], "@RG\tID:g0\tPL:ONT\tSM:s"));
    assert_eq!(groups(&run("in.sam same.sam --tags BC").ok()), GROUPS);
    // The option replaces all groups.
    let text = run("in.sam --tags * -R @RG\\tID:x").ok();
    assert_eq!(groups(&text), ["@RG\tID:x"]);
    let body = || text.lines().filter(|line| !line.starts_with('@'));
    assert!(body().all(|line| line.matches("\tRG:Z:").count() == 1 && line.contains("\tRG:Z:x")));
    // Different lines with one ID.
    dir.write("other.sam", sam.replace("LB:l", "LB:m"));
    let said = run("in.sam other.sam --tags BC").fails(1);
    let expected = "other.sam: its read group g1 differs from that of in.sam: rename it in one of them (samtools \
                    addreplacerg), or give -R for all reads";
    assert!(said.contains(expected), "{said}");
    run("in.sam other.sam --tags BC -R @RG\\tID:x").ok();
    // A read group that no header describes.
    dir.write("r.fq", "@a RG:Z:lost\nACGTTGCA\n+\nIIIIIIII\n");
    let ran = dir.run("map ref.mgi -U r.fq -e 0 --tags *");
    let warned = "r.fq: record 1: has the read group lost, which no header describes";
    assert!(ran.stderr.contains(warned), "{}", ran.stderr);
    assert!(ran.ok().contains("\tRG:Z:lost"));
    // The header is written before a stream that is not the first input is read.
    let stdin = |arguments: &str| {
        let input = Stdio::from(File::open(dir.path("other.sam")).unwrap());
        let output = dir.start(&format!("map -q ref.mgi -e 3 --tags BC {arguments}"), input);
        let output = output.wait_with_output().unwrap();
        (output.status.code(), String::from_utf8(output.stderr).unwrap())
    };
    let (code, said) = stdin("r.fq - -o late.sam");
    let expected = "stdin: its read group g0 is not in the header of the output";
    assert!(code == Some(1) && said.contains(expected), "{said}");
    assert!(!dir.path("late.sam").exists());
    assert_eq!(stdin("- r.fq -o early.sam").0, Some(0));
    assert_eq!(groups(&String::from_utf8(dir.read("early.sam")).unwrap()).len(), 2);
}

#[test]
fn tags_that_cannot_be_kept_are_refused() {
    let dir = world();
    for (tags, said) in [
        ("B", "'B' is not the name of a tag, such as BC"),
        ("BC,NM", "--tags: NM is written for the new alignment: leave it out"),
        ("OQ", "--tags: OQ is in the order of the bases of its record"),
    ] {
        let ran = dir.run(&format!("map -q ref.mgi in.sam -e 3 --tags {tags} -o x.sam"));
        assert!(ran.code == Some(2) && ran.stderr.contains(said), "{tags}: {}", ran.stderr);
    }
    dir.write("bad.sam", "r\t4\t*\t0\t0\t*\t*\t0\t0\tAC\tII\tXX:Z:a\x01b\n");
    dir.run("map -q ref.mgi bad.sam -e 0 -o x.sam").ok();
    let message = dir.run("map -q ref.mgi bad.sam -e 0 --tags * -o y.sam").fails(1);
    let said = "bad.sam: line 1: its tag 'XX': binary data (byte 0x01): is the file damaged?";
    assert!(message.contains(said), "{message}");
    assert!(!dir.path("y.sam").exists());
}
