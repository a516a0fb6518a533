//! Other programs that read Kraken-style reports also read ours. They are optional, because Debian does not package
//! them: `bracken` (its est_abundance.py on the PATH) and `pip install multiqc`.

use std::collections::BTreeMap;

use super::reports::kreport;
use super::world::World;
use merganser_test_support::Dir;
use merganser_test_support::tools::{by_chance, shell};

/// Half of the reads of two genomes with a common half belong to their genus; Bracken recovers the mixture 3 : 1 : 2.
#[test]
fn bracken_estimates_from_our_report() {
    if !by_chance("est_abundance.py") {
        return;
    }
    let world = World::built();
    let dir = &world.dir;
    let [one, two] = world.pairs(7000, 3);
    dir.write("1.fq", one);
    dir.write("2.fq", two);
    dir.run("classify refs.mgdb -1 1.fq -2 2.fq --no-map --report r.kreport -q").ok();
    // Number of k-mers mapped to each taxon, by genome.
    dir.write(
        "x.kmer_distrib",
        "mapped_taxid\tgenome_taxids:kmers_mapped:total_genome_kmers\n\
         10\t11:15000:30000 12:15000:30000\n11\t11:15000:30000\n12\t12:15000:30000\n\
         21\t21:30000:30000\n",
    );
    let command = "est_abundance.py -i r.kreport -k x.kmer_distrib -o b.tsv --out-report b.kreport";
    shell(dir.root(), command);
    let table = String::from_utf8(dir.read("b.tsv")).unwrap();
    let shares: BTreeMap<&str, f64> = table
        .lines()
        .skip(1)
        .map(|line| line.split('\t').collect::<Vec<_>>())
        .map(|cells| (cells[1], cells[6].parse().unwrap()))
        .collect();
    assert_eq!(shares.len(), 3, "{table}");
    for (taxid, share) in [("11", 3.0 / 6.0), ("12", 1.0 / 6.0), ("21", 2.0 / 6.0)] {
        assert!((shares[taxid] - share).abs() < 0.01, "{taxid} {table}");
    }
    let report = String::from_utf8(dir.read("b.kreport")).unwrap();
    let genus = report.lines().find(|line| line.contains("\t10\t")).unwrap();
    assert!(genus.ends_with("\tG\t10\t            Escherichia"), "{report}");
}

/// MultiQC shows the counts by rank of each sample, also if all or no reads are classified, and with columns of
/// minimizers. It omits an empty sample.
#[test]
fn multiqc_shows_our_reports() {
    if !by_chance("multiqc") {
        return;
    }
    let world = World::built();
    let dir: &Dir = &world.dir;
    dir.write("none.fa", format!(">x\n{}\n", "ACGTTGCA".repeat(20)));
    dir.write("empty.fa", "");
    let genome = String::from_utf8_lossy(&world.genomes[2]);
    dir.write("all.fa", format!(">y\n{genome}\n"));
    for (name, reads) in [
        ("mixed", "-1 1.fq -2 2.fq"),
        ("distinct", "-1 1.fq -2 2.fq --report-minimizer-data"),
        ("all", "all.fa"),
        ("none", "none.fa"),
        ("empty", "empty.fa"),
    ] {
        dir.run(&format!("classify refs.mgdb {reads} --no-map --report {name}.kreport -q")).ok();
    }
    shell(dir.root(), "multiqc --no-ansi --no-version-check -m kraken -o out *.kreport 2>&1");
    let table = String::from_utf8(dir.read("out/multiqc_data/multiqc_kraken.txt")).unwrap();
    let mut rows = table.lines().map(|line| line.split('\t').collect::<Vec<_>>());
    let codes = rows.next().unwrap();
    let mut samples = 0;
    for cells in rows {
        let report = format!("{}.kreport", cells[0].trim_end_matches(".kreport"));
        for row in kreport(&String::from_utf8(dir.read(&report)).unwrap()) {
            let Some(at) = codes.iter().position(|code| *code == row.code) else { continue };
            assert!(cells[at].contains(&format!("'{}': {}", row.name, row.clade)), "{table}");
        }
        samples += 1;
    }
    assert_eq!(
        (codes.len(), samples),
        (10, 4),
        "the name, root, seven ranks, unclassified: {table}"
    );
}
