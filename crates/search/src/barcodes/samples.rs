//! Samples and their barcodes, from files.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use merganser_io::{Lines, check_stored_name, shown};
use merganser_run::thousands;

use crate::{Error, MAX_PATTERN, Pattern};

/// The name of the refused reads, which no sample may have.
pub const UNASSIGNED: &str = "unassigned";

/// The maximum number of samples.
const MAX_SAMPLES: usize = 1 << 16;

/// A sample with its barcodes, each from 5' to 3'.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sample {
    /// The barcode at the start of the molecule, or at either end if there is no other. Its name is that of the sample.
    pub front: Pattern,
    /// The barcode at the start of the molecule's reverse complement.
    pub rear: Option<Pattern>,
}

impl Sample {
    /// Returns the name.
    pub fn name(&self) -> &str {
        self.front.name()
    }

    /// Returns the barcodes.
    pub(crate) fn barcodes(&self) -> impl Iterator<Item = &Pattern> {
        std::iter::once(&self.front).chain(&self.rear)
    }
}

/// The samples of a run: their names differ, and so do their barcodes.
#[derive(Clone, Debug)]
pub struct Samples {
    path: PathBuf,
    all: Vec<Sample>,
}

impl Samples {
    /// Reads a file of samples, plain or compressed; `-` is stdin: lines of SAMPLE, BARCODE and, for dual barcodes, the
    /// second barcode, separated by tabs; or FASTA, in which the name up to the first blank is the sample. Blank lines and
    /// lines that begin with `#` are skipped.
    ///
    /// # Errors
    /// If the file cannot be read or has no samples, a barcode is invalid, a name cannot be that of a file or is
    /// [`UNASSIGNED`], a name or a barcode occurs twice, or only some samples have two barcodes.
    pub fn read(path: &Path) -> Result<Samples, Error> {
        let mut file = SampleFile {
            path: shown(path),
            all: Vec::new(),
            names: HashMap::new(),
            barcodes: HashMap::new(),
            first: None,
            open: None,
        };
        let mut lines = Lines::open_or_stdin(path)?;
        while let Some((number, line)) = lines.next_line()? {
            let line = line.trim_ascii_end();
            if !line.is_empty() && line[0] != b'#' {
                file.take(number, line)?;
            }
        }
        file.finish()
    }

    /// Returns the samples, in the order of the file.
    pub fn all(&self) -> &[Sample] {
        &self.all
    }

    /// Returns the name of the file, for messages.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }
}

/// A line or a record: its line, and its cells.
struct Row {
    line: u64,
    name: Vec<u8>,
    barcodes: Vec<Vec<u8>>,
}

struct SampleFile<'p> {
    path: &'p Path,
    all: Vec<Sample>,
    /// The lines of names and of barcodes.
    names: HashMap<String, u64>,
    barcodes: HashMap<Vec<Vec<u8>>, u64>,
    /// The line of the first sample, and the number of its barcodes.
    first: Option<(u64, usize)>,
    /// The current record if the file is FASTA.
    open: Option<Row>,
}

impl SampleFile<'_> {
    /// Takes a line that is neither blank nor a comment.
    fn take(&mut self, line: u64, text: &[u8]) -> Result<(), Error> {
        if let Some(header) = text.strip_prefix(b">") {
            if self.open.is_none() && !self.all.is_empty() {
                return Err(self.wrong(line, "a header of FASTA after lines of SAMPLE<TAB>BARCODE"));
            }
            self.close()?;
            let end = header.iter().position(u8::is_ascii_whitespace).unwrap_or(header.len());
            let name = header[..end].to_vec();
            self.open = Some(Row { line, name, barcodes: vec![Vec::new()] });
            return Ok(());
        }
        if let Some(row) = &mut self.open {
            row.barcodes[0].extend_from_slice(text.trim_ascii());
            // A barcode that is too long is an error at once: the file may be of anything.
            return if row.barcodes[0].len() > MAX_PATTERN { self.close() } else { Ok(()) };
        }
        let mut cells = text.split(|&byte| byte == b'\t').map(|cell| cell.trim_ascii().to_vec());
        let name = cells.next().unwrap_or_default();
        let barcodes: Vec<Vec<u8>> = cells.take(3).collect();
        if !(1..=2).contains(&barcodes.len()) {
            let problem = "write SAMPLE<TAB>BARCODE or SAMPLE<TAB>FRONT<TAB>REAR";
            return Err(self.wrong(line, problem));
        }
        self.add(&Row { line, name, barcodes })
    }

    /// Adds the current record of FASTA.
    fn close(&mut self) -> Result<(), Error> {
        self.open.take().map_or(Ok(()), |row| self.add(&row))
    }

    /// Adds a sample.
    fn add(&mut self, row: &Row) -> Result<(), Error> {
        let sample = self.sample(row)?;
        let count = row.barcodes.len();
        let (first, usual) = *self.first.get_or_insert((row.line, count));
        if count != usual {
            let problem = format!(
                "{count} barcode(s), and line {first} has {usual}: give all samples one barcode, or all two"
            );
            return Err(self.wrong(row.line, problem));
        }
        if self.all.len() == MAX_SAMPLES {
            let most = thousands(MAX_SAMPLES as u64);
            let problem = format!("these are more than {most} samples, each with a file");
            return Err(self.wrong(row.line, problem));
        }
        if let Some(before) = self.names.insert(sample.name().to_owned(), row.line) {
            let name = sample.name();
            let problem = format!("sample {name} is on line {before}, too: rename one");
            return Err(self.wrong(row.line, problem));
        }
        let mut sets: Vec<Vec<u8>> = sample.barcodes().map(|one| one.sets().to_vec()).collect();
        // Reads of both strands are assigned: barcodes in the other order are the same.
        sets.sort();
        if let Some(before) = self.barcodes.insert(sets, row.line) {
            let problem = format!("line {before} has the same barcode: leave one out");
            return Err(self.wrong(row.line, problem));
        }
        self.all.push(sample);
        Ok(())
    }

    fn finish(mut self) -> Result<Samples, Error> {
        self.close()?;
        if self.all.is_empty() {
            let reason = "it has no samples: give lines of SAMPLE<TAB>BARCODE, or FASTA";
            return Err(Error::content(self.path, reason));
        }
        Ok(Samples { path: self.path.to_owned(), all: self.all })
    }

    fn sample(&self, row: &Row) -> Result<Sample, Error> {
        let not_text = |_| self.wrong(row.line, "the name is not UTF-8: save the file as UTF-8");
        let name = std::str::from_utf8(&row.name).map_err(not_text)?;
        check_stored_name(name.as_ref()).map_err(|problem| self.wrong(row.line, problem))?;
        if name == UNASSIGNED {
            let problem =
                format!("{UNASSIGNED} is the name of the reads without a sample: rename it");
            return Err(self.wrong(row.line, problem));
        }
        let pattern = |letters: &Vec<u8>| match Pattern::new(name, letters) {
            Err(Error::Pattern { problem, .. }) => {
                Err(self.wrong(row.line, format!("barcode of {name}: {problem}")))
            }
            other => Ok(other?.at(self.path, row.line)),
        };
        let rear = row.barcodes.get(1).map(pattern).transpose()?;
        Ok(Sample { front: pattern(&row.barcodes[0])?, rear })
    }

    fn wrong(&self, line: u64, problem: impl std::fmt::Display) -> Error {
        Error::content(self.path, format!("line {line}: {problem}"))
    }
}
