//! `merganser kmers filter-reads`, `profile` and `query` with many k-mers, compared with kmc_tools and maps.

use std::collections::BTreeMap;

use merganser_test_support::oracle::complement;
use merganser_test_support::reads::{Random, Record, fasta, fastq, untidy};
use merganser_test_support::tools::{installed, shell};
use merganser_test_support::{Dir, gunzip, small_reads};

/// Returns the counts in the table `t.mgk`, on both strands.
fn counts(dir: &Dir) -> BTreeMap<Vec<u8>, u64> {
    let text = dir.run("kmers dump t.mgk").ok();
    let mut counts = BTreeMap::new();
    for line in text.lines() {
        let (kmer, count) = line.split_once('\t').unwrap();
        counts.insert(complement(kmer.as_bytes()), count.parse().unwrap());
        counts.insert(kmer.as_bytes().to_vec(), count.parse().unwrap());
    }
    counts
}

/// Returns the count of each k-mer of a read.
fn along(counts: &BTreeMap<Vec<u8>, u64>, read: &[u8], k: usize) -> Vec<u64> {
    let upper = read.to_ascii_uppercase();
    let letters: Vec<u8> = upper.iter().map(|&l| if l == b'U' { b'T' } else { l }).collect();
    letters.windows(k).map(|kmer| counts.get(kmer).copied().unwrap_or(0)).collect()
}

/// Translates the count options of kmc_tools to ours.
fn bounds(cut: &str) -> String {
    let of = |option: &str| {
        cut.split_whitespace().find_map(|word| word.strip_prefix(option)).unwrap_or_default()
    };
    format!("{}..{}", of("-ci"), of("-cx"))
}

/// Returns interleaved FASTQ; both mates have the name of their pair.
fn interleaved(first: &[Record], second: &[Record]) -> String {
    let mates: Vec<Record> =
        first.iter().zip(second).flat_map(|(a, b)| [a.clone(), b.clone()]).collect();
    let text = String::from_utf8(fastq(&mates, "\n")).unwrap();
    let lines = text.lines().enumerate().map(|(at, line)| match at % 4 {
        0 => format!("@read{} of a test\n", at / 8),
        _ => format!("{line}\n"),
    });
    lines.collect()
}

/// Returns a directory with reads in `r.fq` and a table of some of them, and the reads.
fn with_table(k: usize) -> (Dir, Vec<Record>) {
    let dir = Dir::new();
    let records = untidy(300, 21);
    dir.write("r.fq", fastq(&records, "\n"));
    dir.write("some.fq", fastq(&records[..25], "\n"));
    dir.run(&format!("count -q -k {k} --min-count 1 -o t.mgk some.fq")).ok();
    (dir, records)
}

#[test]
fn kmc_tools_filters_the_same_reads() {
    if !installed(&["kmc_tools"]) {
        return;
    }
    let dir = Dir::new();
    dir.write("r.fq", gunzip(&small_reads()[1]));
    dir.write("a.fq", gunzip(&small_reads()[0]));
    dir.run("count -q -k 21 --min-count 1 --format kmc -o t a.fq").ok();
    for (theirs, ours) in [("-ci1", "--min-hits 1"), ("-ci20 -cx60", "--min-hits 20 --max-hits 60")]
    {
        shell(dir.root(), &format!("kmc_tools -hp -t1 filter t r.fq {theirs} x.fq"));
        let args = format!("kmers filter-reads -q {ours} -o y.fq t r.fq");
        dir.run(&args).ok();
        assert!(dir.read("y.fq") == dir.read("x.fq"), "{ours}");
        assert!(!dir.read("y.fq").is_empty());
    }
    // Fractions of a read's k-mers, and counts of the table.
    for (theirs, ours, cut) in [
        ("-ci0.5", "--min-hits 0.5", "-ci2"),
        ("-ci0.9", "--min-hits 0.9", "-ci1 -cx30"),
        ("-ci0.35 -cx0.45", "--min-hits 0.35 --max-hits 0.45", "-ci1"),
        ("-ci0.0 -cx0.7", "--min-hits 0.0 --max-hits 0.7", "-ci3"),
        ("-ci1.0", "--min-hits 1.0", "-ci1"),
        ("-ci3", "--min-hits 3", "-ci4 -cx25"),
    ] {
        shell(dir.root(), &format!("kmc_tools -hp -t1 filter t {cut} r.fq {theirs} x.fq"));
        let args = format!("kmers filter-reads -q {ours} -o y.fq t:{} r.fq", bounds(cut));
        dir.run(&args).ok();
        assert!(dir.read("y.fq") == dir.read("x.fq"), "{ours} {cut}");
        assert!(!dir.read("y.fq").is_empty());
    }
    for (theirs, ours) in [("-t", "--trim"), ("-hm", "--mask hard")] {
        for cut in ["-ci1", "-ci2 -cx80", "-ci30"] {
            shell(dir.root(), &format!("kmc_tools -hp -t1 filter {theirs} t {cut} r.fq -ci1 x.fq"));
            let args = format!("kmers filter-reads -q {ours} -o y.fq t:{} r.fq", bounds(cut));
            dir.run(&args).ok();
            assert!(dir.read("y.fq") == dir.read("x.fq"), "{ours} {cut}");
        }
    }
}

