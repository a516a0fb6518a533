//! Circular contigs: where the sequence is cut must not matter.

use std::collections::BTreeSet;

use super::*;
use merganser_test_support::tools::{installed, shell};

const BASES: usize = 40_000;

/// The records of one alignment: what does not depend on where the contig is cut.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Aligned {
    name: String,
    flags: u16,
    quality: String,
    template: i64,
    hit: String,
    /// The bases of the circle that are aligned.
    places: BTreeSet<usize>,
}

/// Returns the alignments in SAM text of a contig that begins at base `cut` of the circle.
fn alignments(text: &str, cut: usize) -> Vec<Aligned> {
    let mut found: Vec<Aligned> = Vec::new();
    for line in text.lines().filter(|line| !line.starts_with('@')) {
        let fields: Vec<&str> = line.split('\t').collect();
        let flags: u16 = fields[1].parse().unwrap();
        let tag = |name: &str| fields.iter().find(|field| field.starts_with(name)).unwrap_or(&"");
        let mut places = BTreeSet::new();
        let mut at: usize = fields[3].parse().unwrap();
        let mut len = 0;
        for letter in fields[5].chars() {
            match letter {
                '0'..='9' => len = 10 * len + letter as usize - '0' as usize,
                _ => {
                    if letter == 'M' {
                        places.extend((at..at + len).map(|at| (at - 1 + cut) % BASES));
                    }
                    if "MD".contains(letter) {
                        at += len;
                    }
                    len = 0;
                }
            }
        }
        assert!(at <= BASES + 1, "{line}");
        if flags & 0x800 != 0 {
            let whole = found.last_mut().unwrap();
            assert_eq!(whole.name, fields[0]);
            assert!(whole.places.is_disjoint(&places) && line.contains("SA:Z:"), "{line}");
            whole.places.extend(places);
            continue;
        }
        found.push(Aligned {
            name: fields[0].to_owned(),
            flags,
            quality: fields[4].to_owned(),
            template: fields[8].parse().unwrap(),
            hit: format!("{} {}", tag("NH:"), tag("HI:")),
            places,
        });
    }
    found
}

/// Returns pairs of reads of a circle, in which every base begins as many reads, with some edits.
fn reads(random: &mut Random, circle: &[u8], edits: usize) -> [Vec<Read>; 2] {
    let twice = [circle, circle].concat();
    let starts = (0..BASES).step_by(25);
    let pairs = starts.enumerate().map(|(number, from)| {
        let name = format!("p{from}");
        let (end, len) = (from + 300 + random.below(100), 100);
        let mates =
            [twice[from..from + len].to_vec(), naive::reverse_complement(&twice[end - len..end])];
        let mates = mates.map(|mate| edited(random, &mate, edits));
        let [one, two] = mates.map(|mate| (name.clone(), mate));
        // The first mate is on either strand.
        if number % 2 == 0 { (one, two) } else { (two, one) }
    });
    let (first, second) = pairs.unzip();
    [first, second]
}

/// In a circle of 250 bases, both ways around it may be as long as an insert; a pair is reported once.
#[test]
fn pairs_of_a_short_circle_are_reported_once() {
    let mut random = Random(47);
    let circle = random.bases(250);
    let twice = [&circle[..], &circle].concat();
    let dir = Dir::new();
    let text = String::from_utf8(circle.clone()).unwrap();
    dir.write("ref.fa", format!(">c circular=true\n{text}\n>d\nA\n>e circular=true\nC\n"));
    let (mut first, mut second) = (Vec::new(), Vec::new());
    for from in 0..250 {
        let mates = [from, from + 100].map(|at| twice[at..at + 60].to_vec());
        let [one, two] = [mates[0].clone(), naive::reverse_complement(&mates[1])];
        let (one, two) = if from % 2 == 0 { (one, two) } else { (two, one) };
        first.push((format!("p{from}"), one));
        second.push((format!("p{from}"), two));
    }
    dir.write("1.fq", fastq(&first));
    dir.write("2.fq", fastq(&second));
    let text = sam(dir.run("map -q ref.fa -1 1.fq -2 2.fq -e 3"));
    let primary = text.lines().filter(|line| !line.starts_with('@') && !line.contains("SA:Z:"));
    assert!(text.contains("SA:Z:"));
    for line in primary {
        assert!(line.contains("\tNH:i:1\t") && line.contains("\t60\t60M\t"), "{line}");
    }
}

/// The template length of a concordant pair is its insert size, also if the other way around is shorter.
#[test]
fn the_template_is_the_insert() {
    let circle = Random(44).bases(600);
    let dir = Dir::new();
    let text = String::from_utf8(circle.clone()).unwrap();
    dir.write("ref.fa", format!(">c topology=circular\n{text}\n"));
    let around = [&circle[..], &circle].concat();
    for (from, insert) in [(229, 325), (229, 388), (450, 325), (450, 200), (20, 300)] {
        let mate = naive::reverse_complement(&around[from + insert - 80..from + insert]);
        dir.write("1.fq", fastq(&[("r".into(), around[from..from + 80].to_vec())]));
        dir.write("2.fq", fastq(&[("r".into(), mate)]));
        let text = sam(dir.run("map -q ref.fa -1 1.fq -2 2.fq -e 3 --best --max-insert 500"));
        let templates: Vec<i64> = text
            .lines()
            .filter(|line| !line.starts_with('@') && !line.contains("SA:Z:"))
            .map(|line| line.split('\t').nth(8).unwrap().parse().unwrap())
            .collect();
        let insert = insert as i64;
        assert!(!templates.is_empty());
        assert!(templates.iter().all(|found| found.abs() == insert), "{from}: {text}");
        if templates.len() == 2 {
            assert_eq!(templates, [insert, -insert], "{from}");
        }
    }
}

