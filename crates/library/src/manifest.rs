//! The manifest of a library: a table with a row for each file.

use std::collections::HashSet;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use super::row::{COLUMNS, Row, Stamp, Status};
use crate::Error;
use merganser_io::Lines;

/// The beginning of a manifest; a tab and the version of the format follow.
const FIRST: &str = "##merganser-library";
const VERSION: &str = "1";
/// The last line of a manifest; it is missing if the file was cut short.
const END: &str = "#end";

/// A table of the files of a library with their taxa. It is accepted by
/// [`References::expand`](crate::References::expand), and as one of the maps (`map`) of a build.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Manifest {
    path: PathBuf,
    /// The rows with their line numbers.
    rows: Vec<(u64, Row)>,
}

impl Manifest {
    /// Reads a manifest, plain or compressed.
    ///
    /// # Errors
    /// If the file cannot be read, is not a manifest, has a later version, is cut short, has a malformed row, or
    /// lists a file twice.
    pub fn read(path: &Path) -> Result<Manifest, Error> {
        let mut lines = Lines::open(path)?;
        let mut manifest = Manifest { path: path.to_owned(), rows: Vec::new() };
        let wrong =
            |number: u64, what: String| Error::content(path, format!("line {number}: {what}"));
        let mut ended = false;
        let mut last = 0;
        while let Some((number, line)) = lines.next_line()? {
            last = number;
            match (number, line) {
                (1, line) => check_first(line).map_err(|what| Error::content(path, what))?,
                (_, line) if line.trim_ascii().is_empty() => {}
                _ if ended => return Err(wrong(number, format!("there is a line after {END}"))),
                (_, line) if line == END.as_bytes() => ended = true,
                (_, line) if line == heading().as_bytes() => {}
                (_, line) => {
                    let row = Row::parse(line).map_err(|what| wrong(number, what))?;
                    manifest.rows.push((number, row));
                }
            }
        }
        if last == 0 {
            return Err(Error::content(path, NONE));
        }
        if !ended {
            return Err(Error::content(
                path,
                format!(
                    "cut after line {last}: its last line is not {END}; copy it again, or remove \
                         it and run merganser db prepare again"
                ),
            ));
        }
        let mut paths = HashSet::new();
        if let Some((number, row)) = manifest.rows.iter().find(|(_, row)| !paths.insert(&row.path))
        {
            let what = format!("{} has a row above", row.path.display());
            return Err(wrong(*number, what));
        }
        Ok(manifest)
    }

    /// Writes a manifest of these rows.
    ///
    /// # Errors
    /// If writing fails.
    pub fn write<'r>(
        rows: impl IntoIterator<Item = &'r Row>,
        output: &mut dyn Write,
    ) -> io::Result<()> {
        writeln!(output, "{FIRST}\t{VERSION}\n{}", heading())?;
        let mut line = Vec::new();
        for row in rows {
            line.clear();
            row.put(&mut line);
            line.push(b'\n');
            output.write_all(&line)?;
        }
        writeln!(output, "{END}")
    }

    /// Returns the rows with their line numbers, in order.
    pub fn rows(&self) -> impl ExactSizeIterator<Item = (u64, &Row)> {
        self.rows.iter().map(|(number, row)| (*number, row))
    }

    /// Returns the rows, in order.
    pub(super) fn into_rows(self) -> impl Iterator<Item = Row> {
        self.rows.into_iter().map(|(_, row)| row)
    }

    /// Returns the path of a row's file, relative to the current directory.
    pub fn locate(&self, row: &Row) -> PathBuf {
        self.path.parent().unwrap_or(Path::new("")).join(&row.path)
    }

    /// Returns the files that belong to the library, in order: those with the status ok.
    ///
    /// # Errors
    /// If a file is damaged or missing, or differs in size or time from the one that was checked; if no file has
    /// the status ok.
    pub fn genomes(&self) -> Result<Vec<PathBuf>, Error> {
        let mut genomes = Vec::new();
        for (number, row) in &self.rows {
            let path = self.locate(row);
            let wrong = |what: String| {
                let what = format!("line {number}: {}: {what}", path.display());
                Err(Error::content(&self.path, what))
            };
            match &row.status {
                Status::Sound => {}
                Status::Damaged(reason) => {
                    return wrong(format!(
                        "it is damaged ({reason}): download it and run merganser db prepare again, or \
                         delete this line"
                    ));
                }
                _ => continue,
            }
            match fs::metadata(&path) {
                Err(error) => {
                    let reason = merganser_io::reason(&error);
                    return wrong(format!("{reason}: {AGAIN}"));
                }
                Ok(there) if row.stamp != Some(Stamp::of(&there)) => {
                    return wrong(format!("it was changed since it was checked: {AGAIN}"));
                }
                Ok(_) => genomes.push(path),
            }
        }
        match genomes.is_empty() {
            true => Err(Error::content(&self.path, "no genome in it has the status ok")),
            false => Ok(genomes),
        }
    }
}

