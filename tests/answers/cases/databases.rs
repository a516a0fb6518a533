//! Databases and taxonomies: sequences without a taxon, ranks of other words, maps, files of Kraken 2 and sets
//! of a host as people have them.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use super::cases;
use merganser_test_support::reads::Random;
use merganser_test_support::tools::{installed, shell};
use merganser_test_support::{Dir, MERGANSER, Ran, gunzip, root};

/// Runs a command of the cases: `$C` is their folder.
fn run(dir: &Dir, cases: &Path, args: &str) -> Ran {
    dir.run(&args.replace("$C", cases.to_str().unwrap()))
}

/// The taxid of each read of Kraken's lines.
fn taxids(lines: &str) -> Vec<String> {
    let taxid = |line: &str| line.split('\t').nth(2).unwrap().to_owned();
    lines.lines().map(taxid).collect()
}

/// `db info --json`.
fn info(dir: &Dir, database: &str) -> serde_json::Value {
    serde_json::from_str(&dir.run(&format!("db info --json {database}")).ok()).unwrap()
}

/// A record of nodes.dmp or names.dmp.
fn record(fields: &[&str]) -> String {
    fields.join("\t|\t") + "\t|\n"
}

/// Two species of a genus, 101 and 102, with a taxonomy in `tax`, and a genome of each.
struct Small {
    dir: Dir,
    genomes: [String; 3],
}

impl Small {
    fn new() -> Small {
        let dir = Dir::new();
        fs::create_dir(dir.path("tax")).unwrap();
        let taxa = [
            ("1", "1", "no rank"),
            ("2", "1", "superkingdom"),
            ("14", "2", "genus"),
            ("101", "14", "species"),
            ("102", "14", "species"),
        ];
        let nodes = taxa.map(|(taxid, parent, rank)| record(&[taxid, parent, rank, "", "0"]));
        let names =
            taxa.map(|taxon| record(&[taxon.0, &format!("t{}", taxon.0), "", "scientific name"]));
        dir.write("tax/nodes.dmp", nodes.concat());
        dir.write("tax/names.dmp", names.concat());
        let mut random = Random(38);
        let genomes = [0; 3].map(|_| String::from_utf8(random.bases(6000)).unwrap());
        Small { dir, genomes }
    }

    /// Writes sequences with these headers, each of the genome of this number.
    fn write(&self, name: &str, sequences: &[(&str, usize)]) {
        let text =
            sequences.iter().map(|(header, at)| format!(">{header}\n{}\n", self.genomes[*at]));
        self.dir.write(name, text.collect::<String>());
    }

    /// Writes reads of each genome.
    fn write_reads(&self) {
        let reads = self.genomes.iter().enumerate();
        let text = reads.map(|(at, letters)| format!(">r{at}\n{}\n", &letters[1000..1150]));
        self.dir.write("r.fa", text.collect::<String>());
    }
}

/// Cases 02: a strain without a taxon takes no reads from its species.
#[test]
fn a_genome_without_a_taxon_is_left_out() {
    let Some(cases) = cases("classify/02-unmapped-genome") else { return };
    let dir = Dir::new();
    let taxonomy = root().join("../shared/data/taxonomy");
    for options in ["", "--preset metacache", "--parts 2", "--masked low-complexity"] {
        let build = format!(
            "build --taxonomy {} --map $C/z.map {options} -o a.mgdb --json j $C/two",
            taxonomy.display()
        );
        let built = run(&dir, &cases, &build);
        let warnings = built.warnings();
        assert_eq!(warnings.len(), 1, "{}", built.stderr);
        assert!(warnings[0].contains("1 sequences have no taxon and are left out, first "));
        assert!(built.stderr.contains("--unmapped FILE lists all"), "{}", built.stderr);
        built.ok();
        let json: serde_json::Value = serde_json::from_slice(&dir.read("j")).unwrap();
        assert_eq!(json["results"]["unmapped"], 1);
        assert_eq!(json["results"]["database"]["left_out"], 1);
        assert_eq!(json["warnings"].as_array().unwrap().len(), 1);
        let found = info(&dir, "a.mgdb");
        assert_eq!((&found["left_out"], &found["without_taxon"]), (&1.into(), &0.into()));
        let classified = run(&dir, &cases, "classify a.mgdb $C/zr.fa --no-map");
        assert!(classified.stderr.contains("400 of 400 reads"), "{}", classified.stderr);
        assert!(classified.warnings().is_empty(), "{}", classified.stderr);
    }
}

