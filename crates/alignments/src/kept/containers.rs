//! Containers of CRAM, which workers encode and which are numbered when they are written.

use std::sync::Arc;

use super::KeptWriter;
use crate::Error;
use crate::cram::{Encoder, GROUP, OpenContainer};
use crate::fields::records;

/// An encoder of the records of batches.
pub(super) struct ContainerMaker {
    writer: Arc<KeptWriter>,
    /// The encoder, once the header of the input is known.
    encoder: Option<Box<Encoder<'static>>>,
}

impl ContainerMaker {
    pub(super) fn new(writer: Arc<KeptWriter>) -> ContainerMaker {
        ContainerMaker { writer, encoder: None }
    }

    /// Returns open containers of records of BAM, for [`Numbering::close`].
    pub(super) fn encode(&mut self, mut records: &[u8]) -> Vec<u8> {
        let groups = || Box::new(Encoder::new(None, self.writer.groups()));
        let encoder = self.encoder.get_or_insert_with(groups);
        let mut out = Vec::with_capacity(records.len() / 2);
        while !records.is_empty() {
            let (group, others) = records.split_at(group_len(records));
            records = others;
            encoder.encode(group).put(&mut out);
        }
        out
    }
}

/// Returns the size of the first records, at most [`GROUP`].
fn group_len(all: &[u8]) -> usize {
    records(all).take(GROUP as usize).map(<[u8]>::len).sum()
}

/// The number of records that were written.
#[derive(Debug, Default)]
pub(super) struct Numbering(u64);

impl Numbering {
    /// Returns the bytes of open containers, which are the next ones of the file.
    pub(super) fn close(&mut self, mut open: &[u8]) -> Result<Vec<u8>, Error> {
        let mut out = Vec::with_capacity(open.len());
        while !open.is_empty() {
            let damaged = || std::io::Error::other("a container is damaged");
            let container = OpenContainer::take(&mut open).ok_or_else(damaged)?;
            let records = container.records();
            out.extend_from_slice(&container.close(self.0).bytes);
            self.0 += records;
        }
        Ok(out)
    }
}
