//! `merganser.devices`.

use merganser_gpu::diagnose;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

/// Lists the devices: dicts of `device` (the value for `device=`), `name`, `usable`, and `problem` (None if it is
/// usable).
///
/// >>> import merganser
/// >>> merganser.devices()[0]["device"]
/// 'cpu'
#[pyfunction]
pub(crate) fn devices(py: Python<'_>) -> PyResult<Bound<'_, PyList>> {
    let report = py.detach(diagnose);
    let all = PyList::empty(py);
    let cpu = PyDict::new(py);
    cpu.set_item("device", "cpu")?;
    cpu.set_item("name", merganser_seq::simd::Level::best().name())?;
    cpu.set_item("usable", true)?;
    cpu.set_item("problem", py.None())?;
    all.append(cpu)?;
    for device in report.devices {
        let gpu = PyDict::new(py);
        gpu.set_item("device", format!("cuda:{}", device.info.ordinal))?;
        gpu.set_item("name", &device.info.name)?;
        gpu.set_item("usable", device.state.is_ok())?;
        gpu.set_item("problem", device.state.err())?;
        all.append(gpu)?;
    }
    Ok(all)
}
