//! Command lines, at least one of each command, with the files of the world (`world.rs`) that they read and with all their
//! outputs in `out/`. Tests of what all commands promise choose theirs by what a line takes and does.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::Path;

use crate::world::names_below;

/// A command line, what it takes and what it does.
#[derive(Debug)]
pub struct Row {
    /// Letters, see [`row`].
    letters: &'static str,
    /// A word that begins with `<` is standard input.
    pub line: &'static str,
    /// Files that are read, and not named in the line.
    pub also: &'static [&'static str],
}

/// A row with letters:
///
/// - `m` takes --memory, `t` --tmp-dir, `j` --threads, `d` --device, `J` --json;
/// - `s` has outputs that appear sample by sample; `p` keeps a journal; `l` says names of inputs in its output;
/// - `c` changes files beside `out/`, reads none or prints times: runs are not compared;
/// - `f` is run with a fault in each of its calls of the system: often a short k-mer, as of longer ones a table asks the
///   allocator thousands of times, once for each range of k-mers;
/// - `g` is run with a fault in each call of a device's runtime;
/// - `w` writes a file of more than a few KB (and takes --threads);
/// - `r` prints results while it reads, and writes files beside that; `e` prints them at its end, with files (perhaps of
///   --json alone) beside.
const fn row(letters: &'static str, line: &'static str) -> Row {
    Row { letters, line, also: &[] }
}

const fn reading(letters: &'static str, line: &'static str, also: &'static [&'static str]) -> Row {
    Row { letters, line, also }
}

impl Row {
    /// A line that makes what others read.
    pub(crate) const fn making(line: &'static str) -> Row {
        row("", line)
    }

    fn is(&self, letter: char) -> bool {
        self.letters.contains(letter)
    }

    pub fn takes_memory(&self) -> bool {
        self.is('m')
    }

    pub fn takes_tmp_dir(&self) -> bool {
        self.is('t')
    }

    pub fn takes_threads(&self) -> bool {
        self.is('j')
    }

    pub fn takes_device(&self) -> bool {
        self.is('d')
    }

    pub fn takes_json(&self) -> bool {
        self.is('J')
    }

    /// Whether outputs appear before the end of the run.
    pub fn has_samples(&self) -> bool {
        self.is('s')
    }

    pub fn keeps_a_journal(&self) -> bool {
        self.is('p')
    }

    /// Whether the names of files show in what is written.
    pub fn shows_names(&self) -> bool {
        self.is('l')
    }

    /// Whether files beside `out/` change, nothing is read or times are printed.
    pub fn is_apart(&self) -> bool {
        self.is('c')
    }

    pub fn is_run_with_faults(&self) -> bool {
        self.is('f')
    }

    pub fn is_run_with_faults_of_devices(&self) -> bool {
        self.is('g')
    }

    /// Whether there is a file of more than a few KB.
    pub fn writes_kilobytes(&self) -> bool {
        self.is('w')
    }

    /// Whether results are printed as they come, and files written beside them.
    pub fn streams(&self) -> bool {
        self.is('r')
    }

    /// Whether results are printed, and files written beside them.
    pub fn prints_beside_files(&self) -> bool {
        self.is('r') || self.is('e')
    }

    /// Whether there is no file that is written.
    pub fn prints_alone(&self) -> bool {
        let is_written = |word: &str| word.starts_with("out/") || word.starts_with("own.");
        !self.words().any(is_written) && !self.is('s')
    }

