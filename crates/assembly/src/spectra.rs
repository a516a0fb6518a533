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

/// The assemblies that have a k-mer of the reads: the classes of an assembly spectrum.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Membership {
    /// No assembly.
    ReadOnly,
    /// Only the assembly with this index.
    Only(usize),
    /// Some of three or more assemblies, at least two.
    SharedBySome,
    /// All of two or more assemblies.
    SharedByAll,
}

impl Membership {
    /// Returns all classes that are possible with this number of assemblies, in the order of spectra. It is Merqury's
    /// order for one or two.
    pub fn classes(assemblies: usize) -> Vec<Membership> {
        let shared = match assemblies {
            0 | 1 => &[][..],
            2 => &[Membership::SharedByAll],
            _ => &[Membership::SharedBySome, Membership::SharedByAll],
        };
        let only = (0..assemblies).map(Membership::Only);
        std::iter::once(Membership::ReadOnly).chain(only).chain(shared.iter().copied()).collect()
    }
}

/// The k-mers of an assembly that are in no read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Only {
    /// The number of distinct k-mers.
    pub distinct: u64,
    /// The number of their occurrences in the assembly.
    pub instances: u64,
}

/// The spectra of one assembly, or of all together.
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

/// The spectra of the reads and of assemblies.
#[derive(Clone, Debug)]
pub struct Spectra {
    /// The number of k-mers with each count in the reads.
    pub reads: Histogram,
    /// The spectra of each assembly.
    pub assemblies: Vec<OfAssembly>,
    /// The spectra of all assemblies together, their counts added; unused for a single assembly.
    pub both: OfAssembly,
    /// The number of k-mers with each count in the reads, for each class of [`Membership::classes`].
    pub sources: Vec<Histogram>,
    /// The number of k-mers that are in no read, for each class except the first.
    pub only: Vec<u64>,
}

impl Spectra {
    pub(crate) fn new(assemblies: usize) -> Spectra {
        let classes = Membership::classes(assemblies).len();
        Spectra {
            reads: Histogram::default(),
            assemblies: vec![OfAssembly::default(); assemblies],
            both: OfAssembly::default(),
            sources: vec![Histogram::default(); classes],
            only: vec![0; classes - 1],
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
        if here.len() > 1 {
            self.both.add(reads, here.iter().map(|&count| u64::from(count)).sum());
        }
        let class = self.class(here);
        if reads > 0 {
            self.reads.add(reads);
            self.sources[class].add(reads);
        } else {
            // A table has no k-mer with a count of 0, so at least one assembly has this k-mer.
            self.only[class.max(1) - 1] += 1;
        }
    }
}

impl Spectra {
    /// Returns the index of the class of a k-mer with these counts in the assemblies.
    #[inline(always)]
    fn class(&self, here: &[u32]) -> usize {
        let (mut number, mut last) = (0, 0);
        for (at, &count) in here.iter().enumerate() {
            if count > 0 {
                (number, last) = (number + 1, at);
            }
        }
        match number {
            0 => 0,
            1 => 1 + last,
            all if all == here.len() => self.sources.len() - 1,
            _ => self.sources.len() - 2,
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

    #[test]
    fn classes_of_three_assemblies_are_those_of_their_sets() {
        let classes = Membership::classes(3);
        let mut spectra = Spectra::new(3);
        for set in 0..8 {
            let here = [1, 2, 4].map(|bit| u32::from(set & bit > 0));
            let expected = match (here.iter().sum::<u32>(), here.iter().position(|&of| of > 0)) {
                (0, _) => Membership::ReadOnly,
                (1, Some(at)) => Membership::Only(at),
                (2, _) => Membership::SharedBySome,
                _ => Membership::SharedByAll,
            };
            assert_eq!(classes[spectra.class(&here)], expected);
            spectra.kmer(&[5, here[0], here[1], here[2]]);
            if set > 0 {
                spectra.kmer(&[0, here[0], here[1], here[2]]);
            }
        }
        let numbers: Vec<u64> = spectra.sources.iter().map(|rows| rows.distinct(5, 5)).collect();
        assert_eq!(
            (&numbers[..], &spectra.only[..]),
            (&[1, 1, 1, 1, 3, 1][..], &[1, 1, 1, 3, 1][..])
        );
        assert_eq!(spectra.both.kmers, 24);
    }
}
