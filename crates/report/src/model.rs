//! Plots of a model of a histogram, and text for a terminal.

use std::fmt::Write;

use merganser_spectrum::Model;

use crate::draw::{Anchor, Axes, INK, Picture, Scene, Shape, Words, rectangle, thousands};

/// The size of the plot in SVG units.
const WIDTH: f64 = 800.0;
const HEIGHT: f64 = 480.0;
/// The colours of bars and peaks.
const BARS: &str = "#9ecae1";
const PEAKS: &str = "#d62728";
/// The maximum number of bars; if there are more counts, a bar is the mean of several.
const MAX_BARS: usize = 4000;
const LEFT: f64 = 90.0;
const RIGHT: f64 = 20.0;
const TOP: f64 = 40.0;
const BOTTOM: f64 = 50.0;

/// Returns the height of the plot in k-mers. It ignores the errors at low counts, which would leave no room for
/// peaks.
fn top(model: &Model) -> f64 {
    let from = model.from.max(1);
    let tail = model.observed[from..].iter().chain(&model.expected[from..]);
    1.15 * tail.copied().fold(1.0, f64::max)
}

/// Returns the means of each `width` consecutive values from count 1, each with its first count.
fn means(values: &[f64], width: usize) -> impl Iterator<Item = (f64, f64)> {
    let means = values[1..].chunks(width).map(|some| some.iter().sum::<f64>() / some.len() as f64);
    (0..).map(move |chunk: usize| (1 + chunk * width) as f64).zip(means)
}

/// Plots a model: the histogram as bars, the model as a line, the peaks marked.
pub fn picture(model: &Model) -> Picture {
    let counts = model.observed.len() - 1;
    let frame = [LEFT, TOP, WIDTH - RIGHT, HEIGHT - BOTTOM];
    let axes = Axes::linear(frame, [counts as f64, top(model)]);
    let [_, high, right, low] = frame;
    let width = counts.div_ceil(MAX_BARS).max(1);
    let bars = means(&model.observed, width).map(|(count, number)| {
        let sides = [count - 0.5, count - 0.5 + width as f64].map(|side| axes.x(side));
        rectangle([sides[0], axes.y(number), sides[1], low])
    });
    let expected = means(&model.expected, width)
        .map(|(count, number)| axes.point([count + (width - 1) as f64 / 2.0, number]));
    let peaks = (1..=2 * model.ploidy).map(|peak| axes.x(model.coverage * f64::from(peak)));
    let mut shapes =
        vec![Shape::filled(bars.collect(), BARS, 1.0), Shape::line(expected.collect(), INK, 1.5)];
    shapes.extend(peaks.map(|at| Shape::dashed(vec![[at, low], [at, high]], PEAKS)));
    shapes.push(axes.shape());
    let mut words = axes.numbers();
    words.push(Words::new(title(model), [LEFT, 16.0], Anchor::Start));
    words.push(Words::new(format!("distinct {}-mers", model.k), [10.0, TOP - 6.0], Anchor::Start));
    words.push(Words::new(
        format!(
            "count of a {}-mer (bars: as found, line: model, dashed: multiples of the coverage)",
            model.k
        ),
        [(LEFT + right) / 2.0, HEIGHT - 10.0],
        Anchor::Middle,
    ));
    Picture(Scene { width: WIDTH, height: HEIGHT, shapes, words })
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

/// Plots a model as text. Lines begin with `# `; `#` is a bar of the histogram, `o` the model.
pub fn text(model: &Model, columns: usize, rows: usize) -> String {
    let counts = model.observed.len() - 1;
    let columns = columns.clamp(10, counts.max(10));
    let top = top(model);
    // A column has the mean of its counts.
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
