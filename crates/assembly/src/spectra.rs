//! k-mers by their count in the reads and in the assemblies.

use merganser_kmers::Histogram;
use merganser_kmers::algebra::Visitor;

/// How often a k-mer of the reads stands in an assembly: the classes of a copy-number spectrum, in Merqury's order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Copies {
    /// Not at all.
    ReadOnly,
    /// So often, 1 to 4.
    Times(u8),
    /// More often.
    More,
}

impl Copies {
    /// All classes in their order.
    pub const ALL: [Copies; 6] = [
        Copies::ReadOnly,
        Copies::Times(1),
        Copies::Times(2),
        Copies::Times(3),
        Copies::Times(4),
        Copies::More,
    ];

    /// As Merqury writes it.
    pub fn name(self) -> String {
        match self {
            Copies::ReadOnly => "read-only".into(),
            Copies::Times(times) => times.to_string(),
            Copies::More => ">4".into(),
        }
    }
}

/// Which assemblies have a k-mer of the reads: the classes of an assembly spectrum, in Merqury's order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Membership {
    /// None.
    ReadOnly,
    /// The first alone, or the only one.
    First,
    /// The second alone.
    Second,
    /// Both.
    Shared,
}

impl Membership {
    /// All classes in their order.
    pub const ALL: [Membership; 4] =
        [Membership::ReadOnly, Membership::First, Membership::Second, Membership::Shared];
}

/// k-mers of an assembly that no read has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Only {
    /// Different ones,
    pub distinct: u64,
    /// and how often they stand in the assembly.
    pub instances: u64,
}

/// What was counted of an assembly, or of two together.
#[derive(Clone, Debug, Default)]
pub struct OfAssembly {
    /// Of each class of [`Copies`], how many k-mers have each count in the reads.
    pub copies: [Histogram; 6],
    /// k-mers that no read has.
    pub only: Only,
    /// All k-mers, as often as they stand in it.
    pub kmers: u64,
}

impl OfAssembly {
    /// A k-mer that stands in it `here` times and in the reads `reads` times.
    #[inline(always)]
    fn add(&mut self, reads: u32, here: u64) {
        self.kmers += here;
        if reads > 0 {
            self.copies[here.min(5) as usize].add(reads);
        } else if here > 0 {
            self.only.distinct += 1;
            self.only.instances += here;
        }
    }

    fn merge(&mut self, other: &OfAssembly) {
        self.copies.iter_mut().zip(&other.copies).for_each(|(sum, more)| sum.merge(more));
        add_to(&mut self.only.distinct, other.only.distinct);
        add_to(&mut self.only.instances, other.only.instances);
        add_to(&mut self.kmers, other.kmers);
    }

    /// Returns the number of distinct k-mers in it.
    pub(crate) fn distinct(&self) -> u64 {
        let in_reads = self.copies[1..].iter().map(|rows| rows.distinct(1, u32::MAX));
        in_reads.fold(self.only.distinct, u64::saturating_add)
    }

    /// How many k-mers with a larger count than `solid` in the reads the assembly has, and how many there are.
    pub fn found(&self, solid: u32) -> (u64, u64) {
        let of = |histogram: &Histogram| match solid.checked_add(1) {
            Some(least) => histogram.distinct(least, u32::MAX),
            None => 0,
        };
        let found = self.copies[1..].iter().map(of).fold(0, u64::saturating_add);
        (found, found.saturating_add(of(&self.copies[0])))
    }
}

/// k-mers of the reads and of one assembly or two.
#[derive(Clone, Debug)]
pub struct Spectra {
    /// How many k-mers have each count in the reads.
    pub reads: Histogram,
    /// Of each assembly.
    pub assemblies: Vec<OfAssembly>,
    /// Of two assemblies together, the counts of both added; of one nothing.
    pub both: OfAssembly,
    /// Of each [`Membership`], how many k-mers have each count in the reads.
    pub sources: [Histogram; 4],
    /// k-mers that no read has, of each [`Membership`] that there then can be: in the first alone, the second alone, both.
    pub only: [u64; 3],
}

