//! Grouping of neighbouring items under a capacity.

use std::ops::Range;

/// Groups neighbouring items, each group as large as `fit` allows; an item that does not fit by
/// itself is a group alone. `add` combines two neighbours or groups.
///
/// ```
/// let groups = merganser_run::neighbours([3, 4, 9, 1], |a, b| a + b, |&sum| sum <= 7);
/// assert_eq!(groups, [0..2, 2..3, 3..4]);
/// ```
pub fn neighbours<T>(
    items: impl IntoIterator<Item = T>,
    add: impl Fn(&T, &T) -> T,
    fit: impl Fn(&T) -> bool,
) -> Vec<Range<usize>> {
    let mut groups: Vec<Range<usize>> = Vec::new();
    let mut group: Option<T> = None;
    for (at, item) in items.into_iter().enumerate() {
        match (group.map(|group| add(&group, &item)).filter(&fit), groups.last_mut()) {
            (Some(both), Some(last)) => {
                last.end = at + 1;
                group = Some(both);
            }
            _ => {
                groups.push(at..at + 1);
                group = Some(item);
            }
        }
    }
    groups
}

#[cfg(test)]
mod tests {
    use super::neighbours;

    #[test]
    fn groups_are_as_large_as_fits() {
        for (loads, expected) in [
            (&[][..], vec![]),
            (&[9, 19], vec![0..1, 1..2]),
            (&[5, 5, 1, 20, 0, 4, 6], vec![0..2, 2..3, 3..4, 4..7]),
            (&[0, 0, 11, 0], vec![0..2, 2..3, 3..4]),
        ] {
            let sums = |a: &u64, b: &u64| a + b;
            assert_eq!(neighbours(loads.iter().copied(), sums, |&sum| sum <= 10), expected);
        }
    }
}
