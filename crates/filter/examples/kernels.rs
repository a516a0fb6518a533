//! Decides all pairs of a file of `READ<TAB>SEGMENT` lines on a GPU, three times, and prints the time of the
//! kernels and the number of accepted pairs:
//!
//!     cargo run --release -p merganser-filter --features cuda --example kernels -- FILE exact:5 ...
//!
//! Each further argument is a method and a number of edits, or `pack` to measure packing the text on the host
//! and on the device.

#![allow(clippy::print_stdout, reason = "an example shows its result")]

use std::io::BufRead;
use std::time::Instant;

use merganser_filter::{
    Config, Filter, GpuFilter, Method, PairBatch, REJECTED, Threshold, measure,
};
use merganser_gpu::Device;

type Failure = Box<dyn std::error::Error>;

fn main() -> Result<(), Failure> {
    let mut args = std::env::args().skip(1);
    let file = args.next().ok_or("no file")?;
    let device = Device::open(0)?;
    let mut batch = None;
    for what in args {
        if what == "pack" {
            pack(&file, &device)?;
            continue;
        }
        let (method, e) = what.split_once(':').ok_or("a method and edits: exact:5")?;
        let method = match method {
            "exact" => Method::Exact,
            "gatekeeper" => Method::GateKeeper,
            "snake" => Method::Snake,
            "gatekeeper-original" => Method::GateKeeperOriginal,
            other => return Err(format!("no method {other}").into()),
        };
        let batch = match &mut batch {
            Some(batch) => batch,
            none => none.insert(read(&file)?),
        };
        decide(Config { method, ..Config::new(Threshold::Edits(e.parse()?)) }, batch, &device)?;
    }
    Ok(())
}

fn read(file: &str) -> Result<PairBatch<'static>, Failure> {
    let mut text = std::io::BufReader::with_capacity(1 << 20, std::fs::File::open(file)?);
    let (mut batch, mut line) = (PairBatch::new(), Vec::new());
    while text.read_until(b'\n', &mut line)? > 0 {
        let end = line.trim_ascii_end().len();
        let tab = line.iter().position(|&byte| byte == b'\t').ok_or("one column")?;
        batch.push(&line[..tab], &line[tab + 1..end])?;
        line.clear();
    }
    Ok(batch)
}

fn decide(config: Config, batch: &PairBatch<'_>, device: &Device) -> Result<(), Failure> {
    let mut on_gpu = GpuFilter::new(&Filter::new(config)?, device, None)?;
    let mut decisions = Vec::new();
    let (mut kernels, mut rest) = (Vec::new(), Vec::new());
    for _ in 0..3 {
        on_gpu.add(batch)?;
        let (before, started) = (on_gpu.kernel_time(), Instant::now());
        on_gpu.launch()?;
        on_gpu.collect(&mut decisions)?;
        kernels.push(on_gpu.kernel_time() - before);
        rest.push(started.elapsed());
    }
    let accepted = decisions.iter().filter(|&&edits| edits != REJECTED).count();
    println!(
        "{:?} {:?}: {accepted} of {} accepted; kernels {kernels:.2?}, with copies {rest:.2?}",
        config.method,
        config.threshold,
        batch.len()
    );
    Ok(())
}

fn pack(file: &str, device: &Device) -> Result<(), Failure> {
    let text = std::fs::read(file)?;
    for _ in 0..3 {
        let times = measure::pack(device, &text)?;
        println!(
            "{} bytes of text: on the device {:.2?} with copies, kernel {:.2?}; on one core {:.2?}, \
             and {:.2?} to copy",
            text.len(),
            times.device,
            times.kernel,
            times.host,
            times.copy
        );
    }
    Ok(())
}
