//! GenomeScope's published histograms (`schatzlab/genomescope`, `analysis/real_data`) and the values of its summaries.
//! They are those of version 1.0, which left out counts above 1,000. The repository of GenomeScope 2 has no histograms.

use std::collections::HashMap;
use std::path::Path;

use merganser_test_support::Dir;

use super::data::{Cases, files, peer};

/// Returns the means of the two numbers in each line of a summary, in per cent or bases.
fn summary(text: &str) -> HashMap<&str, f64> {
    let mut values = HashMap::new();
    for line in text.lines().filter(|line| line.len() > 30) {
        let (name, cells) = line.split_at(30);
        let number = |cell: &str| cell.replace([',', '%'], "").parse::<f64>().ok();
        let cells: Vec<f64> = cells.split_whitespace().filter_map(number).collect();
        if let [least, most] = cells[..] {
            values.insert(name.trim(), f64::midpoint(least, most));
        }
    }
    values
}

/// Our values, by the name in GenomeScope 1's summary and in ours, and the difference that is accepted.
const VALUES: [(&str, &str, f64); 4] = [
    ("Heterozygosity", "Heterozygous (ab)", 0.08),
    ("Genome Haploid Length", "Genome Haploid Length", 0.02),
    ("Genome Unique Length", "Genome Unique Length", 0.02),
    ("Read Error Rate", "Read Error Rate", 0.2),
];

fn coverage(model: &str) -> f64 {
    let line = model.lines().find(|line| line.starts_with("kmercov")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

#[test]
fn published_histograms_have_the_published_values() {
    let Some(folder) = peer("genomescope/analysis/real_data") else { return };
    let dir = Dir::new();
    let mut cases = Cases::of("GenomeScope");
    for file in files(&folder, "_21.hist") {
        let name = file.file_name().unwrap().to_string_lossy().into_owned();
        let result = |file_name: &str| {
            let path = folder.join(format!("{name}_results")).join(file_name);
            std::fs::read_to_string(path).unwrap()
        };
        let ours = model(&dir, &file);
        let found = coverage(&result("model.txt")) / ours["kmer_coverage"] - 1.0;
        cases.add(&format!("{name}: kmercov"), found.abs() < 0.01);
        let (theirs, summary_of_ours) = (result("summary.txt"), dir.read("summary.txt"));
        let summary_of_ours = String::from_utf8(summary_of_ours).unwrap();
        let [theirs, ours] = [summary(&theirs), summary(&summary_of_ours)];
        for (key, own_key, within) in VALUES {
            let difference = ours[own_key] / theirs[key] - 1.0;
            eprintln!("{name}: {key} {:+.1} %", 100.0 * difference);
            cases.add(&format!("{name}: {key}"), difference.abs() < within);
        }
    }
    cases.end(&[]);
}

/// Fits a model, writes `summary.txt`, and returns the printed values by name.
fn model(dir: &Dir, file: &Path) -> HashMap<String, f64> {
    let options = "-k 21 --exclude-above 1000 --genomescope-summary summary.txt";
    let text = dir.run(&format!("kmers histogram --model {options} {}", file.display())).ok();
    let lines = text.lines().filter_map(|line| line.split_once('\t'));
    lines.filter_map(|(key, value)| Some((key.to_owned(), value.parse().ok()?))).collect()
}
