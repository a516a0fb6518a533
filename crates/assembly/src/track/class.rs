//! The classes of k-mers of sequences, by their counts in reads and in the sequences.

/// A class of k-mers that do not fit the reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// The k-mer is in no read.
    Missing,
    /// The k-mer occurs so rarely in the reads that these may be errors.
    Low,
    /// The reads have more copies of the k-mer than the sequences.
    Collapsed,
    /// The sequences have more copies of the k-mer than the reads.
    Duplicated,
}

impl Class {
    /// All classes, in the order of their numbers.
    pub const ALL: [Class; 4] = [Class::Missing, Class::Low, Class::Collapsed, Class::Duplicated];

    /// Returns the name in files.
    pub fn name(self) -> &'static str {
        match self {
            Class::Missing => "missing",
            Class::Low => "low",
            Class::Collapsed => "collapsed",
            Class::Duplicated => "duplicated",
        }
    }
}

/// The intervals of a class.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ClassSum {
    /// The number of k-mers, each as often as it occurs.
    pub kmers: u64,
    /// The number of intervals.
    pub intervals: u64,
    /// The number of bases that the intervals cover.
    pub bases: u64,
}

impl ClassSum {
    pub(super) fn add(&mut self, other: ClassSum) {
        self.kmers += other.kmers;
        self.intervals += other.intervals;
        self.bases += other.bases;
    }
}

/// The rule by which k-mers are classified.
///
/// ```
/// use merganser_assembly::track::{Class, Rule};
///
/// let rule = Rule { coverage: 20.0, solid: 3 };
/// assert_eq!(rule.class(0, 1), Some(Class::Missing));
/// assert_eq!(rule.class(3, 1), Some(Class::Low));
/// // One and a half copies or more in the reads, one in the sequences.
/// assert_eq!((rule.class(29, 1), rule.class(30, 1)), (None, Some(Class::Collapsed)));
/// assert_eq!((rule.class(30, 2), rule.class(29, 2)), (None, Some(Class::Duplicated)));
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rule {
    /// The count in the reads of a k-mer that the sequences have once.
    pub coverage: f64,
    /// k-mers that do not occur more often than this in the reads may be errors.
    pub solid: u32,
}

impl Rule {
    /// Returns the number of copies of a k-mer that its count in the reads, or the sum of several counts, corresponds to.
    pub fn copies(self, count: u64) -> f64 {
        count as f64 / self.coverage
    }

    /// Returns the class of a k-mer that occurs `count` times in the reads and `copies` times in the sequences; `None` if
    /// it fits. The numbers of copies must differ by half a copy and by a quarter of those in the sequences: a difference
    /// that is smaller may be chance. A k-mer that the sequences have once is not duplicated.
    #[inline]
    pub fn class(self, count: u32, copies: u32) -> Option<Class> {
        if count == 0 {
            return Some(Class::Missing);
        }
        if count <= self.solid {
            return Some(Class::Low);
        }
        let (expected, copies) = (self.copies(count.into()), f64::from(copies));
        let margin = (copies / 4.0).max(0.5);
        match () {
            () if expected >= copies + margin => Some(Class::Collapsed),
            () if copies >= 2.0 && expected < copies - margin => Some(Class::Duplicated),
            () => None,
        }
    }
}
