//! Computes a range: sorted arrays in, a sorted array out.

use merganser_seq::kmer::Kmer;

use super::expression::{Cut, Expression, Mode, Operation};

/// Sorted k-mers with their counts.
pub(super) type SortedKmers<K> = Vec<(K, u32)>;

/// Arrays that are kept to reuse their memory.
#[derive(Debug, Default)]
pub(super) struct Spare<K>(Vec<SortedKmers<K>>);

impl<K> Spare<K> {
    fn take(&mut self) -> SortedKmers<K> {
        self.0.pop().unwrap_or_default()
    }

    pub(super) fn give(&mut self, run: SortedKmers<K>) {
        self.0.push(run);
    }
}

/// One range of all tables, and the number of times that each table is still needed.
pub(super) struct Range<'r, K> {
    pub(super) tables: &'r mut [SortedKmers<K>],
    pub(super) uses: Vec<usize>,
    pub(super) spare: &'r mut Spare<K>,
}

impl<K: Kmer> Range<'_, K> {
    pub(super) fn compute(&mut self, expression: &Expression) -> SortedKmers<K> {
        match expression {
            Expression::Table(table) => self.table(*table),
            Expression::Within(operand, cut) => {
                let mut run = self.compute(operand);
                run.retain(|&(_, count)| cut.keeps(count));
                run
            }
            Expression::SetCounts(operand, count) => {
                let mut run = self.compute(operand);
                run.iter_mut().for_each(|entry| entry.1 = *count);
                run
            }
            Expression::Of { operation, mode, operands } => {
                let runs = operands.iter().map(|operand| self.compute(operand)).collect();
                self.fold(*operation, *mode, runs)
            }
        }
    }

    fn table(&mut self, table: usize) -> SortedKmers<K> {
        self.uses[table] -= 1;
        let mut run = self.spare.take();
        if self.uses[table] == 0 {
            std::mem::swap(&mut run, &mut self.tables[table]);
        } else {
            run.clear();
            run.extend_from_slice(&self.tables[table]);
        }
        run
    }

    /// Combines operands from left to right. If the order does not matter, neighbours are combined in pairs, so
    /// that each k-mer is processed log2(n) times instead of n times.
    fn fold(
        &mut self,
        operation: Operation,
        mode: Mode,
        mut runs: Vec<SortedKmers<K>>,
    ) -> SortedKmers<K> {
        let (left, right) = operation.keeps();
        let by_pairs = left == right && mode != Mode::Diff;
        while runs.len() > 1 {
            let pairs = if by_pairs { runs.len() / 2 } else { 1 };
            let mut rest = runs.split_off(2 * pairs);
            let mut runs_of = runs.into_iter();
            let mut next = Vec::with_capacity(pairs + rest.len());
            while let (Some(a), Some(b)) = (runs_of.next(), runs_of.next()) {
                let mut out = self.spare.take();
                merge(operation, mode, &a, &b, &mut out);
                self.spare.give(a);
                self.spare.give(b);
                next.push(out);
            }
            next.append(&mut rest);
            runs = next;
        }
        runs.pop().unwrap_or_default()
    }
}

/// Combines two operands.
fn merge<K: Kmer>(
    operation: Operation,
    mode: Mode,
    a: &[(K, u32)],
    b: &[(K, u32)],
    out: &mut SortedKmers<K>,
) {
    match operation {
        Operation::Union => by_mode::<K, true, true>(mode, a, b, out),
        Operation::Intersect => by_mode::<K, false, false>(mode, a, b, out),
        Operation::Subtract => merge_with::<K, true, false>(a, b, out, |_, _| 0),
        Operation::CountersSubtract => by_mode::<K, true, false>(mode, a, b, out),
    }
}

