//! The sorted rows of a histogram, and signs of how the histogram was made.

use super::{Doubt, Settings};
use crate::Error;

/// A row: a count, and the number of distinct k-mers with this count.
pub(super) type Row = (u32, u64);

/// The rows to which a model is fitted.
#[derive(Clone, Debug)]
pub(super) struct Rows {
    /// The rows by ascending counts, without zeros and without a last row that includes all higher counts.
    pub(super) rows: Vec<Row>,
    /// The last row, in counts of the file, if it includes all higher counts.
    pub(super) pile: Option<Row>,
    /// The count at which the histogram seems to have been cut; higher counts are unknown.
    pub(super) cut: Option<u32>,
    /// The number by which all counts have been divided; 1 if they have not.
    pub(super) multiple: u32,
    /// The number of occurrences of all k-mers.
    pub(super) total: u64,
    /// Whether the total was given and includes the k-mers beyond the last row.
    pub(super) total_is_known: bool,
}

/// The largest number of repetitions of the same reads that is detected.
const MAX_MULTIPLE: u32 = 100;
/// The minimum number of counts by which a common step is distinguished from chance.
const MIN_STEPS: usize = 10;
/// The largest fraction of k-mers whose counts are not multiples if all reads were given several times.
const MAX_ODD: f64 = 0.01;
/// The largest accepted ratio of the occurrences in all rows to their known number; rows may be estimates.
const MAX_OVER_TOTAL: f64 = 1.1;

impl Rows {
    /// Sorts the rows, and examines the steps between them and their end.
    ///
    /// # Errors
    /// If the rows are bins of several counts.
    pub(super) fn new(histogram: &[Row], settings: &Settings) -> Result<Rows, Error> {
        let mut rows: Vec<Row> =
            histogram.iter().copied().filter(|&(count, number)| count > 0 && number > 0).collect();
        rows.sort_unstable();
        if let Some(step) = bins(&rows) {
            return Err(Error::Bins(step));
        }
        let above = settings.exclude_above.unwrap_or(u32::MAX);
        let whole = rows.last().is_none_or(|row| row.0 <= above);
        rows.retain(|row| row.0 <= above);
        let sum = total(&rows);
        let known = settings.total.filter(|_| whole);
        let known = known.filter(|&known| sum as f64 <= MAX_OVER_TOTAL * known as f64);
        let multiple = multiple(&rows);
        let pile = (whole && is_pile(&rows)).then(|| rows.pop()).flatten();
        if multiple > 1 {
            rows = divided(&rows, multiple);
        }
        let cut = pile.is_none() && whole && ends_at_once(&rows);
        Ok(Rows {
            cut: rows.last().map(|row| row.0).filter(|_| cut),
            rows,
            pile,
            multiple,
            total: known.unwrap_or(sum) / u64::from(multiple),
            total_is_known: known.is_some(),
        })
    }

    /// Returns the last count up to which the presence or absence of a row is reliable.
    pub(super) fn end(&self) -> Option<u32> {
        self.pile.map(|row| (row.0 - 1) / self.multiple).or(self.cut)
    }

    /// Returns the number of distinct k-mers of each count from 0 to `most`.
    pub(super) fn dense(&self, most: usize) -> Vec<f64> {
        let mut dense = vec![0.0; most + 1];
        for &(count, number) in &self.rows {
            if let Some(place) = dense.get_mut(count as usize) {
                *place = number as f64;
            }
        }
        dense
    }

    /// Returns the doubts that follow from the rows alone.
    pub(super) fn doubts(&self) -> impl Iterator<Item = Doubt> {
        let pile = self.pile.filter(|_| !self.total_is_known);
        let pile = pile.map(|(count, kmers)| Doubt::LastRow { count, kmers });
        let cut = self.cut.filter(|_| !self.total_is_known);
        let cut = cut.map(|count| Doubt::End(count.saturating_mul(self.multiple)));
        let multiple = (self.multiple > 1).then_some(Doubt::Multiples(self.multiple));
        [multiple, pile, cut].into_iter().flatten()
    }
}

/// Returns the number of occurrences of the k-mers of some rows; files can have any numbers.
pub(super) fn total(rows: &[Row]) -> u64 {
    let occurrences = |&(count, number): &Row| u64::from(count).saturating_mul(number);
    rows.iter().map(occurrences).fold(0, u64::saturating_add)
}

/// Returns the step between counts if all rows are bins of several counts that do not begin at a multiple of
/// their width: `jellyfish histo -i 10` has rows of 1, 11, 21, ... The last row may differ.
fn bins(rows: &[Row]) -> Option<u32> {
    let (&(first, _), rest) = rows.split_first()?;
    let inner = &rest[..rest.len().saturating_sub(1)];
    if inner.len() < MIN_STEPS {
        return None;
    }
    let step = inner.iter().fold(0, |step, row| divisor(step, row.0 - first));
    (step > 1 && first % step != 0).then_some(step)
}

