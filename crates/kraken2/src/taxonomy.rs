//! The file taxo.k2d, which has the taxa of a database.

mod write;

use std::ops::Range;
use std::path::Path;

use merganser_io::MappedFile;

use crate::Error;
use merganser_store::ByteReader;
use merganser_taxonomy::{NodeInfo, Rank, Taxonomy};

/// The first bytes of the file.
const MAGIC: &[u8] = b"K2TAXDAT";
/// The size of the header in bytes.
const HEADER: usize = 32;
/// The size of a node in bytes.
const NODE: usize = 56;

/// The taxa of a database by the numbers that its table uses (internal ids): 0 is no taxon, 1 is the root.
/// Parents come before their children, and the children of a node are consecutive, by taxid.
#[derive(Clone, Debug)]
pub struct Kraken2Taxonomy {
    parents: Vec<u32>,
    children: Vec<Range<u32>>,
    taxids: Vec<u32>,
    /// The letter of each node's rank in reports, if it has one.
    letters: Vec<Option<char>>,
    /// The start of each node's rank in `ranks`, where each rank ends with a zero byte.
    rank_starts: Vec<u32>,
    ranks: Vec<u8>,
    /// The start of each node's name in `names`, where each name ends with a zero byte.
    name_starts: Vec<u32>,
    names: Vec<u8>,
    /// The position of each node in preorder, and the end of its clade.
    clades: Vec<Range<u32>>,
    /// The number of nodes of the file that the root does not reach. Those after the last node that it reaches
    /// are dropped.
    unreached: usize,
    /// The nodes that the root does not reach and that are not dropped.
    holes: Vec<u32>,
}

impl Kraken2Taxonomy {
    /// Reads and checks taxo.k2d.
    ///
    /// # Errors
    /// If the file cannot be read, or is damaged.
    pub(super) fn read(path: &Path) -> Result<Kraken2Taxonomy, Error> {
        let file = merganser_io::open_file(path).and_then(|file| MappedFile::of_file(&file, path));
        let file = file.map_err(|source| Error::File { path: path.to_owned(), source })?;
        Self::parse(file.bytes()).map_err(|reason| Error::content(path, reason))
    }

    /// Parses a whole file.
    ///
    /// # Errors
    /// A description of what is wrong.
    pub(crate) fn parse(bytes: &[u8]) -> Result<Kraken2Taxonomy, String> {
        let Parts { nodes, names, ranks } = Parts::of(bytes)?;
        let count = nodes.len() / NODE;
        let mut tree = Kraken2Taxonomy {
            parents: Vec::with_capacity(count),
            children: Vec::with_capacity(count),
            taxids: Vec::with_capacity(count),
            letters: Vec::with_capacity(count),
            rank_starts: Vec::with_capacity(count),
            ranks: ranks.to_vec(),
            name_starts: Vec::with_capacity(count),
            names: names.to_vec(),
            clades: Vec::new(),
            unreached: 0,
            holes: Vec::new(),
        };
        // For taxids that nodes.dmp lacks, kraken2-build writes nodes with uninitialised memory.
        let reached = reached(nodes);
        let end = reached.iter().rposition(|&reached| reached).map_or(0, |last| last + 1);
        for (number, node) in nodes.chunks_exact(NODE).take(end).enumerate() {
            match reached[number] {
                true => tree.push(number as u64, node, ranks)?,
                false => tree.push_hole(),
            }
        }
        tree.unreached = count - end + tree.holes.len();
        tree.check_children()?;
        tree.check_taxids()?;
        tree.number_clades();
        Ok(tree)
    }

    /// Adds an empty node in place of one that the root does not reach.
    fn push_hole(&mut self) {
        self.holes.push(self.parents.len() as u32);
        self.parents.push(0);
        self.children.push(0..0);
        // Points to the final zero bytes of the texts: an empty name and rank.
        self.name_starts.push(self.names.len() as u32 - 1);
        self.rank_starts.push(self.ranks.len() as u32 - 1);
        self.letters.push(None);
        self.taxids.push(0);
    }

