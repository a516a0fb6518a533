//! Inputs of the lines in the table of commands: reads, genomes, taxonomies and lists in every format and compression,
//! and the files that the program makes from these.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::fs;
use std::path::Path;
use std::process::Stdio;

use crate::commands::Row;
use crate::dir::{Dir, program};
use crate::forms::{bzip2, gzip, xz, zstd};
use crate::oracle::{self, Rule};
use crate::reads::{Random, Record, fasta};
use crate::repeats::strew;
use crate::tools::{by_chance, shell};
use crate::two_species::{NAMES, NODES};
use crate::{fastk, meryl};

/// The size of the inputs.
#[derive(Clone, Copy, Debug)]
pub struct Size {
    /// Bases of each genome.
    pub bases: usize,
    /// Reads in each of the two files.
    pub reads: usize,
}

/// A few hundred reads: each run takes some hundredths of a second.
pub const SMALL: Size = Size { bases: 5000, reads: 900 };

const FILES: [(&str, &str); 18] = [
    ("tax/nodes.dmp", NODES),
    ("tax/names.dmp", NAMES),
    ("tax/merged.dmp", "9\t|\t11\t|\n"),
    ("tax/delnodes.dmp", "8\t|\n"),
    ("list", "1.fq\n2.fq\n"),
    ("first", "1.fq\n"),
    ("pairs", "pairs.tsv\n"),
    ("genomes", "g0.fa\ng1.fa\n"),
    ("ids", "g0\t11\ng1\t12\n"),
    ("sheet.tsv", "one\t1.fq\ntwo\t2.fq\nboth\t1.fq\t2.fq\n"),
    ("assemblies.tsv", "sample\treads\tassembly\none\t1.fq\tg0.fa\ntwo\t2.fq\tg0.fa\n"),
    ("session", "1.fq -o out/a.tsv\n@list --no-map --report out/b.kreport\n2.fq -o out/c.tsv\n"),
    ("list.txt", "#assembly_accession\ttaxid\nGCF_000000001.1\t11\nGCF_000000002.1\t12\n"),
    ("sums", ""),
    ("p.fa", ">one x\nACGTNACCGTAR\n>two\nGGATCCTTAAGATC\n"),
    ("guides.txt", "# guides\na\tGATTACAGATCC\nACGTTGCAAC\n"),
    ("own.man/other.1", "a page of something else"),
    ("hist", "1\t1000\n2\t10\n3\t20\n4\t300\n5\t500\n6\t300\n7\t100\n8\t20\n"),
];

/// Lines that make further inputs from the written ones, in this order.
const MADE: [&str; 40] = [
    "build --taxonomy tax -o refs.mgdb g0.fa g1.fa",
    "build --taxonomy tax -o own.mgdb g0.fa g1.fa",
    "build --taxonomy tax --parts 2 -o parts.mgdb g0.fa g1.fa",
    "build --taxonomy tax --bracken 100 -o x.mgdb g0.fa g1.fa",
    "build --format kraken2 --taxonomy tax -o k2 g0.fa g1.fa",
    "db split parts.mgdb -o part{}.mgdb",
    "classify part1.mgdb --near 0 1.fq -o part1.tsv",
    "classify part2.mgdb --near 0 1.fq -o part2.tsv",
    "db prepare downloads --assembly-summary list.txt --md5 sums --taxonomy tax -o library.tsv",
    "count -k 21 --min-count 1 -o t.mgk 1.fq",
    "count -k 21 --min-count 1 -o u.mgk 2.fq",
    "count -k 21 --min-count 1 -o h.mgk h.fa",
    "count -k 5 --min-count 1 -o t5.mgk 1.fq",
    "count -k 21 --report-data data.json --format none 1.fq",
    "count -k 21 --shard 1/2 -o a1.mgk 1.fq 2.fq",
    "count -k 21 --shard 2/2 -o a2.mgk 1.fq 2.fq",
    "kmers union --range 1/2 -o r1.mgk a1.mgk a2.mgk",
    "kmers union --range 2/2 -o r2.mgk a1.mgk a2.mgk",
    "kmers convert --format kmc -o k t.mgk",
    "kmers convert --format kff -o k.kff u.mgk",
    "kmers convert -o k.jf u.mgk",
    "kmers dump -o t.tsv u.mgk",
    "kmers matrix --range 1/2 --format dense t.mgk u.mgk -o m1.mgx",
    "kmers matrix --range 2/2 --format dense t.mgk u.mgk -o m2.mgx",
    "kmers qv --range 1/2 -o q1.mgq t.mgk g0.fa",
    "kmers qv --range 2/2 -o q2.mgq t.mgk g0.fa",
    "deplete index -o host.mgd g0.fa",
    "deplete index -o other.mgd g1.fa",
    "deplete index -o both.mgd g0.fa g1.fa",
    "deplete index -o host.idx g0.fa",
    "index g0.fa -o ref.mgi",
    "map -e 5 ref.mgi 1.fq -o r.sam",
    "map -e 5 ref.mgi 1.fq -o r.bam",
    "map -e 5 g0.fa 1.fq --sort -o r.cram",
    "map -e 5 ref.mgi 1.fq --sort --shard 1/2 -o m1.bam",
    "map -e 5 ref.mgi 1.fq --sort --shard 2/2 -o m2.bam",
    "classify refs.mgdb 1.fq -o l.tsv --report a.kreport",
    "classify refs.mgdb 2.fq --no-map --report b.kreport",
    "classify refs.mgdb 1.fq --shard 1/2 -o p1.lines --partial p1.partial",
    "classify refs.mgdb 1.fq --shard 2/2 -o p2.lines --partial p2.partial",
];

