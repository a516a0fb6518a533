//! Independent tools, where they are installed.

use std::path::Path;
use std::process::{Command, Stdio};

/// Whether all of these programs are installed. If one is not, says so; in CI that is a failure.
pub fn installed(programs: &[&str]) -> bool {
    programs.iter().all(|program| {
        let found = by_chance(program);
        let ci = std::env::var("CI").is_ok_and(|value| value == "true");
        assert!(found || !ci, "{program} is not installed, and CI needs it");
        found
    })
}

/// Whether this program, which CI does without, happens to be installed. If not, says so.
pub fn by_chance(program: &str) -> bool {
    let found = Command::new("sh")
        .args(["-c", &format!("command -v {program}")])
        .stdout(Stdio::null())
        .status()
        .is_ok_and(|status| status.success());
    if !found {
        eprintln!("skipped: {program} is not installed");
    }
    found
}

/// Runs a shell command in a directory; it must succeed. Gives its stdout.
#[track_caller]
pub fn shell(directory: &Path, command: &str) -> Vec<u8> {
    let output = Command::new("sh").args(["-c", command]).current_dir(directory).output().unwrap();
    let (stdout, stderr) = (&output.stdout, &output.stderr);
    let texts = [stdout, stderr].map(|text| String::from_utf8_lossy(text));
    assert!(output.status.success(), "{command}\n{}\n{}", texts[0], texts[1]);
    output.stdout
}