    fn push(&mut self, number: u64, node: &[u8], ranks: &[u8]) -> Result<(), String> {
        let mut fields = ByteReader(node);
        let [parent, first, children, name, rank, taxid, _] =
            std::array::from_fn(|_| fields.u64().unwrap_or(u64::MAX));
        let wrong = |what: &str| Err(format!("node {number}: {what}: damaged"));
        if number == 0 && node.iter().any(|&byte| byte != 0) {
            return wrong("not all zero");
        }
        if number > 0 && (parent >= number || (parent == 0) != (number == 1)) {
            return wrong(&format!("its parent is {parent}, not a node before it"));
        }
        if first.checked_add(children).is_none_or(|end| end > u64::from(u32::MAX)) {
            return wrong(&format!("{children} children from {first} on"));
        }
        if name >= self.names.len() as u64 || rank >= ranks.len() as u64 {
            return wrong("its name or rank lies outside of the file's texts");
        }
        if number > 0 && taxid == 0 {
            return wrong("its taxid is 0");
        }
        if taxid > u64::from(u32::MAX) {
            return wrong(&format!("taxid {taxid} is too large"));
        }
        self.parents.push(parent as u32);
        self.children.push(first as u32..(first + children) as u32);
        self.name_starts.push(name as u32);
        self.rank_starts.push(rank as u32);
        self.letters.push(letter(text(ranks, rank as usize)));
        self.taxids.push(taxid as u32);
        Ok(())
    }

    /// Checks that parents and children are consistent.
    fn check_children(&self) -> Result<(), String> {
        for (parent, range) in self.children.iter().enumerate() {
            let own = |child: u32| self.parents.get(child as usize) == Some(&(parent as u32));
            if let Some(child) = range.clone().find(|&child| !own(child)) {
                return Err(format!(
                    "node {child} is listed as a child of {parent}, but has another parent: damaged"
                ));
            }
        }
        let sum: u64 = self.children.iter().map(|range| u64::from(range.end - range.start)).sum();
        let reached = self.len() - self.holes.len();
        if sum != reached as u64 - 2 {
            return Err(format!("{sum} children in all, and {reached} nodes: damaged"));
        }
        Ok(())
    }

    /// Checks that no two nodes have the same taxid, because reports identify taxa by it.
    fn check_taxids(&self) -> Result<(), String> {
        let mut taxids: Vec<u32> = self.reached().map(|node| self.taxids[node as usize]).collect();
        taxids.sort_unstable();
        match taxids.windows(2).find(|pair| pair[0] == pair[1]) {
            Some(pair) => Err(format!("taxid {} occurs twice: damaged", pair[0])),
            None => Ok(()),
        }
    }

    fn number_clades(&mut self) {
        let mut sizes = vec![1u32; self.len()];
        let reached: Vec<usize> = self.reached().map(|node| node as usize).collect();
        for &node in reached.iter().skip(1).rev() {
            sizes[self.parents[node] as usize] += sizes[node];
        }
        self.clades = vec![0..0; self.len()];
        let mut next = vec![1u32; self.len()];
        for node in reached {
            let start = &mut next[self.parents[node] as usize];
            let place = *start;
            *start += sizes[node];
            self.clades[node] = place..place + sizes[node];
            next[node] = place + 1;
        }
    }

    /// Returns the number of nodes, including node 0, which is no taxon; at least 2.
    #[allow(clippy::len_without_is_empty, reason = "there is always a root")]
    pub fn len(&self) -> usize {
        self.parents.len()
    }

    /// Returns the root.
    pub fn root(&self) -> u32 {
        1
    }

    /// Returns the number of nodes of the file that the root does not reach; they are ignored.
    pub fn unreached(&self) -> usize {
        self.unreached
    }

    /// Returns the unreached nodes that are followed by others.
    pub(super) fn holes(&self) -> &[u32] {
        &self.holes
    }

    /// Returns the nodes that the root reaches, the root first.
    fn reached(&self) -> impl Iterator<Item = u32> {
        (self.root()..self.len() as u32).filter(|node| self.holes.binary_search(node).is_err())
    }

    /// Returns the parent of a node; 0 for the root and for node 0.
    pub fn parent(&self, node: u32) -> u32 {
        self.parents[node as usize]
    }

    /// Returns the children of a node, by taxid.
    pub fn children(&self, node: u32) -> Range<u32> {
        self.children[node as usize].clone()
    }

    /// Returns the taxid of a node; 0 for node 0.
    pub fn taxid(&self, node: u32) -> u32 {
        self.taxids[node as usize]
    }

    /// Returns the scientific name of a node, exactly as in the file.
    pub fn name(&self, node: u32) -> &[u8] {
        text(&self.names, self.name_starts[node as usize] as usize)
    }

