//! What a run may use of the machine, the same for every job.

use std::path::PathBuf;

use crate::device::DeviceChoice;
use crate::{ConfigError, Warnings, available_memory, memory, resolve_threads};

/// What a run may use of the machine. No result depends on any of it. To be made when the run is: the
/// default memory is a part of what is free at that moment.
///
/// ```
/// use merganser_run::{DeviceChoice, Resources};
///
/// let resources = Resources::new().threads(4).memory(8 << 30).device(DeviceChoice::Cpu);
/// assert_eq!((resources.threads, resources.budget()), (4, 8 << 30));
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Resources {
    /// Worker threads in all, at least 1.
    pub threads: usize,
    /// Bytes of memory that the whole process may use; `None` for the default, which
    /// [`budget`](Resources::budget) tells.
    pub memory: Option<u64>,
    /// Directory of temporary files.
    pub temp_dir: PathBuf,
    /// Which processors compute.
    pub device: DeviceChoice,
    /// Bytes of memory to use on each GPU, `None` for what is free.
    pub gpu_memory: Option<u64>,
    /// Where the run's warnings go.
    pub warnings: Warnings,
    /// What memory there was to use when these were made: a run that has begun to take it must not find
    /// another number.
    available: u64,
}

impl Resources {
    /// All cores, the default memory of this moment (three quarters of [`available_memory`]), the
    /// system's temporary directory, and GPUs if there are any and the input is large enough to pay for
    /// starting them.
    pub fn new() -> Resources {
        Resources {
            threads: resolve_threads(None),
            memory: None,
            temp_dir: std::env::temp_dir(),
            device: DeviceChoice::Auto,
            gpu_memory: None,
            warnings: Warnings::default(),
            available: available_memory(),
        }
    }

    /// Takes so many threads in all.
    #[must_use]
    pub fn threads(self, threads: usize) -> Resources {
        Resources { threads, ..self }
    }

    /// Takes so many bytes of memory for the whole process.
    #[must_use]
    pub fn memory(self, bytes: u64) -> Resources {
        Resources { memory: Some(bytes), ..self }
    }

    /// Puts temporary files into this directory.
    #[must_use]
    pub fn temp_dir(self, directory: impl Into<PathBuf>) -> Resources {
        Resources { temp_dir: directory.into(), ..self }
    }

    /// Computes on these processors.
    #[must_use]
    pub fn device(self, device: DeviceChoice) -> Resources {
        Resources { device, ..self }
    }

    /// Takes so many bytes of memory on each GPU.
    #[must_use]
    pub fn gpu_memory(self, bytes: u64) -> Resources {
        Resources { gpu_memory: Some(bytes), ..self }
    }

    /// Adds the run's warnings to these.
    #[must_use]
    pub fn warnings(self, warnings: &Warnings) -> Resources {
        Resources { warnings: warnings.clone(), ..self }
    }

    /// The bytes of memory that the whole process may use: what was asked for, or three quarters of
    /// [`available`](Resources::available).
    pub fn budget(&self) -> u64 {
        self.memory.unwrap_or_else(|| memory::default_share(self.available))
    }

    /// The bytes of memory that the process might use when these resources were made
    /// ([`available_memory`]), whatever was asked for.
    pub fn available(&self) -> u64 {
        self.available
    }

    /// Checks the ranges.
    ///
    /// # Errors
    /// [`ConfigError`] if there is no thread.
    pub fn validate(&self) -> Result<(), ConfigError> {
        match self.threads {
            0 => Err(ConfigError::new("`threads` 0 is out of range: 1 or more")),
            _ => Ok(()),
        }
    }
}

impl Default for Resources {
    /// As [`Resources::new`].
    fn default() -> Resources {
        Resources::new()
    }
}

#[cfg(test)]
mod tests {
    use super::Resources;

    #[test]
    fn the_default_memory_stays_what_it_was() {
        let resources = Resources::new();
        let budget = resources.budget();
        assert_eq!(budget, resources.available() / 4 * 3);
        let taken = vec![1u8; 64 << 20];
        let copy = resources.clone().threads(3);
        assert_eq!([resources.budget(), copy.budget()], [budget; 2], "{}", taken[1 << 20]);
        let limited = resources.memory(7 << 30);
        assert_eq!((limited.budget(), limited.available()), (7 << 30, copy.available()));
    }

    #[test]
    fn no_thread_is_refused_by_the_field_s_name() {
        assert!(Resources::new().validate().is_ok());
        let error = Resources::new().threads(0).validate().unwrap_err();
        assert_eq!(error.to_string(), "`threads` 0 is out of range: 1 or more");
    }
}
