//! Hits of single reads, compared with the oracle, samtools and RazerS3.

use super::*;
use merganser_test_support::tools::{installed, shell};
use std::collections::BTreeSet;

#[test]
fn every_hit_is_found_and_every_record_is_right() {
    let mut random = Random(5);
    let contigs = contigs(&mut random);
    let reads = reads(&mut random, &contigs, 80, 6);
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
        ("-e 4 --hamming", Config { hamming: true, ..edits(4) }, Wanted::All),
        ("-e 4 --strand forward", Config { strand: Strand::Forward, ..edits(4) }, Wanted::All),
        ("-e 4 --strand reverse", Config { strand: Strand::Reverse, ..edits(4) }, Wanted::All),
        ("-e 3 --n-mode match", Config { n_mode: NMode::Match, ..edits(3) }, Wanted::All),
        ("-e 3 --crop 40", Config { crop: Some(40), ..edits(3) }, Wanted::All),
        ("-e 5 --eqx", edits(5), Wanted::All),
        ("-e 5 --echoes", Config { echoes: true, ..edits(5) }, Wanted::All),
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
    for (end, mode) in
        [("sam", "--all"), ("bam", "--all"), ("bam", "--best"), ("sam", "--best-strata")]
    {
        let map = |options: &str| {
            let args =
                format!("map -q {options} {mode} reads.fq -e 5 -o out.{end} --unmapped un.fq");
            dir.run(&args).ok();
            let out = dir.read(&format!("out.{end}"));
            let out = match end {
                // The command names the reference.
                "sam" => without_command(std::str::from_utf8(&out).unwrap()).into_bytes(),
                _ => out,
            };
            [out, dir.read("un.fq")]
        };
        let first = map("ref.mgi --threads 1");
        assert!(!first[1].is_empty());
        let others = [
            "ref.mgi --threads 3",
            if end == "sam" { "ref.fa --threads 2 --memory 300M" } else { "ref.mgi --memory 300M" },
            "ref.mgi --filter gatekeeper",
            "ref.mgi --filter snake --threads 2",
            "ref.mgi --filter none",
        ];
        for other in others {
            assert!(map(other) == first, "{end} {mode} {other}");
        }
    }
}

/// Filters change only how many candidates are verified.
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
            "CL:merganser map -e 5 --all -R '{group}'{} -- ref.fa reads.fq",
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

/// XA of the first hit lists the other hits with equally few edits, in SAM and BAM, unless they exceed the limit.
#[test]
fn other_best_hits_are_named() {
    let mut random = Random(14);
    let contigs = contigs(&mut random);
    let mut reads = reads(&mut random, &contigs, 600, 4);
    reads.push(("repeat".to_owned(), b"AC".repeat(20)));
    let dir = Dir::new();
    dir.write("ref.fa", fasta(&contigs));
    dir.write("reads.fq", fastq(&reads));
    let map = |options: &str| sam(dir.run(&format!("map -q ref.fa reads.fq -e 4 {options}")));
    let strata = records(&map("--best-strata"));
    let header = map("--best --xa 3");
    let names: Vec<&str> =
        header.lines().filter_map(|line| line.strip_prefix("@SQ\tSN:")).collect();
    let named = |record: &Sam| {
        let name = names[record.contig.unwrap()].split('\t').next().unwrap();
        let strand = if record.reverse() { '-' } else { '+' };
        let (start, cigar, edits) = (record.start + 1, &record.cigar, record.number("NM"));
        format!("{name},{strand}{start},{cigar},{edits};")
    };
    let (mut with, mut without) = (0, 0);
    let of_reads = strata.chunk_by(|a, b| a.name == b.name);
    for (of_read, best) in of_reads.zip(records(&header)) {
        assert_eq!(of_read[0].name, best.name);
        let expected: String = match of_read.len() - 1 {
            0 => String::new(),
            1..=3 => of_read[1..].iter().map(named).collect(),
            _ => {
                without += 1;
                String::new()
            }
        };
        with += usize::from(!expected.is_empty());
        assert_eq!(best.tags.get("XA").cloned().unwrap_or_default(), expected, "{}", best.name);
    }
    assert!(with > 10 && without > 10, "{with} {without}");
    assert!(header.contains("map -e 4 --best --xa 3 -- ref.fa reads.fq\n"));
    if installed(&["samtools"]) {
        map("--best --xa 3 -o out.bam");
        let viewed = shell(dir.root(), "samtools view --no-PG -h out.bam");
        assert!(String::from_utf8(viewed).unwrap() == header);
    }
}

/// The name of a read, and the strand and contig of a hit.
type OfRead = (String, bool, Option<usize>);

