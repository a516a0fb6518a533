//! The parser of sample sheets. It is self-contained, because the fuzz target `sheet` includes this file.

use std::collections::HashMap;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;

use anyhow::{Result, bail};
use merganser_io::{BYTE_ORDER_MARK, Input, ReadInput, check_stored_name};

/// A sample and its reads, with the line of each row.
pub(crate) type SampleRows = (OsString, Vec<(usize, ReadInput)>);

/// Parses a sheet into samples.
///
/// # Errors
/// If the sheet is invalid; the message names the line.
pub(crate) fn parse(text: &[u8], interleaved: bool) -> Result<Vec<SampleRows>> {
    let text = text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(text);
    // Old spreadsheets end lines with only a carriage return.
    let end = if text.trim_ascii().contains(&b'\n') { b'\n' } else { b'\r' };
    let mut sheet = Sheet { interleaved, ..Sheet::default() };
    for (number, line) in text.split(|&byte| byte == end).enumerate() {
        if let Err(what) = sheet.take(number + 1, line) {
            bail!("line {}: {what}", number + 1);
        }
    }
    if sheet.samples.is_empty() {
        bail!("no sample in this sheet");
    }
    Ok(sheet.samples)
}

/// A parser that takes one line after the other.
#[derive(Default)]
struct Sheet {
    interleaved: bool,
    /// Whether a line was parsed.
    is_begun: bool,
    /// The columns that the header names.
    columns: Option<Columns>,
    /// The separator of columns in the header.
    separator: Option<u8>,
    samples: Vec<SampleRows>,
    places: HashMap<OsString, usize>,
}

impl Sheet {
    fn take(&mut self, number: usize, line: &[u8]) -> Result<(), String> {
        let bare = line.trim_ascii();
        if bare.is_empty() || bare.starts_with(b"#") {
            return Ok(());
        }
        let separator = self.separator(line);
        let mut cells = cells(line, separator)?;
        while cells.last().is_some_and(Vec::is_empty) {
            cells.pop();
        }
        // An empty row of a spreadsheet.
        if cells.is_empty() {
            return Ok(());
        }
        if !std::mem::replace(&mut self.is_begun, true) {
            if is_illumina(&cells[0]) {
                return Err(
                    "this is the sample sheet of a sequencer's run: give a table with the files of \
                            each sample"
                        .into(),
                );
            }
            if let Some(header) = Header::of(&cells)? {
                self.separator = Some(separator);
                self.columns = header.columns;
                return Ok(());
            }
        }
        let (name, segments) = match &self.columns {
            Some(columns) => columns.row(&cells, self.interleaved)?,
            None => row(&cells, self.interleaved)?,
        };
        self.add(number, name, segments)
    }

    /// Returns the separator between the cells of a line.
    fn separator(&self, line: &[u8]) -> u8 {
        match self.separator {
            _ if line.contains(&b'\t') => b'\t',
            Some(separator) if line.contains(&separator) => separator,
            _ if line.contains(&b',') => b',',
            _ => b';',
        }
    }

    fn add(&mut self, line: usize, name: &[u8], segments: Vec<ReadInput>) -> Result<(), String> {
        let name = OsStr::from_bytes(name);
        check_stored_name(name)?;
        if segments.iter().flat_map(ReadInput::inputs).any(|input| *input == file(b"-")) {
            return Err("the reads of a sheet come from files, not from stdin".into());
        }
        let place = *self.places.entry(name.to_owned()).or_insert(self.samples.len());
        if place == self.samples.len() {
            self.samples.push((name.to_owned(), Vec::new()));
        }
        self.samples[place].1.extend(segments.into_iter().map(|segment| (line, segment)));
        Ok(())
    }
}

fn file(cell: &[u8]) -> Input {
    Input::File(OsStr::from_bytes(cell).into())
}

/// Makes the input of one file of reads that is not `-1` or `-2`.
fn single(cell: &[u8], interleaved: bool) -> ReadInput {
    match interleaved {
        true => ReadInput::Interleaved(file(cell)),
        false => ReadInput::Single(file(cell)),
    }
}