fn by_mode<K: Kmer, const LEFT: bool, const RIGHT: bool>(
    mode: Mode,
    a: &[(K, u32)],
    b: &[(K, u32)],
    out: &mut SortedKmers<K>,
) {
    match mode {
        Mode::Min => merge_with::<K, LEFT, RIGHT>(a, b, out, u32::min),
        Mode::Max => merge_with::<K, LEFT, RIGHT>(a, b, out, u32::max),
        Mode::Sum => merge_with::<K, LEFT, RIGHT>(a, b, out, u32::saturating_add),
        Mode::Diff => merge_with::<K, LEFT, RIGHT>(a, b, out, u32::saturating_sub),
        Mode::Left => merge_with::<K, LEFT, RIGHT>(a, b, out, |a, _| a),
        Mode::Right => merge_with::<K, LEFT, RIGHT>(a, b, out, |_, b| b),
    }
}

/// Replaces `out` by the k-mers that only `a` has if `LEFT`, those that only `b` has if `RIGHT`, and those of
/// both whose count `both` is not 0.
///
/// The lower and the upper half are merged alternately, since each step has to wait for the previous one of the
/// same half.
#[inline(always)]
fn merge_with<K: Kmer, const LEFT: bool, const RIGHT: bool>(
    a: &[(K, u32)],
    b: &[(K, u32)],
    out: &mut SortedKmers<K>,
    both: impl Fn(u32, u32) -> u32,
) {
    // A longer array is not truncated first: only growing writes to its memory.
    let most = a.len() + b.len();
    if out.len() < most {
        out.resize(most, (K::default(), 0));
    }
    let half = a.len() / 2;
    let middle = a.get(half).map_or(0, |&(kmer, _)| b.partition_point(|other| other.0 < kmer));
    let (lower_out, upper_out) = out.split_at_mut(half + middle);
    let (lower_a, upper_a) = a.split_at(half);
    let (lower_b, upper_b) = b.split_at(middle);
    let mut lower = Merging { a: lower_a, b: lower_b, out: lower_out, done: 0 };
    let mut upper = Merging { a: upper_a, b: upper_b, out: upper_out, done: 0 };
    while lower.goes_on() && upper.goes_on() {
        lower.step::<LEFT, RIGHT>(&both);
        upper.step::<LEFT, RIGHT>(&both);
    }
    let number = lower.finish::<LEFT, RIGHT>(&both);
    let upper_number = upper.finish::<LEFT, RIGHT>(&both);
    let start = half + middle;
    out.copy_within(start..start + upper_number, number);
    out.truncate(number + upper_number);
}

/// The remaining input of a merge, and its output.
struct Merging<'m, K> {
    a: &'m [(K, u32)],
    b: &'m [(K, u32)],
    out: &'m mut [(K, u32)],
    /// The number of entries in `out`.
    done: usize,
}

impl<K: Kmer> Merging<'_, K> {
    #[inline(always)]
    fn goes_on(&self) -> bool {
        !self.a.is_empty() && !self.b.is_empty()
    }

    /// Takes the smaller k-mer, without a branch that depends on the comparison, which is unpredictable.
    #[inline(always)]
    fn step<const LEFT: bool, const RIGHT: bool>(&mut self, both: &impl Fn(u32, u32) -> u32) {
        let ((left, left_count), (right, right_count)) = (self.a[0], self.b[0]);
        let (not_after, not_before) = (left <= right, right <= left);
        let kmer = if not_after { left } else { right };
        let alone = if not_after {
            if LEFT { left_count } else { 0 }
        } else if RIGHT {
            right_count
        } else {
            0
        };
        let count = if not_after & not_before { both(left_count, right_count) } else { alone };
        self.out[self.done] = (kmer, count);
        self.done += usize::from(count != 0);
        self.a = &self.a[usize::from(not_after)..];
        self.b = &self.b[usize::from(not_before)..];
    }

    /// Merges the rest, and returns the number of entries.
    #[inline(always)]
    fn finish<const LEFT: bool, const RIGHT: bool>(
        mut self,
        both: &impl Fn(u32, u32) -> u32,
    ) -> usize {
        while self.goes_on() {
            self.step::<LEFT, RIGHT>(both);
        }
        for (stays, rest) in [(LEFT, self.a), (RIGHT, self.b)] {
            if stays {
                self.out[self.done..][..rest.len()].copy_from_slice(rest);
                self.done += rest.len();
            }
        }
        self.done
    }
}

