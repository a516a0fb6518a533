//! The file format of distributions, as Bracken reads and writes it.

use std::collections::HashSet;
use std::fmt::Write as _;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use merganser_io::BYTE_ORDER_MARK;

use super::{Distribution, Share};
use crate::Error;

/// The first line of the file.
const HEADING: &str = "mapped_taxid\tgenome_taxids:kmers_mapped:total_genome_kmers\n";
/// The beginning of the first line, which identifies such files.
const FIRST: &[u8] = b"mapped_taxid\t";
/// The number of bytes that are read to identify a file, after a byte order mark.
const HEAD: u64 = (FIRST.len() + BYTE_ORDER_MARK.len()) as u64;
/// The maximum size of a row in bytes; a row may list all genomes of a library.
const LONGEST: u64 = 256 << 20;

impl Distribution {
    /// Returns the path of the distribution of a merganser database for reads of this length:
    /// `NAME.mgdb.Nmers.kmer_distrib` in the folder of the database.
    pub fn path_beside(database: &Path, read_length: usize) -> PathBuf {
        let mut name = database.as_os_str().to_owned();
        name.push(format!(".{read_length}mers.kmer_distrib"));
        name.into()
    }

    /// Returns the path of the distribution of a Kraken 2 database in `folder`, where `bracken` expects it:
    /// `databaseNmers.kmer_distrib`.
    pub fn path_in(folder: &Path, read_length: usize) -> PathBuf {
        folder.join(format!("database{read_length}mers.kmer_distrib"))
    }

    /// Returns the content of the file.
    pub fn text(&self) -> String {
        let mut text = HEADING.to_owned();
        for (taxid, shares) in &self.rows {
            // Writing to a String cannot fail.
            let _ = write!(text, "{taxid}\t");
            for Share { genome, reads, total } in shares {
                let _ = write!(text, "{genome}:{reads}:{total} ");
            }
            text.push('\n');
        }
        text
    }

    /// Reads a distribution, plain or compressed.
    ///
    /// # Errors
    /// If the file cannot be read, has no rows, or is malformed; the error names the line.
    pub fn read(path: impl AsRef<Path>) -> Result<Distribution, Error> {
        let path = path.as_ref();
        let failed = |source| Error::File { path: path.to_owned(), source };
        let text = merganser_io::open_text(path).map_err(failed)?;
        let mut lines = BufReader::with_capacity(1 << 18, text);
        let mut distribution = Distribution::default();
        let (mut seen, mut line, mut number) = (HashSet::new(), Vec::new(), 0u64);
        let wrong =
            |number: u64, what: String| Err(Error::content(path, format!("line {number}: {what}")));
        loop {
            line.clear();
            number += 1;
            let most = if number == 1 { HEAD } else { LONGEST };
            let read = (&mut lines).take(most).read_until(b'\n', &mut line).map_err(failed)?;
            let head = line.strip_prefix(BYTE_ORDER_MARK).unwrap_or(&line);
            if number == 1 && !head.starts_with(FIRST) {
                return Err(Error::content(
                    path,
                    "not a distribution of Bracken (*.kmer_distrib): its first line does not begin with \
                     `mapped_taxid`",
                ));
            }
            if read == 0 && distribution.rows.is_empty() {
                return Err(Error::content(
                    path,
                    "the distribution is a heading without rows: make it again from the genomes of the \
                     database",
                ));
            }
            if read == 0 {
                return Ok(distribution);
            }
            if read as u64 == LONGEST {
                return wrong(number, "longer than a row of all genomes can be".to_owned());
            }
            if number == 1 {
                // Skips the rest of the first line.
                if !line.ends_with(b"\n") {
                    lines.skip_until(b'\n').map_err(failed)?;
                }
                continue;
            }
            if line.trim_ascii().is_empty() {
                continue;
            }
            // Bracken writes a blank behind each entry.
            if !line.ends_with(b"\n") && !line.ends_with(b" ") {
                return wrong(number, "it has no line end: the file is cut short".to_owned());
            }
            match row(&line) {
                Ok(row) if seen.insert(row.0) => distribution.rows.push(row),
                Ok((taxid, _)) => return wrong(number, format!("taxid {taxid} has a row already")),
                Err(what) => return wrong(number, what),
            }
        }
    }
}

