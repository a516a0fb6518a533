//! CRAM without the feature `cram`: such files are recognized and rejected.

use std::io::{self, Read};
use std::path::Path;

use merganser_io::Containers;

/// Rejects the file.
pub(crate) fn open(_: Box<dyn Read + Send>, _: Option<&Path>) -> io::Result<Box<dyn Containers>> {
    let reason = "it is not built into this program: build it with the feature `cram`, or \
                  write the file as BAM with samtools view -b";
    Err(io::Error::new(io::ErrorKind::Unsupported, reason))
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_remedy_is_named() {
        let error = super::open(Box::new(&b"CRAM"[..]), None).map(|_| ()).unwrap_err();
        assert_eq!(
            error.to_string(),
            "it is not built into this program: build it with the feature `cram`, or write the file as BAM with samtools view -b"
        );
    }
}
