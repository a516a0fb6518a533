//! What the commands of the table read, made once: reads of two simulated genomes and of nothing, in every
//! format and compression, and all that the program makes of them.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::table::{Job, RESUMED};
use merganser_test_support::MERGANSER;
use merganser_test_support::oracle::{self, Rule};
use merganser_test_support::reads::{Random, Record, fasta};
use merganser_test_support::repeats::strew;
use merganser_test_support::tools::{by_chance, shell};
use merganser_test_support::two_species::{NAMES, NODES};
use merganser_test_support::{fastk, meryl};

/// How large.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Scale {
    /// Hundreds of reads: a run takes some hundredths of a second.
    Small,
    /// Tens of thousands, so that there is something to do while signals come.
    Large,
}

impl Scale {
    fn sizes(self) -> (usize, usize) {
        match self {
            Scale::Small => (5000, 900),
            Scale::Large => (250_000, 50_000),
        }
    }
}

/// A folder with all files.
#[derive(Debug)]
pub(crate) struct World(PathBuf);

const FILES: [(&str, &str); 12] = [
    ("tax/nodes.dmp", NODES),
    ("tax/names.dmp", NAMES),
    ("tax/merged.dmp", "9\t|\t11\t|\n"),
    ("tax/delnodes.dmp", "8\t|\n"),
    ("list", "1.fq\n2.fq\n"),
    ("genomes", "g0.fa\ng1.fa\n"),
    ("ids", "g0\t11\ng1\t12\n"),
    ("sheet.tsv", "one\t1.fq\ntwo\t2.fq\nboth\t1.fq\t2.fq\n"),
    ("session", "1.fq -o out/a.tsv\n@list --no-map --report out/b.kreport\n2.fq -o out/c.tsv\n"),
    ("list.txt", "#assembly_accession\ttaxid\nGCF_000000001.1\t11\nGCF_000000002.1\t12\n"),
    ("sums", ""),
    ("hist", "1\t1000\n2\t10\n3\t20\n4\t300\n5\t500\n6\t300\n7\t100\n8\t20\n"),
];

/// What the program makes of that, in this order.
const MADE: [&str; 39] = [
    "build --taxonomy tax -o refs.mgdb g0.fa g1.fa",
    "build --taxonomy tax --parts 2 -o parts.mgdb g0.fa g1.fa",
    "build --taxonomy tax --bracken 100 -o x.mgdb g0.fa g1.fa",
    "build --format kraken2 --taxonomy tax -o k2 g0.fa g1.fa",
    "db split parts.mgdb -o part{}.mgdb",
    "classify part1.mgdb --near 0 1.fq -o part1.tsv",
    "classify part2.mgdb --near 0 1.fq -o part2.tsv",
    "db prepare downloads --assembly-summary list.txt --md5 sums --taxonomy tax -o library.tsv",
    "count -k 21 --min-count 1 -o t.mgk 1.fq",
    "count -k 21 --min-count 1 -o u.mgk 2.fq",
    "count -k 21 --report-data data.json --format none 1.fq",
    "count -k 21 --shard 1/2 -o a1.mgk 1.fq 2.fq",
    "count -k 21 --shard 2/2 -o a2.mgk 1.fq 2.fq",
    "kmers union --range 1/2 -o r1.mgk a1.mgk a2.mgk",
    "kmers union --range 2/2 -o r2.mgk a1.mgk a2.mgk",
    "kmers convert --format kmc -o k t.mgk",
    "kmers convert --format kff -o k.kff u.mgk",
    "kmers dump -o t.tsv u.mgk",
    "kmers matrix --range 1/2 --format dense t.mgk u.mgk -o m1.mgx",
    "kmers matrix --range 2/2 --format dense t.mgk u.mgk -o m2.mgx",
    "kmers qv --range 1/2 -o q1.mgq t.mgk g0.fa",
    "kmers qv --range 2/2 -o q2.mgq t.mgk g0.fa",
    "deplete index -o host.mgd g0.fa",
    "deplete index -o other.mgd g1.fa",
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
    "kmers info t.mgk",
    "kmers info k",
    "db info refs.mgdb",
    "deplete info host.mgd",
];

