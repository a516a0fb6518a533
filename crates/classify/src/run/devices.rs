//! The devices of a run.

use merganser_io::Input;
use merganser_run::{Context, DeviceChoice, Work};

use crate::Error;
use merganser_gpu::GpuConfig;

/// The devices of classifiers.
///
/// Choosing them checks whether there are GPUs, which starts CUDA's driver. If this is done before a database is
/// opened, missing GPUs are reported at once.
#[derive(Clone, Debug)]
pub struct Devices {
    pub(super) gpus: GpuConfig,
    /// Whether the devices were chosen automatically: if their memory does not suffice, the CPU is used instead.
    pub(super) auto: bool,
}

impl Devices {
    /// Chooses the devices that `context` requests, for all runs over `reads` together.
    ///
    /// Automatically, GPUs are used only if there are enough reads to pay for starting them ([`Work::Classify`]),
    /// and only as many as a database of `database` bytes needs; all, if the size is unknown.
    ///
    /// # Errors
    /// If there is no thread; if GPUs are requested and there is no GPU.
    pub fn choose<'i>(
        context: &Context,
        database: Option<u64>,
        reads: impl IntoIterator<Item = &'i Input>,
    ) -> Result<Devices, Error> {
        context.validate()?;
        let bytes = merganser_io::text_bytes(reads);
        let work = Work::Classify { database };
        let gpus = context.choose_gpus(work, bytes, merganser_gpu::usable)?;
        let auto = context.device == DeviceChoice::Auto;
        Ok(Devices { gpus: GpuConfig::new(context, gpus), auto })
    }
}