/// What is left out leaves no trace: the tables are those of the other sequences, whatever the threads, the
/// order and the way.
#[test]
fn databases_are_those_of_the_other_sequences() {
    let small = Small::new();
    let dir = &small.dir;
    let sequences = [
        ("u1", 2),
        ("a taxid|101", 0),
        ("u2", 0),
        ("u3 taxid|7", 1),
        ("b taxid|102", 1),
        ("u4 taxid|1", 2),
    ];
    small.write("all.fa", &sequences);
    small.write("two.fa", &[sequences[1], sequences[4]]);
    small.write("one.fa", &[sequences[1]]);
    small.write("rest.fa", &sequences[2..]);
    small.write_reads();
    for options in ["", "--preset metacache", "--parts 2", "--drop-ambiguous species"] {
        let build = |name: &str, genomes: &str| {
            dir.run(&format!("build --taxonomy tax {options} --unmapped u -o {name} {genomes}"))
        };
        build("two.mgdb", "two.fa").ok();
        assert_eq!(dir.read("u"), b"");
        for threads in [1, 3] {
            build("all.mgdb", &format!("all.fa -t {threads}")).ok();
            assert_eq!(
                String::from_utf8(dir.read("u")).unwrap(),
                "u1\tno taxid found\nu2\tno taxid found\nu3\ttaxid 7 is not in the taxonomy\n\
                 u4\ttaxid 1 is the root, which is no taxon\n"
            );
            // All but the header, which counts them.
            assert!(dir.read("all.mgdb")[4096..] == dir.read("two.mgdb")[4096..], "{options}");
            assert_eq!(info(dir, "all.mgdb")["left_out"], 4);
            assert_eq!(info(dir, "two.mgdb")["left_out"], 0);
        }
        let lines = dir.run("classify -q two.mgdb r.fa").ok();
        assert_eq!(taxids(&lines), ["101", "102", "0"]);
        assert_eq!(dir.run("classify -q all.mgdb r.fa").ok(), lines);
        dir.run("db verify all.mgdb two.mgdb").ok();
        if options.contains("drop") {
            continue;
        }
        let references = format!("classify --references all.fa --taxonomy tax {options} r.fa");
        if !options.contains("parts") {
            let ran = dir.run(&references);
            assert_eq!(ran.warnings().len(), 1, "{}", ran.stderr);
            assert_eq!(ran.ok(), lines);
        }
        // Added to a database, they are named; with --allow-unmapped left out.
        build("one.mgdb", "one.fa").ok();
        let refused = dir.run("db add --taxonomy tax one.mgdb rest.fa -o x.mgdb").fails(1);
        assert_eq!(
            refused,
            "error: 3 of 4 sequences have no taxon, first u2: no taxid found; give a table of their \
             taxids with --map, or leave them out with --allow-unmapped\n"
        );
        let add = "db add --taxonomy tax --allow-unmapped one.mgdb";
        dir.run(&format!("{add} rest.fa -o x.mgdb")).ok();
        assert_eq!(info(dir, "x.mgdb")["left_out"], 3);
        if options.is_empty() {
            assert!(dir.read("x.mgdb")[4096..] == dir.read("two.mgdb")[4096..], "{options}");
        }
        assert_eq!(dir.run("classify -q x.mgdb r.fa").ok(), lines);
        small.write("none.fa", &[("u1", 2)]);
        let none = dir.run(&format!("{add} none.fa -o y.mgdb")).fails(1);
        assert!(
            none.contains("nothing to add: none of 1 sequences has a taxon, first u1"),
            "{none}"
        );
        let strict = dir.run("db add -q --taxonomy tax one.mgdb rest.fa --strict -o y.mgdb");
        assert!(strict.fails(1).contains("(--strict)"));
        assert!(!dir.path("y.mgdb").exists());
    }
}

/// A sequence longer than what is read at a time, others around it, and memory for few of their features.
#[test]
fn long_sequences_are_left_out_as_a_whole() {
    let small = Small::new();
    let dir = &small.dir;
    let mut random = Random(5);
    let mut long = |header: &str| {
        format!(">{header}\n{}\n", String::from_utf8(random.bases(2_500_000)).unwrap())
    };
    let (unknown, known) = (long("u"), long("k taxid|101"));
    let short = format!(">s taxid|102\n{}\n", small.genomes[1]);
    dir.write("all.fa", format!("{short}{unknown}{known}"));
    dir.write("two.fa", format!("{short}{known}"));
    let build = |name: &str, options: &str| {
        dir.run(&format!("build -q --taxonomy tax {options} -o {name}.mgdb {name}.fa")).ok();
    };
    build("two", "");
    for options in ["-t 1", "-t 4", "-t 1 --memory 160M"] {
        build("all", options);
        assert!(dir.read("all.mgdb")[4096..] == dir.read("two.mgdb")[4096..], "{options}");
    }
}

/// Databases without any taxon are not built; nothing is left of them.
#[test]
fn no_taxon_at_all_is_an_error() {
    let small = Small::new();
    let dir = &small.dir;
    small.write("g.fa", &[("a", 0), ("b taxid|9", 1)]);
    for build in [
        "build",
        "build --preset metacache",
        "build --format kraken2",
        "classify --references g.fa r.fa",
    ] {
        let genomes = if build.starts_with("build") { "g.fa -o x" } else { "-o x" };
        small.write_reads();
        let said = dir.run(&format!("{build} --taxonomy tax {genomes}")).fails(1);
        let none = "nothing to build: none of 2 sequences has a taxon, first a: no taxid found";
        assert!(said.contains(none), "{said}");
        assert!(!dir.path("x").exists());
    }
}

/// What earlier versions built: their sequences without a taxon are ignored, and that is said once.
#[test]
fn earlier_databases_with_such_sequences() {
    let dir = Dir::new();
    for preset in ["sensitive", "metacache"] {
        let file = root().join(format!("tests/data/unmapped/{preset}.mgdb.gz"));
        dir.write("old.mgdb", gunzip(&file));
        // As many reads of two species; of each genome there is one without a taxon, too.
        dir.write("r.fa", gunzip(&root().join("tests/data/unmapped/reads.fa.gz")));
        dir.write("x2.fa", dir.read("r.fa"));
        let found = info(&dir, "old.mgdb");
        assert_eq!((&found["without_taxon"], &found["left_out"]), (&3.into(), &0.into()));
        let ran =
            dir.run("classify old.mgdb r.fa x2.fa --json j --report k --report-minimizer-data");
        assert_eq!(
            ran.warnings(),
            [
                "warning: old.mgdb: 3 of 5 sequences have no taxon and are ignored: build it again to leave them out"
            ]
        );
        let json: serde_json::Value = serde_json::from_slice(&dir.read("j")).unwrap();
        assert_eq!(json["warnings"].as_array().unwrap().len(), 1);
        let lines = ran.ok();
        assert_eq!(taxids(&lines), ["101", "102", "0", "101", "102", "0"]);
        assert!(!lines.contains("\t1:") && !lines.contains(" 1:"), "{lines}");
        // Lines that the earlier version wrote: joined, they ignore them, too.
        dir.write("old.tsv", "U\tr0\t0\t150\t1:54 101:54\nU\tr2\t0\t150\t1:57\n");
        let joined = dir.run("db merge-results -q -d old.mgdb old.tsv -o -").ok();
        assert_eq!(joined, "C\tr0\t101\t150\t101:54\nU\tr2\t0\t150\t0:0\n");
        let confident = dir.run("classify -q old.mgdb r.fa --confidence 0.3").ok();
        assert_eq!(taxids(&confident), ["101", "102", "0"]);
        assert!(!String::from_utf8(dir.read("k")).unwrap().contains("\tR\t1\troot"), "no root");
    }
}

