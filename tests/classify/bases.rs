//! Bases of reads by taxon: reports, tables and joined results have the sums of the lengths in the lines.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use merganser_test_support::Dir;
use merganser_test_support::reads::Random;
use merganser_test_support::two_species::{write_genomes, write_taxonomy};

/// The taxids of the taxonomy with their parents, the root last.
const PARENTS: [(u64, u64); 5] = [(11, 10), (12, 10), (10, 2), (2, 1), (1, 0)];

/// Writes reads of very different lengths, of both species, of a part that both share, and of nothing: single ones to
/// `long.fa`, pairs to `1.fa` and `2.fa`.
fn write_reads(dir: &Dir, genomes: &[Vec<u8>], random: &mut Random) {
    let [mut long, mut first, mut second] = [String::new(), String::new(), String::new()];
    for number in 0..120 {
        let genome = &genomes[number % genomes.len()];
        let mut letters = |most: usize| {
            let length = 40 + random.below(most);
            let start = random.below(genome.len() - length);
            String::from_utf8(genome[start..start + length].to_vec()).unwrap()
        };
        writeln!(long, ">l{number}\n{}", letters(5_000)).unwrap();
        writeln!(first, ">p{number}/1\n{}", letters(120)).unwrap();
        writeln!(second, ">p{number}/2\n{}", letters(700)).unwrap();
    }
    // A read without letters, and one that is too short.
    long += ">empty\n\n>short\nACGTA\n";
    dir.write("long.fa", long);
    dir.write("1.fa", first);
    dir.write("2.fa", second);
}

/// A directory with the databases `refs.mgdb` and `k2`, and reads.
fn prepared() -> Dir {
    let dir = Dir::new();
    write_taxonomy(&dir);
    let mut random = Random(11);
    let mut genomes = write_genomes(&dir, 20_000, &mut random);
    let common = random.bases(4_000);
    for (number, taxid) in [(0, 11), (1, 12)] {
        genomes[number].extend(&common);
        let text = String::from_utf8(genomes[number].clone()).unwrap();
        dir.write(&format!("g{number}.fa"), format!(">g{number}|kraken:taxid|{taxid}\n{text}\n"));
    }
    genomes.push([&common[..], &common[..]].concat());
    write_reads(&dir, &genomes, &mut random);
    dir.run("build -q --taxonomy tax --bracken 100 -o refs.mgdb g0.fa g1.fa").ok();
    dir.run("build -q --format kraken2 --taxonomy tax -o k2 g0.fa g1.fa").ok();
    dir
}

/// Returns the bases of the reads of each taxid, from the lines of the reads.
fn bases_of_lines(lines: &str) -> BTreeMap<u64, u64> {
    let mut bases = BTreeMap::new();
    for line in lines.lines() {
        let cells: Vec<&str> = line.split('\t').collect();
        let length: u64 = cells[3].split('|').map(|mate| mate.parse::<u64>().unwrap()).sum();
        *bases.entry(cells[2].parse().unwrap()).or_default() += length;
    }
    bases
}

/// Returns the clade's and the taxon's own numbers of each taxid in a Kraken-style report.
fn rows(report: &str) -> BTreeMap<u64, [u64; 2]> {
    let row = |line: &str| {
        let cells: Vec<&str> = line.split('\t').collect();
        assert_eq!(cells.len(), 6, "{line}");
        let number = |at: usize| cells[at].parse::<u64>().unwrap();
        (number(4), [number(1), number(2)])
    };
    report.lines().map(row).collect()
}

/// Returns the rows that a report of these bases has.
fn expected(own: &BTreeMap<u64, u64>) -> BTreeMap<u64, [u64; 2]> {
    let of = |taxid: u64| own.get(&taxid).copied().unwrap_or(0);
    let mut clades: BTreeMap<u64, u64> = BTreeMap::new();
    for (taxid, parent) in PARENTS {
        let clade = of(taxid) + clades.get(&taxid).copied().unwrap_or(0);
        clades.insert(taxid, clade);
        *clades.entry(parent).or_default() += clade;
    }
    clades.insert(0, of(0));
    let rows = clades.into_iter().filter(|row| row.1 > 0);
    rows.map(|(taxid, clade)| (taxid, [clade, of(taxid)])).collect()
}

#[test]
fn bases_are_the_sums_of_lengths() {
    let dir = prepared();
    for database in ["refs.mgdb", "k2"] {
        for reads in
            ["long.fa", "-1 1.fa -2 2.fa", "-1 1.fa -2 2.fa long.fa --report-minimizer-data"]
        {
            let run = format!("classify -q {database} {reads} --report reads --report-bases");
            let lines = dir.run(&format!("{run} bases -t 1")).ok();
            let own = bases_of_lines(&lines);
            let found = String::from_utf8(dir.read("bases")).unwrap();
            assert_eq!(rows(&found), expected(&own), "{database} {reads}");
            assert!(own.len() > 3, "{own:?}");
            // Percentages are those of bases.
            let all: u64 = own.values().sum();
            let percent = 100.0 * own[&0] as f64 / all as f64;
            assert!(found.contains(&format!("{percent:6.2}\t{}\t", own[&0])), "{found}");
            assert_eq!(dir.run(&format!("{run} again -t 3")).ok(), lines);
            assert_eq!(dir.read("again"), dir.read("bases"), "{database} {reads}");
        }
    }
}

