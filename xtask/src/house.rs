//! Measures the crates: their sizes, import circles, the files on the path of a read, and duplicated mechanisms.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::imports::Modules;
use crate::mechanisms::{MECHANISMS, count};
use crate::options::Options;
use crate::source::{SourceText, test_modules};
use crate::ways;

/// The production code of a crate.
struct Crate {
    /// The folder of the crate, below `crates`.
    name: String,
    rust: Vec<File>,
    cuda: Vec<File>,
}

struct File {
    path: PathBuf,
    /// The number of lines of the file.
    lines: usize,
    source: SourceText,
}

/// Prints the table for a checkout of this repository.
///
/// # Errors
/// If a file cannot be read.
pub(crate) fn print(directory: &Path) -> io::Result<()> {
    let mut crates = Vec::new();
    find_crates(&directory.join("crates"), &mut crates)?;
    crates.sort();
    let base = directory.join("crates");
    let crates =
        crates.iter().map(|path| Crate::read(&base, path)).collect::<io::Result<Vec<_>>>()?;
    println!(
        "{:<22}{:>6}{:>8}{:>10}{:>8}{:>6}{:>8}",
        "crate", "files", "Rust", "CUDA C++", "median", "p95", "circle"
    );
    let mut circles = Vec::new();
    for one in &crates {
        let circle = one.circle();
        row(&one.name, one.rust.iter(), one.cuda.iter(), &circle.len().max(1).to_string());
        circles.push((&one.name, circle));
    }
    row(
        "all",
        crates.iter().flat_map(|one| &one.rust),
        crates.iter().flat_map(|one| &one.cuda),
        "",
    );
    println!("\nlargest import circles");
    for (name, circle) in circles.iter().filter(|(_, circle)| circle.len() > 1) {
        println!("{name}: {}", circle.join(" "));
    }
    println!("\nfiles that one read passes");
    for one in &crates {
        if let Some(files) = ways::of_crate(&base, &one.name)? {
            println!("{}: {}", one.name, files.len());
        }
    }
    let mut options = Options::default();
    for file in crates.iter().flat_map(|one| &one.rust) {
        options.add(&file.path, &file.source.code, file.source.lines());
    }
    println!("\n{}\n", options.row());
    let mut totals = [0; MECHANISMS.len()];
    for one in &crates {
        let counts = count(&one.name, one.rust.iter().map(|file| &file.source));
        totals.iter_mut().zip(counts).for_each(|(total, count)| *total += count);
    }
    for ((name, _), total) in MECHANISMS.iter().zip(totals) {
        println!("{total:>4}  {name}");
    }
    Ok(())
}

/// Prints a row of the table: files, lines with code, and the median and 95th percentile of all lines of a Rust file.
fn row<'f>(
    name: &str,
    rust: impl Iterator<Item = &'f File>,
    cuda: impl Iterator<Item = &'f File>,
    circle: &str,
) {
    let (rust, cuda): (Vec<_>, Vec<_>) = (rust.collect(), cuda.collect());
    let sum = |files: &[&File]| files.iter().map(|file| file.source.lines()).sum::<usize>();
    let mut sizes: Vec<usize> = rust.iter().map(|file| file.lines).collect();
    sizes.sort_unstable();
    let quantile =
        |percent: usize| sizes.get(sizes.len().saturating_sub(1) * percent / 100).unwrap_or(&0);
    println!(
        "{name:<22}{:>6}{:>8}{:>10}{:>8}{:>6}{circle:>8}",
        rust.len() + cuda.len(),
        sum(&rust),
        sum(&cuda),
        quantile(50),
        quantile(95)
    );
}

impl Crate {
    fn read(base: &Path, path: &Path) -> io::Result<Crate> {
        let mut files = Vec::new();
        let mut tests = BTreeSet::new();
        find_files(path, &mut files, &mut tests)?;
        files.sort_by(|one, other| one.path.cmp(&other.path));
        let is_test = |file: &File| {
            tests.iter().any(|test: &PathBuf| {
                file.path == test.with_extension("rs") || file.path.starts_with(test)
            })
        };
        files.retain(|file| !is_test(file));
        let (rust, cuda) = files
            .into_iter()
            .partition(|file| file.path.extension().is_some_and(|end| end == "rs"));
        let name = path.strip_prefix(base).unwrap_or(path).display().to_string();
        Ok(Crate { name, rust, cuda })
    }

    fn circle(&self) -> Vec<String> {
        let in_src = |file: &File| {
            let path = file.path.to_string_lossy();
            path.split_once("/src/").map(|(_, rest)| rest.to_owned())
        };
        let names: Vec<Option<String>> = self.rust.iter().map(in_src).collect();
        let files = names.iter().zip(&self.rust);
        let files =
            files.filter_map(|(name, file)| Some((&name.as_ref()?[..], &file.source.mask[..])));
        Modules::new(files).largest_circle()
    }
}

/// Finds the folders with a manifest, at any depth.
fn find_crates(folder: &Path, crates: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() && !path.ends_with("target") {
            if path.join("Cargo.toml").exists() {
                crates.push(path.clone());
            }
            find_crates(&path, crates)?;
        }
    }
    Ok(())
}

/// Finds the files of a crate, except test files that their names show, and the modules that only tests compile.
fn find_files(
    folder: &Path,
    files: &mut Vec<File>,
    tests: &mut BTreeSet<PathBuf>,
) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if path.is_dir() {
            if !matches!(&name[..], "tests" | "target") && !path.join("Cargo.toml").exists() {
                find_files(&path, files, tests)?;
            }
            continue;
        }
        let end = path.extension().unwrap_or_default().to_string_lossy().into_owned();
        if name == "tests.rs" || !matches!(&end[..], "rs" | "cu" | "cuh" | "hpp") {
            continue;
        }
        let text = fs::read_to_string(&path)?;
        let children = match &name[..] {
            "lib.rs" | "main.rs" | "mod.rs" => folder.to_owned(),
            _ => path.with_extension(""),
        };
        if end == "rs" {
            tests.extend(test_modules(&text).into_iter().map(|module| children.join(module)));
        }
        files.push(File { path, lines: text.lines().count(), source: SourceText::new(&text) });
    }
    Ok(())
}
