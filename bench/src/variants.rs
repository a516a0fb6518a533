//! `merganser-bench variants`: calls the variants of a simulated diploid from the records of merganser, minimap2 and
//! BWA-MEM.

mod diploid;

use std::collections::BTreeSet;
use std::fs;
use std::io::Write;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};

use crate::generate::reads::{self, Model};
use crate::generate::sequences::Sequences;
use crate::rng::{Purpose, Rng};
use diploid::Diploid;

/// `merganser-bench variants …`
#[derive(clap::Args)]
pub(crate) struct Args {
    /// The reference (FASTA) [default: one of random bases]
    #[arg(long, value_name = "FILE")]
    reference: Option<PathBuf>,
    /// Bases of a random reference
    #[arg(long, value_name = "N", default_value_t = 1_000_000, conflicts_with = "reference")]
    bases: usize,
    /// SNPs per million bases
    #[arg(long, value_name = "N", default_value_t = 880)]
    snps: usize,
    /// Insertions and deletions per million bases
    #[arg(long, value_name = "N", default_value_t = 248)]
    indels: usize,
    /// Maximum length of an insertion or deletion, in bases
    #[arg(long, value_name = "N", default_value_t = 10)]
    longest: usize,
    /// Total coverage of both haplotypes
    #[arg(long, value_name = "C", default_value_t = 40.0)]
    coverage: f64,
    /// Sequencing errors (substitutions) per base
    #[arg(long, value_name = "RATE", default_value_t = 0.002)]
    error_rate: f64,
    /// Options of `merganser map`; each use is a case
    #[arg(long, value_name = "OPTIONS", default_values = ["-e 10% --best --max-insert 600"])]
    #[arg(allow_hyphen_values = true)]
    options: Vec<String>,
    /// Options of `bcftools mpileup`; each use is a row
    #[arg(long, value_name = "OPTIONS", default_values = ["", "-m 4 -F 0.2"])]
    #[arg(allow_hyphen_values = true)]
    mpileup: Vec<String>,
    /// Seed: the same seed and options give the same variants and reads
    #[arg(long, value_name = "S", default_value_t = 1)]
    seed: u64,
    /// Threads of each tool
    #[arg(long, value_name = "T", default_value = "2")]
    threads: NonZeroUsize,
    /// The merganser binary
    #[arg(long, value_name = "FILE", default_value = "target/release/merganser")]
    merganser: PathBuf,
    /// Folder in which all files are kept [default: a temporary one]
    #[arg(long, value_name = "DIR")]
    keep: Option<PathBuf>,
}

/// A variant: contig, position, allele of the reference, other allele.
type Variant = (String, u64, String, String);

/// Simulates reads, maps them, calls variants and prints a table.
pub(crate) fn run(args: &Args) -> Result<()> {
    let temporary = tempfile::Builder::new().prefix("merganser-variants-").tempdir()?;
    let folder = args.keep.as_deref().unwrap_or(temporary.path());
    fs::create_dir_all(folder)?;
    let merganser = args.merganser.canonicalize().context("no merganser")?;
    let merganser = merganser.display();
    simulate(args, folder)?;
    let truth = variants(folder, "bcftools norm -f ref.fa -m -any truth.vcf")?;
    let threads = args.threads;
    sh(folder, &format!("{merganser} index -q ref.fa -o ref.mgi && samtools faidx ref.fa"))?;
    let mut cases = Vec::new();
    for options in &args.options {
        let reads = "reads_1.fq -2 reads_2.fq";
        let map = format!("{merganser} map -q ref.mgi {reads} {options} --threads {threads}");
        cases.push((format!("`merganser map {options}`"), map));
    }
    let minimap = format!("minimap2 -ax sr -t {threads} ref.fa reads_1.fq reads_2.fq");
    cases.push(("`minimap2 -ax sr`".to_owned(), minimap));
    sh(folder, "bwa index ref.fa")?;
    cases.push((
        "`bwa mem`".to_owned(),
        format!("bwa mem -t {threads} ref.fa reads_1.fq reads_2.fq"),
    ));
    let mut out = std::io::stdout().lock();
    writeln!(out, "{}\n", versions(folder, &merganser.to_string())?)?;
    let [snps, indels] = split(&truth).map(|kind| kind.len());
    writeln!(
        out,
        "| {snps} SNPs, {indels} indels | `bcftools mpileup` | | found | missed | false | recall | precision |"
    )?;
    writeln!(out, "|---|---|---|---:|---:|---:|---:|---:|")?;
    for (name, map) in cases {
        sh(
            folder,
            &format!("{map} 2>log | samtools sort -o x.bam - 2>>log && samtools index x.bam"),
        )?;
        for options in &args.mpileup {
            let call = format!(
                "bcftools mpileup -f ref.fa {options} x.bam 2>>log | bcftools call -mv 2>>log | \
                 bcftools norm -f ref.fa -m -any 2>>log"
            );
            let called = split(&variants(folder, &call)?);
            for (kind, (truth, called)) in
                ["SNPs", "indels"].into_iter().zip(split(&truth).iter().zip(&called))
            {
                writeln!(out, "| {name} | {options} | {kind} {}", row(truth, called))?;
            }
        }
    }
    Ok(())
}

