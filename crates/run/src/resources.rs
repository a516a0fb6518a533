//! The resources of the machine that a run may use, the same for every job.

use std::path::PathBuf;

use crate::device::DeviceChoice;
use crate::{ConfigError, Warnings, available_memory, memory, resolve_threads};

/// The resources of the machine that a run may use. No result depends on them. Create it when the run starts: the
/// default memory is a share of what is free at that moment.
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
    /// The number of worker threads, at least 1.
    pub threads: usize,
    /// The memory limit of the whole process in bytes; `None` for the default, which
    /// [`budget`](Resources::budget) returns.
    pub memory: Option<u64>,
    /// The directory for temporary files.
    pub temp_dir: PathBuf,
    /// The processors that compute.
    pub device: DeviceChoice,
    /// Bytes of memory to use on each GPU; `None` for all that is free.
    pub gpu_memory: Option<u64>,
    /// The list to which the run adds its warnings.
    pub warnings: Warnings,
    /// The available memory when this was created: a run that has begun to use it must not see
    /// another number.
    available: u64,
}

impl Resources {
    /// Returns the defaults: all cores, the default memory of this moment (three quarters of [`available_memory`]), the
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

    /// Sets the number of threads.
    #[must_use]
    pub fn threads(self, threads: usize) -> Resources {
        Resources { threads, ..self }
    }

    /// Sets the memory limit of the whole process, in bytes.
    #[must_use]
    pub fn memory(self, bytes: u64) -> Resources {
        Resources { memory: Some(bytes), ..self }
    }

    /// Sets the directory for temporary files.
    #[must_use]
    pub fn temp_dir(self, directory: impl Into<PathBuf>) -> Resources {
        Resources { temp_dir: directory.into(), ..self }
    }

    /// Sets the processors that compute.
    #[must_use]
    pub fn device(self, device: DeviceChoice) -> Resources {
        Resources { device, ..self }
    }

    /// Sets the memory to use on each GPU, in bytes.
    #[must_use]
    pub fn gpu_memory(self, bytes: u64) -> Resources {
        Resources { gpu_memory: Some(bytes), ..self }
    }

    /// Sets the list to which the run adds its warnings.
    #[must_use]
    pub fn warnings(self, warnings: &Warnings) -> Resources {
        Resources { warnings: warnings.clone(), ..self }
    }

    /// Returns the memory limit of the whole process, in bytes: the requested one, or three quarters of
    /// [`available`](Resources::available).
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

impl Default for Resources {
    /// Returns [`Resources::new`].
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