/// Case 03: a folder as NCBI's `datasets` delivers it.
#[test]
fn files_of_genes_in_folders_are_no_genomes() {
    if let Some(cases) = cases("classify") {
        let dir = Dir::new();
        let build = "build --taxonomy $C/13-names-pipe/taxonomy --map $C/03-datasets-folder/m.map -o b.mgdb \
                     $C/03-datasets-folder/ncbi_dataset";
        let built = run(&dir, &cases, build);
        assert!(built.warnings().is_empty(), "{}", built.stderr);
        assert!(built.stderr.contains("2 files of genes or reads in folders are left out, first "));
        built.ok();
        let lines = run(&dir, &cases, "classify -q b.mgdb $C/03-datasets-folder/q.fa").ok();
        assert_eq!(taxids(&lines), ["101"; 3]);
    }
    let small = Small::new();
    let dir = &small.dir;
    fs::create_dir(dir.path("g")).unwrap();
    small.write("g/cds_from_genomic.fna", &[("c", 2)]);
    small.write("g/reads.fastq", &[]);
    let said = dir.run("build --taxonomy tax -o x.mgdb g").fails(1);
    assert!(
        said.contains("g: no genome in this folder: its 2 files of sequences have genes or reads")
    );
    small.write("g/a.fna", &[("a|kraken:taxid|101", 0)]);
    for format in ["merganser", "kraken2"] {
        let built = dir.run(&format!("build --format {format} --taxonomy tax -o {format} g"));
        assert!(built.warnings().is_empty(), "{}", built.stderr);
        assert!(built.stderr.contains("from 1 sequences"), "{}", built.stderr);
        built.ok();
    }
    // Who names such a file means it, and is told.
    small.write("GCF_000000001.1_x_rna.fna", &[("c taxid|102", 2)]);
    let named = dir.run("build --taxonomy tax -o x.mgdb g GCF_000000001.1_x_rna.fna");
    assert_eq!(named.warnings().len(), 1, "{}", named.stderr);
    assert!(named.warnings()[0].contains("1 files have the genes of a genome and not the genome"));
    assert!(named.stderr.contains("from 2 sequences"), "{}", named.stderr);
    // Of other files, an end of the name says nothing certain.
    small.write("virus_rna.fna", &[("v taxid|102", 2)]);
    let other = dir.run("build --taxonomy tax -o x.mgdb virus_rna.fna");
    assert!(other.warnings().is_empty(), "{}", other.stderr);
}

/// A map beside the genomes, or in the folder that was given.
#[test]
fn maps_beside_genomes_are_used_and_named() {
    let small = Small::new();
    let dir = &small.dir;
    fs::create_dir_all(dir.path("k/library/added")).unwrap();
    small.write("k/library/added/a.fna", &[("a", 0), ("b", 1)]);
    small.write_reads();
    for place in ["k/library/added", "k"] {
        let map = format!("{place}/seqid2taxid.map");
        dir.write(&map, "\u{feff}a\t101\r\nb\t102\r\n");
        for format in ["merganser", "kraken2"] {
            let built = dir.run(&format!("build --format {format} --taxonomy tax -o {format} k"));
            let note = format!("taxids are taken from {map}, too");
            assert!(built.stderr.lines().any(|line| line == note), "{}", built.stderr);
            assert!(built.warnings().is_empty(), "{}", built.stderr);
            built.ok();
            let lines = dir.run(&format!("classify -q {format} r.fa")).ok();
            assert_eq!(taxids(&lines)[..2], ["101", "102"]);
        }
        // What was given comes first, and says nothing new.
        dir.write("own.map", "a\t102\n");
        let built = dir.run("build --taxonomy tax --map own.map -o x.mgdb k");
        built.ok();
        assert!(dir.run("db taxa --sequences x.mgdb").ok().contains("\na\t102\t"));
        let given = dir.run(&format!("build --taxonomy tax --map {map} -o x.mgdb k"));
        assert!(!given.stderr.contains("taken from"), "{}", given.stderr);
        fs::remove_file(dir.path(&map)).unwrap();
    }
}

/// Cases 04: ranks that are not NCBI's words. The taxa are those of Kraken 2's rule.
#[test]
fn ranks_of_other_words() {
    let Some(cases) = cases("classify") else { return };
    let dir = Dir::new();
    for (taxonomy, unranked) in [("flat", 3), ("flatlineage", 3), ("Caps", 0)] {
        let maps = "--map $C/m.map";
        let build = format!("--taxonomy $C/04-ranks/{taxonomy} {maps} $C/g.fa");
        run(&dir, &cases, &format!("build -q --format kraken2 {build} -o k2-{taxonomy}")).ok();
        let expected = run(&dir, &cases, &format!("classify -q k2-{taxonomy} $C/r.fa")).ok();
        assert_eq!(taxids(&expected), ["101", "102", "103"]);
        for preset in ["sensitive", "metacache"] {
            let built = run(&dir, &cases, &format!("build --preset {preset} {build} -o c.mgdb"));
            let warned = built.warnings().iter().any(|line| {
                line.contains(&format!("{unranked} sequences have lineages without a main rank"))
            });
            assert_eq!(warned, unranked > 0, "{}", built.stderr);
            built.ok();
            let lines = run(&dir, &cases, "classify -q c.mgdb $C/r.fa").ok();
            assert_eq!(taxids(&lines), ["101", "102", "103"], "{taxonomy} {preset}");
        }
    }
    let univec = "build --taxonomy $C/04-ranks/univec --map $C/04-ranks/univec.map -o g.mgdb";
    let built = run(&dir, &cases, &format!("{univec} $C/04-ranks/univec.fa"));
    let warning = "1 sequences have lineages without a main rank (species to domain), first ";
    assert!(built.warnings()[0].contains(warning), "{}", built.stderr);
    built.ok();
    let lines = run(&dir, &cases, "classify g.mgdb $C/r.fa -q").ok();
    assert_eq!(taxids(&lines)[2], "28384", "{lines}");
}