/// Parses a row without a header.
fn row(cells: &[Vec<u8>], interleaved: bool) -> Result<(&[u8], Vec<ReadInput>), String> {
    match cells {
        [name, reads] if !reads.is_empty() => Ok((name, vec![single(reads, interleaved)])),
        [name, one, two] if !one.is_empty() => {
            Ok((name, vec![ReadInput::Pair(file(one), file(two))]))
        }
        _ => Err("not SAMPLE<TAB>READS or SAMPLE<TAB>MATES1<TAB>MATES2 (or with commas)".into()),
    }
}

/// Splits a line into cells. Cells may be quoted; then they may contain separators and doubled quotes.
fn cells(line: &[u8], separator: u8) -> Result<Vec<Vec<u8>>, String> {
    let is_blank = |byte: &u8| byte.is_ascii_whitespace() && *byte != separator;
    let (mut cells, mut rest) = (Vec::new(), line);
    loop {
        while rest.first().is_some_and(is_blank) {
            rest = &rest[1..];
        }
        let cell;
        (cell, rest) = match rest.strip_prefix(b"\"") {
            Some(rest) => quoted(rest)?,
            None => {
                let end = rest.iter().position(|&byte| byte == separator).unwrap_or(rest.len());
                (rest[..end].trim_ascii().to_vec(), &rest[end..])
            }
        };
        cells.push(cell);
        while rest.first().is_some_and(is_blank) {
            rest = &rest[1..];
        }
        match rest.split_first() {
            None => return Ok(cells),
            Some((&byte, behind)) if byte == separator => rest = behind,
            Some(_) => return Err("there is text after a cell in quotes".into()),
        }
    }
}

/// Returns a quoted cell without its closing quote, and the rest of the line.
fn quoted(mut rest: &[u8]) -> Result<(Vec<u8>, &[u8]), String> {
    let mut cell = Vec::new();
    loop {
        let end = rest.iter().position(|&byte| byte == b'"').ok_or("a quote is not closed")?;
        cell.extend_from_slice(&rest[..end]);
        rest = &rest[end + 1..];
        match rest.strip_prefix(b"\"") {
            Some(behind) => {
                cell.push(b'"');
                rest = behind;
            }
            None => return Ok((cell.trim_ascii().to_vec(), rest)),
        }
    }
}

