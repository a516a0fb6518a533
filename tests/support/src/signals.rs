//! Signals with the default actions of an interactive shell.
#![allow(unsafe_code, reason = "libc::signal is unsafe")]

use std::process::{Child, Command};
use std::sync::Once;
use std::time::Duration;

use crate::{Dir, Ran};

/// Resets the signals of this process, so that they end the programs that it starts: shells ignore SIGINT and SIGQUIT
/// for background jobs of scripts, `nohup` ignores SIGHUP, and the program keeps ignored signals ignored.
pub fn default_signals() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        for signal in [libc::SIGHUP, libc::SIGINT, libc::SIGQUIT, libc::SIGTERM] {
            // SAFETY: the arguments are plain numbers, and this process has no handlers for these signals.
            unsafe { libc::signal(signal, libc::SIG_DFL) };
        }
    });
}

/// Sends a signal as soon as the program handles signals, however long its start takes.
pub fn signal(child: &Child, name: &str) {
    let status = format!("/proc/{}/status", child.id());
    // Signal n is bit n - 1: HUP is 1, INT 2, TERM 15; the program installs all three handlers at once.
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
    // An emulator handles all signals from its own start on.
    let program = std::fs::read_link(format!("/proc/{}/exe", child.id())).unwrap_or_default();
    if program.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b"qemu-")) {
        std::thread::sleep(Duration::from_secs(3));
    }
    let sent =
        Command::new("sh").args(["-c", &format!("kill -{name} {}", child.id())]).status().unwrap();
    assert!(sent.success());
}

pub fn wait(dir: &Dir, child: Child) -> Ran {
    Ran::new(&child.wait_with_output().unwrap(), dir.root())
}
