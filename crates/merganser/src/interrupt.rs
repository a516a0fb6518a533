//! Ctrl-C and other signals.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, LazyLock};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Result, anyhow};
use merganser_run::{Cancel, end_at_once, is_to_be_told};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGXFSZ};
use signal_hook::iterator::Signals;

/// The user stopped the run.
static INTERRUPTED: AtomicBool = AtomicBool::new(false);
/// The run looks at the flag.
static HEEDED: AtomicBool = AtomicBool::new(false);
static CANCEL: LazyLock<Cancel> = LazyLock::new(Cancel::default);

/// A run that looks at the flag mostly ends within a fifth of a second. Where it waits for a disk that
/// does not answer, or a device, it is ended after so long.
const PATIENCE: Duration = Duration::from_secs(2);
/// How long a run may take from its last output to its end, to have ended well.
const AT_ITS_END: Duration = Duration::from_millis(200);
const INTERRUPTED_CODE: i32 = 130;

/// Has signals handled from here on: Ctrl-C, SIGTERM and SIGHUP stop the run. A file that would
/// become larger than is allowed is an error of writing, not the end of the process (SIGXFSZ). Nor does
/// anything stay behind where a library aborts.
///
/// # Errors
/// If that is not possible.
pub(crate) fn handle_signals() -> Result<()> {
    let cannot = |error| anyhow!("cannot handle signals: {}", merganser_io::reason(&error));
    // A handler that does nothing much: unlike one that is ignored, programs started from here would
    // not inherit it.
    let noted = Arc::new(AtomicBool::new(false));
    signal_hook::flag::register(SIGXFSZ, noted).map_err(cannot)?;
    merganser_run::end_well_on_abort(merganser_io::remove_temporaries).map_err(cannot)?;
    let signals = Signals::new([SIGINT, SIGTERM, SIGHUP]).map_err(cannot)?;
    merganser_run::start(move || wait_for(signals))?;
    Ok(())
}

/// Whether the user stopped the run: whatever else came of it, that is what to say.
pub(crate) fn happened() -> bool {
    INTERRUPTED.load(Ordering::Acquire)
}

/// A flag that Ctrl-C (and SIGTERM, SIGHUP) sets, so that the run ends within moments and cleans
/// up. Before this is called, and the second time, the process ends at once.
pub(crate) fn cancel_on_interrupt() -> Cancel {
    HEEDED.store(true, Ordering::Release);
    CANCEL.clone()
}

/// Stops the run at the first signal, and ends the process should that take too long or a second one
/// come.
fn wait_for(mut signals: Signals) {
    signals.forever().next();
    INTERRUPTED.store(true, Ordering::Release);
    CANCEL.cancel();
    let begun = Instant::now();
    while HEEDED.load(Ordering::Acquire) && begun.elapsed() < PATIENCE {
        if signals.pending().next().is_some() {
            break;
        }
        thread::sleep(Duration::from_millis(10));
    }
    merganser_io::remove_temporaries();
    if merganser_io::outputs_have_appeared() {
        // A run that was at its end is no interrupted one.
        thread::sleep(AT_ITS_END);
    }
    match is_to_be_told() {
        true => end_at_once(INTERRUPTED_CODE, b"error: interrupted"),
        // The run came to its end, too, and says it.
        false => thread::sleep(PATIENCE),
    }
    end_at_once(INTERRUPTED_CODE, b"")
}
