//! The commands that are attacked, each with the files of the world (`world.rs`) that it reads and with all
//! its outputs in `out/`.

use std::env;
use std::ffi::OsString;

/// What all attacked commands are to compute on, if it is not the processor.
pub(crate) fn device() -> Option<OsString> {
    env::var_os("MERGANSER_ATTACK_DEVICE")
}

/// A command line and what it takes.
#[derive(Debug)]
pub(crate) struct Job {
    /// Letters: `m` takes --memory, `t` --tmp-dir, `j` --threads; `s` has outputs that appear sample by
    /// sample; `p` keeps a journal; `l` says names of inputs in its output; `d` takes --device.
    flags: &'static str,
    /// A word that begins with `<` is standard input.
    pub(crate) line: &'static str,
    /// Files that are read, and not named in the line.
    pub(crate) also: &'static [&'static str],
}

const fn job(flags: &'static str, line: &'static str) -> Job {
    Job { flags, line, also: &[] }
}

const fn reading(flags: &'static str, line: &'static str, also: &'static [&'static str]) -> Job {
    Job { flags, line, also }
}

impl Job {
    pub(crate) fn takes_memory(&self) -> bool {
        self.flags.contains('m')
    }

    pub(crate) fn takes_tmp_dir(&self) -> bool {
        self.flags.contains('t')
    }

    pub(crate) fn takes_threads(&self) -> bool {
        self.flags.contains('j')
    }

    /// Whether outputs appear before the end of the run.
    pub(crate) fn has_samples(&self) -> bool {
        self.flags.contains('s')
    }

    pub(crate) fn keeps_a_journal(&self) -> bool {
        self.flags.contains('p')
    }

    /// The journal of samples that are done: the job reads it and appends to it.
    pub(crate) fn resumes(&self) -> Option<&'static str> {
        self.words().skip_while(|word| *word != "--resume").nth(1)
    }

    /// Whether the names of files show in what is written.
    pub(crate) fn shows_names(&self) -> bool {
        self.flags.contains('l')
    }

    /// What it is to compute on, if it is not the processor.
    pub(crate) fn device(&self) -> Option<OsString> {
        device().filter(|_| self.flags.contains('d'))
    }

    /// The words of the line but standard input.
    pub(crate) fn words(&self) -> impl Iterator<Item = &'static str> {
        self.line.split_whitespace().filter(|word| !word.starts_with('<'))
    }

    pub(crate) fn args(&self) -> Vec<OsString> {
        self.words().map(OsString::from).chain([OsString::from("-q")]).collect()
    }

    pub(crate) fn stdin(&self) -> Option<&'static str> {
        self.line.split_whitespace().find_map(|word| word.strip_prefix('<'))
    }

    /// Names of single files that the line has as outputs.
    pub(crate) fn outputs(&self) -> Vec<&'static str> {
        let is_one = |word: &&str| {
            word.starts_with("out/") && word.contains('.') && !word.contains(['{', '#'])
        };
        self.words().filter(is_one).collect()
    }
}

const PAIR: &[&str] = &["1.fq", "2.fq"];
const GENOMES: &[&str] = &["g0.fa", "g1.fa"];

/// Goes on where a run of the same line has ended after two of three samples.
pub(crate) const RESUMED: &str =
    "classify refs.mgdb --sample-sheet sheet.tsv -o out/{}.tsv --report out/{}.kreport --resume j";