/// Other words, and what is between: the lowest common ancestor of such taxa, `strain` alone, one letter.
#[test]
fn lineages_without_a_main_rank() {
    let small = Small::new();
    let dir = &small.dir;
    small.write_reads();
    // The first half of the third genome is the second's.
    let mixed = format!("{}{}", &small.genomes[1][..3000], &small.genomes[2][3000..]);
    dir.write("g.fa", format!(">a\n{}\n>b\n{}\n>c\n{mixed}\n", small.genomes[0], small.genomes[1]));
    dir.write("m", "a\t5\nb\t7\nc\t8\n");
    for rank in ["no rank", "strain", "S", "lineage", "clade", "", "subspecies", "Isolate"] {
        let nodes = [
            record(&["1", "1", "no rank", ""]),
            record(&["5", "1", rank, ""]),
            record(&["6", "1", rank, ""]),
            record(&["7", "6", rank, ""]),
            record(&["8", "6", rank, ""]),
        ];
        dir.write("tax/nodes.dmp", nodes.concat());
        dir.write("tax/names.dmp", record(&["1", "root", "", "scientific name"]));
        for preset in ["sensitive", "metacache"] {
            let build = format!("build --taxonomy tax --map m --preset {preset} -o x.mgdb g.fa");
            let built = dir.run(&build);
            let warning = "3 sequences have lineages without a main rank";
            assert!(built.warnings().iter().any(|line| line.contains(warning)), "{}", built.stderr);
            built.ok();
            let ran = dir.run("classify x.mgdb r.fa --report k").ok();
            assert_eq!(taxids(&ran)[..2], ["5", "6"], "{rank} {preset}");
            let own = format!(">own\n{}\n", &mixed[4000..4150]);
            dir.write("own.fa", own);
            assert_eq!(taxids(&dir.run("classify -q x.mgdb own.fa").ok()), ["8"], "{rank}");
        }
    }
    // Cellular organisms have no rank, and bacteria have: what both have is still of no taxon.
    dir.write(
        "tax/nodes.dmp",
        [
            record(&["1", "1", "no rank", ""]),
            record(&["6", "1", "no rank", ""]),
            record(&["70", "6", "superkingdom", ""]),
            record(&["7", "70", "species", ""]),
            record(&["80", "6", "superkingdom", ""]),
            record(&["8", "80", "species", ""]),
        ]
        .concat(),
    );
    let name = |taxid| record(&[taxid, &format!("t{taxid}"), "", "scientific name"]);
    dir.write("tax/names.dmp", ["1", "6", "7", "8", "70", "80"].map(name).concat());
    dir.write("m", "b\t7\nc\t8\n");
    let built = dir.run("build --taxonomy tax --map m -o x.mgdb g.fa");
    assert_eq!(built.warnings().len(), 1, "{}", built.stderr);
    assert_eq!(taxids(&dir.run("classify -q x.mgdb r.fa").ok()), ["0", "0", "0"]);
}

/// Case 01: nodes of taxo.k2d that kraken2-build never wrote.
#[test]
fn unreached_nodes_of_kraken2() {
    let Some(cases) = cases("classify/01-k2-orphan-taxids") else { return };
    let dir = Dir::new();
    let ran = run(&dir, &cases, "classify $C $C/z1.fa --report k");
    assert!(
        ran.stderr.contains("nodes of taxo.k2d are ignored, as Kraken 2 does"),
        "{}",
        ran.stderr
    );
    assert!(ran.warnings().is_empty(), "{}", ran.stderr);
    assert_eq!(ran.ok(), "C\tr1\t64320\t150\t64320:116 \n".replace("116 ", "116"));
    let found = run(&dir, &cases, "db info $C").ok();
    assert!(!found.contains("unreached       0"), "{found}");
    run(&dir, &cases, "db taxa $C").ok();
    run(&dir, &cases, "db verify $C").ok();
    // A cell that points at one of them is damage, which a read that has it finds, and so does verify.
    fs::create_dir(dir.path("k2")).unwrap();
    for name in ["opts.k2d", "taxo.k2d", "hash.k2d"] {
        fs::copy(cases.join(name), dir.path(&format!("k2/{name}"))).unwrap();
    }
    let mut table = dir.read("k2/hash.k2d");
    let value_bits = u32::from_le_bytes(table[24..28].try_into().unwrap());
    let mask = (1u32 << value_bits) - 1;
    for cell in table[32..].chunks_exact_mut(4) {
        let word = u32::from_le_bytes((&*cell).try_into().unwrap());
        if word & mask != 0 {
            cell.copy_from_slice(&(word | mask).to_le_bytes());
        }
    }
    dir.write("k2/hash.k2d", table);
    for command in ["classify -q k2 $C/z1.fa", "db verify k2"] {
        let said = run(&dir, &cases, command).fails(1);
        assert!(said.contains("hash.k2d: a cell has taxon "), "{said}");
    }
}

