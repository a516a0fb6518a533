//! The evidence for species: distinct k-mers by reads.

use super::frame::Frame;
use super::lines::names_of;
use crate::data::{Taxa, Taxon};
use crate::draw::{
    Anchor, Axes, COLOURS, GREYS, Picture, SIZE, Scale, Shape, Words, fitted, meet, width,
};

/// The number of corners of a point, and its radius.
const CORNERS: u32 = 12;
const RADIUS: f64 = 3.0;
/// The maximum number of species with names, and the widest name.
const NAMED: usize = 40;
const WIDEST: f64 = 340.0;

/// Plots species by reads and distinct k-mers; species far below the others may be absent. The names of the largest
/// species are beside their points where there is room.
pub(super) fn evidence(all: &[(&str, &Taxa)]) -> Picture {
    let single = all.len() == 1;
    let name = if single { format!(" of {}", all[0].0) } else { String::new() };
    let mut frame = Frame::new(&format!("Evidence for species{name}"), &names_of(all));
    let of_samples: Vec<Vec<Species<'_>>> = all.iter().map(|(_, taxa)| species(taxa)).collect();
    let most = |at: usize| of_samples.iter().flatten().map(|it| it.at[at]).fold(1.0, f64::max);
    let [along, up] = [0, 1].map(|at| Scale::log(1.0, 1.2 * most(at)));
    let axes = Axes { frame: frame.frame, along, up };
    frame.name(["Reads", "Distinct k-mers (minimizers, features)"]);
    if of_samples.iter().all(Vec::is_empty) {
        frame.empty();
        return frame.finish(Some(&axes));
    }
    for (species, colour) in of_samples.iter().zip(COLOURS.iter().cycle()) {
        let circles = species.iter().map(|species| circle(axes.point(species.at)));
        frame.draw([Shape::filled(circles.collect(), colour, 0.7)]);
    }
    let (lines, words) = names(&of_samples, &axes);
    frame.draw(lines);
    frame.write(words);
    if !single {
        let names = all.iter().zip(COLOURS.iter().cycle());
        let names = names.map(|((name, _), colour)| ((*name).to_owned(), *colour));
        frame.legend(&names.collect::<Vec<_>>());
    }
    frame.write(axes.numbers());
    frame.finish(Some(&axes))
}

/// A species with its reads and distinct k-mers.
struct Species<'t> {
    name: &'t str,
    at: [f64; 2],
}

fn species(taxa: &Taxa) -> Vec<Species<'_>> {
    let shown = taxa.rows.iter().filter(|taxon| taxon.rank == "S" && taxon.clade > 0);
    let of = |taxon: &'_ Taxon| {
        let distinct = taxon.distinct.filter(|&distinct| distinct > 0)?;
        Some([taxon.clade as f64, distinct as f64])
    };
    shown.filter_map(|taxon| Some(Species { name: &taxon.name, at: of(taxon)? })).collect()
}

/// Returns the names of the species with the most reads, each beside its point where it overlaps nothing, and lines to
/// names that are farther away. Names without room are left out.
fn names(of_samples: &[Vec<Species<'_>>], axes: &Axes) -> (Vec<Shape>, Vec<Words>) {
    let mut species: Vec<&Species<'_>> = of_samples.iter().flatten().collect();
    species.sort_by(|one, other| other.at[0].total_cmp(&one.at[0]).then(one.name.cmp(other.name)));
    species.truncate(NAMED);
    let points: Vec<[f64; 2]> = species.iter().map(|species| axes.point(species.at)).collect();
    let mut taken: Vec<[f64; 4]> =
        points.iter().map(|&[x, y]| [x - RADIUS, y - RADIUS, x + RADIUS, y + RADIUS]).collect();
    let (mut lines, mut words) = (Vec::new(), Vec::new());
    for (at, (species, &point)) in species.iter().zip(&points).enumerate() {
        let text = fitted(species.name, WIDEST);
        let free = |box_: &[f64; 4]| {
            let [left, top, right, bottom] = axes.frame;
            let inside = box_[0] > left + 2.0
                && box_[1] > top - 8.0
                && box_[2] < right + 24.0
                && box_[3] < bottom;
            let others = taken.iter().enumerate().filter(|(other, _)| *other != at);
            inside && others.into_iter().all(|(_, other)| !meet(*box_, *other))
        };
        let Some(place) = places(point, width(&text)).into_iter().find(free) else { continue };
        taken.push(place);
        let near = [point[0].clamp(place[0], place[2]), point[1].clamp(place[1], place[3])];
        if (near[0] - point[0]).hypot(near[1] - point[1]) > 3.0 * RADIUS {
            lines.push(Shape::line(vec![point, near], GREYS[1], 0.7));
        }
        words.push(Words::new(text, [place[0], place[1] + 0.78 * SIZE], Anchor::Start));
    }
    (lines, words)
}

/// Returns places for a name of this width: at the sides of its point, above, below, and farther away.
fn places([x, y]: [f64; 2], width: f64) -> Vec<[f64; 4]> {
    let (gap, height) = (2.0 * RADIUS, SIZE + 1.0);
    let boxed = |left: f64, top: f64| [left, top, left + width, top + height];
    let (right, left, middle) = (x + gap, x - gap - width, x - width / 2.0);
    let mut all = vec![
        boxed(right, y - height / 2.0),
        boxed(left, y - height / 2.0),
        boxed(middle, y - gap - height),
        boxed(middle, y + gap),
    ];
    for far in [2.0, 3.5, 5.0] {
        for side in [right, left] {
            all.push(boxed(side, y - far * height));
            all.push(boxed(side, y + (far - 1.0) * height));
        }
    }
    all
}

fn circle([x, y]: [f64; 2]) -> Vec<[f64; 2]> {
    let corner = |corner: u32| {
        let angle = std::f64::consts::TAU * f64::from(corner) / f64::from(CORNERS);
        [x + RADIUS * angle.cos(), y + RADIUS * angle.sin()]
    };
    (0..CORNERS).map(corner).collect()
}
