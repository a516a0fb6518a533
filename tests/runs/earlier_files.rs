//! Files that earlier versions wrote are read like new ones. A version that can no longer read them must refuse them
//! with a message that says what to do, and this test must then expect that message.

use std::path::Path;

use merganser_test_support::{Dir, root};

/// Returns the path of a file in `tests/data`.
fn data(name: &str) -> String {
    root().join("tests/data").join(name).display().to_string()
}

const GENOMES: [&str; 3] =
    ["Escherichia_phage_lambda", "Hepatitis_A_virus", "SARS-CoV-2_Wuhan-Hu-1"];

fn genome(name: &str) -> String {
    data(&format!("genomes/{name}.fna.gz"))
}

/// Returns the paths of the files of this name that earlier versions wrote, one for each version whose bytes differ.
fn written(name: &str) -> Vec<String> {
    let folders = std::fs::read_dir(root().join("tests/data")).unwrap();
    let names = folders.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let folders = names.filter(|name| name.starts_with("written-by-"));
    let files = folders.map(|folder| data(&format!("{folder}/{name}")));
    let mut found: Vec<String> = files.filter(|file| Path::new(file).exists()).collect();
    found.sort();
    assert!(!found.is_empty(), "{name}");
    found
}

/// Asserts that a command has the same output with each version's file as with a new one.
fn same(dir: &Dir, name: &str, command: impl Fn(&str) -> String) {
    let expected = dir.run(&command(name)).ok();
    assert!(expected.lines().count() > 10, "{expected}");
    for file in written(name) {
        assert!(dir.run(&command(&file)).ok() == expected, "{file}");
    }
}

#[test]
fn tables_of_kmers() {
    let dir = Dir::new();
    for k in [21, 51] {
        let (name, genome) = (format!("k{k}.mgk"), genome("Hepatitis_A_virus"));
        dir.run(&format!("count -q -k {k} --min-count 1 -o {name} {genome}")).ok();
        same(&dir, &name, |table| format!("kmers dump -q {table}"));
    }
}

#[test]
fn databases() {
    let dir = Dir::new();
    let (taxonomy, map) = (data("taxonomy"), data("genomes/seqid2taxid.map"));
    let genomes = GENOMES.map(genome);
    let command = "build -q -o viruses.mgdb --taxonomy";
    dir.run(&format!("{command} {taxonomy} --map {map} {}", genomes.join(" "))).ok();
    dir.write("reads.fa", pieces(&genomes));
    same(&dir, "viruses.mgdb", |database| format!("classify -q {database} reads.fa"));
}

#[test]
fn minimizer_sets() {
    let dir = Dir::new();
    dir.run(&format!("deplete index -q -o HAV.mgd {}", genome("Hepatitis_A_virus"))).ok();
    dir.write("reads.fa", pieces(&GENOMES.map(genome)));
    same(&dir, "HAV.mgd", |set| format!("deplete filter -q {set} reads.fa -o -"));
}

#[test]
fn indexes() {
    let dir = Dir::new();
    let genome = genome("Hepatitis_A_virus");
    dir.run(&format!("index -q -o HAV.mgi {genome}")).ok();
    dir.write("reads.fa", pieces(&[genome]));
    let without_program = |text: String| -> String {
        text.lines().filter(|line| !line.starts_with("@PG")).collect::<Vec<_>>().join("\n")
    };
    let records =
        |index: &str| without_program(dir.run(&format!("map -q -e 3 {index} reads.fa")).ok());
    let expected = records("HAV.mgi");
    assert!(expected.lines().count() > 50);
    for index in written("HAV.mgi") {
        assert!(records(&index) == expected, "{index}");
    }
}

/// Returns FASTA of stretches of the genomes, 150 bases each.
fn pieces(genomes: &[String]) -> Vec<u8> {
    let mut text = Vec::new();
    for path in genomes {
        let mut genome = String::new();
        let file = std::fs::File::open(path).unwrap();
        std::io::Read::read_to_string(&mut flate2::read::MultiGzDecoder::new(file), &mut genome)
            .unwrap();
        let bases: String = genome.lines().filter(|line| !line.starts_with('>')).collect();
        for (number, piece) in bases.as_bytes().chunks_exact(150).enumerate() {
            text.extend(format!(">{number}\n{}\n", String::from_utf8_lossy(piece)).bytes());
        }
    }
    text
}
