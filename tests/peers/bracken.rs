//! Bracken's sample data: its committed table, and the outputs of its script `est_abundance.py`.

use std::path::Path;

use merganser_test_support::Dir;
use merganser_test_support::tools::{by_chance, shell};

use super::data::{Cases, peer};

fn estimate(dir: &Dir, samples: &Path, level: &str, threshold: u32) {
    let options = format!("-l {level} --threshold {threshold} -o o.txt --out-report o.report");
    let [distribution, report] =
        ["sample_kmer_distr_75mers.txt", "sample_test.report"].map(|name| samples.join(name));
    let inputs = format!("-d {} {}", distribution.display(), report.display());
    dir.run(&format!("report bracken {options} {inputs}")).ok();
}

fn sorted(text: &[u8]) -> Vec<&[u8]> {
    let mut lines: Vec<&[u8]> = text.split(|&byte| byte == b'\n').collect();
    lines.sort_unstable();
    lines
}

#[test]
fn the_committed_table_has_our_rows() {
    let Some(samples) = peer("Bracken/sample_data") else { return };
    let dir = Dir::new();
    estimate(&dir, &samples, "S", 10);
    let mut cases = Cases::of("Bracken, committed outputs");
    let theirs = std::fs::read(samples.join("sample_output_species_abundance.txt")).unwrap();
    let ours = dir.read("o.txt");
    cases.add("species_abundance.txt, order", ours == theirs);
    cases.add("species_abundance.txt, rows", sorted(&ours) == sorted(&theirs));
    let theirs = std::fs::read(samples.join("sample_output_bracken.report")).unwrap();
    cases.add("bracken.report", dir.read("o.report") == theirs);
    cases.end(&["species_abundance.txt, order", "bracken.report"]);
}

#[test]
fn outputs_are_those_of_the_script() {
    let Some(script) = peer("Bracken/src/est_abundance.py") else { return };
    let Some(samples) = peer("Bracken/sample_data") else { return };
    if !by_chance("python3") {
        return;
    }
    let dir = Dir::new();
    let mut cases = Cases::of("Bracken, est_abundance.py");
    for (level, threshold) in
        [("S", 10), ("S", 0), ("S", 1000), ("G", 10), ("F", 10), ("P", 10), ("D", 10)]
    {
        estimate(&dir, &samples, level, threshold);
        let (script, samples) = (script.display(), samples.display());
        shell(
            dir.root(),
            &format!(
                "python3 {script} -i {samples}/sample_test.report -l {level} -t {threshold} \
                 -k {samples}/sample_kmer_distr_75mers.txt -o p.txt --out-report p.report"
            ),
        );
        for (ours, theirs) in [("o.txt", "p.txt"), ("o.report", "p.report")] {
            let name = format!("-l {level} -t {threshold}, {theirs}");
            cases.add(&name, dir.read(ours) == dir.read(theirs));
        }
    }
    cases.end(&[]);
}
