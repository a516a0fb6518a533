//! How much memory there is to use, how much of it to use, and how much was used. All sizes are bytes.

mod cgroups;

use rustix::process::{Resource, getrlimit};
use std::fs;
use std::path::Path;

/// Where cgroups are mounted.
const CGROUPS: &str = "/sys/fs/cgroup";
/// What a system is taken to have that does not tell.
const UNKNOWN: u64 = 4 << 30;

/// The memory that this process may use now, besides what it has: the smallest of
///
/// - what the system has free or can free (`MemAvailable` of `/proc/meminfo`),
/// - what each cgroup (v1 or v2, its own or one above it) that has a limit leaves of it besides what is
///   held there and is no page cache, which goes where memory is needed,
/// - what the limit of the address space (`ulimit -v`) leaves.
///
/// If nothing can be read, 4 GiB.
pub fn available_memory() -> u64 {
    let meminfo = fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let groups = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    available(&meminfo, cgroups::left(&groups, Path::new(CGROUPS)), address_space_left())
}

/// The least of what a `meminfo`, cgroups and the limit of the address space leave.
fn available(meminfo: &str, group: Option<u64>, address_space: Option<u64>) -> u64 {
    // Linux before 3.14 does not say what is available.
    let system = kib_field(meminfo, "MemAvailable:").or_else(|| kib_field(meminfo, "MemTotal:"));
    let limits = [group, address_space].into_iter().flatten();
    limits.fold(system.unwrap_or(UNKNOWN), u64::min)
}

/// The limit of this process's address space in bytes (`ulimit -v`), if there is one.
pub fn address_space_limit() -> Option<u64> {
    // Miri does not know the call.
    if cfg!(miri) { None } else { getrlimit(Resource::As).current }
}

/// What the limit of the address space leaves besides what is mapped already.
fn address_space_left() -> Option<u64> {
    let limit = address_space_limit()?;
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    Some(limit.saturating_sub(kib_field(&status, "VmSize:").unwrap_or(0)))
}

/// The memory to use if the user names none: three quarters of [`available_memory`], so that it depends
/// on the moment. A run takes it once, by its [`Resources`](crate::Resources).
pub fn default_budget() -> u64 {
    default_share(available_memory())
}

/// The part of what may be used that a run takes by default: the rest is for what others come to need.
pub(crate) fn default_share(available: u64) -> u64 {
    available / 4 * 3
}

/// The largest resident size this process ever had (`VmHWM`), if the system tells it.
pub fn peak_rss() -> Option<u64> {
    kib_field(&fs::read_to_string("/proc/self/status").ok()?, "VmHWM:")
}

/// The least memory of at least `from` bytes that suffices, about (less than a MiB more): what suffices
/// must do so with more memory, too. `None` if no memory does.
pub fn least_memory(from: u64, suffices: impl Fn(u64) -> bool) -> Option<u64> {
    if suffices(from) {
        return Some(from);
    }
    let mut below = from;
    let mut enough = from.max(1 << 20);
    while !suffices(enough) {
        below = enough;
        enough = enough.checked_mul(2)?;
    }
    while enough - below >= 1 << 20 {
        let middle = below + (enough - below) / 2;
        if suffices(middle) { enough = middle } else { below = middle }
    }
    Some(enough)
}

/// The value of a line such as `VmHWM:     1234 kB`, in bytes.
fn kib_field(text: &str, name: &str) -> Option<u64> {
    let rest = text.lines().find_map(|line| line.strip_prefix(name))?;
    let kib: u64 = rest.split_whitespace().next()?.parse().ok()?;
    kib.checked_mul(1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MEMINFO: &str = "\
MemTotal:       24684092 kB
MemFree:        12314628 kB
MemAvailable:   13398972 kB
Buffers:            2048 kB
";

    #[test]
    fn the_least_of_all_limits_may_be_used() {
        let system = 13_398_972 << 10;
        for (group, address_space, expected) in [
            (None, None, system),
            (Some(u64::MAX), None, system),
            (Some(5000), None, 5000),
            (Some(5000), Some(4000), 4000),
            (Some(0), Some(4000), 0),
        ] {
            assert_eq!(available(MEMINFO, group, address_space), expected);
        }
        assert_eq!(available("MemTotal:  100 kB\nMemFree: 7 kB\n", None, None), 100 << 10);
        assert_eq!(available("", None, None), 4 << 30);
        assert_eq!(available("MemAvailable: many kB\n", Some(9), None), 9);
    }

    #[test]
    fn three_quarters_are_taken_however_much_it_is() {
        for (available, share) in [(0, 0), (4 << 30, 3 << 30), (2 << 40, 3 << 39)] {
            assert_eq!(default_share(available), share);
        }
    }

    #[test]
    fn this_machine_has_memory() {
        let available = available_memory();
        assert!(available > 1 << 24);
        let total = kib_field(&fs::read_to_string("/proc/meminfo").unwrap(), "MemTotal:").unwrap();
        assert!(available < total);
        assert!(peak_rss().unwrap() > 4096);
    }

    #[test]
    fn the_least_memory_that_suffices_is_found() {
        for needed in [0, 1, 1000, 1 << 20, 77 << 20, (5 << 40) + 1, 1 << 63] {
            let found = least_memory(100, |bytes| bytes >= needed).unwrap();
            assert!(found >= needed.max(100) && found - needed.max(100) < 1 << 20, "{needed}");
        }
        assert_eq!(least_memory(0, |_| false), None);
    }
}