/// Parses a row of the file; the error says what is wrong with it.
fn row(line: &[u8]) -> Result<(u32, Vec<Share>), String> {
    let shape = || "not TAXID<TAB>GENOME:READS:TOTAL …".to_owned();
    let text = std::str::from_utf8(line).map_err(|_| shape())?.trim();
    let (taxid, shares) = text.split_once('\t').ok_or_else(shape)?;
    let taxid = taxid.parse().map_err(|_| shape())?;
    let mut genomes = HashSet::new();
    let share = |text: &str| {
        let mut fields = text.split(':').map(str::parse::<u64>);
        let (Some(Ok(genome)), Some(Ok(reads)), Some(Ok(total)), None) =
            (fields.next(), fields.next(), fields.next(), fields.next())
        else {
            return Err(shape());
        };
        let genome = u32::try_from(genome).map_err(|_| shape())?;
        if reads > total || total == 0 {
            return Err(format!(
                "`{text}`: {reads} of {total} reads cannot be assigned to the taxon"
            ));
        }
        if !genomes.insert(genome) {
            return Err(format!("genome {genome} occurs twice"));
        }
        Ok(Share { genome, reads, total })
    };
    let shares = shares.split_ascii_whitespace().map(share).collect::<Result<_, _>>()?;
    Ok((taxid, shares))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Distribution, String> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.kmer_distrib");
        std::fs::write(&path, text).unwrap();
        let name = path.display().to_string();
        Distribution::read(&path).map_err(|error| error.to_string().replace(&name, "FILE"))
    }

    #[test]
    fn what_is_written_is_read() {
        let share = |genome, reads, total| Share { genome, reads, total };
        let rows = vec![(0, vec![share(7, 1, 9)]), (5, vec![share(7, 8, 9), share(8, 3, 3)])];
        let distribution = Distribution { rows, ..Distribution::default() };
        assert_eq!(read(&distribution.text()), Ok(distribution));
        // Bracken's own sample data has entries with 0 reads of a genome.
        let none = read(&format!("\u{feff}{HEADING}5\t7:0:9 8:3:3 \n")).unwrap();
        assert_eq!(none.rows, [(5, vec![share(7, 0, 9), share(8, 3, 3)])]);
        // The line end of the last row may be missing, but not the blank behind its last entry.
        let last = format!("{HEADING}5\t7:8:9 ");
        assert_eq!(read(&last).unwrap().rows, [(5, vec![share(7, 8, 9)])]);
        let cut = read(last.trim_end()).unwrap_err();
        assert_eq!(cut, "FILE: line 2: it has no line end: the file is cut short");
    }

    #[test]
    fn what_is_wrong_is_named() {
        let foreign = "FILE: not a distribution of Bracken (*.kmer_distrib): its first line does not \
                       begin with `mapped_taxid`";
        for text in ["", "\n", "5\t7:8:9\n"] {
            assert_eq!(read(text), Err(foreign.to_owned()));
        }
        let shape = "not TAXID<TAB>GENOME:READS:TOTAL …";
        for (row, what) in [
            ("5 7:8:9", shape),
            ("x\t7:8:9", shape),
            ("5\t7:8", shape),
            ("5\t7:8:9:1", shape),
            ("5\t7:-8:9", shape),
            ("5\t7777777777:8:9", shape),
            ("5\t7:8:9 7:1:9", "genome 7 occurs twice"),
            ("5\t7:0:0", "`7:0:0`: 0 of 0 reads cannot be assigned to the taxon"),
            ("5\t7:10:9", "`7:10:9`: 10 of 9 reads cannot be assigned to the taxon"),
        ] {
            let text = format!("{HEADING}1\t7:1:9 \n{row}\n");
            assert_eq!(read(&text), Err(format!("FILE: line 3: {what}")), "{row}");
        }
        let empty = "FILE: the distribution is a heading without rows: make it again from the genomes of the \
                     database";
        for text in [HEADING, HEADING.trim_end(), &format!("{HEADING}\n \n")] {
            assert_eq!(read(text), Err(empty.to_owned()));
        }
        // An endless file is read only as far as needed to identify it.
        assert!(Distribution::read("/dev/zero").is_err());
        let twice = format!("{HEADING}1\t7:1:9 \n1\t8:1:9\n");
        assert_eq!(read(&twice), Err("FILE: line 3: taxid 1 has a row already".to_owned()));
    }
}