#[test]
fn reads_are_kept_trimmed_and_masked_by_the_definition() {
    let k = 15;
    let (dir, records) = with_table(k);
    let counts = counts(&dir);
    let all: Vec<Vec<u64>> = records.iter().map(|r| along(&counts, &r.sequence, k)).collect();
    let select = |keep: &dyn Fn(&[u64]) -> bool| -> Vec<u8> {
        let text = String::from_utf8(fastq(&records, "\n")).unwrap();
        let lines: Vec<&str> = text.lines().collect();
        let kept = lines.chunks(4).zip(&all).filter(|(_, counts)| keep(counts));
        kept.flat_map(|(lines, _)| lines.iter().flat_map(|line| [line, "\n"]))
            .collect::<String>()
            .into()
    };
    let hits = |counts: &[u64], least: u64| counts.iter().filter(|&&count| count >= least).count();
    let run = |args: &str| dir.run(&format!("kmers filter-reads -q {args} r.fq")).ok().into_bytes();
    assert!(run("t.mgk") == select(&|counts| hits(counts, 1) >= 2));
    assert!(run("t.mgk --invert") == select(&|counts| hits(counts, 1) < 2));
    assert!(run("t.mgk:3.. --min-hits 5") == select(&|counts| hits(counts, 3) >= 5));
    let half = |counts: &[u64]| !counts.is_empty() && hits(counts, 1) >= counts.len() / 2;
    assert!(run("t.mgk --min-hits 0.5 --threads 3") == select(&half));
    // A base is masked if any k-mer with it is (or is not) in the table.
    for invert in [false, true] {
        let mut expected = Vec::new();
        for (record, counts) in records.iter().zip(&all) {
            let mut masked = vec![false; record.sequence.len()];
            for (at, &count) in counts.iter().enumerate() {
                if (count == 0) != invert {
                    masked[at..at + k].fill(true);
                }
            }
            let letters = record.sequence.iter().zip(masked);
            let letters = letters
                .map(|(l, m)| if m { l.to_ascii_lowercase() } else { l.to_ascii_uppercase() });
            expected.push(Record { sequence: letters.collect(), ..record.clone() });
        }
        let option = if invert { "--invert" } else { "" };
        assert!(run(&format!("--mask soft {option} t.mgk")) == fastq(&expected, "\n"));
    }
    // Records of multi-line FASTA are written on one line; gzip has the same text.
    dir.write("r.fa", fasta(&records, 60, "\n"));
    dir.run("kmers filter-reads -q -o k.fa.gz --min-hits 0 t.mgk r.fa").ok();
    assert!(gunzip(&dir.path("k.fa.gz")) == fasta(&records, 1 << 20, "\n"));
}

