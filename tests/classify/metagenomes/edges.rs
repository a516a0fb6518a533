//! Edge cases: reads without a k-mer, unknown taxids, and thresholds that depend on the length of reads or on
//! genomes.

use super::world::{World, lines, names, nodes};

/// Reads without a k-mer have a line and are unclassified, as single reads and in pairs; a sample may consist of
/// only such reads.
#[test]
fn reads_without_a_kmer() {
    let world = World::built();
    let dir = &world.dir;
    let genome = String::from_utf8_lossy(&world.genomes[2]).into_owned();
    let (k18, k19) = (&genome[..18], &genome[..19]);
    let broken = format!("{k18}N").repeat(6);
    dir.write("r.fa", format!(">short\n{k18}\n>one\n{k19}\n>n\nNNNNNNNNNN\n>broken\n{broken}\n"));
    let text = dir.run("classify refs.mgdb r.fa --hitmin 1 --report r -q").ok();
    let found = lines(&text);
    let lengths: Vec<&str> = found.iter().map(|line| &line.length[..]).collect();
    assert_eq!(lengths, ["18", "19", "10", "114"]);
    for at in [0, 2, 3] {
        assert!(found[at].taxid == 0 && found[at].candidates.is_empty(), "{text}");
    }
    dir.write("none.fa", format!(">short\n{k18}\n>n\nNNNN\n"));
    let none = dir.run("classify refs.mgdb none.fa --report none -q").ok();
    assert_eq!(none, "U\tshort\t0\t18\t0:0\nU\tn\t0\t4\t0:0\n");
    assert_eq!(dir.read("none"), b"100.00\t2\t2\tU\t0\tunclassified\n");
    // A mate without k-mers does not affect the other mate.
    dir.write("1.fa", format!(">p\n{k18}\n"));
    dir.write("2.fa", format!(">p\n{}\n", &genome[..200]));
    let pair = lines(&dir.run("classify refs.mgdb -1 1.fa -2 2.fa -q").ok());
    assert_eq!((pair[0].taxid, &pair[0].length[..]), (21, "18|200"));
}

/// A sequence with an unknown taxid, whatever its source, is left out and listed. A taxid whose parent is missing is
/// kept.
#[test]
fn a_taxid_that_is_not_in_the_tree() {
    let world = World::new();
    let dir = &world.dir;
    let letters = |genome: usize| String::from_utf8_lossy(&world.genomes[genome]).into_owned();
    for (name, header) in [("h.fa", "x1 kraken:taxid|4711"), ("m.fa", "x2"), ("a.fa", "AB000001.1")]
    {
        dir.write(name, format!(">{header}\n{}\n", letters(0)));
    }
    dir.write("map.tsv", "x2\t4712\n");
    dir.write(
        "tax/a.accession2taxid",
        "accession\taccession.version\ttaxid\tgi\nAB000001\tAB000001.1\t4713\t0\n",
    );
    let build = "build --taxonomy tax --map map.tsv -o x.mgdb --unmapped u h.fa m.fa a.fa genomes";
    let ran = dir.run(build);
    assert_eq!(ran.warnings().len(), 1, "{}", ran.stderr);
    assert!(ran.warnings()[0].contains("3 sequences have no taxon"), "{}", ran.stderr);
    ran.ok();
    assert_eq!(
        String::from_utf8(dir.read("u")).unwrap(),
        "x1\ttaxid 4711 is not in the taxonomy\nx2\ttaxid 4712 is not in the taxonomy\n\
         AB000001.1\ttaxid 4713 is not in the taxonomy\n"
    );
    assert!(dir.run(&format!("{build} --strict")).fails(1).contains("x1"), "named");
    dir.write("tax/nodes.dmp", nodes() + "4711\t|\t4710\t|\tspecies\t|\t\t|\t0\t|\n");
    dir.write("tax/names.dmp", names() + "4711\t|\tOrphan\t|\t\t|\tscientific name\t|\n");
    let ran = dir.run("build --taxonomy tax -o x.mgdb h.fa");
    assert!(ran.warnings()[0].contains("have no parent in nodes.dmp"), "{}", ran.stderr);
    ran.ok();
    assert!(dir.run("db taxa x.mgdb --sequences").ok().contains("\t4711\tspecies"), "kept");
}

