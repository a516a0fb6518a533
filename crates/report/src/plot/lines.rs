//! Histograms as lines and bars: k-mer spectra, edits, hits, insert sizes.

use super::Options;
use super::frame::Frame;
use crate::data::{Model, Rows, Spectrum};
use crate::draw::{Axes, COLOURS, GREYS, Picture, Scale, Shape, rectangle, thousands};

/// The range of a spectrum's x axis, in multiples of the coverage, and its minimum in counts.
const COVERAGES: f64 = 6.0;
const MIN: f64 = 60.0;
/// The maximum number of samples that are drawn as bars; more are drawn as lines.
const MAX_BARS: usize = 3;
/// The maximum number of bars and of points of a model.
const MAX_DRAWN: f64 = 4000.0;
/// The maximum number of values that are drawn as bars.
const MAX_VALUES: u64 = 60;

/// Plots spectra; a single one is plotted with its model.
pub(crate) fn spectra(all: &[(&str, &Spectrum)], options: &Options) -> Picture {
    let single = all.len() == 1;
    let title = match all {
        [(name, spectrum)] => title(name, spectrum),
        _ => "k-mer spectra".to_owned(),
    };
    let mut frame = Frame::new(&title, &names_of(all));
    let drawn: Vec<_> = all.iter().filter(|(_, spectrum)| !spectrum.rows.is_empty()).collect();
    let most = drawn.iter().map(|(_, spectrum)| extent(spectrum)).fold(MIN, f64::max);
    let top = drawn.iter().map(|(_, spectrum)| ceiling(spectrum)).fold(1.0, f64::max);
    let highest = drawn.iter().flat_map(|(_, it)| &it.rows).map(|row| row.1).max().unwrap_or(1);
    let axes = axes(&frame, options, most, [top, highest as f64]);
    let k = all[0].1.k;
    frame.name([&format!("Count of a {k}-mer"), &format!("Distinct {k}-mers")]);
    if drawn.is_empty() {
        frame.empty();
        return frame.finish(Some(&axes));
    }
    for ((_, spectrum), colour) in drawn.iter().zip(COLOURS.iter().cycle()) {
        let points = places(&axes, &spectrum.rows);
        match (single, &spectrum.model) {
            (true, model) => {
                frame.draw([bars(&axes, &spectrum.rows)]);
                frame.draw(model.iter().flat_map(|model| modelled(&axes, model)));
            }
            (false, _) => frame.draw([Shape::line(points, colour, 1.5)]),
        }
    }
    if !single {
        let names = drawn.iter().zip(COLOURS.iter().cycle());
        let names = names.map(|((name, _), colour)| ((*name).to_owned(), *colour));
        frame.legend(&names.collect::<Vec<_>>());
    }
    frame.write(axes.numbers());
    frame.finish(Some(&axes))
}

/// Returns the names of a legend; none for a single sample.
pub(super) fn names_of<'a, T>(all: &[(&'a str, T)]) -> Vec<&'a str> {
    if all.len() == 1 { Vec::new() } else { all.iter().map(|(name, _)| *name).collect() }
}

/// Returns the sample's name, with the most important parameters if there is a model.
fn title(name: &str, spectrum: &Spectrum) -> String {
    let Some(model) = &spectrum.model else { return name.to_owned() };
    let heterozygosity = match model.ploidy {
        1 => String::new(),
        _ => format!(", heterozygosity {:.3} %", 100.0 * model.heterozygosity),
    };
    let errors = model.error_rate.map(|rate| format!(", errors {:.3} %", 100.0 * rate));
    format!(
        "{name}{}genome {} bases{heterozygosity}, coverage {:.1}{}",
        if name.is_empty() { "" } else { ": " },
        thousands(model.genome_size),
        model.coverage,
        errors.unwrap_or_default()
    )
}

fn axes(frame: &Frame, options: &Options, most: f64, [top, highest]: [f64; 2]) -> Axes {
    let most = options.most.map_or(most, |most| most as f64);
    Axes {
        frame: frame.frame,
        along: if options.log_x { Scale::log(1.0, most) } else { Scale::linear(most) },
        up: if options.log_y { Scale::log(1.0, highest) } else { Scale::linear(top) },
    }
}

/// Returns the largest count to show: a multiple of the coverage, or beyond 99.5 % of the k-mers that occur more than
/// once.
fn extent(spectrum: &Spectrum) -> f64 {
    if let Some(model) = &spectrum.model {
        return COVERAGES * model.coverage;
    }
    spectrum.count_of_share(0.995).map_or(MIN, |count| 1.5 * count as f64)
}

/// Returns the upper end of the y axis, slightly above the highest peak after the errors; higher values are cut off.
fn ceiling(spectrum: &Spectrum) -> f64 {
    let rows = &spectrum.rows;
    let from = match &spectrum.model {
        Some(model) => model.from as u64,
        // The first local minimum. Without one, everything is shown.
        None => rows.windows(2).find(|two| two[1].1 > two[0].1).map_or(0, |two| two[0].0),
    };
    let behind = rows.iter().filter(|row| row.0 >= from).map(|row| row.1);
    1.2 * behind.max().unwrap_or(1) as f64
}

