//! Plots of classes of k-mers, as by Merqury (Rhie et al. 2020, figure 1).

use crate::data::{Class, ClassSpectrum};
use crate::draw::{
    Anchor, Axes, INK, Picture, SET1, Scene, Shape, Words, fitted, rectangle, width,
};

/// The style in which classes are drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    /// Lines.
    Lines,
    /// Overlapping areas.
    Filled,
    /// Stacked areas.
    Stacked,
}

impl Style {
    /// All styles.
    pub const ALL: [Style; 3] = [Style::Lines, Style::Filled, Style::Stacked];

    /// Returns Merqury's abbreviation of the style in file names.
    pub fn short(self) -> &'static str {
        match self {
            Style::Lines => "ln",
            Style::Filled => "fl",
            Style::Stacked => "st",
        }
    }
}

/// The size of the plot in SVG units.
const WIDTH: f64 = 600.0;
const HEIGHT: f64 = 500.0;
const FRAME: [f64; 4] = [96.0, 44.0, 572.0, 452.0];
/// The colour of the first class, the k-mers that are only in the reads.
const FIRST: &str = "#000000";
/// Counts up to this one are mostly those of errors, where no peak is searched.
const ERRORS: u64 = 3;
/// The width of the bar of k-mers that are in no read.
const BAR: f64 = 2.0;
/// The upper right corner of the legend.
const LEGEND: [f64; 2] = [568.0, 52.0];
const LEGEND_LINE: f64 = 18.0;
/// The widest name of a class.
const WIDEST: f64 = 320.0;

/// Returns the colours of the classes in their order.
fn colours() -> impl Iterator<Item = &'static str> {
    std::iter::once(FIRST).chain(SET1.into_iter().cycle())
}

/// Returns the ends of both axes, from the highest peak of the k-mers in assemblies.
fn most(classes: &ClassSpectrum) -> [f64; 2] {
    let rows = classes.classes.iter().skip(1).flat_map(|class| &class.rows);
    let peak = rows
        .filter(|row| row.0 > ERRORS)
        .max_by_key(|&&(count, number)| (number, u64::MAX - count));
    let (count, number) = peak.copied().unwrap_or((20, 1));
    let only: u64 = classes.only.iter().sum();
    [2.5 * count as f64, 1.1 * number.max(only) as f64]
}

/// Draws the counts of k-mers of reads by class, and at 0 the k-mers that are only in assemblies.
pub fn picture(classes: &ClassSpectrum, style: Style) -> Picture {
    let axes = Axes::linear(FRAME, most(classes));
    let [left, top, right, bottom] = FRAME;
    let mut shapes = curves(classes, style, &axes);
    shapes.extend(only(classes, &axes));
    if f64::from(classes.solid) < axes.along.most() {
        let at = axes.x(f64::from(classes.solid));
        shapes.push(Shape::dashed(vec![[at, bottom], [at, top]], INK));
    }
    shapes.push(axes.shape());
    let mut words = axes.numbers();
    words.push(Words::new(fitted(&classes.title, WIDTH - left - 8.0), [left, 20.0], Anchor::Start));
    words.push(Words::new("Count", [left, top - 10.0], Anchor::Start));
    words.push(Words::new(
        "kmer_multiplicity",
        [(left + right) / 2.0, HEIGHT - 12.0],
        Anchor::Middle,
    ));
    legend(classes, &mut shapes, &mut words);
    Picture(Scene { width: WIDTH, height: HEIGHT, shapes, words })
}

/// Returns the number of k-mers of a class for each count from 0.
fn heights(class: &Class, counts: usize) -> Vec<u64> {
    let mut heights = vec![0; counts];
    for &(count, number) in &class.rows {
        if let Some(height) = heights.get_mut(count as usize) {
            *height = number;
        }
    }
    heights
}

