//! `merganser-bench gen strains`: simulates recombining strains of several species with a taxonomy, like
//! *Escherichia coli* and *Shigella*.
//!
//! Genomes consist of segments. All strains have one genealogy (Kingman's coalescent), which each segment has, too,
//! unless it was recombined and has its own; a species by name is therefore not always one by descent. The
//! substitution rates of segments have a gamma distribution of shape 3/2. A third of the segments are accessory:
//! each strain has them with a probability of two fifths.

use crate::rng::{Purpose, Rng};
use anyhow::{Context, Result, ensure};
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

/// `merganser-bench gen strains …`
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Strains of each species, in order: up to 26 species with up to 100 strains
    #[arg(long, value_name = "N,…", value_delimiter = ',', default_value = "9,1")]
    strains: Vec<u32>,
    /// Bases of all segments together, in thousands
    #[arg(long, value_name = "N", default_value_t = 1500)]
    kilobases: u64,
    /// Mean share of the bases in which two strains differ
    #[arg(long, value_name = "F", default_value_t = 0.02)]
    difference: f64,
    /// Share of the segments with a genealogy of their own
    #[arg(long, value_name = "F", default_value_t = 0.6)]
    recombination: f64,
    /// Additional difference between species, as a multiple of the difference
    #[arg(long, value_name = "F", default_value_t = 0.0)]
    split: f64,
    /// Seed: the same seed and options give the same bytes
    #[arg(long, value_name = "S", default_value_t = 1)]
    seed: u64,
    /// Folder for `genomes/` (a00.fna is the first species' first strain), `tax/` and `seqid2taxid.map`
    #[arg(short, long, value_name = "DIR")]
    output: PathBuf,
}

/// Bases per segment.
const SEGMENT: usize = 3000;

/// A branch: the strains below it and its length; the mean distance of two strains is 2.
type Branch = (Vec<usize>, f64);

/// Writes the genomes and the taxonomy.
///
/// # Errors
/// If options are out of range, or a file cannot be written.
pub(crate) fn run(args: &Args) -> Result<()> {
    let most = args.strains.iter().copied().max().unwrap_or(0);
    ensure!(args.strains.len() <= 26 && most <= 100, "--strains: 26 species of 100 at most");
    let number: usize = args.strains.iter().map(|&strains| strains as usize).sum();
    ensure!(number >= 2, "--strains: at least 2 in total");
    let mut rng = Rng::new(args.seed, Purpose::Strains, 0);
    let genomes = args.genomes(number, &mut rng);
    let folder = args.output.join("genomes");
    fs::create_dir_all(&folder).with_context(|| format!("cannot make {}", folder.display()))?;
    let mut map = String::new();
    for ((species, strain), bases) in names(&args.strains).zip(&genomes) {
        let name = format!("{}{strain:02}", char::from(b'a' + species as u8));
        let _ = writeln!(map, "{name}\t{}", 101 + species);
        let text = format!(">{name}\n{}\n", String::from_utf8_lossy(bases));
        write(&folder.join(format!("{name}.fna")), &text)?;
    }
    write(&args.output.join("seqid2taxid.map"), &map)?;
    write_taxonomy(&args.output.join("tax"), args.strains.len())
}

/// Returns the species of each strain and its number in the species.
fn names(strains: &[u32]) -> impl Iterator<Item = (usize, u32)> + '_ {
    let of = |(species, &strains): (usize, &u32)| (0..strains).map(move |one| (species, one));
    strains.iter().enumerate().flat_map(of)
}

impl Args {
    fn genomes(&self, number: usize, rng: &mut Rng) -> Vec<Vec<u8>> {
        let all = coalescent(number, rng);
        let mut species: Vec<Branch> = vec![(Vec::new(), self.split); self.strains.len()];
        for (strain, (of, _)) in names(&self.strains).enumerate() {
            species[of].0.push(strain);
        }
        let mut genomes = vec![Vec::new(); number];
        for _ in 0..self.kilobases as usize * 1000 / SEGMENT {
            let own = (rng.uniform() <= self.recombination).then(|| coalescent(number, rng));
            let tree = own.as_ref().unwrap_or(&all);
            // Gamma of shape 3/2 and mean 1: half a squared normal and an exponential variable.
            let rate = (rng.normal().powi(2) / 2.0 + rng.exponential(1.0)) / 1.5;
            let rate = rate * self.difference / 2.0;
            let mut ancestor = Vec::new();
            rng.bases(SEGMENT, &mut ancestor);
            let mut segments = vec![ancestor; number];
            for (below, length) in tree.iter().chain(&species).filter(|branch| !branch.0.is_empty())
            {
                substitute(&mut segments, below, length * rate, rng);
            }
            let accessory = rng.uniform() <= 1.0 / 3.0;
            for (genome, segment) in genomes.iter_mut().zip(&segments) {
                if !accessory || rng.uniform() <= 0.4 {
                    genome.extend_from_slice(segment);
                }
            }
        }
        genomes
    }
}