    /// Returns the name of a node's rank, exactly as in the file.
    pub fn rank_name(&self, node: u32) -> &[u8] {
        text(&self.ranks, self.rank_starts[node as usize] as usize)
    }

    /// Converts the taxa to a [`Taxonomy`], for reports of other formats.
    pub fn to_tree(&self) -> Taxonomy {
        let word = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let node = |node: u32| NodeInfo {
            taxid: self.taxid(node),
            parent: self.taxid(self.parent(node).max(self.root())),
            rank: word(self.rank_name(node)),
            name: word(self.name(node)),
        };
        Taxonomy::new(self.reached().map(node).collect(), Vec::new())
    }

    /// Returns the letter of a node's rank in reports, D to S, or `None` if its rank has no letter.
    pub(super) fn letter(&self, node: u32) -> Option<char> {
        self.letters[node as usize]
    }

    /// Returns the positions of a node's clade in preorder; the first is the position of the node itself.
    #[inline]
    pub(super) fn clade(&self, node: u32) -> Range<u32> {
        self.clades[node as usize].clone()
    }

    /// Returns the lowest common ancestor of two nodes.
    pub(super) fn lca(&self, mut one: u32, other: u32) -> u32 {
        let place = self.clade(other).start;
        while one != 0 && !self.clade(one).contains(&place) {
            one = self.parent(one);
        }
        one
    }
}

/// The sections of the file.
struct Parts<'a> {
    nodes: &'a [u8],
    names: &'a [u8],
    ranks: &'a [u8],
}

