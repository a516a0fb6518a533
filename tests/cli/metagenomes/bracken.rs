//! Kraken's report as Bracken takes it: with genomes of strains, too.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use super::reports::{Row, kreport};
use super::world::{BASES, World};
use crate::support::Dir;
use crate::support::reads::Random;

/// For each taxon that reads of genomes are found to be of, each genome's part of its reads
/// (`databaseNmers.kmer_distrib`).
type Distribution = BTreeMap<u32, BTreeMap<u32, f64>>;

/// The rows of a report of these reads.
fn report(dir: &Dir, options: &str) -> Vec<Row> {
    dir.run(&format!("classify {options} --no-map --report r.kreport -q")).ok();
    kreport(&String::from_utf8(dir.read("r.kreport")).unwrap())
}

/// Where reads of 100 bases of each genome, one from each place, are counted.
fn distribution(dir: &Dir, database: &str, genomes: &[(u32, Vec<u8>)]) -> Distribution {
    let mut mapped: BTreeMap<u32, BTreeMap<u32, u64>> = BTreeMap::new();
    let mut totals: BTreeMap<u32, u64> = BTreeMap::new();
    for (genome, letters) in genomes {
        let mut text = String::new();
        for read in letters.windows(100).step_by(7) {
            writeln!(text, ">r\n{}", String::from_utf8_lossy(read)).unwrap();
        }
        dir.write("one.fa", text);
        let rows = report(dir, &format!("{database} one.fa"));
        for row in rows.iter().filter(|row| row.own > 0) {
            *mapped.entry(row.taxid).or_default().entry(*genome).or_default() += row.own;
            *totals.entry(*genome).or_default() += row.own;
        }
    }
    let parts = |genomes: BTreeMap<u32, u64>| {
        let part = |(genome, reads)| (genome, reads as f64 / totals[&genome] as f64);
        genomes.into_iter().map(part).collect()
    };
    mapped.into_iter().map(|(taxid, genomes)| (taxid, parts(genomes))).collect()
}

/// Bracken's estimates of the reads of each species (its `est_abundance.py -l S -t 10`).
fn bracken(rows: &[Row], distribution: &Distribution) -> BTreeMap<u32, u64> {
    // Rows of species and below with their species, rows above.
    let (mut species_of, mut above) = (BTreeMap::new(), Vec::new());
    let mut estimates: BTreeMap<u32, f64> = BTreeMap::new();
    let mut species: Option<&Row> = None;
    for row in rows.iter().filter(|row| row.code != "U") {
        if species.is_some_and(|species| row.depth <= species.depth) {
            species = None;
        }
        if row.code == "S" {
            species = Some(row);
            if row.clade >= 10 {
                estimates.insert(row.taxid, row.clade as f64);
            }
        }
        match species {
            Some(species) if species.clade >= 10 => {
                species_of.insert(row.taxid, (species.taxid, row.own as f64));
            }
            Some(_) => {}
            None => above.push(row),
        }
    }
    for row in above {
        let Some(genomes) = distribution.get(&row.taxid) else { continue };
        let known = genomes.iter().filter_map(|(genome, part)| {
            let &(species, own) = species_of.get(genome)?;
            let unique = distribution.get(genome).and_then(|it| it.get(genome)).unwrap_or(&1.0);
            Some((species, part * own / unique))
        });
        let known: Vec<(u32, f64)> = known.collect();
        let sum: f64 = known.iter().map(|(_, weight)| weight).sum();
        for (species, weight) in known.into_iter().filter(|_| sum > 0.0) {
            *estimates.get_mut(&species).unwrap() += row.own as f64 * weight / sum;
        }
    }
    estimates.into_iter().map(|(taxid, reads)| (taxid, reads as u64)).collect()
}

/// Genomes of strains, two of which are of one species and alike for the most part; the species
/// beside it shares a half with one of them. Bracken gives all reads back to their species, as it does
/// where genomes have the taxids of species.
#[test]
fn reads_of_strains_come_back_to_their_species() {
    let world = World::new();
    let dir = &world.dir;
    let strains = "14\t|\t11\t|\tstrain\t|\t\t|\t0\t|\n15\t|\t12\t|\tno rank\t|\t\t|\t0\t|\n";
    dir.write("tax/nodes.dmp", super::world::nodes() + strains);
    // Strain 14 of E. coli differs from K-12 at one base of 50.
    let mut random = Random(21);
    let mut second = world.genomes[0].clone();
    second.iter_mut().step_by(50).for_each(|base| *base = b"ACGT"[random.below(4)]);
    let genomes = [world.genomes[0].clone(), second, world.genomes[1].clone()];
    let mut reads = String::new();
    let mut truth = BTreeMap::from([(11, 0u64), (12, 0)]);
    for read in 0..9000 {
        let which = [0, 1, 2, 2][read % 4];
        let start = random.below(BASES - 100);
        let letters = String::from_utf8_lossy(&genomes[which][start..start + 100]).into_owned();
        writeln!(reads, ">r{read}\n{letters}").unwrap();
        *truth.entry(if which == 2 { 12 } else { 11 }).or_default() += 1;
    }
    dir.write("sample.fa", reads);
    for taxids in [[13, 14, 15], [11, 11, 12]] {
        std::fs::create_dir(dir.path("of")).unwrap();
        let with_taxids: Vec<(u32, Vec<u8>)> = taxids.into_iter().zip(genomes.clone()).collect();
        for (number, (taxid, letters)) in with_taxids.iter().enumerate() {
            let letters = String::from_utf8_lossy(letters);
            let text = format!(">s{number}|kraken:taxid|{taxid}\n{letters}\n");
            dir.write(&format!("of/{number}.fa"), text);
        }
        dir.run("build -q --taxonomy tax -o s.mgdb --parts 2 of").ok();
        let expected = report(dir, "s.mgdb sample.fa");
        if taxids[0] == 13 {
            let of = |taxid: u32| expected.iter().find(|row| row.taxid == taxid).unwrap();
            assert!(of(13).own > 500 && of(14).own > 500 && of(15).own > 500, "{expected:?}");
            assert_eq!((&*of(13).code, &*of(11).code, &*of(10).code), ("S1", "S", "G"));
            assert_eq!(of(11).clade, of(11).own + of(13).own + of(14).own);
        }
        for options in ["--lowest genus", "--lowest sequence", "--threads 3 --cov-percentile 0.1"] {
            assert_eq!(report(dir, &format!("s.mgdb {options} sample.fa")), expected, "{options}");
        }
        let found = bracken(&expected, &distribution(dir, "s.mgdb", &with_taxids));
        assert_eq!(found.keys().collect::<BTreeSet<_>>(), truth.keys().collect());
        for (taxid, reads) in &truth {
            let found = found[taxid];
            assert!(found.abs_diff(*reads) * 50 < *reads, "{taxid}: {found} {expected:?}");
        }
        std::fs::remove_dir_all(dir.path("of")).unwrap();
    }
}