/// Draws Kingman's coalescent of `number` strains.
fn coalescent(number: usize, rng: &mut Rng) -> Vec<Branch> {
    let mut active: Vec<(Vec<usize>, f64)> = (0..number).map(|one| (vec![one], 0.0)).collect();
    let (mut time, mut branches) = (0.0, Vec::new());
    while active.len() > 1 {
        let pairs = active.len() * (active.len() - 1) / 2;
        time += rng.exponential(1.0 / pairs as f64);
        let mut joined = Vec::new();
        for _ in 0..2 {
            let (strains, since) = active.swap_remove(rng.below(active.len() as u64) as usize);
            joined.extend_from_slice(&strains);
            branches.push((strains, time - since));
        }
        active.push((joined, time));
    }
    branches
}

/// Substitutes bases with probability `rate`, equally in all strains below a branch.
fn substitute(segments: &mut [Vec<u8>], below: &[usize], rate: f64, rng: &mut Rng) {
    let ln = (-rate.min(0.75)).ln_1p();
    let mut at = rng.failures(ln);
    while at < SEGMENT as u64 {
        let other = rng.other_base(segments[below[0]][at as usize]);
        below.iter().for_each(|&strain| segments[strain][at as usize] = other);
        at = at.saturating_add(1).saturating_add(rng.failures(ln));
    }
}

/// Writes a taxonomy with one family and a genus for each species.
fn write_taxonomy(folder: &Path, species: usize) -> Result<()> {
    fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))?;
    let (mut nodes, mut names) = (String::new(), String::new());
    let mut node = |taxid: usize, parent: usize, rank: &str, name: &str| {
        let _ = writeln!(nodes, "{taxid}\t|\t{parent}\t|\t{rank}\t|");
        let _ = writeln!(names, "{taxid}\t|\t{name}\t|\t\t|\tscientific name\t|");
    };
    node(1, 1, "no rank", "root");
    node(2, 1, "domain", "Bacteria");
    node(3, 2, "family", "Family");
    for at in 0..species {
        node(11 + at, 3, "genus", &format!("Genus{at}"));
        node(101 + at, 11 + at, "species", &format!("Genus{at} species"));
    }
    write(&folder.join("nodes.dmp"), &nodes)?;
    write(&folder.join("names.dmp"), &names)
}

fn write(path: &Path, text: &str) -> Result<()> {
    fs::write(path, text).with_context(|| format!("cannot write {}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strains_differ_as_much_as_asked_for() {
        let folder = tempfile::tempdir().unwrap();
        let args = |recombination, split| Args {
            strains: vec![3, 2],
            kilobases: 600,
            difference: 0.02,
            recombination,
            split,
            seed: 3,
            output: folder.path().into(),
        };
        run(&args(1.0, 0.0)).unwrap();
        let map = fs::read_to_string(folder.path().join("seqid2taxid.map")).unwrap();
        assert_eq!(map, "a00\t101\na01\t101\na02\t101\nb00\t102\nb01\t102\n");
        let text = fs::read_to_string(folder.path().join("genomes/b01.fna")).unwrap();
        // Two thirds of the segments, and two fifths of the other third.
        assert!(text.starts_with(">b01\n") && (420_000..540_000).contains(&text.len()));
        // Segments are compared, because accessory ones shift the rest of a genome.
        let difference = |split| {
            let mut rng = Rng::new(3, Purpose::Strains, 0);
            let args = args(1.0, split);
            let (mut sum, mut count) = ([0.0; 2], [0.0; 2]);
            for _ in 0..400 {
                let one = Args { kilobases: 3, ..args_like(&args) };
                let genomes = one.genomes(5, &mut rng);
                for (a, b, same) in [(0, 1, 0), (3, 4, 0), (0, 3, 1)] {
                    if genomes[a].len() == SEGMENT && genomes[b].len() == SEGMENT {
                        let pairs = genomes[a].iter().zip(&genomes[b]);
                        sum[same] += pairs.filter(|(a, b)| a != b).count() as f64 / SEGMENT as f64;
                        count[same] += 1.0;
                    }
                }
            }
            [sum[0] / count[0], sum[1] / count[1]]
        };
        let [within, between] = difference(0.0);
        assert!((0.016..0.024).contains(&within) && (0.016..0.024).contains(&between));
        let [within, between] = difference(1.0);
        assert!((0.016..0.024).contains(&within) && (0.032..0.045).contains(&between));
    }

    fn args_like(args: &Args) -> Args {
        Args { strains: args.strains.clone(), output: args.output.clone(), ..*args }
    }
}
