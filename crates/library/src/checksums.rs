//! Lists of MD5 checksums of downloads.

use std::collections::{HashMap, HashSet};
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use super::row::Md5Sum;
use crate::Error;
use merganser_io::Lines;

/// The file names of lists, in any case: those of NCBI, ncbi-genome-download and `datasets`, and common
/// names of md5sum's output.
const NAMES: [&str; 5] = ["md5checksums.txt", "md5sum.txt", "md5sums.txt", "md5sums", "md5sum"];

/// Whether a file has the name of a list of checksums.
pub(super) fn is_list(name: &str) -> bool {
    NAMES.contains(&name.to_ascii_lowercase().as_str())
}

/// The listed checksums of the genomes.
#[derive(Debug, Default)]
pub(super) struct Checksums {
    /// The checksums by path.
    paths: HashMap<PathBuf, Md5Sum>,
    /// The checksums by file name alone, from lists given by the user, which may be in any folder; `None` if a
    /// name has two different checksums.
    names: HashMap<OsString, Option<Md5Sum>>,
}

impl Checksums {
    /// Reads the checksums of `genomes` from the `given` lists and then from those `found` in folders. The first
    /// checksum of a file counts.
    ///
    /// # Errors
    /// If a list cannot be read, or if a line is malformed.
    pub(super) fn read<'p>(
        given: &[PathBuf],
        found: &[PathBuf],
        genomes: impl IntoIterator<Item = &'p Path>,
    ) -> Result<Checksums, Error> {
        let paths: HashSet<&Path> = genomes.into_iter().collect();
        let names = single_names(&paths);
        let mut checksums = Checksums::default();
        for (list, is_given) in
            given.iter().map(|l| (l, true)).chain(found.iter().map(|l| (l, false)))
        {
            let folder = list.parent().unwrap_or(Path::new(""));
            let mut lines = Lines::open(list)?;
            while let Some((number, line)) = lines.next_line()? {
                if line.trim_ascii().is_empty() || line.starts_with(b"#") {
                    continue;
                }
                let (sum, name) = entry(line)
                    .map_err(|what| Error::content(list, format!("line {number}: {what}")))?;
                let path = folder.join(name.strip_prefix("./").unwrap_or(&name));
                let name = name.file_name().unwrap_or_default();
                if is_given && names.contains(name) {
                    let known = checksums.names.entry(name.to_owned()).or_insert(Some(sum));
                    *known = known.filter(|known| *known == sum);
                }
                if paths.contains(&*path) {
                    checksums.paths.entry(path).or_insert(sum);
                }
            }
        }
        Ok(checksums)
    }

    /// Returns the checksum that is listed for a file.
    pub(super) fn of(&self, path: &Path) -> Option<Md5Sum> {
        let by_name = || *self.names.get(path.file_name()?)?;
        self.paths.get(path).copied().or_else(by_name)
    }
}

/// Returns the file names that occur only once.
fn single_names<'p>(paths: &HashSet<&'p Path>) -> HashSet<&'p OsStr> {
    let mut times: HashMap<&OsStr, u32> = HashMap::new();
    for name in paths.iter().filter_map(|path| path.file_name()) {
        *times.entry(name).or_default() += 1;
    }
    times.into_iter().filter(|(_, times)| *times == 1).map(|(name, _)| name).collect()
}

/// Parses the checksum and the file of a line in the format of md5sum or of BSD's md5.
fn entry(line: &[u8]) -> Result<(Md5Sum, PathBuf), String> {
    let path = |name: &[u8]| PathBuf::from(OsStr::from_bytes(name));
    let sum = |digits: &[u8]| std::str::from_utf8(digits).ok()?.parse::<Md5Sum>().ok();
    if let Some(rest) = line.strip_prefix(b"MD5 (")
        && let Some(end) = memchr::memmem::rfind(rest, b") = ")
        && let Some(sum) = sum(rest[end + 4..].trim_ascii())
    {
        return Ok((sum, path(&rest[..end])));
    }
    // A line begins with a backslash if backslashes and line ends in the name are escaped.
    let bare = line.strip_prefix(b"\\").unwrap_or(line);
    let found = bare.split_at_checked(32).and_then(|(digits, rest)| {
        let name = rest.trim_ascii_start();
        let name = name.strip_prefix(b"*").unwrap_or(name);
        (name.len() < rest.len() && !name.is_empty()).then_some((sum(digits)?, name))
    });
    let (sum, name) = found.ok_or("not MD5<blank><blank>FILE, as md5sum writes it")?;
    if bare.len() == line.len() {
        return Ok((sum, path(name)));
    }
    Ok((sum, path(&unescaped(name))))
}

