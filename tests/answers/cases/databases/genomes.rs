//! Files of genomes, and maps from their sequences to taxa.

use std::fs;
use std::process::{Command, Stdio};

use super::{Small, cases, record, run, sound, taxids, warned};
use merganser_test_support::{Dir, MERGANSER, Ran};

/// Files of genes in a folder from NCBI's `datasets` are ignored (case 03).
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
    assert!(said.contains(
        "g: no genome in this folder: by their names, its 2 files of sequences are genes or reads"
    ));
    small.write("g/a.fna", &[("a|kraken:taxid|101", 0)]);
    for format in ["merganser", "kraken2"] {
        let built = dir.run(&format!("build --format {format} --taxonomy tax -o {format} g"));
        assert!(built.warnings().is_empty(), "{}", built.stderr);
        assert!(built.stderr.contains("from 1 sequence with"), "{}", built.stderr);
        built.ok();
    }
    // A file of genes that is given by name is used, with a warning.
    small.write("GCF_000000001.1_x_rna.fna", &[("c taxid|102", 2)]);
    let named = dir.run("build --taxonomy tax -o x.mgdb g GCF_000000001.1_x_rna.fna");
    assert_eq!(named.warnings().len(), 1, "{}", named.stderr);
    assert!(named.warnings()[0].contains("1 files have the genes of a genome, not the genome"));
    assert!(named.stderr.contains("from 2 sequences"), "{}", named.stderr);
    // In other names, a suffix for genes is not conclusive.
    small.write("virus_rna.fna", &[("v taxid|102", 2)]);
    let other = dir.run("build --taxonomy tax -o x.mgdb virus_rna.fna");
    assert!(other.warnings().is_empty(), "{}", other.stderr);
}

/// A map beside the genomes or in the given folder is used, and a note names it.
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
            let note = format!("taxids are also taken from {map}");
            assert!(built.stderr.lines().any(|line| line == note), "{}", built.stderr);
            assert!(built.warnings().is_empty(), "{}", built.stderr);
            built.ok();
            let lines = dir.run(&format!("classify -q {format} r.fa")).ok();
            assert_eq!(taxids(&lines)[..2], ["101", "102"]);
        }
        // A map that was given has precedence, without a note.
        dir.write("own.map", "a\t102\n");
        let built = dir.run("build --taxonomy tax --map own.map -o x.mgdb k");
        built.ok();
        assert!(dir.run("db taxa --sequences x.mgdb").ok().contains("\na\t102\t"));
        let given = dir.run(&format!("build --taxonomy tax --map {map} -o x.mgdb k"));
        assert!(!given.stderr.contains("taken from"), "{}", given.stderr);
        fs::remove_file(dir.path(&map)).unwrap();
    }
}

/// Genomes that are read more than once cannot come from a pipe (case 08d).
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
        assert!(said.contains("only once"), "{line}: {said}");
        assert!(!dir.path("x.mgdb").exists(), "{line}");
    }
    // Genomes that are read once can.
    shell("$M build -q --taxonomy tax -o x.mgdb <(cat g.fa)").ok();
    assert!(dir.read("x.mgdb") == dir.read("refs.mgdb"));
    let lines = dir.run("classify -q refs.mgdb r.fa").ok();
    let piped = shell("$M classify -q --references <(cat g.fa) --taxonomy tax r.fa");
    assert_eq!(piped.ok(), lines);
}

/// Contradictory taxids of a sequence in two maps or in one header have a warning.
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
        // A map beside the genomes and headers are used only for sequences that given maps lack.
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
