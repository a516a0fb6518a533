//! Evidence by segment: a long read is cut into segments, each of which gets a taxon by itself. A chimeric read, which
//! joins molecules of several organisms, has segments of several taxa.

use std::ops::Range;

use merganser_io::put_decimal;

use super::Lines;

/// The length of segments in bases, if none is given.
pub const SEGMENT_BASES: u32 = 1000;
/// The number of neighbouring segments of a clade that are evidence for it.
const EVIDENCE: usize = 2;

/// The header line of the table.
pub const SEGMENTS_HEADING: &[u8] =
    b"read\tmate\tstart\tend\ttaxid\tname\thits\tread_taxid\tchimeric\n";

/// Returns the number of segments of a mate: as many as fit into it, and at least one. The last one also has the rest,
/// which is shorter than a segment.
pub fn segment_count(letters: usize, segment: usize) -> usize {
    (letters / segment.max(1)).max(1)
}

/// Returns the letters of each segment of a mate; a mate without letters has none.
pub fn segment_ranges(letters: usize, segment: usize) -> impl Iterator<Item = Range<usize>> {
    let count = if letters == 0 { 0 } else { segment_count(letters, segment) };
    let end = move |at: usize| if at + 1 == count { letters } else { (at + 1) * segment };
    (0..count).map(move |at| at * segment..end(at))
}

/// A segment with its result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Segment<'t> {
    /// The mate: 0 or 1.
    pub mate: usize,
    /// The letters of the mate.
    pub letters: Range<usize>,
    /// The taxid; 0 if the segment is unclassified.
    pub taxid: u32,
    /// The name of the taxon.
    pub name: &'t [u8],
    /// The hits of the taxon.
    pub hits: u64,
    /// The clade by which segments are compared: the genus of the taxon, or its species if that has no genus. `None` if
    /// the taxon is above both, or the segment is unclassified.
    pub clade: Option<u32>,
}

/// Returns the clade by which segments are compared: of a taxon and its ancestors, given with the letters of their ranks,
/// the highest one that is a species or a genus.
pub fn compared_clade(lineage: impl Iterator<Item = (u32, Option<char>)>) -> Option<u32> {
    lineage.filter(|(_, letter)| matches!(letter, Some('S' | 'G'))).last().map(|(node, _)| node)
}

/// Whether a read looks chimeric: at least two neighbouring segments are of one clade, and elsewhere at least two
/// neighbouring segments of another. Segments without a clade are passed over.
fn is_chimeric(segments: &[Segment<'_>]) -> bool {
    let clades: Vec<u32> = segments.iter().filter_map(|segment| segment.clade).collect();
    let mut runs = clades.chunk_by(|one, other| one == other).filter(|run| run.len() >= EVIDENCE);
    let first = runs.next();
    runs.any(|run| first.is_some_and(|first| first[0] != run[0]))
}

/// Adds the rows of a read: a line for each segment with the read, its mate (1 or 2), the start and the end of the
/// segment (from 0, end excluded), its taxid, name and hits, the taxid of the whole read, and whether the read looks
/// chimeric.
pub fn add_segments(name: &[u8], taxid: u32, segments: &[Segment<'_>], lines: &mut Lines) {
    let chimeric: &[u8] = if is_chimeric(segments) { b"yes" } else { b"no" };
    lines.add(|text| {
        for segment in segments {
            text.extend_from_slice(name);
            for number in [segment.mate + 1, segment.letters.start, segment.letters.end] {
                text.push(b'\t');
                put_decimal(number as u64, text);
            }
            text.push(b'\t');
            put_decimal(segment.taxid.into(), text);
            text.push(b'\t');
            text.extend_from_slice(segment.name);
            for number in [segment.hits, taxid.into()] {
                text.push(b'\t');
                put_decimal(number, text);
            }
            text.push(b'\t');
            text.extend_from_slice(chimeric);
            text.push(b'\n');
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn segments_cover_a_read_once() {
        let ends = |letters, segment| {
            segment_ranges(letters, segment).map(|own| [own.start, own.end]).collect::<Vec<_>>()
        };
        assert!(ends(0, 10).is_empty());
        assert_eq!(ends(9, 10), [[0, 9]]);
        assert_eq!(ends(10, 10), [[0, 10]]);
        assert_eq!(ends(19, 10), [[0, 19]]);
        assert_eq!(ends(20, 10), [[0, 10], [10, 20]]);
        assert_eq!(ends(39, 10), [[0, 10], [10, 20], [20, 39]]);
    }

    #[test]
    fn a_chimera_has_two_neighbours_on_each_side() {
        let segment = |clade: u32| Segment {
            mate: 0,
            letters: 0..10,
            taxid: 1,
            name: b"",
            hits: 3,
            clade: Some(clade).filter(|&clade| clade > 0),
        };
        // 0 is a segment without a clade.
        for (clades, chimeric) in [
            (&[][..], false),
            (&[1], false),
            (&[1, 2], false),
            (&[1, 1, 1, 1], false),
            (&[1, 1, 2, 1, 1], false),
            (&[1, 1, 2, 2], true),
            (&[1, 1, 2, 1, 2], false),
            (&[1, 0, 1, 0, 0, 2, 0, 2], true),
            (&[2, 1, 1, 3, 2, 2], true),
        ] {
            let segments: Vec<_> = clades.iter().map(|&clade| segment(clade)).collect();
            assert_eq!(is_chimeric(&segments), chimeric, "{clades:?}");
        }
    }

    #[test]
    fn clades_are_genera_or_species_without_one() {
        let lineage = |letters: &str| {
            let letters: Vec<char> = letters.chars().collect();
            let node = |(at, letter): (u32, char)| (at, Some(letter).filter(|&one| one != '-'));
            compared_clade((0..).zip(letters).map(node))
        };
        assert_eq!(lineage("-S-GFOR"), Some(3));
        assert_eq!(lineage("S-FR"), Some(0));
        assert_eq!(lineage("GFR"), Some(0));
        assert_eq!(lineage("FOR"), None);
        assert_eq!(lineage("-R"), None);
    }
}
