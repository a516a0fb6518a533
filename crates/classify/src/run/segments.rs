//! Evidence by segment: classifies consecutive segments of reads, each like a read by itself.

use std::ops::Range;

use merganser_io::RecordBatch;
use merganser_taxreport::output::{Lines, Segment, add_segments, compared_clade, segment_ranges};

use super::passes::RunContext;
use crate::output;
use crate::reads::id;

/// The place of a segment: the read, its mate, and the letters.
type Place = (usize, usize, Range<usize>);

impl RunContext<'_, '_> {
    /// Classifies the segments of a batch and adds their lines. A segment has the taxon that a read of its letters would
    /// have. `views` are the letters of the reads as they are classified, and `taxids` the taxids of the reads, 0 for
    /// unclassified ones.
    pub(super) fn put_segments(
        &self,
        batch: &RecordBatch,
        views: &[[&[u8]; 2]],
        taxids: &[u32],
        lines: &mut Lines,
    ) {
        let places = self.places(views);
        let letters = |(read, mate, own): &Place| [&views[*read][*mate][own.clone()], &[][..]];
        let letters: Vec<[&[u8]; 2]> = places.iter().map(letters).collect();
        let segments = self.classified_segments(&places, &letters);
        let mut rest = &segments[..];
        for of_read in places.chunk_by(|one, other| one.0 == other.0) {
            let (own, others) = rest.split_at(of_read.len());
            rest = others;
            let read = of_read[0].0;
            add_segments(id(batch, read), taxids[read], own, lines);
        }
    }

    /// Returns the segments of all reads, in their order.
    fn places(&self, views: &[[&[u8]; 2]]) -> Vec<Place> {
        let length = self.config.kraken2.segment_bases();
        let mut places = Vec::new();
        for (read, mates) in views.iter().enumerate() {
            for (mate, letters) in mates.iter().enumerate() {
                places.extend(segment_ranges(letters.len(), length).map(|own| (read, mate, own)));
            }
        }
        places
    }

    /// Classifies segments, given their places and letters.
    fn classified_segments(&self, places: &[Place], segments: &[[&[u8]; 2]]) -> Vec<Segment<'_>> {
        let (host, thresholds) = (self.classifier.query.host(), &self.thresholds);
        let (tree, nodes) = (self.classifier.database.taxonomy(), &self.classifier.nodes);
        let (mut candidates, mut ends) = (Vec::new(), Vec::new());
        host.candidates(segments, &mut host.scratch(), &mut candidates, &mut ends);
        let clades = (thresholds.confidence > 0.0).then(|| host.clades(segments));
        let (mut start, mut scratch) = (0, None);
        let classify = |(at, (_, mate, letters)): (usize, &Place)| {
            let own = &candidates[start..ends[at]];
            start = ends[at];
            let verdict = thresholds.decide(own, letters.len() as u64, tree, nodes);
            let clades = clades.as_ref().map(|clades| clades.of(at));
            let verdict = thresholds.confirm(verdict, clades, tree, nodes);
            let verdict = self.supported(verdict, || &segments[at], &mut scratch);
            let node = output::found(verdict, nodes).map(|(node, _)| node);
            let lineage = node.into_iter().flat_map(|node| tree.lineage(node));
            Segment {
                mate: *mate,
                letters: letters.clone(),
                taxid: node.map_or(0, |node| tree.taxid(node)),
                name: node.map_or(b"unclassified", |node| tree.name(node).as_bytes()),
                hits: own.first().map_or(0, |best| best.hits.into()),
                clade: compared_clade(lineage.map(|node| (node, tree.rank(node).letter()))),
            }
        };
        places.iter().enumerate().map(classify).collect()
    }
}