impl<'a> Parts<'a> {
    fn of(bytes: &'a [u8]) -> Result<Parts<'a>, String> {
        let mut rest = ByteReader(bytes);
        if rest.bytes(MAGIC.len()) != Some(MAGIC) {
            return Err("it does not begin with K2TAXDAT: damaged, or not a taxonomy of Kraken 2"
                .to_owned());
        }
        let sizes = (rest.u64(), rest.u64(), rest.u64());
        let (Some(count), Some(names), Some(ranks)) = sizes else {
            return Err("it ends within its header: damaged".to_owned());
        };
        let sum =
            |nodes: u64| nodes.checked_add(names)?.checked_add(ranks)?.checked_add(HEADER as u64);
        let whole = count.checked_mul(NODE as u64).and_then(sum);
        if whole != Some(bytes.len() as u64) {
            return Err(format!(
                "{} bytes, but the header states {count} nodes, {names} bytes of names and {ranks} bytes of \
                 ranks: damaged",
                bytes.len()
            ));
        }
        let most = u64::from(u32::MAX);
        if count < 2 || [count, names, ranks].iter().any(|&size| size > most) {
            return Err(format!("{count} nodes and {names} bytes of names: damaged"));
        }
        let mut part = |len: u64| rest.bytes(len as usize).unwrap_or_default();
        let parts =
            Parts { nodes: part(count * NODE as u64), names: part(names), ranks: part(ranks) };
        if parts.names.last() != Some(&0) || parts.ranks.last() != Some(&0) {
            return Err("its names or ranks do not end with a zero byte: damaged".to_owned());
        }
        if parts.names.iter().any(|&byte| (1..b' ').contains(&byte)) {
            return Err("a name has control characters: damaged".to_owned());
        }
        Ok(parts)
    }
}

/// Marks the nodes that can be reached from the root through valid ranges of children, and the first two
/// nodes. Children must come after their parents.
fn reached(nodes: &[u8]) -> Vec<bool> {
    let mut reached = vec![false; nodes.len() / NODE];
    reached.iter_mut().take(2).for_each(|reached| *reached = true);
    for (number, node) in nodes.chunks_exact(NODE).enumerate() {
        let mut fields = ByteReader(node);
        let [_, first, count] = std::array::from_fn(|_| fields.u64().unwrap_or(0));
        let after = |first: u64| usize::try_from(first).is_ok_and(|first| first > number);
        if number == 0 || !reached[number] || !after(first) {
            continue;
        }
        let end = first.saturating_add(count).min(reached.len() as u64);
        let children = first as usize..(end as usize).max(first as usize);
        reached.get_mut(children).into_iter().flatten().for_each(|child| *child = true);
    }
    reached
}

/// Returns the text that begins at `start` and ends before a zero byte.
fn text(texts: &[u8], start: usize) -> &[u8] {
    let rest = &texts[start..];
    &rest[..memchr::memchr(0, rest).unwrap_or(rest.len())]
}

/// Returns the letter of a rank; Kraken 2 knows the main ranks only by these names.
fn letter(word: &[u8]) -> Option<char> {
    match std::str::from_utf8(word).ok()? {
        "superkingdom" => Rank::Domain.letter(),
        word => Rank::named(word)?.letter(),
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Makes the file of a tree from the parent of each node except 0 and the root, in ascending order. Taxids are
    /// ten times the node numbers; names are `t` and the taxid.
    pub(in super::super) fn file(parents: &[u32], ranks: &[&str]) -> Vec<u8> {
        let all: Vec<u32> = [0, 0].into_iter().chain(parents.iter().copied()).collect();
        let (mut names, mut rank_text) = (Vec::new(), b"no rank\0".to_vec());
        let mut nodes = vec![0; NODE];
        for node in 1..all.len() as u32 {
            let of = |parent: &&u32| **parent == node;
            let first =
                all.iter().skip(2).position(|&parent| parent == node).map_or(0, |at| at + 2);
            let rank = match ranks.get(node as usize) {
                Some(rank) => {
                    let at = rank_text.len();
                    rank_text.extend_from_slice(rank.as_bytes());
                    rank_text.push(0);
                    at
                }
                None => 0,
            };
            let children = all.iter().skip(2).filter(of).count();
            for field in [
                all[node as usize] as usize,
                first,
                children,
                names.len(),
                rank,
                10 * node as usize,
                0,
            ] {
                nodes.extend_from_slice(&(field as u64).to_le_bytes());
            }
            names.extend_from_slice(format!("t{}\0", 10 * node).as_bytes());
        }
        let mut file = MAGIC.to_vec();
        for size in [all.len(), names.len(), rank_text.len()] {
            file.extend_from_slice(&(size as u64).to_le_bytes());
        }
        [file, nodes, names, rank_text].concat()
    }

    pub(in super::super) fn tree(parents: &[u32], ranks: &[&str]) -> Kraken2Taxonomy {
        Kraken2Taxonomy::parse(&file(parents, ranks)).unwrap()
    }

    /// Parents of a random tree, in ascending order.
    pub(in super::super) fn parents() -> impl Strategy<Value = Vec<u32>> {
        proptest::collection::vec(0.0..1.0f64, 0..40).prop_map(|mut steps| {
            let mut parents: Vec<u32> = Vec::new();
            for step in &mut steps {
                let (low, high) = (parents.last().copied().unwrap_or(1), parents.len() as u32 + 1);
                parents.push(low + (*step * *step * f64::from(high - low + 1)) as u32);
            }
            parents
        })
    }

    #[test]
    fn a_tree_is_read() {
        let tree = tree(&[1, 1, 2, 2, 4], &["", "", "superkingdom", "clade", "genus"]);
        assert_eq!((tree.len(), tree.root(), tree.parent(1), tree.parent(6)), (7, 1, 0, 4));
        assert_eq!((tree.children(1), tree.children(2), tree.children(4)), (2..4, 4..6, 6..7));
        assert_eq!((tree.taxid(0), tree.taxid(6), tree.name(6)), (0, 60, &b"t60"[..]));
        assert_eq!((tree.letter(1), tree.letter(2), tree.letter(4)), (None, Some('D'), Some('G')));
        assert_eq!((tree.clade(1), tree.clade(2), tree.clade(3)), (1..7, 2..6, 6..7));
        assert_eq!((tree.lca(5, 6), tree.lca(3, 6), tree.lca(4, 6)), (2, 1, 4));
    }

    #[test]
    fn damage_is_named() {
        let sound = file(&[1, 1, 2, 2, 4], &[]);
        let with = |at: usize, value: u64| {
            let mut bytes = sound.clone();
            bytes[at..at + 8].copy_from_slice(&value.to_le_bytes());
            Kraken2Taxonomy::parse(&bytes).unwrap_err()
        };
        let field = |node: usize, field: usize| HEADER + NODE * node + 8 * field;
        assert!(with(0, 7).contains("does not begin"));
        assert!(with(8, u64::MAX).contains("bytes, but the header states "));
        assert_eq!(with(field(0, 5), 3), "node 0: not all zero: damaged");
        assert_eq!(with(field(1, 0), 1), "node 1: its parent is 1, not a node before it: damaged");
        assert_eq!(with(field(3, 0), 0), "node 3: its parent is 0, not a node before it: damaged");
        assert_eq!(with(field(3, 0), 3), "node 3: its parent is 3, not a node before it: damaged");
        assert!(with(field(3, 0), 2).contains("is listed as a child of 1, but has another parent"));
        assert!(with(field(1, 1), 9).contains("is listed as a child of 1, but has another parent"));
        assert!(with(field(1, 2), u64::MAX).contains("node 1: 18446744073709551615 children"));
        assert!(with(field(1, 2), 9).contains("node 4 is listed as a child of 1, but has"));
        assert!(with(field(2, 3), 999).contains("node 2: its name or rank lies outside"));
        assert!(with(field(2, 4), 999).contains("node 2: its name or rank lies outside"));
        assert!(with(field(2, 5), 1 << 32).contains("node 2: taxid 4294967296 is too large"));
        assert_eq!(with(field(3, 5), 20), "taxid 20 occurs twice: damaged");
        for end in 0..sound.len() {
            Kraken2Taxonomy::parse(&sound[..end]).unwrap_err();
        }
    }

    /// Inserts more nodes after the first `before` nodes of a file.
    fn with_nodes(file: &[u8], before: usize, more: &[[u64; 7]]) -> Vec<u8> {
        let mut bytes = file.to_vec();
        let count = u64::from_le_bytes(bytes[8..16].try_into().unwrap()) + more.len() as u64;
        bytes[8..16].copy_from_slice(&count.to_le_bytes());
        let nodes: Vec<u8> = more.iter().flatten().flat_map(|field| field.to_le_bytes()).collect();
        let at = HEADER + NODE * before;
        bytes.splice(at..at, nodes);
        bytes
    }

    #[test]
    fn nodes_that_the_root_does_not_reach_are_ignored() {
        let sound = file(&[1, 1, 2, 2, 4], &[]);
        let expected = Kraken2Taxonomy::parse(&sound).unwrap();
        let garbage = [u64::MAX, 3, 9, 1 << 40, 7, 40, 5];
        // Uninitialised memory may contain zeros, anything, or a copy of a node with its taxid.
        for more in [vec![[0; 7]], vec![garbage; 3], vec![[0; 7], [2, 5, 2, 0, 0, 40, 0]]] {
            let tree = Kraken2Taxonomy::parse(&with_nodes(&sound, 7, &more)).unwrap();
            assert_eq!((tree.len(), tree.unreached()), (7, more.len()));
            assert!(tree.holes().is_empty());
            assert_eq!(tree.to_bytes(), expected.to_bytes());
            assert_eq!(tree.to_tree().len(), 6);
        }
        // In the middle of the nodes: the nodes after it get the next higher numbers.
        let mut moved = with_nodes(&sound, 4, &[garbage]);
        for (node, field, value) in [(2, 1, 5), (5, 1, 7), (7, 0, 5)] {
            let at = HEADER + NODE * node + 8 * field;
            moved[at..at + 8].copy_from_slice(&u64::to_le_bytes(value));
        }
        let tree = Kraken2Taxonomy::parse(&moved).unwrap();
        assert_eq!((tree.len(), tree.unreached(), tree.holes()), (8, 1, &[4][..]));
        assert_eq!((tree.clade(1), tree.clade(2), tree.clade(5)), (1..7, 2..6, 3..5));
        assert_eq!((tree.name(4), tree.taxid(4), tree.children(2)), (&b""[..], 0, 5..7));
        assert_eq!(tree.to_tree().len(), 6);
    }

    proptest! {
        #[test]
        fn clades_and_ancestors_are_those_of_climbing(parents in parents()) {
            let tree = tree(&parents, &[]);
            let climb = |node: u32| std::iter::successors(Some(node), |&n| Some(tree.parent(n)).filter(|&p| p > 0));
            for a in 1..tree.len() as u32 {
                for b in 1..tree.len() as u32 {
                    let below = climb(b).any(|node| node == a);
                    prop_assert_eq!(tree.clade(a).contains(&tree.clade(b).start), below);
                    let common = climb(a).find(|&one| climb(b).any(|other| one == other));
                    prop_assert_eq!(Some(tree.lca(a, b)), common);
                }
            }
        }
    }
}
