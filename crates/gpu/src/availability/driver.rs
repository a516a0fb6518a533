//! The NVIDIA driver: which one is there, which one is needed.

use std::fmt;

/// A version of CUDA as its functions tell it: 13000 is 13.0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct CudaVersion(pub u32);

impl CudaVersion {
    /// The major version, within which drivers of any minor version will do.
    pub fn major(self) -> u32 {
        self.0 / 1000
    }

    /// The first driver branch that runs programs built with this CUDA ("CUDA Toolkit and Minimum
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

/// The driver that is there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DriverVersion {
    /// Its own number, `580.65.06`, where the kernel tells it.
    pub number: Option<String>,
    /// The newest CUDA it speaks.
    pub cuda: CudaVersion,
}

impl fmt::Display for DriverVersion {
    /// `580.65.06 (CUDA 13.0)`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.number {
            Some(number) => write!(f, "{number} (CUDA {})", self.cuda),
            None => write!(f, "for CUDA {}", self.cuda),
        }
    }
}

/// The number of the loaded kernel driver.
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
