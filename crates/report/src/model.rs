//! Pictures of a model of a histogram: SVG, PNG, and letters for a terminal.

use std::fmt::Write;
use std::io;

use merganser_spectrum::Model;

use crate::scene::{Anchor, HEIGHT, Scene, WIDTH, Words};
use crate::{png as pixels, svg as vectors};

const LEFT: f64 = 90.0;
const RIGHT: f64 = 20.0;
const TOP: f64 = 40.0;
const BOTTOM: f64 = 50.0;

/// Returns an SVG picture of `model`: the histogram as bars, the model as a line, the peaks marked.
pub fn svg(model: &Model) -> String {
    vectors::draw(&scene(model))
}

/// Returns a PNG picture of `model`, the same at twice the size.
///
/// # Errors
/// None are known: the picture is made in memory.
pub fn png(model: &Model) -> io::Result<Vec<u8>> {
    pixels::draw(&scene(model))
}

/// The height of the picture in k-mers: the errors of count 1 would leave no room for peaks.
fn top(model: &Model) -> f64 {
    let from = model.from.max(1);
    let tail = model.observed[from..].iter().chain(&model.expected[from..]);
    1.15 * tail.copied().fold(1.0, f64::max)
}

/// The histogram as bars, the model as a line, the peaks marked.
fn scene(model: &Model) -> Scene {
    let counts = model.observed.len() - 1;
    let top = top(model);
    let x = |count: f64| LEFT + (WIDTH - LEFT - RIGHT) * count / counts as f64;
    let y = |number: f64| HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * (number / top).min(1.0);
    let observed = model.observed.iter().enumerate().skip(1);
    let expected = model.expected.iter().enumerate().skip(1);
    let bar = |count: f64, number: f64| [x(count - 0.5), x(count + 0.5), y(number)];
    let peaks = 1..=2 * model.ploidy;
    let (low, right) = (y(0.0), WIDTH - RIGHT);
    let start = |text, at| Words { text, at, anchor: Anchor::Start };
    let mut words = vec![
        start(title(model), [LEFT, 16.0]),
        start(format!("distinct {}-mers", model.k), [10.0, TOP - 6.0]),
    ];
    words.extend(ticks(counts as f64).map(|count| Words {
        text: thousands(count),
        at: [x(count), low + 18.0],
        anchor: Anchor::Middle,
    }));
    words.extend(ticks(top).map(|number| Words {
        text: thousands(number),
        at: [LEFT - 6.0, y(number) + 4.0],
        anchor: Anchor::End,
    }));
    words.push(Words {
        text: format!(
            "count of a {}-mer (bars: as found, line: model, dashed: multiples of the coverage)",
            model.k
        ),
        at: [x(counts as f64 / 2.0), HEIGHT - 10.0],
        anchor: Anchor::Middle,
    });
    Scene {
        bars: observed.map(|(count, number)| bar(count as f64, *number)).collect(),
        model: expected.map(|(count, number)| [x(count as f64), y(*number)]).collect(),
        peaks: peaks.map(|peak| x(model.coverage * f64::from(peak))).collect(),
        axes: [[LEFT, TOP], [LEFT, low], [right, low]],
        words,
    }
}

/// Round numbers from 0 up to `most`, five to ten steps.
fn ticks(most: f64) -> impl Iterator<Item = f64> {
    let power = 10f64.powf((most / 5.0).max(1.0).log10().floor());
    let steps = [5.0, 2.0, 1.0].map(|times| times * power);
    let step = steps.into_iter().find(|step| most / step >= 5.0).unwrap_or(power);
    (0..=(most / step) as u32).map(move |part| f64::from(part) * step)
}

/// A whole number with commas.
fn thousands(number: f64) -> String {
    let digits = format!("{number:.0}");
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

fn title(model: &Model) -> String {
    let heterozygosity = match model.ploidy {
        1 => String::new(),
        _ => format!(", heterozygosity {:.3} %", 100.0 * model.heterozygosity),
    };
    let errors = model.error_rate.map(|rate| format!(", errors {:.3} %", 100.0 * rate));
    format!(
        "genome {} bases{heterozygosity}, coverage {:.1}{}",
        thousands(model.genome_size),
        model.coverage,
        errors.unwrap_or_default()
    )
}

/// Lines for a terminal, each begun with `# `: bars of `#` for the histogram, `o` for the model.
pub fn text(model: &Model, columns: usize, rows: usize) -> String {
    let counts = model.observed.len() - 1;
    let columns = columns.clamp(10, counts.max(10));
    let top = top(model);
    // Each column is the mean of its counts.
    let mean = |values: &[f64], column: usize| {
        let from = 1 + counts * column / columns;
        let to = (1 + counts * (column + 1) / columns).max(from + 1).min(values.len());
        let some = &values[from.min(to - 1)..to];
        some.iter().sum::<f64>() / some.len() as f64
    };
    let height = |value: f64| ((value / top).min(1.0) * rows as f64).round() as usize;
    let mut out = String::new();
    for row in (1..=rows).rev() {
        out.push_str("# |");
        for column in 0..columns {
            let observed = height(mean(&model.observed, column));
            let expected = height(mean(&model.expected, column));
            out.push(match (expected == row, observed >= row) {
                (true, _) => 'o',
                (false, true) => '#',
                (false, false) => ' ',
            });
        }
        let end = out.trim_end_matches(' ').len();
        out.truncate(end);
        out.push('\n');
    }
    let _ = writeln!(out, "# +{}", "-".repeat(columns));
    let last = counts.to_string();
    let _ = writeln!(out, "#  1{last:>width$}", width = columns - 1);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round_and_numbers_have_commas() {
        let up_to = |most| ticks(most).map(thousands).collect::<Vec<_>>().join(" ");
        assert_eq!(up_to(3.0), "0 1 2 3");
        assert_eq!(up_to(214.0), "0 20 40 60 80 100 120 140 160 180 200");
        assert_eq!(up_to(372_615.0), "0 50,000 100,000 150,000 200,000 250,000 300,000 350,000");
        assert_eq!(thousands(4_936_447.4), "4,936,447");
    }
}
