//! Checks whether the given parents can be those of the child. Reads of another family, reads of low coverage, or the
//! same reads given twice lead to wrong hap-mers.
//!
//! Two observations about the child's k-mers are used. First, a k-mer that one parent lacks was passed on by
//! the other parent, so it should be a hap-mer of that parent. Second, hap-mers are on one haplotype of the
//! child and have half the count of the k-mers that both parents passed on; a k-mer with the full count is on
//! both haplotypes, so the other parent must have it, too.

use merganser_kmers::Histogram;

/// Numbers of the child's k-mers, by their presence in the parents' reads. Parents are in the order mother, father.
#[derive(Clone, Debug, Default)]
pub(crate) struct Parentage {
    /// The number of solid k-mers of the child that the other parent lacks.
    pub(crate) passed_on: [u64; 2],
    /// The number of solid k-mers of the child that neither parent has.
    pub(crate) neither: u64,
    /// Whether the parent's reads have a k-mer.
    pub(crate) has_kmers: [bool; 2],
    /// Whether a parent has a k-mer that the other one lacks.
    pub(crate) differ: bool,
}

/// The minimum fraction of the k-mers that only this parent can have passed on which must be its hap-mers. Below
/// it, this is not the child's parent, or its coverage is too low.
const MIN_FOUND: f64 = 0.5;
/// The largest fraction of hap-mers that may be on both haplotypes. Above it, the other parent's reads lack too much.
const MAX_ON_BOTH: f64 = 0.02;
/// A smaller fraction of the child's k-mers than this is too small for a conclusion.
const MIN_PASSED_ON: f64 = 1e-4;
/// The names of the parents in messages.
const ROLES: [&str; 2] = ["mother", "father"];

impl Parentage {
    /// Returns why switch and Hamming error rates cannot be determined, one line for each parent at fault;
    /// empty if they can. `names` are the names of the parents' reads, `hapmers` the numbers of their hap-mers,
    /// and `spectra` the histograms in the child as in [`Trio::spectra`](crate::Trio::spectra).
    pub(crate) fn doubts(
        &self,
        names: &[String; 2],
        hapmers: [u64; 2],
        spectra: &[Histogram; 4],
    ) -> Vec<String> {
        const SO: &str = "switch and Hamming error rates cannot be determined";
        let who = |parent: usize| format!("the {} ({})", ROLES[parent], names[parent]);
        if self.has_kmers == [true, true] && !self.differ {
            let [one, other] = [who(0), who(1)];
            return vec![format!(
                "{one} and {other} have the same k-mers, so that {SO}: give each its own reads"
            )];
        }
        // Range files can have any numbers.
        let both = spectra[3].distinct(1, u32::MAX);
        let solid = self.passed_on.iter().fold(both, |sum, &number| sum.saturating_add(number));
        let few = |number: u64| (number as f64) < MIN_PASSED_ON * solid as f64;
        let remedy = "give the reads of the child's parent, covered 15 times or more";
        let at_fault = |parent: usize| {
            let other = 1 - parent;
            let (found, passed_on) = (hapmers[parent], self.passed_on[parent]);
            let who = who(parent);
            if !self.has_kmers[parent] {
                return Some(format!("{who} has no k-mers, so that {SO}: {remedy}"));
            }
            if few(self.passed_on[other]) && hapmers[other] == 0 && self.has_kmers[other] {
                return Some(format!(
                    "{who} has all k-mers of the child, so that {SO}: are these the child's reads?"
                ));
            }
            if few(passed_on) && found == 0 && self.has_kmers[other] {
                // The child has only k-mers of the other parent, which is reported for that parent.
                return None;
            }
            if self.lacks_most(found, passed_on) {
                return Some(format!(
                    "{who} has {found} hap-mers of the {passed_on} k-mers that only it can have passed on, so that {SO}: {remedy}"
                ));
            }
            let on_both = on_both_haplotypes(&spectra[1 + other], &spectra[3]);
            (on_both > MAX_ON_BOTH).then(|| {
                format!(
                    "{who} lacks k-mers that it passed on: {:.0} % of the hap-mers of the {} are on both haplotypes of the \
                     child, so that {SO}: {remedy}",
                    100.0 * on_both,
                    ROLES[other]
                )
            })
        };
        (0..2).filter_map(at_fault).collect()
    }