/// Returns the greatest common divisor.
fn divisor(one: u32, other: u32) -> u32 {
    if other == 0 { one } else { divisor(other, one % other) }
}

/// Returns the largest number of which all counts are multiples, ignoring the last row and the counts of a few k-mers.
fn multiple(rows: &[Row]) -> u32 {
    let inner = &rows[..rows.len().saturating_sub(1)];
    let is_multiple = |by: &u32| {
        let higher = inner.iter().filter(|row| row.0 > *by);
        let (mut all, mut odd, mut steps) = (0.0, 0.0, 0);
        for &(count, number) in higher {
            all += number as f64;
            if count % by == 0 {
                steps += 1;
            } else {
                odd += number as f64;
            }
        }
        steps >= MIN_STEPS && odd <= MAX_ODD * all
    };
    (2..=MAX_MULTIPLE).rev().find(is_multiple).unwrap_or(1)
}

/// Returns the rows with counts divided by `by`, rounded up.
fn divided(rows: &[Row], by: u32) -> Vec<Row> {
    let mut sums: Vec<Row> = Vec::with_capacity(rows.len());
    for &(count, number) in rows {
        let count = count.div_ceil(by);
        match sums.last_mut() {
            Some(last) if last.0 == count => last.1 = last.1.saturating_add(number),
            _ => sums.push((count, number)),
        }
    }
    sums
}

/// The default last counts of counters and programs: one byte, `jellyfish histo`, FastK (15 bits), two and four
/// bytes.
const USUAL_LAST: [u32; 5] = [255, 10_001, 32_767, 65_535, u32::MAX];
/// Default last counts above this are piles in any case, since no count has such a value by chance.
const MIN_SURE_LAST: u32 = 10_000;
/// A last row is a pile if it has this factor more k-mers than expected, plus six standard deviations and a few.
const PILE: f64 = 1.6;
/// The number of k-mers with the same count that is still plausible by chance or by a repeat.
const FEW: f64 = 5.0;

/// Whether the last row has many more k-mers than the previous rows predict, so that it must include the k-mers of all
/// higher counts. Rows that were only cut, or simply end, are not piles.
fn is_pile(rows: &[Row]) -> bool {
    let [before @ .., (last, number)] = rows else { return false };
    let (last, number) = (*last, *number as f64);
    if before.is_empty() {
        return false;
    }
    if USUAL_LAST.contains(&last) && last > MIN_SURE_LAST {
        return true;
    }
    let near = near(before, last);
    // At counts where programs end their rows, two k-mers are enough.
    if (USUAL_LAST.contains(&last) || last % 1000 == 1) && near < 1.0 && number > 1.0 {
        return true;
    }
    match trend(before, last) {
        Some(expected) => number > PILE * expected + 6.0 * expected.sqrt() + 2.0 * FEW,
        None => number > 3.0 * near + FEW,
    }
}

/// Returns the largest number of k-mers among the four counts before `last`; if they have none, the mean of a
/// tenth of all counts before `last`.
fn near(before: &[Row], last: u32) -> f64 {
    let within =
        |width: u32| before.iter().rev().take_while(move |row| row.0 >= last.saturating_sub(width));
    let width = (last / 10).max(8);
    let mean = || within(width).map(|row| row.1 as f64).sum::<f64>() / f64::from(width);
    within(4).map(|row| row.1 as f64).max_by(f64::total_cmp).unwrap_or_else(mean)
}

/// Returns the number of k-mers at `last` if the trend of the four counts before it continues; `None` if one of
/// them has no k-mers.
fn trend(before: &[Row], last: u32) -> Option<f64> {
    let [.., four, three, two, one] = before else { return None };
    if four.0 + 4 != last {
        return None;
    }
    let [older, newer] = [[four, three], [two, one]].map(|[a, b]| (a.1 as f64 + b.1 as f64) / 2.0);
    // The two means are two counts apart, and the last count is one and a half counts further.
    Some(newer * (newer / older).powf(0.75))
}

/// The number of last rows that predict how the histogram continues.
const LAST_ROWS: usize = 10;
/// The number of the very last of these rows.
const VERY_LAST_ROWS: usize = 3;
/// The minimum number of k-mers after the last row that its rows predict if the histogram was cut.
const MIN_MISSING: f64 = 50.0;

