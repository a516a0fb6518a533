//! Plots of haplotypes in assemblies, as by Merqury (Rhie et al. 2020, figures 4 and 5): the parents' markers on each
//! sequence, and the lengths of phase blocks.

use std::f64::consts::TAU;

use crate::draw::{Anchor, Axes, INK, Picture, SET1, Scene, Shape, Words, fitted, rectangle};

/// A sequence of an assembly.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Blob {
    /// The numbers of markers of both haplotypes.
    pub markers: [u64; 2],
    /// The size of the sequence.
    pub size: u64,
    /// The index of its assembly, from 0.
    pub assembly: usize,
}

/// A phase block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stretch {
    /// The length in bases.
    pub bases: u64,
    /// The index of its haplotype, 0 or 1.
    pub haplotype: usize,
}

const WIDTH: f64 = 600.0;
const HEIGHT: f64 = 500.0;
const FRAME: [f64; 4] = [96.0, 44.0, 572.0, 452.0];
/// The widest name in the legend.
const WIDEST: f64 = 300.0;
/// The radius of the largest circle, and the minimum radius, in SVG units.
const RADIUS: f64 = 40.0;
const MIN_RADIUS: f64 = 1.5;
/// The number of corners of a circle.
const CORNERS: u32 = 32;
/// The maximum number of sequences that are drawn, the largest ones.
const MAX: usize = 20_000;

fn picture(
    title: &str,
    axes: &Axes,
    shapes: Vec<Shape>,
    [along, up]: [&str; 2],
    names: &[&str],
) -> Picture {
    let [left, top, right, _] = FRAME;
    let mut shapes = shapes;
    shapes.push(axes.shape());
    let mut words = axes.numbers();
    words.push(Words::new(fitted(title, WIDTH - left - 8.0), [left, 20.0], Anchor::Start));
    words.push(Words::new(fitted(up, right - left), [left, top - 10.0], Anchor::Start));
    words.push(Words::new(
        fitted(along, right - left),
        [(left + right) / 2.0, HEIGHT - 12.0],
        Anchor::Middle,
    ));
    for ((line, name), colour) in (0..).zip(names).zip(SET1.iter().cycle()) {
        let base = top + 12.0 + 18.0 * f64::from(line);
        let square = rectangle([right - 14.0, base - 10.0, right - 2.0, base + 1.0]);
        shapes.push(Shape::filled(vec![square], colour, 1.0));
        words.push(Words::new(fitted(name, WIDEST), [right - 20.0, base], Anchor::End));
    }
    Picture(Scene { width: WIDTH, height: HEIGHT, shapes, words })
}

/// Plots sequences as circles by the number of markers of each haplotype. The area of a circle shows the size of the
/// sequence. Sequences along an axis belong to one haplotype.
pub fn blobs(title: &str, haplotypes: [&str; 2], assemblies: &[&str], blobs: &[Blob]) -> Picture {
    let mut blobs: Vec<&Blob> = blobs.iter().filter(|blob| blob.markers != [0; 2]).collect();
    // Small circles are drawn over large ones.
    blobs.sort_by_key(|blob| std::cmp::Reverse((blob.size, blob.markers, blob.assembly)));
    blobs.truncate(MAX);
    let most = blobs.iter().flat_map(|blob| blob.markers).max().unwrap_or(1) as f64 * 1.08;
    let largest = blobs.first().map_or(1, |blob| blob.size.max(1)) as f64;
    let axes = Axes::linear(FRAME, [most, most]);
    let circle = |blob: &&Blob| {
        let [x, y] = axes.point(blob.markers.map(|markers| markers as f64));
        let radius = (RADIUS * (blob.size as f64 / largest).sqrt()).max(MIN_RADIUS);
        let corner = |corner: u32| {
            let angle = TAU * f64::from(corner) / f64::from(CORNERS);
            [x + radius * angle.cos(), y + radius * angle.sin()]
        };
        Shape::filled(
            vec![(0..CORNERS).map(corner).collect()],
            SET1[blob.assembly % SET1.len()],
            0.3,
        )
    };
    let shapes = blobs.iter().map(circle).collect();
    picture(title, &axes, shapes, haplotypes, assemblies)
}

/// Sorts stretches by length, the longest first. Each has the range that it takes of the bases of all, in per cent.
fn ordered<T>(mut all: Vec<(u64, T)>) -> Vec<(u64, T, [f64; 2])> {
    all.sort_by_key(|one| std::cmp::Reverse(one.0));
    let whole = all.iter().map(|one| one.0).sum::<u64>().max(1) as f64;
    let mut before = 0;
    let place = |(bases, what): (u64, T)| {
        let from = 100.0 * before as f64 / whole;
        before += bases;
        (bases, what, [from, 100.0 * before as f64 / whole])
    };
    all.into_iter().map(place).collect()
}

