//! CAMI's profile (bioboxes, format 0.10.0).

use std::io::{self, Write};

use super::Abundance;
use merganser_taxonomy::{Rank, Taxonomy};

/// The ranks of a profile, with CAMI's names; strains are the taxa that NCBI calls strain.
const RANKS: [(&str, Option<Rank>); 8] = [
    ("superkingdom", Some(Rank::Domain)),
    ("phylum", Some(Rank::Phylum)),
    ("class", Some(Rank::Class)),
    ("order", Some(Rank::Order)),
    ("family", Some(Rank::Family)),
    ("genus", Some(Rank::Genus)),
    ("species", Some(Rank::Species)),
    ("strain", None),
];

fn is_of(tree: &Taxonomy, node: u32, rank: Option<Rank>) -> bool {
    match rank {
        Some(rank) => tree.rank(node) == rank,
        None => tree.rank_name(node) == "strain",
    }
}

/// Returns, for each node and rank, the nearest ancestor of that rank, which may be the node itself.
fn nearest(tree: &Taxonomy) -> Vec<[Option<u32>; RANKS.len()]> {
    let mut nearest = vec![[None; RANKS.len()]; tree.len()];
    // Parents come before their children.
    for node in 0..tree.len() as u32 {
        let mut own = nearest[tree.parent(node) as usize];
        for (place, &(_, rank)) in own.iter_mut().zip(&RANKS) {
            if is_of(tree, node, rank) {
                *place = Some(node);
            }
        }
        nearest[node as usize] = own;
    }
    nearest
}

impl Abundance<'_> {
    /// Writes the profile: the share of each taxon of a rank in all reads in per cent, rounded down to six
    /// decimals so that no rank exceeds 100.
    ///
    /// # Errors
    /// If writing fails.
    pub fn write_cami(&self, sample: &str, output: &mut dyn Write) -> io::Result<()> {
        let tree = self.tree();
        let names: Vec<&str> = RANKS.iter().map(|(name, _)| *name).collect();
        writeln!(output, "@SampleID:{sample}\n@Version:0.10.0\n@Ranks:{}\n", names.join("|"))?;
        writeln!(output, "@@TAXID\tRANK\tTAXPATH\tTAXPATHSN\tPERCENTAGE")?;
        let nearest = nearest(tree);
        for (number, &(name, rank)) in RANKS.iter().enumerate() {
            for node in self.chosen(|node| is_of(tree, node, rank)) {
                let path = &nearest[node as usize][..=number];
                let joined = |show: &dyn Fn(u32) -> String| {
                    let parts = path.iter().map(|node| node.map(show).unwrap_or_default());
                    parts.collect::<Vec<String>>().join("|")
                };
                let taxids = joined(&|node| tree.taxid(node).to_string());
                let words = joined(&|node| tree.name(node).to_owned());
                let share = u128::from(self.estimated(node)) * 100_000_000;
                let share = (share / u128::from(self.total().max(1))) as u64;
                let (whole, millionths) = (share / 1_000_000, share % 1_000_000);
                let taxid = tree.taxid(node);
                writeln!(output, "{taxid}\t{name}\t{taxids}\t{words}\t{whole}.{millionths:06}")?;
            }
        }
        Ok(())
    }
}
