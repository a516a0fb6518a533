//! The errors of this crate.
#![allow(unsafe_code, reason = "reads the texts of the CUDA runtime")]

use crate::availability::Availability;
use crate::ffi::{self, Status};
use std::ffi::{CStr, c_char};
use std::ptr;

/// An error of a GPU operation.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// CUDA cannot be used at all.
    #[error("cannot use CUDA: {}{}", why.reason(), hint(why))]
    Unavailable {
        /// The reason.
        why: Box<Availability>,
    },
    /// A device number that does not exist.
    #[error("no device cuda:{ordinal}: this machine has {}", count(*present))]
    NoSuchDevice {
        /// The requested number.
        ordinal: u32,
        /// The number of devices.
        present: u32,
    },
    /// A device for which this build has no code.
    #[error("cannot use cuda:{ordinal} {name}: {reason}")]
    Unusable {
        /// The device number.
        ordinal: u32,
        /// The model.
        name: String,
        /// The reason.
        reason: String,
    },
    /// Device memory, or the limit on its use, is exhausted.
    #[error(
        "cuda:{ordinal}: out of GPU memory: {asked} more bytes are needed, {available} are \
         available; set a limit with `gpu_memory`, or stop other programs on the device"
    )]
    OutOfMemory {
        /// The device number.
        ordinal: u32,
        /// The requested number of bytes.
        asked: u64,
        /// The number of bytes available.
        available: u64,
    },
    /// Pinned host memory is exhausted.
    #[error(
        "out of pinned memory: {asked} more bytes are needed; the limit is the machine's free \
         memory and, in a container, `ulimit -l`"
    )]
    OutOfPinnedMemory {
        /// The requested number of bytes.
        asked: u64,
    },
    /// Any other failure that CUDA reports. An asynchronous failure is reported by a later call.
    #[error("cuda:{ordinal}: {doing} failed: {text} ({name})")]
    Cuda {
        /// The device number.
        ordinal: u32,
        /// The operation during which it was reported.
        doing: &'static str,
        /// The number of the CUDA status.
        status: Status,
        /// The name of the status.
        name: String,
        /// The text of the status.
        text: String,
    },
    /// Buffers of inconsistent lengths: an error of the caller.
    #[error("{doing}: {what} has room for {have} items and {need} are needed")]
    Length {
        /// The operation.
        doing: &'static str,
        /// The buffer that is too short.
        what: &'static str,
        /// Its number of items.
        have: usize,
        /// The required number of items.
        need: usize,
    },
    /// More items than one call can process.
    #[error("{doing}: {items} items are more than the {limit} that one call takes; split them")]
    TooManyItems {
        /// The operation.
        doing: &'static str,
        /// The requested number of items.
        items: u64,
        /// The largest number of items.
        limit: u64,
    },
    /// A device gave a wrong result.
    #[error("cuda:{ordinal}: {what} gave a wrong result; the device or its driver is faulty")]
    SelfTest {
        /// The device number.
        ordinal: u32,
        /// The computation.
        what: &'static str,
    },
    /// The thread that opens a device could not be started.
    #[error("cuda:{ordinal}: cannot start a thread to open it: {reason}")]
    Thread {
        /// The device number.
        ordinal: u32,
        /// The error message of the system.
        reason: String,
    },
}

impl Error {
    /// Returns whether memory ran out: the caller may split its work and continue.
    pub fn is_out_of_memory(&self) -> bool {
        matches!(self, Error::OutOfMemory { .. } | Error::OutOfPinnedMemory { .. })
    }
}

/// Returns the numbers, models and memory sizes of all usable devices.
///
/// # Errors
/// [`unavailable`] if no device is usable.
pub fn usable() -> Result<Vec<(u32, String, u64)>, Error> {
    let devices = crate::availability().usable();
    let devices: Vec<_> =
        devices.map(|at| (at.ordinal, at.name.clone(), at.total_memory)).collect();
    if devices.is_empty() { Err(unavailable()) } else { Ok(devices) }
}

/// Returns the error for a request of CUDA where it cannot be used.
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

/// Returns an error unless the status is 0.
pub(crate) fn check(ordinal: u32, doing: &'static str, status: Status) -> Result<(), Error> {
    if status == 0 {
        return Ok(());
    }
    let (name, text) = describe(status);
    Err(Error::Cuda { ordinal, doing, status, name, text })
}

/// Returns the name and text of a CUDA status.
pub(crate) fn describe(status: Status) -> (String, String) {
    let (mut name, mut text): (*const c_char, *const c_char) = (ptr::null(), ptr::null());
    // SAFETY: the pointers are to locals.
    let described = unsafe { ffi::mgpu_describe_status(status, &mut name, &mut text) };
    if described != 0 || name.is_null() || text.is_null() {
        return (format!("status {status}"), "not built in".to_string());
    }
    // SAFETY: CUDA's names and texts are C strings with static lifetime.
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
        let text = match crate::build_info().toolkit {
            _ if crate::build_info().is_emulated() => "an error of the emulation (emulated)",
            Some(_) => "an illegal memory access was encountered (cudaErrorIllegalAddress)",
            None => "not built in (status 700)",
        };
        assert_eq!(message, format!("cuda:0: sorting failed: {text}"));
    }
}