/// Cases 05: an index without minimizers is not written, and the reason is named.
#[test]
fn hosts_without_minimizers() {
    if let Some(cases) = cases("classify/05-empty-host") {
        let dir = Dir::new();
        for (file, why) in [
            ("prot.faa", "no minimizers: its letters are those of proteins"),
            ("empty.fa", "no minimizers: there are no sequences in it"),
            ("rnahost.fa", "of its letters are U, which is no base here: write them as T"),
            ("shorthost.fa", "letters, and a window of -k and -w has 45"),
        ] {
            let said = run(&dir, &cases, &format!("deplete index -o h.mgd $C/{file}")).fails(1);
            assert!(said.contains(file) && said.contains(why), "{said}");
            assert!(!dir.path("h.mgd").exists());
        }
        let kraken =
            "build --format kraken2 --taxonomy $C/taxonomy --map $C/prot.map -o x $C/prot.faa";
        let said = run(&dir, &cases, kraken).fails(1);
        assert!(
            said.contains(
                "nothing to build: there are no minimizers: letters are those of proteins"
            )
        );
        assert!(!dir.path("x").exists());
        let own = run(&dir, &cases, &kraken.replace("--format kraken2 ", "")).fails(1);
        assert!(
            own.contains("has 19 bases in a row: the letters of proteins and N are none"),
            "{own}"
        );
    }
    let small = Small::new();
    let dir = &small.dir;
    small.write_reads();
    small.write("a.fa", &[("a", 0)]);
    dir.write("n.fa", format!(">n\n{}\n", "ACGTN".repeat(100)));
    let said = dir.run("deplete index -o h.mgd n.fa").fails(1);
    assert!(
        said.contains("nowhere are 45 bases in a row, and of 500 letters 400 are bases"),
        "{said}"
    );
    for suffix in ["mgd", "idx"] {
        let index = |name: &str, file: &str| {
            dir.run(&format!("deplete index -q -o {name}.{suffix} {file}"))
        };
        index("a", "a.fa").ok();
        small.write("b.fa", &[("b", 1)]);
        index("b", "b.fa").ok();
        for (verb, one, two, says) in [
            ("diff", "a", "a", "the first set has no minimizers that the others lack"),
            ("intersect", "a", "b", "the sets have no minimizers in common"),
        ] {
            let command = format!("deplete {verb} {one}.{suffix} {two}.{suffix} -o x.{suffix}");
            let said = dir.run(&command).fails(1);
            assert!(said.contains(says), "{said}");
            assert!(!dir.path(&format!("x.{suffix}")).exists());
        }
    }
    // One of Deacon's that has none: the reads stay, and that is said.
    dir.write("none.idx", b"\x03\x1f\x0f\0\0\0\0\0\0\0\0");
    let ran = dir.run("deplete filter none.idx r.fa -o o.fa --json j");
    assert_eq!(ran.warnings().len(), 1, "{}", ran.stderr);
    assert!(
        ran.warnings()[0].contains("none.idx: there are no minimizers in it"),
        "{}",
        ran.stderr
    );
    ran.ok();
    let json: serde_json::Value = serde_json::from_slice(&dir.read("j")).unwrap();
    assert_eq!(json["warnings"].as_array().unwrap().len(), 1);
    // U in a genome, beside bases.
    let rna = small.genomes[1].replacen('T', "U", 7);
    dir.write("rna.fa", format!(">a\n{}\n>b\n{rna}\n", small.genomes[0]));
    let warning = "warning: rna.fa: 7 letters are U, which is no base";
    for command in [
        "deplete index -o h.mgd rna.fa",
        "build --format kraken2 --taxonomy tax --map m -o k2 rna.fa",
    ] {
        dir.write("m", "a\t101\nb\t102\n");
        let ran = dir.run(command);
        assert_eq!(ran.warnings().len(), 1, "{}", ran.stderr);
        assert!(ran.warnings()[0].starts_with(warning), "{}", ran.stderr);
        ran.ok();
    }
}

/// Databases of Kraken 2 without minimizers, which other programs make.
#[test]
fn kraken2_databases_without_minimizers() {
    let small = Small::new();
    let dir = &small.dir;
    small.write("g.fa", &[("kraken:taxid|101|a", 0)]);
    small.write_reads();
    dir.run("build -q --format kraken2 --taxonomy tax -o k2 g.fa").ok();
    let mut table = dir.read("k2/hash.k2d");
    table[8..16].fill(0);
    table[32..].fill(0);
    dir.write("k2/hash.k2d", table);
    let ran = dir.run("classify k2 r.fa");
    assert!(
        ran.warnings()[0].contains("k2/hash.k2d: there are no minimizers in it"),
        "{}",
        ran.stderr
    );
    assert_eq!(taxids(&ran.ok()), ["0"; 3]);
    small.write("short.fa", &[]);
    dir.write("short.fa", ">kraken:taxid|101|a\nACGTACGTTGCA\n");
    let said = dir.run("build --format kraken2 --taxonomy tax -o x short.fa").fails(1);
    assert!(said.contains("the longest sequence has 12 letters, and -k is 35"), "{said}");
    dir.write("low.fa", format!(">kraken:taxid|101|a\n{}\n", "A".repeat(300)));
    let said = dir.run("build --format kraken2 --taxonomy tax -o x low.fa").fails(1);
    assert!(
        said.contains("nowhere are 35 bases in a row that are not masked (--masked)"),
        "{said}"
    );
}

/// Cases 13, 14, 17b, 18, 19: files of taxonomies and maps.
#[test]
fn taxonomies_and_maps_as_people_have_them() {
    let Some(cases) = cases("classify") else { return };
    let dir = Dir::new();
    let build = |taxonomy: &str, rest: &str| {
        run(&dir, &cases, &format!("build --taxonomy $C/{taxonomy} {rest} -o p.mgdb"))
    };
    let taxon_of = |sequence: &str| {
        let text = dir.run("db taxa --sequences p.mgdb").ok();
        let row = text.lines().find(|line| line.starts_with(&format!("{sequence}\t"))).unwrap();
        row.split('\t').nth(1).unwrap().to_owned()
    };
    build("13-names-pipe/taxonomy", "--map $C/m.map $C/g.fa").ok();
    assert!(dir.run("db taxa p.mgdb").ok().contains("\n102\tspecies\tPipe|name 'x' µ-β\t"));
    for taxonomy in ["14-merged/t_badfmt", "14-merged/t_chain"] {
        build(taxonomy, "--map $C/14-merged/m.map $C/g.fa").ok();
        assert_eq!(taxon_of("g1"), "101", "{taxonomy}");
    }
    build("13-names-pipe/taxonomy", "--map $C/17-bom/bom.map $C/17-bom/one.fa").ok();
    assert_eq!(taxon_of("NC_1.1"), "101");
    let large = build("18-taxid-big/b32", "--map $C/18-taxid-big/b32.map $C/g.fa").fails(1);
    assert!(
        large.contains(
            "nodes.dmp: line 8: taxid 4294967301 is too large: 4294967295 is the largest"
        ),
        "{large}"
    );
    let large = build("13-names-pipe/taxonomy", "--map $C/18-taxid-big/b32.map $C/g.fa").fails(1);
    assert!(large.contains("b32.map: line 1: taxid 4294967301 is too large"), "{large}");
    for header in ["notaxid", "hosttaxid"] {
        let rest = format!("$C/19-header-map/{header}.fa");
        let said = build("13-names-pipe/taxonomy", &rest).fails(1);
        assert!(
            said.contains("none of 1 sequences has a taxon, first NC_1.1: no taxid found"),
            "{said}"
        );
    }
    let conflict = "--map $C/19-header-map/conflict.map $C/19-header-map/one.fa";
    for format in ["", "--format kraken2"] {
        let ran =
            build("13-names-pipe/taxonomy", &format!("{conflict} {format}").replace("p.mgdb", "k"));
        let _ = fs::remove_dir_all(dir.path("p.mgdb"));
        assert_eq!(ran.warnings().len(), 1, "{}", ran.stderr);
        assert!(
            ran.warnings()[0].ends_with(
                "conflict.map: 1 ids have two taxids, first NC_1.1: 101, which comes first, is used and not \
                 102; remove the wrong lines"
            ),
            "{}",
            ran.stderr
        );
        ran.ok();
        let _ = fs::remove_file(dir.path("p.mgdb"));
    }
}

