//! What a run computes on.

use merganser_io::Input;
use merganser_run::{DeviceChoice, Progress, Resources, Work};

use crate::Error;
use merganser_gpu::GpuConfig;

/// What classifiers compute on. Choosing it finds out whether there are GPUs, which starts CUDA's
/// driver: who does that before opening a database hears at once if there are none.
#[derive(Clone, Debug)]
pub struct Devices {
    pub(super) gpus: GpuConfig,
    /// The GPUs were not asked for: where they have no room, the CPU will do.
    pub(super) auto: bool,
}

impl Devices {
    /// Those that `resources` asks for, for all runs over `reads` together; by themselves, GPUs are
    /// taken if there are so many reads that they pay ([`Work::Classify`]), and as many as a database of
    /// `database` bytes needs; all, if nobody knows yet.
    ///
    /// # Errors
    /// If there is no thread; if GPUs are asked for and there are none.
    pub fn choose<'i>(
        resources: &Resources,
        database: Option<u64>,
        reads: impl IntoIterator<Item = &'i Input>,
        progress: &dyn Progress,
    ) -> Result<Devices, Error> {
        resources.validate()?;
        let bytes = merganser_io::text_bytes(reads);
        let work = Work::Classify { database };
        let gpus = resources.choose_gpus(work, bytes, merganser_gpu::usable, progress)?;
        let auto = resources.device == DeviceChoice::Auto;
        Ok(Devices { gpus: GpuConfig::new(resources, gpus), auto })
    }
}