/// Applies the cut of the result and lowers counts above `ceiling`; returns the numbers before the cut.
pub(super) fn finish<K>(run: &mut SortedKmers<K>, cut: Cut, ceiling: u32) -> Before {
    let mut before = Before { kmers: run.len() as u64, ..Before::default() };
    run.retain_mut(|(_, count)| {
        before.occurrences += u64::from(*count);
        let stays = cut.keeps(*count);
        if stays && *count > ceiling {
            *count = ceiling;
            before.lowered += 1;
        }
        stays
    });
    before
}

/// The numbers of k-mers and occurrences before the cut, and the number of lowered counts.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Before {
    pub(super) kmers: u64,
    pub(super) occurrences: u64,
    pub(super) lowered: u64,
}

impl Before {
    pub(super) fn add(&mut self, other: Before) {
        self.kmers += other.kmers;
        self.occurrences += other.occurrences;
        self.lowered += other.lowered;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    type Map = BTreeMap<u64, u32>;

    fn oracle(operation: Operation, mode: Mode, maps: &[Map]) -> Map {
        let mut result = maps[0].clone();
        for map in &maps[1..] {
            let keys: Vec<u64> = result.keys().chain(map.keys()).copied().collect();
            let mut next = Map::new();
            for key in keys {
                let count = match (result.get(&key), map.get(&key)) {
                    (Some(&a), None) if operation != Operation::Intersect => a,
                    (None, Some(&b)) if operation == Operation::Union => b,
                    (Some(_), Some(_)) if operation == Operation::Subtract => 0,
                    (Some(&a), Some(&b)) => match mode {
                        Mode::Min => a.min(b),
                        Mode::Max => a.max(b),
                        Mode::Sum => a.saturating_add(b),
                        Mode::Diff => a.saturating_sub(b),
                        Mode::Left => a,
                        Mode::Right => b,
                    },
                    _ => 0,
                };
                if count > 0 {
                    next.insert(key, count);
                }
            }
            result = next;
        }
        result
    }

    fn maps() -> impl Strategy<Value = Vec<Map>> {
        let count = prop_oneof![1u32..9, Just(u32::MAX), u32::MAX - 9..u32::MAX];
        let map = proptest::collection::btree_map(0u64..60, count, 0..50);
        proptest::collection::vec(map, 1..6)
    }

    proptest! {
        #[test]
        fn every_operation_and_mode_is_that_of_maps(maps in maps()) {
            for operation in [
                Operation::Union, Operation::Intersect, Operation::Subtract,
                Operation::CountersSubtract,
            ] {
                for mode in [Mode::Min, Mode::Max, Mode::Sum, Mode::Diff, Mode::Left, Mode::Right] {
                    let operands = (0..maps.len()).map(Expression::Table).collect();
                    let expression = Expression::Of { operation, mode, operands };
                    let mut tables: Vec<SortedKmers<u64>> =
                        maps.iter().map(|map| map.iter().map(|(&k, &c)| (k, c)).collect()).collect();
                    let mut spare = Spare(Vec::new());
                    let uses = expression.uses(tables.len());
                    let mut range = Range { tables: &mut tables, uses, spare: &mut spare };
                    let result: Map = range.compute(&expression).into_iter().collect();
                    prop_assert_eq!(&result, &oracle(operation, mode, &maps));
                    let bounds: Vec<_> = maps.iter().map(|map| super::super::expression::Bounds {
                        kmers: map.len() as u64,
                        least: map.values().copied().min().unwrap_or(1),
                        largest: map.values().copied().max().unwrap_or(0),
                    }).collect();
                    let bounds = expression.bounds(&bounds);
                    prop_assert!(result.len() as u64 <= bounds.kmers);
                    prop_assert!(result.values().all(|count| *count <= bounds.largest));
                    prop_assert!(result.values().all(|count| *count >= bounds.least));
                }
            }
        }
    }
}
