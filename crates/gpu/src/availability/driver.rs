//! The version of the installed NVIDIA driver, and of the one that is needed.

use std::fmt;

/// A CUDA version in CUDA's encoding: 13000 is 13.0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct CudaVersion(pub u32);

impl CudaVersion {
    /// Returns the major version; drivers of any minor version of it are compatible.
    pub fn major(self) -> u32 {
        self.0 / 1000
    }

    /// Returns the first driver branch that runs programs built with this CUDA version ("CUDA Toolkit and Minimum
    /// Required Driver Version for CUDA Minor Version Compatibility" in its release notes).
    pub fn needed_driver(self) -> &'static str {
        match self.major() {
            ..=11 => "driver 450 or later",
            12 => "driver 525 or later",
            13 => "driver 580 or later",
            _ => "a newer driver",
        }
    }
}

impl fmt::Display for CudaVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.major(), self.0 % 1000 / 10)
    }
}

/// The version of the installed driver.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DriverVersion {
    /// The driver version, such as `580.65.06`, if the kernel reports it.
    pub number: Option<String>,
    /// The newest CUDA version that it supports.
    pub cuda: CudaVersion,
}

impl fmt::Display for DriverVersion {
    /// Writes `580.65.06 (CUDA 13.0)`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.number {
            Some(number) => write!(f, "{number} (CUDA {})", self.cuda),
            None => write!(f, "for CUDA {}", self.cuda),
        }
    }
}

/// Returns the version of the loaded kernel driver.
pub(super) fn kernel_driver() -> Option<String> {
    parse(&std::fs::read_to_string("/proc/driver/nvidia/version").ok()?)
}

/// Finds `580.65.06` in "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.65.06  …".
fn parse(text: &str) -> Option<String> {
    let number = |word: &&str| {
        let mut parts = word.split('.');
        word.contains('.') && parts.all(|part| part.parse::<u32>().is_ok())
    };
    text.lines().next()?.split_whitespace().find(number).map(String::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kernels_text_is_read() {
        for text in [
            "NVRM version: NVIDIA UNIX x86_64 Kernel Module  570.124.06  Wed Feb 26 2025\nGCC 12.2.0",
            "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  570.124.06  Release Build",
        ] {
            assert_eq!(parse(text).as_deref(), Some("570.124.06"));
        }
        assert_eq!(parse("no driver\nGCC 12.2.0"), None);
        assert_eq!(parse(""), None);
    }

    #[test]
    fn versions_print_and_name_their_driver() {
        assert_eq!(CudaVersion(13000).to_string(), "13.0");
        assert_eq!(CudaVersion(12090).to_string(), "12.9");
        assert_eq!(CudaVersion(12090).needed_driver(), "driver 525 or later");
        assert_eq!(CudaVersion(13010).needed_driver(), "driver 580 or later");
    }
}
