//! Jellyfish's tests: the sequences of its generator, and the MD5 sums of its histograms and dumps (`tests/*.sh`). They need
//! no data, and are skipped without the folder because they take half a minute.

use merganser_test_support::Dir;
use merganser_test_support::tools::{installed, shell};

use super::data::{Cases, peer};

/// The MT19937 generator, seeded as in `randomc.h`.
struct Twister {
    state: [u32; 624],
    next: usize,
}

impl Twister {
    fn new(seed: u32) -> Twister {
        let mut state = [seed; 624];
        for at in 1..624 {
            let before = state[at - 1];
            state[at] =
                1_812_433_253u32.wrapping_mul(before ^ before >> 30).wrapping_add(at as u32);
        }
        let mut twister = Twister { state, next: 624 };
        for _ in 0..37 {
            twister.bits();
        }
        twister
    }

    fn bits(&mut self) -> u32 {
        if self.next == 624 {
            self.next = 0;
            for at in 0..624 {
                let y = self.state[at] & 1 << 31 | self.state[(at + 1) % 624] & !(1 << 31);
                let odd = if y & 1 == 1 { 0x9908_b0df } else { 0 };
                self.state[at] = self.state[(at + 397) % 624] ^ y >> 1 ^ odd;
            }
        }
        let mut y = self.state[self.next];
        self.next += 1;
        y ^= y >> 11;
        y ^= y << 7 & 0x9d2c_5680;
        y ^= y << 15 & 0xefc6_0000;
        y ^ y >> 18
    }

    /// Returns a quality of Illumina 1.3, from `B` to `h`.
    fn quality(&mut self) -> u8 {
        (39.0 * f64::from(self.bits()) / 4_294_967_296.0 + 66.0) as u8
    }
}

/// Bases, 16 of each random number.
struct Bases {
    left: usize,
    bits: u32,
}

impl Bases {
    fn new() -> Bases {
        Bases { left: 0, bits: 0 }
    }

    fn next(&mut self, random: &mut Twister) -> u8 {
        if self.left == 0 {
            (self.left, self.bits) = (16, random.bits());
        }
        let base = b"ACGT"[self.bits as usize & 3];
        self.left -= 1;
        self.bits >>= 2;
        base
    }
}

/// Returns a sequence in lines of 70 bases, followed by the header of an empty one.
fn fasta(random: &mut Twister, length: usize) -> Vec<u8> {
    let mut bases = Bases::new();
    let letters: Vec<u8> = (0..length).map(|_| bases.next(random)).collect();
    let lines = letters.chunks(70).flat_map(|line| [line, b"\n"].concat());
    b">read1\n".iter().copied().chain(lines).chain(*b">read2\n").collect()
}

/// Returns names, bases and qualities of reads of 70 bases.
fn reads(seed: u32, length: usize) -> Vec<(String, String, String)> {
    let (mut random, mut bases) = (Twister::new(seed), Bases::new());
    let mut read = |number: usize| {
        let bases_left = (length - number * 70).min(70);
        let letters: Vec<u8> = (0..bases_left).map(|_| bases.next(&mut random)).collect();
        let qualities: Vec<u8> = (0..bases_left).map(|_| random.quality()).collect();
        let [letters, qualities] =
            [letters, qualities].map(|bytes| String::from_utf8(bytes).unwrap());
        (format!("read_{number}"), letters, qualities)
    };
    (0..length.div_ceil(70)).map(&mut read).collect()
}

fn md5(dir: &Dir, bytes: impl AsRef<[u8]>) -> String {
    dir.write("md5", bytes);
    String::from_utf8(shell(dir.root(), "md5sum < md5")).unwrap()[..32].to_owned()
}

/// Returns the MD5 sum of Jellyfish's histogram of a count.
fn histogram(dir: &Dir, count: &str) -> String {
    let options = "--min-count 1 --format none --histogram - --histogram-format jellyfish -q";
    let text = dir.run(&format!("count {count} {options}")).ok();
    md5(dir, text)
}

/// Returns the MD5 sum of the histogram of a table.
fn histogram_of(dir: &Dir, table: &str) -> String {
    let text = dir.run(&format!("kmers histogram {table} --histogram-format jellyfish")).ok();
    md5(dir, text)
}

const ALL: &str = "seq1m_0.fa seq1m_1.fa seq1m_2.fa seq10m.fa seq1m_3.fa seq1m_4.fa";

#[test]
fn sums_of_sequences() {
    if peer("").is_none() {
        return;
    }
    let dir = Dir::new();
    dir.write("seq10m.fa", fasta(&mut Twister::new(3_141_592_653), 10_000_000));
    let mut random = Twister::new(1_040_104_553);
    for number in 0..5 {
        dir.write(&format!("seq1m_{number}.fa"), fasta(&mut random, 1_000_000));
    }
    let mut cases = Cases::of("Jellyfish, sequences");
    for (name, count, sum) in [
        ("parallel_hashing", "-k 15 seq10m.fa", "864c0b0826854bdc72a85d170549b64b"),
        ("large k", "-k 40 --forward-only seq1m_0.fa", "9251799dd5dbd3f617124aa2ff72112a"),
        ("multi_file", &format!("-k 15 {ALL}"), "d93b7678037814c256d1d9120a0e6422"),
        (
            "merge",
            "-k 40 seq1m_0.fa seq1m_1.fa seq1m_0.fa seq1m_2.fa seq1m_2.fa",
            "72f1913b3503114c7df7a4dcc68ce867",
        ),
    ] {
        cases.add(name, histogram(&dir, count) == sum);
    }
    lines_of_dos(&dir, &mut cases);
    dumps(&dir, &mut cases);
    sets(&dir, &mut cases);
    panels(&dir, &mut cases);
    cases.end(&[]);
}

