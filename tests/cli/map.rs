//! `merganser index` and `merganser map`, held against the naive oracle, samtools and RazerS3.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write as _;

use merganser_filter::Threshold;
use merganser_map::{Config, Metric, NMode, Strand, naive};

use crate::support::reads::Random;
use crate::support::tools::{installed, shell};
use crate::support::{Dir, Ran};

/// A read: name and letters.
type Read = (String, Vec<u8>);

/// Contigs with diverged copies of a repeat on both strands, a microsatellite and a run of N.
fn contigs(random: &mut Random) -> Vec<Vec<u8>> {
    let repeat = random.bases(220);
    let contig = |random: &mut Random, pieces: usize| {
        let mut contig = Vec::new();
        for _ in 0..pieces {
            match random.below(6) {
                0 => contig.extend(b"CA".repeat(10 + random.below(40))),
                1 => contig.extend(b"N".repeat(1 + random.below(9))),
                2 | 3 => {
                    let copy = edited(random, &repeat, 12);
                    let reverse = random.below(2) == 0;
                    contig.extend(if reverse { naive::reverse_complement(&copy) } else { copy });
                }
                _ => {
                    let bases = 100 + random.below(400);
                    contig.extend(random.bases(bases));
                }
            }
        }
        contig.extend(b"ACGTTGCAACGT");
        contig
    };
    [18, 7, 1].map(|pieces| contig(random, pieces)).to_vec()
}

fn edited(random: &mut Random, letters: &[u8], most: usize) -> Vec<u8> {
    let mut letters = letters.to_vec();
    for _ in 0..random.below(most + 1) {
        let at = random.below(letters.len());
        match random.below(9) {
            0 => drop(letters.remove(at)),
            1 => letters.insert(at, b"ACGT"[random.below(4)]),
            2 if random.below(3) == 0 => letters[at] = b'N',
            _ => letters[at] = b"ACGT"[random.below(4)],
        }
    }
    letters
}

/// Reads of either strand, mixed in length, with up to `most` edits; some are of nowhere.
fn reads(random: &mut Random, contigs: &[Vec<u8>], number: usize, most: usize) -> Vec<Read> {
    let read = |at| {
        let contig = &contigs[random.below(2)];
        let len = ([30, 75, 100, 100, 151][random.below(5)]).min(contig.len());
        let from = random.below(contig.len() - len + 1);
        let read = match random.below(12) {
            0 => random.bases(len),
            _ => edited(random, &contig[from..from + len], most),
        };
        let read = if random.below(2) == 0 { read } else { naive::reverse_complement(&read) };
        (format!("read{at}"), read)
    };
    (0..number).map(read).collect()
}

fn fasta(contigs: &[Vec<u8>]) -> Vec<u8> {
    let mut text = Vec::new();
    for (number, contig) in contigs.iter().enumerate() {
        // Real names are long and have bars and stars in them.
        writeln!(text, ">gi|{number}|HLA*A:0{number}_{} description", "x".repeat(300)).unwrap();
        for line in contig.chunks(70) {
            text.extend_from_slice(line);
            text.push(b'\n');
        }
    }
    text
}

fn fastq(reads: &[Read]) -> Vec<u8> {
    let mut text = Vec::new();
    for (name, letters) in reads {
        let quality: Vec<u8> = (0..letters.len()).map(|at| 33 + (at % 40) as u8).collect();
        writeln!(text, "@{name} comment\n{}", String::from_utf8_lossy(letters)).unwrap();
        writeln!(text, "+\n{}", String::from_utf8_lossy(&quality)).unwrap();
    }
    text
}

/// A record of SAM.
#[derive(Clone, Debug)]
struct Sam {
    name: String,
    flags: u16,
    contig: Option<usize>,
    /// From 0.
    start: usize,
    /// Of the last base.
    end: usize,
    quality: u8,
    cigar: String,
    mate: String,
    mate_start: usize,
    template: i64,
    letters: String,
    qualities: String,
    tags: BTreeMap<String, String>,
}

impl Sam {
    fn number(&self, tag: &str) -> usize {
        self.tags[tag].parse().unwrap()
    }

    fn reverse(&self) -> bool {
        self.flags & 16 != 0
    }
}

