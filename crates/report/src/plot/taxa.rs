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
    let largest = largest(shown, &options.rank);
    let names = names(&largest);
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
        for (part, colour) in parts(taxa, &largest, &options.rank) {
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

/// Returns the taxids and names of the taxa with the largest shares over all samples.
fn largest<'t>(all: &[(&str, &'t Taxa)], rank: &str) -> Vec<(u64, &'t str)> {
    let mut sums: HashMap<u64, (f64, &str)> = HashMap::new();
    for (_, taxa) in all {
        for taxon in taxa.rows.iter().filter(|taxon| taxon.rank == rank) {
            let (sum, _) = sums.entry(taxon.taxid).or_insert((0.0, &taxon.name));
            *sum += taxon.clade as f64 / taxa.reads.max(1) as f64;
        }
    }
    let mut sorted: Vec<(u64, (f64, &str))> =
        sums.into_iter().filter(|(_, (sum, _))| *sum > 0.0).collect();
    sorted.sort_by(|(taxid, one), (other_taxid, other)| {
        other.0.total_cmp(&one.0).then(one.1.cmp(other.1)).then(taxid.cmp(other_taxid))
    });
    sorted.into_iter().take(COLOURS.len()).map(|(taxid, (_, name))| (taxid, name)).collect()
}

/// Returns the names in the legend: with the taxid if several taxa have the name.
fn names(taxa: &[(u64, &str)]) -> Vec<String> {
    let is_shared = |name: &str| taxa.iter().filter(|(_, other)| *other == name).count() > 1;
    let text = |&(taxid, name): &(u64, &str)| match is_shared(name) {
        true => format!("{name} ({taxid})"),
        false => name.to_owned(),
    };
    taxa.iter().map(text).collect()
}

fn parts(taxa: &Taxa, largest: &[(u64, &str)], rank: &str) -> Vec<BarShare> {
    let all = taxa.reads.max(1) as f64;
    let of_rank = || taxa.rows.iter().filter(|taxon| taxon.rank == rank);
    let reads = |&(taxid, _): &(u64, &str)| -> u64 {
        of_rank().filter(|taxon| taxon.taxid == taxid).map(|taxon| taxon.clade).sum()
    };
    let sum: u64 = of_rank().map(|taxon| taxon.clade).sum();
    let named: Vec<u64> = largest.iter().map(reads).collect();
    let others = sum - named.iter().sum::<u64>();
    let higher = taxa.reads.saturating_sub(taxa.unclassified).saturating_sub(sum);
    let greys = [others, higher, taxa.unclassified].into_iter().zip(GREYS);
    named.into_iter().zip(COLOURS).chain(greys).map(|(part, of)| (part as f64 / all, of)).collect()
}
