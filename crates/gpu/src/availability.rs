//! Whether CUDA can be used, and the reason if not.

mod driver;
mod probe;

pub use driver::{CudaVersion, DriverVersion};
pub(crate) use probe::{driver_version, runtime_version};

use crate::build_info::build_info;
use std::sync::OnceLock;
use std::time::{Duration, Instant};

/// Whether this program can use CUDA on this machine. The result is fixed for the lifetime of the process.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Availability {
    /// The program was built without the feature `cuda`.
    NotBuiltIn,
    /// `MERGANSER_DISABLE_CUDA` is set to something other than 0.
    Disabled,
    /// There is no driver.
    NoDriver {
        /// The CUDA version of this build.
        built_with: CudaVersion,
    },
    /// The driver is too old for the CUDA version of this build.
    OldDriver {
        /// The installed driver.
        driver: DriverVersion,
        /// The CUDA version of this build.
        built_with: CudaVersion,
    },
    /// There is a driver, but no usable device.
    NoDevice {
        /// The value of `CUDA_VISIBLE_DEVICES`, if set: it may hide devices.
        visible: Option<String>,
        /// Devices that cannot be used.
        unusable: Vec<DeviceInfo>,
    },
    /// The driver or a device failed.
    Failed {
        /// The error message of CUDA.
        text: String,
    },
    /// All devices, at least one of which is usable.
    Ready(Vec<DeviceInfo>),
}

/// A device as it is listed, before a context is created on it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeviceInfo {
    /// The CUDA device number: the n of `cuda:n`.
    pub ordinal: u32,
    /// The model.
    pub name: String,
    /// The compute capability: (9, 0).
    pub capability: (u32, u32),
    /// The size of its memory in bytes.
    pub total_memory: u64,
    /// The number of streaming multiprocessors.
    pub multiprocessors: u32,
    /// The PCI address, as in `nvidia-smi`.
    pub pci: String,
    /// The reason why this build cannot use it; `None` if it can.
    pub unusable: Option<String>,
}

/// Returns whether CUDA can be used. Queries it once and caches the result; starts the driver, but no device.
pub fn availability() -> &'static Availability {
    &probed().0
}

/// Returns the time that the first [`availability()`] took, nearly all of it CUDA's initialization.
pub(crate) fn probe_time() -> Duration {
    PROBED.get().map_or(Duration::ZERO, |(_, _, time)| *time)
}

/// Returns the time of the first CUDA call; `None` if there was none.
pub fn first_call() -> Option<Instant> {
    PROBED.get().map(|(_, called, _)| *called)
}

static PROBED: OnceLock<(Availability, Instant, Duration)> = OnceLock::new();

fn probed() -> &'static (Availability, Instant, Duration) {
    PROBED.get_or_init(|| {
        let start = Instant::now();
        (probe::probe(), start, start.elapsed())
    })
}

impl Availability {
    /// Returns the devices that can be used; empty unless [`Ready`](Self::Ready).
    pub fn usable(&self) -> impl Iterator<Item = &DeviceInfo> {
        let all = if let Availability::Ready(devices) = self { &devices[..] } else { &[] };
        all.iter().filter(|device| device.unusable.is_none())
    }

    /// Returns one line: the reason why CUDA cannot be used, or the usable devices.
    pub fn reason(&self) -> String {
        match self {
            Availability::NotBuiltIn => "not built in".to_string(),
            Availability::Disabled => "switched off by MERGANSER_DISABLE_CUDA".to_string(),
            Availability::NoDriver { built_with } => format!(
                "no NVIDIA driver (libcuda.so.1) found; this build needs {}",
                built_with.needed_driver()
            ),
            Availability::OldDriver { driver, built_with } => format!(
                "the NVIDIA driver {driver} is too old; this build (CUDA {built_with}) needs {}",
                built_with.needed_driver()
            ),
            Availability::NoDevice { visible, unusable } => no_device(visible.as_deref(), unusable),
            Availability::Failed { text } => text.clone(),
            Availability::Ready(_) => {
                let line = |device: &DeviceInfo| format!("cuda:{} {}", device.ordinal, device.name);
                self.usable().map(line).collect::<Vec<_>>().join(", ")
            }
        }
    }

    /// Returns advice on how to fix it; `None` if CUDA can be used.
    pub fn remedy(&self) -> Option<String> {
        Some(match self {
            Availability::Ready(_) => return None,
            Availability::NotBuiltIn => {
                "build with `--features cuda` (needs a CUDA toolkit)".into()
            }
            Availability::Disabled => "unset MERGANSER_DISABLE_CUDA to use CUDA".into(),
            Availability::NoDriver { built_with } => format!(
                "on a machine with an NVIDIA GPU install {}; in a container, start it with the \
                 GPUs (`--gpus all`, `--nv`)",
                built_with.needed_driver()
            ),
            Availability::OldDriver { driver, .. } => {
                format!("update the driver, or build with a CUDA {}.x toolkit", driver.cuda.major())
            }
            Availability::NoDevice { visible: Some(_), .. } => "unset CUDA_VISIBLE_DEVICES".into(),
            Availability::NoDevice { unusable, .. } if !unusable.is_empty() => {
                "build with MERGANSER_CUDA_ARCH set to the device's compute capability; below 7.5 \
                 use `--device cpu`"
                    .into()
            }
            Availability::NoDevice { .. } => {
                "look at `nvidia-smi`; on a cluster, ask the scheduler for a GPU".into()
            }
            Availability::Failed { .. } => {
                "look at `nvidia-smi`; after a driver update the machine must be restarted".into()
            }
        })
    }
}

fn no_device(visible: Option<&str>, unusable: &[DeviceInfo]) -> String {
    match (unusable.first(), visible) {
        (Some(device), _) => {
            let reason = device.unusable.as_deref().unwrap_or_default();
            format!("no usable CUDA device: cuda:{} {}: {reason}", device.ordinal, device.name)
        }
        (None, Some(visible)) => {
            format!("no CUDA device: CUDA_VISIBLE_DEVICES is set to '{visible}'")
        }
        (None, None) => "no CUDA device".to_string(),
    }
}

/// Returns the reason why a device of this compute capability cannot be used; `None` if it can.
fn unusable(capability: (u32, u32)) -> Option<String> {
    let build = build_info();
    (!build.runs_on(capability)).then(|| {
        let (major, minor) = capability;
        let has = build.capabilities_text();
        format!("its compute capability is {major}.{minor}, this build has code for {has}")
    })
}

#[cfg(test)]
mod tests;