    /// The journal of samples that are done: the row reads it and appends to it.
    pub fn resumes(&self) -> Option<&'static str> {
        self.words().skip_while(|word| *word != "--resume").nth(1)
    }

    /// The words of the line but standard input.
    pub fn words(&self) -> impl Iterator<Item = &'static str> + use<> {
        self.line.split_whitespace().filter(|word| !word.starts_with('<'))
    }

    pub fn args(&self) -> Vec<OsString> {
        self.words().map(OsString::from).chain([OsString::from("-q")]).collect()
    }

    /// The line with another word in the place of one, and without standard input.
    pub fn with(&self, old: &str, new: &str) -> String {
        let words: Vec<&str> =
            self.words().map(|word| if word == old { new } else { word }).collect();
        words.join(" ")
    }

    pub fn stdin(&self) -> Option<&'static str> {
        self.line.split_whitespace().find_map(|word| word.strip_prefix('<'))
    }

    /// Names of single files that the line has as outputs.
    pub fn outputs(&self) -> Vec<&'static str> {
        let is_one = |word: &&str| {
            word.starts_with("out/") && word.contains('.') && !word.contains(['{', '#'])
        };
        self.words().filter(is_one).collect()
    }

    /// The names that the line may read, and other words of it.
    pub(crate) fn may_read(&self) -> impl Iterator<Item = &'static str> + use<> {
        let words = self.words().chain(self.also.iter().copied()).chain(self.stdin());
        words
            .flat_map(|word| word.split(['(', ',', ')']))
            .map(|word| {
                let word = word.strip_prefix('@').unwrap_or(word);
                word.split_once(':').map_or(word, |(name, _)| name)
            })
            .filter(|name| !name.is_empty() && !name.starts_with("out/"))
    }

    /// The names of what the line makes where it runs.
    pub(crate) fn makes(&self) -> impl Iterator<Item = &'static str> + use<> {
        let names = self.words().skip(1);
        let made = ["-o", "--report", "--partial", "--report-data"];
        let pairs = self.words().zip(names).filter(move |(option, _)| made.contains(option));
        pairs.map(|(_, name)| name)
    }

    /// The files of a folder that the row reads, by names there.
    pub fn inputs(&self, folder: &Path) -> Vec<String> {
        let mut found = BTreeSet::new();
        self.may_read().for_each(|name| add_inputs(folder, name, &mut found));
        found.into_iter().collect()
    }
}

fn add_inputs(folder: &Path, name: &str, found: &mut BTreeSet<String>) {
    let path = folder.join(name);
    if path.is_file() {
        found.insert(name.to_owned());
    } else if path.is_dir() && !name.contains("..") && name != "." {
        found.extend(names_below(&path).into_iter().map(|below| format!("{name}/{below}")));
    }
    for end in [".kmc_pre", ".kmc_suf"] {
        let name = format!("{name}{end}");
        found.extend(folder.join(&name).is_file().then_some(name));
    }
    if name.ends_with(".ktab") {
        found.extend((1..=2).map(|part| format!(".{name}.{part}")));
    }
}

const PAIR: &[&str] = &["1.fq", "2.fq"];
const FIRST: &[&str] = &["1.fq"];
const PAIR_AND_INDEX: &[&str] = &["1.fq", "2.fq", "g0.fa.fai"];
const GENOMES: &[&str] = &["g0.fa", "g1.fa"];

/// Goes on where a run of the same line has ended after two of three samples.
pub const RESUMED: &str =
    "classify refs.mgdb --sample-sheet sheet.tsv -o out/{}.tsv --report out/{}.kreport --resume j";

