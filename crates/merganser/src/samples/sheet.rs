//! The parser of sample sheets. It needs only `columns.rs`, because the fuzz target `sheet` includes these two files.

use std::collections::HashMap;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

use anyhow::{Result, bail};
use merganser_io::{BYTE_ORDER_MARK, Input, ReadInput, check_stored_name};

pub(crate) use super::columns::Content;
use super::columns::{Columns, Header, Row, file, single};

/// A sample of a sheet.
#[derive(Debug, PartialEq)]
pub(crate) struct SampleRows {
    pub(crate) name: OsString,
    /// Its reads, with the line of each row.
    pub(crate) reads: Vec<(usize, ReadInput)>,
    /// Its assemblies.
    pub(crate) assemblies: Vec<PathBuf>,
    /// The lines of rows that have an assembly which no earlier row has.
    pub(crate) new_assemblies: Vec<usize>,
}

/// Parses a sheet into samples.
///
/// # Errors
/// If the sheet is invalid; the message names the line.
pub(crate) fn parse(text: &[u8], content: Content) -> Result<Vec<SampleRows>> {
    let text = text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(text);
    // Old spreadsheets end lines with only a carriage return.
    let lines = text.trim_ascii();
    let is_old = lines.contains(&b'\r') && !lines.contains(&b'\n');
    let end = if is_old { b'\r' } else { b'\n' };
    let mut sheet = Sheet { content, ..Sheet::default() };
    for (number, line) in text.split(|&byte| byte == end).enumerate() {
        if let Err(what) = sheet.take(number + 1, line) {
            bail!("line {}: {what}", number + 1);
        }
    }
    if sheet.samples.is_empty() {
        bail!("no sample in this sheet");
    }
    let lacks = |sample: &&SampleRows| sample.reads.is_empty() || sample.assemblies.is_empty();
    if content.assemblies
        && let Some(SampleRows { name, reads, .. }) = sheet.samples.iter().find(lacks)
    {
        let missing = if reads.is_empty() { "reads" } else { "an assembly" };
        bail!("sample {} lacks {missing}: fill this column in one of its lines", name.display());
    }
    Ok(sheet.samples)
}

/// A parser that takes one line after the other.
#[derive(Default)]
struct Sheet {
    content: Content,
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
            if let Some(header) = Header::of(&cells, self.content)? {
                self.separator = Some(separator);
                self.columns = header.columns;
                return Ok(());
            }
        }
        let Row { name, segments, assemblies } = match &self.columns {
            Some(columns) => columns.row(&cells, self.content)?,
            None => row(&cells, self.content.interleaved)?,
        };
        self.add(number, name, segments, assemblies)
    }

    /// Returns the separator between the cells of a line.
    fn separator(&self, line: &[u8]) -> u8 {
        match self.separator {
            Some(separator) if line.contains(&separator) => separator,
            _ if line.contains(&b'\t') => b'\t',
            _ if line.contains(&b',') => b',',
            _ => b';',
        }
    }

    fn add(
        &mut self,
        line: usize,
        name: &[u8],
        segments: Vec<ReadInput>,
        assemblies: Vec<PathBuf>,
    ) -> Result<(), String> {
        let name = OsStr::from_bytes(name);
        check_stored_name(name)?;
        let reads = segments.iter().flat_map(ReadInput::inputs).filter_map(Input::path);
        for path in reads.chain(assemblies.iter().map(PathBuf::as_path)) {
            check_file(path.as_os_str())?;
        }
        let place = *self.places.entry(name.to_owned()).or_insert(self.samples.len());
        if place == self.samples.len() {
            let (reads, assemblies, new_assemblies) = Default::default();
            let name = name.to_owned();
            self.samples.push(SampleRows { name, reads, assemblies, new_assemblies });
        }
        let sample = &mut self.samples[place];
        sample.reads.extend(segments.into_iter().map(|segment| (line, segment)));
        for assembly in assemblies {
            // Each lane of a sample repeats its assembly.
            if !sample.assemblies.contains(&assembly) {
                sample.assemblies.push(assembly);
                sample.new_assemblies.push(line);
            }
        }
        Ok(())
    }
}

/// Checks that a cell names a file on this machine.
fn check_file(path: &OsStr) -> Result<(), String> {
    if path == "-" {
        return Err("the reads of a sheet come from files, not from stdin".into());
    }
    match path.to_string_lossy().contains("://") {
        true => Err(format!("{} is a URL: download the file and give its path", path.display())),
        false => Ok(()),
    }
}

