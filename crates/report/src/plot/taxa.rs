//! Charts of taxa.

use std::collections::HashMap;

use super::Options;
use super::frame::Frame;
use crate::data::Taxa;
use crate::draw::{Axes, COLOURS, GREYS, Picture, Shape, rectangle};

/// The maximum number of samples in a chart; more would be illegible.
const MAX_SAMPLES: usize = 60;

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
    let names = largest(shown, &options.rank);
    let greys = ["others", "higher taxa", "unclassified"].map(str::to_owned);
    let legend: Vec<(String, &str)> =
        names.iter().cloned().zip(COLOURS).chain(greys.into_iter().zip(GREYS)).collect();
    let legend_names: Vec<&str> = legend.iter().map(|(name, _)| name.as_str()).collect();
    let samples: Vec<&str> = shown.iter().map(|(name, _)| *name).collect();
    let title = format!("Reads by taxa of rank {}{cut}", options.rank);
    let mut frame = Frame::of_lines(&title, &legend_names, &samples);
    let axes = Axes::linear(frame.frame, [100.0, 1.0]);
    frame.name(["Share of reads (%)", ""]);
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
    frame.legend(&legend);
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
