//! The errors of this crate.
#![allow(unsafe_code, reason = "reads the texts of the CUDA runtime")]

use crate::availability::Availability;
use crate::ffi::{self, Status};
use std::ffi::{CStr, c_char};
use std::ptr;

/// Why something on a GPU could not be done.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// CUDA cannot be used at all.
    #[error("cannot use CUDA: {}{}", why.reason(), hint(why))]
    Unavailable {
        /// What is missing.
        why: Box<Availability>,
    },
    /// A device that is not there.
    #[error("no device cuda:{ordinal}: this machine has {}", count(*present))]
    NoSuchDevice {
        /// What was asked for.
        ordinal: u32,
        /// How many there are.
        present: u32,
    },
    /// A device that is there and that this build has no code for.
    #[error("cannot use cuda:{ordinal} {name}: {reason}")]
    Unusable {
        /// Its number.
        ordinal: u32,
        /// Its model.
        name: String,
        /// Why.
        reason: String,
    },
    /// Device memory ran out, or the limit on it was reached.
    #[error(
        "cuda:{ordinal}: out of GPU memory: {asked} bytes more were asked for, {available} are \
         available; limit what is used by `gpu_memory`, or free the device of other programs"
    )]
    OutOfMemory {
        /// The device.
        ordinal: u32,
        /// Bytes asked for.
        asked: u64,
        /// Bytes that could have been had.
        available: u64,
    },
    /// Pinned host memory ran out.
    #[error(
        "out of pinned memory: {asked} bytes more were asked for; the limit is the machine's free \
         memory and, in a container, `ulimit -l`"
    )]
    OutOfPinnedMemory {
        /// Bytes asked for.
        asked: u64,
    },
    /// Any other failure that CUDA reports. An asynchronous one shows at a later call.
    #[error("cuda:{ordinal}: {doing} failed: {text} ({name})")]
    Cuda {
        /// The device.
        ordinal: u32,
        /// What was being done when it was reported.
        doing: &'static str,
        /// CUDA's number.
        status: Status,
        /// CUDA's name of it.
        name: String,
        /// CUDA's text.
        text: String,
    },
    /// Buffers whose lengths do not fit together: a mistake of the caller.
    #[error("{doing}: {what} has room for {have} items and {need} are needed")]
    Length {
        /// What was to be done.
        doing: &'static str,
        /// Which of the buffers.
        what: &'static str,
        /// Its items.
        have: usize,
        /// The items needed.
        need: usize,
    },
    /// More items than one call can take.
    #[error("{doing}: {items} items are more than the {limit} that one call takes; split them")]
    TooManyItems {
        /// What was to be done.
        doing: &'static str,
        /// Items asked for.
        items: u64,
        /// The most there can be.
        limit: u64,
    },
    /// A device computes wrongly.
    #[error("cuda:{ordinal}: {what} gave a wrong result; the device or its driver is out of order")]
    SelfTest {
        /// The device.
        ordinal: u32,
        /// What it should have computed.
        what: &'static str,
    },
    /// The thread that would open a device cannot be started.
    #[error("cuda:{ordinal}: cannot start a thread to open it: {reason}")]
    Thread {
        /// The device.
        ordinal: u32,
        /// What the system said.
        reason: String,
    },
}

impl Error {
    /// True where less memory would have done: a caller may split its work and go on.
    pub fn is_out_of_memory(&self) -> bool {
        matches!(self, Error::OutOfMemory { .. } | Error::OutOfPinnedMemory { .. })
    }
}

/// The numbers and models of all devices that can be used.
///
/// # Errors
/// [`unavailable`] if there are none.
pub fn usable() -> Result<Vec<(u32, String, u64)>, Error> {
    let devices = crate::availability().usable();
    let devices: Vec<_> =
        devices.map(|at| (at.ordinal, at.name.clone(), at.total_memory)).collect();
    if devices.is_empty() { Err(unavailable()) } else { Ok(devices) }
}

/// The error of who wants CUDA where it cannot be used.
pub fn unavailable() -> Error {
    Error::Unavailable { why: Box::new(crate::availability().clone()) }
}

fn hint(why: &Availability) -> String {
    why.remedy().map(|remedy| format!("; {remedy}")).unwrap_or_default()
}

fn count(present: u32) -> String {
    match present {
        1 => "only cuda:0".to_string(),
        n => format!("cuda:0 to cuda:{}", n.saturating_sub(1)),
    }
}

/// An error unless the status is 0.
pub(crate) fn check(ordinal: u32, doing: &'static str, status: Status) -> Result<(), Error> {
    if status == 0 {
        return Ok(());
    }
    let (name, text) = describe(status);
    Err(Error::Cuda { ordinal, doing, status, name, text })
}

/// CUDA's name and text of a status.
pub(crate) fn describe(status: Status) -> (String, String) {
    let (mut name, mut text): (*const c_char, *const c_char) = (ptr::null(), ptr::null());
    // SAFETY: the pointers are to locals.
    let described = unsafe { ffi::mgpu_describe_status(status, &mut name, &mut text) };
    if described != 0 || name.is_null() || text.is_null() {
        return (format!("status {status}"), "not built in".to_string());
    }
    // SAFETY: CUDA's names and texts are C strings that live for ever.
    let owned = |text| unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned();
    (owned(name), owned(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_say_what_is_wrong_and_what_to_do() {
        let unavailable = Error::Unavailable { why: Box::new(Availability::Disabled) };
        assert_eq!(
            unavailable.to_string(),
            "cannot use CUDA: switched off by MERGANSER_DISABLE_CUDA; unset \
             MERGANSER_DISABLE_CUDA to use CUDA"
        );
        let missing = |present| Error::NoSuchDevice { ordinal: 7, present }.to_string();
        assert_eq!(missing(1), "no device cuda:7: this machine has only cuda:0");
        assert_eq!(missing(4), "no device cuda:7: this machine has cuda:0 to cuda:3");
    }

    #[test]
    fn zero_is_success_and_anything_else_carries_cudas_text() {
        assert!(check(0, "sorting", 0).is_ok());
        let message = check(0, "sorting", 700).unwrap_err().to_string();
        let text = if cfg!(feature = "cuda") {
            "an illegal memory access was encountered (cudaErrorIllegalAddress)"
        } else {
            "not built in (status 700)"
        };
        assert_eq!(message, format!("cuda:0: sorting failed: {text}"));
    }
}
