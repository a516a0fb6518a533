//! A taxonomy of two species, genomes of both and of an unrelated organism, and reads of all three.

use super::Dir;
use super::reads::{Random, Record, fasta};

/// Species 11 and 12 of genus 10 of domain 2.
pub const NODES: &str = "1\t|\t1\t|\tno rank\t|\n2\t|\t1\t|\tdomain\t|\n10\t|\t2\t|\tgenus\t|\n\
    11\t|\t10\t|\tspecies\t|\n12\t|\t10\t|\tspecies\t|\n";
/// Names of the taxa; those of genus 10 and species 12 are their numbers.
pub const NAMES: &str = "1\t|\troot\t|\t\t|\tscientific name\t|\n2\t|\tBacteria\t|\t\t|\tscientific name\t|\n\
    10\t|\t10\t|\t\t|\tscientific name\t|\n11\t|\tOne\t|\t\t|\tscientific name\t|\n\
    12\t|\t12\t|\t\t|\tscientific name\t|\n";

/// Writes the taxonomy to the folder `tax`.
pub fn write_taxonomy(dir: &Dir) {
    std::fs::create_dir(dir.path("tax")).unwrap();
    dir.write("tax/nodes.dmp", NODES);
    dir.write("tax/names.dmp", NAMES);
}

/// Returns the bases of three genomes; those of species 11 and 12 are written to `g0.fa` and `g1.fa`.
pub fn write_genomes(dir: &Dir, bases: usize, random: &mut Random) -> Vec<Vec<u8>> {
    let genomes: Vec<Vec<u8>> = (0..3).map(|_| random.bases(bases)).collect();
    for (number, taxid) in [(0, 11), (1, 12)] {
        let text = fasta(&[Record::from(&genomes[number][..])], 80, "\n");
        let text = String::from_utf8(text).unwrap();
        let header = format!(">g{number}|kraken:taxid|{taxid}");
        dir.write(&format!("g{number}.fa"), text.replacen(">sequence0", &header, 1));
    }
    genomes
}

/// Writes pairs of error-free reads of the genomes, in rotation, to `1.fq` and `2.fq`, and returns their letters.
pub fn write_pairs(
    dir: &Dir,
    genomes: &[Vec<u8>],
    pairs: usize,
    random: &mut Random,
) -> Vec<[String; 2]> {
    let mut text = [String::new(), String::new()];
    let mut all = Vec::with_capacity(pairs);
    for read in 0..pairs {
        let genome = &genomes[read % genomes.len()];
        let letters = [1, 2].map(|mate| {
            let start = random.below(genome.len() - 100);
            let letters = String::from_utf8_lossy(&genome[start..start + 100]).into_owned();
            text[mate - 1] += &format!("@r{read}/{mate}\n{letters}\n+\n{}\n", "I".repeat(100));
            letters
        });
        all.push(letters);
    }
    dir.write("1.fq", &text[0]);
    dir.write("2.fq", &text[1]);
    all
}

/// Returns a directory with a database of two species and 600 reads of species 11, species 12 and neither, in rotation.
pub fn prepared() -> Dir {
    let dir = Dir::new();
    write_taxonomy(&dir);
    let mut random = Random(5);
    let genomes = write_genomes(&dir, 20_000, &mut random);
    write_pairs(&dir, &genomes, 600, &mut random);
    dir.run("build --taxonomy tax -o refs.mgdb g0.fa g1.fa").ok();
    dir
}
