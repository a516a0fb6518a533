//! Converts lines of classified reads to rows, in batches.

use std::io::{self, Write};
use std::sync::{Arc, LazyLock};

use arrow_array::RecordBatch;
use arrow_array::builder::{StringBuilder, UInt32Builder};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use merganser_taxonomy::Taxonomy;

use super::opened::Opened;
use crate::stream::RowSender;

/// The number of rows of a batch.
const ROWS: usize = 1 << 16;

static OWN: LazyLock<SchemaRef> = LazyLock::new(|| schema(&["hits"], false));
static KRAKEN2: LazyLock<SchemaRef> = LazyLock::new(|| schema(&["hits", "kmers"], true));

/// Returns the schema of rows with these columns of scores.
fn schema(scores: &[&str], nullable: bool) -> SchemaRef {
    let mut fields = vec![
        Field::new("read", DataType::Utf8, false),
        Field::new("taxid", DataType::UInt32, false),
        Field::new("name", DataType::Utf8, true),
        Field::new("rank", DataType::Utf8, true),
        Field::new("length", DataType::Utf8, false),
    ];
    fields.extend(scores.iter().map(|name| Field::new(*name, DataType::UInt32, nullable)));
    Arc::new(Schema::new(fields))
}

/// Returns the schema of the rows of reads that a database classifies.
pub(super) fn schema_of(opened: &Opened) -> SchemaRef {
    match opened {
        Opened::Own(_) => Arc::clone(&OWN),
        Opened::Kraken2(_) => Arc::clone(&KRAKEN2),
    }
}

/// A writer of lines that sends them as rows.
pub(super) struct Lines<'d> {
    opened: &'d Opened,
    sender: &'d RowSender,
    /// The start of an incomplete line.
    open: Vec<u8>,
    reads: StringBuilder,
    taxids: UInt32Builder,
    names: StringBuilder,
    ranks: StringBuilder,
    lengths: StringBuilder,
    hits: UInt32Builder,
    kmers: UInt32Builder,
    rows: usize,
}

impl<'d> Lines<'d> {
    pub(super) fn new(opened: &'d Opened, sender: &'d RowSender) -> Lines<'d> {
        let (text, number) = (StringBuilder::new, UInt32Builder::new);
        Lines {
            opened,
            sender,
            open: Vec::new(),
            reads: text(),
            taxids: number(),
            names: text(),
            ranks: text(),
            lengths: text(),
            hits: number(),
            kmers: number(),
            rows: 0,
        }
    }

    /// Sends the remaining rows.
    pub(super) fn finish(&mut self) -> io::Result<()> {
        if self.rows > 0 { self.send() } else { Ok(()) }
    }

    fn line(&mut self, line: &[u8]) -> io::Result<()> {
        // The fields are C or U, name, taxid, length, and candidates or k-mers.
        let mut fields = line.splitn(5, |&byte| byte == b'\t').skip(1);
        let mut field = || fields.next().unwrap_or_default();
        let (read, taxid, length, found) = (field(), field(), field(), field());
        let taxid = decimal(taxid).ok_or_else(|| io::Error::other("a line without a taxid"))?;
        let tree = self.opened.taxonomy();
        let node = tree.node(taxid).filter(|_| taxid > 0);
        self.reads.append_value(String::from_utf8_lossy(read));
        self.taxids.append_value(taxid);
        self.names.append_option(node.map(|node| tree.name(node)));
        self.ranks.append_option(node.map(|node| tree.rank_name(node)));
        self.lengths.append_value(String::from_utf8_lossy(length));
        match self.opened {
            Opened::Own(_) => self.hits.append_value(hits_of_best(found)),
            Opened::Kraken2(_) => {
                let [hits, kmers] = kmers_of_clade(tree, node, found);
                self.hits.append_option(hits);
                self.kmers.append_option(kmers);
            }
        }
        self.rows += 1;
        if self.rows == ROWS { self.send() } else { Ok(()) }
    }

    fn send(&mut self) -> io::Result<()> {
        self.rows = 0;
        let mut columns: Vec<arrow_array::ArrayRef> = vec![
            Arc::new(self.reads.finish()),
            Arc::new(self.taxids.finish()),
            Arc::new(self.names.finish()),
            Arc::new(self.ranks.finish()),
            Arc::new(self.lengths.finish()),
            Arc::new(self.hits.finish()),
        ];
        if let Opened::Kraken2(_) = self.opened {
            columns.push(Arc::new(self.kmers.finish()));
        }
        let batch = RecordBatch::try_new(schema_of(self.opened), columns);
        self.sender.send(batch.map_err(|error| io::Error::other(error.to_string()))?)
    }
}

/// Parses a decimal number; fast for up to nine digits.
fn decimal(digits: &[u8]) -> Option<u32> {
    let is_short = (1..10).contains(&digits.len());
    if !is_short || !digits.iter().all(u8::is_ascii_digit) {
        return std::str::from_utf8(digits).ok()?.parse().ok();
    }
    Some(digits.iter().fold(0, |number, digit| 10 * number + u32::from(digit - b'0')))
}

/// Splits `TAXID:NUMBER`.
fn split(run: &[u8]) -> Option<(&[u8], &[u8])> {
    let colon = run.iter().position(|&byte| byte == b':')?;
    Some((&run[..colon], &run[colon + 1..]))
}

/// Returns the hits of the first candidate of `TAXID:HITS TAXID:HITS …`.
fn hits_of_best(candidates: &[u8]) -> u32 {
    let best = candidates.split(|&byte| byte == b' ').next().and_then(split);
    best.and_then(|(_, hits)| decimal(hits)).unwrap_or(0)
}

/// Returns the number of k-mers in the clade of a node, and of all k-mers without ambiguous letters, of `TAXID:NUMBER
/// A:NUMBER |:| …`; `None` for quick classification, which does not count them.
fn kmers_of_clade(tree: &Taxonomy, clade: Option<u32>, runs: &[u8]) -> [Option<u32>; 2] {
    let (mut hits, mut kmers) = (0, 0);
    // The taxid of the last run with one, and whether it is in the clade: neighbours are often equal.
    let mut last = (0, false);
    for (taxid, number) in runs.split(|&byte| byte == b' ').filter_map(split) {
        if number == b"Q" {
            return [None, None];
        }
        // Fails for ambiguous k-mers and for the border between mates.
        let (Some(taxid), Some(number)) = (decimal(taxid), decimal(number)) else { continue };
        kmers += number;
        let Some(clade) = clade.filter(|_| taxid > 0) else { continue };
        if last.0 != taxid {
            last = (taxid, tree.node(taxid).is_some_and(|node| is_below(tree, node, clade)));
        }
        if last.1 {
            hits += number;
        }
    }
    [Some(hits), Some(kmers)]
}

/// Whether a node is in a clade.
fn is_below(tree: &Taxonomy, mut node: u32, clade: u32) -> bool {
    // Nodes are in preorder: a parent has a smaller number than the nodes below it.
    while node > clade {
        node = tree.parent(node);
    }
    node == clade
}

impl Write for Lines<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut left = bytes;
        while let Some(end) = left.iter().position(|&byte| byte == b'\n') {
            if self.open.is_empty() {
                self.line(&left[..end])?;
            } else {
                let mut whole = std::mem::take(&mut self.open);
                whole.extend_from_slice(&left[..end]);
                self.line(&whole)?;
            }
            left = &left[end + 1..];
        }
        self.open.extend_from_slice(left);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