fn places(axes: &Axes, rows: &Rows) -> Vec<[f64; 2]> {
    let shown = rows.iter().take_while(|row| row.0 as f64 <= axes.along.most());
    shown.map(|&(value, number)| axes.point([value as f64, number as f64])).collect()
}

/// Returns the number of counts that are drawn as one.
fn together(axes: &Axes) -> u64 {
    (axes.along.most() / MAX_DRAWN).ceil().max(1.0) as u64
}

/// Draws a bar for each count, or for the mean of several if there are too many.
fn bars(axes: &Axes, rows: &Rows) -> Shape {
    let width = together(axes);
    let shown = rows.iter().take_while(|row| row.0 as f64 <= axes.along.most());
    let shown: Vec<(u64, u64)> = shown.copied().collect();
    let bottom = axes.frame[3];
    let bar = |some: &[(u64, u64)]| {
        let first = (some[0].0 / width * width) as f64 - 0.5;
        let [from, to] = [first, first + width as f64].map(|side| axes.x(side));
        let sum: u64 = some.iter().map(|row| row.1).sum();
        rectangle([from, axes.y(sum as f64 / width as f64), to, bottom])
    };
    let groups = shown.chunk_by(|one, other| one.0 / width == other.0 / width);
    Shape::filled(groups.map(bar).collect(), COLOURS[5], 0.8)
}

/// Draws the model as a line, with dashed lines at its peaks.
fn modelled(axes: &Axes, model: &Model) -> Vec<Shape> {
    let [_, top, _, bottom] = axes.frame;
    let expected = model.expected.iter().enumerate().skip(1).step_by(together(axes) as usize);
    let shown = expected.take_while(|(count, _)| *count as f64 <= axes.along.most());
    let line = shown.map(|(count, number)| axes.point([count as f64, *number]));
    let peaks = (1..=model.ploidy).map(|copies| f64::from(copies) * model.coverage);
    let peaks = peaks.filter(|at| *at < axes.along.most()).map(|at| axes.x(at));
    let mut shapes: Vec<Shape> =
        peaks.map(|at| Shape::dashed(vec![[at, bottom], [at, top]], GREYS[1])).collect();
    shapes.push(Shape::line(line.collect(), COLOURS[1], 2.0));
    shapes
}

/// Plots numbers by small values: as adjacent bars, or as lines if there are many samples or values.
pub(super) fn histogram(
    title: &str,
    names: [&str; 2],
    all: &[(&str, &Rows)],
    options: &Options,
) -> Picture {
    let single = all.len() == 1;
    let title = if single { format!("{title} of {}", all[0].0) } else { title.to_owned() };
    let mut frame = Frame::new(&title, &names_of(all));
    frame.name(names);
    let rows = || all.iter().flat_map(|(_, rows)| rows.iter());
    let highest = rows().map(|row| row.1).max().unwrap_or(0) as f64;
    let most = options.most.or(rows().map(|row| row.0).max()).unwrap_or(1);
    let as_bars = all.len() <= MAX_BARS && most <= MAX_VALUES && !options.log_x;
    // A bar is drawn after its value, so that bars of 0 do not overlap the axis.
    let end = if as_bars { most + 1 } else { most.max(1) };
    let open = Options { most: None, ..options.clone() };
    let axes = axes(&frame, &open, end as f64, [1.05 * highest, highest]);
    if highest == 0.0 {
        frame.empty();
        return frame.finish(Some(&axes));
    }
    for (place, ((_, rows), colour)) in all.iter().zip(COLOURS.iter().cycle()).enumerate() {
        frame.draw([match as_bars {
            true => beside(&axes, rows, (place, all.len()), colour),
            false => Shape::line(places(&axes, rows), colour, 1.5),
        }]);
    }
    if !single {
        let names = all.iter().zip(COLOURS.iter().cycle());
        let names = names.map(|((name, _), colour)| ((*name).to_owned(), *colour));
        frame.legend(&names.collect::<Vec<_>>());
    }
    frame.write(if as_bars { axes.numbers_of_bars() } else { axes.numbers() });
    frame.finish(Some(&axes))
}

/// Draws the bars of one of several samples.
fn beside(axes: &Axes, rows: &Rows, (place, of): (usize, usize), colour: &'static str) -> Shape {
    let bottom = axes.frame[3];
    let shown = rows.iter().take_while(|row| (row.0 as f64) < axes.along.most());
    let bar = |&(value, number): &(u64, u64)| {
        // The bars of all samples take 0.8 of a step.
        let from = value as f64 + 0.1 + 0.8 * place as f64 / of as f64;
        let sides = [from, from + 0.8 / of as f64].map(|side| axes.x(side));
        rectangle([sides[0], axes.y(number as f64), sides[1], bottom])
    };
    Shape::filled(shown.map(bar).collect(), colour, 0.9)
}