/// RazerS3, which is fully sensitive, too, finds the same hits. It may merge hits that are farther apart, but has no
/// additional ones.
#[test]
fn razers3_finds_nothing_else() {
    if !installed(&["razers3"]) {
        return;
    }
    let mut random = Random(11);
    let mut contigs = contigs(&mut random);
    contigs.push(random.bases(60_000));
    let dir = Dir::new();
    // RazerS3 counts N as a mismatch; it also ends names at the first blank.
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
        let ours = records(&sam(dir.run(&format!("map -q ref.fa reads.fq -e {e} --echoes"))));
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

/// Reads of which only one end aligns are found by that part; the same part, given as a read, has the same hits.
#[test]
fn ends_that_do_not_align_are_clipped() {
    let mut random = Random(31);
    let contig = random.bases(20_000);
    let dir = Dir::new();
    dir.write("ref.fa", fasta(std::slice::from_ref(&contig)));
    let mut reads = Vec::new();
    let mut truth = Vec::new();
    for number in 0..300 {
        let (from, len) = (random.below(19_000), 110 + random.below(60));
        let piece = contig[from..from + len].to_vec();
        let (piece, reverse) = match number % 2 {
            0 => (piece, false),
            _ => (naive::reverse_complement(&piece), true),
        };
        let len_of_other = 40 + random.below(50);
        let other = random.bases(len_of_other);
        let is_first = number % 3 > 0;
        let read = if is_first { [piece, other].concat() } else { [other, piece].concat() };
        truth.push((from, len, reverse));
        reads.push((format!("r{number}"), read));
    }
    reads.extend((0..100).map(|number| (format!("random{number}"), random.bases(150))));
    dir.write("reads.fq", fastq(&reads));
    let found = records(&sam(dir.run("map -q ref.fa reads.fq -e 5% --best --clip")));
    assert_eq!(found.len(), 400);
    for ((record, (_, letters)), &(from, len, reverse)) in found.iter().zip(&reads).zip(&truth) {
        assert_eq!((record.flags, record.reverse()), (16 * u16::from(reverse), reverse));
        // By chance, a few bases more may align.
        assert!(record.start.abs_diff(from) < 12 && record.end.abs_diff(from + len - 1) < 12);
        let query = if reverse { naive::reverse_complement(letters) } else { letters.clone() };
        assert_eq!(record.letters.as_bytes(), query);
        assert_eq!(score(record, &query, &contig), record.number("NM"));
    }
    assert!(found[300..].iter().all(|record| record.flags == 4));
    let whole = records(&sam(dir.run("map -q ref.fa reads.fq -e 5% --best")));
    assert!(whole.iter().all(|record| record.flags == 4));
}

/// Returns BWA-MEM's score of a record.
fn local_score(record: &Sam, letters: &[u8], contig: &[u8]) -> i64 {
    let (mut i, mut j, mut score) = (0, record.start, 0);
    for (len, operation) in operations(&record.cigar) {
        let gap = -6 - len as i64;
        match operation {
            'I' => (i, score) = (i + len, score + gap),
            'D' => (j, score) = (j + len, score + gap),
            'S' => (i, score) = (i + len, score - 5),
            _ => {
                for _ in 0..len {
                    let same = naive::letters_match(NMode::Mismatch, letters[i], contig[j]);
                    score += if same { 1 } else { -4 };
                    (i, j) = (i + 1, j + 1);
                }
            }
        }
    }
    score
}

/// With --clip, ends whose edits cost more than clipping are clipped, and alignments have higher scores.
#[test]
fn ends_are_clipped() {
    let mut random = Random(21);
    let contigs = contigs(&mut random);
    let mut reads = reads(&mut random, &contigs, 300, 4);
    // Random ends.
    for (number, (_, read)) in reads.iter_mut().enumerate().filter(|(number, _)| number % 3 == 0) {
        let (len, end) = (read.len(), 4 + number % 9);
        if len > 2 * end {
            let from = if number % 2 == 0 { 0 } else { len - end };
            read[from..from + end].copy_from_slice(&random.bases(end));
        }
    }
    let dir = Dir::new();
    dir.write("ref.fa", fasta(&contigs));
    dir.write("reads.fq", fastq(&reads));
    let (mut clipped, mut realigned) = (0, 0);
    for options in ["--all --eqx", "--best --xa 3", "--best-strata", "--hamming --all"] {
        let map = |more: &str| {
            let text = sam(dir.run(&format!("map -q ref.fa reads.fq -e 10 {options} {more}")));
            assert_eq!(text.contains(" --clip"), !more.is_empty());
            records(&text)
        };
        let [mut whole, mut short] = ["", "--clip"].map(map);
        // Reads without a hit may have parts with hits.
        let lost = |record: &Sam| record.contig.is_none();
        let lost: BTreeSet<String> =
            whole.iter().filter(|record| lost(record)).map(|record| record.name.clone()).collect();
        for all in [&mut whole, &mut short] {
            all.retain(|record| !lost.contains(&record.name));
        }
        assert_eq!(whole.len(), short.len());
        for (whole, short) in whole.iter().zip(&short) {
            let same = |record: &Sam| {
                let letters = record.letters.clone();
                (record.name.clone(), record.flags, record.contig, record.quality, letters)
            };
            assert_eq!(same(whole), same(short));
            let Some(contig) = short.contig else { continue };
            let all = operations(&short.cigar);
            let ends = [all.first(), all.last()];
            let clips = ends.map(|end| end.filter(|end| end.1 == 'S').map_or(0, |end| end.0));
            assert!(all.iter().filter(|(_, letter)| *letter == 'S').count() <= 2);
            clipped += usize::from(clips != [0, 0]);
            if whole.letters != "*" {
                let letters = short.letters.as_bytes();
                let edits = score(short, letters, &contigs[contig]);
                assert_eq!(edits, short.number("NM"));
                let [before, after] =
                    [whole, short].map(|record| local_score(record, letters, &contigs[contig]));
                assert!(after > before || short.cigar == whole.cigar, "{whole:?} {short:?}");
                realigned += usize::from(after > before && clips == [0, 0]);
            }
        }
    }
    assert!(clipped > 100 && realigned > 3, "{clipped} {realigned}");
}
