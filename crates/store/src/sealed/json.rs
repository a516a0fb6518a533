//! JSON headers.

use std::fs::File;
use std::io::{self, BufReader, Read, Write};
use std::path::Path;

use merganser_io::{Error, open_file, reason};

/// The maximum size of a header in bytes.
const MAX: u64 = 1 << 28;
/// The size of the read buffer in bytes.
const BLOCK: usize = 1 << 20;

/// Writes the magic, the length of the header (u64, little-endian), and the header.
///
/// # Errors
/// If writing fails.
pub fn put_json(magic: &[u8; 8], json: &[u8], out: &mut impl Write) -> io::Result<()> {
    out.write_all(magic)?;
    out.write_all(&(json.len() as u64).to_le_bytes())?;
    out.write_all(json)
}

/// A file positioned after its header, its size in bytes, and the header.
type Opened = (BufReader<File>, u64, io::Result<Option<Vec<u8>>>);

/// Opens a file and reads its header.
///
/// The header is `None` if the file is of another kind, and an [`io::ErrorKind::UnexpectedEof`] error if the file ends
/// within its header or if the stated length of the header is too large. The header must be trusted only after the
/// checksum of the file has been checked.
///
/// # Errors
/// If the file cannot be opened.
pub fn open_json(magic: &[u8; 8], path: &Path) -> Result<Opened, Error> {
    let failed = |error| Error::Open { input: path.display().to_string(), reason: reason(&error) };
    let file = open_file(path).map_err(failed)?;
    let size = file.metadata().map_err(failed)?.len();
    let mut file = BufReader::with_capacity(BLOCK, file);
    let json = read_json(magic, size, &mut file);
    Ok((file, size, json))
}

fn read_json(magic: &[u8; 8], size: u64, file: &mut impl Read) -> io::Result<Option<Vec<u8>>> {
    let mut found = [0; 8];
    if size < 8 {
        return Ok(None);
    }
    file.read_exact(&mut found)?;
    if found != *magic {
        return Ok(None);
    }
    file.read_exact(&mut found)?;
    let length = u64::from_le_bytes(found);
    if length > MAX.min(size) {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    let mut json = vec![0; length as usize];
    file.read_exact(&mut json)?;
    Ok(Some(json))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_come_back() {
        let (magic, json) = (crate::sealed::magic(b'T'), b"{\"version\":1}");
        let mut bytes = Vec::new();
        put_json(&magic, json, &mut bytes).unwrap();
        let read = |bytes: &[u8]| read_json(&magic, bytes.len() as u64, &mut &*bytes);
        assert_eq!(read(&bytes).unwrap().unwrap(), json);
        for at in 0..bytes.len() {
            match read(&bytes[..at]) {
                Ok(found) => assert!(found.is_none() && at < 8, "{at}"),
                Err(error) => assert_eq!(error.kind(), io::ErrorKind::UnexpectedEof),
            }
        }
        bytes[15] = 1;
        assert!(read(&bytes).is_err());
        bytes[4] = 0;
        assert!(read(&bytes).unwrap().is_none());
    }
}
