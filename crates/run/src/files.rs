//! The limit on open files.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Raises this process's soft limit on open files to its hard limit, which needs no privilege, and
/// returns the resulting soft limit (`u64::MAX` if unlimited). If the system refuses, the limit stays; that is
/// not an error.
pub fn raise_open_file_limit() -> u64 {
    let limit = getrlimit(Resource::Nofile);
    if limit.current != limit.maximum {
        let raised = Rlimit { current: limit.maximum, maximum: limit.maximum };
        if setrlimit(Resource::Nofile, raised).is_ok() {
            return limit.maximum.unwrap_or(u64::MAX);
        }
    }
    limit.current.unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::raise_open_file_limit;

    #[test]
    fn raising_twice_changes_nothing_more() {
        let limit = raise_open_file_limit();
        assert!(limit >= 3);
        assert_eq!(raise_open_file_limit(), limit);
    }
}