/// Marks before other tables, comments and blank lines in all files of a dump.
#[test]
fn marks_and_comments_in_tables() {
    let small = Small::new();
    let dir = &small.dir;
    small.write("a.fa", &[("a", 0)]);
    small.write("GCF_000000007.1.fa", &[("x", 1)]);
    for file in ["nodes.dmp", "names.dmp"] {
        let text = String::from_utf8(dir.read(&format!("tax/{file}"))).unwrap();
        dir.write(&format!("tax/{file}"), format!("\u{feff}# mine\n{text}\n  \n"));
    }
    dir.write("tax/merged.dmp", "\u{feff}9\t|\t8\t|\n#x\n8\t|\t7\t|\n7\t|\t9\t|\n5\t|\t101\t|\n");
    dir.write("tax/delnodes.dmp", "#\n77\t|\n");
    dir.write(
        "tax/x.accession2taxid",
        "\u{feff}accession\taccession.version\ttaxid\tgi\na\ta\t5\t0\n",
    );
    dir.write("assembly_summary.txt", "\u{feff}#assembly_accession\ttaxid\nGCF_000000007.1\t102\n");
    dir.write("list", "\u{feff}a.fa\nGCF_000000007.1.fa\n");
    let built = dir.run("build --taxonomy tax -o x.mgdb @list");
    assert!(built.warnings().is_empty(), "{}", built.stderr);
    built.ok();
    let text = dir.run("db taxa --sequences x.mgdb").ok();
    assert!(text.contains("\na\t101\t") && text.contains("\nx\t102\t"), "{text}");
    // Merges in a circle lead nowhere, and end.
    dir.write("m", "a\t9\n");
    let said = dir.run("build --taxonomy tax --map m -o y.mgdb a.fa").fails(1);
    assert!(said.contains("taxid 9 is not in the taxonomy"), "{said}");
}

/// Case 08d: genomes that are read more than once come from no pipe.
#[test]
fn genomes_from_a_pipe() {
    let small = Small::new();
    let dir = &small.dir;
    small.write("g.fa", &[("kraken:taxid|101|a", 0)]);
    small.write_reads();
    dir.run("build -q --taxonomy tax -o refs.mgdb g.fa").ok();
    dir.run("build -q --format kraken2 --taxonomy tax -o k2 g.fa").ok();
    let shell = |line: &str| {
        let output = Command::new("bash")
            .args(["-c", &line.replace("$M", &MERGANSER)])
            .current_dir(dir.root())
            .stdin(Stdio::null())
            .output()
            .unwrap();
        Ran::new(&output, dir.root())
    };
    assert!(shell("mkfifo pipe").code == Some(0));
    for line in [
        "$M build --taxonomy tax --bracken 60 -o x.mgdb <(cat g.fa)",
        "$M build --taxonomy tax --bracken 60 -o x.mgdb pipe",
        "$M build --taxonomy tax --bracken 60 -o x.mgdb - <g.fa",
        "$M build --format kraken2 --taxonomy tax --bracken 60 -o x.mgdb <(cat g.fa)",
        "$M build --format kraken2 --taxonomy tax -o x.mgdb <(cat g.fa)",
        "$M db bracken refs.mgdb --read-lengths 60,100 <(cat g.fa)",
        "$M db bracken refs.mgdb --read-lengths 60 g.fa <(cat g.fa)",
        "$M db bracken k2 --read-lengths 60 <(cat g.fa)",
    ] {
        let said = shell(line).fails(1);
        assert!(said.contains("pipes"), "{line}: {said}");
        assert!(!dir.path("x.mgdb").exists(), "{line}");
    }
    // What is read once may come from one.
    shell("$M build -q --taxonomy tax -o x.mgdb <(cat g.fa)").ok();
    assert!(dir.read("x.mgdb") == dir.read("refs.mgdb"));
    let lines = dir.run("classify -q refs.mgdb r.fa").ok();
    let piped = shell("$M classify -q --references <(cat g.fa) --taxonomy tax r.fa");
    assert_eq!(piped.ok(), lines);
}

/// A reference without a seed: built and used, with a warning.
#[test]
fn references_without_seeds() {
    let small = Small::new();
    let dir = &small.dir;
    small.write_reads();
    dir.write("n.fa", format!(">n\n{}\n", "ACGTNN".repeat(100)));
    let warning = "the index has no positions, as nowhere in the reference are 8 bases in a row";
    for command in
        ["index n.fa -o n.mgi", "map -e 2 n.mgi r.fa -o o.sam", "map -e 2 n.fa r.fa -o o.sam"]
    {
        let ran = dir.run(command);
        assert_eq!(ran.warnings().len(), 1, "{}", ran.stderr);
        assert!(ran.warnings()[0].contains(warning), "{}", ran.stderr);
        ran.ok();
    }
    small.write("g.fa", &[("g", 0)]);
    assert!(dir.run("map -e 2 g.fa r.fa -o o.sam").warnings().is_empty());
}