/// A circle has the same alignments wherever it is cut, with all hits, best hits and pairs.
#[test]
fn a_circle_may_be_cut_anywhere() {
    let mut random = Random(41);
    let circle = random.bases(BASES);
    let dir = Dir::new();
    for (edits, name) in [(0, "exact"), (3, "edited")] {
        let [first, second] = reads(&mut random, &circle, edits);
        dir.write(&format!("{name}_1.fq"), fastq(&first));
        dir.write(&format!("{name}_2.fq"), fastq(&second));
    }
    let cuts = [20_000, 0, 50, 39_950, 27];
    for cut in cuts {
        let contig = [&circle[cut..], &circle[..cut]].concat();
        let text = format!(">c [topology=circular]\n{}\n", String::from_utf8(contig).unwrap());
        dir.write(&format!("c{cut}.fa"), text);
    }
    for options in [
        "exact_1.fq -2 exact_2.fq",
        "edited_1.fq -2 edited_2.fq --max-insert 450 --preset variants",
        "edited_1.fq -2 edited_2.fq --max-insert 450 -e 3 --rescue 12%",
        "edited_1.fq -e 5",
        "edited_1.fq -e 5 --echoes",
        "exact_1.fq -e 2 --hamming --best",
        "edited_2.fq -e 4 --best-strata --no-unmapped",
    ] {
        let map = |cut: usize| {
            let text = sam(dir.run(&format!("map -q c{cut}.fa {options}")));
            assert!(text.contains("TP:circular"), "{text}");
            let mut found = alignments(&text, cut);
            // Hits with as many edits are ordered by position, which depends on the cut.
            found.sort_unstable();
            found
        };
        let expected = map(cuts[0]);
        for cut in &cuts[1..] {
            let found = map(*cut);
            for (one, two) in found.iter().zip(&expected) {
                assert_eq!(one, two, "{options} cut at {cut}");
            }
            assert_eq!(found.len(), expected.len());
        }
        if options.starts_with("exact_1.fq -2") {
            assert!(expected.iter().all(|found| found.places.len() == 100 && found.flags & 2 != 0));
        }
    }
}

/// The depth at the junction is that of the rest; an index states its topology; samtools accepts the records.
#[test]
fn depth_is_flat_at_the_junction() {
    let mut random = Random(43);
    let circle = random.bases(BASES);
    let dir = Dir::new();
    let text = |contig: &[u8]| String::from_utf8(contig.to_vec()).unwrap();
    dir.write("ref.fa", format!(">c\n{}\n>d\n{}\n", text(&circle), text(&random.bases(5000))));
    let [first, second] = reads(&mut random, &circle, 0);
    dir.write("1.fq", fastq(&first));
    dir.write("2.fq", fastq(&second));
    dir.run("index -q ref.fa --circular c -o ref.mgi").ok();
    let map = |args: &str| without_command(&sam(dir.run(&format!("map -q {args} 1.fq 2.fq"))));
    let found = map("ref.mgi");
    assert_eq!(found, map("ref.fa --circular c"));
    assert_eq!(found, map("ref.mgi --circular c"));
    let mut depth = vec![0; BASES];
    for aligned in alignments(&found, 0) {
        aligned.places.iter().for_each(|&place| depth[place] += 1);
    }
    // Each base begins as many first mates, and a base has 4 of them.
    assert!(depth.iter().all(|&depth| (4..=14).contains(&depth)));
    assert_eq!(depth.iter().sum::<usize>(), 2 * 100 * first.len());
    let linear = map("ref.fa --circular none");
    assert!(found.contains("SA:Z:") && !linear.contains("SA:Z:"));
    for (args, problem) in [
        ("map ref.fa --circular x 1.fq", "ref.fa: has no contig x, which should be circular"),
        ("index ref.fa --circular c,,d -o x.mgi", "a name is empty"),
        ("map ref.mgi --circular all 1.fq", "give --circular to merganser index"),
    ] {
        let ran = dir.run(args);
        assert!(ran.stderr.contains(problem), "{}", ran.stderr);
    }
    if installed(&["samtools"]) {
        dir.run("map -q ref.mgi 1.fq 2.fq -o out.bam --sort").ok();
        dir.run("map -q ref.mgi 1.fq 2.fq -o out.cram --sort --reference ref.fa").ok();
        let view = |file: &str| {
            let records = shell(&dir.path("."), &format!("samtools view -T ref.fa {file}"));
            records.split(|&byte| byte == b'\n').count()
        };
        assert_eq!(view("out.bam"), view("out.cram"));
        let text =
            shell(&dir.path("."), "samtools quickcheck out.bam && samtools depth -a -r c out.bam");
        let text = String::from_utf8(text).unwrap();
        let found: Vec<usize> =
            text.lines().map(|line| line.rsplit('\t').next().unwrap().parse().unwrap()).collect();
        assert_eq!(found, depth);
    }
}
