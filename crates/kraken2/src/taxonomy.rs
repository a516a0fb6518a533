//! taxo.k2d: the taxa of a database.

mod write;

use std::ops::Range;
use std::path::Path;

use merganser_io::MappedFile;

use crate::Error;
use merganser_store::ByteReader;
use merganser_taxonomy::{NodeInfo, Rank, Taxonomy};

/// The first bytes of the file.
const MAGIC: &[u8] = b"K2TAXDAT";
/// Bytes before the nodes,
const HEADER: usize = 32;
/// and of each of them.
const NODE: usize = 56;

/// The taxa of a database, by the numbers that its table has (internal ids): 0 is no taxon, 1 the
/// root; parents come before their children, and children of one parent stand together, by taxid.
#[derive(Debug)]
pub struct Kraken2Taxonomy {
    parents: Vec<u32>,
    children: Vec<Range<u32>>,
    taxids: Vec<u32>,
    /// The letter of a rank that reports know.
    letters: Vec<Option<char>>,
    /// Where ranks begin, and their text, each with a 0 at its end.
    rank_starts: Vec<u32>,
    ranks: Vec<u8>,
    /// Where names begin, and their text, each with a 0 at its end.
    name_starts: Vec<u32>,
    names: Vec<u8>,
    /// The place in a walk from the root that goes down first, and the first place after the clade.
    clades: Vec<Range<u32>>,
    /// Nodes of the file that the root does not reach: those behind the last that it reaches are not
    /// among the others.
    unreached: usize,
    /// Such nodes that are among the others.
    holes: Vec<u32>,
}

impl Kraken2Taxonomy {
    /// Reads and checks taxo.k2d.
    ///
    /// # Errors
    /// If the file cannot be read, or is not a whole and sound one.
    pub(super) fn read(path: &Path) -> Result<Kraken2Taxonomy, Error> {
        let file = merganser_io::open_file(path).and_then(|file| MappedFile::of_file(&file, path));
        let file = file.map_err(|source| Error::File { path: path.to_owned(), source })?;
        Self::parse(file.bytes()).map_err(|reason| Error::content(path, reason))
    }

    /// The taxa of a whole file.
    ///
    /// # Errors
    /// What is wrong, in words.
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
        // kraken2-build counts taxids that nodes.dmp lacks, too, and leaves their nodes as the memory was.
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