/// Returns a new directory with all files that the rows read, and empty `out` and `tmp`.
pub fn prepared<'r>(size: Size, rows: impl IntoIterator<Item = &'r Row>) -> Dir {
    let dir = Dir::new();
    make(dir.root(), size, rows);
    dir
}

/// Makes all files that the rows read in a folder, which is created if missing, and empty `out` and `tmp`.
pub fn make<'r>(folder: &Path, size: Size, rows: impl IntoIterator<Item = &'r Row>) {
    for name in ["tax", "downloads", "own.man", "out", "tmp"] {
        fs::create_dir_all(folder.join(name)).unwrap();
    }
    let mut wanted = rows.into_iter().flat_map(Row::may_read).collect();
    let made = needed(&mut wanted);
    let world = World(folder);
    FILES.iter().for_each(|(name, text)| world.write(name, text));
    world.write_reads(size);
    for row in made {
        let ran =
            program().args(row.args()).current_dir(folder).stdin(Stdio::null()).output().unwrap();
        let said = String::from_utf8_lossy(&ran.stderr);
        assert!(ran.status.success(), "{}: {said}", row.line);
    }
    world.compress(&wanted);
    world.write_tables(&wanted);
}

/// Returns the lines that make the wanted files, and adds the files that these lines read to `wanted`.
fn needed(wanted: &mut BTreeSet<&'static str>) -> Vec<Row> {
    let mut needed = Vec::new();
    for row in MADE.iter().rev().map(|line| Row::making(line)) {
        if row.makes().any(|made| wanted.iter().any(|name| is_of(name, made))) {
            wanted.extend(row.may_read());
            needed.push(row);
        }
    }
    needed.reverse();
    needed
}

/// Whether a file name matches an output name, in which `{}` is any text.
fn is_of(name: &str, output: &str) -> bool {
    match output.split_once("{}") {
        Some((start, _)) => name.starts_with(start),
        None => {
            name.strip_prefix(output).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
        }
    }
}

/// The folder that inputs are written to.
struct World<'f>(&'f Path);