#[test]
fn tables_have_bases_beside_reads() {
    let dir = prepared();
    let distribution = "refs.mgdb.100mers.kmer_distrib";
    let bracken = format!("--bracken {distribution} --bracken-threshold 1");
    let outputs = format!("--report r.kreport --report-bases b.kreport {bracken}");
    let lines = dir.run(&format!(
        "classify -q refs.mgdb long.fa {outputs} --bracken-output b.bracken --abundance b.tsv --bases \
         --report-data b.json --report-html b.html"
    ));
    let own = bases_of_lines(&lines.ok());
    dir.run(&format!(
        "classify -q refs.mgdb long.fa {bracken} --no-map --bracken-output r.bracken --abundance r.tsv"
    ))
    .ok();
    let text = |name: &str| String::from_utf8(dir.read(name)).unwrap();
    for (with, without, heading) in [
        ("b.bracken", "r.bracken", "\tbases\tnew_est_bases\tfraction_total_bases"),
        ("b.tsv", "r.tsv", "\tbases\testimated_bases\tpercent_bases"),
    ] {
        let (with, without) = (text(with), text(without));
        assert_eq!(with.lines().count(), without.lines().count());
        for (number, (line, before)) in with.lines().zip(without.lines()).enumerate() {
            // The other columns are unchanged, before those of bases.
            let rest = line.strip_prefix(before).unwrap_or_else(|| panic!("{line}\n{before}"));
            assert_eq!(rest.matches('\t').count(), 3, "{line}");
            assert!(number > 0 || rest == heading, "{rest}");
        }
    }
    // All bases of the genus and the species are those of species in the end, and those of a species stay with it.
    let table = text("b.bracken");
    let cells = |line: &str| line.split('\t').map(str::to_owned).collect::<Vec<_>>();
    let species: Vec<Vec<String>> = table.lines().skip(1).map(cells).collect();
    assert_eq!(species.len(), 2, "{table}");
    let sum = |at: usize| species.iter().map(|row| row[at].parse::<u64>().unwrap()).sum::<u64>();
    assert_eq!(sum(7), own[&11] + own[&12]);
    let all: u64 = own.iter().filter(|one| *one.0 > 0).map(|one| one.1).sum();
    assert!(all - sum(8) <= species.len() as u64 && own[&10] > 0, "{table}");
    let abundance = text("b.tsv");
    assert!(abundance.contains(&format!("\t{}\t{}\t", own[&0], own[&0])), "{abundance}");
    // The command for reports gives the same table.
    let again =
        format!("report bracken -d {distribution} --threshold 1 r.kreport --bases b.kreport");
    assert_eq!(dir.run(&again).ok(), table);
    // Commands for reports read the report of bases.
    dir.run("report merge --format kreport b.kreport -o same").ok();
    assert_eq!(rows(&text("same")), rows(&text("b.kreport")));
    let krona = dir.run("report krona b.kreport").ok();
    let sum: u64 = krona.lines().skip(1).map(|line| cells(line)[0].parse::<u64>().unwrap()).sum();
    assert_eq!(sum, own.values().sum::<u64>());
    let data = text("b.json");
    assert!(data.contains(&format!("\"unclassified_bases\":{}", own[&0])), "{data}");
    let usage = dir.run("classify refs.mgdb long.fa --bases -o x").fails(2);
    assert!(usage.contains("--bases adds columns to --abundance"), "{usage}");
}

#[test]
fn partial_results_and_merged_results_have_bases() {
    let dir = prepared();
    for database in ["refs.mgdb", "k2"] {
        let all = format!("classify -q {database} -1 1.fa -2 2.fa long.fa");
        dir.run(&format!("{all} --no-map --report-bases all --abundance all.tsv --bases")).ok();
        dir.run(&format!("classify -q {database} -1 1.fa -2 2.fa --no-map --partial a.partial"))
            .ok();
        dir.run(&format!("classify -q {database} long.fa --no-map --partial b.partial")).ok();
        let merged = |format: &str| {
            dir.run(&format!("report merge -q --format {format} --bases a.partial b.partial"))
        };
        assert_eq!(merged("kreport").ok().as_bytes(), dir.read("all"), "{database}");
        assert_eq!(merged("abundance").ok().as_bytes(), dir.read("all.tsv"), "{database}");
        let refused = merged("cami").fails(2);
        assert!(refused.contains("--bases cannot be used with --format cami"), "{refused}");
        for shard in [1, 2] {
            dir.run(&format!(
                "{all} --shard {shard}/2 -t {shard} --partial s{shard}.partial -o s{shard}"
            ))
            .ok();
        }
        dir.run(
            "classify join -q s2.partial s1.partial --report-bases joined --abundance j --bases",
        )
        .ok();
        assert_eq!(dir.read("joined"), dir.read("all"), "{database}");
        assert_eq!(dir.read("j"), dir.read("all.tsv"), "{database}");
        let shard =
            dir.run(&format!("{all} --shard 1/2 --partial x --report-bases y -o z")).fails(2);
        assert!(shard.contains("--report-bases needs all reads"), "{shard}");
    }
    // Lines of one database, merged as if there were several.
    let lines = dir.run("classify -q refs.mgdb long.fa -o one.tsv --report-bases one").ok();
    assert_eq!(lines, "");
    dir.run("db merge-results -q -d refs.mgdb one.tsv -o two.tsv --report-bases two").ok();
    let own = bases_of_lines(&String::from_utf8(dir.read("two.tsv")).unwrap());
    assert_eq!(rows(&String::from_utf8(dir.read("two")).unwrap()), expected(&own));
}
