//! Tools for work on this repository: `cargo xtask check AREA` runs the tests of an area, `cargo xtask house [DIR]`
//! measures the source, `cargo xtask words [DIR]` checks its language, `cargo xtask book` writes the generated
//! pictures of the book.
#![forbid(unsafe_code)]
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a script prints")]

mod check;
mod flows;
mod house;
mod imports;
mod mechanisms;
mod options;
mod picture;
mod source;
mod ways;
mod words;

use std::path::Path;
use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let here = concat!(env!("CARGO_MANIFEST_DIR"), "/..");
    let done = match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["check", area] => check::run(area),
        ["book"] => picture::write(Path::new(here)).map_err(|error| error.to_string()),
        ["words"] => words::check(Path::new(here)),
        ["words", directory] => words::check(Path::new(directory)),
        ["house"] => measure(here),
        ["house", directory] => measure(directory),
        _ => {
            eprintln!(
                "usage: cargo xtask house [DIR]\n       cargo xtask words [DIR]\n       cargo xtask book\n       cargo xtask check AREA"
            );
            eprintln!("areas: {}", check::names());
            return ExitCode::from(2);
        }
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("xtask: {error}");
            ExitCode::FAILURE
        }
    }
}

fn measure(directory: &str) -> Result<(), String> {
    house::print(Path::new(directory)).map_err(|error| format!("{directory}: {error}"))
}
