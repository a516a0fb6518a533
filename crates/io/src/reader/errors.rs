//! Conversion of errors of the system and of decompressors.

use std::io;
use std::sync::Arc;

use crate::Error;
use crate::compress::Compression;

/// Returns the error for a file that cannot be read.
pub(super) fn read_error(name: &str, error: io::Error) -> Error {
    Error::Read { input: name.to_owned(), cause: Arc::new(error) }
}

/// Converts an error of a decompressor. Errors of the system pass through decompressors unchanged.
pub(super) fn decode_error(name: &str, compression: Compression, error: &io::Error) -> Error {
    let input = name.to_owned();
    if compression == Compression::None || error.raw_os_error().is_some() {
        let cause = match error.raw_os_error() {
            Some(code) => io::Error::from_raw_os_error(code),
            None => io::Error::new(error.kind(), error.to_string()),
        };
        return read_error(name, cause);
    }
    let compression = compression.name();
    if error.kind() == io::ErrorKind::UnexpectedEof {
        return Error::Truncated { input, compression };
    }
    Error::Corrupt { input, compression, detail: error.to_string() }
}
