//! Histograms of known genomes: cut off, with organelles, with high coverage, from other programs.

use std::collections::HashMap;

use super::cases;
use merganser_test_support::{Dir, Ran};

/// Returns the values that a run printed.
fn values(ran: Ran) -> HashMap<String, f64> {
    let text = ran.ok();
    let lines = text.lines().filter_map(|line| line.split_once('\t'));
    lines.filter_map(|(key, value)| Some((key.to_owned(), value.parse().ok()?))).collect()
}

#[track_caller]
fn close(values: &HashMap<String, f64>, key: &str, wanted: f64, within: f64) {
    let found = values[key];
    assert!((found - wanted).abs() <= within * wanted, "{key}: {found}, not {wanted}: {values:?}");
}

/// Fits a model to a histogram of the cases; `None` if they are missing.
fn model(dir: &Dir, name: &str, options: &str) -> Option<Ran> {
    let path = cases(&format!("kmers/{name}"))?;
    std::fs::copy(path, dir.path(name)).unwrap();
    Some(dir.run(&format!("kmers histogram --model -k 21 {name} {options}")))
}

/// Returns rows of a haploid genome of half a million bases at 30x, with errors, up to count `to`.
fn rows(to: u32) -> Vec<(u32, u64)> {
    let number = |count: u32| {
        let off = f64::from(count) - 30.0;
        let peak = 5e5 * (-off * off / 60.0).exp() / (60.0 * std::f64::consts::PI).sqrt();
        (count, (peak + 4e6 * 0.1f64.powf(f64::from(count))).round() as u64)
    };
    (1..=to).map(number).collect()
}

fn text(rows: &[(u32, u64)], times: u32) -> String {
    rows.iter().map(|(count, number)| format!("{}\t{number}\n", count * times)).collect()
}

#[test]
fn a_last_row_that_holds_all_higher_counts_is_named() {
    let dir = Dir::new();
    for (name, last) in [("satjf100.hist", 101), ("sat255.hist", 255)] {
        let Some(ran) = model(&dir, name, "--report-data data.json") else { return };
        let start =
            format!("warning: {name}: the last row, of count {last}, holds 200 distinct k-mers");
        assert_eq!(ran.warnings().len(), 1, "{}", ran.stderr);
        assert!(ran.warnings()[0].starts_with(&start), "{}", ran.stderr);
        assert!(ran.warnings()[0].contains("without an upper limit"), "{}", ran.stderr);
        let found = values(ran);
        close(&found, "kmer_coverage", 15.5, 0.01);
        let data: serde_json::Value = serde_json::from_slice(&dir.read("data.json")).unwrap();
        assert!(data["warnings"][0].as_str().unwrap().starts_with("the last row"), "{data}");
    }
}

#[test]
fn a_main_peak_in_the_last_row_is_refused() {
    let dir = Dir::new();
    dir.write("pile", text(&rows(20), 1) + "21\t490000\n");
    dir.write("rising", text(&rows(29), 1));
    dir.write("bins", text(&rows(60), 1).replace('\t', "1\t"));
    let mut told = String::new();
    for name in ["pile", "rising", "bins"] {
        told += &dir.run(&format!("kmers histogram --model -k 21 {name}")).fails(1);
    }
    assert!(told.contains("pile: the main peak lies at or beyond its last count, 21:"), "{told}");
    assert!(told.contains("rising: the main peak lies at or beyond its last count, 29:"), "{told}");
    assert!(told.contains("bins: its counts rise by 10:"), "{told}");
}

#[test]
fn organelles_are_named_and_left_out() {
    let dir = Dir::new();
    let Some(ran) = model(&dir, "g_base.hist", "") else { return };
    assert_eq!(ran.stderr, "");
    close(&values(ran), "genome_size", 2_006_448.0, 0.001);
    for (name, above) in [("g_chloro.hist", 536), ("g_chloro2.hist", 364)] {
        let Some(ran) = model(&dir, name, "") else { return };
        assert_eq!(ran.warnings().len(), 1, "{}", ran.stderr);
        let (_, told) = ran.warnings()[0].split_once("without them the genome has ").unwrap();
        let (bases, advice) = told.split_once(" bases: ").unwrap();
        let bases: f64 = bases.parse().unwrap();
        assert!((bases / 2_006_448.0 - 1.0).abs() < 0.001, "{}", ran.stderr);
        assert!(advice.starts_with(&format!("give --exclude-above {above}")), "{advice}");
        let Some(ran) = model(&dir, name, &format!("--exclude-above {above}")) else { return };
        assert_eq!(ran.stderr, "");
        close(&values(ran), "genome_size", 2_006_448.0, 0.001);
    }
}