impl World {
    /// Makes a folder of this name and all files in it.
    pub(crate) fn make(folder: PathBuf, scale: Scale) -> World {
        for name in ["tax", "downloads", "out"] {
            fs::create_dir_all(folder.join(name)).unwrap();
        }
        let world = World(folder);
        FILES.iter().for_each(|(name, text)| world.write(name, text));
        world.write_reads(scale);
        for args in MADE.into_iter().chain([RESUMED]) {
            let ran = Command::new(MERGANSER)
                .args(args.split_whitespace().chain(["-q"]))
                .current_dir(&world.0)
                .stdin(Stdio::null())
                .output()
                .unwrap();
            let said = String::from_utf8_lossy(&ran.stderr);
            assert!(ran.status.success(), "{args}: {said}");
        }
        world.stop_after_two_samples();
        world.compress();
        world.write_tables();
        world
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    fn write(&self, name: &str, bytes: impl AsRef<[u8]>) {
        fs::write(self.path(name), bytes).unwrap();
    }

    fn write_reads(&self, scale: Scale) {
        let (length, number) = scale.sizes();
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
            fs::copy(self.path(&format!("g{number}.fa")), self.path(&download)).unwrap();
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
        self.write("1.fq", &text[0]);
        self.write("2.fq", &text[1]);
        self.write("pairs.tsv", pairs);
        self.write("truth.tsv", truth);
        self.write("queries.txt", queries);
        self.write("g0.fa.fai", format!("g0|kraken:taxid|11\t{length}\t20\t80\t81\n"));
    }

    /// As if the run of [`RESUMED`] had been killed before its last sample.
    fn stop_after_two_samples(&self) {
        let journal = fs::read_to_string(self.path("j")).unwrap();
        let lines: Vec<&str> = journal.lines().collect();
        assert_eq!(lines.len(), 3, "{journal}");
        self.write("j", format!("{}\n{}\n", lines[0], lines[1]));
        for name in ["out/both.tsv", "out/both.kreport"] {
            fs::remove_file(self.path(name)).unwrap();
        }
    }

    /// The outputs of samples that are done before a job begins, by names in the folder.
    pub(crate) fn done(&self, job: &Job) -> Vec<String> {
        match job.line == RESUMED {
            true => {
                names_below(&self.path("out")).iter().map(|name| format!("out/{name}")).collect()
            }
            false => Vec::new(),
        }
    }

    fn compress(&self) {
        let text = fs::read(self.path("1.fq")).unwrap();
        let level = flate2::Compression::fast();
        let mut gzip = flate2::write::GzEncoder::new(Vec::new(), level);
        gzip.write_all(&text).unwrap();
        self.write("1.fq.gz", gzip.finish().unwrap());
        let mut bzip2 = bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::fast());
        bzip2.write_all(&text).unwrap();
        self.write("1.fq.bz2", bzip2.finish().unwrap());
        let mut xz = liblzma::write::XzEncoder::new(Vec::new(), 0);
        xz.write_all(&text).unwrap();
        self.write("1.fq.xz", xz.finish().unwrap());
        let mut zstd = zstd::Encoder::new(Vec::new(), 1).unwrap();
        zstd.include_checksum(true).unwrap();
        zstd.write_all(&text).unwrap();
        self.write("1.fq.zst", zstd.finish().unwrap());
        // Without the tool it is of one member.
        match by_chance("bgzip") {
            true => drop(shell(&self.0, "bgzip -c 1.fq > b.fq.gz")),
            false => drop(fs::copy(self.path("1.fq.gz"), self.path("b.fq.gz")).unwrap()),
        }
    }

    /// Tables of FastK and meryl.
    fn write_tables(&self) {
        let text = fs::read_to_string(self.path("1.fq")).unwrap();
        let sequences = text.lines().skip(1).step_by(4).take(2000);
        let records: Vec<Record> = sequences.map(|line| Record::from(line.as_bytes())).collect();
        let counts = oracle::count(&records, Rule::new(21, true));
        fastk::write_table(&self.0, "f", &counts, 21, 2, 1);
        meryl::write(&self.0, "y.meryl", &counts, 21, meryl::LAYOUT);
    }

    /// The files that a job reads, by names in the folder.
    pub(crate) fn inputs(&self, job: &Job) -> Vec<String> {
        let mut found = BTreeSet::new();
        let words = job.words().chain(job.also.iter().copied()).chain(job.stdin());
        for word in words.flat_map(|word| word.split(['(', ',', ')'])) {
            let word = word.strip_prefix('@').unwrap_or(word);
            let name = word.split_once(':').map_or(word, |(name, _)| name);
            if !name.is_empty() && !name.starts_with("out/") {
                self.add_inputs(name, &mut found);
            }
        }
        found.into_iter().collect()
    }

    fn add_inputs(&self, name: &str, found: &mut BTreeSet<String>) {
        let path = self.path(name);
        if path.is_file() {
            found.insert(name.to_owned());
        } else if path.is_dir() && !name.contains("..") && name != "." {
            found.extend(names_below(&path).into_iter().map(|below| format!("{name}/{below}")));
        }
        for end in [".kmc_pre", ".kmc_suf"] {
            let name = format!("{name}{end}");
            found.extend(self.path(&name).is_file().then_some(name));
        }
        if name.ends_with(".ktab") {
            found.extend((1..=2).map(|part| format!(".{name}.{part}")));
        }
    }
}

/// All files below a folder, by their names from there, and folders without any, with a slash.
pub(crate) fn names_below(folder: &Path) -> Vec<String> {
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