/// Runs a command that succeeds with one warning, and gives it.
#[track_caller]
fn warned(dir: &Dir, command: &str) -> String {
    let ran = dir.run(command);
    assert_eq!(ran.warnings().len(), 1, "{command}: {}", ran.stderr);
    let warning = ran.warnings()[0].to_owned();
    ran.ok();
    warning
}

/// Runs a command that succeeds without a warning.
#[track_caller]
fn sound(dir: &Dir, command: &str) -> String {
    let ran = dir.run(command);
    assert_eq!(ran.warnings(), Vec::<&str>::new(), "{command}");
    ran.ok()
}

/// One of several genomes that nothing is found by.
#[test]
fn files_without_minimizers_among_others() {
    let small = Small::new();
    let dir = &small.dir;
    small.write("a.fa", &[("a", 0)]);
    small.write("b.fa", &[("b", 1)]);
    dir.write("empty.fa", "");
    dir.write("prot.fa", format!(">p\n{}\n>q\n{}\n", "MKLVEFIP".repeat(30), "MSTV".repeat(9)));
    dir.write("uracil.fa", format!(">r\n{}\n", small.genomes[2][..600].replace('T', "U")));
    dir.write("short.fa", ">s\nACGTACGTACGT\n");
    dir.write("m", "a\t101\nb\t102\np\t101\nq\t101\nr\t101\ns\t101\n");
    let index = "deplete index -o h.mgd";
    let kraken = "build --format kraken2 --taxonomy tax --map m -o k2";
    let own = "build --taxonomy tax --map m -o x.mgdb";
    for (files, count, first, deplete, kraken2, merganser) in [
        (
            "a.fa prot.fa",
            "1 of 2",
            "prot.fa",
            "its letters are those of proteins: give the genome (.fna)",
            "letters are those of proteins: give genomes (.fna)",
            "the letters of proteins and N are none",
        ),
        (
            "empty.fa a.fa prot.fa b.fa",
            "2 of 4",
            "empty.fa",
            "there are no sequences in it",
            "there are no sequences in it",
            "there are none",
        ),
        (
            "b.fa a.fa short.fa",
            "1 of 3",
            "short.fa",
            "its longest sequence has 12 letters, and a window of -k and -w has 45",
            "the longest sequence has 12 letters, and -k is 35",
            "the longest has 12 letters",
        ),
    ] {
        let said = format!("warning: {count} inputs have no minimizers, first {first}: ");
        assert_eq!(warned(dir, &format!("{index} {files}")), format!("{said}{deplete}"));
        assert_eq!(warned(dir, &format!("{kraken} {files}")), format!("{said}{kraken2}"));
        assert_eq!(
            warned(dir, &format!("{own} {files}")),
            format!(
                "warning: {count} input files have no sequence with 19 bases in a row, first {first}: {merganser}"
            )
        );
    }
    // U is a base in a database of ours.
    let rna = "warning: 1 of 2 inputs have no minimizers, first uracil.fa: ";
    for command in [index, kraken] {
        let warning = warned(dir, &format!("{command} a.fa uracil.fa"));
        assert!(warning.starts_with(rna) && warning.contains(" letters are U"), "{warning}");
    }
    sound(dir, &format!("{own} a.fa uracil.fa"));
    for command in [index, kraken, own] {
        sound(dir, &format!("{command} a.fa b.fa"));
    }
    dir.run(&format!("{own} a.fa")).ok();
    fs::rename(dir.path("x.mgdb"), dir.path("one.mgdb")).unwrap();
    let add = "db add --taxonomy tax --map m one.mgdb b.fa prot.fa -o x.mgdb";
    assert!(
        warned(dir, add).contains("1 of 2 input files have no sequence with 19 bases in a row")
    );
    small.write_reads();
    let classify =
        "classify --references prot.fa --references a.fa --taxonomy tax --map m r.fa -o l";
    assert!(warned(dir, classify).contains("first prot.fa"));
}

/// Names that are missing, and taxa with two: Kraken 2's databases are as its own program makes them.
#[test]
fn names_that_are_missing_or_doubled() {
    let small = Small::new();
    let dir = &small.dir;
    small.write("a.fa", &[("a|kraken:taxid|101", 0), ("b|kraken:taxid|102", 1)]);
    let names = String::from_utf8(dir.read("tax/names.dmp")).unwrap();
    let second = record(&["102", "Second", "", "scientific name"]);
    let cut: String = names.lines().take(4).map(|line| format!("{line}\n")).collect();
    let missing = |count: &str, first: &str| {
        format!(
            "warning: tax/names.dmp: {count} of 5 taxa have no scientific name in it, first taxid {first}: is \
             the file cut? Download it again"
        )
    };
    let doubled = "warning: tax/names.dmp: 1 lines have a further scientific name of a taxon, first line 6 \
                   (taxid 102): the last one is used, as Kraken 2 does; remove the wrong lines";
    let kraken = "build --format kraken2 --masked none --taxonomy tax -o k2 a.fa";
    let own = "build --taxonomy tax -o x.mgdb a.fa";
    for (text, warning) in [
        (String::new(), missing("5", "1")),
        (cut, missing("1", "102")),
        (format!("{names}{second}"), doubled.to_owned()),
    ] {
        dir.write("tax/names.dmp", &text);
        assert_eq!(warned(dir, kraken), warning);
        if warning == doubled {
            let said = dir.run(own).fails(1);
            assert!(
                said.contains(
                    "tax/names.dmp: line 6: taxid 102 has a scientific name for the second time"
                ),
                "{said}"
            );
            let taxa = dir.run("db taxa k2").ok();
            assert!(taxa.contains("\tSecond\t") && !taxa.contains("\tt102\t"), "{taxa}");
        } else {
            assert_eq!(warned(dir, own), warning);
        }
        if installed(&["kraken2-build"]) {
            shell(
                dir.root(),
                "rm -rf kraken; mkdir kraken; cp -r tax kraken/taxonomy; \
                 kraken2-build --db kraken --no-masking --add-to-library a.fa >log 2>&1; \
                 kraken2-build --db kraken --build --threads 1 >log 2>&1",
            );
            // The options have bytes that kraken2-build leaves as they are.
            for file in ["taxo.k2d", "hash.k2d"] {
                let [ours, theirs] = ["k2", "kraken"].map(|db| dir.read(&format!("{db}/{file}")));
                assert!(ours == theirs, "{file}: {warning}");
            }
        }
    }
    // Synonyms are no second names.
    dir.write("tax/names.dmp", format!("{names}{}", record(&["102", "Second", "", "synonym"])));
    sound(dir, kraken);
    sound(dir, own);
}

