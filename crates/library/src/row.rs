//! Rows of a manifest: a file and the facts about it.

use std::ffi::OsStr;
use std::fmt;
use std::fs::Metadata;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;
use std::str::FromStr;

/// The names of the columns, in order.
pub(super) const COLUMNS: [&str; 9] =
    ["path", "accession", "taxon", "sequences", "bases", "md5", "size", "mtime", "status"];
/// The content of a cell without a value.
const UNKNOWN: &[u8] = b"-";

/// A file of a library.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Row {
    /// The path of the file, relative to the folder of the manifest, or absolute.
    pub path: PathBuf,
    /// The accession of the assembly with its version (`GCF_000005845.2`), or the file name without suffixes.
    pub accession: String,
    /// The taxon of all sequences of the file, if a list names one.
    pub taxon: Option<GenomeTaxon>,
    /// The content of the file, after it was read.
    pub content: Option<Content>,
    /// The size and time of the file, if it exists.
    pub stamp: Option<Stamp>,
    /// Whether the file belongs to the library.
    pub status: Status,
}

/// The taxon of a genome in a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum GenomeTaxon {
    /// A taxid of NCBI.
    Taxid(u32),
    /// A lineage of GTDB, `d__Bacteria;p__…`, from the domain down.
    Lineage(String),
}

/// The content of a file of sequences.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Content {
    /// The number of records, at least 1.
    pub sequences: u64,
    /// The number of letters of all sequences.
    pub bases: u64,
    /// The checksum of the file's bytes on disk.
    pub md5: Md5Sum,
}

/// An MD5 checksum; displayed and parsed as 32 hexadecimal digits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Md5Sum(pub [u8; 16]);

/// The size and time of a file; if they are unchanged, the file is taken to be the one that was checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stamp {
    /// The size on disk in bytes.
    pub size: u64,
    /// The time of the last change in seconds since 1970.
    pub seconds: i64,
    /// The nanoseconds within that second.
    pub nanoseconds: u32,
}

/// Whether a file belongs to the library, or why it does not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Status {
    /// The file belongs to the library: it has a taxon and was read to its end.
    Sound,
    /// The file would belong to the library but is damaged; with the reason.
    Damaged(String),
    /// There is a newer version of the assembly; with its accession.
    Superseded(String),
    /// Another file has the same version of the assembly; with its path.
    Duplicate(String),
    /// The file has no taxon; with the reason.
    NoTaxon(String),
    /// The assembly is not of the requested level or category; with its own.
    Excluded(String),
}

impl Status {
    /// Returns the first word of the column.
    fn word(&self) -> &'static str {
        match self {
            Status::Sound => "ok",
            Status::Damaged(_) => "damaged",
            Status::Superseded(_) => "superseded",
            Status::Duplicate(_) => "duplicate",
            Status::NoTaxon(_) => "no taxon",
            Status::Excluded(_) => "excluded",
        }
    }

    /// Returns the reason after the first word.
    pub fn reason(&self) -> &str {
        match self {
            Status::Sound => "",
            Status::Damaged(reason)
            | Status::Superseded(reason)
            | Status::Duplicate(reason)
            | Status::NoTaxon(reason)
            | Status::Excluded(reason) => reason,
        }
    }
}

impl fmt::Display for Status {
    /// Writes the first word, and the reason after a colon.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.word())?;
        if *self == Status::Sound {
            return Ok(());
        }
        // A file name in the reason may contain control characters.
        let plain = self.reason().chars().map(|one| if one.is_control() { ' ' } else { one });
        write!(formatter, ": {}", plain.collect::<String>())
    }
}

impl FromStr for Status {
    type Err = ();

    fn from_str(text: &str) -> Result<Status, ()> {
        if text.contains(char::is_control) {
            return Err(());
        }
        let (word, reason) = text.split_once(": ").unwrap_or((text, ""));
        let reason = reason.to_owned();
        match word {
            "ok" if text == "ok" => Ok(Status::Sound),
            "damaged" => Ok(Status::Damaged(reason)),
            "superseded" => Ok(Status::Superseded(reason)),
            "duplicate" => Ok(Status::Duplicate(reason)),
            "no taxon" => Ok(Status::NoTaxon(reason)),
            "excluded" => Ok(Status::Excluded(reason)),
            _ => Err(()),
        }
    }
}

impl fmt::Display for Md5Sum {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(formatter, "{byte:02x}"))
    }
}

impl FromStr for Md5Sum {
    type Err = ();

