//! The work of a device on the letters of reads.

use merganser_gpu::{Device, Result as GpuResult, Stream};

use super::kernels::Letters;
use crate::Error;

/// The work of a device on letters.
pub(crate) trait LetterWork: Sync {
    /// The buffers in which letters are processed, a batch at a time.
    type Workspace;

    /// Returns the device.
    fn device(&self) -> &Device;

    /// Allocates a workspace.
    fn workspace(&self) -> GpuResult<Self::Workspace>;

    /// Processes letters, of which every k-mer is in exactly one tile. The letters may be overwritten when the work that
    /// is enqueued on `stream` is done.
    ///
    /// # Errors
    /// If the device or a temporary file fails.
    fn process(
        &self,
        workspace: &mut Self::Workspace,
        stream: &Stream,
        letters: Letters<'_>,
    ) -> Result<(), Error>;
}