const AGAIN: &str = "run merganser db prepare again";
const NONE: &str = "not a manifest of merganser db prepare";

fn heading() -> String {
    format!("#{}", COLUMNS.join("\t"))
}

/// Checks the first line of a manifest.
fn check_first(line: &[u8]) -> Result<(), String> {
    let version = line.strip_prefix(FIRST.as_bytes()).and_then(|rest| rest.strip_prefix(b"\t"));
    match version {
        None => Err(NONE.to_owned()),
        Some(version) if version == VERSION.as_bytes() => Ok(()),
        Some(version) => Err(format!(
            "a manifest of version {}, but this program reads version {VERSION}: run db prepare of \
             this program, or use a newer one",
            String::from_utf8_lossy(version).escape_debug()
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::super::row::tests::{any_row, sound};
    use super::*;
    use proptest::prelude::*;

    fn read(text: &[u8]) -> Result<Manifest, String> {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("m");
        fs::write(&path, text).unwrap();
        let said = |error: Error| error.to_string().replace(&path.display().to_string(), "m");
        Manifest::read(&path).map_err(said)
    }

    fn written<'r>(rows: impl IntoIterator<Item = &'r Row>) -> Vec<u8> {
        let mut text = Vec::new();
        Manifest::write(rows, &mut text).unwrap();
        text
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn manifests_are_read_back(rows in proptest::collection::vec(any_row(), 0..5)) {
            let (mut seen, mut rows) = (HashSet::new(), rows);
            rows.retain(|row| seen.insert(row.path.clone()));
            let found = read(&written(&rows)).unwrap();
            prop_assert!(found.into_rows().eq(rows));
        }

        /// A manifest that is cut anywhere is refused; a changed byte never causes a panic.
        #[test]
        fn damage_is_an_error(cut in 0..1000usize, change in any::<(u16, u8)>()) {
            let whole = written(&[sound("a"), sound("b/c d")]);
            let cut = cut % (whole.len() - 1);
            prop_assert!(read(&whole[..cut]).is_err(), "{cut}");
            let mut changed = whole.clone();
            let at = usize::from(change.0) % whole.len();
            changed[at] = change.1;
            let _ = read(&changed);
        }
    }

    #[test]
    fn what_is_wrong_is_named() {
        let whole = String::from_utf8(written(&[sound("a"), sound("b")])).unwrap();
        for (text, message) in [
            (String::new(), "m: not a manifest of merganser db prepare"),
            ("x\ty\n".into(), "m: not a manifest of merganser db prepare"),
            (
                whole.replace("library\t1", "library\t2"),
                "m: a manifest of version 2, but this program",
            ),
            (whole.replace("\tok", ""), "m: line 3: 8 columns instead of 9"),
            (whole.replace("\nb", "\na"), "m: line 4: a has a row above"),
            (
                whole.replace("#end\n", ""),
                "m: cut after line 4: its last line is not #end; copy it",
            ),
            (whole.clone() + "more\n", "m: line 6: there is a line after #end"),
        ] {
            let found = read(text.as_bytes()).unwrap_err();
            assert!(found.starts_with(message), "{found}");
        }
        let rows = |text: &str| read(text.as_bytes()).unwrap().rows;
        assert_eq!(rows(&whole.replace('\n', "\r\n")), rows(&whole));
    }

    /// A user may delete rows.
    #[test]
    fn rows_may_be_deleted() {
        let whole = String::from_utf8(written(&[sound("a"), sound("b")])).unwrap();
        let without: Vec<&str> = whole.lines().filter(|line| !line.starts_with('a')).collect();
        let found = read((without.join("\n") + "\n").as_bytes()).unwrap();
        assert_eq!(found.rows().map(|(line, _)| line).collect::<Vec<_>>(), [3]);
    }
}