/// Whether a sheet's first cell is the first cell of a sequencer's sample sheet.
fn is_illumina(cell: &[u8]) -> bool {
    [&b"[header]"[..], b"[data]", b"[bclconvert_data]"]
        .iter()
        .any(|begin| cell.eq_ignore_ascii_case(begin))
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

/// A sheet's first line, if it has names of columns.
struct Header {
    /// The columns; `None` if they have the order of rows without a header, which may then have more or fewer cells.
    columns: Option<Columns>,
}

/// The indices of columns.
struct Columns {
    count: usize,
    sample: usize,
    mates: [Option<usize>; 2],
    singles: Vec<usize>,
}

impl Header {
    fn of(cells: &[Vec<u8>]) -> Result<Option<Header>, String> {
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
        let singles = all(&SINGLES);
        let has_reads = mates.iter().any(|mates| !mates.is_empty()) || !singles.is_empty();
        let Some(sample) = sample.filter(|_| has_reads || names[0] == SAMPLE[0]) else {
            return Ok(None);
        };
        if !has_reads {
            return match cells.len() {
                // Parsed as rows without a header.
                ..=3 => Ok(Some(Header { columns: None })),
                _ => {
                    Err("no column is recognized as reads: name them fastq_1 and fastq_2, or reads"
                        .into())
                }
            };
        }
        let is_first = |places: &[usize]| *places == [1];
        let is_in_order = sample == 0
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
        let columns = Columns { count: cells.len(), sample, mates, singles };
        Ok(Some(Header { columns: Some(columns) }))
    }
}

impl Columns {
    /// Parses a row by the names of its columns. Columns other than those of samples and reads are ignored.
    fn row<'c>(
        &self,
        cells: &'c [Vec<u8>],
        interleaved: bool,
    ) -> Result<(&'c [u8], Vec<ReadInput>), String> {
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
        match segments.is_empty() {
            true => Err("there are no reads in this row".into()),
            false => Ok((cell(self.sample), segments)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Samples and reads without lines.
    type Sample = (OsString, Vec<ReadInput>);

    fn bare(rows: Vec<SampleRows>) -> Vec<Sample> {
        let segments = |rows: Vec<(usize, ReadInput)>| rows.into_iter().map(|row| row.1).collect();
        rows.into_iter().map(|(name, rows)| (name, segments(rows))).collect()
    }

    fn parse(text: &str, interleaved: bool) -> Result<Vec<Sample>> {
        super::parse(text.as_bytes(), interleaved).map(bare)
    }

    #[test]
    fn names_may_have_any_bytes() {
        let samples = bare(super::parse(b"s\xff\t\xe9.fq\n", false).unwrap());
        let file = Input::File(OsStr::from_bytes(b"\xe9.fq").into());
        let expected = (OsStr::from_bytes(b"s\xff").to_owned(), vec![ReadInput::Single(file)]);
        assert_eq!(samples, [expected]);
    }

    #[test]
    fn lines_of_a_sample_belong_together() {
        let file = |name: &str| Input::File(name.into());
        let text =
            "sample,fastq_1,fastq_2\n# lanes\nb,1.fq,2.fq\r\na,x.fq,\n\nb,3.fq,4.fq\na\ty.fq\n";
        let pair = |one, two| ReadInput::Pair(file(one), file(two));
        assert_eq!(
            parse(text, false).unwrap(),
            [
                ("b".into(), vec![pair("1.fq", "2.fq"), pair("3.fq", "4.fq")]),
                (
                    "a".into(),
                    vec![ReadInput::Single(file("x.fq")), ReadInput::Single(file("y.fq"))]
                ),
            ]
        );
        assert_eq!(
            parse("a\tb c.fq", true).unwrap()[0].1,
            [ReadInput::Interleaved(file("b c.fq"))]
        );
    }

    #[test]
    fn what_is_wrong_is_named() {
        let message = |text| parse(text, false).unwrap_err().to_string();
        let shape = "not SAMPLE<TAB>READS or SAMPLE<TAB>MATES1<TAB>MATES2 (or with commas)";
        assert_eq!(message("a\n"), format!("line 1: {shape}"));
        assert_eq!(message("a,b\n\na,b,c,d\n"), format!("line 3: {shape}"));
        assert_eq!(
            message("x/y\tb.fq"),
            "line 1: the name 'x/y' has / or NUL in it or . at its beginning, and files are named after it"
        );
        assert_eq!(message("a\t-"), "line 1: the reads of a sheet come from files, not from stdin");
        assert_eq!(message("# nothing\nsample\treads\n"), "no sample in this sheet");
    }

    #[test]
    fn sheets_of_spreadsheets_are_read() {
        let expected = parse("A\t1.fq\t2.fq\nB\tx.fq\n", false).unwrap();
        for text in [
            "\u{feff}sample,fastq_1,fastq_2\r\nA,1.fq,2.fq\r\nB,x.fq,\r\n",
            "\"sample\",\"fastq_1\",\"fastq_2\"\n\"A\",\"1.fq\",\"2.fq\"\n\"B\",\"x.fq\",\"\"\n",
            "A,1.fq,2.fq,,,\n,,,\n\n  \nB,x.fq,,,,\n",
            "Sample;FASTQ_1;Fastq 2\nA;1.fq;2.fq\nB;x.fq;\n",
            "SAMPLE\tR1\tR2\rA\t1.fq\t2.fq\rB\tx.fq",
            " A , 1.fq , 2.fq \nB,\"x.fq\" , \n",
            "sample,fastq_2,fastq_1\nA,2.fq,1.fq\nB,,x.fq\n",
            "# made by hand\nsample,reads1,reads2\nA,1.fq,2.fq\nB,x.fq\n",
        ] {
            assert_eq!(parse(text, false).unwrap(), expected, "{text}");
        }
        let file = |name: &str| Input::File(name.into());
        let found = parse("A,\"a, \"\"b\"\".fq\"\n", false).unwrap();
        assert_eq!(found[0].1, [ReadInput::Single(file("a, \"b\".fq"))]);
        // Quotes within a name are its letters.
        let found = parse("A\tx\"y\".fq\n", false).unwrap();
        assert_eq!(found[0].1, [ReadInput::Single(file("x\"y\".fq"))]);
    }

    #[test]
    fn columns_are_found_by_their_names() {
        let file = |name: &str| Input::File(name.into());
        let pair = |one, two| ReadInput::Pair(file(one), file(two));
        let single = |name| ReadInput::Single(file(name));
        let text = "sample,run_accession,instrument_platform,fastq_1,fastq_2,fasta\n\
                    A,R1,ILLUMINA,1.fq,2.fq,\nA,R2,OXFORD_NANOPORE,n.fq,,\nB,,ILLUMINA,,,c.fa\n";
        assert_eq!(
            parse(text, false).unwrap(),
            [
                ("A".into(), vec![pair("1.fq", "2.fq"), single("n.fq")]),
                ("B".into(), vec![single("c.fa")]),
            ]
        );
        for text in [
            "patient,sample,lane,fastq_1,fastq_2\nP,A,L1,1.fq,2.fq\n",
            "sampleID\tforwardReads\treverseReads\trun\nA\t1.fq\t2.fq\t1\n",
            "sample-id\tforward-absolute-filepath\treverse-absolute-filepath\nA\t1.fq\t2.fq\n",
            "sample,group,short_reads_1,short_reads_2,long_reads\nA,0,1.fq,2.fq,\n",
        ] {
            assert_eq!(
                parse(text, false).unwrap(),
                [("A".into(), vec![pair("1.fq", "2.fq")])],
                "{text}"
            );
        }
        // Rows whose length differs from the header's, with columns in the known order.
        let found = parse("sample\treads\nA\t1.fq\t2.fq\n", false).unwrap();
        assert_eq!(found, [("A".into(), vec![pair("1.fq", "2.fq")])]);
        // Names that say nothing, in the known order.
        let found = parse("sample\tleft\tright\nA\t1.fq\t2.fq\n", false).unwrap();
        assert_eq!(found, [("A".into(), vec![pair("1.fq", "2.fq")])]);
        let found = parse("sample,fasta\nA,c.fa\n", true).unwrap();
        assert_eq!(found[0].1, [ReadInput::Interleaved(file("c.fa"))]);
    }

    #[test]
    fn what_is_wrong_with_columns_is_named() {
        let message = |text| parse(text, false).unwrap_err().to_string();
        for (text, expected) in [
            ("A,\"x.fq\n", "line 1: a quote is not closed"),
            ("A,\"x\".fq\n", "line 1: there is text after a cell in quotes"),
            (
                "sample,x,y,z\nA,1,2,3\n",
                "line 1: no column is recognized as reads: name them fastq_1 and fastq_2, or reads",
            ),
            ("sample,fastq_1,R1\nA,1,2\n", "line 1: two columns have the same mates"),
            (
                "sample,run,fastq_1,fastq_2\nA,1,,2.fq\n",
                "line 2: there are second mates without first mates",
            ),
            ("sample,run,fastq_1,fastq_2\nA,1,,\n", "line 2: there are no reads in this row"),
            ("sample,run,fastq_1\nA,1,1.fq,2.fq\n", "line 2: 4 cells, but the header has 3"),
            ("sample,fastq_1\n,1.fq\n", "line 2: a name is empty, and files are named after it"),
        ] {
            assert_eq!(message(text), expected, "{text}");
        }
        assert!(
            message("[Header],,,\nIEMFileVersion,4\n")
                .starts_with("line 1: this is the sample sheet of")
        );
    }
}
