//! The peak resident size of a running process.

/// Returns the peak of a process so far, in bytes. `process` is `self` or the number of a child that runs the program;
/// the peak is 0 before it begins, when it still shares the memory of the test, and after it has ended.
pub fn peak(process: &str) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    let field = |name: &str| status.lines().find_map(|line| line.strip_prefix(name)).map(str::trim);
    if process != "self" && field("Name:") != Some("merganser") {
        return 0;
    }
    let kib = field("VmHWM:").and_then(|peak| peak.trim_end_matches(" kB").parse::<u64>().ok());
    kib.unwrap_or(0) << 10
}
