//! CRAM in a library without the feature `cram`: such a file is known, and refused.

use super::Reads;
use std::convert::Infallible;
use std::io::{self, Read};
use std::marker::PhantomData;
use std::path::Path;
use std::sync::Arc;

/// The first bytes of a file.
pub(crate) const MAGIC: &[u8] = b"CRAM";

/// There is none.
pub(crate) struct Cram(Infallible);

/// There is none.
pub(crate) struct Container(Infallible);

/// There is none.
pub(crate) struct Containers<R>(Infallible, PhantomData<R>);

impl<R: Read> Containers<R> {
    /// Refuses the file.
    pub(crate) fn open(_: R, _: Option<&Path>) -> io::Result<Containers<R>> {
        let reason = "it is not built into this program: build it with the feature `cram`, or \
                      write the file as BAM with samtools view -b";
        Err(io::Error::new(io::ErrorKind::Unsupported, reason))
    }

    pub(crate) fn next(&mut self) -> io::Result<Option<(Arc<Cram>, Container)>> {
        match self.0 {}
    }
}

impl Cram {
    pub(crate) fn read(&self, container: &Container, _: &mut Reads) -> Result<(), (u64, String)> {
        match (self.0, container.0) {}
    }
}