pub const ROWS: &[Row] = &[
    row("mtjdJ fwg", "count -k 21 --min-count 1 -o out/o.mgk --histogram out/o.hist 1.fq 2.fq"),
    row("mtjdJ w", "count -k 31 --storage disk -o out/o.mgk 1.fq 2.fq"),
    row("mtjdJ w", "count -k 55 --min-count 1 --format kmc -o out/o 1.fq"),
    row("mtjdJ", "count -k 28 --min-count 1 --format kff -o out/o.kff 1.fq.gz"),
    row("mtjdJ w", "count -k 21 --format tsv -o out/o.tsv.gz b.fq.gz"),
    row("mtjdJ", "count -k 21 --format tsv -o - 1.fq.zst"),
    row(
        "mtjdJ",
        "count -k 9 --histogram-format fastk --histogram out/o.hist -o out/o.mgk 1.fq.bz2",
    ),
    row("mtjdJ", "count -k 25 --hpc --format none --histogram out/o.hist 1.fq.xz"),
    row("mtjdJ", "count -k 31 --forward-only --min-qual 20 -o out/o.mgk r.bam r.sam"),
    reading("mtjdJ", "count -k 21 -o out/o.mgk --reference g0.fa r.cram", &["g0.fa.fai"]),
    reading("mtjdJ", "count -k 31 --shard 1/2 -o out/o.mgk @list g0.fa", PAIR),
    row("mtjldJ", "count -k 21 --multiqc out/m -o out/o.mgk 1.fq"),
    row(
        "mtjldJ f",
        "count -k 21 --report-html out/o.html --report-data out/o.json -o out/o.mgk 1.fq",
    ),
    row("mtjdJ", "count -k 21 -o out/o.mgk - <1.fq.gz"),
    row("mtjdJ f", "count -k 21 -o out/o.mgk 1.fq.gz 2.fq.gz"),
    row("mtjdJ f", "count -k 5 --min-count 1 --storage disk -o out/o.mgk 1.fq"),
    row("mtjdJ f", "count -k 5 --min-count 1 --format kmc -o out/o 1.fq"),
    row("mtjdJ f", "count -k 5 --min-count 1 --format kff -o out/o.kff r.bam"),
    row("mtjdJ f", "count -k 5 --min-count 1 --format tsv -o out/o.tsv.gz 1.fq"),
    row("mtjdJ f", "count -k 5 --min-count 1 --format tsv -o - 1.fq"),
    row("mtjdJ f", "count -k 5 --shard 2/3 -o out/o.mgk 1.fq.gz 2.fq"),
    reading(
        "mtjdJ f",
        "count -k 55 --min-count 1 -o out/o.mgk --reference g0.fa r.cram",
        &["g0.fa.fai"],
    ),
    reading(
        "mtjdJ",
        "count -k 21 --reference g0.fa -o out/o.mgk --histogram out/o.hist @list 2.fq",
        PAIR_AND_INDEX,
    ),
    row("mtjdJ e", "count -k 21 --min-count 1 --format tsv -o - --histogram out/o.hist 1.fq"),
    row("cmtjJ", "count -k 21 --stats-only 1.fq"),
    row("l f", "kmers info t.mgk"),
    row("l", "kmers info --json k"),
    row("mtj fw", "kmers dump t.mgk -o out/o.tsv"),
    row("mtj f", "kmers dump k -o -"),
    row("mtj", "kmers dump k --format fasta -o out/o.fa"),
    row("mtj", "kmers dump k --format fasta"),
    row("mtj", "kmers dump k.kff"),
    row("mtj", "kmers dump f.ktab"),
    row("mtj", "kmers dump y.meryl -o out/o.tsv"),
    row("mtj", "kmers dump t.tsv -o out/o.tsv.gz"),
    row("mtj f", "kmers histogram t.mgk -o out/o.hist"),
    row("mtj f", "kmers histogram --model --ploidy 1 -k 21 --plot out/o.svg -o out/o.txt hist"),
    row("mtjd f", "kmers query t.mgk --file queries.txt"),
    row("mtjl f", "kmers verify t.mgk k k.kff t.tsv"),
    row("mtjJ fw", "kmers union -o out/o.mgk --histogram out/o.hist t.mgk k u.mgk"),
    row("mtjJ", "kmers union -o out/o.mgk f.ktab y.meryl t.tsv"),
    row("mtjJ f", "kmers union --range 1/2 -o out/o.mgk a1.mgk a2.mgk"),
    row("mjJ f", "kmers concat -o out/o.mgk r1.mgk r2.mgk"),
    row("mtjJ e", "kmers union --format tsv -o - --histogram out/o.hist t.mgk u.mgk"),
    row("mtjJ f", "kmers subtract t.mgk k --format kmc -o out/o"),
    row("mtjJ f", "kmers convert --format mgk t.tsv -o out/o.mgk"),
    row("mtjJ", "kmers intersect --format kmc -o out/o t.mgk k.kff"),
    row("mtjJ", "kmers subtract -o out/o.mgk t.mgk t.tsv"),
    row("mtjJ", "kmers counters-subtract -o out/o.mgk t.mgk u.mgk"),
    row("mtjJ", "kmers eval union(t.mgk,k) -o out/o.mgk"),
    row("mtjJ", "kmers reduce t.mgk:2.. -o out/o.mgk"),
    row("mtjJ fw", "kmers convert --format kff -o out/o.kff k"),
    row("mtjJ", "kmers set-counts 3 t.mgk -o out/o.mgk"),
    row("mtjl", "kmers compare t.mgk k t.tsv -o out/o.tsv"),
    row("mtjl f", "kmers compare t.mgk u.mgk k -o out/o.tsv"),
    row("mtjl f", "kmers matrix t.mgk u.mgk k.kff -o out/o.tsv.gz"),
    row("mtjl", "kmers matrix --format dense t.mgk u.mgk -o out/o.mgx"),
    row("mtj", "kmers matrix --concat m1.mgx m2.mgx -o out/o.tsv"),
    row("mtjJ", "kmers hetmers t.mgk -o out/o.tsv"),
    row("mtjJ f", "kmers hetmers h.mgk -o out/o.tsv"),
    row("mtjd r", "kmers filter-reads t.mgk -1 1.fq -2 2.fq -o - --output2 out/o2.fq"),
    reading(
        "mtjd",
        "kmers filter-reads t.mgk -1 @first -2 2.fq -o out/o1.fq --output2 out/o2.fq",
        FIRST,
    ),
    reading("mtjd", "kmers profile t.mgk @list -o out/o.tsv", PAIR),
    row("mtjd fwg", "kmers filter-reads t.mgk -1 1.fq -2 2.fq -o out/o1.fq --output2 out/o2.fq"),
    row("mtjd", "kmers filter-reads --trim u.mgk:2.. 1.fq.gz -o out/o.fq.gz"),
    row("mtjd", "kmers filter-reads --mask soft k g0.fa"),
    row("mtjd fw", "kmers profile t.mgk 1.fq -o out/o.tsv"),
    row("mtjldJ f", "kmers qv -k 5 --no-plots -o out/o few.fq g0.fa"),
    row("mtjldJ f", "kmers qv -k 5 -o out/o few.fq g0.fa"),
    row("mtjl f", "kmers qv --range 1/2 -o out/o.mgq t5.mgk g0.fa"),
    row("mtjldJ", "kmers qv -o out/o --no-plots t.mgk g0.fa"),
    row("mtjldJ", "kmers qv -o out/o -k 21 1.fq.gz g0.fa g1.fa"),
    row("mtjl", "kmers qv -o out/q.mgq --range 1/2 t.mgk g0.fa"),
    row("mtjlJ f", "kmers qv -o out/ --no-plots g0.fa --ranges q1.mgq q2.mgq"),
    row("mtjdJ fwg", "build --taxonomy tax -o out/o.mgdb g0.fa g1.fa"),
    reading(
        "mtjdJ f",
        "build --taxonomy tax --map ids --unmapped out/u.tsv --parts 2 -o out/o.mgdb @genomes",
        GENOMES,
    ),
    reading("mtjdJ", "build --taxonomy tax -o out/o.mgdb library.tsv", &["downloads"]),
    row("mtjdJ", "build --taxonomy tax --bracken 60 -o out/o.mgdb g0.fa"),
    row("mtjdJ", "build --taxonomy tax n.fa -o out/o.mgdb --unmapped out/u.tsv"),
    row("mtjdJ f", "build --format kraken2 --taxonomy tax -o out/k2 g0.fa g1.fa"),
    row("mtjdJ fw", "db add refs.mgdb --taxonomy tax g1.fa -o out/o.mgdb"),
    row("mtjdJ", "db add --allow-unmapped refs.mgdb n.fa -o out/o.mgdb --unmapped out/u.tsv"),
    reading(
        "mtjdJ",
        "db add refs.mgdb --taxonomy tax --map ids @genomes -o out/o.mgdb --unmapped out/u.tsv",
        GENOMES,
    ),
    row("cmtjdJ f", "db add own.mgdb --taxonomy tax g1.fa"),
    row("cjd f", "db bracken --read-lengths 60 own.mgdb g0.fa g1.fa"),
    row("l", "db info refs.mgdb"),
    row("l f", "db verify refs.mgdb"),
    row("l", "db verify k2"),
    row("f", "db taxa refs.mgdb -o out/o.tsv"),
    row("", "db taxa --sequences refs.mgdb"),
    row("j f", "db split parts.mgdb -o out/part{}.mgdb"),
    row(
        "f",
        "db merge-results -d part1.mgdb -d part2.mgdb part1.tsv part2.tsv -o out/o.tsv --report out/o.report",
    ),
    row(
        "jplJ f",
        "db prepare downloads --assembly-summary list.txt --md5 sums --taxonomy tax -o out/o.tsv --missing out/m.tsv",
    ),
    row(
        "mtjdJ fwg",
        "classify refs.mgdb -1 1.fq -2 2.fq -o out/o.tsv --report out/o.report --mpa out/o.mpa --krona out/o.krona --abundance out/o.abundance --cami out/o.cami --hits-per-ref out/o.hits",
    ),
    row(
        "mtjdJ w",
        "classify refs.mgdb 1.fq.gz --no-map --classified-out out/c.fq --unclassified-out out/u.fq.gz --partial out/p.partial",
    ),
    row(
        "mtjdJ f",
        "classify refs.mgdb -1 1.fq -2 2.fq --no-map --classified-out out/c#.fq.gz --unclassified-out out/u#.fq",
    ),
    row(
        "mtjdJ fr",
        "classify refs.mgdb -1 1.fq -2 2.fq --report out/o.report --classified-out out/c#.fq --partial out/o.partial",
    ),
    row("mtjdJ e", "classify refs.mgdb 1.fq --report out/o.report --hits-per-ref out/o.hits"),
    reading(
        "mtjdJ",
        "classify refs.mgdb -1 1.fq -2 2.fq -U 2.fq --reference g1.fa @list -o out/o.tsv --partial out/o.partial --classified-out out/c.fq --unclassified-out out/u.fq",
        PAIR,
    ),
    row(
        "mtjdJ",
        "classify refs.mgdb 1.fq -o out/o.tsv --report out/o.report --bracken x.mgdb.100mers.kmer_distrib --bracken-output out/o.bracken --bracken-report out/b.report",
    ),
    reading(
        "mtjdJ",
        "classify --references @genomes --taxonomy tax --map ids 1.fq -o out/o.tsv --unmapped out/u.tsv",
        GENOMES,
    ),
    row(
        "mtjdJ",
        "classify --references n.fa --taxonomy tax 1.fq -o out/o.tsv --unmapped out/u.tsv",
    ),
    row(
        "mtjdJ f",
        "classify k2 -1 1.fq -2 2.fq -o out/o.tsv --report out/o.report --classified-out out/c#.fq --partial out/o.partial",
    ),
    row("mtjdJ", "classify parts.mgdb 1.fq -o out/o.tsv.gz"),
    row("mtjdJ f", "classify refs.mgdb --shard 2/2 1.fq -o out/o.tsv --partial out/o.partial"),
    row("mtjdJ", "classify refs.mgdb r.bam b.fq.gz"),
    row(
        "mtjdJ fg",
        "classify k2 1.fq 2.fq -o out/o.kraken --report out/o.kreport --report-minimizer-data",
    ),
    row("mtjdJ", "classify k2 -1 1.fq -2 2.fq --classified-out out/c#.fq -o out/o.kraken"),
    row("mtjdJ fw", "classify --references g0.fa --taxonomy tax 1.fq -o out/o.tsv"),
    reading(
        "smtjdJ f",
        "classify refs.mgdb --sample-sheet sheet.tsv -o out/{}.tsv --report out/{}.kreport",
        PAIR,
    ),
    reading("smtjdJ", RESUMED, PAIR),
    reading(
        "smtjdJ f",
        "classify refs.mgdb --sample-sheet sheet.tsv -o out/{}.tsv --resume out/journal",
        PAIR,
    ),
    reading("smtjd", "classify refs.mgdb --interactive <session", &["1.fq", "2.fq", "list"]),
    row(
        "f",
        "classify join p1.partial p2.partial --lines p1.lines p2.lines -o out/o.tsv --report out/o.report",
    ),
    row("mj w", "extract reads --taxid 11 --lines l.tsv 1.fq -o out/o.fq.gz"),
    row(
        "mj",
        "extract reads --taxid 2 --include-children --report a.kreport --lines l.tsv -1 1.fq -2 2.fq -o out/o#.fq",
    ),
    row("mj fw", "extract reads --taxid 0 --exclude --lines l.tsv 1.fq -o out/o.fq"),
    row("mj f", "extract reads --taxid 0 --exclude --lines l.tsv -1 1.fq -2 2.fq -o out/o#.fq.gz"),
    row(
        "mj r",
        "extract reads --taxid 0 --exclude --lines l.tsv -1 1.fq -2 2.fq --output2 out/o2.fq",
    ),
    row(
        "mj",
        "extract reads --taxid 11 --lines l.tsv --include-children --report a.kreport -1 1.fq -2 2.fq -o out/o1.fq --output2 out/o2.fq",
    ),
    row("mjdJ fg", "filter -e 5 pairs.tsv -o out/o.tsv"),
    row("mjdJ w", "filter -e 30 1.fq 2.fq -o out/o.tsv"),
    row("mjdJ", "filter -e 5 --format gatekeeper pairs.tsv -o out/o"),
    row("mjdJ fe", "filter -e 30 1.fq 2.fq -o -"),
    reading("mjdJ", "filter -e 5 @pairs -o out/o.tsv", &["pairs.tsv"]),
    row("mjdJ fw", "filter -e 30 --format gatekeeper 1.fq 2.fq -o out/o"),
    row("mj f", "deplete index -o out/o.mgd g0.fa"),
    row("mj", "deplete index -o out/o.idx g0.fa"),
    row("mjJ f", "deplete filter host.mgd -1 1.fq -2 2.fq -o out/c_#.fq"),
    row("mjJ", "deplete filter host.idx 1.fq.gz -o out/c.fq.zst"),
    row("mj f", "deplete union -o out/u.mgd host.mgd other.mgd"),
    row("mjJ f", "deplete filter host.mgd -1 1.fq -2 2.fq -o out/c_#.fq.gz"),
    row("mjJ f", "deplete filter host.mgd 1.fq -o -"),
    row("mj", "deplete diff -o out/u.mgd host.mgd other.mgd"),
    row("mj", "deplete intersect -o out/u.mgd host.mgd both.mgd"),
    row("l", "deplete info host.mgd"),
    row("mjd fwg", "index g0.fa -o out/o.mgi"),
    row("mjl", "index --verify ref.mgi"),
    row("mjdJ fwg", "map -e 5 ref.mgi 1.fq -o out/o.sam --unmapped out/u.fq"),
    row("mjdJ fw", "map -e 5 g0.fa 1.fq -o out/o.bam"),
    row("mtjdJ fg", "map -e 5 ref.mgi -1 1.fq -2 2.fq --sort -o out/o.bam"),
    row("mtjdJ f", "map -e 5 g0.fa 1.fq.gz --sort -o out/o.cram"),
    row("mjdJ", "map -e 5 ref.mgi 1.fq"),
    row("mjdJ", "map -e 3 --best g0.fa -1 1.fq -2 2.fq -o out/o.bam"),
    row(
        "mtjdJ f",
        "map -e 3 --best-strata --max-hits 5 --rescue 8 ref.mgi -1 1.fq -2 2.fq --sort -o out/o.bam",
    ),
    row("mjldJ", "map -e 5 ref.mgi 1.fq -R @RG\\tID:{}\\tPL:x -o out/g.sam"),
    reading("smjdJ f", "map -e 4 ref.mgi --sample-sheet sheet.tsv -o out/{}.bam", PAIR),
    row("mjdJ fr", "map -e 5 ref.mgi 1.fq --unmapped out/u.fq"),
    reading("mjdJ", "map -e 3 ref.mgi -1 @first -2 2.fq -o out/o.sam --unmapped out/u.fq", FIRST),
    row("mtjdJ f", "map -e 5 ref.mgi 1.fq --sort --shard 1/2 -o out/o.bam"),
    row("mtj f", "map join m1.bam m2.bam -o out/o.bam"),
    row("l f", "report merge a.kreport b.kreport -o out/o.tsv"),
    row("", "report merge --format kreport p1.partial p2.partial"),
    row("l f", "report mpa a.kreport b.kreport -o out/o.mpa"),
    row("l f", "report krona a.kreport -o out/o.krona"),
    row("f", "report filter a.kreport --taxid 2 -o out/o.kreport"),
    row(
        "",
        "report bracken -d x.mgdb.100mers.kmer_distrib a.kreport -o out/o.bracken --out-report out/o.kreport",
    ),
    row("l f", "report html a.kreport data.json -o out/o.html"),
    row("f", "report plot --chart taxa a.kreport b.kreport -o out/o.pdf"),
    row("l", "report plot --chart taxa a.kreport -o out/o.svg"),
    row("l f", "report plot --chart spectrum --dpi 72 data.json -o out/o.png"),
    row("c f", "devices"),
    row("c", "completions bash"),
    row("c", "man"),
    row("c f", "man own.man"),
    row("f", "eval --taxonomy tax truth.tsv l.tsv"),
];