    fn from_str(text: &str) -> Result<Md5Sum, ()> {
        if text.len() != 32 || !text.bytes().all(|digit| digit.is_ascii_hexdigit()) {
            return Err(());
        }
        let number = u128::from_str_radix(text, 16).map_err(|_| ())?;
        Ok(Md5Sum(number.to_be_bytes()))
    }
}

impl Stamp {
    /// Returns the size and time of a file.
    pub(super) fn of(metadata: &Metadata) -> Stamp {
        let nanoseconds = metadata.mtime_nsec().clamp(0, 999_999_999) as u32;
        Stamp { size: metadata.len(), seconds: metadata.mtime(), nanoseconds }
    }

    fn time(&self) -> String {
        format!("{}.{:09}", self.seconds, self.nanoseconds)
    }

    fn parse(size: &str, time: &str) -> Option<Stamp> {
        let (seconds, nanoseconds) = time.split_once('.')?;
        if nanoseconds.len() != 9 || !nanoseconds.bytes().all(|digit| digit.is_ascii_digit()) {
            return None;
        }
        Some(Stamp {
            size: size.parse().ok()?,
            seconds: seconds.parse().ok()?,
            nanoseconds: nanoseconds.parse().ok()?,
        })
    }
}

impl fmt::Display for GenomeTaxon {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            GenomeTaxon::Taxid(taxid) => taxid.fmt(formatter),
            GenomeTaxon::Lineage(lineage) => formatter.write_str(lineage),
        }
    }
}

impl FromStr for GenomeTaxon {
    type Err = ();

    fn from_str(text: &str) -> Result<GenomeTaxon, ()> {
        match text.starts_with("d__") {
            true => Ok(GenomeTaxon::Lineage(text.to_owned())),
            false => text.parse().map(GenomeTaxon::Taxid).map_err(|_| ()),
        }
    }
}

impl Row {
    /// Appends the row to `text`, without a line end.
    pub(super) fn put(&self, text: &mut Vec<u8>) {
        text.extend_from_slice(self.path.as_os_str().as_bytes());
        let taxon = self.taxon.as_ref().map(ToString::to_string);
        let content = |of: fn(&Content) -> String| self.content.as_ref().map(of);
        let cells = [
            Some(self.accession.clone()),
            taxon,
            content(|content| content.sequences.to_string()),
            content(|content| content.bases.to_string()),
            content(|content| content.md5.to_string()),
            self.stamp.map(|stamp| stamp.size.to_string()),
            self.stamp.map(|stamp| stamp.time()),
            Some(self.status.to_string()),
        ];
        for cell in cells {
            text.push(b'\t');
            text.extend_from_slice(cell.as_deref().map_or(UNKNOWN, str::as_bytes));
        }
    }

