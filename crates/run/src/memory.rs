//! How much memory there is, how much of it to use, and how much was used. All sizes are bytes.

use crate::SizeError;
use rustix::process::{Resource, getrlimit};
use std::fs;
use std::path::{Path, PathBuf};

const GIB: u64 = 1 << 30;

/// Reads a size such as `4G`, `500M`, `1.5GiB`, `2GB` or `65536`. The units K, M, G and T are
/// powers of 1024, with or without `B` or `iB`, in either case; no unit means bytes.
///
/// # Errors
///
/// If the text is not a number with such a unit, is zero, has no unit although it is below 1,000, or does not fit into 64 bits.
pub fn parse_size(text: &str) -> Result<u64, SizeError> {
    let malformed = || SizeError::Malformed { text: text.to_owned() };
    let trimmed = text.trim();
    let digits = trimmed
        .find(|letter: char| !letter.is_ascii_digit() && letter != '.')
        .unwrap_or(trimmed.len());
    let (number, unit) = trimmed.split_at(digits);
    let shift = match unit.trim_start().to_ascii_lowercase().as_str() {
        "" | "b" => 0,
        "k" | "kb" | "kib" => 10,
        "m" | "mb" | "mib" => 20,
        "g" | "gb" | "gib" => 30,
        "t" | "tb" | "tib" => 40,
        _ => return Err(malformed()),
    };
    let bytes = scale(number, shift).ok_or_else(malformed)?;
    if unit.is_empty() && (1..1000).contains(&bytes) {
        return Err(SizeError::NoUnit { text: trimmed.to_owned() });
    }
    match u64::try_from(bytes) {
        Ok(0) => Err(SizeError::Zero { text: text.to_owned() }),
        Ok(bytes) => Ok(bytes),
        Err(_) => Err(SizeError::TooLarge { text: text.to_owned() }),
    }
}

/// `number` (digits with at most one point) times 2^`shift`, rounded down, exactly: a float would
/// lose the last bytes of large sizes. `u128::MAX` for what is far too large.
fn scale(number: &str, shift: u32) -> Option<u128> {
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    if (whole.is_empty() && fraction.is_empty()) || fraction.contains('.') {
        return None;
    }
    if whole.trim_start_matches('0').len() > 20 {
        return Some(u128::MAX);
    }
    let whole: u128 = if whole.is_empty() { 0 } else { whole.parse().ok()? };
    // 18 digits of a fraction are below a byte even for T.
    let fraction = &fraction[..fraction.len().min(18)];
    let part: u128 = if fraction.is_empty() { 0 } else { fraction.parse().ok()? };
    let ten = 10u128.pow(u32::try_from(fraction.len()).ok()?);
    Some((whole << shift) + (part << shift) / ten)
}

/// A size for people: three digits or so and a binary unit, e.g. `512 B`, `1.50 GiB`.
pub fn format_size(bytes: u64) -> String {
    if bytes < 1024 {
        return format!("{bytes} B");
    }
    let (unit, digits) = unit_and_digits(bytes);
    let value = bytes as f64 / (1u64 << (10 * unit)) as f64;
    format!("{value:.digits$} {}", UNITS[unit as usize - 1])
}

/// What is needed, for a message that it is too much: as [`format_size`], rounded up, so that giving
/// as much is enough, and so that it never looks like the less that [is given](format_given).
pub fn format_needed(bytes: u64) -> String {
    rounded(bytes, true)
}

/// What is given where more is [needed](format_needed): as [`format_size`], rounded down.
pub fn format_given(bytes: u64) -> String {
    rounded(bytes, false)
}

