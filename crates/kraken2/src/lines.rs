//! The output line of a read.

use merganser_taxreport::output::{LineHead, LineText, Lines, NUMBER, TaxidText};

use super::taxonomy::Kraken2Taxonomy;

/// The value in place of a node for k-mers with a letter that is not a base.
pub(super) const AMBIGUOUS: u32 = u32::MAX;
/// The value in place of a node for the border between mates.
pub(super) const BORDER: u32 = u32::MAX - 1;

/// The content of a line.
pub(super) struct Line<'a> {
    pub(super) name: &'a [u8],
    /// The numbers of bases of the mates.
    pub(super) lengths: (usize, Option<usize>),
    /// The node of the read; 0 if it is unclassified.
    pub(super) call: u32,
    /// Nodes with numbers of k-mers, without equal neighbours; `None` for quick classification.
    pub(super) kmers: Option<&'a [(u32, u64)]>,
}

/// Formats the lines of a run.
#[derive(Debug)]
pub(super) struct LineWriter<'db> {
    tree: &'db Kraken2Taxonomy,
    /// The taxids of all nodes.
    taxids: Vec<TaxidText>,
    /// Whether the names of taxa are written.
    names: bool,
}

/// Returns the name of a pair: its first mate's name without a final /1 or /2.
pub(super) fn pair_name(name: &[u8]) -> &[u8] {
    match name {
        [stem @ .., b'/', b'1' | b'2'] if !stem.is_empty() => stem,
        _ => name,
    }
}

impl<'db> LineWriter<'db> {
    pub(super) fn new(tree: &'db Kraken2Taxonomy, names: bool) -> LineWriter<'db> {
        let nodes = 0..tree.len() as u32;
        let taxids = nodes.map(|node| TaxidText::new(tree.taxid(node))).collect();
        LineWriter { tree, taxids, names }
    }

    /// Adds a line: C or U, the name, the taxon (its name, too, if names are written), the length, and for each run of
    /// k-mers `taxid:number`, `A:number` or `|:|`.
    #[inline]
    pub(super) fn write(&self, line: &Line<'_>, lines: &mut Lines) {
        let &Line { name, lengths, call, kmers } = line;
        let taxid = self.taxids[call as usize];
        let taxon = || if call == 0 { b"unclassified" } else { self.tree.name(call) };
        let (is_classified, taxon) = (call != 0, self.names.then(taxon));
        let head = LineHead { name, taxid, is_classified, taxon, lengths };
        let most = NUMBER * (1 + 2 * kmers.map_or(1, <[_]>::len));
        head.add(most, lines, |text| match kmers {
            Some(kmers) => self.kmers(kmers, text),
            None => {
                text.taxid(&taxid);
                text.words(b"Q\n");
            }
        });
    }

    #[inline]
    fn kmers(&self, kmers: &[(u32, u64)], text: &mut LineText<'_>) {
        for &(node, count) in kmers {
            match node {
                BORDER => text.words(b"|:| "),
                AMBIGUOUS => {
                    text.words(b"A:");
                    text.number(count);
                    text.push(b' ');
                }
                _ => text.taxid_number(&self.taxids[node as usize], count),
            }
        }
        match kmers.last() {
            None => text.words(b"0:0\n"),
            // Kraken 2 keeps the blank after a final A.
            Some((AMBIGUOUS, _)) => text.push(b'\n'),
            Some(_) => text.replace_last(b'\n'),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::taxonomy::tests::tree;
    use super::*;

    #[test]
    fn lines_are_kraken_2s() {
        let tree = tree(&[1, 2], &[]);
        let line = |call, second, kmers, names| {
            let mut lines = Lines::default();
            let line = Line { name: b"r", lengths: (90, second), call, kmers };
            LineWriter::new(&tree, names).write(&line, &mut lines);
            String::from_utf8(lines.text().to_vec()).unwrap()
        };
        let some = [(AMBIGUOUS, 3), (3, 12), (0, 1), (BORDER, 1), (2, 5), (AMBIGUOUS, 2)];
        assert_eq!(
            line(3, Some(7), Some(&some), false),
            "C\tr\t30\t90|7\tA:3 30:12 0:1 |:| 20:5 A:2 \n"
        );
        assert_eq!(line(3, None, Some(&some[1..3]), true), "C\tr\tt30 (taxid 30)\t90\t30:12 0:1\n");
        assert_eq!(line(0, None, Some(&[]), true), "U\tr\tunclassified (taxid 0)\t90\t0:0\n");
        assert_eq!(line(0, Some(1), Some(&[(BORDER, 1)]), false), "U\tr\t0\t90|1\t|:|\n");
        assert_eq!(line(2, None, None, false), "C\tr\t20\t90\t20:Q\n");
    }

    #[test]
    fn pairs_have_the_name_of_their_mates() {
        for (name, pair) in [
            ("a/1", "a"),
            ("a/2", "a"),
            ("a/3", "a/3"),
            ("/1", "/1"),
            ("ab", "ab"),
            ("a/1/2", "a/1"),
        ] {
            assert_eq!(pair_name(name.as_bytes()), pair.as_bytes());
        }
    }
}
