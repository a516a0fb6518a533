//! MultiQC's test data: reports of Kraken and Bracken of many versions, histograms of Jellyfish and meryl.

use std::path::PathBuf;

use merganser_test_support::Dir;

use super::data::{Cases, files, peer};

/// Returns the paths of the reports of Kraken and Bracken.
pub(crate) fn reports() -> Option<Vec<PathBuf>> {
    let folder = peer("MultiQC-test-data/data/modules/kraken")?;
    let is_report = |path: &PathBuf| !path.to_string_lossy().ends_with("README.md");
    let paths = ["report.txt", "report", "kreport"].map(|suffix| files(&folder, suffix)).concat();
    let mut paths: Vec<PathBuf> = paths.into_iter().filter(is_report).collect();
    paths.sort();
    paths.dedup();
    Some(paths)
}

/// Returns the reads of the roots of a report: all reads.
fn reads(report: &str) -> u64 {
    let rows = report.lines().map(|line| line.split('\t').collect::<Vec<_>>());
    let of_root = rows.filter(|cells| cells.len() > 1 && !cells[cells.len() - 1].starts_with(' '));
    of_root.map(|cells| cells[1].parse::<u64>().unwrap()).sum()
}

/// Reports with fewer reads in their rows than in their clades have been cut; a warning says so.
#[test]
fn reports_keep_their_reads() {
    let Some(reports) = reports() else { return };
    let (dir, mut cases) = (Dir::new(), Cases::of("MultiQC, reports"));
    for report in &reports {
        let ran = dir.run(&format!("report krona {} -o -", report.display()));
        let cut = ran.warnings().len();
        let rows = ran.ok();
        let rows = rows.lines().filter(|line| !line.starts_with('#'));
        let found: u64 =
            rows.map(|row| row.split('\t').next().unwrap().parse::<u64>().unwrap()).sum();
        let expected = reads(&std::fs::read_to_string(report).unwrap());
        let name = report.file_name().unwrap().to_string_lossy().into_owned();
        eprintln!("{name}: {found} of {expected} reads, {cut} warnings");
        cases.add(&name, found == expected);
    }
    let list = reports.iter().map(|report| report.display().to_string()).collect::<Vec<_>>();
    cases.add(
        "page",
        dir.run(&format!("report html {} -o page.html", list.join(" "))).code == Some(0),
    );
    cases.end(&[]);
}

/// The histograms of Jellyfish and meryl are read. The coverage of the second one is too low for a model.
#[test]
fn histograms_have_a_model() {
    let Some(folder) = peer("MultiQC-test-data/data/modules") else { return };
    let mut cases = Cases::of("MultiQC, histograms");
    for name in [
        "jellyfish/P1234_101_jf.hist",
        "jellyfish/P1234_102_jf.hist",
        "genomescope2/bVidCha1_21.meryl.hist",
    ] {
        let path = folder.join(name);
        let run = format!("kmers histogram --model -k 21 {}", path.display());
        let text = Dir::new().run(&run).ok();
        let first: String = text.lines().filter(|line| !line.starts_with('#')).take(5).collect();
        eprintln!("{name}: {first}");
        cases.add(name, text.contains("genome_size"));
    }
    cases.end(&["jellyfish/P1234_102_jf.hist"]);
}
