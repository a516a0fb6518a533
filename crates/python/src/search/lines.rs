//! Converts tables that a search writes to rows.

use std::io::{self, BufRead};

use arrow_array::builder::{BooleanBuilder, LargeStringBuilder, UInt32Builder, UInt64Builder};
use pyo3::prelude::*;

use crate::columns::Columns;
use crate::rows::Rows;

/// The content of a column of a table.
#[derive(Clone, Copy, Debug)]
pub(super) enum Kind {
    Text,
    /// A position or a length.
    Position,
    Edits,
    /// `+`, or `-`, which is true.
    Strand,
    /// The number of a sequence, from 1, which becomes one from 0.
    Number,
}

/// The columns of hits after that of the sequence.
pub(super) const HITS: &[(&str, Kind)] = &[
    ("start", Kind::Position),
    ("end", Kind::Position),
    ("pattern", Kind::Text),
    ("edits", Kind::Edits),
    ("reverse", Kind::Strand),
    ("cigar", Kind::Text),
    ("letters", Kind::Text),
];

/// The columns of amplicons after that of the sequence.
pub(super) const AMPLICONS: &[(&str, Kind)] = &[
    ("start", Kind::Position),
    ("end", Kind::Position),
    ("pair", Kind::Text),
    ("reverse", Kind::Strand),
    ("length", Kind::Position),
    ("forward_edits", Kind::Edits),
    ("reverse_edits", Kind::Edits),
    ("amplicon", Kind::Text),
];

/// A column that grows.
enum Column {
    Text(LargeStringBuilder),
    Position(UInt64Builder),
    Edits(UInt32Builder),
    Strand(BooleanBuilder),
    Number(UInt64Builder),
}

impl Column {
    fn new(kind: Kind) -> Column {
        match kind {
            Kind::Text => Column::Text(LargeStringBuilder::new()),
            Kind::Position => Column::Position(UInt64Builder::new()),
            Kind::Edits => Column::Edits(UInt32Builder::new()),
            Kind::Strand => Column::Strand(BooleanBuilder::new()),
            Kind::Number => Column::Number(UInt64Builder::new()),
        }
    }

    /// Adds the value of a cell. Returns `None` if it is malformed.
    fn add(&mut self, cell: &str) -> Option<()> {
        match self {
            Column::Text(values) => values.append_value(cell),
            Column::Position(values) => values.append_value(cell.parse().ok()?),
            Column::Edits(values) => values.append_value(cell.parse().ok()?),
            Column::Strand(values) => values.append_value(cell == "-"),
            Column::Number(values) => {
                values.append_value(cell.parse::<u64>().ok()?.checked_sub(1)?);
            }
        }
        Some(())
    }

    fn finish(self, name: &str, columns: Columns) -> Columns {
        match self {
            Column::Text(mut values) => columns.with(name, values.finish()),
            Column::Position(mut values) | Column::Number(mut values) => {
                columns.with(name, values.finish())
            }
            Column::Edits(mut values) => columns.with(name, values.finish()),
            Column::Strand(mut values) => columns.with(name, values.finish()),
        }
    }
}

/// The columns of a table.
pub(super) struct Lines {
    columns: Vec<(&'static str, Column)>,
    /// The maximum number of bytes of the columns.
    most: u64,
}

impl Lines {
    /// Makes an empty table. Texts have names if they are from files, otherwise numbers.
    pub(super) fn new(columns: &[(&'static str, Kind)], are_files: bool, most: u64) -> Lines {
        let first = if are_files { ("sequence", Kind::Text) } else { ("text", Kind::Number) };
        let all = std::iter::once(&first).chain(columns);
        Lines { columns: all.map(|&(name, kind)| (name, Column::new(kind))).collect(), most }
    }

    /// Adds all lines after the header.
    ///
    /// # Errors
    /// [`io::ErrorKind::OutOfMemory`] if they take more memory than they may.
    pub(super) fn read(mut self, text: &mut impl BufRead) -> io::Result<Lines> {
        let (mut line, mut bytes) = (Vec::new(), 0);
        text.read_until(b'\n', &mut line)?;
        loop {
            line.clear();
            if text.read_until(b'\n', &mut line)? == 0 {
                return Ok(self);
            }
            bytes += (line.len() + size_of::<u64>() * self.columns.len()) as u64;
            if bytes > self.most {
                return Err(io::ErrorKind::OutOfMemory.into());
            }
            let line = String::from_utf8_lossy(line.strip_suffix(b"\n").unwrap_or(&line));
            self.add(&line).ok_or_else(|| io::Error::other("a line of hits is malformed"))?;
        }
    }

    /// Adds a line. Returns `None` if it is malformed.
    fn add(&mut self, line: &str) -> Option<()> {
        let mut cells = line.split('\t');
        self.columns.iter_mut().try_for_each(|(_, column)| column.add(cells.next()?))
    }

    /// Returns the rows.
    pub(super) fn rows(self) -> PyResult<Rows> {
        let add = |columns, (name, column): (&str, Column)| column.finish(name, columns);
        self.columns.into_iter().fold(Columns::new(), add).rows()
    }
}
