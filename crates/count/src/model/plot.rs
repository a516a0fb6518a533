//! Pictures of a model: SVG, and letters for a terminal.

use std::fmt::Write;

use super::Model;

const WIDTH: f64 = 800.0;
const HEIGHT: f64 = 480.0;
const LEFT: f64 = 90.0;
const RIGHT: f64 = 20.0;
const TOP: f64 = 40.0;
const BOTTOM: f64 = 50.0;

/// The height of the picture in k-mers: the errors of count 1 would leave no room for peaks.
fn top(model: &Model) -> f64 {
    let from = model.from.max(1);
    let tail = model.observed[from..].iter().chain(&model.expected[from..]);
    1.15 * tail.copied().fold(1.0, f64::max)
}

/// An SVG picture: the histogram as bars, the model as a line, the peaks marked.
pub fn svg(model: &Model) -> String {
    let counts = model.observed.len() - 1;
    let top = top(model);
    let x = |count: f64| LEFT + (WIDTH - LEFT - RIGHT) * count / counts as f64;
    let y = |number: f64| HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * (number / top).min(1.0);
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" \
         font-family=\"sans-serif\" font-size=\"13\">\n<rect width=\"{WIDTH}\" height=\"{HEIGHT}\" \
         fill=\"white\"/>\n"
    );
    let _ = writeln!(out, "<text x=\"{LEFT}\" y=\"22\">{}</text>", title(model));
    let mut bars = String::new();
    for (count, number) in model.observed.iter().enumerate().skip(1) {
        let (a, b) = (x(count as f64 - 0.5), x(count as f64 + 0.5));
        let _ = write!(bars, "M{a:.2} {:.2}V{:.2}H{b:.2}V{:.2}Z", y(0.0), y(*number), y(0.0));
    }
    let _ = writeln!(out, "<path d=\"{bars}\" fill=\"#9ecae1\"/>");
    let points = model.expected.iter().enumerate().skip(1);
    let points: String = points
        .map(|(count, number)| format!("{:.2},{:.2} ", x(count as f64), y(*number)))
        .collect();
    let line = "fill=\"none\" stroke=\"#222\" stroke-width=\"1.5\"";
    let _ = writeln!(out, "<polyline points=\"{}\" {line}/>", points.trim_end());
    for peak in 1..=2 * model.ploidy {
        let at = x(model.coverage * f64::from(peak));
        let (low, high) = (y(0.0), TOP);
        let _ = writeln!(
            out,
            "<path d=\"M{at:.2} {low:.2}V{high:.2}\" stroke=\"#d62728\" stroke-dasharray=\"4 4\"/>"
        );
    }
    axes(model, counts, top, &x, &y, &mut out);
    out.push_str("</svg>\n");
    out
}

fn axes(
    model: &Model,
    counts: usize,
    top: f64,
    x: &impl Fn(f64) -> f64,
    y: &impl Fn(f64) -> f64,
    out: &mut String,
) {
    let (low, right) = (y(0.0), WIDTH - RIGHT);
    let _ =
        writeln!(out, "<path d=\"M{LEFT} {TOP}V{low:.2}H{right}\" fill=\"none\" stroke=\"#222\"/>");
    for part in 0..=4 {
        let count = counts * part / 4;
        let number = top * part as f64 / 4.0;
        let (across, up) = (x(count as f64), y(number));
        let (below, beside) = (low + 18.0, LEFT - 6.0);
        let _ = writeln!(
            out,
            "<text x=\"{across:.2}\" y=\"{below:.2}\" text-anchor=\"middle\">{count}</text>\n\
             <text x=\"{beside}\" y=\"{:.2}\" text-anchor=\"end\">{number:.0}</text>",
            up + 4.0
        );
    }
    let (middle, bottom) = (x(counts as f64 / 2.0), HEIGHT - 10.0);
    let _ = writeln!(
        out,
        "<text x=\"{middle:.2}\" y=\"{bottom}\" text-anchor=\"middle\">count of a {}-mer</text>",
        model.k
    );
}

fn title(model: &Model) -> String {
    let heterozygosity = match model.ploidy {
        1 => String::new(),
        _ => format!(", heterozygosity {:.3} %", 100.0 * model.heterozygosity),
    };
    format!(
        "genome {:.0} bases{heterozygosity}, coverage {:.1}, errors {:.3} %",
        model.genome_size,
        model.coverage,
        100.0 * model.error_rate
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
