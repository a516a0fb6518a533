//! Pairs and their combinations of hits.

use super::*;
use merganser_test_support::tools::{installed, shell};

/// Two files of mates are a pair, the preset is that of variant calling, and the format may be named.
#[test]
fn without_options_pairs_are_mapped_for_variant_calling() {
    let mut random = Random(19);
    let contig = random.bases(9000);
    let dir = Dir::new();
    dir.write("ref.fa", fasta(std::slice::from_ref(&contig)));
    let (mut first, mut second) = (Vec::new(), Vec::new());
    for number in 0..100 {
        let from = random.below(8000);
        first.push((format!("p{number}"), contig[from..from + 100].to_vec()));
        let end = from + 600 + random.below(300);
        second.push((format!("p{number}"), naive::reverse_complement(&contig[end - 100..end])));
    }
    dir.write("r_1.fq", fastq(&first));
    dir.write("r_2.fq", fastq(&second));
    let preset = "-e 10% --rescue 20% --best --clip --learn-insert";
    let records = |args: &str| {
        let text = sam(dir.run(&format!("map ref.fa {args}")));
        text.lines().filter(|line| !line.starts_with("@PG")).collect::<Vec<_>>().join("\n")
    };
    let usual = records("r_1.fq r_2.fq");
    assert_eq!(usual, records(&format!("-1 r_1.fq -2 r_2.fq {preset}")));
    assert_eq!(usual.lines().filter(|line| line.contains("\tNM:i:0")).count(), 200);
    let single = records("-U r_1.fq r_2.fq");
    assert!(single != usual && single == records("-U r_1.fq r_2.fq -e 10% --best --clip"));
    assert_eq!(records("r_1.fq r_2.fq --strand both"), usual);
    let said = dir.run("map ref.fa r_1.fq r_2.fq -o x.dat --output-format bam --sort").ok();
    assert!(said.is_empty());
    dir.run("map -q ref.fa r_1.fq r_2.fq -o x.bam --sort").ok();
    assert_eq!(dir.read("x.dat")[..4], dir.read("x.bam")[..4]);
    assert!(dir.names().contains(&"x.dat.bai".to_owned()));
    let notes = dir.run("map ref.fa r_1.fq r_2.fq -o x.sam").stderr;
    for note in [
        "note: r_1.fq and r_2.fq are read as mates of pairs: -U reads them as single reads",
        &format!("note: --preset variants applies: {preset}"),
    ] {
        assert!(notes.contains(note), "{notes}");
    }
}

/// Two positional files that look like mates and are swapped or out of step have the error of `-1` and `-2`, and streams,
/// which cannot be checked, are a usage error. `-U` and `--any-names` say what they are.
#[test]
fn two_files_are_not_silently_read_as_single_reads() {
    let mut random = Random(20);
    let contig = random.bases(9000);
    let dir = Dir::new();
    dir.write("ref.fa", fasta(std::slice::from_ref(&contig)));
    let reads = |mate: usize, other: usize| {
        let name =
            |number| if number == other { "x".to_owned() } else { format!("p{number}/{mate}") };
        fastq(&(0..700).map(|n| (name(n), contig[n..n + 100].to_vec())).collect::<Vec<_>>())
    };
    for (name, mate, other) in [("a_1", 1, 999), ("a_2", 2, 999), ("t1", 1, 999), ("t2", 2, 655)] {
        dir.write(&format!("{name}.fq"), reads(mate, other));
    }
    shell(dir.root(), "gzip -k t1.fq t2.fq && mkfifo p1 p2");
    let map = |args: &str| dir.run(&format!("map ref.fa -e 1 -o o.sam {args}"));
    for (files, expected) in [
        (
            "a_2.fq a_1.fq",
            "error: a_2.fq: record 1 is p0/2, but its mate in a_1.fq is p0/1: the second mate comes \
             first: swap the files",
        ),
        (
            "t1.fq.gz t2.fq.gz",
            "error: t1.fq.gz: record 656 is p655/1, but its mate in t2.fq.gz is x: mates must have \
             the same name",
        ),
    ] {
        let line = map(files).fails(1);
        assert!(line.starts_with(expected), "{line}");
        assert!(line.ends_with("if they are not mates, -U reads both as single reads\n"), "{line}");
        let (one, two) = files.split_once(' ').unwrap();
        let line = map(&format!("-1 {one} -2 {two}")).fails(1);
        assert!(line.starts_with(expected), "{line}");
        map(&format!("-U {files}")).ok();
        assert!(map(&format!("{files} --any-names")).stderr.contains("700 pairs"));
    }
    let line = map("p1 p2").fails(2);
    assert!(line.contains("give -1 and -2 for mates, or -U for single reads"), "{line}");
    assert!(map("a_1.fq gone.fq").fails(1).contains("gone.fq: cannot open: no such file"));
}

