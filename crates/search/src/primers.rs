//! Pairs of primers from files.

use std::collections::HashMap;
use std::path::Path;

use merganser_io::{Lines, check_cell, shown};
use merganser_run::{counted, thousands};

use crate::patterns::MAX_PATTERNS;
use crate::{Error, Pattern};

/// A pair of primers, both from 5' to 3'.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PrimerPair {
    /// The name of the pair.
    pub name: String,
    /// The forward primer.
    pub forward: Pattern,
    /// The reverse primer.
    pub reverse: Pattern,
}

impl PrimerPair {
    /// Creates a pair. The names of the primers are that of the pair with `_F` and `_R`.
    ///
    /// # Errors
    /// If a primer is not a pattern.
    pub fn new(
        name: impl Into<String>,
        forward: &[u8],
        reverse: &[u8],
    ) -> Result<PrimerPair, Error> {
        let name = name.into();
        let forward = Pattern::new(format!("{name}_F"), forward)?;
        let reverse = Pattern::new(format!("{name}_R"), reverse)?;
        Ok(PrimerPair { name, forward, reverse })
    }

    /// Reads pairs from a file, plain or compressed; `-` is stdin. Each line has a name, the forward primer and the reverse
    /// primer, separated by tabs. Blank lines and lines that begin with `#` are skipped.
    ///
    /// # Errors
    /// If the file cannot be read or has no pairs, a primer is invalid, or a name occurs twice.
    pub fn read(path: &Path) -> Result<Vec<PrimerPair>, Error> {
        let mut pairs: Vec<PrimerPair> = Vec::new();
        let mut known: HashMap<String, u64> = HashMap::new();
        let mut lines = Lines::open_or_stdin(path)?;
        while let Some((number, line)) = lines.next_line()? {
            let line = line.trim_ascii_end();
            if line.is_empty() || line[0] == b'#' {
                continue;
            }
            let wrong =
                |problem: &str| Error::content(shown(path), format!("line {number}: {problem}"));
            if pairs.len() == MAX_PATTERNS / 2 {
                let most = thousands(MAX_PATTERNS as u64 / 2);
                return Err(wrong(&format!(
                    "these are more than {most} pairs: search them in several runs"
                )));
            }
            let pair = PrimerPair::of_line(line).map_err(|problem| wrong(&problem))?;
            let pair = pair.at(shown(path), number);
            if let Some(first) = known.insert(pair.name.clone(), number) {
                let problem = format!(
                    "line {first} has a pair of this name, too: leave one out, or give it another name"
                );
                return Err(wrong(&problem));
            }
            pairs.push(pair);
        }
        if pairs.is_empty() {
            let reason = "it has no pairs of primers: give lines of NAME<TAB>FORWARD<TAB>REVERSE";
            return Err(Error::content(shown(path), reason));
        }
        Ok(pairs)
    }

    /// Sets the file and the line that messages name.
    fn at(self, path: &Path, line: u64) -> PrimerPair {
        let PrimerPair { name, forward, reverse } = self;
        PrimerPair { name, forward: forward.at(path, line), reverse: reverse.at(path, line) }
    }

    fn of_line(line: &[u8]) -> Result<PrimerPair, String> {
        let cells: Vec<&[u8]> = line.split(|&byte| byte == b'\t').map(<[u8]>::trim_ascii).collect();
        let [name, forward, reverse] = cells[..] else {
            let count = counted(cells.len() as u64, "column");
            return Err(format!(
                "{count}: write NAME<TAB>FORWARD<TAB>REVERSE, both primers from 5' to 3'"
            ));
        };
        let name = std::str::from_utf8(name)
            .map_err(|_| "the name is not UTF-8: save the file as UTF-8")?;
        if name.is_empty() {
            return Err("a pair without a name".to_owned());
        }
        check_cell(name.as_ref())?;
        PrimerPair::new(name, forward, reverse).map_err(|error| error.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Vec<PrimerPair>, String> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("p");
        std::fs::write(&path, text).unwrap();
        let failed = |error: Error| error.to_string().replace(&*path.to_string_lossy(), "p");
        PrimerPair::read(&path).map_err(failed)
    }

    #[test]
    fn pairs_have_a_line_each() {
        let pairs = read("# 16S\nV4\tGTGYCAGCMGCCGCGGTAA\tGGACTACNVGGGTWTCTAAT\r\n\nx y\tac\tgt\n")
            .unwrap();
        let primers = |pair: &PrimerPair| {
            [&pair.forward, &pair.reverse].map(|one| {
                (one.name().to_owned(), String::from_utf8(one.letters().to_vec()).unwrap())
            })
        };
        let expected =
            PrimerPair::new("V4", b"GTGYCAGCMGCCGCGGTAA", b"GGACTACNVGGGTWTCTAAT").unwrap();
        assert_eq!((pairs.len(), &pairs[0].name), (2, &expected.name));
        assert_eq!(primers(&pairs[0]), primers(&expected));
        assert_eq!(primers(&pairs[1])[1], ("x y_R".to_owned(), "GT".to_owned()));
    }

    #[test]
    fn what_is_no_pair_is_named() {
        for (text, problem) in [
            ("", "p: it has no pairs of primers: give lines of NAME<TAB>FORWARD<TAB>REVERSE"),
            (
                "a\tACG\n",
                "p: line 1: 2 columns: write NAME<TAB>FORWARD<TAB>REVERSE, both primers from 5' to 3'",
            ),
            (
                "a\tA\tC\n\na\tG\tT\n",
                "p: line 3: line 1 has a pair of this name, too: leave one out, or give it another name",
            ),
            (
                "a\tA!\tC\n",
                "p: line 1: pattern a_F: '!' at letter 2 is no IUPAC letter of DNA: use A, C, G, T, U and RYSWKMBDHVN",
            ),
            (
                "a\tA\t\n",
                "p: line 1: 2 columns: write NAME<TAB>FORWARD<TAB>REVERSE, both primers from 5' to 3'",
            ),
            ("\tA\tC\n", "p: line 1: a pair without a name"),
        ] {
            assert_eq!(read(text).unwrap_err(), problem);
        }
    }
}
