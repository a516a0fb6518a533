//! Lists the GPUs of the machine, or prints why no GPU can be used.
//!
//! `cargo run --release --features cuda --example list_devices`
#![allow(clippy::print_stdout, reason = "an example")]

use merganser::gpu::{self, Error};

fn main() -> Result<(), Error> {
    let report = gpu::diagnose();
    if !report.is_ready() {
        // The build, the driver, and what is missing.
        print!("{report}");
        return Ok(());
    }
    for (number, model, bytes) in gpu::usable()? {
        println!("cuda:{number}\t{model}\t{} GiB", bytes >> 30);
    }
    Ok(())
}
