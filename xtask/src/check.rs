//! `cargo xtask check AREA`: runs the tests of an area of the repository.

use std::process::Command;
use std::time::Instant;

/// An area: crates with their own tests, and end-to-end tests of the program.
struct Area {
    name: &'static str,
    /// The crates, without the prefix of their package names.
    crates: &'static [&'static str],
    /// The folders of end-to-end tests, below `tests`.
    end_to_end: &'static [&'static str],
}

const AREAS: &[Area] = &[
    Area { name: "seq", crates: &["seq"], end_to_end: &[] },
    Area { name: "run", crates: &["run", "store"], end_to_end: &[] },
    Area { name: "io", crates: &["inflate", "io", "alignments"], end_to_end: &[] },
    Area { name: "gpu", crates: &["gpu"], end_to_end: &[] },
    Area {
        name: "kmers",
        crates: &["kmers", "count", "spectrum", "assembly"],
        end_to_end: &["kmers"],
    },
    Area {
        name: "classify",
        crates: &["taxonomy", "taxreport", "library", "kraken2", "classify"],
        end_to_end: &["classify"],
    },
    Area { name: "map", crates: &["filter", "map", "deplete"], end_to_end: &["map"] },
    Area { name: "search", crates: &["search"], end_to_end: &["search"] },
    Area { name: "report", crates: &["report"], end_to_end: &[] },
    Area { name: "answers", crates: &[], end_to_end: &["answers"] },
    Area { name: "runs", crates: &[], end_to_end: &["runs"] },
    Area { name: "attack", crates: &[], end_to_end: &["attack"] },
    Area { name: "faults", crates: &[], end_to_end: &["faults"] },
];

/// Returns the names of all areas.
pub(crate) fn names() -> String {
    AREAS.iter().map(|area| area.name).collect::<Vec<_>>().join(", ")
}

/// Runs the tests of an area and prints how long they took.
///
/// # Errors
/// If there is no such area, or if a test fails.
pub(crate) fn run(name: &str) -> Result<(), String> {
    let area = AREAS.iter().find(|area| area.name == name);
    let area = area.ok_or_else(|| format!("'{name}' is not an area: give one of {}", names()))?;
    let begun = Instant::now();
    for crates in area.crates {
        cargo(&["test", "--quiet", "--package", &format!("merganser-{crates}")])?;
    }
    for tests in area.end_to_end {
        cargo(&["test", "--quiet", "--package", "merganser", "--test", tests])?;
    }
    println!("{name}: {:.0} s", begun.elapsed().as_secs_f64());
    Ok(())
}

fn cargo(arguments: &[&str]) -> Result<(), String> {
    let shown = format!("cargo {}", arguments.join(" "));
    println!("{shown}");
    let status = Command::new(env!("CARGO")).args(arguments).status();
    match status.map_err(|error| format!("{shown}: {error}"))?.success() {
        true => Ok(()),
        false => Err(format!("{shown}: failed")),
    }
}