/// Insert sizes are learned from the first pairs of the whole input, whatever the threads, the form of the input and
/// the shard; given limits win.
#[test]
fn insert_sizes_are_learned() {
    let mut random = Random(23);
    let contig = random.bases(60_000);
    let dir = Dir::new();
    dir.write("ref.fa", fasta(std::slice::from_ref(&contig)));
    let (mut first, mut second, mut both) = (Vec::new(), Vec::new(), Vec::new());
    for number in 0..3000 {
        let from = random.below(50_000);
        // The last pair is far longer than the others.
        let insert = if number == 2999 { 5000 } else { 800 + random.below(101) };
        let name = format!("p{number}");
        let end = from + insert;
        let mates = [
            (name.clone(), contig[from..from + 100].to_vec()),
            (name, naive::reverse_complement(&contig[end - 100..end])),
        ];
        both.extend(mates.clone());
        let [one, two] = mates;
        first.push(one);
        second.push(two);
    }
    dir.write("r_1.fq", fastq(&first));
    dir.write("r_2.fq", fastq(&second));
    dir.write("few_1.fq", fastq(&first[..999]));
    dir.write("few_2.fq", fastq(&second[..999]));
    let map = |args: &str| {
        let text = without_command(&sam(dir.run(&format!("map ref.fa {args} --json j"))));
        let json: serde_json::Value = serde_json::from_slice(&dir.read("j")).unwrap();
        (text, json["parameters"]["insert"].clone(), json["results"]["learned_inserts"].clone())
    };
    let (text, insert, learned) = map("r_1.fq r_2.fq --threads 1");
    assert_eq!(learned["pairs"], 3000);
    let quartiles = ["lower_quartile", "median", "upper_quartile"];
    for (quartile, about) in quartiles.into_iter().zip([825, 850, 875]) {
        assert!(learned[quartile].as_u64().unwrap().abs_diff(about) < 5, "{learned}");
    }
    let range = [0, 1].map(|at| insert[at].as_u64().unwrap());
    assert!((640..700).contains(&range[0]) && (1000..1060).contains(&range[1]), "{range:?}");
    assert_eq!(records(&text).iter().filter(|record| record.flags & 2 == 0).count(), 2);
    assert_eq!(map("r_1.fq r_2.fq --threads 3"), (text.clone(), insert.clone(), learned.clone()));
    // From a stream, whose reads are kept meanwhile.
    let args = "map -q ref.fa --preset variants --interleaved -";
    let streamed = dir.run_with(args.split(' '), &fastq(&both)).ok();
    assert_eq!(without_command(&streamed), text);
    // From alignments, whose flags tell the pairs, in a file and from a stream.
    let line = |flags: u16, (name, letters): &Read| {
        let (letters, quality) = (String::from_utf8_lossy(letters), "I".repeat(letters.len()));
        format!("{name}\t{flags}\t*\t0\t0\t*\t*\t0\t0\t{letters}\t{quality}\n")
    };
    let mates = first.iter().zip(&second);
    let unaligned: String = mates.map(|(one, two)| line(77, one) + &line(141, two)).collect();
    dir.write("r.sam", &unaligned);
    let (of_file, _, from_file) = map("r.sam");
    assert_eq!(from_file, learned);
    assert_eq!(records(&of_file).iter().filter(|record| record.flags & 2 == 0).count(), 2);
    let streamed = dir.run_with("map -q ref.fa -".split(' '), unaligned.as_bytes()).ok();
    assert_eq!(without_command(&streamed), of_file);
    // The command in the header has all options that decide about pairs.
    let header = dir.run("map -q ref.fa r.sam").ok();
    assert!(header.contains(" --learn-insert --rescue 20% "), "{}", &header[..500]);
    assert_eq!(map("r.sam --max-insert 900").1, serde_json::json!([0, 900]));
    assert!(dir.run("map -q ref.fa -U r.sam").ok().contains(" --single "));
    let ran = dir.run("map ref.fa -o o.sam r_1.fq");
    assert!(!ran.stderr.contains("not learned"), "{}", ran.stderr);
    for shard in 1..=2 {
        let args = format!("map -q ref.fa r_1.fq r_2.fq --shard {shard}/2 -o {shard}.bam --json j");
        dir.run(&args).ok();
        let json: serde_json::Value = serde_json::from_slice(&dir.read("j")).unwrap();
        assert_eq!(json["results"]["learned_inserts"], learned);
    }
    dir.run("map join -q 1.bam 2.bam -o joined.bam").ok();
    dir.run("map -q ref.fa r_1.fq r_2.fq -o whole.bam").ok();
    assert!(dir.read("joined.bam") == dir.read("whole.bam"));
    // Given limits win; too few pairs teach nothing.
    let (_, insert, learned) = map("r_1.fq r_2.fq --max-insert 900");
    assert_eq!((insert, learned), (serde_json::json!([0, 900]), serde_json::Value::Null));
    let (_, insert, learned) = map("r_1.fq r_2.fq --min-insert 850");
    assert_eq!((insert[0].clone(), learned["pairs"].clone()), (850.into(), 3000.into()));
    let ran = dir.run("map ref.fa few_1.fq few_2.fq -o o.sam");
    assert!(ran.stderr.contains("insert sizes are not learned"), "{}", ran.stderr);
    assert!(ran.stderr.contains("--max-insert is 500"), "{}", ran.stderr);
}