#[test]
fn pairs_stay_together() {
    let k = 15;
    let (dir, records) = with_table(k);
    let counts = counts(&dir);
    let pass = |record: &Record| {
        along(&counts, &record.sequence, k).iter().filter(|&&count| count > 0).count() >= 2
    };
    let (first, second) = records.split_at(150);
    dir.write("1.fq", fastq(first, "\n"));
    dir.write("2.fq", fastq(second, "\n"));
    dir.write("i.fq", interleaved(first, second));
    for (mode, keep) in [("any", false), ("both", true)] {
        let stays: Vec<bool> = first
            .iter()
            .zip(second)
            .map(|(a, b)| if keep { pass(a) && pass(b) } else { pass(a) || pass(b) })
            .collect();
        let expected = |name: &str| -> Vec<u8> {
            let text = String::from_utf8(dir.read(name)).unwrap();
            let lines: Vec<&str> = text.lines().collect();
            let kept = lines.chunks(4).zip(&stays).filter(|(_, stays)| **stays);
            kept.flat_map(|(lines, _)| lines.iter().flat_map(|l| [l, "\n"]))
                .collect::<String>()
                .into()
        };
        dir.run(&format!(
            "kmers filter-reads -q --pairs {mode} -1 1.fq -2 2.fq -o o1.fq --output2 o2.fq t.mgk"
        ))
        .ok();
        assert!(dir.read("o1.fq") == expected("1.fq") && dir.read("o2.fq") == expected("2.fq"));
        assert!(stays.contains(&true) && stays.contains(&false));
        let run = dir.run(&format!("kmers filter-reads --pairs {mode} --interleaved t.mgk i.fq"));
        let kept = stays.iter().filter(|stays| **stays).count();
        let told = format!("{kept} of {} pairs were kept", stays.len());
        assert!(run.stderr.contains(&told), "{}", run.stderr);
        let both = run.ok();
        let separate = dir
            .run(&format!("kmers filter-reads -q --pairs {mode} -1 1.fq -2 2.fq -o - t.mgk"))
            .ok();
        assert!(both == separate && both.lines().count() == 8 * kept);
    }
    dir.write("other.fq", String::from_utf8(dir.read("2.fq")).unwrap().replace("@read7 ", "@x "));
    dir.write("short.fq", fastq(&second[..149], "\n"));
    let mut text = String::new();
    for mates in ["-1 1.fq -2 other.fq", "-1 1.fq -2 short.fq", "--interleaved short.fq", "gone.fq"]
    {
        let args = format!("kmers filter-reads -q {mates} -o x.fq t.mgk");
        // Without -1 and -2, the table is the first argument.
        let args = match mates.split_once(' ') {
            Some(("--interleaved", file)) => {
                format!("kmers filter-reads -q --interleaved -o x.fq t.mgk {file}")
            }
            None => format!("kmers filter-reads -q -o x.fq t.mgk {mates}"),
            _ => args,
        };
        text += &dir.run(&args).fails(1);
        assert!(!dir.path("x.fq").exists());
    }
    // The numbers of files of first and second mates must be equal, and stdin may be given only once.
    dir.run("kmers filter-reads -q -1 1.fq -1 1.fq -2 2.fq -o x.fq t.mgk").fails(2);
    dir.run("kmers filter-reads -q -1 - -2 - -o x.fq t.mgk").fails(1);
    text += &dir.run("kmers filter-reads -q --threads 2 --memory 30M -o x.fq t.mgk r.fq").fails(1);
    insta::assert_snapshot!("bad_mates", text);
}

#[test]
fn profiles() {
    let k = 15;
    let (dir, records) = with_table(k);
    let counts = counts(&dir);
    let mut expected = String::new();
    for (number, record) in records.iter().enumerate() {
        let counts = along(&counts, &record.sequence, k);
        let found = counts.iter().filter(|&&count| count > 0).count();
        let mut sorted = counts.clone();
        sorted.sort_unstable();
        let median = sorted.get(counts.len().saturating_sub(1) / 2).copied().unwrap_or(0);
        let listed: Vec<String> = counts.iter().map(ToString::to_string).collect();
        let listed = listed.join(",");
        expected += &format!("read{number}\t{}\t{found}\t{median}\t{listed}\n", counts.len());
    }
    assert!(dir.run("kmers profile -q t.mgk r.fq").ok() == expected);
    dir.run("kmers convert -q --format kff -o t.kff t.mgk").ok();
    assert!(dir.run("kmers profile -q --threads 3 t.kff r.fq").ok() == expected);
}

