//! Plots of het-mers, as by Smudgeplot: the sum of both counts of a pair, by the share of the rarer k-mer.

use crate::draw::{Anchor, Axes, INK, Picture, Scene, Shape, Words, fitted, rectangle, thousands};
use merganser_spectrum::smudges::{Ploidy, Smudge};

const WIDTH: f64 = 600.0;
const HEIGHT: f64 = 500.0;
const FRAME: [f64; 4] = [96.0, 44.0, 512.0, 452.0];
/// The number of columns, for shares up to one half, and of rows, for sums of counts.
const COLUMNS: usize = 40;
const ROWS: usize = 60;
/// The fraction of the pairs below the upper end of the plot.
const SHOWN: f64 = 0.98;
/// The colours of cells from few pairs to many: viridis, which is also legible in grey.
const COLOURS: [&str; 10] = [
    "#440154", "#482878", "#3E4A89", "#31688E", "#26828E", "#1F9E89", "#35B779", "#6DCD59",
    "#B4DE2C", "#FDE725",
];

/// The number of positions per count over which pairs are spread, because small counts have few different shares.
const PLACES: u32 = 5;

/// Returns the largest sum of counts that is shown.
fn highest(pairs: &[((u32, u32), u64)], told: &Ploidy) -> f64 {
    let mut sums: Vec<(u32, u64)> = pairs
        .iter()
        .map(|&((minor, major), number)| (minor.saturating_add(major), number))
        .collect();
    sums.sort_unstable();
    let all: u64 = sums.iter().map(|row| row.1).sum();
    let mut below = 0;
    let most = sums.into_iter().find(|&(_, number)| {
        below += number;
        below as f64 >= SHOWN * all as f64
    });
    let of_smudges = told.smudges.iter().map(|smudge| sum(smudge, told) * 1.3).fold(10.0, f64::max);
    f64::from(most.map_or(10, |row| row.0)).min(3.0 * of_smudges).max(of_smudges)
}

/// Returns the sum of counts around which the pairs of a smudge lie.
fn sum(smudge: &Smudge, told: &Ploidy) -> f64 {
    f64::from(smudge.copies[0] + smudge.copies[1]) * told.coverage.unwrap_or_default()
}

/// Plots those of `pairs` that are not errors. Each entry has two counts, the smaller first, and the number of pairs.
pub fn picture(title: &str, pairs: &[((u32, u32), u64)], told: &Ploidy) -> Picture {
    let solid = pairs.iter().filter(|((minor, _), _)| *minor > told.solid);
    let pairs = &solid.copied().collect::<Vec<_>>();
    let axes = Axes::linear(FRAME, [0.5, highest(pairs, told)]);
    let [left, top, right, bottom] = FRAME;
    let mut shapes = vec![Shape::filled(vec![rectangle(FRAME)], COLOURS[0], 1.0)];
    let cells = cells(pairs, axes.up.most());
    let most = cells.iter().copied().fold(1.0, f64::max);
    for (level, colour) in COLOURS.iter().enumerate().skip(1) {
        let of_level = |&(_, &pairs): &(usize, &f64)| shade(pairs, most) == level;
        let paths: Vec<_> =
            cells.iter().enumerate().filter(of_level).map(|(at, _)| cell(at, &axes)).collect();
        if !paths.is_empty() {
            shapes.push(Shape::filled(paths, colour, 1.0));
        }
    }
    shapes.push(axes.shape());
    let mut words = vec![
        Words::new(fitted(title, WIDTH - left - 8.0), [left, 20.0], Anchor::Start),
        Words::new("Both counts", [left, top - 10.0], Anchor::Start),
        Words::new(
            "Part of the rarer k-mer",
            [(left + right) / 2.0, HEIGHT - 12.0],
            Anchor::Middle,
        ),
    ];
    for part in [0.0, 0.1, 0.2, 0.3, 0.4, 0.5] {
        words.push(Words::new(format!("{part:.1}"), [axes.x(part), bottom + 18.0], Anchor::Middle));
    }
    for number in axes.up.ticks() {
        words.push(Words::new(thousands(number), [left - 6.0, axes.y(number) + 4.0], Anchor::End));
    }
    label(told, &axes, &mut shapes, &mut words);
    Picture(Scene { width: WIDTH, height: HEIGHT, shapes, words })
}

/// Returns the number of pairs in each cell, by rows from the bottom.
fn cells(pairs: &[((u32, u32), u64)], most: f64) -> Vec<f64> {
    let mut cells = vec![0.0; COLUMNS * ROWS];
    let places = |count: u32| {
        let place = |place: u32| (f64::from(place) + 0.5) / f64::from(PLACES) - 0.5;
        (0..PLACES).map(move |number| f64::from(count) + place(number))
    };
    for &((minor, major), number) in pairs {
        let share = number as f64 / f64::from(PLACES * PLACES);
        for (one, other) in
            places(minor).flat_map(|one| places(major).map(move |other| (one, other)))
        {
            let sum = one + other;
            let row = (sum / most * ROWS as f64) as usize;
            let column = (2.0 * one.min(other) / sum * COLUMNS as f64) as usize;
            if row < ROWS {
                cells[row * COLUMNS + column.min(COLUMNS - 1)] += share;
            }
        }
    }
    cells
}

fn cell(at: usize, axes: &Axes) -> Vec<[f64; 2]> {
    let [column, row] = [at % COLUMNS, at / COLUMNS].map(|place| place as f64);
    let x = |column: f64| axes.x(0.5 * column / COLUMNS as f64);
    let y = |row: f64| axes.y(axes.up.most() * row / ROWS as f64);
    rectangle([x(column), y(row + 1.0), x(column + 1.0), y(row)])
}

/// Returns the colour of a cell, from the square root of its pairs, so that few pairs are visible, too.
fn shade(pairs: f64, most: f64) -> usize {
    (((pairs / most).sqrt() * COLOURS.len() as f64) as usize).min(COLOURS.len() - 1)
}

/// Labels the smudges at the right side, with lines to their pairs.
fn label(told: &Ploidy, axes: &Axes, shapes: &mut Vec<Shape>, words: &mut Vec<Words>) {
    let all: f64 = told.other + told.smudges.iter().map(|smudge| smudge.pairs).sum::<f64>();
    let [_, _, right, _] = axes.frame;
    let mut taken: Vec<f64> = Vec::new();
    for smudge in told.smudges.iter().filter(|smudge| smudge.pairs >= 0.01 * all) {
        let [rarer, other] = smudge.copies.map(f64::from);
        let at = axes.point([rarer / (rarer + other), sum(smudge, told)]);
        // Below the labels that are at the same height.
        let mut base = at[1] + 4.0;
        while taken.iter().any(|&other| (other - base).abs() < 14.0) {
            base += 14.0;
        }
        taken.push(base);
        shapes.push(Shape::dashed(vec![at, [right + 4.0, base - 4.0]], INK));
        let part = 100.0 * smudge.pairs / all;
        words.push(Words::new(
            format!("{} {part:.0}%", smudge.letters()),
            [right + 6.0, base],
            Anchor::Start,
        ));
    }
}
