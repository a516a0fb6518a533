//! Ctrl-C and other signals.

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

/// The signal that stopped the run; 0 while there was none.
static STOPPED_BY: AtomicI32 = AtomicI32::new(0);
/// The run looks at the flag.
static HEEDED: AtomicBool = AtomicBool::new(false);
static CANCEL: LazyLock<Cancel> = LazyLock::new(Cancel::default);

/// A run that looks at the flag mostly ends within a fifth of a second. Where it waits for a disk that
/// does not answer, or a device, it is ended after so long.
const PATIENCE: Duration = Duration::from_secs(2);
/// How long a run may take from its last output to its end, to have ended well.
const AT_ITS_END: Duration = Duration::from_millis(200);
/// The exit code after [`ORDERLY`].
const INTERRUPTED: u8 = 130;
/// The signals by which users end runs. After any other one the process ends by that signal, as it would without a handler,
/// so that whoever started it sees which one it was.
const ORDERLY: [i32; 3] = [SIGINT, SIGTERM, SIGHUP];

/// Handles signals from here on: those that would end the process stop the run, which then leaves nothing behind. A
/// signal that is ignored stays ignored. A file that would become larger than is allowed is an error of writing, not the
/// end of the process (SIGXFSZ). Nor does anything stay behind where a library aborts.
///
/// # Errors
/// If that is not possible.
pub(crate) fn handle_signals() -> Result<()> {
    let cannot = |error| anyhow!("cannot handle signals: {}", merganser_io::reason(&error));
    if !is_ignored(SIGXFSZ) {
        // A handler that does nothing much: unlike one that is ignored, programs started from here would
        // not inherit it.
        let noted = Arc::new(AtomicBool::new(false));
        signal_hook::flag::register(SIGXFSZ, noted).map_err(cannot)?;
    }
    merganser_run::end_well_on_abort(merganser_io::remove_temporaries).map_err(cannot)?;
    let signals = Signals::new(ending_signals()).map_err(cannot)?;
    merganser_run::start(move || wait_for(signals))?;
    Ok(())
}

/// Whether the user stopped the run: whatever else came of it, that is what to say.
pub(crate) fn happened() -> bool {
    STOPPED_BY.load(Ordering::Acquire) != 0
}

/// Says that the run was stopped, and returns its exit code or ends the process by the signal.
pub(crate) fn end(console: &Console) -> ExitCode {
    merganser_io::remove_temporaries();
    match is_to_be_told() {
        true => console.error(message()),
        // The thread that waits for signals is about to say it and to end the process.
        false => thread::sleep(PATIENCE),
    }
    end_after(b"");
    ExitCode::from(INTERRUPTED)
}

/// What to say of a run that was stopped.
fn message() -> String {
    let signal = STOPPED_BY.load(Ordering::Acquire);
    match signal_name(signal) {
        _ if ORDERLY.contains(&signal) => "interrupted".to_owned(),
        Some(name) => format!("interrupted by {name}"),
        None => format!("interrupted by signal {signal}"),
    }
}

/// Says a line, unless it is empty, and ends the process by the signal that stopped it, unless an exit code is to tell.
fn end_after(line: &[u8]) {
    let signal = STOPPED_BY.load(Ordering::Acquire);
    if !ORDERLY.contains(&signal) {
        end_by(signal, line);
    }
}

/// A flag that Ctrl-C (and any other signal that would end the process) sets, so that the run ends within moments and cleans
/// up. Before this is called, and the second time, the process ends at once.
pub(crate) fn cancel_on_interrupt() -> Cancel {
    HEEDED.store(true, Ordering::Release);
    CANCEL.clone()
}

/// Stops the run at the first signal, and ends the process should that take too long or a second one
/// come.
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
        // A run that was at its end is no interrupted one.
        thread::sleep(AT_ITS_END);
    }
    let line = match is_to_be_told() {
        true => line.as_bytes(),
        // The run came to its end, too, and says it.
        false => {
            thread::sleep(PATIENCE);
            b""
        }
    };
    end_after(line);
    end_at_once(INTERRUPTED.into(), line)
}