/// Whether the rows end where each count has k-mers, with numbers so large that k-mers of higher counts are expected:
/// these are missing. Whole histograms end with gaps.
fn ends_at_once(rows: &[Row]) -> bool {
    let Some(rows) = rows.last_chunk::<LAST_ROWS>() else { return false };
    if (rows[LAST_ROWS - 1].0 - rows[0].0) as usize >= LAST_ROWS {
        return false;
    }
    let mean = |rows: &[Row]| rows.iter().map(|row| row.1 as f64).sum::<f64>() / rows.len() as f64;
    let (before, end) = rows.split_at(LAST_ROWS - VERY_LAST_ROWS);
    // The centres of the two groups are five counts apart; a geometric series continues after the last row.
    let ratio = (mean(end) / mean(before)).powf(0.2);
    ratio >= 1.0 || mean(end) * ratio * ratio / (1.0 - ratio) >= MIN_MISSING
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(rows: &[Row]) -> Rows {
        Rows::new(rows, &Settings::default()).unwrap()
    }

    /// Returns rows with a peak at `mean`, with errors at low counts, up to `to`.
    fn peak(mean: f64, kmers: f64, to: u32) -> Vec<Row> {
        let number = |count: u32| {
            let off = (f64::from(count) - mean) / mean.sqrt();
            let peak = (-off * off / 2.0).exp() / (2.0 * std::f64::consts::PI * mean).sqrt();
            (kmers * peak + 1e6 * 0.1f64.powf(f64::from(count))).round() as u64
        };
        (1..=to).map(|count| (count, number(count))).collect()
    }

    #[test]
    fn a_last_row_is_a_pile_by_what_it_holds() {
        // After a gap, in a sparse tail, in a dense tail, on the slope of the peak.
        for (to, last, kmers) in
            [(60, 101, 200), (60, 64, 40), (60, 1000, 12), (48, 49, 4000), (35, 36, 200_000)]
        {
            let mut made = peak(30.0, 1e6, to);
            made.push((last, kmers));
            assert_eq!(rows(&made).pile, Some((last, kmers)), "{last}");
            assert_eq!(rows(&made).end(), Some(last - 1));
        }
        // At the last counts of counters, a few k-mers are enough.
        for (last, kmers) in [(255, 2), (1001, 2), (10_001, 1), (32_767, 1), (65_535, 1)] {
            let mut made = peak(30.0, 1e6, 60);
            made.push((last, kmers));
            assert_eq!(rows(&made).pile, Some((last, kmers)), "{last}");
        }
        let odd: Vec<Row> = peak(30.0, 1e6, 60).iter().map(|row| (2 * row.0, row.1)).collect();
        let made = rows(&[&odd[..], &[(10_001, 90)]].concat());
        assert_eq!((made.multiple, made.pile, made.end()), (2, Some((10_001, 90)), Some(5000)));
    }

    #[test]
    fn tails_of_whole_histograms_are_no_piles() {
        let mut made = peak(30.0, 1e6, 100);
        assert_eq!((rows(&made).pile, rows(&made).cut), (None, None));
        // A few k-mers of repeats; the last row is that of the most copies.
        for row in [(160, 3), (161, 1), (230, 2), (255, 1), (700, 4), (9_000, 1), (12_345, 2)] {
            made.push(row);
            assert_eq!((rows(&made).pile, rows(&made).cut), (None, None), "{row:?}");
        }
    }

    #[test]
    fn histograms_that_end_at_once_are_cut() {
        for to in [25, 30, 40, 45] {
            let made = rows(&peak(30.0, 1e6, to));
            assert_eq!((made.pile, made.cut), (None, Some(to)), "{to}");
            assert!(made.doubts().eq([Doubt::End(to)]));
        }
        // Repeats at all counts.
        let mut made = peak(30.0, 1e6, 60);
        made.extend((61..=1000).map(|count| (count, 20 + u64::from(count % 7))));
        assert_eq!(rows(&made).cut, Some(1000));
        // The file gives the total, which includes the missing k-mers.
        let settings = Settings { total: Some(1 << 40), ..Settings::default() };
        let known = Rows::new(&made, &settings).unwrap();
        assert_eq!((known.total, known.doubts().count()), (1 << 40, 0));
    }

    #[test]
    fn reads_that_were_given_several_times_are_counted_once() {
        for times in [2, 3, 7] {
            let mut made: Vec<Row> =
                peak(30.0, 1e6, 100).iter().map(|row| (row.0 * times, row.1)).collect();
            let once = rows(&peak(30.0, 1e6, 100));
            let found = rows(&made);
            assert_eq!((found.multiple, &found.rows), (times, &once.rows));
            assert_eq!(found.total, once.total);
            assert!(found.doubts().eq([Doubt::Multiples(times)]));
            // And some other reads.
            made.extend((1..9).map(|count| (count * times + 1, 30)));
            assert_eq!(rows(&made).multiple, times);
        }
        assert_eq!(rows(&peak(30.0, 1e6, 100)).multiple, 1);
    }

    #[test]
    fn bins_are_refused() {
        let made: Vec<Row> =
            peak(30.0, 1e6, 40).iter().map(|row| (10 * row.0 - 9, row.1)).collect();
        assert_eq!(Rows::new(&made, &Settings::default()).unwrap_err(), Error::Bins(10));
    }

    #[test]
    fn rows_above_a_count_are_left_out() {
        let mut made = peak(30.0, 1e6, 60);
        let total = total(&made);
        made.extend([(3000, 700), (10_001, 9000)]);
        let settings = Settings { exclude_above: Some(500), ..Settings::default() };
        let found = Rows::new(&made, &settings).unwrap();
        assert_eq!((found.total, found.doubts().count()), (total, 0));
    }
}
