//! GTDB taxonomies give the same databases as the same taxa in NCBI's form.

use std::collections::BTreeSet;
use std::fmt::Write;

use super::reports::kreport;
use super::world::World;
use merganser_test_support::Dir;
use merganser_test_support::reads::Random;

const TABLE: &str = "\
    RS_GCF_000000001.2\td__Bacteria;p__P;c__C;o__O;f__F;g__Escherichia;s__Escherichia coli\n\
    GB_GCA_000000002.1\td__Bacteria;p__P;c__C;o__O;f__F;g__Escherichia;s__Escherichia sp000123\n\
    RS_GCF_000000009.1\td__Bacteria;p__P_A;c__C;o__O;f__;g__;s__\n";
const MORE: &str = "c.1\td__Archaea;p__P;c__C;o__O;f__F;g__Escherichia;s__Escherichia coli\n";
/// Names of files, ids of sequences, and their lineages.
const GENOMES: [(&str, &str, &str); 4] = [
    ("x_GCF_000000001.2_genomic.fna", "NZ_1.1", "Escherichia coli"),
    ("GCA_000000002.7_odd.fa", "NZ_2.1", "Escherichia sp000123"),
    ("third.fa", "c.1", "Escherichia coli"),
    ("fourth.fa", "gi|9|gb|GCF_000000009|", "O"),
];

/// Returns all lineages level by level, those below one taxon in order; their numbers begin with 2.
fn lineages() -> Vec<String> {
    let mut all: BTreeSet<String> = BTreeSet::new();
    for line in TABLE.lines().chain(MORE.lines()) {
        let lineage = line.split('\t').nth(1).unwrap();
        let named = lineage.split(';').filter(|part| part.len() > 3);
        let mut parts: Vec<&str> = named.collect();
        while !parts.is_empty() {
            all.insert(parts.join(";"));
            parts.pop();
        }
    }
    let (mut queue, mut at) = (vec![String::new()], 0);
    while at < queue.len() {
        let above = queue[at].clone();
        let start = if above.is_empty() { String::new() } else { format!("{above};") };
        let is_below = |one: &&String| {
            one.strip_prefix(&start).is_some_and(|rest| !rest.is_empty() && !rest.contains(';'))
        };
        queue.extend(all.iter().filter(is_below).cloned());
        at += 1;
    }
    queue.split_off(1)
}

/// Writes the same taxonomy in NCBI's form to `tax`, and a map of the sequences.
fn write_dump(dir: &Dir) {
    let lineages = lineages();
    let number = |lineage: &str| match lineages.iter().position(|one| one == lineage) {
        Some(at) => at + 2,
        None => 1,
    };
    let mut nodes = "1\t|\t1\t|\tno rank\t|\n".to_owned();
    let mut names = "1\t|\troot\t|\t\t|\tscientific name\t|\n".to_owned();
    for lineage in &lineages {
        let (above, last) = lineage.rsplit_once(';').unwrap_or(("", lineage));
        let (letter, name) = last.split_once("__").unwrap();
        let ranks = ["domain", "phylum", "class", "order", "family", "genus", "species"];
        let rank = ranks.iter().find(|rank| rank.starts_with(letter)).unwrap();
        let (taxid, above) = (number(lineage), number(above));
        writeln!(nodes, "{taxid}\t|\t{above}\t|\t{rank}\t|").unwrap();
        writeln!(names, "{taxid}\t|\t{name}\t|\t\t|\tscientific name\t|").unwrap();
    }
    std::fs::create_dir(dir.path("tax")).unwrap();
    dir.write("tax/nodes.dmp", nodes);
    dir.write("tax/names.dmp", names);
    let e = "d__Bacteria;p__P;c__C;o__O;f__F;g__Escherichia";
    let of = [
        number(&format!("{e};s__Escherichia coli")),
        number(&format!("{e};s__Escherichia sp000123")),
        number(&format!("{};s__Escherichia coli", e.replace("Bacteria", "Archaea"))),
        number("d__Bacteria;p__P_A;c__C;o__O"),
    ];
    let map = GENOMES.iter().zip(of).map(|((_, id, _), taxid)| format!("{id}\t{taxid}\n"));
    dir.write("ids", map.collect::<String>());
}

/// Returns a directory with four genomes and tables that contain their ids or the names of their files. NCBI's
/// taxids in the headers must be ignored.
fn written() -> Dir {
    let dir = Dir::new();
    std::fs::create_dir(dir.path("genomes")).unwrap();
    let mut random = Random(5);
    for (file, id, _) in GENOMES {
        let letters =
            [random.bases(3000), random.bases(3000)].map(|it| String::from_utf8(it).unwrap());
        // If the file's name is in the table, a second contig's id need not be.
        let second = match file.contains("GC") {
            true => format!(">{id}b kraken:taxid|3\n{}\n", letters[1]),
            false => String::new(),
        };
        let text = format!(">{id} kraken:taxid|2\n{}\n{second}", letters[0]);
        dir.write(&format!("genomes/{file}"), text);
    }
    dir.write("bac.tsv", TABLE);
    dir.write("ar.tsv", MORE);
    merganser_test_support::tools::shell(dir.root(), "gzip ar.tsv");
    write_dump(&dir);
    dir
}

