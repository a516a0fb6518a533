//! A reference in the memory of a device.

use std::sync::Arc;

use merganser_gpu::{Device, DeviceBuffer, DeviceSlice};

use crate::{Error, PackedReference};

/// A [`PackedReference`] in the memory of a device, stretches of which can be segments. Clones share the
/// memory.
#[derive(Clone, Debug)]
pub struct GpuReference(Arc<Uploaded>);

#[derive(Debug)]
struct Uploaded {
    words: DeviceBuffer<u64>,
    len: usize,
    /// The address of the original's words, which identifies it as long as it lives.
    original: usize,
}

impl GpuReference {
    /// Copies a reference to a device. This is needed only once per run.
    ///
    /// # Errors
    /// If the device has too little memory, or fails.
    pub fn new(device: &Device, reference: &PackedReference) -> Result<GpuReference, Error> {
        let words = reference.words();
        let mut copy = device.alloc(words.len())?;
        device.stream()?.upload_now(words, copy.view_mut())?;
        let original = words.as_ptr().addr();
        Ok(GpuReference(Arc::new(Uploaded { words: copy, len: reference.len(), original })))
    }

    pub(super) fn is_of(&self, reference: &PackedReference) -> bool {
        let Uploaded { len, original, .. } = *self.0;
        (len, original) == (reference.len(), reference.words().as_ptr().addr())
    }

    /// Returns the planes, and the number of bases.
    pub(super) fn view(&self) -> (DeviceSlice<'_, u64>, usize) {
        (self.0.words.view(), self.0.len)
    }
}
