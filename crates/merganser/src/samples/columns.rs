//! The columns of sample sheets by their names, and rows that are read by them.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

use merganser_io::{Input, ReadInput};

/// The content of a sheet's columns.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Content {
    /// Whether files of reads that are not mates contain pairs.
    pub(crate) interleaved: bool,
    /// Whether samples have assemblies, too. Then a sheet has a header, and columns such as `fasta` are assemblies.
    pub(crate) assemblies: bool,
}

/// A row of a sheet.
pub(super) struct Row<'c> {
    pub(super) name: &'c [u8],
    pub(super) segments: Vec<ReadInput>,
    pub(super) assemblies: Vec<PathBuf>,
}

impl<'c> Row<'c> {
    pub(super) fn of_reads(name: &'c [u8], reads: ReadInput) -> Row<'c> {
        Row { name, segments: vec![reads], assemblies: Vec::new() }
    }
}

pub(super) fn file(cell: &[u8]) -> Input {
    Input::File(OsStr::from_bytes(cell).into())
}

/// Makes the input of one file of reads that is not `-1` or `-2`.
pub(super) fn single(cell: &[u8], interleaved: bool) -> ReadInput {
    match interleaved {
        true => ReadInput::Interleaved(file(cell)),
        false => ReadInput::Single(file(cell)),
    }
}

/// Names of columns of samples, the best first. Names are in lower case and have only letters and digits.
const SAMPLE: [&str; 5] = ["sample", "sampleid", "samplename", "id", "name"];
/// Names of columns of first and of second mates.
const MATES: [[&str; 12]; 2] = [
    [
        "fastq1",
        "fq1",
        "reads1",
        "read1",
        "mates1",
        "mate1",
        "r1",
        "forward",
        "forwardreads",
        "forwardabsolutefilepath",
        "shortreads1",
        "fastqr1",
    ],
    [
        "fastq2",
        "fq2",
        "reads2",
        "read2",
        "mates2",
        "mate2",
        "r2",
        "reverse",
        "reversereads",
        "reverseabsolutefilepath",
        "shortreads2",
        "fastqr2",
    ],
];
/// Names of columns of single reads, or of files of any reads.
const SINGLES: [&str; 14] = [
    "reads",
    "read",
    "fastq",
    "fasta",
    "fq",
    "fa",
    "fastx",
    "file",
    "path",
    "longreads",
    "singles",
    "absolutefilepath",
    "bam",
    "cram",
];

/// Names of columns of assemblies, for commands that read assemblies.
const ASSEMBLIES: [&str; 16] = [
    "assembly",
    "assembly1",
    "assembly2",
    "assemblies",
    "asm",
    "contigs",
    "genome",
    "hap1",
    "hap2",
    "haplotype1",
    "haplotype2",
    "primary",
    "alternate",
    "fasta",
    "fasta2",
    "fa",
];

/// Whether a cell looks like the path of a file of reads, not like the name of a column.
fn is_path(cell: &[u8]) -> bool {
    cell.iter().any(|byte| matches!(byte, b'.' | b'/'))
}

/// A sheet's first line, if it has names of columns.
pub(super) struct Header {
    /// The columns; `None` if they have the order of rows without a header, which may then have more or fewer cells.
    pub(super) columns: Option<Columns>,
}

/// The indices of columns.
pub(super) struct Columns {
    count: usize,
    sample: usize,
    mates: [Option<usize>; 2],
    singles: Vec<usize>,
    /// Empty for commands that read no assemblies.
    assemblies: Vec<usize>,
}

impl Header {
    pub(super) fn of(cells: &[Vec<u8>], content: Content) -> Result<Option<Header>, String> {
        let plain = |cell: &Vec<u8>| {
            let letters = cell.iter().filter(|byte| byte.is_ascii_alphanumeric());
            letters.map(|byte| char::from(byte.to_ascii_lowercase())).collect::<String>()
        };
        let names: Vec<String> = cells.iter().map(plain).collect();
        let all = |known: &[&str]| -> Vec<usize> {
            (0..names.len()).filter(|&at| known.contains(&&names[at][..])).collect()
        };
        let place = |known: &str| names.iter().position(|name| name == known);
        let sample = SAMPLE.iter().find_map(|known| place(known));
        let mates = MATES.map(|known| all(&known));
        let assemblies = if content.assemblies { all(&ASSEMBLIES) } else { Vec::new() };
        let mut singles = all(&SINGLES);
        singles.retain(|at| !assemblies.contains(at));
        let has_reads = mates.iter().any(|mates| !mates.is_empty()) || !singles.is_empty();
        let sample = sample.filter(|_| has_reads || names[0] == SAMPLE[0]);
        if content.assemblies && (sample.is_none() || !has_reads || assemblies.is_empty()) {
            return Err("give the columns names: sample, fastq_1 and fastq_2 or reads, and \
                        assembly or hap1 and hap2"
                .into());
        }
        let Some(sample) = sample else { return Ok(None) };
        if !has_reads {
            // The row of a sample named `sample`, in a sheet without a header.
            if cells.len() <= 3 && cells[1..].iter().any(|cell| is_path(cell)) {
                return Ok(None);
            }
            return Err(
                "no column is recognized as reads: name them fastq_1 and fastq_2, or reads".into(),
            );
        }
        let is_first = |places: &[usize]| *places == [1];
        let is_in_order = sample == 0
            && assemblies.is_empty()
            && (is_first(&mates[0]) != is_first(&singles))
            && match cells.len() {
                2 => true,
                3 => mates[1] == [2],
                _ => false,
            };
        if is_in_order {
            return Ok(Some(Header { columns: None }));
        }
        if mates.iter().any(|mates| mates.len() > 1) {
            return Err("two columns have the same mates".into());
        }
        let mates = mates.map(|mates| mates.first().copied());
        let columns = Columns { count: cells.len(), sample, mates, singles, assemblies };
        Ok(Some(Header { columns: Some(columns) }))
    }
}

impl Columns {
    /// Parses a row by the names of its columns. Columns other than those of samples, reads and assemblies are ignored.
    pub(super) fn row<'c>(
        &self,
        cells: &'c [Vec<u8>],
        content: Content,
    ) -> Result<Row<'c>, String> {
        let interleaved = content.interleaved;
        if cells.len() > self.count {
            return Err(format!("{} cells, but the header has {}", cells.len(), self.count));
        }
        let cell = |at: usize| cells.get(at).map_or(&b""[..], |cell| cell);
        let [one, two] = self.mates.map(|at| at.map_or(&b""[..], cell));
        let mut segments = Vec::new();
        match (one, two) {
            (b"", b"") => {}
            (b"", _) => return Err("there are second mates without first mates".into()),
            (reads, b"") => segments.push(single(reads, interleaved)),
            (one, two) => segments.push(ReadInput::Pair(file(one), file(two))),
        }
        let singles = self.singles.iter().map(|&at| cell(at)).filter(|cell| !cell.is_empty());
        segments.extend(singles.map(|cell| single(cell, interleaved)));
        let assemblies = self.assemblies.iter().map(|&at| cell(at)).filter(|cell| !cell.is_empty());
        let assemblies: Vec<PathBuf> =
            assemblies.map(|cell| OsStr::from_bytes(cell).into()).collect();
        match segments.is_empty() && assemblies.is_empty() {
            true if content.assemblies => {
                Err("there are no reads and no assembly in this row".into())
            }
            true => Err("there are no reads in this row".into()),
            false => Ok(Row { name: cell(self.sample), segments, assemblies }),
        }
    }
}
