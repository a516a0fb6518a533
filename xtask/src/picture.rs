//! Writes the generated pictures of the book: the crates, from their manifests, and the data flow of the jobs.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::fs;
use std::io;
use std::path::Path;

use crate::flows;

/// The picture of the crates, below the repository's root.
const FILE: &str = "docs/images/crates.svg";

/// The width and height of a box in pixels.
const BOX: [usize; 2] = [96, 28];
/// The distance from one box to the next in pixels, across and down.
const STEP: [usize; 2] = [112, 88];
/// The empty space around the picture in pixels.
const MARGIN: usize = 16;

/// The crates, each with the crates that its manifest names and that no other of these imports.
struct Crates(BTreeMap<String, BTreeSet<String>>);

/// Writes the generated pictures of the book.
///
/// # Errors
/// If a file cannot be read or written.
pub(crate) fn write(root: &Path) -> io::Result<()> {
    all(root)?.into_iter().try_for_each(|(file, picture)| fs::write(root.join(file), picture))
}

/// Returns the files and contents of the pictures.
fn all(root: &Path) -> io::Result<Vec<(String, String)>> {
    let mut all = flows::all();
    all.push((FILE.to_owned(), draw(root)?));
    Ok(all)
}

/// Returns the picture as SVG.
fn draw(root: &Path) -> io::Result<String> {
    let crates = Crates::read(&root.join("crates"))?;
    let levels = crates.levels();
    let rows = levels.values().max().map_or(0, |top| top + 1);
    let row = |level: usize| -> Vec<&str> {
        levels.iter().filter(|&(_, &other)| other == level).map(|(name, _)| *name).collect()
    };
    let columns = (0..rows).map(|level| row(level).len()).max().unwrap_or(0);
    let size = [columns * STEP[0] + MARGIN, rows * STEP[1] - STEP[1] + BOX[1] + 2 * MARGIN];
    // The program is at the top; shorter rows are centred.
    let place = |name: &str| -> [usize; 2] {
        let level = levels[name];
        let row = row(level);
        let at = row.iter().position(|other| *other == name).unwrap_or(0);
        let left = (size[0] - row.len() * STEP[0]) / 2 + at * STEP[0] + (STEP[0] - BOX[0]) / 2;
        [left, MARGIN + (rows - 1 - level) * STEP[1]]
    };
    let mut svg = head(size, "The crates; a line leads down to a crate that is imported");
    for (name, imports) in &crates.0 {
        let from = place(name);
        for import in imports {
            let to = place(import);
            let (x, y, x2, y2) =
                (from[0] + BOX[0] / 2, from[1] + BOX[1], to[0] + BOX[0] / 2, to[1]);
            let bend = (y2 - y) / 2;
            let _ = writeln!(
                svg,
                "<path d=\"M{x} {y}C{x} {} {x2} {} {x2} {y2}\" fill=\"none\" stroke=\"#9aa7b5\"/>",
                y + bend,
                y2 - bend
            );
        }
    }
    for name in crates.0.keys() {
        let [x, y] = place(name);
        let _ = writeln!(
            svg,
            "<rect x=\"{x}\" y=\"{y}\" width=\"{}\" height=\"{}\" rx=\"5\" fill=\"#e8f0f8\" \
             stroke=\"#35608a\"/><text x=\"{}\" y=\"{}\" text-anchor=\"middle\" fill=\"#12283c\">{name}</text>",
            BOX[0],
            BOX[1],
            x + BOX[0] / 2,
            y + 19
        );
    }
    svg += "</svg>\n";
    Ok(svg)
}

/// Returns the start of a picture.
pub(crate) fn head([width, height]: [usize; 2], title: &str) -> String {
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" \
         font-family=\"sans-serif\" font-size=\"13\" role=\"img\" aria-labelledby=\"t\"><title id=\"t\">{title}\
         </title>\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n"
    )
}

impl Crates {
    /// Reads the manifests of the folders below `folder`.
    fn read(folder: &Path) -> io::Result<Crates> {
        let mut crates = BTreeMap::new();
        for entry in fs::read_dir(folder)? {
            let path = entry?.path();
            let Ok(manifest) = fs::read_to_string(path.join("Cargo.toml")) else { continue };
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            crates.insert(name, imports(&manifest));
        }
        let names: BTreeSet<String> = crates.keys().cloned().collect();
        crates.values_mut().for_each(|imports| imports.retain(|import| names.contains(import)));
        Ok(Crates(crates).reduced())
    }

    /// Removes the imports that another import implies.
    fn reduced(self) -> Crates {
        let implied = |import: &String, of: &BTreeSet<String>| {
            of.iter().any(|other| other != import && self.reaches(other, import))
        };
        let reduce = |(name, imports): (&String, &BTreeSet<String>)| {
            let kept = imports.iter().filter(|import| !implied(import, imports)).cloned();
            (name.clone(), kept.collect())
        };
        Crates(self.0.iter().map(reduce).collect())
    }

    fn reaches(&self, from: &str, to: &str) -> bool {
        from == to || self.0[from].iter().any(|import| self.reaches(import, to))
    }

    /// Returns the level of each crate: one above the highest crate that it imports.
    fn levels(&self) -> BTreeMap<&str, usize> {
        self.0.keys().map(|name| (name.as_str(), self.level(name))).collect()
    }

    fn level(&self, name: &str) -> usize {
        self.0[name].iter().map(|import| self.level(import) + 1).max().unwrap_or(0)
    }
}

/// Returns the crates of this repository that a manifest names, without development dependencies.
fn imports(manifest: &str) -> BTreeSet<String> {
    let mut section = "";
    let mut imports = BTreeSet::new();
    for line in manifest.lines() {
        if line.starts_with('[') {
            section = line;
        }
        let name =
            line.strip_prefix("merganser-").and_then(|rest| rest.split([' ', '.', '=']).next());
        if let Some(name) = name.filter(|_| section == "[dependencies]") {
            imports.insert(name.to_owned());
        } else if section == "[dependencies]" && line.starts_with("merganser ") {
            imports.insert("merganser".to_owned());
        }
    }
    imports
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_pictures_in_the_book_are_current() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        for (file, picture) in all(&root).unwrap() {
            let written = fs::read_to_string(root.join(&file)).unwrap_or_default();
            assert!(written == picture, "{file}: write it with `cargo xtask book`");
        }
    }

    #[test]
    fn imports_are_dependencies_that_no_other_brings_in() {
        let manifest = "[dependencies]\nmerganser-io = 1\nmerganser-run.workspace = true\nserde = 1\n\
                        [dev-dependencies]\nmerganser-seq = 1\n";
        assert_eq!(imports(manifest), ["io", "run"].map(str::to_owned).into());
        let of = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        let crates = [("io", of(&["run"])), ("run", of(&[])), ("top", of(&["io", "run"]))];
        let crates = Crates(crates.map(|(name, imports)| (name.to_owned(), imports)).into());
        let reduced = crates.reduced();
        assert_eq!(reduced.0["top"], of(&["io"]));
        assert_eq!(reduced.level("top"), 2);
    }
}