fn curves(classes: &ClassSpectrum, style: Style, axes: &Axes) -> Vec<Shape> {
    let counts = axes.along.most().floor() as usize + 1;
    let mut below = vec![0; counts];
    let mut shapes = Vec::new();
    for (class, colour) in classes.classes.iter().zip(colours()) {
        let mut heights = heights(class, counts);
        if style == Style::Stacked {
            heights.iter_mut().zip(&below).for_each(|(height, below)| *height += below);
        }
        let places = |heights: &[u64]| -> Vec<[f64; 2]> {
            let places = heights.iter().enumerate().skip(1);
            places.map(|(count, &height)| axes.point([count as f64, height as f64])).collect()
        };
        let upper = places(&heights);
        let mut area = upper.clone();
        area.extend(places(&below).into_iter().rev());
        match style {
            Style::Lines => shapes.push(Shape::line(upper, colour, 1.5)),
            Style::Filled => {
                shapes.push(Shape::filled(vec![area], colour, 0.4));
                shapes.push(Shape::line(upper, colour, 1.0));
            }
            Style::Stacked => shapes.push(Shape::filled(vec![area], colour, 1.0)),
        }
        if style == Style::Stacked {
            below = heights;
        }
    }
    shapes
}

/// Draws the bar of k-mers that are in no read.
fn only(classes: &ClassSpectrum, axes: &Axes) -> Vec<Shape> {
    let mut below = 0;
    let parts = classes.only.iter().zip(colours().skip(1)).map(|(&number, colour)| {
        let [bottom, top] = [below, below + number].map(|height| axes.y(height as f64));
        below += number;
        Shape::filled(vec![rectangle([axes.x(0.0), top, axes.x(BAR), bottom])], colour, 1.0)
    });
    parts.collect()
}

/// Draws the legend, a box at the upper right.
fn legend(classes: &ClassSpectrum, shapes: &mut Vec<Shape>, words: &mut Vec<Words>) {
    let [right, top] = LEGEND;
    let names: Vec<String> =
        classes.classes.iter().map(|class| fitted(&class.name, WIDEST)).collect();
    let widest = names.iter().map(|name| width(name)).fold(width("k-mer"), f64::max);
    let left = right - 34.0 - widest;
    let bottom = top + LEGEND_LINE * (classes.classes.len() + 1) as f64 + 8.0;
    let mut frame = rectangle([left, top, right, bottom]);
    shapes.push(Shape::filled(vec![frame.clone()], "#FFFFFF", 0.9));
    frame.push(frame[0]);
    shapes.push(Shape::line(frame, INK, 1.0));
    words.push(Words::new("k-mer", [left + 8.0, top + 16.0], Anchor::Start));
    for (line, (name, colour)) in (1..).zip(names.into_iter().zip(colours())) {
        let base = top + 16.0 + LEGEND_LINE * f64::from(line);
        let square = rectangle([left + 8.0, base - 10.0, left + 20.0, base + 1.0]);
        shapes.push(Shape::filled(vec![square], colour, 1.0));
        words.push(Words::new(name, [left + 26.0, base], Anchor::Start));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn classes() -> ClassSpectrum {
        let rows = |height: u64| {
            (1..80).map(|count: u64| (count, height * (80 - count.abs_diff(30)))).collect()
        };
        let names = ["read-only", "1", "2"];
        let classes = names
            .iter()
            .zip([900, 50, 5])
            .map(|(name, height)| Class { name: (*name).to_owned(), rows: rows(height) });
        ClassSpectrum {
            title: "a <b>".into(),
            classes: classes.collect(),
            only: vec![40, 20],
            solid: 6,
        }
    }

    #[test]
    fn the_axes_end_behind_the_highest_peak_of_an_assembly() {
        let [x, y] = most(&classes());
        assert_eq!(x, 75.0);
        assert!((y - 1.1 * 50.0 * 80.0).abs() < 1e-6);
        let none = ClassSpectrum { classes: Vec::new(), only: vec![500], ..classes() };
        assert!(most(&none)[1] > 500.0);
    }

    #[test]
    fn stacked_areas_stand_on_each_other() {
        let classes = classes();
        let axes = Axes::linear(FRAME, most(&classes));
        let shapes = curves(&classes, Style::Stacked, &axes);
        let [first, second, _] = &shapes[..] else { panic!("three areas") };
        let half = first.paths[0].len() / 2;
        // The lower line of the second is the upper line of the first.
        let mut lower = second.paths[0][half..].to_vec();
        lower.reverse();
        assert_eq!(lower, first.paths[0][..half]);
    }

    #[test]
    fn every_style_is_drawn_with_its_names() {
        for style in Style::ALL {
            let picture = picture(&classes(), style);
            let drawn = picture.svg();
            for text in ["read-only", "a &lt;b&gt;", "k-mer", "kmer_multiplicity", SET1[1]] {
                assert!(drawn.contains(text), "{text}");
            }
            assert!(picture.png(72).unwrap().starts_with(b"\x89PNG"));
        }
    }
}
