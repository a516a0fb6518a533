//! The context of a run, the same for every job.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use crate::device::DeviceChoice;
use crate::{
    Cancel, ConfigError, Progress, Silent, Warnings, available_memory, memory, resolve_threads,
};

/// The context of a run: the resources of the machine that it may use, the receiver of its progress, the list of its
/// warnings, and its cancellation. No result depends on it. Create it when the run starts: the default memory is a
/// share of what is free at that moment.
///
/// ```
/// use merganser_run::{Context, DeviceChoice};
///
/// let context = Context::new().threads(4).memory(8 << 30).device(DeviceChoice::Cpu);
/// assert_eq!((context.threads, context.budget()), (4, 8 << 30));
/// ```
#[derive(Clone)]
#[non_exhaustive]
pub struct Context {
    /// The number of worker threads, at least 1.
    pub threads: usize,
    /// The memory limit of the whole process in bytes; `None` for the default, which
    /// [`budget`](Context::budget) returns.
    pub memory: Option<u64>,
    /// The directory for temporary files.
    pub temp_dir: PathBuf,
    /// The processors that compute.
    pub device: DeviceChoice,
    /// Bytes of memory to use on each GPU; `None` for all that is free.
    pub gpu_memory: Option<u64>,
    /// The receiver of the run's progress.
    pub progress: Arc<dyn Progress>,
    /// The list to which the run adds its warnings.
    pub warnings: Warnings,
    /// The flag that cancels the run.
    pub cancel: Cancel,
    /// The available memory when this was created: a run that has begun to use it must not see
    /// another number.
    available: u64,
}

impl Context {
    /// Returns the defaults: all cores, the default memory of this moment (three quarters of [`available_memory`]), the
    /// system's temporary directory, GPUs if there are any and the input is large enough to pay for
    /// starting them, no receiver of progress, an empty list of warnings, and a new flag.
    pub fn new() -> Context {
        Context {
            threads: resolve_threads(None),
            memory: None,
            temp_dir: std::env::temp_dir(),
            device: DeviceChoice::Auto,
            gpu_memory: None,
            progress: Arc::new(Silent),
            warnings: Warnings::default(),
            cancel: Cancel::default(),
            available: available_memory(),
        }
    }

    /// Sets the number of threads.
    #[must_use]
    pub fn threads(self, threads: usize) -> Context {
        Context { threads, ..self }
    }

    /// Sets the memory limit of the whole process, in bytes.
    #[must_use]
    pub fn memory(self, bytes: u64) -> Context {
        Context { memory: Some(bytes), ..self }
    }

    /// Sets the directory for temporary files.
    #[must_use]
    pub fn temp_dir(self, directory: impl Into<PathBuf>) -> Context {
        Context { temp_dir: directory.into(), ..self }
    }

    /// Sets the processors that compute.
    #[must_use]
    pub fn device(self, device: DeviceChoice) -> Context {
        Context { device, ..self }
    }

    /// Sets the memory to use on each GPU, in bytes.
    #[must_use]
    pub fn gpu_memory(self, bytes: u64) -> Context {
        Context { gpu_memory: Some(bytes), ..self }
    }

    /// Sets the receiver of the run's progress.
    #[must_use]
    pub fn progress(self, progress: impl Progress + 'static) -> Context {
        Context { progress: Arc::new(progress), ..self }
    }

    /// Sets the list to which the run adds its warnings. The caller keeps a clone to read them.
    #[must_use]
    pub fn warnings(self, warnings: &Warnings) -> Context {
        Context { warnings: warnings.clone(), ..self }
    }

    /// Sets the flag that cancels the run. The caller keeps a clone to set it.
    #[must_use]
    pub fn cancel(self, cancel: &Cancel) -> Context {
        Context { cancel: cancel.clone(), ..self }
    }

    /// Returns the memory limit of the whole process, in bytes: the requested one, or three quarters of
    /// [`available`](Context::available).
    pub fn budget(&self) -> u64 {
        self.memory.unwrap_or_else(|| memory::default_share(self.available))
    }

    /// Returns the memory, in bytes, that was available when this was created
    /// ([`available_memory`]), independent of the requested limit.
    pub fn available(&self) -> u64 {
        self.available
    }

    /// Checks that the values are in range.
    ///
    /// # Errors
    /// [`ConfigError`] if `threads` is 0.
    pub fn validate(&self) -> Result<(), ConfigError> {
        match self.threads {
            0 => Err(ConfigError::new("`threads` 0 is out of range: 1 or more")),
            _ => Ok(()),
        }
    }
}

impl Default for Context {
    /// Returns [`Context::new`].
    fn default() -> Context {
        Context::new()
    }
}

impl fmt::Debug for Context {
    /// Writes all fields except `progress`.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Context")
            .field("threads", &self.threads)
            .field("memory", &self.memory)
            .field("temp_dir", &self.temp_dir)
            .field("device", &self.device)
            .field("gpu_memory", &self.gpu_memory)
            .field("warnings", &self.warnings)
            .field("cancel", &self.cancel)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::Context;

    #[test]
    fn the_default_memory_stays_what_it_was() {
        let context = Context::new();
        let budget = context.budget();
        assert_eq!(budget, context.available() / 4 * 3);
        let taken = vec![1u8; 64 << 20];
        let copy = context.clone().threads(3);
        assert_eq!([context.budget(), copy.budget()], [budget; 2], "{}", taken[1 << 20]);
        let limited = context.memory(7 << 30);
        assert_eq!((limited.budget(), limited.available()), (7 << 30, copy.available()));
    }

    #[test]
    fn no_thread_is_refused_by_the_field_s_name() {
        assert!(Context::new().validate().is_ok());
        let error = Context::new().threads(0).validate().unwrap_err();
        assert_eq!(error.to_string(), "`threads` 0 is out of range: 1 or more");
    }
}