/// The operations of a CIGAR with their lengths.
fn operations(cigar: &str) -> Vec<(usize, char)> {
    let mut number = 0;
    let mut operations = Vec::new();
    for letter in cigar.chars().filter(|&letter| letter != '*') {
        match letter.to_digit(10) {
            Some(digit) => number = 10 * number + digit as usize,
            None => operations.push((std::mem::take(&mut number), letter)),
        }
    }
    operations
}

fn records(sam: &str) -> Vec<Sam> {
    let names: Vec<&str> =
        sam.lines().filter_map(|line| line.strip_prefix("@SQ\tSN:")?.split('\t').next()).collect();
    let record = |line: &str| {
        let fields: Vec<&str> = line.split('\t').collect();
        let start = fields[3].parse::<usize>().unwrap().wrapping_sub(1);
        let bases = |of: &str| -> usize {
            let all = operations(fields[5]);
            all.iter().filter(|(_, letter)| of.contains(*letter)).map(|(len, _)| len).sum()
        };
        let tag = |field: &&str| (field[..2].to_owned(), field[5..].to_owned());
        Sam {
            name: fields[0].to_owned(),
            flags: fields[1].parse().unwrap(),
            contig: names.iter().position(|&name| name == fields[2]),
            start,
            end: start.wrapping_add(bases("MD=X")).wrapping_sub(1),
            quality: fields[4].parse().unwrap(),
            cigar: fields[5].to_owned(),
            mate: fields[6].to_owned(),
            mate_start: fields[7].parse::<usize>().unwrap().wrapping_sub(1),
            template: fields[8].parse().unwrap(),
            letters: fields[9].to_owned(),
            qualities: fields[10].to_owned(),
            tags: fields[11..].iter().map(tag).collect(),
        }
    };
    sam.lines().filter(|line| !line.starts_with('@')).map(record).collect()
}

/// Scores an alignment by its CIGAR and the letters alone, and rebuilds the reference from its MD.
fn score(record: &Sam, read: &[u8], contig: &[u8], mode: NMode) -> usize {
    let (mut i, mut j, mut edits) = (0, record.start, 0);
    let mut aligned = Vec::new();
    for (len, operation) in operations(&record.cigar) {
        match operation {
            'I' => (i, edits) = (i + len, edits + len),
            'D' => (j, edits) = (j + len, edits + len),
            _ => {
                for _ in 0..len {
                    let differs = !naive::letters_match(mode, read[i], contig[j]);
                    assert!(operation != if differs { '=' } else { 'X' }, "{}", record.cigar);
                    edits += usize::from(differs);
                    aligned.push(read[i]);
                    (i, j) = (i + 1, j + 1);
                }
            }
        }
    }
    assert_eq!((i, j), (read.len(), record.end + 1), "{record:?}");
    if mode == NMode::Mismatch {
        assert_eq!(from_md(&record.tags["MD"], &aligned), contig[record.start..j].to_vec());
    }
    edits
}

/// The reference under an alignment, by MD and the aligned letters of the read.
fn from_md(md: &str, aligned: &[u8]) -> Vec<u8> {
    let (mut reference, mut at, mut deleted, mut number) = (Vec::new(), 0, false, String::new());
    for letter in md.bytes().chain([b'.']) {
        if letter.is_ascii_digit() {
            number.push(char::from(letter));
            continue;
        }
        if !number.is_empty() {
            let run: usize = number.parse().unwrap();
            reference.extend_from_slice(&aligned[at..at + run]);
            at += run;
            deleted = false;
            number.clear();
        }
        match letter {
            b'^' => deleted = true,
            b'.' => {}
            _ => {
                reference.push(letter);
                at += usize::from(!deleted);
            }
        }
    }
    assert_eq!(at, aligned.len(), "{md}");
    reference
}

#[track_caller]
fn sam(ran: Ran) -> String {
    ran.ok()
}