impl World<'_> {
    fn write(&self, name: &str, bytes: impl AsRef<[u8]>) {
        fs::write(self.0.join(name), bytes).unwrap();
    }

    fn write_reads(&self, size: Size) {
        let Size { bases: length, reads: number } = size;
        let mut random = Random(5);
        let mut genomes: Vec<Vec<u8>> = (0..3).map(|_| random.bases(length)).collect();
        let family = random.bases(length.min(30_000) / 100);
        genomes.iter_mut().for_each(|genome| strew(&mut random, genome, &family));
        for (number, taxid) in [(0, 11), (1, 12)] {
            let text = fasta(&[Record::from(&genomes[number][..])], 80, "\n");
            let text = String::from_utf8(text).unwrap();
            let header = format!(">g{number}|kraken:taxid|{taxid}");
            self.write(&format!("g{number}.fa"), text.replacen(">sequence0 of a test", &header, 1));
            let download = format!("downloads/GCF_00000000{}.1.fa", number + 1);
            fs::copy(self.0.join(format!("g{number}.fa")), self.0.join(&download)).unwrap();
        }
        let mut text = [String::new(), String::new()];
        let (mut pairs, mut truth, mut queries) = (String::new(), String::new(), String::new());
        for read in 0..number {
            let start = random.below(length - 300);
            for (mate, text) in text.iter_mut().enumerate() {
                let mut letters = genomes[read % 3][start + 200 * mate..][..100].to_vec();
                letters[random.below(100)] = b"ACGT"[random.below(4)];
                if mate == 1 {
                    letters = oracle::complement(&letters);
                }
                let letters = String::from_utf8_lossy(&letters);
                let quality: String =
                    (0..100).map(|_| char::from(b'5' + random.below(20) as u8)).collect();
                writeln!(text, "@r{read}/{}\n{letters}\n+\n{quality}", mate + 1).unwrap();
                if mate == 0 {
                    let segment = String::from_utf8_lossy(&genomes[read % 3][start..start + 100]);
                    writeln!(pairs, "{letters}\t{segment}").unwrap();
                    writeln!(queries, "{}", &letters[..21]).unwrap();
                }
            }
            writeln!(truth, "r{read}/1\t{}", [11, 12, 2][read % 3]).unwrap();
        }
        // With only 4 reads, the genome has k-mers that the reads lack.
        self.write("few.fq", text[0].split_inclusive('\n').take(4 * 5).collect::<String>());
        self.write("1.fq", &text[0]);
        self.write("2.fq", &text[1]);
        self.write("pairs.tsv", pairs);
        self.write("truth.tsv", truth);
        self.write("queries.txt", queries);
        self.write("g0.fa.fai", format!("g0|kraken:taxid|11\t{length}\t20\t80\t81\n"));
        self.write_unmapped();
        self.write_haplotypes(&mut random);
    }

    /// Writes a genome and a copy of its sequence under a name without a known taxon.
    fn write_unmapped(&self) {
        let text = fs::read_to_string(self.0.join("g0.fa")).unwrap();
        self.write("n.fa", text.clone() + &text.replace("kraken:taxid|11", "x"));
    }

    /// Writes reads of a diploid, a few of them with an error.
    fn write_haplotypes(&self, random: &mut Random) {
        let one = random.bases(2_000);
        let mut other = one.clone();
        let changed = other.iter_mut().step_by(100);
        changed.for_each(|base| *base = if *base == b'A' { b'C' } else { b'A' });
        let mut reads = String::new();
        for read in 0..30 {
            let mut letters = [&one, &other][read % 2].clone();
            letters[random.below(2_000)] = b'G';
            reads += &format!(">h{read}\n{}\n", String::from_utf8(letters).unwrap());
        }
        self.write("h.fa", reads);
    }

    fn compress(&self, wanted: &BTreeSet<&str>) {
        let [text, mates] = ["1.fq", "2.fq"].map(|name| fs::read(self.0.join(name)).unwrap());
        for name in wanted {
            match *name {
                "1.fq.gz" => self.write(name, gzip(&text)),
                "2.fq.gz" => self.write(name, gzip(&mates)),
                "1.fq.bz2" => self.write(name, bzip2(&text)),
                "1.fq.xz" => self.write(name, xz(&text)),
                "1.fq.zst" => self.write(name, zstd(&text)),
                // Without bgzip, a single gzip member has to do.
                "b.fq.gz" if by_chance("bgzip") => drop(shell(self.0, "bgzip -c 1.fq > b.fq.gz")),
                "b.fq.gz" => self.write(name, gzip(&text)),
                _ => {}
            }
        }
    }

    /// Writes tables of FastK and meryl.
    fn write_tables(&self, wanted: &BTreeSet<&str>) {
        if !wanted.contains("f.ktab") && !wanted.contains("y.meryl") {
            return;
        }
        let text = fs::read_to_string(self.0.join("1.fq")).unwrap();
        let sequences = text.lines().skip(1).step_by(4).take(2000);
        let records: Vec<Record> = sequences.map(|line| Record::from(line.as_bytes())).collect();
        let counts = oracle::count(&records, Rule::new(21, true));
        fastk::write_table(self.0, "f", &counts, 21, 2, 1);
        meryl::write(self.0, "y.meryl", &counts, 21, meryl::LAYOUT);
    }
}

/// Returns all files below a folder by their relative names; an empty folder is listed with a final slash.
pub fn names_below(folder: &Path) -> Vec<String> {
    let mut names = Vec::new();
    for entry in fs::read_dir(folder).into_iter().flatten() {
        let entry = entry.unwrap();
        let name = entry.file_name().to_string_lossy().into_owned();
        if entry.file_type().unwrap().is_dir() {
            let below = names_below(&entry.path());
            names.extend(below.is_empty().then(|| format!("{name}/")));
            names.extend(below.into_iter().map(|below| format!("{name}/{below}")));
        } else {
            names.push(name);
        }
    }
    names.sort();
    names
}