    /// Adds a node that the root does not reach.
    fn push_hole(&mut self) {
        self.holes.push(self.parents.len() as u32);
        self.parents.push(0);
        self.children.push(0..0);
        // The ends of the texts: no name, no rank.
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
            return wrong("taxid 0 is no taxon");
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

    /// Sees to it that parents and children say the same.
    fn check_children(&self) -> Result<(), String> {
        for (parent, range) in self.children.iter().enumerate() {
            let own = |child: u32| self.parents.get(child as usize) == Some(&(parent as u32));
            if let Some(child) = range.clone().find(|&child| !own(child)) {
                return Err(format!(
                    "node {child} is a child of {parent}, and does not say so: damaged"
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

    /// Sees to it that no two nodes have the same taxid: reports know taxa by it.
    fn check_taxids(&self) -> Result<(), String> {
        let mut taxids: Vec<u32> = self.reached().map(|node| self.taxids[node as usize]).collect();
        taxids.sort_unstable();
        match taxids.windows(2).find(|pair| pair[0] == pair[1]) {
            Some(pair) => Err(format!("taxid {} stands twice: damaged", pair[0])),
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

    /// The number of nodes, the one that is no taxon included; at least 2.
    #[allow(clippy::len_without_is_empty, reason = "there is always a root")]
    pub fn len(&self) -> usize {
        self.parents.len()
    }

    /// The root.
    pub fn root(&self) -> u32 {
        1
    }

    /// Nodes of the file that the root does not reach, which are ignored.
    pub fn unreached(&self) -> usize {
        self.unreached
    }

    /// Those of them that have others behind them.
    pub(super) fn holes(&self) -> &[u32] {
        &self.holes
    }

    /// The nodes that the root reaches, the root first.
    fn reached(&self) -> impl Iterator<Item = u32> {
        (self.root()..self.len() as u32).filter(|node| self.holes.binary_search(node).is_err())
    }

    /// The parent of a node; 0 of the root and of no taxon.
    pub fn parent(&self, node: u32) -> u32 {
        self.parents[node as usize]
    }

    /// The children of a node, by taxid.
    pub fn children(&self, node: u32) -> Range<u32> {
        self.children[node as usize].clone()
    }

    /// The taxid of a node; 0 of no taxon.
    pub fn taxid(&self, node: u32) -> u32 {
        self.taxids[node as usize]
    }

    /// The scientific name of a node, as the file has it.
    pub fn name(&self, node: u32) -> &[u8] {
        text(&self.names, self.name_starts[node as usize] as usize)
    }

    /// NCBI's word for the rank of a node, as the file has it.
    pub fn rank_name(&self, node: u32) -> &[u8] {
        text(&self.ranks, self.rank_starts[node as usize] as usize)
    }

    /// The same tree as this crate's other reports take it.
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

    /// The letter of a node's rank as reports have it, D to S; none of ranks that have no letter.
    pub(super) fn letter(&self, node: u32) -> Option<char> {
        self.letters[node as usize]
    }

    /// The places of a node and all below it in a walk that goes down first: the node's is the first.
    #[inline]
    pub(super) fn clade(&self, node: u32) -> Range<u32> {
        self.clades[node as usize].clone()
    }

    /// The lowest node whose clade has both of two nodes.
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
            return Err("it does not begin as Kraken 2's taxonomies do: damaged, or another file"
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
                "{} bytes, which is not what {count} nodes, {names} bytes of names and {ranks} of ranks \
                 take: damaged",
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
            return Err("its names or ranks do not end with a 0: damaged".to_owned());
        }
        if parts.names.iter().any(|&byte| (1..b' ').contains(&byte)) {
            return Err("a name has control characters: damaged".to_owned());
        }
        Ok(parts)
    }
}

/// Which nodes the root reaches by its children and theirs, as far as these are nodes; and the first
/// two, no taxon and the root. Children come after their parents.
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

/// The text that begins at `start` and ends before a 0.
fn text(texts: &[u8], start: usize) -> &[u8] {
    let rest = &texts[start..];
    &rest[..memchr::memchr(0, rest).unwrap_or(rest.len())]
}

/// The letter of a rank, of which Kraken 2 knows the main ones by these words alone.
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

    /// The file of a tree: for each node but 0 and the root its parent, none smaller than the one
    /// before it. Taxids are ten times the numbers; names are `t` and the taxid.
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

    /// Parents of a random tree, in an order as files have it.
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
        assert!(with(8, u64::MAX).contains("which is not what"));
        assert_eq!(with(field(0, 5), 3), "node 0: not all zero: damaged");
        assert_eq!(with(field(1, 0), 1), "node 1: its parent is 1, not a node before it: damaged");
        assert_eq!(with(field(3, 0), 0), "node 3: its parent is 0, not a node before it: damaged");
        assert_eq!(with(field(3, 0), 3), "node 3: its parent is 3, not a node before it: damaged");
        assert!(with(field(3, 0), 2).contains("is a child of 1, and does not say so"));
        assert!(with(field(1, 1), 9).contains("is a child of 1, and does not say so"));
        assert!(with(field(1, 2), u64::MAX).contains("node 1: 18446744073709551615 children"));
        assert!(with(field(1, 2), 9).contains("node 4 is a child of 1, and does not say so"));
        assert!(with(field(2, 3), 999).contains("node 2: its name or rank lies outside"));
        assert!(with(field(2, 4), 999).contains("node 2: its name or rank lies outside"));
        assert!(with(field(2, 5), 1 << 32).contains("node 2: taxid 4294967296 is too large"));
        assert_eq!(with(field(3, 5), 20), "taxid 20 stands twice: damaged");
        for end in 0..sound.len() {
            Kraken2Taxonomy::parse(&sound[..end]).unwrap_err();
        }
    }

    /// The file with more nodes behind `before` of them.
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
        // As the memory was: zeros, anything, a copy of a node with its taxid.
        for more in [vec![[0; 7]], vec![garbage; 3], vec![[0; 7], [2, 5, 2, 0, 0, 40, 0]]] {
            let tree = Kraken2Taxonomy::parse(&with_nodes(&sound, 7, &more)).unwrap();
            assert_eq!((tree.len(), tree.unreached()), (7, more.len()));
            assert!(tree.holes().is_empty());
            assert_eq!(tree.to_bytes(), expected.to_bytes());
            assert_eq!(tree.to_tree().len(), 6);
        }
        // In the midst of others: what is behind goes on by one.
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