/// Checks what was written for single reads against the oracle's hits.
fn check(text: &str, config: &Config, contigs: &[Vec<u8>], reads: &[Read], wanted: Wanted) {
    let mut records = records(text).into_iter().peekable();
    for (name, letters) in reads {
        let letters = &letters[..letters.len().min(config.crop.unwrap_or(u32::MAX) as usize)];
        let all = naive::hits(config, contigs, letters);
        let first = all.first().map_or(0, |hit| hit.edits);
        let most = match wanted {
            Wanted::All => usize::MAX,
            Wanted::Most(most) => most,
            Wanted::Best => 1,
            Wanted::BestStrata => all.iter().filter(|hit| hit.edits == first).count(),
        };
        let hits = &all[..all.len().min(most)];
        let mut own = Vec::new();
        while records.peek().is_some_and(|record| record.name == *name) {
            own.extend(records.next());
        }
        if hits.is_empty() {
            assert_eq!((own.len(), own[0].flags, &own[0].cigar[..]), (1, 4, "*"), "{name}");
            assert_eq!(own[0].letters.as_bytes(), letters);
            continue;
        }
        assert_eq!(own.len(), hits.len(), "{name}");
        for (number, (record, hit)) in own.iter().zip(hits).enumerate() {
            let found = (record.contig, record.end, record.reverse(), record.number("NM"));
            assert_eq!(found, (Some(hit.contig), hit.end, hit.reverse, hit.edits), "{name}");
            assert_eq!(record.number("NH"), hits.len());
            assert_eq!(record.number("HI"), number + 1);
            assert_eq!(record.flags & !16, if number == 0 { 0 } else { 256 });
            let query =
                if hit.reverse { naive::reverse_complement(letters) } else { letters.to_vec() };
            let edits = score(record, &query, &contigs[hit.contig], config.n_mode);
            assert_eq!(edits, hit.edits, "{name}");
            if config.metric == Metric::Edit {
                let (start, _) = naive::align(&query, &contigs[hit.contig], hit.end, config.n_mode);
                assert_eq!(record.start, start, "{name}");
            }
            if number == 0 {
                let quality = match all.get(1) {
                    None => 60,
                    Some(next) => (10 * (next.edits - hit.edits)).min(50),
                };
                assert_eq!(usize::from(record.quality), quality, "{name}");
                assert_eq!(record.letters.as_bytes(), query);
                let mut qualities: Vec<u8> =
                    (0..letters.len()).map(|at| 33 + (at % 40) as u8).collect();
                if hit.reverse {
                    qualities.reverse();
                }
                assert_eq!(record.qualities.as_bytes(), qualities);
            } else {
                assert_eq!((record.quality, &record.letters[..]), (0, "*"));
            }
        }
    }
    assert!(records.next().is_none());
}

#[derive(Clone, Copy)]
enum Wanted {
    All,
    Best,
    BestStrata,
    Most(usize),
}

#[test]
fn every_hit_is_found_and_every_record_is_right() {
    let mut random = Random(5);
    let contigs = contigs(&mut random);
    let reads = reads(&mut random, &contigs, 150, 6);
    let dir = Dir::new();
    dir.write("ref.fa", fasta(&contigs));
    dir.write("reads.fq", fastq(&reads));
    dir.run("index -q ref.fa -o ref.mgi").ok();
    assert_eq!(dir.run("index -q --verify ref.mgi").ok(), "");
    let edits = |edits| Config::new(Threshold::Edits(edits));
    let cases = [
        ("-e 0", edits(0), Wanted::All),
        ("-e 5 --all", edits(5), Wanted::All),
        ("-e 3 --best", edits(3), Wanted::Best),
        ("-e 5 --best-strata", edits(5), Wanted::BestStrata),
        ("-e 5 --max-hits 2", edits(5), Wanted::Most(2)),
        ("-e 7%", Config::new(Threshold::Percent(7)), Wanted::All),
        ("-e 4 --hamming", Config { metric: Metric::Hamming, ..edits(4) }, Wanted::All),
        ("-e 4 --strand forward", Config { strand: Strand::Forward, ..edits(4) }, Wanted::All),
        ("-e 4 --strand reverse", Config { strand: Strand::Reverse, ..edits(4) }, Wanted::All),
        ("-e 3 --n-mode match", Config { n_mode: NMode::Match, ..edits(3) }, Wanted::All),
        ("-e 3 --crop 40", Config { crop: Some(40), ..edits(3) }, Wanted::All),
        ("-e 5 --eqx", edits(5), Wanted::All),
    ];
    for (options, config, wanted) in cases {
        let text = sam(dir.run(&format!("map -q ref.mgi reads.fq {options}")));
        check(&text, &config, &contigs, &reads, wanted);
        let extended = records(&text).iter().any(|record| record.cigar.contains('='));
        assert_eq!(options.contains("--eqx"), extended, "{options}");
    }
}

