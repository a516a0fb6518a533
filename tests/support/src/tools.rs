//! Independent tools that may be installed.

use std::path::Path;
use std::process::{Command, Stdio};

/// Whether all these programs are installed. Prints a message for a missing one, and panics if `CI` is set.
pub fn installed(programs: &[&str]) -> bool {
    programs.iter().all(|program| {
        let found = by_chance(program);
        let ci = std::env::var("CI").is_ok_and(|value| value == "true");
        assert!(found || !ci, "{program} is not installed, and CI needs it");
        found
    })
}

/// Whether an optional program, which CI does not have, is installed. Prints a message if not.
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

/// Runs a shell command in a directory, asserts success and returns stdout.
#[track_caller]
pub fn shell(directory: &Path, command: &str) -> Vec<u8> {
    let output = Command::new("sh").args(["-c", command]).current_dir(directory).output().unwrap();
    let (stdout, stderr) = (&output.stdout, &output.stderr);
    let texts = [stdout, stderr].map(|text| String::from_utf8_lossy(text));
    assert!(output.status.success(), "{command}\n{}\n{}", texts[0], texts[1]);
    output.stdout
}