/// Writes the reference, the true variants and the reads.
fn simulate(args: &Args, folder: &Path) -> Result<()> {
    let reference = match &args.reference {
        Some(path) => Sequences::read(path)?,
        None => {
            let mut bases = Vec::new();
            Rng::new(args.seed, Purpose::GenomeBlock, 0).bases(args.bases, &mut bases);
            Sequences::single("chr1", bases)
        }
    };
    let million = reference.bases().len() as f64 / 1e6;
    let number = |rate: usize| (rate as f64 * million).round() as usize;
    let wanted = [number(args.snps), number(args.indels)];
    let diploid = Diploid::new(&reference, wanted, args.longest, args.seed)?;
    fs::write(folder.join("ref.fa"), diploid::fasta(&reference))?;
    fs::write(folder.join("truth.vcf"), diploid.vcf(&reference))?;
    let haplotypes = folder.join("haplotypes.fa");
    fs::write(&haplotypes, diploid.haplotypes(&reference))?;
    let model = Model::pairs(args.coverage / 2.0, args.error_rate);
    let files = [folder.join("reads_1.fq"), folder.join("reads_2.fq")];
    let haplotypes = Sequences::read(&haplotypes)?;
    reads::write(&model, haplotypes, args.seed, args.threads.get(), &files)
}

/// Runs a command in the folder and returns its stdout.
fn sh(folder: &Path, command: &str) -> Result<String> {
    let command = format!("set -o pipefail; {command}");
    let ran = Command::new("bash").args(["-c", &command]).current_dir(folder).output()?;
    let stderr = String::from_utf8_lossy(&ran.stderr);
    let log = fs::read_to_string(folder.join("log")).unwrap_or_default();
    ensure!(ran.status.success(), "{command}: {stderr}{log}");
    Ok(String::from_utf8_lossy(&ran.stdout).into_owned())
}

/// Returns the variants of the VCF that a command prints.
fn variants(folder: &Path, command: &str) -> Result<BTreeSet<Variant>> {
    let text = sh(folder, command)?;
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    lines
        .map(|line| {
            let fields: Vec<&str> = line.split('\t').collect();
            let [contig, position, _, reference, other, ..] = fields[..] else {
                anyhow::bail!("not VCF: {line}");
            };
            let position = position.parse().with_context(|| line.to_owned())?;
            Ok((contig.to_owned(), position, reference.to_uppercase(), other.to_uppercase()))
        })
        .collect()
}

/// Returns the columns of a table row: numbers of found, missed and false variants.
fn row(truth: &BTreeSet<Variant>, called: &BTreeSet<Variant>) -> String {
    let found = truth.intersection(called).count();
    let (missed, wrong) = (truth.len() - found, called.len() - found);
    let percent = |of: usize| 100.0 * found as f64 / of.max(1) as f64;
    let (recall, precision) = (percent(truth.len()), percent(called.len()));
    format!("| {found} | {missed} | {wrong} | {recall:.1} % | {precision:.1} % |")
}

/// Splits variants into SNPs and indels.
fn split(variants: &BTreeSet<Variant>) -> [BTreeSet<Variant>; 2] {
    let of = |snps: bool| {
        let is_snp = |(_, _, reference, other): &&Variant| reference.len() == other.len();
        variants.iter().filter(|variant| is_snp(variant) == snps).cloned().collect()
    };
    [of(true), of(false)]
}

fn versions(folder: &Path, merganser: &str) -> Result<String> {
    let first = |command: &str| -> Result<String> {
        Ok(sh(folder, command)?.lines().next().unwrap_or_default().to_owned())
    };
    Ok(format!(
        "{}, minimap2 {}, bwa {}, {}, {}",
        first(&format!("{merganser} --version"))?,
        first("minimap2 --version")?,
        first("(bwa 2>&1 || true) | sed -n 's/^Version: //p'")?,
        first("samtools --version")?,
        first("bcftools --version")?
    ))
}