/// A last line that ends in the midst of a number or a name.
#[test]
fn last_lines_of_a_taxonomy_that_are_cut() {
    let small = Small::new();
    let dir = &small.dir;
    small.write("a.fa", &[("a taxid|99", 0)]);
    let build = "build --taxonomy tax -o x.mgdb a.fa";
    dir.write("tax/merged.dmp", "99\t|\t101\t|");
    dir.write("tax/delnodes.dmp", "7\t|");
    sound(dir, build);
    let [nodes, names] = ["nodes.dmp", "names.dmp"]
        .map(|file| String::from_utf8(dir.read(&format!("tax/{file}"))).unwrap());
    for (file, text, line) in [
        ("merged.dmp", "99\t|\t10".to_owned(), 1),
        ("merged.dmp", "98\t|\t101\t|\n99\t|\t10".to_owned(), 2),
        ("delnodes.dmp", "7".to_owned(), 1),
        ("delnodes.dmp", "7\t|\n9".to_owned(), 2),
        ("nodes.dmp", nodes.trim_end_matches("|\n").to_owned(), 5),
        ("names.dmp", names.trim_end_matches("\t|\n").to_owned(), 5),
    ] {
        let before = dir.read(&format!("tax/{file}"));
        dir.write(&format!("tax/{file}"), text);
        for command in [build, "build --format kraken2 --taxonomy tax -o k2 a.fa"] {
            let said = dir.run(command).fails(1);
            let expected =
                format!("error: tax/{file}: line {line}: ends without `|`: the file is truncated");
            assert!(said.starts_with(&expected), "{said}");
        }
        dir.write(&format!("tax/{file}"), before);
    }
    sound(dir, build);
}

/// Two maps, or one header, that say different things of a sequence.
#[test]
fn sequences_with_two_taxids() {
    let small = Small::new();
    let dir = &small.dir;
    small.write("a.fa", &[("a", 0), ("b", 1)]);
    dir.write("tax/merged.dmp", record(&["99", "101"]));
    dir.write("one", "a\t101\nb\t102\n");
    dir.write("two", "a\t102\nb\t102\n");
    dir.write("same", "a\t99\n");
    let of_a = |text: String| {
        let row = text.lines().find(|line| line.starts_with("a\t")).unwrap().to_owned();
        row.split('\t').nth(1).unwrap().to_owned()
    };
    for format in ["merganser", "kraken2"] {
        let build = format!("build --format {format} --taxonomy tax -o {format} --unmapped u");
        let warning = warned(dir, &format!("{build} --map one --map two a.fa"));
        assert_eq!(
            warning,
            "warning: two: 1 ids have another taxid in one, first a: 101, which comes first, is used and not \
             102; remove the wrong lines"
        );
        if format == "merganser" {
            assert_eq!(of_a(dir.run("db taxa --sequences merganser").ok()), "101");
        }
        sound(dir, &format!("{build} --map one --map same a.fa"));
        sound(dir, &format!("{build} --map one --map one a.fa"));
        // A map beside the genomes and headers are there for what those that were given do not have.
        dir.write("seqid2taxid.map", "a\t102\n");
        sound(dir, &format!("{build} --map one a.fa"));
        fs::remove_file(dir.path("seqid2taxid.map")).unwrap();
    }
    small.write(
        "h.fa",
        &[("a taxid|101 x taxid|102", 0), ("b taxid|102", 1), ("c taxid|99 taxid|101", 2)],
    );
    let said = "h.fa: 1 headers have two taxids, first a: 101, which comes first, is used and not 102; remove \
                the wrong ones, or give a table of taxids with --map";
    assert_eq!(warned(dir, "build --taxonomy tax -o merganser h.fa"), format!("warning: {said}"));
    assert_eq!(of_a(dir.run("db taxa --sequences merganser").ok()), "101");
    dir.write("m", "a\t102\n");
    sound(dir, "build --taxonomy tax --map m -o merganser h.fa");
    small.write("h.fa", &[("kraken:taxid|101|kraken:taxid|102|a", 0), ("b|kraken:taxid|102", 1)]);
    let kraken = warned(dir, "build --format kraken2 --taxonomy tax -o kraken2 h.fa");
    assert_eq!(
        kraken,
        format!("warning: {said}").replace("first a", "first kraken:taxid|101|kraken:taxid|102|a")
    );
}

/// What is said where a taxid is not in the taxonomy; every field of `db info` has a blank before its value.
#[test]
fn remedies_and_fields_are_readable() {
    let small = Small::new();
    let dir = &small.dir;
    small.write("g.fa", &[("a taxid|9", 0)]);
    small.write("k.fa", &[("a taxid|101", 0)]);
    let said = dir.run("build --taxonomy tax -o x.mgdb g.fa").fails(1);
    assert!(
        said.ends_with("first a: taxid 9 is not in the taxonomy; give a taxonomy that has it\n"),
        "{said}"
    );
    sound(dir, "build --taxonomy tax -o x.mgdb k.fa");
    let said = dir.run("db add --taxonomy tax x.mgdb g.fa k.fa -o y.mgdb").fails(1);
    assert!(
        said.contains("give a taxonomy that has it, or leave them out with --allow-unmapped"),
        "{said}"
    );
    let info = sound(dir, "db info x.mgdb");
    assert!(info.lines().all(|line| line.contains(' ')), "{info}");
    assert!(info.contains("\nhitmin_contested 1\n"), "{info}");
}
