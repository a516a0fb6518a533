//! The report of `merganser devices`.

use crate::availability::{
    Availability, CudaVersion, DeviceInfo, DriverVersion, availability, driver_version,
    runtime_version,
};
use crate::build_info::{BuildInfo, build_info};
use crate::{Device, Memory};
use std::fmt;

/// The state of CUDA on this machine, for this build.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    /// The CUDA parts of this build.
    pub build: BuildInfo,
    /// The version of the CUDA runtime in this build.
    pub runtime: Option<CudaVersion>,
    /// The installed driver.
    pub driver: Option<DriverVersion>,
    /// Whether CUDA can be used.
    pub availability: Availability,
    /// All devices, usable or not.
    pub devices: Vec<DeviceReport>,
}

/// The state of one device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeviceReport {
    /// The properties of the device.
    pub info: DeviceInfo,
    /// Its memory, or the message if it could not be opened or gave a wrong result.
    pub state: Result<Memory, String>,
}

/// Queries the driver, opens each device and runs a small self-test on it.
pub fn diagnose() -> Report {
    let availability = availability().clone();
    let present = match &availability {
        Availability::Ready(devices) | Availability::NoDevice { unusable: devices, .. } => devices,
        _ => &Vec::new(),
    };
    let devices = present.iter().map(examine).collect();
    let asks = !matches!(availability, Availability::NotBuiltIn | Availability::Disabled);
    Report {
        build: build_info(),
        runtime: runtime_version(),
        driver: asks.then(driver_version).flatten(),
        availability,
        devices,
    }
}

fn examine(info: &DeviceInfo) -> DeviceReport {
    let state = match &info.unusable {
        Some(reason) => Err(reason.clone()),
        None => Device::open(info.ordinal)
            .and_then(|device| device.check().and_then(|()| device.memory()))
            .map_err(|error| error.to_string()),
    };
    DeviceReport { info: info.clone(), state }
}

impl Report {
    /// Returns whether at least one device is ready.
    pub fn is_ready(&self) -> bool {
        self.devices.iter().any(|device| device.state.is_ok())
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "build    {}", self.build)?;
        if let Some(runtime) = self.runtime {
            writeln!(f, "runtime  CUDA {runtime}, needs {}", runtime.needed_driver())?;
        }
        match &self.driver {
            Some(driver) => writeln!(f, "driver   {driver}")?,
            None if matches!(self.availability, Availability::NoDriver { .. }) => {
                writeln!(f, "driver   none")?;
            }
            None => {}
        }
        for DeviceReport { info, state } in &self.devices {
            let (major, minor) = info.capability;
            writeln!(f, "cuda:{}   {}", info.ordinal, info.name)?;
            writeln!(
                f,
                "         compute capability {major}.{minor}, {} multiprocessors, {}, PCI {}",
                info.multiprocessors,
                gibibytes(info.total_memory),
                info.pci
            )?;
            match state {
                Ok(memory) => writeln!(f, "         ready, {} free", gibibytes(memory.free))?,
                Err(reason) => writeln!(f, "         cannot be used: {reason}")?,
            }
        }
        if !matches!(self.availability, Availability::Ready(_)) {
            writeln!(f, "cannot use CUDA: {}", self.availability.reason())?;
        }
        match self.availability.remedy() {
            Some(remedy) => writeln!(f, "hint: {remedy}"),
            None => Ok(()),
        }
    }
}

fn gibibytes(bytes: u64) -> String {
    format!("{:.1} GiB", bytes as f64 / f64::from(1 << 30))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_names_devices_reasons_and_remedies() {
        let device = |ordinal, name: &str, state| DeviceReport {
            info: DeviceInfo {
                ordinal,
                name: name.into(),
                capability: (9, 0),
                total_memory: 80 << 30,
                multiprocessors: 132,
                pci: "0000:3b:00.0".into(),
                unusable: None,
            },
            state,
        };
        let memory = Memory { free: 79 << 30, total: 80 << 30 };
        let devices =
            vec![device(0, "NVIDIA H100", Ok(memory)), device(1, "Old", Err("too old".into()))];
        let ready = Report {
            build: BuildInfo { toolkit: Some("13.0.88"), capabilities: vec![(9, 0)] },
            runtime: Some(CudaVersion(13000)),
            driver: Some(DriverVersion {
                number: Some("580.65.06".into()),
                cuda: CudaVersion(13000),
            }),
            availability: Availability::Ready(devices.iter().map(|d| d.info.clone()).collect()),
            devices,
        };
        assert!(ready.is_ready());
        let text = "build    CUDA 13.0.88 for compute capability 9.0 and newer\n\
            runtime  CUDA 13.0, needs driver 580 or later\n\
            driver   580.65.06 (CUDA 13.0)\n\
            cuda:0   NVIDIA H100\n\
            \x20        compute capability 9.0, 132 multiprocessors, 80.0 GiB, PCI 0000:3b:00.0\n\
            \x20        ready, 79.0 GiB free\n\
            cuda:1   Old\n\
            \x20        compute capability 9.0, 132 multiprocessors, 80.0 GiB, PCI 0000:3b:00.0\n\
            \x20        cannot be used: too old\n";
        assert_eq!(ready.to_string(), text);
    }

    #[test]
    fn without_a_driver_the_needed_one_is_named() {
        let built_with = CudaVersion(13000);
        let report = Report {
            build: BuildInfo { toolkit: Some("13.0.88"), capabilities: vec![(9, 0)] },
            runtime: Some(built_with),
            driver: None,
            availability: Availability::NoDriver { built_with },
            devices: vec![],
        };
        assert!(!report.is_ready());
        let text = report.to_string();
        assert!(text.contains("\ndriver   none\ncannot use CUDA: no NVIDIA driver"), "{text}");
        assert!(
            text.contains("\nhint: on a machine with an NVIDIA GPU install driver 580"),
            "{text}"
        );
    }
}
