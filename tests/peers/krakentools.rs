//! KrakenTools' scripts, on the reports of Bracken and MultiQC.

use std::path::{Path, PathBuf};

use merganser_test_support::Dir;
use merganser_test_support::tools::{by_chance, shell};

use super::data::{Cases, peer};
use super::multiqc::reports;

/// The scripts' folder and the reports, if all of them are there.
fn inputs() -> Option<(PathBuf, Vec<PathBuf>)> {
    let scripts = peer("KrakenTools")?;
    let mut reports = reports()?;
    let samples = peer("Bracken/sample_data")?;
    reports.extend(
        ["test", "output_bracken"].map(|name| samples.join(format!("sample_{name}.report"))),
    );
    by_chance("python3").then_some((scripts, reports))
}

fn name(report: &Path) -> String {
    report.file_name().unwrap().to_string_lossy().into_owned()
}

/// Runs a script in a directory.
fn run(dir: &Dir, scripts: &Path, script: &str, args: &str) {
    shell(dir.root(), &format!("python3 {}/{script}.py {args}", scripts.display()));
}

fn lines(dir: &Dir, file: &str) -> Vec<String> {
    let text = String::from_utf8(dir.read(file)).unwrap();
    text.lines().map(str::to_owned).collect()
}

fn sorted(mut lines: Vec<String>) -> Vec<String> {
    lines.sort_unstable();
    lines
}

/// Compares a text of every report with that of a script, both in a common `form`.
fn compare(
    title: &'static str,
    (script, options): (&str, &str),
    command: &str,
    form: fn(Vec<String>) -> Vec<String>,
    differ: &[&str],
) {
    let Some((scripts, reports)) = inputs() else { return };
    let (dir, mut cases) = (Dir::new(), Cases::of(title));
    for report in &reports {
        let file = report.display();
        run(&dir, &scripts, script, &format!("{options} -r {file} -o theirs"));
        dir.run(&format!("report {command} -q {file} -o ours")).ok();
        let [ours, theirs] = ["ours", "theirs"].map(|file| form(lines(&dir, file)));
        cases.add(&name(report), ours == theirs);
    }
    cases.end(differ);
}

/// Rows of a report that is not in Kraken's order, such as Bracken's, are sorted by `report mpa`.
#[test]
fn mpa_tables_are_those_of_kreport2mpa() {
    let script = ("kreport2mpa", "--keep-spaces");
    compare("KrakenTools, kreport2mpa", script, "mpa", sorted, &[]);
}

#[test]
fn mpa_tables_of_samples_are_those_of_combine_mpa() {
    let Some((scripts, reports)) = inputs() else { return };
    let (dir, mut cases) = (Dir::new(), Cases::of("KrakenTools, combine_mpa"));
    for two in samples(&reports).windows(2) {
        for (report, output) in two.iter().zip(["1.mpa", "2.mpa"]) {
            let args =
                format!("--keep-spaces --display-header -r {} -o {output}", report.display());
            run(&dir, &scripts, "kreport2mpa", &args);
        }
        run(&dir, &scripts, "combine_mpa", "-i 1.mpa 2.mpa -o theirs");
        let files = format!("{} {}", two[0].display(), two[1].display());
        dir.run(&format!("report mpa -q {files} -o ours")).ok();
        let [ours, theirs] = ["ours", "theirs"].map(|file| sorted(lines(&dir, file)));
        cases.add(&name(two[0]), ours == theirs);
    }
    cases.end(&[]);
}

/// Returns MultiQC's reports of samples with the same taxonomy.
fn samples(reports: &[PathBuf]) -> Vec<&PathBuf> {
    let named = |report: &&PathBuf| name(report).starts_with("sample_0");
    reports.iter().filter(named).collect()
}

#[test]
fn merged_reports_are_those_of_combine_kreports() {
    let Some((scripts, reports)) = inputs() else { return };
    let (dir, mut cases) = (Dir::new(), Cases::of("KrakenTools, combine_kreports"));
    for options in ["", "--no-headers", "--only-combined"] {
        for two in samples(&reports).windows(2) {
            let files = format!("{} {}", two[0].display(), two[1].display());
            run(&dir, &scripts, "combine_kreports", &format!("{options} -r {files} -o theirs"));
            dir.run(&format!("report merge -q {options} {files} -o ours")).ok();
            let name = format!("{} {options}", name(two[0]));
            cases.add(&name, dir.read("ours") == dir.read("theirs"));
        }
    }
    cases.end(&[]);
}

/// Returns the rows with reads, without the root and the letters of ranks, and with blanks as in the script's names.
fn krona(lines: Vec<String>) -> Vec<String> {
    let row = |line: String| {
        let mut cells = line.split('\t');
        let mut row = vec![cells.next().unwrap_or("").to_owned()];
        for cell in cells {
            let name = cell.get(1..3).filter(|&mark| mark == "__").map_or(cell, |_| &cell[3..]);
            row.push(name.replace(' ', "_"));
        }
        row.retain(|name| name != "root" && !name.is_empty());
        row.join("\t")
    };
    let rows = lines.into_iter().filter(|line| !line.starts_with('#') && !line.starts_with("0\t"));
    sorted(rows.map(row).collect())
}

/// Reports whose rows have fewer reads than their clades, as those of Bracken and those that were cut: `report krona` adds
/// the other reads to the taxon of the clade.
const INCOMPLETE: [&str; 5] = [
    "bracken_report.txt",
    "genus_only.kreport",
    "kraken2.report.txt",
    "report_5p_5.breport.txt",
    "sample_output_bracken.report",
];

/// The forms differ on purpose: ours has only taxa with reads of their own, all ranks and the names as they are. The
/// reads of the taxa are the same.
#[test]
fn krona_texts_have_the_reads_of_kreport2krona() {
    let script = ("kreport2krona", "--intermediate-ranks");
    compare("KrakenTools, kreport2krona", script, "krona", krona, &INCOMPLETE);
}