/// Records of further hits have bases and qualities on request.
/// A concordant place of a mate that fits better elsewhere is doubtful.
#[test]
fn mapping_qualities_of_pairs_count_what_the_mates_lose() {
    let mut random = Random(29);
    let mut contigs = [random.bases(3000), random.bases(3000)];
    let mut reads = [Vec::new(), Vec::new()];
    for (number, excess) in (0..=4).enumerate() {
        let from = 100 + 500 * number;
        let first = contigs[0][from..from + 100].to_vec();
        let mate = contigs[1][from..from + 100].to_vec();
        // A copy of the mate with some substitutions, beside the first one.
        let beside = &mut contigs[0][from + 200..from + 300];
        beside.copy_from_slice(&mate);
        for at in (10..).step_by(20).take(excess) {
            beside[at] = if mate[at] == b'A' { b'C' } else { b'A' };
        }
        reads[0].push((format!("p{excess}"), first));
        reads[1].push((format!("p{excess}"), naive::reverse_complement(&mate)));
    }
    let dir = Dir::new();
    dir.write("ref.fa", fasta(&contigs));
    dir.write("1.fq", fastq(&reads[0]));
    dir.write("2.fq", fastq(&reads[1]));
    let qualities = |options: &str| {
        let text = sam(dir.run(&format!("map -q ref.fa -1 1.fq -2 2.fq -e 10 {options}")));
        let records = records(&text);
        let first = records.iter().filter(|record| record.flags & 0x140 == 0x40);
        first.map(|record| record.quality).collect::<Vec<_>>()
    };
    assert_eq!(qualities("--best"), [60, 60, 42, 12, 0]);
    assert_eq!(qualities("--all"), [60; 5]);
}

#[test]
fn further_records_have_bases_on_request() {
    let mut random = Random(29);
    let contigs = contigs(&mut random);
    let dir = Dir::new();
    dir.write("ref.fa", fasta(&contigs));
    dir.write("reads.fq", fastq(&reads(&mut random, &contigs, 200, 3)));
    let map =
        |options: &str| records(&sam(dir.run(&format!("map -q ref.fa reads.fq -e 3 {options}"))));
    let (mut without, with) = (map(""), map("--secondary-seq"));
    assert_eq!(without.len(), with.len());
    let mut further = 0;
    for (without, with) in without.iter_mut().zip(&with) {
        if with.flags & 256 != 0 {
            further += 1;
            let bases = operations(&with.cigar).into_iter().filter(|(_, letter)| *letter != 'D');
            assert_eq!(with.letters.len(), bases.map(|(len, _)| len).sum::<usize>());
            assert_eq!(with.qualities.len(), with.letters.len());
        }
        (without.letters, without.qualities) = (with.letters.clone(), with.qualities.clone());
        assert_eq!(format!("{without:?}"), format!("{with:?}"));
    }
    assert!(further > 10);
}

