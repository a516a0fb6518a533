//! Queries of the CUDA runtime, ordered so that each result can be trusted.
#![allow(unsafe_code, reason = "queries the CUDA runtime")]

use super::{Availability, CudaVersion, DeviceInfo, DriverVersion, driver, unusable};
use crate::error::describe;
use crate::ffi;
use std::env;

/// Returns whether an environment variable is set to something other than empty or 0.
pub(super) fn is_on(value: Option<&str>) -> bool {
    value.is_some_and(|value| !value.is_empty() && value != "0")
}

pub(super) fn probe() -> Availability {
    if !cfg!(feature = "cuda") {
        return Availability::NotBuiltIn;
    }
    if is_on(env::var("MERGANSER_DISABLE_CUDA").ok().as_deref()) {
        return Availability::Disabled;
    }
    let Some(built_with) = runtime_version() else { return Availability::NotBuiltIn };
    // Without a driver, and with one that is too old, all other functions return 35, "CUDA driver
    // version is insufficient"; the driver's version distinguishes the two.
    let Some(driver) = driver_version() else { return Availability::NoDriver { built_with } };
    if driver.cuda.major() < built_with.major() {
        return Availability::OldDriver { driver, built_with };
    }
    let mut count = 0;
    // SAFETY: the pointer is to a local.
    match unsafe { ffi::mgpu_device_count(&mut count) } {
        0 if count > 0 => {}
        0 | ffi::NO_DEVICE => return no_device(Vec::new()),
        ffi::INSUFFICIENT_DRIVER => return Availability::OldDriver { driver, built_with },
        status => return Availability::Failed { text: failed("counting the devices", status) },
    }
    let mut devices = Vec::new();
    for ordinal in 0..count {
        match describe_device(ordinal) {
            Ok(device) => devices.push(device),
            Err(status) => {
                let text = failed(&format!("querying cuda:{ordinal}"), status);
                return Availability::Failed { text };
            }
        }
    }
    if devices.iter().all(|device| device.unusable.is_some()) {
        return no_device(devices);
    }
    Availability::Ready(devices)
}

fn failed(doing: &str, status: ffi::Status) -> String {
    let (name, text) = describe(status);
    format!("{doing} failed: {text} ({name})")
}

fn no_device(unusable: Vec<DeviceInfo>) -> Availability {
    Availability::NoDevice { visible: env::var("CUDA_VISIBLE_DEVICES").ok(), unusable }
}

/// Returns the CUDA version of this build.
pub(crate) fn runtime_version() -> Option<CudaVersion> {
    let mut version = 0;
    // SAFETY: the pointer is to a local.
    let status = unsafe { ffi::mgpu_runtime_version(&mut version) };
    (status == 0).then_some(CudaVersion(version.unsigned_abs()))
}

/// Returns the version of the installed driver. The query does not start the driver.
pub(crate) fn driver_version() -> Option<DriverVersion> {
    let mut version = 0;
    // SAFETY: the pointer is to a local.
    let status = unsafe { ffi::mgpu_driver_version(&mut version) };
    let cuda = CudaVersion(version.unsigned_abs());
    (status == 0 && version > 0).then(|| DriverVersion { number: driver::kernel_driver(), cuda })
}

fn describe_device(ordinal: i32) -> Result<DeviceInfo, ffi::Status> {
    let mut found = ffi::DeviceProperties {
        name: [0; 256],
        total_memory: 0,
        major: 0,
        minor: 0,
        multiprocessors: 0,
        pci_domain: 0,
        pci_bus: 0,
        pci_device: 0,
    };
    // SAFETY: the pointer is to a local with the layout of the C++ structure.
    let status = unsafe { ffi::mgpu_describe_device(ordinal, &mut found) };
    if status != 0 {
        return Err(status);
    }
    let name = found.name.split(|&byte| byte == 0).next().unwrap_or_default();
    let capability = (found.major.unsigned_abs(), found.minor.unsigned_abs());
    Ok(DeviceInfo {
        ordinal: ordinal.unsigned_abs(),
        name: String::from_utf8_lossy(name).into_owned(),
        capability,
        total_memory: found.total_memory,
        multiprocessors: found.multiprocessors.unsigned_abs(),
        pci: format!("{:04x}:{:02x}:{:02x}.0", found.pci_domain, found.pci_bus, found.pci_device),
        unusable: unusable(capability),
    })
}