#[test]
fn high_coverage_is_no_low_coverage() {
    let dir = Dir::new();
    for (name, coverage, size) in
        [("g_hicov.hist", 1500.0, 2e6), ("g_hicov2.hist", 6000.0, 1_898_825.0)]
    {
        let Some(ran) = model(&dir, name, "--plot p.svg") else { return };
        assert_eq!(ran.stderr, "");
        let found = values(ran);
        close(&found, "kmer_coverage", coverage, 0.001);
        close(&found, "genome_size", size, 0.002);
        close(&found, "heterozygosity", 0.01, 0.03);
        assert!(found["explained"] > 0.99, "{found:?}");
        assert!(dir.read("p.svg").len() < 2 << 20);
    }
}

#[test]
fn reads_that_were_counted_several_times_are_named() {
    let dir = Dir::new();
    let Some(ran) = model(&dir, "h_even.hist", "") else { return };
    let start = "warning: h_even.hist: all counts are multiples of 2:";
    assert!(ran.warnings().len() == 1 && ran.stderr.starts_with(start), "{}", ran.stderr);
    let found = values(ran);
    close(&found, "genome_size", 1.1e6, 0.001);
    close(&found, "kmer_coverage", 25.0, 0.001);
    dir.write("three", text(&rows(60), 3));
    let ran = dir.run("kmers histogram --model -k 21 --ploidy 1 three");
    assert!(
        ran.stderr.starts_with("warning: three: all counts are multiples of 3:"),
        "{}",
        ran.stderr
    );
    close(&values(ran), "genome_size", 5e5, 0.02);
}

#[test]
fn histograms_of_other_programs_are_read_or_named() {
    let dir = Dir::new();
    let Some(ran) = model(&dir, "h_f0f1.hist", "") else { return };
    assert_eq!(ran.stderr, "");
    close(&values(ran), "genome_size", 1.1e6, 0.001);
    let Some(ran) = model(&dir, "h_dup.hist", "") else { return };
    let told = ran.fails(1);
    assert!(
        told.contains("h_dup.hist: line 1001: the count 25 is given twice (first in line 25)"),
        "{told}"
    );
}

/// Histograms of KAT, BBMap and ntCard have the same result as their rows alone.
#[test]
fn headers_of_other_programs_change_nothing() {
    let dir = Dir::new();
    let rows = rows(60);
    dir.write("plain", text(&rows, 1));
    let wanted = dir.run("kmers histogram --model --ploidy 1 -k 27 plain").ok();
    let kat = "# Title:27-mer spectra for: r.fq\n# XLabel:27-mer frequency\n# YLabel:# distinct 27-mers\n\
               # Kmer value:27\n# Input 1:r.fq\n###\n";
    dir.write("kat", kat.to_owned() + &text(&rows, 1).replace('\t', " "));
    assert_eq!(dir.run("kmers histogram --model --ploidy 1 kat").ok(), wanted);
    let told = dir.run("kmers histogram --model --ploidy 1 -k 21 kat").fails(1);
    assert!(told.contains("its k is 27"), "{told}");
    let columns: String =
        rows.iter().map(|(c, n)| format!("{c}\t{}\t{n}\n", u64::from(*c) * n)).collect();
    dir.write("khist.txt", format!("#Depth\tRaw_Count\tUnique_Kmers\n{columns}"));
    assert_eq!(dir.run("kmers histogram --model --ploidy 1 -k 27 khist.txt").ok(), wanted);
    // ntCard omits higher counts but gives the total number of k-mers: here, two fifths are repeats.
    let total: u64 = rows.iter().map(|(count, number)| u64::from(*count) * number).sum();
    dir.write("ntcard", format!("F1\t{}\nF0\t9\n{}", total + 10_000_000, text(&rows, 1)));
    let ran = dir.run("kmers histogram --model --ploidy 1 -k 27 ntcard");
    assert_eq!(ran.stderr, "");
    close(&values(ran), "genome_size", 5e5 + 1e7 / 30.0, 0.02);
    let mut told = String::new();
    for (name, lines) in [
        ("rhist", "#Depth\tReads\tBases\n1\t2\t3\n"),
        ("commas", "1,2500000\n2,9000\n"),
        ("negative", "1 20\n-2 9\n"),
        ("part", "1 20\n2 9.5\n"),
        ("first", "-1 20\n"),
    ] {
        dir.write(name, lines);
        told += &dir.run(&format!("kmers histogram --model -k 21 {name}")).fails(1);
    }
    insta::assert_snapshot!("histogram_lines", told);
}

#[test]
fn k_is_a_whole_number() {
    let dir = Dir::new();
    dir.write("h", text(&rows(60), 1));
    for args in ["kmers histogram --model -k 11.9 h", "count -k 11.9 h", "kmers qv -k 129 -o o h h"]
    {
        let ran = dir.run(args);
        assert_eq!(ran.code, Some(2));
        assert!(ran.stderr.contains("k must be a whole number from 1 to 128"), "{}", ran.stderr);
    }
}
