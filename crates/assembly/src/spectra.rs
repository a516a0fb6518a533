//! Spectra: k-mers by their counts in the reads and in the assemblies.

use merganser_kmers::Histogram;
use merganser_kmers::algebra::Visitor;

/// The number of copies of a k-mer in an assembly: the classes of a copy-number spectrum, in Merqury's order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Copies {
    /// The k-mer is only in the reads.
    ReadOnly,
    /// The k-mer occurs this often, 1 to 4 times.
    Times(u8),
    /// The k-mer occurs more than 4 times.
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

    /// Returns the name that Merqury uses.
    pub fn name(self) -> String {
        match self {
            Copies::ReadOnly => "read-only".into(),
            Copies::Times(times) => times.to_string(),
            Copies::More => ">4".into(),
        }
    }

    /// Returns the name that Merqury uses for hap-mers of a parent.
    pub fn name_of_hapmers(self, parent: &str) -> String {
        match self {
            Copies::ReadOnly => format!("{parent}-only"),
            copies => copies.name(),
        }
    }
}

/// The assemblies that have a k-mer of the reads: the classes of an assembly spectrum, in Merqury's order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Membership {
    /// No assembly.
    ReadOnly,
    /// Only the first of two assemblies, or the only assembly.
    First,
    /// Only the second assembly.
    Second,
    /// Both assemblies.
    Shared,
}

impl Membership {
    /// All classes in their order.
    pub const ALL: [Membership; 4] =
        [Membership::ReadOnly, Membership::First, Membership::Second, Membership::Shared];
}

/// The k-mers of an assembly that are in no read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Only {
    /// The number of distinct k-mers.
    pub distinct: u64,
    /// The number of their occurrences in the assembly.
    pub instances: u64,
}

/// The spectra of one assembly, or of two together.
#[derive(Clone, Debug, Default)]
pub struct OfAssembly {
    /// The number of k-mers with each count in the reads, for each class of [`Copies`].
    pub copies: [Histogram; 6],
    /// The k-mers that are in no read.
    pub only: Only,
    /// The number of k-mers, each counted as often as it occurs.
    pub kmers: u64,
}

impl OfAssembly {
    /// Adds a k-mer that occurs `here` times in the assembly and `reads` times in the reads.
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

    /// Returns the number of distinct k-mers of the assembly.
    pub(crate) fn distinct(&self) -> u64 {
        let in_reads = self.copies[1..].iter().map(|rows| rows.distinct(1, u32::MAX));
        in_reads.fold(self.only.distinct, u64::saturating_add)
    }

    /// Returns, of the k-mers with a larger count than `solid` in the reads, the number that the assembly has,
    /// and the number of all.
    pub fn found(&self, solid: u32) -> (u64, u64) {
        let of = |histogram: &Histogram| match solid.checked_add(1) {
            Some(least) => histogram.distinct(least, u32::MAX),
            None => 0,
        };
        let found = self.copies[1..].iter().map(of).fold(0, u64::saturating_add);
        (found, found.saturating_add(of(&self.copies[0])))
    }
}

/// The spectra of the reads and of one or two assemblies.
#[derive(Clone, Debug)]
pub struct Spectra {
    /// The number of k-mers with each count in the reads.
    pub reads: Histogram,
    /// The spectra of each assembly.
    pub assemblies: Vec<OfAssembly>,
    /// The spectra of two assemblies together, their counts added; unused for a single assembly.
    pub both: OfAssembly,
    /// The number of k-mers with each count in the reads, for each [`Membership`].
    pub sources: [Histogram; 4],
    /// The number of k-mers that are in no read: those in the first assembly only, in the second only, and in both.
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

    /// Returns the counts in the reads, ascending, each with the number of k-mers that have it.
    pub fn rows(&self) -> Vec<(u32, u64)> {
        self.reads.iter().collect()
    }
}

/// Adds without overflow, since range files can have any numbers.
fn add_to(sum: &mut u64, more: u64) {
    *sum = sum.saturating_add(more);
}

impl Visitor for Spectra {
    /// Adds a k-mer; the first count is that in the reads.
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
            // A table has no k-mer with a count of 0, so at least one assembly has this k-mer.
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
        // Range files can have any numbers, in several classes.
        let mut forged = first.clone();
        forged.copies.iter_mut().for_each(|class| class.add_many(8, u64::MAX));
        assert_eq!(forged.found(0), (u64::MAX, u64::MAX));
    }
}
