//! Amounts of memory: available, used by default, and peak. All sizes are in bytes.

mod cgroups;
mod unix;

use rustix::process::{Resource, getrlimit};
use std::fs;
use std::path::Path;

/// The mount point of cgroups.
const CGROUPS: &str = "/sys/fs/cgroup";
/// The memory assumed for a system that does not report it.
const UNKNOWN: u64 = 4 << 30;

/// Returns the memory that this process may still allocate now, the smallest of:
///
/// - the memory that is free or can be freed (`MemAvailable` of `/proc/meminfo`), or, on systems without this file, the
///   machine's memory,
/// - the unused part of the limit of each cgroup (v1 or v2, its own or an ancestor); page cache does not count as
///   used, because the kernel frees it on demand,
/// - the unused part of the limit of the address space (`ulimit -v`).
///
/// Returns 4 GiB if nothing can be read.
pub fn available_memory() -> u64 {
    let meminfo = fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let groups = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    let group = cgroups::left(&groups, Path::new(CGROUPS));
    let physical = if meminfo.is_empty() { unix::physical() } else { None };
    available(&meminfo, physical, group, address_space_left())
}

/// Returns the smallest of the memory that a `meminfo`, the cgroups and the limit of the address space allow. `physical`
/// is the machine's memory, which is used if `meminfo` has no amount.
fn available(
    meminfo: &str,
    physical: Option<u64>,
    group: Option<u64>,
    address_space: Option<u64>,
) -> u64 {
    // Linux before 3.14 has no MemAvailable.
    let system = kib_field(meminfo, "MemAvailable:").or_else(|| kib_field(meminfo, "MemTotal:"));
    let limits = [group, address_space].into_iter().flatten();
    limits.fold(system.or(physical).unwrap_or(UNKNOWN), u64::min)
}

/// Returns the limit of this process's address space in bytes (`ulimit -v`), if there is one.
pub fn address_space_limit() -> Option<u64> {
    // Miri does not support the call.
    if cfg!(miri) { None } else { getrlimit(Resource::As).current }
}

/// Returns the limit of the address space minus the present mappings.
fn address_space_left() -> Option<u64> {
    let limit = address_space_limit()?;
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    Some(limit.saturating_sub(kib_field(&status, "VmSize:").unwrap_or(0)))
}

/// Returns the memory to use by default: three quarters of [`available_memory`], so that it depends
/// on the moment. A run queries it once, through its [`Context`](crate::Context).
pub fn default_budget() -> u64 {
    default_share(available_memory())
}

/// Returns the share of the available memory that a run uses by default; the rest is left for other processes.
pub(crate) fn default_share(available: u64) -> u64 {
    available / 4 * 3
}

/// Returns the largest resident size that this process ever had (`VmHWM` on Linux), if the system reports it.
pub fn peak_rss() -> Option<u64> {
    let Ok(status) = fs::read_to_string("/proc/self/status") else { return unix::peak() };
    kib_field(&status, "VmHWM:")
}

/// Returns the smallest amount of memory, at least `from`, that suffices, to within a MiB; `None` if no amount
/// does. If an amount suffices, all larger ones must suffice as well.
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

/// Returns the value of a line such as `VmHWM:     1234 kB`, in bytes.
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
            assert_eq!(available(MEMINFO, Some(1), group, address_space), expected);
        }
        assert_eq!(available("MemTotal:  100 kB\nMemFree: 7 kB\n", None, None, None), 100 << 10);
        assert_eq!(available("", Some(8 << 30), None, None), 8 << 30);
        assert_eq!(available("", None, None, None), 4 << 30);
        assert_eq!(available("MemAvailable: many kB\n", None, Some(9), None), 9);
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
        // Miri does not support these calls.
        if !cfg!(miri) {
            // Whole pages, which may be of 64 KiB. In a container, /proc/meminfo may have less.
            assert!(unix::physical().unwrap() + (64 << 10) > total);
            assert!(unix::peak().unwrap() > 4096);
        }
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
