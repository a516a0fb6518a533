//! Files of other formats that are read as FASTA.

use std::fmt;
use std::io::{self, Read};
use std::sync::Arc;

/// Sequences in a file of a format that this crate does not know, such as an index of a reference. They are read as
/// FASTA: [`Input::converted`](crate::Input::converted) makes an input of them.
pub trait Convert: fmt::Debug + Send + Sync {
    /// Returns the number of bytes of the FASTA text.
    fn bytes(&self) -> u64;

    /// Opens the file, and returns its sequences as FASTA. It may be called several times.
    ///
    /// # Errors
    /// If the file cannot be opened. Errors of the text are those of the file; readers add its name.
    fn open(&self) -> io::Result<Box<dyn Read + Send>>;
}

/// The conversion of an input. All conversions of a file are equal.
#[derive(Clone, Debug)]
pub struct Converted(pub Arc<dyn Convert>);

impl PartialEq for Converted {
    fn eq(&self, _: &Converted) -> bool {
        true
    }
}

impl Eq for Converted {}
