//! Runs a job without the interpreter's lock, and checks for signals and reports progress while the job runs.

use std::ffi::CString;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex};
use std::thread;
use std::time::Duration;

use merganser_run::locks::{lock, wait_timeout};
use merganser_run::{Cancel, Context, Progress, Unit, Warnings};
use pyo3::prelude::*;
use pyo3::types::PyBool;

use crate::errors::{Failure, mistyped, panicked, raise, with_keywords};

/// The polling interval for signals and progress.
const TURN: Duration = Duration::from_millis(50);

/// Runs `job` on its own thread. Calls `progress`, if given, with the name of the stage, the amount done and the
/// total amount (if known). An exception raised by `progress`, or Ctrl-C, cancels the job. If the job succeeds, the
/// messages that it added to the warnings of `context` are issued as Python warnings; after an error, they are dropped.
pub(crate) fn run<T: Send, E: Failure>(
    py: Python<'_>,
    context: &Context,
    progress: Option<&Bound<'_, PyAny>>,
    job: impl FnOnce(&Context) -> Result<T, E> + Send,
) -> PyResult<T> {
    let progress = shown(progress)?;
    let (told, cancel) = (Arc::<Told>::default(), Cancel::default());
    let mut context = context.clone().cancel(&cancel);
    context.progress = told.clone();
    let (result, ended) = (Mutex::new(None), Condvar::new());
    let (found, raised) = thread::scope(|scope| {
        scope.spawn(|| {
            let done = catch_unwind(AssertUnwindSafe(|| job(&context)));
            *lock(&result) = Some(done);
            ended.notify_all();
        });
        let mut raised = None;
        loop {
            let done = py.detach(|| {
                let waiting = lock(&result);
                match waiting.is_some() {
                    true => true,
                    false => wait_timeout(&ended, waiting, TURN).is_some(),
                }
            });
            if raised.is_none() {
                raised = py.check_signals().and_then(|()| told.tell(progress.as_ref())).err();
                if raised.is_some() {
                    cancel.cancel();
                }
            }
            if done {
                break (lock(&result).take(), raised);
            }
        }
    });
    progress.as_ref().map(close).transpose()?;
    match (raised, found) {
        (Some(raised), _) => Err(raised),
        (None, Some(Ok(done))) => {
            let done = done.map_err(|error| raise(py, &error))?;
            warn(py, &context.warnings)?;
            Ok(done)
        }
        // The job panicked.
        (None, _) => Err(panicked(py)),
    }
}

/// Issues the messages in `warnings` as Python warnings of the class `ResultWarning`.
///
/// # Errors
/// If Python's warning filters turn warnings into exceptions.
pub(crate) fn warn(py: Python<'_>, warnings: &Warnings) -> PyResult<()> {
    let messages = warnings.all();
    if messages.is_empty() {
        return Ok(());
    }
    let category = py.import("merganser._errors")?.getattr("ResultWarning")?;
    for message in messages {
        let message = CString::new(with_keywords(&message).replace('\0', "\\0"))?;
        PyErr::warn(py, &category, &message, 1)?;
    }
    Ok(())
}

/// The progress of a job that runs while the caller does other things, and the callback that it is passed to.
pub(crate) struct Watch {
    told: Arc<Told>,
    progress: Py<PyAny>,
}

impl Watch {
    /// Returns a watch for the argument `progress`; `None` if there is no callback.
    pub(crate) fn new(progress: Option<&Bound<'_, PyAny>>) -> PyResult<Option<Watch>> {
        let progress = shown(progress)?;
        Ok(progress.map(|progress| Watch { told: Arc::default(), progress: progress.unbind() }))
    }

    /// Returns the receiver of the job's progress.
    pub(crate) fn receiver(&self) -> Arc<dyn Progress> {
        self.told.clone()
    }

    /// Calls the callback if there is news.
    pub(crate) fn tell(&self, py: Python<'_>) -> PyResult<()> {
        self.told.tell(Some(self.progress.bind(py)))
    }

    /// Calls the callback a last time, and closes a bar.
    pub(crate) fn close(&self, py: Python<'_>) -> PyResult<()> {
        self.tell(py)?;
        close(self.progress.bind(py))
    }
}

/// Closes a progress bar.
fn close(progress: &Bound<'_, PyAny>) -> PyResult<()> {
    if progress.hasattr("close")? {
        progress.call_method0("close")?;
    }
    Ok(())
}

/// Returns the progress callback: the given one, a bar for `True`, none for `False` and `None`.
fn shown<'py>(progress: Option<&Bound<'py, PyAny>>) -> PyResult<Option<Bound<'py, PyAny>>> {
    let Some(progress) = progress else { return Ok(None) };
    match progress.cast::<PyBool>() {
        Ok(wanted) if wanted.is_true() => {
            Ok(Some(progress.py().import("merganser")?.getattr("Bar")?.call0()?))
        }
        Ok(_) => Ok(None),
        Err(_) if progress.is_callable() => Ok(Some(progress.clone())),
        Err(_) => {
            let kind = progress.get_type().name()?;
            Err(mistyped("progress", format!("give True, False or a function, not {kind}")))
        }
    }
}

/// The progress that a job has reported.
#[derive(Debug, Default)]
struct Told(Mutex<Stage>);

#[derive(Clone, Debug, Default, PartialEq)]
struct Stage {
    name: String,
    done: u64,
    total: Option<u64>,
    /// Whether this state has not yet been passed to the callback.
    is_new: bool,
}

impl Progress for Told {
    fn stage(&self, name: &str, _unit: Unit, total: Option<u64>) {
        *lock(&self.0) = Stage { name: name.to_owned(), done: 0, total, is_new: true };
    }

    fn advance(&self, amount: u64) {
        let mut stage = lock(&self.0);
        stage.done += amount;
        stage.is_new = true;
    }

    fn finish(&self) {}
}

impl Told {
    fn tell(&self, progress: Option<&Bound<'_, PyAny>>) -> PyResult<()> {
        let Some(progress) = progress else { return Ok(()) };
        let stage = {
            let mut stage = lock(&self.0);
            let told = stage.clone();
            stage.is_new = false;
            told
        };
        if stage.is_new {
            progress.call1((stage.name, stage.done, stage.total))?;
        }
        Ok(())
    }
}
