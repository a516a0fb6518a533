//! Files in Jellyfish's binary format: Jellyfish reads ours, and we read Jellyfish's.

use merganser_test_support::Dir;
use merganser_test_support::reads::{fastq, untidy};
use merganser_test_support::tools::{installed, shell};

/// Values of k: the first three have fewer k-mers than Jellyfish's smallest table, 31 is the last whose k-mers all have
/// different hashes, 32 the last that fits into a word.
const EVERY_K: [usize; 10] = [1, 2, 3, 21, 28, 31, 32, 33, 64, 128];

/// Returns a directory with reads, among them one that makes counts of more than 16 bits.
fn with_reads() -> Dir {
    let dir = Dir::new();
    // Jellyfish does not read U as T.
    let reads = String::from_utf8(fastq(&untidy(300, 7), "\n")).unwrap();
    let lines = reads.lines().enumerate().map(|(number, line)| match number % 4 {
        1 => line.replace(['U', 'u'], "T") + "\n",
        _ => format!("{line}\n"),
    });
    dir.write("r.fq", lines.collect::<String>());
    dir.write("a.fa", format!(">a\n{}\n", "A".repeat(70_200)));
    dir
}

/// Returns what Jellyfish prints.
fn jellyfish(dir: &Dir, arguments: &str) -> String {
    String::from_utf8(shell(dir.root(), &format!("jellyfish {arguments}"))).unwrap()
}

/// A file as Jellyfish's documentation of the format describes it.
struct Written {
    header: serde_json::Value,
    /// The k-mers as integers, first base highest, with their counts.
    records: Vec<(u128, u64)>,
}

impl Written {
    /// Reads a file independently of the program.
    fn read(bytes: &[u8]) -> Written {
        let length: usize = std::str::from_utf8(&bytes[..9]).unwrap().parse().unwrap();
        assert!((9 + length).is_multiple_of(8), "records are not aligned");
        let json = std::str::from_utf8(&bytes[9..9 + length]).unwrap().trim_end_matches('\0');
        let header: serde_json::Value = serde_json::from_str(json).unwrap();
        assert_eq!(header["format"], "binary/sorted");
        let bytes_of = |name: &str| header[name].as_u64().unwrap() as usize;
        let (key, count) = (bytes_of("key_len").div_ceil(8), bytes_of("counter_len"));
        let number =
            |bytes: &[u8]| bytes.iter().rev().fold(0, |sum, &byte| sum << 8 | u128::from(byte));
        let records = bytes[9 + length..].chunks_exact(key + count);
        assert!(records.remainder().is_empty());
        let pair = |record: &[u8]| (number(&record[..key]), number(&record[key..]) as u64);
        let records = records.map(pair).collect();
        Written { header, records }
    }

    /// Returns the bytes of the file.
    fn bytes(&self) -> Vec<u8> {
        let json = self.header.to_string();
        let padding = (8 - (9 + json.len()) % 8) % 8;
        let mut bytes = format!("{:09}{json}", json.len() + padding).into_bytes();
        bytes.resize(bytes.len() + padding, 0);
        let bytes_of = |name: &str| self.header[name].as_u64().unwrap_or(1) as usize;
        let (key, count) = (bytes_of("key_len").div_ceil(8), bytes_of("counter_len"));
        for (kmer, number) in &self.records {
            let (kmer, number) = (kmer.to_le_bytes(), number.to_le_bytes());
            let padded = |bytes: &[u8], length| [bytes, &[0; 64]].concat()[..length].to_vec();
            bytes.extend([padded(&kmer, key), padded(&number, count)].concat());
        }
        bytes
    }

    /// Returns the hash of a k-mer: the columns of the bits that are 1, of which the first is that of the highest bit.
    fn hash(&self, kmer: u128) -> u64 {
        let matrix = &self.header["matrix1"];
        let (c, r) = (matrix["c"].as_u64().unwrap(), matrix["r"].as_u64().unwrap());
        let product = match matrix["identity"] == true {
            true => kmer as u64 & (u64::MAX >> (64 - r)),
            false => (0..c)
                .filter(|bit| kmer >> (c - 1 - bit) & 1 == 1)
                .fold(0, |sum, bit| sum ^ matrix["columns"][bit as usize].as_u64().unwrap()),
        };
        product & (self.header["size"].as_u64().unwrap() - 1)
    }