/// Each simulated pair is found where it was cut, and flags, mates and template lengths are consistent.
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
            // Random; on another contig; too far away.
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
    // Only the pair without any hit is left out: a mapped read is never without its mate.
    assert_eq!(without.lines().filter(|line| !line.starts_with('@')).count(), 402 - 2);
}

/// Template lengths, flags, positions and tags of mates are those that samtools computes.
#[test]
fn mates_are_as_samtools_says() {
    if !installed(&["samtools"]) {
        return;
    }
    let mut random = Random(15);
    let contigs = contigs(&mut random);
    let (mut first, mut second) = (Vec::new(), Vec::new());
    for number in 0..600 {
        let contig = &contigs[random.below(2)];
        let len = (60 + random.below(200)).min(contig.len());
        let from = random.below(contig.len() - len + 1);
        let fragment = edited(&mut random, &contig[from..from + len], 3);
        let own = 80.min(fragment.len());
        let back = naive::reverse_complement(&fragment);
        let mates = [fragment[..own].to_vec(), back[..own].to_vec()];
        let [one, two] = if number % 2 == 0 { mates } else { [mates[1].clone(), mates[0].clone()] };
        first.push((format!("p{number}"), one));
        second.push((format!("p{number}"), two));
    }
    let dir = Dir::new();
    dir.write("ref.fa", fasta(&contigs));
    dir.write("1.fq", fastq(&first));
    dir.write("2.fq", fastq(&second));
    dir.run("map -q ref.fa 1.fq -2 2.fq -e 5 --best --clip -R @RG\\tID:a\\tSM:s -o own.sam").ok();
    shell(dir.root(), "samtools fixmate -m -O sam own.sam fixed.sam");
    let [own, fixed] =
        ["own.sam", "fixed.sam"].map(|name| records(&String::from_utf8(dir.read(name)).unwrap()));
    assert_eq!(own.len(), fixed.len());
    let mut concordant = 0;
    for (own, fixed) in own.iter().zip(&fixed) {
        let place = |record: &Sam| (record.flags, record.mate.clone(), record.mate_start);
        assert_eq!(place(own), place(fixed), "{own:?}");
        assert_eq!(own.tags, fixed.tags, "{own:?}");
        // For mates on the same strand, BWA-MEM counts one base more.
        if own.flags & 2 != 0 {
            concordant += 1;
            assert_eq!(own.template, fixed.template, "{own:?}");
        }
    }
    assert!(concordant > 800, "{concordant}");
}

/// A pair in a repeat has all concordant combinations, each as two records with the same HI.
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
    let others = |options: &str| {
        let pair = of(&format!("--best --xa {options}"));
        [0, 1].map(|mate| pair[mate].tags.get("XA").cloned().unwrap_or_default())
    };
    let name = format!("gi|0|HLA*A:00_{}", "x".repeat(300));
    let at = |strand, first: usize| {
        let other = |copy: usize| format!("{name},{strand}{},100M,0;", first + 660 * copy);
        [1, 2].map(other).concat()
    };
    assert_eq!(others("2"), [at('+', 1), at('-', 161)]);
    assert_eq!(others("1"), [String::new(), String::new()]);
    // Without a concordant combination, each mate has its own.
    assert_eq!(others("2 --max-insert 200"), [at('+', 1), at('-', 161)]);
    assert_eq!(of("--max-hits 2").len(), 4);
    // No combination is concordant: each mate has its own three hits.
    let apart = of("--max-insert 200");
    assert_eq!(apart.len(), 6);
    assert!(apart.iter().all(|record| record.flags & 2 == 0));
}