impl Spectra {
    pub(crate) fn new(assemblies: usize) -> Spectra {
        Spectra {
            reads: Histogram::default(),
            assemblies: vec![OfAssembly::default(); assemblies],
            both: OfAssembly::default(),
            sources: Default::default(),
            only: [0; 3],
        }
    }

    pub(crate) fn merge(&mut self, other: &Spectra) {
        self.reads.merge(&other.reads);
        self.assemblies.iter_mut().zip(&other.assemblies).for_each(|(sum, more)| sum.merge(more));
        self.both.merge(&other.both);
        self.sources.iter_mut().zip(&other.sources).for_each(|(sum, more)| sum.merge(more));
        self.only.iter_mut().zip(&other.only).for_each(|(sum, more)| add_to(sum, *more));
    }

    /// The counts of the reads, with how many k-mers have each, ascending.
    pub fn rows(&self) -> Vec<(u32, u64)> {
        self.reads.iter().collect()
    }
}

/// Files of ranges may say any numbers.
fn add_to(sum: &mut u64, more: u64) {
    *sum = sum.saturating_add(more);
}

impl Visitor for Spectra {
    /// The first count is that in the reads.
    #[inline(always)]
    fn kmer(&mut self, counts: &[u32]) {
        let (reads, here) = (counts[0], &counts[1..]);
        for (assembly, &here) in self.assemblies.iter_mut().zip(here) {
            assembly.add(reads, here.into());
        }
        if here.len() == 2 {
            self.both.add(reads, u64::from(here[0]) + u64::from(here[1]));
        }
        let second = here.get(1).is_some_and(|&count| count > 0);
        let source = usize::from(here[0] > 0) + 2 * usize::from(second);
        if reads > 0 {
            self.reads.add(reads);
            self.sources[source].add(reads);
        } else {
            // A table has no k-mer that it counts 0 times: some assembly has it.
            self.only[source.max(1) - 1] += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kmers_are_sorted_into_their_classes() {
        let mut spectra = Spectra::new(2);
        let [mut one, mut other] = [spectra.clone(), spectra.clone()];
        for (at, counts) in
            [[7, 1, 0], [7, 2, 3], [9, 0, 0], [0, 4, 0], [0, 1, 1], [0, 0, 2], [9, 0, 9]]
                .iter()
                .enumerate()
        {
            [&mut one, &mut other][at % 2].kmer(counts);
        }
        spectra.merge(&one);
        spectra.merge(&other);
        assert_eq!(spectra.rows(), [(7, 2), (9, 2)]);
        let first = &spectra.assemblies[0];
        assert_eq!((first.kmers, first.only), (8, Only { distinct: 2, instances: 5 }));
        let class = |of: &OfAssembly, class: usize| of.copies[class].iter().collect::<Vec<_>>();
        assert_eq!(class(first, 0), [(9, 2)]);
        assert_eq!(class(first, 1), [(7, 1)]);
        assert_eq!(class(&spectra.both, 5), [(7, 1), (9, 1)]);
        assert_eq!(spectra.both.only, Only { distinct: 3, instances: 8 });
        assert_eq!(spectra.only, [1, 1, 1]);
        assert_eq!(spectra.sources[3].iter().collect::<Vec<_>>(), [(7, 1)]);
        assert_eq!((first.found(0), first.found(7)), ((2, 4), (0, 2)));
        assert_eq!(first.found(u32::MAX), (0, 0));
        // Ranges may say any numbers, in several classes.
        let mut forged = first.clone();
        forged.copies.iter_mut().for_each(|class| class.add_many(8, u64::MAX));
        assert_eq!(forged.found(0), (u64::MAX, u64::MAX));
    }
}
