//! Compares estimates with the output of Bracken, and with its formulas.
#![allow(clippy::unwrap_used, missing_docs, reason = "a test ends by panicking")]

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use merganser_run::Warnings;
use merganser_taxreport::bracken::{Distribution, Estimate, Level};
use merganser_taxreport::report::KrakenReport;

fn data(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/bracken").join(name)
}

fn sample(name: &str) -> (KrakenReport, Distribution) {
    let report =
        KrakenReport::read(data(&format!("{name}.kreport")), &Warnings::default()).unwrap();
    (report, Distribution::read(data(&format!("{name}.kmer_distrib"))).unwrap())
}

fn level(code: &str) -> Level {
    code.parse().unwrap()
}

/// Writes the table and the rewritten report.
fn written(estimate: &Estimate<'_>) -> [String; 2] {
    let (mut table, mut report) = (Vec::new(), Vec::new());
    estimate.write_table(&mut table).unwrap();
    estimate.write_report(&mut report).unwrap();
    [table, report].map(|text| String::from_utf8(text).unwrap())
}

#[test]
fn tables_and_reports_are_those_of_bracken() {
    for name in ["mixture", "odd"] {
        let (report, distribution) = sample(name);
        for code in ["S", "G", "F"] {
            for threshold in [0, 10] {
                let estimate = Estimate::new(&report, &distribution, &level(code), threshold);
                let [table, rewritten] = written(&estimate.unwrap());
                let expected = |end: &str| {
                    fs::read_to_string(data(&format!("{name}.{code}{threshold}.{end}"))).unwrap()
                };
                assert_eq!(table, expected("tsv"), "{name} {code} {threshold}");
                assert_eq!(rewritten, expected("kreport"), "{name} {code} {threshold}");
            }
        }
    }
}

/// Computes the estimated reads of each taxon of the level by the formulas, for a tree in which no taxon skips a
/// level.
fn naive(report: &KrakenReport, distribution: &Distribution, least: u64) -> BTreeMap<u64, f64> {
    let rows = report.rows();
    let species = |at: usize| {
        let mut above = std::iter::successors(Some(at), |&at| rows[at].parent);
        above.find(|&at| rows[at].rank == "S")
    };
    // For each taxid, its species if that has enough reads.
    let kept: BTreeMap<u64, (u64, f64)> = (0..rows.len())
        .filter_map(|at| Some((at, species(at).filter(|&at| rows[at].clade >= least)?)))
        .map(|(at, species)| (rows[at].taxid, (rows[species].taxid, rows[at].own as f64)))
        .collect();
    let part = |taxid: u64, genome: u32| {
        let (_, shares) = distribution.rows.iter().find(|row| u64::from(row.0) == taxid)?;
        let share = shares.iter().find(|share| share.genome == genome)?;
        Some(share.reads as f64 / share.total as f64)
    };
    let mut reads: BTreeMap<u64, f64> = BTreeMap::new();
    for row in rows.iter().filter(|row| row.rank == "S" && row.clade >= least) {
        reads.insert(row.taxid, row.clade as f64);
    }
    for (at, row) in rows.iter().enumerate() {
        if species(at).is_some() || row.is_unclassified() {
            continue;
        }
        let of = distribution.rows.iter().find(|one| u64::from(one.0) == row.taxid);
        let weights: Vec<(u64, f64)> = of
            .into_iter()
            .flat_map(|(_, shares)| shares)
            .filter_map(|share| {
                let genome = u64::from(share.genome);
                let &(species, own) = kept.get(&genome)?;
                let likely = own / part(genome, share.genome).unwrap_or(1.0);
                Some((species, part(row.taxid, share.genome)? * likely))
            })
            .collect();
        let sum: f64 = weights.iter().map(|weight| weight.1).sum();
        for (species, weight) in weights.into_iter().filter(|_| sum > 0.0) {
            *reads.get_mut(&species).unwrap() += row.own as f64 * weight / sum;
        }
    }
    reads
}

