//! Handling of Ctrl-C and other signals.

use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};
use std::sync::{Arc, LazyLock};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Result, anyhow};
use merganser_run::{Cancel, end_at_once, end_by, ending_signals, is_ignored, is_to_be_told};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGXFSZ};
use signal_hook::iterator::Signals;
use signal_hook::low_level::signal_name;

use crate::console::Console;

/// The signal that stopped the run, 0 if there was none.
static STOPPED_BY: AtomicI32 = AtomicI32::new(0);
/// Whether the run checks the cancel flag.
static HEEDED: AtomicBool = AtomicBool::new(false);
static CANCEL: LazyLock<Cancel> = LazyLock::new(Cancel::default);

/// The time after which a run that does not end is ended. A run that checks the flag mostly ends within 0.2 s,
/// unless it waits for a disk that does not answer, or for a device.
const PATIENCE: Duration = Duration::from_secs(2);
/// The time that a run may need to end after its last output has appeared.
const AT_ITS_END: Duration = Duration::from_millis(200);
/// The exit code after a signal in [`ORDERLY`].
const INTERRUPTED: u8 = 130;
/// The signals that users send to end runs. After any other signal, the process ends by that signal as it would
/// without a handler, so that its parent sees the signal.
const ORDERLY: [i32; 3] = [SIGINT, SIGTERM, SIGHUP];

/// Starts handling signals: those that would end the process stop the run, which then leaves no temporary files. A
/// signal that is ignored stays ignored. A file that exceeds the size limit (SIGXFSZ) is an error of writing and does
/// not end the process. Temporary files are also removed if a library aborts.
///
/// # Errors
/// If handlers cannot be installed.
pub(crate) fn handle_signals() -> Result<()> {
    let cannot = |error| anyhow!("cannot handle signals: {}", merganser_io::reason(&error));
    if !is_ignored(SIGXFSZ) {
        // A handler without effect: unlike an ignored signal, child processes do not inherit it.
        let noted = Arc::new(AtomicBool::new(false));
        signal_hook::flag::register(SIGXFSZ, noted).map_err(cannot)?;
    }
    merganser_run::end_well_on_abort(merganser_io::remove_temporaries).map_err(cannot)?;
    let signals = Signals::new(ending_signals()).map_err(cannot)?;
    merganser_run::start(move || wait_for(signals))?;
    Ok(())
}

/// Whether the user stopped the run. If so, this is reported instead of any other error.
pub(crate) fn happened() -> bool {
    STOPPED_BY.load(Ordering::Acquire) != 0
}

/// Reports that the run was stopped, and returns its exit code or ends the process by the signal.
pub(crate) fn end(console: &Console) -> ExitCode {
    merganser_io::remove_temporaries();
    if !console.last_error(message()) {
        // The thread that waits for signals is about to report it and to end the process.
        thread::sleep(PATIENCE);
    }
    end_after(b"");
    ExitCode::from(INTERRUPTED)
}

/// Returns the message of a run that was stopped.
fn message() -> String {
    let signal = STOPPED_BY.load(Ordering::Acquire);
    match signal_name(signal) {
        _ if ORDERLY.contains(&signal) => "interrupted".to_owned(),
        Some(name) => format!("interrupted by {name}"),
        None => format!("interrupted by signal {signal}"),
    }
}

/// Prints a line, unless it is empty, and ends the process by the signal that stopped it. Returns if the run ends with
/// an exit code instead.
fn end_after(line: &[u8]) {
    let signal = STOPPED_BY.load(Ordering::Acquire);
    if !ORDERLY.contains(&signal) {
        end_by(signal, line);
    }
}

/// Returns the flag that is set by Ctrl-C, and by any other signal that would end the process.
pub(crate) fn cancellation() -> Cancel {
    CANCEL.clone()
}

/// Lets the run end by itself after a signal, soon and without temporary files. Before this is called, and at the
/// second signal, the process ends at once. Returns the [flag](cancellation).
pub(crate) fn cancel_on_interrupt() -> Cancel {
    HEEDED.store(true, Ordering::Release);
    cancellation()
}

/// Stops the run at the first signal, and ends the process at a second one or if the run takes too long to end.
fn wait_for(mut signals: Signals) {
    let Some(signal) = signals.forever().next() else { return };
    STOPPED_BY.store(signal, Ordering::Release);
    CANCEL.cancel();
    let begun = Instant::now();
    let line = format!("error: {}", message());
    while HEEDED.load(Ordering::Acquire) && begun.elapsed() < PATIENCE {
        if signals.pending().next().is_some() {
            break;
        }
        thread::sleep(Duration::from_millis(10));
    }
    merganser_io::remove_temporaries();
    if merganser_io::outputs_have_appeared() {
        // Let a run that was about to end anyway end normally.
        thread::sleep(AT_ITS_END);
    }
    let line = match is_to_be_told() {
        true => line.as_bytes(),
        // The main thread has ended the run, too, and reports it.
        false => {
            thread::sleep(PATIENCE);
            b""
        }
    };
    end_after(line);
    end_at_once(INTERRUPTED.into(), line)
}