#[test]
fn the_same_bytes_whatever_threads_filter_memory_and_reference() {
    let mut random = Random(6);
    let contigs = contigs(&mut random);
    // More than two batches.
    let reads = reads(&mut random, &contigs, 4500, 5);
    let dir = Dir::new();
    dir.write("ref.fa", fasta(&contigs));
    dir.write("reads.fq", fastq(&reads));
    dir.run("index -q ref.fa -o ref.mgi --threads 1").ok();
    dir.run("index -q ref.fa -o other.mgi --threads 3 --memory 200M").ok();
    assert_eq!(dir.read("ref.mgi"), dir.read("other.mgi"));
    for end in ["sam", "bam"] {
        let map = |options: &str| {
            let args = format!("map -q {options} reads.fq -e 5 -o out.{end} --unmapped un.fq");
            dir.run(&args).ok();
            [dir.read(&format!("out.{end}")), dir.read("un.fq")]
        };
        let first = map("ref.mgi --threads 1");
        assert!(!first[1].is_empty());
        let others = [
            "ref.mgi --threads 3",
            "ref.fa --threads 2 --memory 300M",
            "ref.mgi --filter gatekeeper",
            "ref.mgi --filter snake --threads 2",
            "ref.mgi --filter none",
        ];
        for other in others {
            assert!(map(other) == first, "{end} {other}");
        }
    }
}

/// What rejects candidates changes how many are verified, and nothing else.
#[test]
fn filters_reject_and_the_report_says_so() {
    let mut random = Random(7);
    let contigs = contigs(&mut random);
    let reads = reads(&mut random, &contigs, 300, 5);
    let dir = Dir::new();
    dir.write("ref.fa", fasta(&contigs));
    dir.write("reads.fq", fastq(&reads));
    let mut verified = Vec::new();
    for filter in ["none", "snake", "gatekeeper", "exact"] {
        let args = format!("map -q ref.fa reads.fq -e 4 -o out.sam --json j --filter {filter}");
        dir.run(&args).ok();
        let json: serde_json::Value = serde_json::from_slice(&dir.read("j")).unwrap();
        let of = |key: &str| json["results"][key].as_u64().unwrap();
        assert_eq!(of("reads"), 300);
        assert_eq!(of("candidates"), of("rejected") + of("verified"));
        assert!(of("mapped_reads") > 100 && of("mappings") > of("mapped_reads"));
        for time in ["seeding", "filter", "verification", "output"] {
            assert!(json["thread_seconds"][time].as_f64().is_some());
        }
        verified.push(of("verified"));
    }
    assert!(verified[0] > verified[3] && verified[2] >= verified[3], "{verified:?}");
}

#[test]
fn bam_is_the_sam_and_samtools_takes_both() {
    if !installed(&["samtools"]) {
        return;
    }
    let mut random = Random(8);
    let contigs = contigs(&mut random);
    let reads = reads(&mut random, &contigs, 2500, 5);
    let dir = Dir::new();
    dir.write("ref.fa", fasta(&contigs));
    dir.write("reads.fq", fastq(&reads));
    let group = "@RG\\tID:lane1\\tSM:sample";
    for (end, options) in
        [("sam", ""), ("bam", ""), ("bam", "--level 0"), ("bam", "--level 9 --eqx")]
    {
        let text = format!("map -q ref.fa reads.fq -e 5 {options}");
        let mut args: Vec<&str> = text.split_whitespace().collect();
        args.extend(["-R", group]);
        let sam = dir.run_with(args.iter(), b"").ok();
        let name = format!("out.{end}");
        args.extend(["-o", &name]);
        dir.run_with(args.iter(), b"").ok();
        shell(dir.root(), &format!("samtools quickcheck -v {name}"));
        let viewed = shell(dir.root(), &format!("samtools view --no-PG -h {name}"));
        assert!(String::from_utf8(viewed).unwrap() == sam, "{end} {options}");
        let header: Vec<&str> = sam.lines().take_while(|line| line.starts_with('@')).collect();
        assert_eq!(header[0], "@HD\tVN:1.6\tSO:unsorted\tGO:query");
        assert_eq!(header[4], "@RG\tID:lane1\tSM:sample");
        let pg = format!(
            "CL:merganser map -e 5 --all{}",
            if options.contains("eqx") { " --eqx" } else { "" }
        );
        assert!(header[5].ends_with(&pg), "{}", header[5]);
        assert!(sam.lines().skip(6).all(|line| line.ends_with("\tRG:Z:lane1")));
        shell(
            dir.root(),
            &format!("samtools sort -o sorted.bam {name} && samtools index sorted.bam"),
        );
    }
}

