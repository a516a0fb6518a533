//! The output line of a read.

use merganser_io::put_decimal;
use merganser_taxreport::output::LineHead;

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

/// Returns the name of a pair: its first mate's name without a final /1 or /2.
pub(super) fn pair_name(name: &[u8]) -> &[u8] {
    match name {
        [stem @ .., b'/', b'1' | b'2'] if !stem.is_empty() => stem,
        _ => name,
    }
}

impl Line<'_> {
    /// Appends the line: C or U, the name, the taxon (as its name with `names`), the length, and for each
    /// run of k-mers `taxid:number`, `A:number` or `|:|`.
    pub(super) fn write(&self, tree: &Kraken2Taxonomy, names: bool, text: &mut Vec<u8>) {
        let taxid = tree.taxid(self.call);
        let head = LineHead {
            name: self.name,
            taxon: (self.call != 0)
                .then(|| (taxid, if names { tree.name(self.call) } else { b"" })),
            names,
            lengths: self.lengths,
        };
        head.append(0, text, |_| {});
        match self.kmers {
            Some(kmers) => write_kmers(tree, kmers, text),
            None => {
                put_decimal(taxid.into(), text);
                text.extend_from_slice(b":Q");
            }
        }
        text.push(b'\n');
    }
}

fn write_kmers(tree: &Kraken2Taxonomy, kmers: &[(u32, u64)], text: &mut Vec<u8>) {
    let Some(&(last, _)) = kmers.last() else {
        return text.extend_from_slice(b"0:0");
    };
    for &(node, count) in kmers {
        match node {
            BORDER => text.extend_from_slice(b"|:|"),
            AMBIGUOUS => {
                text.extend_from_slice(b"A:");
                put_decimal(count, text);
            }
            _ => {
                put_decimal(u64::from(tree.taxid(node)), text);
                text.push(b':');
                put_decimal(count, text);
            }
        }
        text.push(b' ');
    }
    // Kraken 2 keeps the blank after a final A.
    if last != AMBIGUOUS {
        text.pop();
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
            let mut text = Vec::new();
            Line { name: b"r", lengths: (90, second), call, kmers }.write(&tree, names, &mut text);
            String::from_utf8(text).unwrap()
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
