//! The machine on which figures were measured.

use std::fs::read_to_string;
use std::process::Command;

/// Describes the machine and the date as a Markdown list.
pub(crate) fn describe() -> String {
    let cpu = field("/proc/cpuinfo", "model name").unwrap_or_else(|| "unknown CPU".into());
    let cores = std::thread::available_parallelism().map_or(1, |n| n.get());
    let memory = kib("MemTotal").map_or(0.0, |bytes| bytes as f64 / f64::from(1 << 30));
    let kernel = read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    let date = first_line(Command::new("date").args(["-u", "+%Y-%m-%d %H:%M UTC"]));
    format!(
        "- date: {}\n- machine: {cpu}, {cores} cores usable, {memory:.0} GiB, Linux {}\n",
        date.unwrap_or_else(|| "unknown".into()),
        kernel.trim()
    )
}

/// Returns the first line that a command writes to stdout, whatever its exit code.
pub(crate) fn first_line(command: &mut Command) -> Option<String> {
    let output = command.output().ok()?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    text.lines().map(str::trim).find(|line| !line.is_empty()).map(str::to_owned)
}

/// Returns the bytes of memory that are free or used by the page cache.
pub(crate) fn available_memory() -> Option<u64> {
    kib("MemAvailable")
}

/// Returns a value of /proc/meminfo in bytes.
fn kib(name: &str) -> Option<u64> {
    let value = field("/proc/meminfo", name)?;
    value.strip_suffix("kB")?.trim().parse::<u64>().ok().map(|kib| kib * 1024)
}

/// Returns the value of the first line `name: value` in a file.
fn field(path: &str, name: &str) -> Option<String> {
    let text = read_to_string(path).ok()?;
    text.lines().find_map(|line| {
        let (key, value) = line.split_once(':')?;
        (key.trim() == name).then(|| value.trim().to_owned())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn machine_is_described() {
        assert!(describe().contains("cores"));
        assert!(available_memory().unwrap() > 0);
        assert_eq!(first_line(Command::new("echo").arg("\n a ")), Some("a".into()));
        assert_eq!(first_line(&mut Command::new("no-such-program")), None);
    }
}
