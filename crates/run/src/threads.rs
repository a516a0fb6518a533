//! How many threads a run may use in all.

use std::num::NonZero;
use std::thread;

/// The number of threads to use: what was `requested` (at least 1), or, for `None`, as many as the
/// process may run at once (its CPU affinity and cgroup quota are heeded).
pub fn resolve_threads(requested: Option<usize>) -> usize {
    match requested {
        Some(threads) => threads.max(1),
        None => thread::available_parallelism().map_or(1, NonZero::get),
    }
}

#[cfg(test)]
mod tests {
    use super::resolve_threads;

    #[test]
    fn asked_for_or_all() {
        assert_eq!(resolve_threads(Some(3)), 3);
        assert_eq!(resolve_threads(Some(0)), 1);
        assert!(resolve_threads(None) >= 1);
    }
}