#[test]
fn reads_go_where_the_formulas_say() {
    let (report, distribution) = sample("mixture");
    for threshold in [0, 10, 2000] {
        let expected = naive(&report, &distribution, threshold);
        let estimate = Estimate::new(&report, &distribution, &Level::species(), threshold).unwrap();
        let [table, _] = written(&estimate);
        let found: BTreeMap<u64, f64> = table
            .lines()
            .skip(1)
            .map(|line| line.split('\t').collect::<Vec<_>>())
            .map(|cells| (cells[1].parse().unwrap(), cells[5].parse().unwrap()))
            .collect();
        assert!(found.len() > 5, "{table}");
        assert_eq!(found.keys().collect::<Vec<_>>(), expected.keys().collect::<Vec<_>>());
        for (taxid, reads) in expected {
            // Bracken truncates the numbers.
            assert!((reads - 0.5 - found[&taxid]).abs() < 0.51, "{taxid} {reads} {table}");
        }
        assert_eq!(estimate.doubt(), None);
        let notes = estimate.notes();
        let above: u64 = notes.distributed + notes.not_distributed;
        let species: u64 =
            report.rows().iter().filter(|row| row.rank == "S").map(|row| row.clade).sum();
        assert_eq!(above + species + report.unclassified(), report.total());
    }
}

/// Tests entries of 0 reads and distributions that lack taxa.
#[test]
fn odd_distributions() {
    let text = "9\t90\t0\tR\t1\troot\n9\t90\t40\tG\t2\t  g\n9\t30\t30\tS\t3\t    s\n\
                9\t20\t20\tS\t4\t    t\n";
    let report = KrakenReport::of_text(text.as_bytes()).unwrap();
    let share = |genome, reads| merganser_taxreport::bracken::Share { genome, reads, total: 100 };
    let estimate = |rows: &[(u32, &[(u32, u64)])]| {
        let shares =
            |row: &[(u32, u64)]| row.iter().map(|&(genome, reads)| share(genome, reads)).collect();
        let rows = rows.iter().map(|&(taxid, row)| (taxid, shares(row))).collect();
        let distribution = Distribution { rows, ..Distribution::default() };
        let estimate = Estimate::new(&report, &distribution, &Level::species(), 0).unwrap();
        let [table, _] = written(&estimate);
        let added = |line: &str| line.split('\t').nth(4).unwrap().parse().unwrap();
        (table.lines().skip(1).map(added).collect::<Vec<u64>>(), estimate.doubt())
    };
    let own: [(u32, &[(u32, u64)]); 2] = [(3, &[(3, 90)]), (4, &[(4, 90)])];
    let with = |genus: &'static [(u32, u64)]| [own[0], own[1], (2, genus)];
    assert_eq!(estimate(&with(&[(3, 0), (4, 10)])), (vec![0, 40], None));
    assert_eq!(estimate(&with(&[(3, 0), (4, 0)])), (vec![0, 0], None), "no genome gets them");
    // If none of a genome's reads are assigned to itself, the result is as without a row.
    assert_eq!(estimate(&[(3, &[(3, 0)]), (4, &[(4, 0)]), (2, &[(3, 10), (4, 10)])]).0, [24, 16]);
    let (added, doubt) = estimate(&[(77, &[(77, 50)])]);
    assert_eq!(added, [0, 0]);
    assert_eq!(
        doubt.unwrap(),
        "no genome of the report's 2 taxa of level S (50 reads) is in it: give that of the database that the \
         reads were classified with"
    );
    let (_, doubt) = estimate(&[(4, &[(4, 50)])]);
    assert!(
        doubt
            .unwrap()
            .starts_with("1 of the report's 2 taxa of level S, with 30 of 50 reads, have no")
    );
    let (_, doubt) = estimate(&[(3, &[(3, 50)])]);
    assert!(doubt.unwrap().contains(" with 20 of 50 reads, have no genome in it"));
    // Reads of another species' genome, classified as this one, are no genome of it.
    let (_, doubt) = estimate(&[own[0], (4, &[(3, 5)])]);
    assert!(doubt.unwrap().contains(" with 20 of 50 reads, have no genome in it"));
    // A genome of a taxon below the species is sufficient, and so is a row of the species.
    assert_eq!(estimate(&[(3, &[(999, 50)]), own[1]]).1, None);
}

