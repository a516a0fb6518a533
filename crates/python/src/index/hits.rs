//! Converts SAM records to rows of hits.

use std::io::{self, BufRead};

use arrow_array::builder::{BooleanBuilder, StringBuilder, UInt32Builder, UInt64Builder};
use pyo3::prelude::*;

use crate::columns::Columns;
use crate::rows::Rows;

/// The largest number of bytes of a column of text, with room for one more record.
const MAX_TEXT: usize = i32::MAX as usize - (1 << 20);

/// The flags of SAM records.
mod flag {
    pub(super) const PAIRED: u32 = 0x1;
    pub(super) const PROPER: u32 = 0x2;
    pub(super) const UNMAPPED: u32 = 0x4;
    pub(super) const REVERSE: u32 = 0x10;
    pub(super) const FIRST: u32 = 0x40;
    pub(super) const SECONDARY: u32 = 0x100;
    pub(super) const SUPPLEMENTARY: u32 = 0x800;
}

/// The columns of hits.
pub(super) struct Hits {
    /// Whether rows have the name of the read.
    names: bool,
    /// Whether rows have the columns of pairs: pairs were expected or found.
    pairs: bool,
    /// The number of reads or pairs so far.
    reads: u64,
    read: UInt64Builder,
    name: StringBuilder,
    mate: UInt32Builder,
    contig: StringBuilder,
    position: UInt32Builder,
    reverse: BooleanBuilder,
    edits: UInt32Builder,
    mapq: UInt32Builder,
    cigar: StringBuilder,
    concordant: BooleanBuilder,
}

impl Hits {
    pub(super) fn new(names: bool, pairs: bool) -> Hits {
        Hits {
            names,
            pairs,
            reads: 0,
            read: UInt64Builder::new(),
            name: StringBuilder::new(),
            mate: UInt32Builder::new(),
            contig: StringBuilder::new(),
            position: UInt32Builder::new(),
            reverse: BooleanBuilder::new(),
            edits: UInt32Builder::new(),
            mapq: UInt32Builder::new(),
            cigar: StringBuilder::new(),
            concordant: BooleanBuilder::new(),
        }
    }

    /// Adds the hits of all records of a SAM text.
    pub(super) fn read(mut self, text: &mut impl BufRead) -> io::Result<Hits> {
        let mut line = Vec::new();
        while text.read_until(b'\n', &mut line)? > 0 {
            if line[0] != b'@' {
                let record = self.record(line.trim_ascii_end());
                record.ok_or_else(|| io::Error::other("a record is malformed"))?;
            }
            line.clear();
            if self.bytes() > MAX_TEXT {
                return Err(io::Error::other(
                    "the hits have more than 2 GiB of text: map fewer reads at a time, or use map_to",
                ));
            }
        }
        Ok(self)
    }

    /// Returns the bytes of the longest column of text.
    fn bytes(&self) -> usize {
        let columns = [&self.name, &self.contig, &self.cigar];
        columns.into_iter().map(|column| column.values_slice().len()).max().unwrap_or(0)
    }

    /// Adds the hit of a record. Returns `None` if the record is malformed.
    fn record(&mut self, line: &[u8]) -> Option<()> {
        let line = String::from_utf8_lossy(line);
        let mut fields = line.split('\t');
        let (name, flags) = (fields.next()?, fields.next()?.parse::<u32>().ok()?);
        let (contig, position) = (fields.next()?, fields.next()?.parse::<u32>().ok()?);
        let (mapq, cigar) = (fields.next()?.parse::<u32>().ok()?, fields.next()?);
        let is = |flag: u32| flags & flag != 0;
        // A hit over the junction of a circular contig has the row of its longer part.
        if is(flag::SUPPLEMENTARY) {
            return Some(());
        }
        if !is(flag::SECONDARY) && (!is(flag::PAIRED) || is(flag::FIRST)) {
            self.reads += 1;
        }
        if is(flag::UNMAPPED) {
            return Some(());
        }
        let edits = fields.find_map(|field| field.strip_prefix("NM:i:"))?.parse().ok()?;
        self.read.append_value(self.reads.checked_sub(1)?);
        if self.names {
            self.name.append_value(name);
        }
        self.pairs |= is(flag::PAIRED);
        self.mate.append_value(match (is(flag::PAIRED), is(flag::FIRST)) {
            (false, _) => 0,
            (true, true) => 1,
            (true, false) => 2,
        });
        self.concordant.append_value(is(flag::PROPER));
        self.contig.append_value(contig);
        self.position.append_value(position.checked_sub(1)?);
        self.reverse.append_value(is(flag::REVERSE));
        self.edits.append_value(edits);
        self.mapq.append_value(mapq);
        self.cigar.append_value(cigar);
        Some(())
    }

    /// Returns the rows.
    pub(super) fn rows(mut self) -> PyResult<Rows> {
        let mut columns = Columns::new().with("read", self.read.finish());
        if self.names {
            columns = columns.with("name", self.name.finish());
        }
        if self.pairs {
            columns = columns.with("mate", self.mate.finish());
        }
        columns = columns
            .with("contig", self.contig.finish())
            .with("position", self.position.finish())
            .with("reverse", self.reverse.finish())
            .with("edits", self.edits.finish())
            .with("mapq", self.mapq.finish())
            .with("cigar", self.cigar.finish());
        if self.pairs {
            columns = columns.with("concordant", self.concordant.finish());
        }
        columns.rows()
    }
}