fn axes_of(longest: u64) -> Axes {
    Axes::linear(FRAME, [100.0, 1.05 * longest.max(1) as f64])
}

fn half(axes: &Axes) -> Shape {
    let [_, top, _, bottom] = FRAME;
    let at = axes.x(50.0);
    Shape::dashed(vec![[at, bottom], [at, top]], INK)
}

/// Plots phase blocks side by side, the longest first. The width of a block is its share of all bases, its height is
/// its length, and its colour shows the haplotype. The block at 50 % has the length N50.
pub fn blocks(title: &str, haplotypes: [&str; 2], blocks: &[Stretch]) -> Picture {
    let all = ordered(blocks.iter().map(|block| (block.bases, block.haplotype)).collect());
    let axes = axes_of(all.first().map_or(1, |block| block.0));
    let bar = |(bases, _, [from, to]): &(u64, usize, [f64; 2])| {
        rectangle([axes.x(*from), axes.y(*bases as f64), axes.x(*to), axes.y(0.0)])
    };
    let of = |haplotype: usize| {
        all.iter().filter(move |block| block.1 % 2 == haplotype).map(bar).collect()
    };
    let mut shapes: Vec<Shape> =
        (0..2).map(|haplotype| Shape::filled(of(haplotype), SET1[haplotype], 0.8)).collect();
    shapes.push(half(&axes));
    picture(title, &axes, shapes, ["% of the blocks' bases", "bases"], &haplotypes)
}

/// Plots the lengths of several kinds of stretches as steps, the longest first, by the cumulated share of their
/// bases.
pub fn continuity(title: &str, kinds: &[(&str, Vec<u64>)]) -> Picture {
    let longest = kinds.iter().flat_map(|kind| &kind.1).copied().max().unwrap_or(1);
    let axes = axes_of(longest);
    let steps = |lengths: &[u64]| {
        let all = ordered(lengths.iter().map(|&bases| (bases, ())).collect());
        all.iter()
            .flat_map(|&(bases, (), places)| places.map(|place| axes.point([place, bases as f64])))
            .collect::<Vec<_>>()
    };
    let mut shapes: Vec<Shape> = kinds
        .iter()
        .zip(SET1)
        .map(|(kind, colour)| Shape::line(steps(&kind.1), colour, 2.0))
        .collect();
    shapes.push(half(&axes));
    let names: Vec<&str> = kinds.iter().map(|kind| kind.0).collect();
    picture(title, &axes, shapes, ["% of all bases", "bases"], &names)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_come_first_and_fill_the_axis() {
        let all = ordered(vec![(10, 'a'), (70, 'b'), (20, 'c')]);
        assert_eq!(
            all,
            [(70, 'b', [0.0, 70.0]), (20, 'c', [70.0, 90.0]), (10, 'a', [90.0, 100.0])]
        );
        assert_eq!(ordered(Vec::<(u64, ())>::new()), []);
    }

    #[test]
    fn pictures_of_nothing_and_of_something_are_drawn() {
        let blob = |markers, size, assembly| Blob { markers, size, assembly };
        let some = [blob([900, 3], 5000, 0), blob([2, 800], 4000, 1), blob([0, 0], 9, 1)];
        let stretch = |bases, haplotype| Stretch { bases, haplotype };
        let blocks_of = [stretch(500, 0), stretch(900, 1)];
        for (some, blocks_of) in [(&some[..], &blocks_of[..]), (&[], &[])] {
            let lengths = blocks_of.iter().map(|block| block.bases).collect();
            for picture in [
                blobs("t", ["mat", "pat"], &["a<b", "c"], some),
                blocks("t", ["mat", "pat"], blocks_of),
                continuity("t", &[("block", lengths), ("contig", vec![1400])]),
            ] {
                assert!(picture.svg().ends_with("</svg>\n"));
                assert!(picture.png(72).unwrap().starts_with(b"\x89PNG"));
            }
        }
        // The sequence without markers is not there: two circles and the two of the legend.
        let drawn = blobs("t", ["mat", "pat"], &["a<b", "c"], &some).svg();
        assert_eq!(drawn.matches("fill-opacity=\"0.3\"").count(), 2);
        assert!(drawn.contains("a&lt;b"));
    }
}