/// Each pair that a fragment gave is where it was cut, and flags, mates and lengths are consistent.
#[test]
fn pairs() {
    let mut random = Random(9);
    let contigs = [random.bases(9000), random.bases(4000)];
    let dir = Dir::new();
    dir.write("ref.fa", fasta(&contigs));
    let (mut first, mut second, mut kinds) = (Vec::new(), Vec::new(), Vec::new());
    for number in 0..200 {
        let from = random.below(3000);
        let insert = 150 + random.below(300);
        let fragment = contigs[0][from..from + insert].to_vec();
        let flipped = random.below(2) == 0;
        let fragment = if flipped { naive::reverse_complement(&fragment) } else { fragment };
        let one = fragment[..100].to_vec();
        let end = naive::reverse_complement(&fragment[insert - 80..]);
        let kind = number % 5;
        let two = match kind {
            0..=1 => end,
            // Nowhere; on another contig; too far away.
            2 => random.bases(80),
            3 => contigs[1][from..from + 80].to_vec(),
            _ => contigs[0][from + 5000..from + 5080].to_vec(),
        };
        first.push((format!("p{number}/1"), one));
        second.push((format!("p{number}/2"), two));
        kinds.push((kind, from, insert, flipped));
    }
    first.push(("nowhere".to_owned(), random.bases(90)));
    second.push(("nowhere".to_owned(), random.bases(90)));
    dir.write("1.fq", fastq(&first));
    dir.write("2.fq", fastq(&second));
    let args = "map -q ref.fa 1.fq -2 2.fq -e 3 --min-insert 120 --unmapped un.fq --json j";
    let text = sam(dir.run(&format!("{args} -o -")));
    let records = records(&text);
    assert_eq!(records.len(), 402);
    for (number, pair) in records.chunks(2).enumerate() {
        let [one, two] = pair else { panic!() };
        assert_eq!((one.flags & 0xc1, two.flags & 0xc1), (0x41, 0x81));
        assert_eq!(one.name, two.name);
        for (own, mate) in [(one, two), (two, one)] {
            assert_eq!(own.flags & 8 != 0, mate.flags & 4 != 0);
            assert_eq!(own.flags & 32 != 0, mate.flags & 16 != 0);
            assert_eq!((own.mate_start, own.template), (mate.start, -mate.template));
        }
        let Some(&(kind, from, insert, flipped)) = kinds.get(number) else {
            assert_eq!((one.flags, two.flags), (77, 141));
            continue;
        };
        assert_eq!(one.name, format!("p{number}"));
        assert_eq!(one.flags & 2 != 0, kind < 2, "{one:?}");
        match kind {
            0..=1 => {
                let starts = [one.start, two.start];
                let expected =
                    if flipped { [from + insert - 100, from] } else { [from, from + insert - 80] };
                assert_eq!(starts, expected);
                let template = if flipped { -(insert as i64) } else { insert as i64 };
                assert_eq!((one.template, &one.mate[..]), (template, "="));
            }
            2 => {
                assert_eq!((one.flags & 8, two.flags & 4), (8, 4));
                assert_eq!((two.contig, two.start), (one.contig, one.start));
            }
            3 => assert_eq!((two.contig, two.template, &one.mate[..1]), (Some(1), 0, "g")),
            _ => assert_eq!(two.start, from + 5000),
        }
    }
    let unmapped = String::from_utf8(dir.read("un.fq")).unwrap();
    assert_eq!(unmapped.matches("@nowhere\n").count(), 2);
    assert_eq!(unmapped.lines().count(), 8);
    let json: serde_json::Value = serde_json::from_slice(&dir.read("j")).unwrap();
    let of = |key: &str| json["results"][key].as_u64().unwrap();
    let counts = ["pairs", "concordant_pairs", "discordant_pairs", "one_mate_pairs"].map(of);
    assert_eq!(counts, [201, 80, 80, 40]);
    let without = sam(dir.run(&format!("{args} --no-unmapped -o -")));
    assert_eq!(without.lines().filter(|line| !line.starts_with('@')).count(), 402 - 2 - 40);
}

