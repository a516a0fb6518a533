//! Runs one command and reports its cost.
//!
//! The kernel adds up the time and the peak memory of all children of a process that have been waited for. Therefore
//! each command is run by a new process of this program (`merganser-bench measure`) that has no other children.

use anyhow::{Context, Result, bail};
use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::TimeVal;
use serde_json::{Value, json};
use std::ffi::OsString;
use std::fs::File;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

/// `merganser-bench measure --report FILE -- COMMAND…`
#[derive(clap::Args)]
pub(crate) struct Args {
    /// JSON file for the report
    #[arg(long)]
    report: PathBuf,
    /// The command and its arguments
    #[arg(required = true, last = true)]
    command: Vec<OsString>,
}

/// The cost of a run: the command and its children.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Cost {
    /// Seconds from exec to exit.
    pub(crate) wall: f64,
    /// Seconds of user and system time.
    pub(crate) cpu: f64,
    /// Peak resident size of the largest process, in bytes.
    pub(crate) peak: u64,
}

/// Runs the command and writes the report; succeeds if the command could be started.
pub(crate) fn run(args: &Args) -> Result<()> {
    let (program, arguments) = args.command.split_first().context("no command given")?;
    let start = Instant::now();
    let status = Command::new(program)
        .args(arguments)
        .status()
        .with_context(|| format!("cannot run {}", program.display()))?;
    let wall = start.elapsed().as_secs_f64();
    let usage = getrusage(UsageWho::RUSAGE_CHILDREN).context("cannot read the children's usage")?;
    let report = json!({
        "wall_seconds": wall,
        "user_seconds": seconds(usage.user_time()),
        "system_seconds": seconds(usage.system_time()),
        // Linux reports KiB.
        "peak_bytes": usage.max_rss() * 1024,
        "exit_code": status.code(),
        "signal": status.signal(),
    });
    std::fs::write(&args.report, report.to_string())
        .with_context(|| format!("cannot write {}", args.report.display()))
}

fn seconds(time: TimeVal) -> f64 {
    time.tv_sec() as f64 + time.tv_usec() as f64 / 1e6
}

/// Runs `command` in `folder` through a new process; returns its cost and its stdout. The files `report`, `stdout`
/// and `stderr` are left in `folder`.
///
/// # Errors
///
/// If the command cannot be started or fails; the message has the last lines of its stderr.
pub(crate) fn measure(command: &[OsString], folder: &Path) -> Result<(Cost, String)> {
    let report = folder.join("report");
    let create = |name: &str| File::create(folder.join(name)).context("cannot create a log");
    let status = Command::new(std::env::current_exe().context("cannot find this program")?)
        .args(["measure", "--report"])
        .arg(&report)
        .arg("--")
        .args(command)
        .current_dir(folder)
        .stdin(Stdio::null())
        .stdout(create("stdout")?)
        .stderr(create("stderr")?)
        .status()
        .context("cannot start this program again")?;
    let read = |name: &str| std::fs::read(folder.join(name)).context("cannot read a log");
    let stderr = String::from_utf8_lossy(&read("stderr")?).into_owned();
    if !status.success() {
        bail!("{}", tail(&stderr));
    }
    let cost = parse(&std::fs::read_to_string(&report).context("cannot read the report")?)
        .with_context(|| tail(&stderr))?;
    Ok((cost, String::from_utf8_lossy(&read("stdout")?).into_owned()))
}

fn parse(report: &str) -> Result<Cost> {
    let report: Value = serde_json::from_str(report).context("the report is not JSON")?;
    match (report["exit_code"].as_i64(), report["signal"].as_i64()) {
        (Some(0), _) => {}
        (Some(code), _) => bail!("exit code {code}"),
        (None, signal) => bail!("killed by signal {}", signal.unwrap_or(0)),
    }
    let number = |key: &str| report[key].as_f64().with_context(|| format!("no {key} in report"));
    Ok(Cost {
        wall: number("wall_seconds")?,
        cpu: number("user_seconds")? + number("system_seconds")?,
        peak: number("peak_bytes")? as u64,
    })
}

/// Returns the last lines of a log, joined to one line.
fn tail(log: &str) -> String {
    let lines: Vec<&str> = log.lines().filter(|line| !line.trim().is_empty()).collect();
    lines[lines.len().saturating_sub(3)..].join(" / ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn report_is_parsed_and_failures_are_errors() {
        let report = r#"{"wall_seconds":1.5,"user_seconds":2.0,"system_seconds":0.25,
            "peak_bytes":4096,"exit_code":0,"signal":null}"#;
        assert_eq!(parse(report).unwrap(), Cost { wall: 1.5, cpu: 2.25, peak: 4096 });
        let failed = report.replace("\"exit_code\":0", "\"exit_code\":3");
        assert!(parse(&failed).unwrap_err().to_string().contains("exit code 3"));
        let killed =
            report.replace("\"exit_code\":0,\"signal\":null", "\"exit_code\":null,\"signal\":9");
        assert!(parse(&killed).unwrap_err().to_string().contains("signal 9"));
    }

    #[test]
    fn run_reports_what_a_command_cost() {
        let folder = tempfile::tempdir().unwrap();
        let report = folder.path().join("report");
        let command = ["sh", "-c", "sleep 0.05; exit 0"].map(OsString::from).to_vec();
        run(&Args { report: report.clone(), command }).unwrap();
        let cost = parse(&std::fs::read_to_string(&report).unwrap()).unwrap();
        assert!(cost.wall >= 0.05);
        assert!(cost.peak > 100_000);
    }

    #[test]
    fn tail_keeps_the_last_lines() {
        assert_eq!(tail("a\nb\n\nc\nd\n"), "b / c / d");
        assert_eq!(tail(""), "");
    }
}