    /// Looks up a k-mer as `jellyfish query` and PanGenie do: a search that estimates the place from the hash, and
    /// then record by record.
    fn query(&self, kmer: u128) -> u64 {
        let last = self.records.len() - 1;
        for at in [0, last] {
            if self.records[at].0 == kmer {
                return self.records[at].1;
            }
        }
        let place = self.hash(kmer);
        let (mut low, mut high) = (0, last + 1);
        let (mut low_hash, mut high_hash) =
            (self.hash(self.records[0].0), self.hash(self.records[last].0));
        if place < low_hash || place > high_hash {
            return 0;
        }
        while high - low >= 8 {
            let part = (place - low_hash) as f64 / (high_hash - low_hash) as f64;
            let estimate = low + ((high - low) as f64 * part).round_ties_even() as usize;
            let middle = estimate.clamp(low + 1, high - 1);
            let (found, count) = self.records[middle];
            if found == kmer {
                return count;
            }
            let hash = self.hash(found);
            if (hash, found) > (place, kmer) {
                (high, high_hash) = (middle, hash);
            } else {
                (low, low_hash) = (middle, hash);
            }
        }
        let near = self.records[low + 1..high].iter().find(|(found, _)| *found == kmer);
        near.map_or(0, |&(_, count)| count)
    }
}

fn letters(kmer: u128, k: usize) -> String {
    (0..k).rev().map(|base| char::from(b"ACGT"[(kmer >> (2 * base) & 3) as usize])).collect()
}

/// Without Jellyfish: a reader that follows its format finds each k-mer of a written file.
#[test]
fn kmers_are_found_by_their_hash() {
    let dir = with_reads();
    for k in [1, 2, 16, 21, 31, 32, 33, 64] {
        for strands in ["", "--forward-only"] {
            let run = format!("count -q -k {k} {strands} --min-count 1");
            dir.run(&format!("{run} -o t.mgk r.fq a.fa")).ok();
            dir.run(&format!("{run} -o x.jf r.fq a.fa")).ok();
            dir.run("kmers convert -q -o y.jf t.mgk").ok();
            let bytes = dir.read("x.jf");
            assert!(dir.read("y.jf") == bytes, "k {k}");
            let file = Written::read(&bytes);
            let name = |field: &str| file.header[field].clone();
            assert_eq!(name("canonical"), strands.is_empty());
            assert_eq!((name("key_len"), name("counter_len")), ((2 * k).into(), 4.into()));
            let lines = file.records.iter().map(|&(kmer, count)| {
                assert_eq!(file.query(kmer), count, "k {k}");
                format!("{}\t{count}\n", letters(kmer, k))
            });
            assert!(lines.collect::<String>() == dir.run("kmers dump t.mgk").ok(), "k {k}");
            let has = |kmer: u128| file.records.iter().any(|(found, _)| *found == kmer);
            let mask = u128::MAX >> (128 - 2 * k);
            let absent =
                (0..300u128).map(|n| n.wrapping_mul(0x9e37_79b9_7f4a_7c15 << 61 | 1) & mask);
            assert!(absent.filter(|&kmer| !has(kmer)).all(|kmer| file.query(kmer) == 0), "k {k}");
        }
    }
}