const UNITS: [&str; 6] = ["KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];

/// The unit of a size of 1024 bytes or more, as a power of 1024, and digits after the point.
fn unit_and_digits(bytes: u64) -> (u32, usize) {
    let unit = bytes.ilog2() / 10;
    let digits = match bytes >> (10 * unit) {
        0..10 => 2,
        10..100 => 1,
        _ => 0,
    };
    (unit, digits)
}

fn rounded(bytes: u64, up: bool) -> String {
    if bytes < 1024 {
        return format!("{bytes} B");
    }
    let (unit, digits) = unit_and_digits(bytes);
    let (scale, divisor) = (10u128.pow(digits as u32), 1u128 << (10 * unit));
    let scaled = u128::from(bytes) * scale;
    let value = if up { scaled.div_ceil(divisor) } else { scaled / divisor };
    let (whole, part, unit) = (value / scale, value % scale, UNITS[unit as usize - 1]);
    if digits == 0 { format!("{whole} {unit}") } else { format!("{whole}.{part:0digits$} {unit}") }
}

/// The memory this process may use at most: the machine's, or less where a cgroup (v1 or v2, its
/// own or one above it) says so, or the limit of its address space (`ulimit -v`) leaves less. If
/// nothing can be read, 4 GiB.
pub fn machine_memory() -> u64 {
    let total = fs::read_to_string("/proc/meminfo")
        .ok()
        .and_then(|text| kib_field(&text, "MemTotal:"))
        .unwrap_or(4 * GIB);
    let cgroups = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    let group = cgroup_limit(&cgroups, Path::new("/sys/fs/cgroup")).unwrap_or(u64::MAX);
    total.min(group).min(address_space_left().unwrap_or(u64::MAX))
}

/// The limit of this process's address space in bytes (`ulimit -v`), if there is one.
pub fn address_space_limit() -> Option<u64> {
    getrlimit(Resource::As).current
}

/// What the limit of the address space leaves besides what is mapped already.
fn address_space_left() -> Option<u64> {
    let limit = address_space_limit()?;
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    Some(limit.saturating_sub(kib_field(&status, "VmSize:").unwrap_or(0)))
}

/// The memory to use if the user names none: the smaller of 12 GiB and three quarters of
/// [`machine_memory`].
pub fn default_budget() -> u64 {
    (machine_memory() / 4 * 3).min(12 * GIB)
}

/// The largest resident size this process ever had (`VmHWM`), if the system tells it.
pub fn peak_rss() -> Option<u64> {
    kib_field(&fs::read_to_string("/proc/self/status").ok()?, "VmHWM:")
}

/// The value of a line such as `VmHWM:     1234 kB`, in bytes.
fn kib_field(text: &str, name: &str) -> Option<u64> {
    let rest = text.lines().find_map(|line| line.strip_prefix(name))?;
    let kib: u64 = rest.split_whitespace().next()?.parse().ok()?;
    kib.checked_mul(1024)
}

/// The smallest memory limit of the cgroups that `/proc/self/cgroup` names, and of those above
/// them, under the usual mount point `root`.
fn cgroup_limit(cgroups: &str, root: &Path) -> Option<u64> {
    cgroups.lines().filter_map(|line| line_limit(line, root)).min()
}

fn line_limit(line: &str, root: &Path) -> Option<u64> {
    let mut fields = line.splitn(3, ':');
    let (_, controllers, path) = (fields.next()?, fields.next()?, fields.next()?);
    let (mount, file): (PathBuf, &str) = if controllers.is_empty() {
        (root.to_owned(), "memory.max")
    } else if controllers.split(',').any(|name| name == "memory") {
        (root.join("memory"), "memory.limit_in_bytes")
    } else {
        return None;
    };
    // Inside a container the path may be the host's and not exist here; its limit then stands at
    // the root of what is mounted, which the walk upwards reaches.
    let own = path.trim_start_matches('/');
    Path::new(own)
        .ancestors()
        .filter_map(|part| fs::read_to_string(mount.join(part).join(file)).ok())
        // "max" (v2) is no number; v1 says "no limit" by a huge one, which the minimum ignores.
        .filter_map(|text| text.trim().parse().ok())
        .min()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_read() {
        let cases = [
            ("4G", 4 << 30),
            ("4g", 4 << 30),
            ("500M", 500 << 20),
            ("1.5GiB", 3 << 29),
            (".5k", 512),
            ("2GB", 2 << 30),
            ("2 gb", 2 << 30),
            ("1T", 1 << 40),
            ("65536", 65536),
            ("7b", 7),
            ("18446744073709551615", u64::MAX),
        ];
        for (text, bytes) in &cases {
            assert_eq!(parse_size(text), Ok(*bytes), "{text}");
        }
    }

    #[test]
    fn non_sizes_are_refused() {
        for text in ["", "G", "4X", "-1", "1.2.3G", "1e3", ".", "4GiBs"] {
            assert_eq!(parse_size(text), Err(SizeError::Malformed { text: text.into() }), "{text}");
        }
        assert_eq!(
            parse_size("8").unwrap_err().to_string(),
            "'8' is 8 bytes: give a unit, e.g. 8G"
        );
        assert_eq!(parse_size("0G"), Err(SizeError::Zero { text: "0G".into() }));
        for text in ["16777216T", "18446744073709551616", "9999999999999999999999999999999999999"] {
            assert_eq!(parse_size(text), Err(SizeError::TooLarge { text: text.into() }), "{text}");
        }
        assert_eq!(
            parse_size("lots").unwrap_err().to_string(),
            "'lots' is not a size: give a number and K, M, G or T, e.g. 500M or 4G"
        );
    }

    #[test]
    fn sizes_are_shown() {
        for (bytes, text) in [
            (0, "0 B"),
            (1023, "1023 B"),
            (1024, "1.00 KiB"),
            (3 << 29, "1.50 GiB"),
            (12 << 30, "12.0 GiB"),
            (500 << 20, "500 MiB"),
            (u64::MAX, "16.0 EiB"),
        ] {
            assert_eq!(format_size(bytes), text);
        }
    }

    #[test]
    fn what_is_needed_and_what_is_given_never_look_alike() {
        for (needed, given, texts) in [
            (900, 20, ["900 B", "20 B"]),
            (3 << 29, 300 << 20, ["1.50 GiB", "300 MiB"]),
            (96 << 20, 20 << 20, ["96.0 MiB", "20.0 MiB"]),
            ((80 << 20) + 60_000, 80 << 20, ["80.1 MiB", "80.0 MiB"]),
            ((80 << 20) + 2, (80 << 20) + 1, ["80.1 MiB", "80.0 MiB"]),
            (80 << 20, (80 << 20) - 1, ["80.0 MiB", "79.9 MiB"]),
            (1 << 30, (1 << 30) - 1, ["1.00 GiB", "1023 MiB"]),
            ((1 << 30) - 1, (1 << 30) - 2, ["1024 MiB", "1023 MiB"]),
        ] {
            assert_eq!([format_needed(needed), format_given(given)], texts);
        }
    }

    #[test]
    fn the_smallest_cgroup_limit_up_the_tree_counts() {
        let root = std::env::temp_dir().join(format!("merganser-cgroup-{}", std::process::id()));
        fs::create_dir_all(root.join("a/b/c")).unwrap();
        fs::create_dir_all(root.join("memory/x")).unwrap();
        fs::write(root.join("a/b/c/memory.max"), "max\n").unwrap();
        fs::write(root.join("a/memory.max"), "5000\n").unwrap();
        fs::write(root.join("memory/x/memory.limit_in_bytes"), "9223372036854771712\n").unwrap();
        fs::write(root.join("memory/memory.limit_in_bytes"), "7000\n").unwrap();
        assert_eq!(cgroup_limit("0::/a/b/c\n", &root), Some(5000));
        assert_eq!(cgroup_limit("0::/elsewhere/b\n", &root), None);
        assert_eq!(cgroup_limit("5:cpu,memory:/x/gone\n3:pids:/a\n", &root), Some(7000));
        assert_eq!(cgroup_limit("5:memory:/x\n0::/a\n", &root), Some(5000));
        fs::remove_dir_all(root).unwrap();
    }

    #[test]
    fn this_machine_has_memory() {
        assert!(machine_memory() > 1 << 24);
        assert!(default_budget() <= 12 * GIB);
        assert!(default_budget() <= machine_memory());
        assert!(peak_rss().unwrap() > 4096);
    }
}
