//! Signals as a shell that somebody types into leaves them.
#![allow(unsafe_code, reason = "a call of the system")]

use std::sync::Once;

/// Has signals end the programs that this process starts: shells have what scripts run in the background ignore SIGINT and
/// SIGQUIT, and `nohup` SIGHUP, and the program keeps to that.
pub(crate) fn default_signals() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        for signal in [libc::SIGHUP, libc::SIGINT, libc::SIGQUIT, libc::SIGTERM] {
            // SAFETY: plain numbers; this process handles none of these signals.
            unsafe { libc::signal(signal, libc::SIG_DFL) };
        }
    });
}