pub(crate) const JOBS: &[Job] = &[
    job("mtjd", "count -k 21 --min-count 1 -o out/o.mgk --histogram out/o.hist 1.fq 2.fq"),
    job("mtjd", "count -k 31 --storage disk -o out/o.mgk 1.fq 2.fq"),
    job("mtjd", "count -k 55 --min-count 1 --format kmc -o out/o 1.fq"),
    job("mtjd", "count -k 28 --min-count 1 --format kff -o out/o.kff 1.fq.gz"),
    job("mtjd", "count -k 21 --format tsv -o out/o.tsv.gz b.fq.gz"),
    job("mtjd", "count -k 21 --format tsv -o - 1.fq.zst"),
    job("mtjd", "count -k 9 --histogram-format fastk --histogram out/o.hist -o out/o.mgk 1.fq.bz2"),
    job("mtjd", "count -k 25 --hpc --format none --histogram out/o.hist 1.fq.xz"),
    job("mtjd", "count -k 31 --forward-only --min-qual 20 -o out/o.mgk r.bam r.sam"),
    reading("mtjd", "count -k 21 -o out/o.mgk --reference g0.fa r.cram", &["g0.fa.fai"]),
    reading("mtjd", "count -k 31 --shard 1/2 -o out/o.mgk @list g0.fa", PAIR),
    job("mtjld", "count -k 21 --multiqc out/m -o out/o.mgk 1.fq"),
    job("mtjld", "count -k 21 --report-html out/o.html --report-data out/o.json -o out/o.mgk 1.fq"),
    job("mtjd", "count -k 21 -o out/o.mgk - <1.fq.gz"),
    job("l", "kmers info t.mgk"),
    job("l", "kmers info --json k"),
    job("mtj", "kmers dump t.mgk -o out/o.tsv"),
    job("mtj", "kmers dump k --format fasta"),
    job("mtj", "kmers dump k.kff"),
    job("mtj", "kmers dump f.ktab"),
    job("mtj", "kmers dump y.meryl -o out/o.tsv"),
    job("mtj", "kmers dump t.tsv -o out/o.tsv.gz"),
    job("mtj", "kmers histogram t.mgk -o out/o.hist"),
    job("mtj", "kmers histogram --model --ploidy 1 -k 21 --plot out/o.svg -o out/o.txt hist"),
    job("mtjd", "kmers query t.mgk --file queries.txt"),
    job("mtjl", "kmers verify t.mgk k k.kff t.tsv"),
    job("mtj", "kmers union -o out/o.mgk --histogram out/o.hist t.mgk k u.mgk"),
    job("mtj", "kmers union -o out/o.mgk f.ktab y.meryl t.tsv"),
    job("mtj", "kmers union --range 1/2 -o out/o.mgk a1.mgk a2.mgk"),
    job("mj", "kmers concat -o out/o.mgk r1.mgk r2.mgk"),
    job("mtj", "kmers intersect --format kmc -o out/o t.mgk k.kff"),
    job("mtj", "kmers subtract -o out/o.mgk t.mgk t.tsv"),
    job("mtj", "kmers counters-subtract -o out/o.mgk t.mgk u.mgk"),
    job("mtj", "kmers eval union(t.mgk,k) -o out/o.mgk"),
    job("mtj", "kmers reduce t.mgk:2.. -o out/o.mgk"),
    job("mtj", "kmers convert --format kff -o out/o.kff k"),
    job("mtj", "kmers set-counts 3 t.mgk -o out/o.mgk"),
    job("mtjl", "kmers compare t.mgk u.mgk k -o out/o.tsv"),
    job("mtjl", "kmers matrix t.mgk u.mgk k.kff -o out/o.tsv.gz"),
    job("mtjl", "kmers matrix --format dense t.mgk u.mgk -o out/o.mgx"),
    job("mtj", "kmers matrix --concat m1.mgx m2.mgx -o out/o.tsv"),
    job("mtj", "kmers hetmers t.mgk -o out/o.tsv"),
    job("mtjd", "kmers filter-reads t.mgk -1 1.fq -2 2.fq -o out/o1.fq --output2 out/o2.fq"),
    job("mtjd", "kmers filter-reads --trim u.mgk:2.. 1.fq.gz -o out/o.fq.gz"),
    job("mtjd", "kmers filter-reads --mask soft k g0.fa"),
    job("mtjd", "kmers profile t.mgk 1.fq -o out/o.tsv"),
    job("mtjld", "kmers qv -o out/o --no-plots t.mgk g0.fa"),
    job("mtjld", "kmers qv -o out/o -k 21 1.fq.gz g0.fa g1.fa"),
    job("mtjl", "kmers qv -o out/q.mgq --range 1/2 t.mgk g0.fa"),
    job("mtjl", "kmers qv -o out/ --no-plots g0.fa --ranges q1.mgq q2.mgq"),
    job("mtjd", "build --taxonomy tax -o out/o.mgdb g0.fa g1.fa"),
    reading(
        "mtjd",
        "build --taxonomy tax --map ids --unmapped out/u.tsv --parts 2 -o out/o.mgdb @genomes",
        GENOMES,
    ),
    reading("mtjd", "build --taxonomy tax -o out/o.mgdb library.tsv", &["downloads"]),
    job("mtjd", "build --taxonomy tax --bracken 60 -o out/o.mgdb g0.fa"),
    job("mtjd", "build --format kraken2 --taxonomy tax -o out/k2 g0.fa g1.fa"),
    job("mtjd", "db add refs.mgdb --taxonomy tax g1.fa -o out/o.mgdb"),
    job("l", "db info refs.mgdb"),
    job("l", "db verify refs.mgdb"),
    job("l", "db verify k2"),
    job("", "db taxa refs.mgdb -o out/o.tsv"),
    job("", "db taxa --sequences refs.mgdb"),
    job("j", "db split parts.mgdb -o out/part{}.mgdb"),
    job(
        "",
        "db merge-results -d part1.mgdb -d part2.mgdb part1.tsv part2.tsv -o out/o.tsv --report out/o.report",
    ),
    job(
        "jpl",
        "db prepare downloads --assembly-summary list.txt --md5 sums --taxonomy tax -o out/o.tsv --missing out/m.tsv",
    ),
    job(
        "mtjd",
        "classify refs.mgdb -1 1.fq -2 2.fq -o out/o.tsv --report out/o.report --mpa out/o.mpa --krona out/o.krona --abundance out/o.abundance --cami out/o.cami --hits-per-ref out/o.hits",
    ),
    job(
        "mtjd",
        "classify refs.mgdb 1.fq.gz --no-map --classified-out out/c.fq --unclassified-out out/u.fq.gz --partial out/p.partial",
    ),
    job("mtjd", "classify parts.mgdb 1.fq -o out/o.tsv.gz"),
    job("mtjd", "classify refs.mgdb --shard 2/2 1.fq -o out/o.tsv --partial out/o.partial"),
    job("mtjd", "classify refs.mgdb r.bam b.fq.gz"),
    job(
        "mtjd",
        "classify k2 1.fq 2.fq -o out/o.kraken --report out/o.kreport --report-minimizer-data",
    ),
    job("mtjd", "classify k2 -1 1.fq -2 2.fq --classified-out out/c#.fq -o out/o.kraken"),
    job("mtjd", "classify --references g0.fa --taxonomy tax 1.fq -o out/o.tsv"),
    reading(
        "smtjd",
        "classify refs.mgdb --sample-sheet sheet.tsv -o out/{}.tsv --report out/{}.kreport",
        PAIR,
    ),
    reading("smtjd", RESUMED, PAIR),
    reading(
        "smtjd",
        "classify refs.mgdb --sample-sheet sheet.tsv -o out/{}.tsv --resume out/journal",
        PAIR,
    ),
    reading("smtjd", "classify refs.mgdb --interactive <session", &["1.fq", "2.fq", "list"]),
    job(
        "",
        "classify join p1.partial p2.partial --lines p1.lines p2.lines -o out/o.tsv --report out/o.report",
    ),
    job("mj", "extract reads --taxid 11 --lines l.tsv 1.fq -o out/o.fq.gz"),
    job(
        "mj",
        "extract reads --taxid 2 --include-children --report a.kreport --lines l.tsv -1 1.fq -2 2.fq -o out/o#.fq",
    ),
    job("mjd", "filter -e 5 pairs.tsv -o out/o.tsv"),
    job("mjd", "filter -e 30 1.fq 2.fq -o out/o.tsv"),
    job("mjd", "filter -e 5 --format gatekeeper pairs.tsv -o out/o"),
    job("mj", "deplete index -o out/o.mgd g0.fa"),
    job("mj", "deplete index -o out/o.idx g0.fa"),
    job("mj", "deplete filter host.mgd -1 1.fq -2 2.fq -o out/c_#.fq"),
    job("mj", "deplete filter host.idx 1.fq.gz -o out/c.fq.zst"),
    job("mj", "deplete union -o out/u.mgd host.mgd other.mgd"),
    job("l", "deplete info host.mgd"),
    job("mjd", "index g0.fa -o out/o.mgi"),
    job("mjl", "index --verify ref.mgi"),
    job("mjd", "map -e 5 ref.mgi 1.fq -o out/o.sam --unmapped out/u.fq"),
    job("mjd", "map -e 5 g0.fa 1.fq -o out/o.bam"),
    job("mtjd", "map -e 5 ref.mgi -1 1.fq -2 2.fq --sort -o out/o.bam"),
    job("mtjd", "map -e 5 g0.fa 1.fq.gz --sort -o out/o.cram"),
    job("mjd", "map -e 5 ref.mgi 1.fq"),
    job("mjd", "map -e 3 --best g0.fa -1 1.fq -2 2.fq -o out/o.bam"),
    job(
        "mtjd",
        "map -e 3 --best-strata --max-hits 5 --rescue 8 ref.mgi -1 1.fq -2 2.fq --sort -o out/o.bam",
    ),
    job("mjld", "map -e 5 ref.mgi 1.fq -R @RG\\tID:{}\\tPL:x -o out/g.sam"),
    reading("smjd", "map -e 4 ref.mgi --sample-sheet sheet.tsv -o out/{}.bam", PAIR),
    job("mtj", "map join m1.bam m2.bam -o out/o.bam"),
    job("l", "report merge a.kreport b.kreport -o out/o.tsv"),
    job("", "report merge --format kreport p1.partial p2.partial"),
    job("l", "report mpa a.kreport b.kreport -o out/o.mpa"),
    job("l", "report krona a.kreport -o out/o.krona"),
    job("", "report filter a.kreport --taxid 2 -o out/o.kreport"),
    job(
        "",
        "report bracken -d x.mgdb.100mers.kmer_distrib a.kreport -o out/o.bracken --out-report out/o.kreport",
    ),
    job("l", "report html a.kreport data.json -o out/o.html"),
    job("l", "report plot --chart taxa a.kreport -o out/o.svg"),
    job("l", "report plot --chart spectrum --dpi 72 data.json -o out/o.png"),
    job("", "eval --taxonomy tax truth.tsv l.tsv"),
];