#[test]
fn levels_and_foreign_reports() {
    for code in ["", "s", "U", "R", "SS", "S0", "S-1", "S1a", "1"] {
        assert!(code.parse::<Level>().unwrap_err().starts_with("give one of D, K, P"), "{code}");
    }
    assert_eq!(level("S12").to_string(), "S12");
    let row = |code: &str| format!("9\t9\t9\t{code}\t5\t  x\n");
    let text = format!("9\t9\t0\tR\t1\troot\n{}", row("X"));
    let report = KrakenReport::of_text(text.as_bytes()).unwrap();
    let none = Distribution::default();
    let error = Estimate::new(&report, &none, &Level::species(), 0).unwrap_err().to_string();
    assert!(error.starts_with("the report has taxid 5 with rank code X, "), "{error}");
    // No reads to estimate, or a distribution that knows none of the taxa.
    for (text, lines) in
        [("", 0), ("9\t9\t9\tU\t0\tunclassified\n", 0), (&text.replace('X', "S"), 1)]
    {
        let report = KrakenReport::of_text(text.as_bytes()).unwrap();
        let estimate = Estimate::new(&report, &none, &Level::species(), 0).unwrap();
        let [table, rewritten] = written(&estimate);
        assert_eq!(table.lines().count(), 1 + lines, "{table}");
        assert_eq!(rewritten.lines().count(), 2 * lines, "{rewritten}");
    }
}

/// Returns the text of a report with all numbers of reads multiplied.
fn times(report: &KrakenReport, factor: u64) -> KrakenReport {
    let mut text = Vec::new();
    report.write(&mut text).unwrap();
    let text = String::from_utf8(text).unwrap();
    let line = |line: &str| {
        let mut cells: Vec<String> = line.split('\t').map(str::to_owned).collect();
        for cell in &mut cells[1..3] {
            *cell = (cell.parse::<u64>().unwrap() * factor).to_string();
        }
        cells.join("\t") + "\n"
    };
    let text: String = text.lines().map(line).collect();
    KrakenReport::of_text(text.as_bytes()).unwrap()
}

#[test]
fn bases_are_distributed_in_the_proportions_of_reads() {
    let (report, distribution) = sample("mixture");
    let bases = times(&report, 1000);
    let estimate = Estimate::with_bases(&report, &bases, &distribution, &level("S"), 10).unwrap();
    let [table, _] = written(&estimate);
    let plain = Estimate::new(&report, &distribution, &level("S"), 10).unwrap();
    let [plain, _] = written(&plain);
    assert_eq!(table.lines().count(), plain.lines().count());
    let added: u64 = table
        .lines()
        .zip(plain.lines())
        .skip(1)
        .map(|(line, plain)| {
            // The columns of Bracken come first, unchanged.
            let rest = line.strip_prefix(plain).unwrap();
            let cells: Vec<&str> = plain.split('\t').collect();
            let more: Vec<&str> = rest[1..].split('\t').collect();
            let number = |text: &str| text.parse::<u64>().unwrap();
            assert_eq!(number(more[0]), 1000 * number(cells[3]), "{line}");
            // Reads are shown without their fraction.
            assert_eq!(number(more[1]) / 1000, number(cells[5]), "{line}");
            let [share, of_reads] = [more[2], cells[6]].map(|text| text.parse::<f64>().unwrap());
            assert!((share - of_reads).abs() < 0.001, "{line}");
            number(more[1]) - number(more[0])
        })
        .sum();
    assert!(added > 1000, "{added}");
    let (other, _) = sample("odd");
    let error = Estimate::with_bases(&report, &other, &distribution, &level("S"), 10).unwrap_err();
    assert!(error.to_string().contains("the report of bases has taxid "), "{error}");
}