/// Records do not depend on the form in which mates are given; single reads may be given, too.
#[test]
fn mates_in_two_files_or_one() {
    let mut random = Random(13);
    let contigs = contigs(&mut random);
    let dir = Dir::new();
    dir.write("ref.fa", fasta(&contigs));
    let singles = reads(&mut random, &contigs, 40, 3);
    let mates = [1, 2].map(|mate| {
        let named = |(at, (_, letters)): (usize, Read)| (format!("p{at}/{mate}"), letters);
        let own = reads(&mut random, &contigs, 40, 3);
        own.into_iter().enumerate().map(named).collect::<Vec<Read>>()
    });
    dir.write("s.fq", fastq(&singles));
    dir.write("1.fq", fastq(&mates[0]));
    dir.write("2.fq", fastq(&mates[1]));
    let [first, second] = &mates;
    let both = first.iter().zip(second).flat_map(|(one, two)| [one.clone(), two.clone()]);
    dir.write("both.fq", fastq(&both.collect::<Vec<Read>>()));
    let map = |args: &str| sam(dir.run(&format!("map -q ref.fa -e 3 --max-insert 2000 {args}")));
    let map = |args: &str| without_command(&map(args));
    let expected = map("1.fq -2 2.fq");
    assert!(records(&expected).iter().any(|record| record.flags & 2 != 0));
    assert_eq!(map("-1 1.fq -2 2.fq"), expected);
    assert_eq!(map("--interleaved both.fq"), expected);
    // Pairs are written first.
    let more = map("s.fq -1 1.fq -2 2.fq");
    let alone = sam(dir.run("map -q ref.fa -e 3 s.fq"));
    let body = |text: &str| {
        text.lines().filter(|line| !line.starts_with('@')).map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(body(&more), [body(&expected), body(&alone)].concat());
    dir.run("map -q ref.fa -e 3 s.fq -1 1.fq -2 2.fq --json j -o out.sam").ok();
    let json: serde_json::Value = serde_json::from_slice(&dir.read("j")).unwrap();
    assert_eq!(json["inputs"]["reads"], serde_json::json!(["1.fq", "s.fq"]));
    assert_eq!(json["inputs"]["mates"], serde_json::json!(["2.fq"]));
}

/// Mates with more edits than `-e` are rescued near their mates: the result has those combinations of all hits
/// within the rescue limit in which one mate has a best hit within `-e`.
#[test]
fn mates_are_rescued() {
    let mut random = Random(33);
    let contigs = [random.bases(9000), random.bases(4000)];
    let (mut first, mut second) = (Vec::new(), Vec::new());
    for number in 0..300 {
        let contig = &contigs[random.below(2)];
        let from = random.below(3000);
        let fragment = contig[from..from + 150 + random.below(300)].to_vec();
        let back = naive::reverse_complement(&fragment);
        let far = contig[from + 600..from + 690].to_vec();
        let mates = match number % 4 {
            0..2 => [edited(&mut random, &fragment[..90], 2), edited(&mut random, &back[..80], 12)],
            2 => [edited(&mut random, &fragment[..90], 12), edited(&mut random, &back[..80], 3)],
            // Too far away.
            _ => [edited(&mut random, &fragment[..90], 3), far],
        };
        let [one, two] = if number % 3 == 0 { [mates[1].clone(), mates[0].clone()] } else { mates };
        first.push((format!("p{number}"), one));
        second.push((format!("p{number}"), two));
    }
    let dir = Dir::new();
    dir.write("ref.fa", fasta(&contigs));
    dir.write("1.fq", fastq(&first));
    dir.write("2.fq", fastq(&second));
    let map = |options: &str| {
        let pairs = "1.fq -2 2.fq --max-insert 480";
        records(&sam(dir.run(&format!("map -q ref.fa {pairs} {options} --json j"))))
    };
    let place = |record: &Sam| (record.flags, record.contig, record.start, record.cigar.clone());
    let few = map("-e 3 --best");
    let many = map("-e 12 --all");
    let rescued = map("-e 3 --best --rescue 12");
    assert_eq!([few.len(), rescued.len()], [600; 2]);
    let mut found = 0;
    for (few, pair) in few.chunks(2).zip(rescued.chunks(2)) {
        if few[0].flags & 2 != 0 {
            assert_eq!([&pair[0], &pair[1]].map(place), [&few[0], &few[1]].map(place));
            continue;
        }
        // Each combination has two records.
        let own: Vec<&Sam> = many.iter().filter(|record| record.name == few[0].name).collect();
        let together = own.chunks(2).filter(|pair| pair.len() == 2 && pair[0].flags & 2 != 0);
        let anchored = |pair: &&[&Sam]| {
            (0..2).any(|mate| {
                let is_mapped = few[mate].flags & 4 == 0;
                is_mapped && pair[mate].number("NM") == few[mate].number("NM")
            })
        };
        let Some(expected) = together
            .filter(anchored)
            .min_by_key(|pair| pair[0].number("NM") + pair[1].number("NM"))
        else {
            assert_eq!([&pair[0], &pair[1]].map(place), [&few[0], &few[1]].map(place));
            continue;
        };
        found += 1;
        for (expected, record) in expected.iter().zip(pair) {
            assert_eq!(record.flags & 2, 2, "{record:?}");
            assert_eq!(place(expected).1, place(record).1);
            assert_eq!((record.start, &record.cigar), (expected.start, &expected.cigar));
        }
    }
    let json: serde_json::Value = serde_json::from_slice(&dir.read("j")).unwrap();
    assert_eq!(json["results"]["rescued_pairs"], found);
    assert!((100..225).contains(&found), "{found}");
    // A rescue limit of at most `-e` changes nothing.
    assert_eq!(
        map("-e 3 --best --rescue 0").iter().map(place).collect::<Vec<_>>(),
        few.iter().map(place).collect::<Vec<_>>()
    );
    let alone = dir.run("map -q ref.fa 1.fq -e 3 --rescue 12");
    assert_eq!(alone.code, Some(2), "{}", alone.stderr);
}

/// In repeats of short units, mates can be aligned at many places. No alignment begins or ends with a deletion, MD
/// describes the alignment, and concordant mates have the requested distance.
#[test]
fn mates_in_repeats_of_short_units() {
    let mut random = Random(23);
    let (mut contig, mut pairs) = (random.bases(100), [Vec::new(), Vec::new()]);
    while contig.len() < 4000 {
        let (unit, length) = (2 + random.below(5), 50 + random.below(110));
        let unit = random.bases(unit);
        contig.extend(unit.iter().cycle().take(length));
        let between = 10 + random.below(20);
        contig.extend(random.bases(between));
    }
    for number in 0..600 {
        let (from, insert) = (random.below(3500), 240 + random.below(60));
        let fragment = &contig[from..from + insert];
        let mates = [fragment[..60].to_vec(), naive::reverse_complement(&fragment[insert - 60..])];
        for (all, letters) in pairs.iter_mut().zip(mates) {
            all.push((format!("p{number}"), letters));
        }
    }
    let dir = Dir::new();
    dir.write("ref.fa", fasta(std::slice::from_ref(&contig)));
    dir.write("r_1.fq", fastq(&pairs[0]));
    dir.write("r_2.fq", fastq(&pairs[1]));
    let mut concordant = 0;
    for options in [
        "",
        "-e 10% --best --rescue 20%",
        "-e 3% --best --rescue 20%",
        "-e 5 --all --clip --echoes --secondary-seq",
    ] {
        let text = sam(dir.run(&format!(
            "map -q ref.fa r_1.fq r_2.fq --min-insert 280 --max-insert 330 {options}"
        )));
        for record in records(&text).iter().filter(|record| record.cigar != "*") {
            let runs = operations(&record.cigar);
            let aligned: Vec<_> = runs.iter().filter(|run| run.1 != 'S').collect();
            for end in [aligned.first(), aligned.last()] {
                assert!(end.is_some_and(|run| run.1 != 'D'), "{options}: {record:?}");
            }
            // The letters and numbers of MD are bases of the reference.
            let md = record.tags["MD"].replace('^', "");
            let is_letter = |letter: char| letter.is_ascii_alphabetic();
            let matches: usize =
                md.split(is_letter).map(|number| number.parse().unwrap_or(0)).sum();
            let bases = matches + md.chars().filter(|&letter| is_letter(letter)).count();
            assert_eq!(bases, record.end + 1 - record.start, "{options}: {record:?}");
            // Clipped bases count for the distance, but not for TLEN.
            if record.flags & 2 != 0 && !text.contains("--clip") {
                let template = record.template.unsigned_abs();
                assert!((280..=330).contains(&template), "{options}: {record:?}");
                concordant += 1;
            }
        }
    }
    assert!(concordant > 100, "{concordant}");
}