/// `dump`, `histo`, `stats`, `query` and `merge` of Jellyfish read our files.
#[test]
fn jellyfish_reads_our_files() {
    if !installed(&["jellyfish"]) {
        return;
    }
    let dir = with_reads();
    for k in EVERY_K {
        for strands in ["", "--forward-only"] {
            let run = format!("count -q -k {k} {strands} --min-count 1");
            dir.run(&format!("{run} -o x.jf r.fq a.fa")).ok();
            dir.run(&format!("{run} -o a.jf a.fa")).ok();
            let dump = dir.run("kmers dump x.jf").ok();
            assert!(jellyfish(&dir, "dump -c -t x.jf") == dump, "k {k} {strands}");
            let histogram = dir.run("kmers histogram --histogram-format jellyfish x.jf").ok();
            assert_eq!(jellyfish(&dir, "histo x.jf"), histogram, "k {k} {strands}");
            let counts = || dump.lines().map(|line| line.split_once('\t').unwrap().1);
            let counts = || counts().map(|count| count.parse::<u64>().unwrap());
            assert_eq!(
                jellyfish(&dir, "stats x.jf"),
                format!(
                    "Unique:    {}\nDistinct:  {}\nTotal:     {}\nMax_count: {}\n",
                    counts().filter(|&count| count == 1).count(),
                    counts().count(),
                    counts().sum::<u64>(),
                    counts().max().unwrap()
                )
            );
            let kmers: String =
                dump.lines().step_by(3).map(|line| format!("{}\n", &line[..k])).collect();
            dir.write("queries", kmers + &"GATTACACC".repeat(15)[..k]);
            let answers = jellyfish(&dir, "query -i x.jf <queries");
            let found = dir.run("kmers query x.jf --file queries").ok();
            let found: String = found
                .lines()
                .map(|line| format!("{}\n", line.rsplit('\t').next().unwrap()))
                .collect();
            assert!(answers == found, "k {k} {strands}");
            shell(dir.root(), "jellyfish merge -o m.jf x.jf a.jf");
            dir.run("kmers union -q -o sum.jf x.jf a.jf").ok();
            let sum = dir.run("kmers dump sum.jf").ok();
            assert!(jellyfish(&dir, "dump -c -t m.jf") == sum, "k {k} {strands}");
            assert!(dir.run("kmers dump m.jf").ok() == sum, "k {k} {strands}");
            assert_eq!(dir.run("kmers verify x.jf m.jf").ok(), "x.jf: ok\nm.jf: ok\n");
        }
    }
}

/// An empty table, and the largest count.
#[test]
fn jellyfish_reads_unusual_files() {
    let dir = Dir::new();
    dir.write("t.tsv", "AAAAC\t1\nACGTA\t4294967295\nCCCCC\t65536\n");
    dir.run("kmers convert -q -o x.jf t.tsv").ok();
    dir.write("n.fa", ">n\nNNNN\n");
    dir.run("count -q -k 5 -o e.jf n.fa").ok();
    assert_eq!(dir.run("kmers dump x.jf").ok().into_bytes(), dir.read("t.tsv"));
    assert_eq!(dir.run("kmers dump e.jf").ok(), "");
    assert!(dir.run("kmers info e.jf").ok().contains("k               5\n"));
    if !installed(&["jellyfish"]) {
        return;
    }
    assert_eq!(jellyfish(&dir, "dump -c -t x.jf").into_bytes(), dir.read("t.tsv"));
    assert_eq!(jellyfish(&dir, "dump -c e.jf"), "");
    assert_eq!(jellyfish(&dir, "query e.jf AAAAC"), "AAAAC 0\n");
    assert_eq!(jellyfish(&dir, "query x.jf TACGT"), "ACGTA 4294967295\n");
}