#[test]
fn databases_are_those_of_the_same_taxa() {
    let dir = written();
    let gtdb = "--taxonomy bac.tsv --taxonomy ar.tsv.gz --strict";
    for table in ["NZ_1.1b\tNZ_1.1", "NZ_2.1b\tNZ_2.1"] {
        // In the map, second contigs get the taxids of the first ones.
        let (second, first) = table.split_once('\t').unwrap();
        let ids = String::from_utf8(dir.read("ids")).unwrap();
        let taxid = ids.lines().find_map(|line| line.strip_prefix(&format!("{first}\t"))).unwrap();
        dir.write("ids", format!("{ids}{second}\t{taxid}\n"));
    }
    let ncbi = "--taxonomy tax --map ids --strict";
    dir.run(&format!("build -q {gtdb} -o g.mgdb --bracken 100 genomes")).ok();
    dir.run(&format!("build -q {ncbi} -o n.mgdb --bracken 100 genomes")).ok();
    assert!(dir.read("g.mgdb") == dir.read("n.mgdb"));
    let kraken = "build --format kraken2 --bracken 100 -q";
    dir.run(&format!("{kraken} {gtdb} -o g genomes")).ok();
    dir.run(&format!("{kraken} {ncbi} -o n genomes")).ok();
    for file in ["hash.k2d", "taxo.k2d", "opts.k2d", "database100mers.kmer_distrib"] {
        assert!(dir.read(&format!("g/{file}")) == dir.read(&format!("n/{file}")), "{file}");
    }
    // On the fly, and with `db bracken`.
    let reads = "genomes/x_GCF_000000001.2_genomic.fna genomes/third.fa genomes/fourth.fa";
    let lines = dir.run(&format!("classify -q g.mgdb {reads} --report r")).ok();
    let on_the_fly = format!("classify -q --references genomes {gtdb} {reads}");
    assert_eq!(dir.run(&on_the_fly).ok(), lines);
    let report = kreport(&String::from_utf8(dir.read("r")).unwrap());
    let codes = |taxid: u32| report.iter().find(|row| row.taxid == taxid).map(|row| &row.code[..]);
    assert_eq!([codes(2), codes(3)], [Some("D"), Some("D")], "{report:?}");
    let species: Vec<&str> =
        report.iter().filter(|row| row.code == "S").map(|row| &row.name[..]).collect();
    assert_eq!(species, ["Escherichia coli", "Escherichia coli"]);
    let expected = dir.read("g/database100mers.kmer_distrib");
    dir.run(&format!("db bracken g --read-lengths 100 -q {gtdb} genomes")).ok();
    assert!(dir.read("g/database100mers.kmer_distrib") == expected);
}

#[test]
fn genomes_are_added_by_the_same_tables() {
    let dir = written();
    let both = "--taxonomy bac.tsv --taxonomy ar.tsv.gz";
    dir.run(&format!("build -q {both} -o all.mgdb genomes/fourth.fa genomes/third.fa")).ok();
    dir.run(&format!("build -q {both} -o some.mgdb genomes/fourth.fa")).ok();
    dir.run(&format!("db add some.mgdb -q {both} genomes/third.fa")).ok();
    assert!(dir.read("some.mgdb") == dir.read("all.mgdb"));
    // Numbers of taxa in another table differ.
    let said = dir.run("db add some.mgdb --taxonomy ar.tsv.gz genomes/third.fa").fails(2);
    assert!(said.starts_with("error: taxid 4 is P in the database and C in --taxonomy"), "{said}");
    let said = dir.run("db add some.mgdb --taxonomy bac.tsv genomes/third.fa").fails(2);
    assert!(said.contains("give the tables that it was built with"), "{said}");
}

#[test]
fn what_is_no_taxonomy_is_named() {
    let dir = World::new().dir;
    dir.write("double", format!("{TABLE}GCF_000000001.2\td__Archaea\n"));
    dir.write("turned", "x\td__A;g__B;f__C\n");
    dir.write("words", "no table\n");
    dir.write("good", TABLE);
    dir.write("empty", "");
    for (given, message) in [
        ("--taxonomy double", "double: line 4: GCF_000000001.2 has another lineage in line 1"),
        ("--taxonomy turned", "turned: line 1: `f__C` cannot follow g__: the order is d, p"),
        ("--taxonomy words", "words: line 1: not ACCESSION<TAB>d__…;p__…"),
        ("--taxonomy tax/nodes.dmp", "tax/nodes.dmp: line 1: not ACCESSION<TAB>d__…;p__…"),
        ("--taxonomy empty", "empty: there are no lineages in this file"),
        (
            "--taxonomy good --taxonomy tax",
            "tax: a folder cannot be combined with another --taxonomy",
        ),
        ("--taxonomy good --taxonomy none", "none: "),
        ("--taxonomy none", "none: no such folder or file: give the folder of NCBI's taxdump, or"),
        ("--taxonomy genomes", "genomes: no nodes.dmp in this folder: give the folder of NCBI's"),
    ] {
        for format in ["merganser", "kraken2"] {
            let line = format!("build --format {format} {given} -o new genomes");
            let said = dir.run(&line).fails(1);
            assert!(said.starts_with(&format!("error: {message}")), "{given}: {said}");
            assert_eq!(said.lines().count(), 1, "{said}");
        }
    }
    let said = dir.run("build --taxonomy good -o new.mgdb genomes").fails(1);
    assert!(said.contains("none of 3 sequences has a taxon"), "{said}");
}
