//! The CUDA toolkit and architectures of this build, for `--version` and messages.

use std::fmt;

/// The CUDA parts of this build.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BuildInfo {
    /// The version of the CUDA compiler, such as `13.0.88`; `None` without the feature `cuda`.
    pub toolkit: Option<&'static str>,
    /// The compute capabilities with machine code, lowest first: (7, 5) … The highest has PTX too.
    pub capabilities: Vec<(u32, u32)>,
}

/// Returns the CUDA parts of this build.
pub fn build_info() -> BuildInfo {
    let toolkit = Some(env!("MERGANSER_BUILT_TOOLKIT")).filter(|version| !version.is_empty());
    let archs = env!("MERGANSER_BUILT_ARCHS").split(',').filter_map(|arch| arch.parse().ok());
    BuildInfo { toolkit, capabilities: archs.map(|arch: u32| (arch / 10, arch % 10)).collect() }
}

impl BuildInfo {
    /// Returns whether kernels are functions of the host, for tests (`MERGANSER_EMULATE_CUDA`).
    pub fn is_emulated(&self) -> bool {
        self.toolkit == Some("emulated")
    }

    /// Returns whether code of this build runs on a device: machine code runs on devices of the same major version
    /// and the same or a later minor version, PTX on all newer devices.
    pub fn runs_on(&self, capability: (u32, u32)) -> bool {
        let native = |&(major, minor): &(u32, u32)| major == capability.0 && minor <= capability.1;
        self.capabilities.iter().any(native)
            || self.capabilities.last().is_some_and(|&newest| newest <= capability)
    }

    /// Returns the compute capabilities as text: `7.5, 8.0, 9.0 and newer`.
    pub(crate) fn capabilities_text(&self) -> String {
        let all: Vec<_> = self.capabilities.iter().map(|(a, b)| format!("{a}.{b}")).collect();
        format!("{} and newer", all.join(", "))
    }
}

impl fmt::Display for BuildInfo {
    /// Writes `CUDA 13.0.88 for compute capability 7.5, 8.0, 9.0 and newer`, or `no CUDA`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.toolkit {
            None => f.write_str("no CUDA"),
            Some(toolkit) => {
                write!(f, "CUDA {toolkit} for compute capability {}", self.capabilities_text())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn machine_code_runs_within_its_major_version_and_ptx_on_newer_ones() {
        let build = BuildInfo { toolkit: Some("13.0.88"), capabilities: vec![(7, 5), (8, 6)] };
        for (capability, runs) in [
            ((7, 0), false),
            ((7, 5), true),
            ((8, 0), false),
            ((8, 6), true),
            ((8, 9), true),
            ((10, 0), true),
        ] {
            assert_eq!(build.runs_on(capability), runs, "{capability:?}");
        }
        assert!(!BuildInfo { toolkit: None, capabilities: vec![] }.runs_on((9, 0)));
        let text = "CUDA 13.0.88 for compute capability 7.5, 8.6 and newer";
        assert_eq!(build.to_string(), text);
    }

    #[test]
    fn the_facts_are_there_exactly_with_the_feature() {
        let build = build_info();
        assert_eq!(build.toolkit.is_some(), cfg!(feature = "cuda"));
        assert_eq!(build.capabilities.is_empty(), !cfg!(feature = "cuda"));
    }
}