/// Many k-mers can be queried at once, in tables of every format.
#[test]
fn many_queries() {
    let k = 15;
    let (dir, records) = with_table(k);
    let counts = counts(&dir);
    let (mut asked, mut expected) = (String::new(), String::new());
    for kmer in records.iter().flat_map(|record| record.sequence.windows(k)) {
        if kmer.iter().all(|letter| b"ACGTacgt".contains(letter)) {
            let text = String::from_utf8(kmer.to_vec()).unwrap();
            asked += &format!("{text}\n");
            let count = counts.get(&kmer.to_ascii_uppercase()).copied().unwrap_or(0);
            expected += &format!("{text}\t{count}\n");
        }
    }
    assert!(asked.lines().count() > 20_000);
    dir.write("asked", asked);
    dir.run("kmers convert -q --format kmc -o t t.mgk").ok();
    for table in ["t.mgk", "t.kmc_pre", "t.mgk --threads 1"] {
        assert!(dir.run(&format!("kmers query {table} --file asked")).ok() == expected, "{table}");
    }
}

/// A table of any format that exceeds the memory is read in ranges; results are the same, and the peak is within the
/// budget.
#[test]
fn tables_of_any_size() {
    let dir = Dir::new();
    let mut random = Random(5);
    let genome = random.bases(1_200_000);
    // Some k-mers have counts that exceed a byte.
    let often = fasta(&vec![Record::from(&genome[..400]); 300], 400, "\n");
    dir.write("g.fa", [fasta(&[Record::from(&genome[..])], 70, "\n"), often].concat());
    let reads: Vec<Record> = (0..4000)
        .map(|number| {
            let start =
                if number % 9 == 0 { number % 300 } else { random.below(genome.len() - 150) };
            let mut read = genome[start..start + 150].to_vec();
            read[random.below(150)] = b"ACGTN"[random.below(5)];
            Record::from(&read[..])
        })
        .collect();
    dir.write("r.fq", fastq(&reads, "\n"));
    dir.run("count -q -k 31 --min-count 1 -o t.mgk g.fa").ok();
    for format in ["kmc", "kff"] {
        dir.run(&format!("kmers convert -q --format {format} -o {format} t.mgk")).ok();
    }
    let little = "--memory 92M --threads 2";
    for cut in ["", ":300..301", ":2.."] {
        let expected = dir.run(&format!("kmers profile -q t.mgk{cut} r.fq")).ok();
        for table in ["t.mgk", "kmc", "kff"] {
            let ran = dir.run(&format!("kmers profile {little} --tmp-dir tmp {table}{cut} r.fq"));
            let (says, temporary) = (ran.stderr.clone(), "a temporary .mgk table");
            assert_eq!(says.contains("ranges for every"), cut.is_empty(), "{table}{cut}: {says}");
            assert_eq!(says.contains(temporary), table != "t.mgk", "{table}{cut}: {says}");
            assert!(ran.ok() == expected, "{table}{cut}");
            assert!(!dir.path("tmp").exists());
        }
        let filter = format!("kmers filter-reads --mask soft -q t.mgk{cut} r.fq");
        assert!(dir.run(&filter).ok() == dir.run(&format!("{filter} {little}")).ok(), "{cut}");
    }
    let asked: Vec<u8> =
        reads.iter().flat_map(|read| [&read.sequence[..31], b"\n"].concat()).collect();
    let asked: String = String::from_utf8(asked).unwrap();
    dir.write(
        "asked",
        asked.lines().filter(|kmer| !kmer.contains('N')).collect::<Vec<_>>().join("\n"),
    );
    let expected = dir.run("kmers query t.mgk --file asked").ok();
    for table in ["kmc", "kff", "t.mgk"] {
        let found = dir.run(&format!("kmers query {table} --file asked {little}")).ok();
        assert!(found == expected, "{table}");
    }
}

