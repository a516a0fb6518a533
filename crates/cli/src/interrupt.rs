//! Ctrl-C.

use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::{Context, Result};
use merganser_run::Cancel;

/// The user stopped the run.
static INTERRUPTED: AtomicBool = AtomicBool::new(false);

/// Whether the user stopped the run: whatever else came of it, that is what to say.
pub(crate) fn happened() -> bool {
    INTERRUPTED.load(Ordering::Acquire)
}

/// A flag that Ctrl-C (and SIGTERM, SIGHUP) sets, so that the run ends within moments and cleans
/// up. The second time the process ends at once.
///
/// # Errors
/// If the handler cannot be installed.
pub(crate) fn cancel_on_interrupt() -> Result<Cancel> {
    let cancel = Cancel::default();
    let flag = cancel.clone();
    let stop = move || {
        if INTERRUPTED.swap(true, Ordering::AcqRel) {
            #[allow(clippy::exit, reason = "the user asked twice; workers may be stuck in a read")]
            std::process::exit(130);
        }
        flag.cancel();
    };
    ctrlc::set_handler(stop).context("cannot handle Ctrl-C")?;
    Ok(cancel)
}