/// Files that Jellyfish counted are read, with any size of counts, and joined with ours.
#[test]
fn files_of_jellyfish_are_read() {
    if !installed(&["jellyfish"]) {
        return;
    }
    let dir = with_reads();
    for (number, k) in EVERY_K.into_iter().enumerate() {
        for (c, strands) in [("-C", ""), ("", "--forward-only")] {
            // Jellyfish sets all counts of 8 bytes to 0.
            let bytes = 4 + number % 4;
            let options = format!("-m {k} -s 1000 {c} --out-counter-len {bytes}");
            jellyfish(&dir, &format!("count {options} -o x.jf r.fq a.fa"));
            dir.run(&format!("count -q -k {k} {strands} --min-count 1 -o t.mgk r.fq a.fa")).ok();
            let dump = dir.run("kmers dump t.mgk").ok();
            assert!(dir.run("kmers dump x.jf").ok() == dump, "k {k} {strands}");
            assert_eq!(dir.run("kmers verify x.jf").ok(), "x.jf: ok\n", "k {k} {strands}");
            dir.run("kmers union -q -o one.mgk t.mgk t.mgk").ok();
            dir.run("kmers union -q -o two.mgk t.mgk x.jf").ok();
            let [one, two] =
                ["one", "two"].map(|name| dir.run(&format!("kmers dump {name}.mgk")).ok());
            assert!(one == two, "k {k} {strands}");
        }
    }
    // Counts that Jellyfish limited to a byte, and k-mers without a read.
    jellyfish(&dir, "count -m 21 -s 1000 -C --out-counter-len 1 -o x.jf a.fa");
    assert_eq!(dir.run("kmers dump x.jf").ok(), format!("{}\t255\n", "A".repeat(21)));
    dir.write("panel.fa", format!(">1\n{}\n>2\n{}\n", "A".repeat(21), "ACGT".repeat(6)));
    jellyfish(&dir, "count -m 21 -s 1000 -C --if panel.fa -o x.jf a.fa");
    assert_eq!(dir.run("kmers dump x.jf").ok(), format!("{}\t70180\n", "A".repeat(21)));
    assert_eq!(dir.run("kmers verify x.jf").ok(), "x.jf: ok\n");
    // Formats of Jellyfish that are not tables of this kind.
    jellyfish(&dir, "count -m 21 -s 1000 -C --text -o x.jf a.fa");
    let message = dir.run("kmers dump x.jf").fails(1);
    assert!(
        message.contains("its format is \"text/sorted\", and not \"binary/sorted\""),
        "{message}"
    );
    jellyfish(&dir, "bc -m 21 -s 1000 -C -o x.jf a.fa");
    let message = dir.run("kmers dump x.jf").fails(1);
    assert!(message.contains("it has no k-mers"), "{message}");
}

/// Damaged and hostile files are refused in one line.
#[test]
fn damaged_files_are_refused() {
    let dir = with_reads();
    dir.run("count -q -k 21 -o x.jf r.fq").ok();
    let sound = dir.read("x.jf");
    let start = 9 + std::str::from_utf8(&sound[..9]).unwrap().parse::<usize>().unwrap();
    for cut in (10..start).step_by(7).chain([start + 1, start + 9, sound.len() - 1]) {
        dir.write("y.jf", &sound[..cut]);
        let message = dir.run("kmers dump y.jf").fails(1);
        assert!(message.contains("y.jf: truncated: "), "{cut}: {message}");
    }
    let changed = |change: &dyn Fn(&mut Written)| {
        let mut file = Written::read(&sound);
        change(&mut file);
        file.bytes()
    };
    let set =
        |field: &str, value: serde_json::Value| changed(&|file| file.header[field] = value.clone());
    let mut dirty = sound.clone();
    dirty[start + 5] |= 0x80;
    let mut all = String::new();
    for (what, bytes) in [
        ("length", [&b"9999999"[..], &sound[7..]].concat()),
        ("digits", [&b"1"[..], &sound[7..]].concat()),
        ("json", [&sound[..20], b"\xff", &sound[21..]].concat()),
        ("nested", [&b"000500000{"[..], &b"\"a\":[".repeat(100_000)[..]].concat()),
        ("format", set("format", "x".repeat(100).into())),
        ("no format", set("format", serde_json::Value::Null)),
        ("k", set("key_len", 258.into())),
        ("odd", set("key_len", 41.into())),
        ("none", set("key_len", 0.into())),
        ("negative", set("key_len", (-2).into())),
        ("counts", set("counter_len", 9.into())),
        ("no counts", set("counter_len", 0.into())),
        ("size", set("size", 3.into())),
        ("bases", dirty),
        ("order", changed(&|file| file.records.swap(3, 4))),
        ("twice", changed(&|file| file.records[4].0 = file.records[3].0)),
        ("zero", changed(&|file| file.records[3].1 = 0)),
        ("count", {
            let mut file = Written::read(&sound);
            file.header["counter_len"] = 8.into();
            file.records[3].1 = 1 << 32;
            file.bytes()
        }),
    ] {
        dir.write("y.jf", bytes);
        // The order of k-mers and counts of 0 do not matter to other commands.
        let of_order = ["order", "zero", "size"].contains(&what);
        if of_order {
            dir.run("kmers dump y.jf").ok();
        } else {
            all += &format!("{what}: {}", dir.run("kmers dump y.jf").fails(1));
        }
        let message = dir.run("kmers verify y.jf").fails(1);
        if of_order {
            all += &format!("{what}: {message}");
        }
    }
    insta::assert_snapshot!(all);
}