/// Parses a row without a header.
fn row(cells: &[Vec<u8>], interleaved: bool) -> Result<Row<'_>, String> {
    match cells {
        [name, reads] if !reads.is_empty() => Ok(Row::of_reads(name, single(reads, interleaved))),
        [name, one, two] if !one.is_empty() => {
            Ok(Row::of_reads(name, ReadInput::Pair(file(one), file(two))))
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Samples and reads without lines.
    type Sample = (OsString, Vec<ReadInput>);

    fn bare(rows: Vec<SampleRows>) -> Vec<Sample> {
        let segments = |rows: Vec<(usize, ReadInput)>| rows.into_iter().map(|row| row.1).collect();
        rows.into_iter().map(|rows| (rows.name, segments(rows.reads))).collect()
    }

    fn parse(text: &str, interleaved: bool) -> Result<Vec<Sample>> {
        super::parse(text.as_bytes(), content(interleaved)).map(bare)
    }

    fn content(interleaved: bool) -> Content {
        Content { interleaved, ..Content::default() }
    }

    #[test]
    fn names_may_have_any_bytes() {
        let samples = bare(super::parse(b"s\xff\t\xe9.fq\n", content(false)).unwrap());
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
        assert_eq!(message("\n\na\n"), format!("line 3: {shape}"));
        assert_eq!(message("a,b\ra\r"), format!("line 2: {shape}"));
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
            "sample,fastq_1,fastq_2,strandedness\nA,1.fq,2.fq,auto\n",
            "\u{feff}\"sample\", \"fastq_1\" ,fastq_2,strandedness\r\nA , 1.fq,\"2.fq\",auto\r\n",
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
        // A first sample named `sample`, without a header.
        let found = parse("sample\t1.fq\t2.fq\nA\truns/x\n", false).unwrap();
        let expected = [("sample", pair("1.fq", "2.fq")), ("A", single("runs/x"))];
        assert_eq!(found, expected.map(|(name, reads)| (name.into(), vec![reads])));
        assert_eq!(parse("Sample,x.fq\n", false).unwrap()[0].0, "Sample");
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
            (
                "sample\tleft\tright\nA\t1.fq\t2.fq\n",
                "line 1: no column is recognized as reads: name them fastq_1 and fastq_2, or reads",
            ),
            ("sample,fastq_1,R1\nA,1,2\n", "line 1: two columns have the same mates"),
            (
                "sample,run,fastq_1,fastq_2\nA,1,,2.fq\n",
                "line 2: there are second mates without first mates",
            ),
            ("sample,run,fastq_1,fastq_2\nA,1,,\n", "line 2: there are no reads in this row"),
            ("sample,run,fastq_1\nA,1,1.fq,2.fq\n", "line 2: 4 cells, but the header has 3"),
            (
                "sample,fastq_1\nA,https://x.org/1.fq\n",
                "line 2: https://x.org/1.fq is a URL: download the file and give its path",
            ),
            ("sample,fastq_1\n,1.fq\n", "line 2: a name is empty, and files are named after it"),
        ] {
            assert_eq!(message(text), expected, "{text}");
        }
        assert!(
            message("[Header],,,\nIEMFileVersion,4\n")
                .starts_with("line 1: this is the sample sheet of")
        );
    }

    #[test]
    fn samples_have_assemblies_if_these_are_read() {
        let wanted = Content { assemblies: true, ..Content::default() };
        let parse = |text: &str| super::parse(text.as_bytes(), wanted);
        let text = "sample,fastq_1,fastq_2,hap1,hap2,fasta\nA,1.fq,2.fq,a.fa,b.fa,\n\
                    A,3.fq,,a.fa,,\nB,x.fq,,,,c.fa\n";
        let found = parse(text).unwrap();
        assert_eq!(found[0].reads.len(), 2);
        assert_eq!(found[0].assemblies, [PathBuf::from("a.fa"), "b.fa".into()]);
        assert_eq!(found[1].assemblies, [PathBuf::from("c.fa")]);
        let message = |text| parse(text).unwrap_err().to_string();
        for text in ["A\tx.fq\ty.fq\n", "sample,fastq_1\nA,x\n", "sample,assembly\nA,x\n"] {
            assert!(message(text).starts_with("line 1: give the columns names: sample"), "{text}");
        }
        assert_eq!(
            message("sample,reads,assembly\nA,x.fq,\n"),
            "sample A lacks an assembly: fill this column in one of its lines"
        );
        assert_eq!(
            message("sample,reads,assembly\nA,,x.fa\n"),
            "sample A lacks reads: fill this column in one of its lines"
        );
        // Other commands read no assemblies.
        let others = super::parse(b"sample,reads,assembly\nA,x.fq,y.fa\n", content(false)).unwrap();
        assert!(others[0].assemblies.is_empty());
    }
}