/// Returns a name of which md5sum has escaped backslashes and line ends.
fn unescaped(name: &[u8]) -> Vec<u8> {
    let mut letters = name.iter().copied();
    let mut bare = Vec::with_capacity(name.len());
    while let Some(letter) = letters.next() {
        bare.push(match letter {
            b'\\' => match letters.next() {
                Some(b'n') => b'\n',
                Some(b'r') => b'\r',
                Some(other) => other,
                None => b'\\',
            },
            letter => letter,
        });
    }
    bare
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::fs;

    #[test]
    fn lines_of_all_programs() {
        let digits = "0123456789abcdef0123456789abcdef";
        let sum = Some(digits.parse::<Md5Sum>().unwrap());
        for line in [
            format!("{digits}  a b.fna"),
            format!("{digits} *a b.fna"),
            format!("{digits}\ta b.fna"),
            format!("{}  a b.fna", digits.to_uppercase()),
            format!("MD5 (a b.fna) = {digits}"),
        ] {
            let (found, name) = entry(line.as_bytes()).unwrap();
            assert_eq!((Some(found), name.to_str()), (sum, Some("a b.fna")), "{line}");
        }
        for (listed, expected) in [("a\\\\b", "a\\b"), ("a\\\\nb", "a\\nb"), ("a\\nb\\r", "a\nb\r")]
        {
            let (_, name) = entry(format!("\\{digits}  {listed}").as_bytes()).unwrap();
            assert_eq!(name.to_str(), Some(expected));
        }
        for line in [
            "<!DOCTYPE html>".to_owned(),
            digits.to_owned(),
            format!("{digits}  "),
            format!("{digits}a.fna"),
            format!("{}  a", &digits[1..]),
            format!("{digits}{digits}  sha256"),
            "MD5 (a) = 5".to_owned(),
            "0123456789abcdef0123456789abcde\u{e9}  a".to_owned(),
        ] {
            assert!(entry(line.as_bytes()).is_err(), "{line}");
        }
    }

    #[test]
    fn lists_name_files_beside_them() {
        let dir = tempfile::tempdir().unwrap();
        let path = |name: &str| dir.path().join(name);
        fs::create_dir(path("d")).unwrap();
        let sum = |digit: &str| digit.repeat(32);
        fs::write(path("d/MD5SUMS"), format!("{}  ./a\n{}  b\n\n", sum("1"), sum("2"))).unwrap();
        let all = [("4", "x/f"), ("5", "c"), ("6", "y/c"), ("3", "b"), ("7", "a")];
        let all = all.map(|(digit, name)| format!("{}  {name}\n", sum(digit))).concat();
        fs::write(path("all"), all).unwrap();
        let names = ["d/a", "d/b", "e/a", "e/c", "e/f"];
        let genomes = names.map(path);
        let read = |given: &[PathBuf]| {
            let of = genomes.iter().map(PathBuf::as_path);
            let found = Checksums::read(given, &[path("d/MD5SUMS")], of).unwrap();
            genomes.clone().map(|path| found.of(&path).map(|sum| sum.to_string()[..1].to_owned()))
        };
        let some = |digit: &str| Some(digit.to_owned());
        assert_eq!(read(&[]), [some("1"), some("2"), None, None, None]);
        // By name, files in other folders are found only if this is unambiguous: c has two sums, and two files are
        // named a.
        assert_eq!(read(&[path("all")]), [some("1"), some("2"), None, None, some("4")]);
        fs::write(path("all"), format!("{}  ok\nDear user,\n", sum("1"))).unwrap();
        let error = Checksums::read(&[path("all")], &[], []).unwrap_err().to_string();
        assert!(error.ends_with("all: line 2: not MD5<blank><blank>FILE, as md5sum writes it"));
    }

    proptest! {
        #[test]
        fn any_line_is_an_entry_or_an_error(line in proptest::collection::vec(any::<u8>(), 0..60)) {
            let _ = entry(&line);
        }
    }
}
