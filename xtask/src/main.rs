//! Scripts for work on this repository: `cargo xtask house [DIR]` measures its source.
#![forbid(unsafe_code)]
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a script prints")]

mod house;
mod imports;
mod mechanisms;
mod source;

use std::path::PathBuf;
use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let directory = match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["house"] => PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/..")),
        ["house", directory] => PathBuf::from(directory),
        _ => {
            eprintln!("usage: cargo xtask house [DIR]");
            return ExitCode::from(2);
        }
    };
    match house::print(&directory) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("xtask house: {}: {error}", directory.display());
            ExitCode::FAILURE
        }
    }
}
