//! The layout of GenomeScope 2's `summary.txt`.

use std::fmt::Write;
use std::path::Path;

use merganser_kmers::Histogram;
use merganser_spectrum::Model;

use crate::args::kmers::HistogramArgs;

/// A value less and plus two standard errors.
type Range = [f64; 2];

/// The values of a summary.
#[derive(Clone, Debug)]
struct Summary {
    /// The lines above the table, without the first.
    settings: Vec<String>,
    ploidy: usize,
    heterozygosity: Range,
    /// The rate of each pattern of haplotypes.
    patterns: Vec<(&'static str, Range)>,
    genome_size: Range,
    repeat_size: Range,
    unique_size: Range,
    /// The described part of all occurrences without errors, and of those up to the last peak.
    fit: Range,
    error_rate: Option<Range>,
}

/// Returns the text of a model's `summary.txt`, to be written to `path`.
pub(super) fn summary(
    args: &HistogramArgs,
    path: &Path,
    histogram: &Histogram,
    model: &Model,
) -> String {
    Summary::new(args, path, histogram, model).text()
}

impl Summary {
    fn new(args: &HistogramArgs, path: &Path, histogram: &Histogram, model: &Model) -> Summary {
        let errors = model.standard_errors.as_ref();
        let range = |value: f64, error: Option<f64>| {
            let most = 2.0 * error.unwrap_or(0.0);
            [(value - most).max(0.0), value + most]
        };
        let part = |value: f64, error: Option<f64>| range(value, error).map(|end| end.min(1.0));
        let pattern = |(at, (letters, rate)): (usize, &(&'static str, f64))| {
            (*letters, part(*rate, errors.map(|errors| errors.patterns[at])))
        };
        let lowest = range(model.coverage, errors.map(|errors| errors.coverage))[0];
        let error = errors.and_then(|errors| errors.error_rate);
        Summary {
            settings: settings(args, path, model),
            ploidy: model.ploidy as usize,
            heterozygosity: part(model.heterozygosity, errors.map(|errors| errors.heterozygosity)),
            patterns: model.patterns.iter().enumerate().map(pattern).collect(),
            genome_size: range(model.genome_size, errors.map(|errors| errors.genome_size)),
            repeat_size: range(
                model.genome_size - model.unique_size,
                errors.map(|errors| errors.repeat_size),
            ),
            unique_size: range(model.unique_size, errors.map(|errors| errors.unique_size)),
            fit: fit(histogram, model, lowest as usize),
            error_rate: model.error_rate.map(|rate| part(rate, error)),
        }
    }

    fn text(&self) -> String {
        let mut text = String::from("GenomeScope version 2.0\n");
        self.settings.iter().for_each(|line| text.extend([line, "\n"]));
        text.push('\n');
        let mut row = |name: &str, values: [String; 2]| {
            let [least, most] = values;
            writeln!(text, "{name:<28}  {least:<16}  {most}").expect("a string");
        };
        row("property", ["min".into(), "max".into()]);
        let alike = "a".repeat(self.ploidy);
        let [least, most] = self.heterozygosity;
        row(&format!("Homozygous ({alike})"), [1.0 - most, 1.0 - least].map(percent));
        match &self.patterns[..] {
            [] => {}
            [(letters, rate)] => row(&format!("Heterozygous ({letters})"), rate.map(percent)),
            more => {
                row(&format!("Heterozygous (not {alike})"), self.heterozygosity.map(percent));
                more.iter().for_each(|(letters, rate)| row(letters, rate.map(percent)));
            }
        }
        row("Genome Haploid Length", self.genome_size.map(bases));
        row("Genome Repeat Length", self.repeat_size.map(bases));
        row("Genome Unique Length", self.unique_size.map(bases));
        row("Model Fit", self.fit.map(percent));
        let errors = self.error_rate.map(|range| range.map(percent));
        row("Read Error Rate", errors.unwrap_or_else(|| ["NA".into(), "NA".into()]));
        text
    }
}

/// Returns the lines of settings, by GenomeScope's names.
fn settings(args: &HistogramArgs, path: &Path, model: &Model) -> Vec<String> {
    let directory = path.parent().filter(|parent| !parent.as_os_str().is_empty());
    let mut lines = vec![
        "program = merganser".to_owned(),
        format!("input file = {}", args.table.display()),
        format!("output directory = {}", directory.unwrap_or(Path::new(".")).display()),
        format!("p = {}", model.ploidy),
        format!("k = {}", model.k),
    ];
    let given = &args.settings;
    lines.extend(given.coverage.map(|value| format!("initial kmercov estimate = {value}")));
    lines.extend(given.max_count.map(|value| format!("max_kmercov = {value}")));
    lines.extend((given.topology > 0).then(|| format!("topology = {}", given.topology)));
    lines
}

/// Returns the described part of the occurrences of k-mers: 1 less the sum of differences over the sum of all. The
/// first number includes all counts from the end of the errors on, the second those up to the last peak. `coverage`
/// is the lower end of that of a haplotype.
fn fit(histogram: &Histogram, model: &Model, coverage: usize) -> Range {
    let coverage = coverage.max(1);
    let excess = |at: &usize| match (model.observed.get(*at), model.expected.get(*at)) {
        (Some(observed), Some(expected)) => observed - expected,
        _ => 0.0,
    };
    let first = (1..coverage).find(|at| excess(at) < 1.0).unwrap_or(coverage);
    let within = |last: usize| {
        let (mut off, mut all) = (0.0, 0.0);
        for at in first..=last.min(model.observed.len() - 1) {
            off += at as f64 * excess(&at).abs();
            all += at as f64 * model.observed[at];
        }
        let further = model.observed.len().max(first)..=last;
        for (count, number) in histogram.iter().filter(|row| further.contains(&(row.0 as usize))) {
            let occurrences = f64::from(count) * number as f64;
            off += occurrences;
            all += occurrences;
        }
        if all > 0.0 { 1.0 - off / all } else { 0.0 }
    };
    [within(usize::MAX), within((2 * model.ploidy as usize + 1) * coverage)]
}

/// Formats a number of bases, with commas.
fn bases(number: f64) -> String {
    let digits = format!("{number:.0}");
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text + " bp"
}

/// Formats a part as a percentage of six digits, as R prints numbers: without zeros at the end, and with an exponent
/// if that is shorter.
fn percent(part: f64) -> String {
    let scientific = format!("{:.5e}", part + 0.0);
    let (digits, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let exponent = exponent.parse().unwrap_or(0) + 2;
    let digits = digits.trim_end_matches('0').trim_end_matches('.');
    if part == 0.0 {
        return "0%".to_owned();
    }
    let decimals = digits.strip_prefix('-').unwrap_or(digits).len().saturating_sub(2) as i32;
    let fixed = format!("{:.*}", (decimals - exponent).max(0) as usize, 100.0 * rounded(part));
    let sign = if exponent < 0 { '-' } else { '+' };
    let short = format!("{digits}e{sign}{:02}", exponent.abs());
    if fixed.len() > short.len() { short + "%" } else { fixed + "%" }
}

/// Rounds to six digits.
fn rounded(value: f64) -> f64 {
    format!("{value:.5e}").parse().unwrap_or(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The output of GenomeScope 2 (commit 8f25e3a) for its `tests/inputk21.hist`, from its own values.
    #[test]
    fn the_layout_is_that_of_genomescope() {
        let summary = Summary {
            settings: [
                "input file = tests/inputk21.hist",
                "output directory = out",
                "p = 2",
                "k = 21",
            ]
            .map(str::to_owned)
            .to_vec(),
            ploidy: 2,
            heterozygosity: [0.001_470_53, 0.001_653_55],
            patterns: vec![("ab", [0.001_470_53, 0.001_653_55])],
            genome_size: [4_601_146.2, 4_605_196.8],
            repeat_size: [98_128.0, 98_215.0],
            unique_size: [4_503_018.0, 4_506_982.0],
            fit: [0.974_277, 0.988_569],
            error_rate: Some([0.000_959_587, 0.000_959_587]),
        };
        let wanted = "\
GenomeScope version 2.0
input file = tests/inputk21.hist
output directory = out
p = 2
k = 21

property                      min               max
Homozygous (aa)               99.8346%          99.8529%
Heterozygous (ab)             0.147053%         0.165355%
Genome Haploid Length         4,601,146 bp      4,605,197 bp
Genome Repeat Length          98,128 bp         98,215 bp
Genome Unique Length          4,503,018 bp      4,506,982 bp
Model Fit                     97.4277%          98.8569%
Read Error Rate               0.0959587%        0.0959587%
";
        assert_eq!(summary.text(), wanted);
    }

    #[test]
    fn percentages_are_those_of_r() {
        for (part, text) in [
            (0.0, "0%"),
            (1.0, "100%"),
            (0.5, "50%"),
            (0.999_999_9, "100%"),
            (0.10, "10%"),
            (0.000_622_612, "0.0622612%"),
            (1e-5, "0.001%"),
            (1e-6, "1e-04%"),
            (1.234_567e-6, "0.000123457%"),
            (-0.25, "-25%"),
        ] {
            assert_eq!(percent(part), text, "{part}");
        }
    }
}
