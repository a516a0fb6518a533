//! Divides the keys into ranges.

use super::key::{Key, KeyRange};

/// A stretch of a sorted list: its first key and its size in bytes.
pub(super) type Stretch = (Key, u64);

/// Divides the keys into ranges with at most about `most` bytes of records each. Ranges begin only where a stretch
/// begins, so a range can be larger.
pub(super) fn cut(mut stretches: Vec<Stretch>, most: u64) -> Vec<KeyRange> {
    stretches.sort_unstable();
    let (mut parts, mut from, mut bytes) = (Vec::new(), None, 0);
    for (key, more) in stretches {
        if bytes > 0 && bytes + more > most {
            parts.push(KeyRange { from, to: Some(key) });
            (from, bytes) = (Some(key), 0);
        }
        bytes += more;
    }
    parts.push(KeyRange { from, to: None });
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_follow_one_another() {
        let key = |place| Key { place, turn: 0 };
        let list = |from: u64| (0..10).map(move |at| (key(from + 2 * at), 10));
        let parts = cut(list(0).chain(list(1)).collect(), 45);
        assert_eq!(parts.len(), 5);
        assert!(parts[0].from.is_none() && parts[4].to.is_none());
        for (number, pair) in parts.windows(2).enumerate() {
            assert_eq!((pair[0].to, pair[1].from), (Some(key(4 * number as u64 + 4)), pair[0].to));
        }
        assert_eq!(cut(Vec::new(), 45).len(), 1);
    }
}