/// Returns some megabytes of pairs of 150 bases: several batches, many of them in flight.
fn pairs_of(genome: &[u8], random: &mut Random) -> [Vec<Record>; 2] {
    [0, 1].map(|_| {
        let read = |number| {
            let start = random.below(genome.len() - 150);
            let mut read = genome[start..start + 150].to_vec();
            // A third of the reads share no k-mer with the table, the others some.
            if number % 3 == 0 {
                read = random.bases(150);
            }
            read[random.below(150)] = b"ACGTN"[random.below(5)];
            Record::from(&read[..])
        };
        (0..6000).map(read).collect()
    })
}

/// Bytes and messages are the same for any number of threads, with the table in memory and in ranges, and for pairs
/// in any form.
#[test]
fn threads_and_memory_change_nothing() {
    if !installed(&["gzip"]) {
        return;
    }
    let dir = Dir::new();
    let mut random = Random(6);
    let genome = random.bases(1_200_000);
    dir.write("g.fa", fasta(&[Record::from(&genome[..])], 70, "\n"));
    dir.run("count -q -k 31 --min-count 1 -o t.mgk g.fa").ok();
    let [first, second] = pairs_of(&genome, &mut random);
    dir.write("1.fq", fastq(&first, "\n"));
    dir.write("2.fq", fastq(&second, "\n"));
    dir.write("i.fq", interleaved(&first, &second));
    shell(dir.root(), "gzip -1 -k 1.fq 2.fq i.fq");
    let run = |options: &str| dir.run(&format!("kmers filter-reads t.mgk {options}"));
    let expected = run("--pairs both -1 1.fq -2 2.fq -o x.fq.gz --threads 1").stderr;
    let reads = dir.run("kmers filter-reads -q --pairs both t.mgk -1 1.fq -2 2.fq").ok();
    assert!(gunzip(&dir.path("x.fq.gz")) == reads.as_bytes());
    let packed = dir.read("x.fq.gz");
    // The memory that these leave for the table is less than the table needs.
    for little in
        ["--threads 1 --memory 74M", "--threads 2 --memory 92M", "--threads 5 --memory 146M"]
    {
        let threads = little.split(" --").next().unwrap();
        for mates in
            ["-1 1.fq -2 2.fq", "-1 1.fq.gz -2 2.fq", "--interleaved i.fq", "--interleaved i.fq.gz"]
        {
            let ran = run(&format!("--pairs both {mates} -o x.fq.gz {little}"));
            let says = ran.stderr.clone();
            ran.ok();
            assert!(says.contains("ranges for every"), "{says}");
            assert!(says.ends_with(&expected), "{little} {mates}: {says}");
            assert!(dir.read("x.fq.gz") == packed, "{little} {mates}");
        }
        let ran = run(&format!("--pairs both --interleaved i.fq.gz -o x.fq.gz {threads}"));
        assert!(ran.stderr == expected && dir.read("x.fq.gz") == packed, "{threads}");
        // The first of two errors is reported; stdout has the results of the batches before it.
        let text = String::from_utf8(dir.read("2.fq")).unwrap();
        dir.write("bad.fq", text.replace("@read5000 ", "@x ").replace("@read5500 ", "y "));
        let bad = |options: &str| {
            let ran = run(&format!("-q -1 1.fq -2 bad.fq {options}"));
            (ran.code, ran.stdout, ran.stderr)
        };
        let expected = bad("--threads 1");
        assert_eq!(expected.0, Some(1));
        assert!(expected.2.contains("read5000"), "{}", expected.2);
        assert!(!expected.1.is_empty());
        assert!(bad(threads) == expected && bad(little) == expected, "{little}");
    }
}

/// Returns the peak memory that a run reports.
fn peak(stderr: &str) -> u64 {
    let said = stderr.lines().find_map(|line| line.strip_prefix("debug: peak memory "));
    let megabytes = said.and_then(|size| size.strip_suffix(" MiB")?.parse::<f64>().ok());
    (megabytes.unwrap_or_else(|| panic!("{stderr}")) * f64::from(1 << 20)) as u64
}