    /// Parses a line.
    ///
    /// # Errors
    /// A description of what is wrong.
    pub(super) fn parse(line: &[u8]) -> Result<Row, String> {
        let cells: Vec<&[u8]> = line.split(|&byte| byte == b'\t').collect();
        if cells.len() != COLUMNS.len() {
            return Err(format!("{} columns instead of {}", cells.len(), COLUMNS.len()));
        }
        let wrong = |at: usize| {
            let cell = String::from_utf8_lossy(cells[at]);
            format!("`{}` is not valid in the column {}", cell.escape_debug(), COLUMNS[at])
        };
        let text = |at: usize| std::str::from_utf8(cells[at]).map_err(|_| wrong(at));
        let known = |at: usize| cells[at] != UNKNOWN;
        let taxon = match known(2) {
            true => Some(text(2)?.parse().map_err(|()| wrong(2))?),
            false => None,
        };
        let number = |at: usize| text(at)?.parse::<u64>().map_err(|_| wrong(at));
        let content = match known(3) || known(4) || known(5) {
            true => Some(Content {
                sequences: number(3)?,
                bases: number(4)?,
                md5: text(5)?.parse().map_err(|()| wrong(5))?,
            }),
            false => None,
        };
        let stamp = match known(6) || known(7) {
            true => Some({
                number(6)?;
                Stamp::parse(text(6)?, text(7)?).ok_or_else(|| wrong(7))?
            }),
            false => None,
        };
        let status = text(8)?.parse().map_err(|()| wrong(8))?;
        if cells[0].is_empty() {
            return Err(wrong(0));
        }
        if status == Status::Sound {
            let missing = [(2, taxon.is_none()), (3, content.is_none()), (6, stamp.is_none())];
            if let Some((at, _)) = missing.iter().find(|(_, missing)| *missing) {
                return Err(format!("it is ok, but has no value in the column {}", COLUMNS[*at]));
            }
        }
        let path = PathBuf::from(OsStr::from_bytes(cells[0]));
        Ok(Row { path, accession: text(1)?.to_owned(), taxon, content, stamp, status })
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The row of a sound file.
    pub(crate) fn sound(path: &str) -> Row {
        Row {
            path: path.into(),
            accession: "GCF_000000001.1".into(),
            taxon: Some(GenomeTaxon::Taxid(562)),
            content: Some(Content { sequences: 2, bases: 10, md5: Md5Sum([7; 16]) }),
            stamp: Some(Stamp { size: 12, seconds: 1_700_000_000, nanoseconds: 5 }),
            status: Status::Sound,
        }
    }

    /// Rows with any status.
    pub(crate) fn any_row() -> impl Strategy<Value = Row> {
        let status = prop_oneof![
            Just(Status::Sound),
            "[ -~]{0,9}".prop_map(Status::Damaged),
            "[ -~]{0,9}".prop_map(Status::Superseded),
            "[ -~é]{0,9}".prop_map(Status::Duplicate),
            "[ -~]{0,9}".prop_map(Status::NoTaxon),
            "[ -~]{0,9}".prop_map(Status::Excluded),
        ];
        let taxon = prop_oneof![
            any::<u32>().prop_map(GenomeTaxon::Taxid),
            "d__[A-Z][a-z ;_]{0,9}".prop_map(GenomeTaxon::Lineage),
        ];
        let content = (any::<u64>(), any::<u64>(), any::<[u8; 16]>());
        let stamp = (any::<u64>(), any::<i64>(), 0..1_000_000_000u32);
        let path = proptest::collection::vec(prop_oneof![11..=255u8, Just(b'a')], 1..9);
        (path, "[A-Z_0-9.]{1,9}", taxon, content, stamp, status, any::<bool>()).prop_map(
            |(path, accession, taxon, (sequences, bases, md5), stamp, status, known)| {
                let (size, seconds, nanoseconds) = stamp;
                let known = known || status == Status::Sound;
                let content = Content { sequences, bases, md5: Md5Sum(md5) };
                Row {
                    path: OsStr::from_bytes(&path).into(),
                    accession,
                    taxon: known.then_some(taxon),
                    content: known.then_some(content),
                    stamp: known.then_some(Stamp { size, seconds, nanoseconds }),
                    status,
                }
            },
        )
    }

    proptest! {
        #[test]
        fn rows_are_read_back(row in any_row()) {
            let mut text = Vec::new();
            row.put(&mut text);
            prop_assert_eq!(Row::parse(&text), Ok(row));
        }

        #[test]
        fn any_line_is_a_row_or_an_error(line in proptest::collection::vec(any::<u8>(), 0..80)) {
            if let Ok(row) = Row::parse(&line) {
                let mut text = Vec::new();
                row.put(&mut text);
                prop_assert_eq!(Row::parse(&text), Ok(row));
            }
        }
    }

    #[test]
    fn what_is_wrong_is_named() {
        let md5 = "0".repeat(32);
        for (line, message) in [
            ("a\tb".to_owned(), "2 columns instead of 9".to_owned()),
            (
                format!("a\tb\tx\t1\t1\t{md5}\t1\t1.000000000\tok"),
                "`x` is not valid in the column taxon".into(),
            ),
            (
                format!("a\tb\t5\t1\t-\t{md5}\t1\t1.000000000\tok"),
                "`-` is not valid in the column bases".into(),
            ),
            (
                "a\tb\t5\t1\t1\tabc\t1\t1.000000000\tok".into(),
                "`abc` is not valid in the column md5".into(),
            ),
            (
                format!("a\tb\t5\t1\t1\t{md5}\t1\t1.5\tok"),
                "`1.5` is not valid in the column mtime".into(),
            ),
            (
                format!("a\tb\t5\t1\t1\t{md5}\t1\t1.000000000\tfine"),
                "`fine` is not valid in the column status".into(),
            ),
            (
                format!("a\tb\t-\t1\t1\t{md5}\t1\t1.000000000\tok"),
                "it is ok, but has no value in the column taxon".into(),
            ),
            (
                "\tb\t-\t-\t-\t-\t-\t-\tdamaged: x".into(),
                "`` is not valid in the column path".into(),
            ),
        ] {
            assert_eq!(Row::parse(line.as_bytes()), Err(message), "{line}");
        }
    }
}
