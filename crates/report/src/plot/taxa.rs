//! Charts of taxa.

use std::collections::HashMap;

use super::Options;
use super::frame::Frame;
use crate::data::Taxa;
use crate::draw::{Axes, COLOURS, GREYS, Picture, Scale, Shape, rectangle};

/// The maximum number of samples in a chart; more would be illegible.
const MAX_SAMPLES: usize = 60;
/// The number of corners of a point, and its radius.
const CORNERS: u32 = 12;
const RADIUS: f64 = 3.0;

/// A share of a sample's reads, and its colour.
type BarShare = (f64, &'static str);

/// Plots a bar for each sample: the largest taxa of a rank, the other taxa of the rank, reads that were assigned to
/// higher taxa, and unclassified reads.
pub(super) fn shares(all: &[(&str, &Taxa)], options: &Options) -> Picture {
    let shown = &all[..all.len().min(MAX_SAMPLES)];
    let cut = if shown.len() < all.len() {
        format!(" ({} of {} samples)", shown.len(), all.len())
    } else {
        String::new()
    };
    let mut frame =
        Frame::of_lines(&format!("Reads by taxa of rank {}{cut}", options.rank), true, shown.len());
    let axes = Axes::linear(frame.frame, [100.0, 1.0]);
    frame.name(["Share of reads (%)", ""]);
    let names = largest(shown, &options.rank);
    let [_, top, _, bottom] = frame.frame;
    let step = (bottom - top) / shown.len() as f64;
    for (at, (_, taxa)) in shown.iter().enumerate() {
        let middle = top + step * (at as f64 + 0.5);
        let mut from = 0.0;
        for (part, colour) in parts(taxa, &names, &options.rank) {
            let sides = [from, from + 100.0 * part].map(|share| axes.x(share));
            from += 100.0 * part;
            let bar = rectangle([sides[0], middle - 0.4 * step, sides[1], middle + 0.4 * step]);
            frame.draw([Shape::filled(vec![bar], colour, 1.0)]);
        }
    }
    frame.label(
        shown
            .iter()
            .enumerate()
            .map(|(at, (name, _))| ((*name).to_owned(), top + step * (at as f64 + 0.5))),
    );
    let greys = ["others", "higher taxa", "unclassified"].map(str::to_owned);
    let legend = names.into_iter().zip(COLOURS).chain(greys.into_iter().zip(GREYS));
    frame.legend(&legend.collect::<Vec<_>>());
    if shown.iter().all(|(_, taxa)| taxa.reads == 0) {
        frame.empty();
    }
    frame.write(axes.numbers_along());
    frame.finish(Some(&axes))
}

/// Returns the names of the taxa with the largest shares over all samples.
fn largest(all: &[(&str, &Taxa)], rank: &str) -> Vec<String> {
    let mut sums: HashMap<&str, f64> = HashMap::new();
    for (_, taxa) in all {
        for taxon in taxa.rows.iter().filter(|taxon| taxon.rank == rank) {
            *sums.entry(&taxon.name).or_default() += taxon.clade as f64 / taxa.reads.max(1) as f64;
        }
    }
    let mut names: Vec<(&str, f64)> = sums.into_iter().filter(|sum| sum.1 > 0.0).collect();
    names.sort_by(|one, other| other.1.total_cmp(&one.1).then(one.0.cmp(other.0)));
    names.into_iter().take(COLOURS.len()).map(|(name, _)| name.to_owned()).collect()
}

fn parts(taxa: &Taxa, names: &[String], rank: &str) -> Vec<BarShare> {
    let all = taxa.reads.max(1) as f64;
    let of_rank = || taxa.rows.iter().filter(|taxon| taxon.rank == rank);
    let reads = |name: &String| -> u64 {
        of_rank().filter(|taxon| taxon.name == *name).map(|taxon| taxon.clade).sum()
    };
    let sum: u64 = of_rank().map(|taxon| taxon.clade).sum();
    let named: Vec<u64> = names.iter().map(reads).collect();
    let others = sum - named.iter().sum::<u64>();
    let higher = taxa.reads.saturating_sub(taxa.unclassified).saturating_sub(sum);
    let greys = [others, higher, taxa.unclassified].into_iter().zip(GREYS);
    named.into_iter().zip(COLOURS).chain(greys).map(|(part, of)| (part as f64 / all, of)).collect()
}

/// Plots species by reads and distinct k-mers; species far below the others may be absent.
pub(super) fn evidence(all: &[(&str, &Taxa)]) -> Picture {
    let single = all.len() == 1;
    let name = if single { format!(" of {}", all[0].0) } else { String::new() };
    let mut frame = Frame::new(&format!("Evidence for species{name}"), !single);
    let points = |taxa: &Taxa| -> Vec<[f64; 2]> {
        let species = taxa.rows.iter().filter(|taxon| taxon.rank == "S" && taxon.clade > 0);
        let point = |taxon: &crate::data::Taxon| {
            let distinct = taxon.distinct.filter(|&distinct| distinct > 0)?;
            Some([taxon.clade as f64, distinct as f64])
        };
        species.filter_map(point).collect()
    };
    let of_samples: Vec<_> = all.iter().map(|(_, taxa)| points(taxa)).collect();
    let most = |at: usize| of_samples.iter().flatten().map(|point| point[at]).fold(1.0, f64::max);
    let [along, up] = [0, 1].map(|at| Scale::log(1.0, 1.2 * most(at)));
    let axes = Axes { frame: frame.frame, along, up };
    frame.name(["Reads", "Distinct k-mers (minimizers, features)"]);
    if of_samples.iter().all(Vec::is_empty) {
        frame.empty();
        return frame.finish(Some(&axes));
    }
    for (points, colour) in of_samples.iter().zip(COLOURS.iter().cycle()) {
        let circles = points.iter().map(|&point| circle(axes.point(point)));
        frame.draw([Shape::filled(circles.collect(), colour, 0.7)]);
    }
    if !single {
        let names = all.iter().zip(COLOURS.iter().cycle());
        let names = names.map(|((name, _), colour)| ((*name).to_owned(), *colour));
        frame.legend(&names.collect::<Vec<_>>());
    }
    frame.write(axes.numbers());
    frame.finish(Some(&axes))
}

fn circle([x, y]: [f64; 2]) -> Vec<[f64; 2]> {
    let corner = |corner: u32| {
        let angle = std::f64::consts::TAU * f64::from(corner) / f64::from(CORNERS);
        [x + RADIUS * angle.cos(), y + RADIUS * angle.sin()]
    };
    (0..CORNERS).map(corner).collect()
}
