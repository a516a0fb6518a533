//! Signals as a shell that somebody types into leaves them.
#![allow(unsafe_code, reason = "a call of the system")]

use std::process::{Child, Command};
use std::sync::Once;
use std::time::Duration;

use crate::{Dir, Ran};

/// Has signals end the programs that this process starts: shells have what scripts run in the background ignore SIGINT and
/// SIGQUIT, and `nohup` SIGHUP, and the program keeps to that.
pub fn default_signals() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        for signal in [libc::SIGHUP, libc::SIGINT, libc::SIGQUIT, libc::SIGTERM] {
            // SAFETY: plain numbers; this process handles none of these signals.
            unsafe { libc::signal(signal, libc::SIG_DFL) };
        }
    });
}

/// Sends a signal once the program would take it: however long it takes to start.
pub fn signal(child: &Child, name: &str) {
    let status = format!("/proc/{}/status", child.id());
    // Signal n is bit n - 1: HUP is 1, INT 2, TERM 15, and all three are taken together.
    let taken = || {
        let text = std::fs::read_to_string(&status).unwrap_or_default();
        let mask = text.lines().find_map(|line| line.strip_prefix("SigCgt:"));
        u64::from_str_radix(mask.unwrap_or("0").trim(), 16).unwrap() & 0x4003 == 0x4003
    };
    for _ in 0..12_000 {
        if taken() {
            break;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    let sent =
        Command::new("sh").args(["-c", &format!("kill -{name} {}", child.id())]).status().unwrap();
    assert!(sent.success());
}

pub fn wait(dir: &Dir, child: Child) -> Ran {
    Ran::new(&child.wait_with_output().unwrap(), dir.root())
}