/// Half the density gives half the features and still finds the same k-mers; a density out of range is a usage error.
#[test]
fn the_density_of_features() {
    let world = World::built();
    let dir = &world.dir;
    let features = |options: &str| -> u64 {
        dir.run(&format!("build -q --taxonomy tax {options} -o x.mgdb genomes")).ok();
        let info = dir.run("db info x.mgdb --json").ok();
        let info: serde_json::Value = serde_json::from_str(&info).unwrap();
        info["features"].as_u64().unwrap()
    };
    let (sparse, dense) = (features("--density 40"), features("--density 80"));
    assert!((19..=21).contains(&(10 * dense / sparse)), "{sparse} {dense}");
    let found = lines(&dir.run("classify x.mgdb -1 1.fq -2 2.fq -q").ok());
    assert!(found.iter().filter(|line| line.taxid == 21).count() > 150);
    for density in ["0", "257"] {
        let message =
            dir.run(&format!("build -q --taxonomy tax --density {density} -o y genomes")).fails(2);
        assert!(message.contains(&format!("the density is {density}: give 1 to 256")), "{message}");
    }
}

/// With `--hitmin-per-kb`, a read of 300 bases needs three times the hits of one of 100 bases.
#[test]
fn hits_by_the_length_of_the_read() {
    let world = World::built();
    let dir = &world.dir;
    let genome = String::from_utf8_lossy(&world.genomes[2]).into_owned();
    // Both reads share 100 bases with the genome.
    let same = &genome[500..600];
    let other = String::from_utf8_lossy(&world.genomes[3][..200]).into_owned();
    dir.write("r.fa", format!(">a\n{same}\n>b\n{same}{other}\n"));
    let run = |options: &str| dir.run(&format!("classify refs.mgdb r.fa --hitmin 2 {options}"));
    let taxids = |text: &str| lines(text).iter().map(|line| line.taxid).collect::<Vec<_>>();
    let all = run("");
    let hits = lines(&all.ok())[0].candidates[0].1;
    let needed = 10 * hits;
    let strict = run(&format!("--hitmin-per-kb {needed} --json j"));
    assert!(strict.stderr.contains(&format!("hitmin 2 or {needed} per 1,000 bases")));
    assert_eq!(taxids(&strict.ok()), [21, 0]);
    assert_eq!(taxids(&run(&format!("--hitmin-per-kb {}", needed / 4)).ok()), [21, 21]);
    let json: serde_json::Value = serde_json::from_slice(&dir.read("j")).unwrap();
    assert_eq!(json["parameters"]["hitmin_per_kb"], needed);
}

/// Each command that reads alignments reports the number of skipped ones, if there are any.
#[test]
fn alignments_passed_over_are_said() {
    let world = World::built();
    let dir = &world.dir;
    let read = |flags: u32, letters: &[u8]| {
        let letters = String::from_utf8_lossy(letters);
        format!("r\t{flags}\t*\t0\t0\t*\t*\t0\t0\t{letters}\t*\n")
    };
    let letters = &world.genomes[0][..120];
    dir.write("none.sam", format!("@HD\tVN:1.6\n{}", read(0, letters)));
    let text = [0, 0x100, 0x800, 0x900].map(|flags| read(flags, letters)).concat();
    dir.write("a.sam", format!("@HD\tVN:1.6\n{text}"));
    dir.run("count -q -k 21 --min-count 1 -o t.mgk none.sam").ok();
    for command in [
        "kmers filter-reads -o x t.mgk",
        "kmers profile -o x t.mgk",
        "classify refs.mgdb -o x",
        "map -e 4 -o x.sam genomes/a.fa",
        "count -k 21 -o x.mgk",
    ] {
        let ran = dir.run(&format!("{command} a.sam"));
        let says = "3 secondary and supplementary alignments were skipped";
        assert!(ran.stderr.lines().any(|line| line == says), "{command}: {}", ran.stderr);
        ran.ok();
        let none = dir.run(&format!("{command} none.sam"));
        assert!(!none.stderr.contains("alignments"), "{command}: {}", none.stderr);
        none.ok();
    }
}