fn lines_of_dos(dir: &Dir, cases: &mut Cases) {
    let text = String::from_utf8(dir.read("seq10m.fa")).unwrap().replace('\n', "\r\n");
    dir.write("dos.fa", text);
    let sum = histogram(dir, "-k 15 dos.fa");
    cases.add("parallel_hashing, DOS", sum == "864c0b0826854bdc72a85d170549b64b");
}

fn dumps(dir: &Dir, cases: &mut Cases) {
    dir.run("count -q -k 15 --min-count 2 --max-count 3 seq10m.fa -o t.mgk").ok();
    let sum = histogram_of(dir, "t.mgk");
    cases.add("parallel_hashing, -L 2 -U 3", sum == "94625cd2d59e278f08421a673eb0926a");
    dir.run("count -q -k 40 --forward-only --min-count 1 seq1m_0.fa -o t.mgk").ok();
    let dump = dir.run("kmers dump t.mgk").ok().replace('\t', " ");
    let once = dump.lines().filter(|line| line.ends_with(" 1")).count();
    cases.add("dump", md5(dir, dump) == "376761a6e273b57b3428c14e3b536edf");
    cases.add("query", md5(dir, format!("{once}\n")) == "45fb383344e0fb0b7540718339be4c03");
    let text = String::from_utf8(dir.read("seq1m_0.fa")).unwrap();
    dir.write("head.fa", text.split_inclusive('\n').take(10_001).collect::<String>());
    dir.run("count -q -k 100 --forward-only --min-count 1 head.fa -o t.mgk").ok();
    let dump = dir.run("kmers dump t.mgk").ok();
    let kmers: Vec<&str> = dump.lines().map(|line| line.split('\t').next().unwrap()).collect();
    let sum = md5(dir, kmers.join("\n") + "\n");
    cases.add("large_key", sum == "ded3925fe6bbaca10accc10d1bde11b5");
}

fn sets(dir: &Dir, cases: &mut Cases) {
    for number in [2, 3] {
        let table = format!("seq1m_{number}.fa -o {number}.mgk");
        dir.run(&format!("count -q -k 9 --min-count 1 {table}")).ok();
    }
    dir.run("kmers intersect -q 2.mgk 3.mgk --counts min -o t.mgk").ok();
    cases.add("merge -m", histogram_of(dir, "t.mgk") == "4199aa97e646281b9c36a03564f082ee");
    dir.run("kmers union -q 2.mgk 3.mgk --counts max -o t.mgk").ok();
    cases.add("merge -M", histogram_of(dir, "t.mgk") == "10b5ca10bcf85183f82837ea10638a8d");
}

fn panels(dir: &Dir, cases: &mut Cases) {
    let panel = [dir.read("seq1m_0.fa"), dir.read("seq1m_2.fa")].concat();
    dir.write("panel.fa", panel);
    let files = "--panel panel.fa seq1m_1.fa seq1m_0.fa seq1m_3.fa seq1m_2.fa";
    for (k, sum) in
        [(35, "bd7a5f6ba000b282cd79cb9f342e7ede"), (10, "8eb6d4a50aeba178e4847c2da71dbb70")]
    {
        let found = histogram(dir, &format!("-k {k} {files}"));
        cases.add(&format!("subset_hashing, k {k}"), found == sum);
    }
}

#[test]
fn sums_of_reads_with_qualities() {
    if peer("").is_none() {
        return;
    }
    let dir = Dir::new();
    let (mut fastq, mut sam) = (String::new(), String::new());
    for (name, bases, qualities) in reads(1_473_540_700, 10_000_000) {
        fastq += &format!("@{name}\n{bases}\n+\n{qualities}\n");
        sam += &format!("{name}\t4\t*\t0\t0\t*\t*\t0\t0\t{bases}\t{qualities}\n");
    }
    dir.write("reads.fq", fastq);
    dir.write("reads.sam", sam);
    let mut cases = Cases::of("Jellyfish, reads");
    // Qualities of Jellyfish's options are letters: C is 34 and D is 35.
    for (name, options, sum) in [
        ("quality_filter", "", "46c5d23c3560cf908fea997fff8abc1c"),
        ("quality_filter -Q @", "--min-qual 31", "46c5d23c3560cf908fea997fff8abc1c"),
        ("quality_filter -Q i", "--min-qual 72", "d41d8cd98f00b204e9800998ecf8427e"),
        ("quality_filter -Q C", "--min-qual 34", "4faa0517f41d7dc808ec0b930fe0d88e"),
    ] {
        cases.add(name, histogram(&dir, &format!("-k 15 {options} reads.fq")) == sum);
    }
    let mut inputs = vec!["reads.sam"];
    if installed(&["samtools"]) {
        shell(dir.root(), "samtools view -b -o reads.bam reads.sam");
        shell(dir.root(), "samtools view -C -o reads.cram reads.sam");
        inputs.extend(["reads.bam", "reads.cram"]);
    }
    for input in inputs {
        for (options, sum) in [
            ("", "8f8a71e04c27cd88918f11d44d9b3852"),
            ("--min-qual 35", "f0faf797cc55add8b6e88ab67bbcf19b"),
        ] {
            let found = histogram(&dir, &format!("-k 20 {options} {input}"));
            cases.add(&format!("{input} {options}"), found == sum);
        }
    }
    cases.end(&[]);
}