/// A pair of repeats has all its concordant combinations, each as two records with one HI.
#[test]
fn combinations_of_pairs() {
    let mut random = Random(10);
    let (left, right) = (random.bases(100), random.bases(100));
    let gap = random.bases(60);
    let unit = [&left[..], &gap, &right].concat();
    let spacer = random.bases(400);
    let contig = [&unit[..], &spacer, &unit, &spacer, &unit].concat();
    let dir = Dir::new();
    dir.write("ref.fa", fasta(std::slice::from_ref(&contig)));
    dir.write("1.fa", [b">x/1\n", &left[..]].concat());
    dir.write("2.fa", [b">x/2\n", &naive::reverse_complement(&right)[..]].concat());
    let of = |options: &str| {
        records(&sam(dir.run(&format!("map -q ref.fa 1.fa -2 2.fa -e 2 {options}"))))
    };
    let found = of("");
    assert_eq!(found.len(), 6);
    for (number, pair) in found.chunks(2).enumerate() {
        let flags = if number == 0 { [99, 147] } else { [355, 403] };
        assert_eq!([pair[0].flags, pair[1].flags], flags);
        assert_eq!([0, 1].map(|mate| pair[mate].number("HI")), [number + 1; 2]);
        assert_eq!([0, 1].map(|mate| pair[mate].number("NH")), [3; 2]);
        assert_eq!((pair[0].start, pair[0].template), (number * 660, 260));
    }
    assert_eq!(of("--max-insert 1000").len(), 2 * 5);
    assert_eq!(of("--best").len(), 2);
    assert_eq!(of("--max-hits 2").len(), 4);
    // None is concordant: each mate has its own three.
    let apart = of("--max-insert 200");
    assert_eq!(apart.len(), 6);
    assert!(apart.iter().all(|record| record.flags & 2 == 0));
}

/// Where a read lies: its name, strand and contig.
type OfRead = (String, bool, Option<usize>);

/// The same hits as RazerS3, which is fully sensitive too: it may group ends that lie further
/// apart, but never has one that we have not.
#[test]
fn razers3_finds_nothing_else() {
    if !installed(&["razers3"]) {
        return;
    }
    let mut random = Random(11);
    let mut contigs = contigs(&mut random);
    contigs.push(random.bases(60_000));
    let dir = Dir::new();
    // RazerS3 takes N for a letter that differs; its names end at the first blank too.
    dir.write("ref.fa", fasta(&contigs));
    for (len, e) in [(100, 0), (100, 2), (100, 3), (100, 5), (150, 1), (150, 4), (150, 8)] {
        let mut reads = Vec::new();
        for number in 0..400 {
            let contig = &contigs[[0, 3][random.below(2)]];
            let from = random.below(contig.len() - len - 12);
            let mut read = edited(&mut random, &contig[from..from + len + 12], e);
            read.truncate(len);
            if read.contains(&b'N') || read.len() < len {
                continue;
            }
            let read = if number % 2 == 0 { read } else { naive::reverse_complement(&read) };
            reads.push((format!("r{number}"), read));
        }
        dir.write("reads.fq", fastq(&reads));
        let identity = 100.0 - 100.0 * e as f64 / len as f64;
        let command = format!(
            "razers3 -rr 100 -i {identity} -m 1000000 -tc 1 -o razers.sam ref.fa reads.fq 2>&1"
        );
        shell(dir.root(), &command);
        let theirs = records(&String::from_utf8(dir.read("razers.sam")).unwrap());
        let ours = records(&sam(dir.run(&format!("map -q ref.fa reads.fq -e {e}"))));
        let mut places: BTreeMap<OfRead, BTreeSet<(usize, usize)>> = BTreeMap::new();
        for record in ours.iter().filter(|record| record.flags & 4 == 0) {
            let key = (record.name.clone(), record.reverse(), record.contig);
            places.entry(key).or_default().insert((record.end, record.number("NM")));
        }
        let mut compared = 0;
        for record in theirs.iter().filter(|record| record.flags & 4 == 0) {
            let key = (record.name.clone(), record.reverse(), record.contig);
            let near = places.get(&key).is_some_and(|own| {
                own.iter().any(|&(end, edits)| {
                    end.abs_diff(record.end) <= e && edits <= record.number("NM")
                })
            });
            assert!(near, "{len} {e} {record:?}");
            compared += 1;
        }
        assert!(compared >= reads.len(), "{len} {e}: {compared}");
    }
}