    /// Whether a parent's reads lack most of what the parent should have passed on. k-mers that neither parent
    /// has are not considered, since the other parent may have passed them on.
    fn lacks_most(&self, found: u64, passed_on: u64) -> bool {
        let own = passed_on.saturating_sub(self.neither);
        found == 0 || (found as f64) < MIN_FOUND * own as f64
    }
}

/// Estimates the fraction of hap-mers that are on both haplotypes of the child, 0 to 1. Such hap-mers have the full
/// count, as the k-mers of both parents (`shared`) do, so half of them lie above the median of these. Repeats lie
/// there, too: their fraction is taken from the shared k-mers with more than twice the median.
fn on_both_haplotypes(hapmers: &Histogram, shared: &Histogram) -> f64 {
    let whole = median(shared);
    let part_above = |histogram: &Histogram, count: u32| {
        let above = histogram.distinct(count.saturating_add(1), u32::MAX);
        above as f64 / histogram.distinct(1, u32::MAX).max(1) as f64
    };
    let repeats = part_above(shared, whole.saturating_mul(2));
    (2.0 * (part_above(hapmers, whole) - repeats)).clamp(0.0, 1.0)
}

/// Returns the median count, or `u32::MAX` if there are no k-mers.
fn median(histogram: &Histogram) -> u32 {
    let half = histogram.distinct(1, u32::MAX) / 2;
    let mut above = 0;
    let middle = histogram.iter().find(|&(_, number)| {
        above = u64::saturating_add(above, number);
        above > half
    });
    middle.map_or(u32::MAX, |(count, _)| count)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn histogram(rows: &[(u32, usize)]) -> Histogram {
        let mut histogram = Histogram::default();
        for &(count, number) in rows {
            (0..number).for_each(|_| histogram.add(count));
        }
        histogram
    }

    /// Returns a child of two different parents, with the numbers of k-mers that only each parent can have
    /// passed on and that neither parent has.
    fn parentage(passed_on: [u64; 2], neither: u64) -> Parentage {
        Parentage { passed_on, neither, has_kmers: [true; 2], differ: true }
    }

    fn doubts(of: &Parentage, hapmers: [u64; 2], at_whole: usize) -> String {
        let hapmers_of =
            |number: u64, at_whole| histogram(&[(10, number as usize - at_whole), (25, at_whole)]);
        let spectra = [
            Histogram::default(),
            hapmers_of(hapmers[0], at_whole),
            hapmers_of(hapmers[1], 0),
            histogram(&[(19, 450), (20, 100), (21, 440), (41, 10)]),
        ];
        of.doubts(&["m".into(), "f".into()], hapmers, &spectra).join("|")
    }

    #[test]
    fn a_sound_trio_has_no_doubts() {
        assert_eq!(doubts(&parentage([500, 500], 2), [490, 480], 5), "");
    }

    #[test]
    fn the_parent_at_fault_is_named() {
        let named = |of: &Parentage, hapmers, at_whole| {
            let doubts = doubts(of, hapmers, at_whole);
            assert!(doubts.contains("cannot be determined"), "{doubts}");
            doubts
        };
        let other = named(&parentage([900, 500], 490), [410, 4], 0);
        assert!(other.starts_with("the father (f) has 4 hap-mers of the 500"), "{other}");
        assert!(!other.contains("mother"), "{other}");
        let low = named(&parentage([500, 500], 2), [490, 480], 100);
        assert!(low.starts_with("the father (f) lacks k-mers"), "{low}");
        let empty = Parentage { has_kmers: [false, true], ..parentage([0, 900], 0) };
        assert!(named(&empty, [0, 900], 0).starts_with("the mother (m) has no k-mers"));
        let child = named(&parentage([500, 0], 0), [490, 0], 0);
        assert!(child.starts_with("the mother (m) has all k-mers of the child"), "{child}");
        let same = Parentage { differ: false, ..parentage([500, 500], 500) };
        assert!(named(&same, [0, 0], 0).contains("have the same k-mers"));
    }
}