/// Tables larger than the memory stay within `--memory` plus a tenth: the peak resident size as the kernel measured
/// it.
#[test]
fn the_peak_stays_within_the_promise() {
    let dir = Dir::new();
    let mut random = Random(8);
    let genome = random.bases(8_000_000);
    dir.write("g.fa", fasta(&[Record::from(&genome[..])], 100, "\n"));
    dir.run("count -q -k 31 --min-count 1 -o t.mgk g.fa").ok();
    let [first, second] = pairs_of(&genome, &mut random);
    dir.write("1.fq", fastq(&first, "\n"));
    dir.write("2.fq", fastq(&second, "\n"));
    // In memory, 12 bytes or more per k-mer would be 96 MB.
    for (verb, memory) in [
        ("profile -o x t.mgk 1.fq", 92),
        ("filter-reads -o x t.mgk -1 1.fq -2 2.fq", 92),
        ("filter-reads -o x.gz --mask soft t.mgk 2.fq", 100),
    ] {
        let args = format!("kmers {verb} --log-level debug --threads 2 --memory {memory}M");
        let ran = dir.run(&args);
        let says = ran.stderr.clone();
        ran.ok();
        assert!(says.contains("ranges for every"), "{says}");
        let (peak, promise) = (peak(&says), (memory * 11 / 10) << 20);
        assert!(peak <= promise, "{args}: {peak} bytes, more than {promise}");
    }
}

/// The recipe for removing a host's reads, in the page and in the help, is right for 2,000 pairs of a host and as
/// many others, with 0.5 % errors.
#[test]
fn the_recipe_for_a_host_removes_its_reads_and_no_others() {
    let page = include_str!("../../docs/guide/kmers.md");
    let page = page.split("```").find(|block| block.contains("host.mgk")).unwrap();
    let dir = Dir::new();
    let help = dir.run("kmers filter-reads --help").ok();
    let (_, help) = help.split_once("table of all k-mers of a host:\n").unwrap();
    let (help, _) = help.split_once("host.mgk\n  Trim").unwrap();
    let help = format!("{help}host.mgk");
    let [host, other] = [3, 4].map(|seed| Random(seed).bases(200_000));
    dir.write("host.fa", fasta(&[host.as_slice().into()], 80, "\n"));
    shell(dir.root(), "gzip host.fa");
    let mut random = Random(5);
    let mut mates = [Vec::new(), Vec::new()];
    for pair in 0..4000 {
        let genome = if pair < 2000 { &host } else { &other };
        let start = random.below(genome.len() - 400);
        for (mate, from) in mates.iter_mut().zip([start, start + 250]) {
            let mut sequence = genome[from..from + 100].to_vec();
            for base in &mut sequence {
                if random.below(200) == 0 {
                    *base = complement(&[*base])[0];
                }
            }
            mate.push(Record { sequence, quality: None });
        }
    }
    for (name, mates) in ["r_1.fq", "r_2.fq"].into_iter().zip(&mates) {
        dir.write(name, fastq(mates, "\n"));
        shell(
            dir.root(),
            &format!("gzip {name} && ln -s {name}.gz reads_{}", &name[2..].replace("fq", "fq.gz")),
        );
    }
    for recipe in [page.trim_start_matches("sh\n").to_owned(), help] {
        let commands = recipe.replace("\\\n", " ");
        let commands = commands.lines().map(str::trim).filter(|line| !line.is_empty());
        let commands: Vec<&str> = commands.collect();
        assert_eq!(commands.len(), 2, "{recipe}");
        for command in commands {
            dir.run(command.strip_prefix("merganser ").unwrap()).ok();
        }
        for name in ["clean_1.fq.gz", "clean_2.fq.gz"] {
            let text = String::from_utf8(gunzip(&dir.path(name))).unwrap();
            let names = text.lines().step_by(4).map(|line| {
                let word = line.split_whitespace().next().unwrap();
                word.trim_start_matches("@read").parse::<usize>().unwrap()
            });
            let kept: Vec<usize> = names.collect();
            assert!(kept.iter().copied().eq(2000..4000), "{recipe}: {} pairs", kept.len());
            std::fs::remove_file(dir.path(name)).unwrap();
        }
        std::fs::remove_file(dir.path("host.mgk")).unwrap();
    }
}