#[test]
fn input_of_every_kind() {
    let mut random = Random(12);
    let contigs = contigs(&mut random);
    let dir = Dir::new();
    dir.write("ref.fa", fasta(&contigs));
    let gz = |text: &[u8]| {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        encoder.write_all(text).unwrap();
        encoder.finish().unwrap()
    };
    let reads = reads(&mut random, &contigs, 100, 3);
    dir.write("ref.fa.gz", gz(&fasta(&contigs)));
    dir.write("reads.fq.gz", gz(&fastq(&reads)));
    let plain = dir.run_with("map -q ref.fa - -e 3".split(' '), &fastq(&reads)).ok();
    assert!(dir.run("map -q ref.fa.gz reads.fq.gz -e 3").ok() == plain);
    // Lower case and U are read as upper case and T, and FASTA has no qualities.
    let letters: String = String::from_utf8(contigs[0][..120].to_vec()).unwrap();
    let odd = letters.to_lowercase().replace('t', "u");
    let mapped = dir.run_with("map -q ref.fa - -e 3".split(' '), format!(">x\n{odd}\n").as_bytes());
    let found = records(&mapped.ok());
    assert_eq!((&found[0].letters, &found[0].qualities[..]), (&letters, "*"));
    // No reads; reads that cannot have a hit: an empty one, no more bases than edits, longer than
    // the reference.
    assert_eq!(records(&dir.run_with("map ref.fa - -e 3".split(' '), b"").ok()).len(), 0);
    let text =
        format!("@e\n\n+\n\n@s\nACG\n+\nIII\n@l\n{}\n+\n{}\n", "A".repeat(9999), "I".repeat(9999));
    let ran = dir.run_with("map ref.fa - -e 3".split(' '), text.as_bytes());
    assert_eq!(ran.warnings().len(), 1, "{}", ran.stderr);
    assert!(ran.warnings()[0].contains("2 reads have no more bases than -e"), "{}", ran.stderr);
    assert!(records(&ran.ok()).iter().all(|record| record.flags == 4));
    // Short reads are scanned for, and the report says so.
    let ran = dir.run_with(
        "map ref.fa - -e 3".split(' '),
        format!("@s\n{}\n+\n{}\n", &letters[..24], "I".repeat(24)).as_bytes(),
    );
    assert!(
        ran.warnings()[0].contains("1 reads are too short for one more seed"),
        "{}",
        ran.stderr
    );
    assert_eq!(records(&ran.ok())[0].cigar, "24M");
}

#[test]
fn bad_inputs() {
    let good = &b">a\nACGTTGCATGCAAACGTTGACCA\n"[..];
    let fq = "@r\nACGTTGCATGCAAACGT\n+\nIIIIIIIIIIIIIIIII\n";
    let cases = [
        (&b""[..], fq, "map f q -e 1 -o o.bam"),
        (b">a\n", fq, "map f q -e 1 -o o.bam"),
        (b">a\nACGT\n>a\nACGT\n", fq, "map f q -e 1 -o o.bam"),
        (b">a\nAC-GT\n", fq, "map f q -e 1 -o o.bam"),
        (b"> a\nACGT\n", fq, "index f -o o.mgi"),
        (good, "@r\nAC-T\n+\nIIII\n", "map f q -e 1 -o o.bam"),
        (good, "@r\nACGT\n+\nIII\n", "map f q -e 1 -o o.bam"),
        (good, fq, "map f q -e 1 -2 two -o o.bam"),
        (good, "@r/1\nACGTTGCA\n+\nIIIIIIII\n", "map f q -e 1 -2 other -o o.bam"),
        (good, fq, "map f missing -e 1 -o o.bam"),
        (good, fq, "map missing q -e 1 -o o.bam"),
        (good, fq, "map f q -e 1 -o no/o.bam"),
        (good, fq, "map f q -e 1 -o q"),
        (good, fq, "map f q -e 1 -o o.bam --threads 2 --memory 30M"),
        (good, fq, "index f -o f"),
        (good, fq, "index --verify f"),
        (b"\x89MGI", fq, "map f q -e 1 -o o.bam"),
    ];
    let mut text = String::new();
    for (reference, reads, args) in cases {
        let dir = Dir::new();
        dir.write("f", reference);
        dir.write("q", reads);
        dir.write("two", format!("{fq}{fq}"));
        dir.write("other", "@s/2\nACGTTGCA\n+\nIIIIIIII\n");
        text += &format!("$ merganser {args}\n{}", dir.run(args).fails(1));
        assert_eq!(dir.names(), ["f", "other", "q", "two"]);
    }
    insta::assert_snapshot!(text);
}
