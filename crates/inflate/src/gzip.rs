//! Reads gzip as a stream: any number of members, followed by zeros as padding.

use flate2::bufread::GzDecoder;
use std::io::{self, BufRead, Read};

/// A decompressor of all members of a gzip file. Each read returns text of a single member. Unlike flate2's reader of
/// several members, it accepts zeros after the last member as padding (like gzip) and rejects anything else.
pub struct GzipStream<R> {
    state: StreamPosition<R>,
    /// The offset of the current member in the file.
    member: u64,
}

enum StreamPosition<R> {
    Member(Box<GzDecoder<Counted<R>>>),
    /// Before a member, padding or the end.
    Between(Counted<R>),
    End,
    /// After an error, which every later read returns again: it must not look like the end.
    Failed(Failure),
}

impl<R: BufRead> GzipStream<R> {
    /// Returns a stream of the members of `input`. An empty input is an empty stream.
    pub fn new(input: R) -> Self {
        Self::from(input, 0)
    }

    /// Returns a stream of an input that begins at byte `at` of a file.
    pub fn from(bytes: R, at: u64) -> Self {
        Self { state: StreamPosition::Between(Counted { bytes, at }), member: at }
    }

    /// Returns the offset in the file of the member of the last text; at the end, the offset after the last member.
    pub fn member(&self) -> u64 {
        self.member
    }

    /// Returns the current offset in the file.
    pub fn at(&self) -> u64 {
        match &self.state {
            StreamPosition::Member(text) => text.get_ref().at,
            StreamPosition::Between(bytes) => bytes.at,
            StreamPosition::End | StreamPosition::Failed(_) => self.member,
        }
    }
}

/// The description of an error, which can be returned several times.
struct Failure {
    code: Option<i32>,
    kind: io::ErrorKind,
    text: String,
}

impl Failure {
    fn of(error: &io::Error) -> Failure {
        Failure { code: error.raw_os_error(), kind: error.kind(), text: error.to_string() }
    }

    fn error(&self) -> io::Error {
        let other = || io::Error::new(self.kind, self.text.clone());
        self.code.map_or_else(other, io::Error::from_raw_os_error)
    }
}

impl<R: BufRead> Read for GzipStream<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if buffer.is_empty() {
            return Ok(0);
        }
        if let StreamPosition::Failed(failure) = &self.state {
            return Err(failure.error());
        }
        let read = self.read_on(buffer);
        if let Err(error) = &read {
            self.state = StreamPosition::Failed(Failure::of(error));
        }
        read
    }
}

impl<R: BufRead> GzipStream<R> {
    /// Reads text. After an error, the state is that of an ended stream.
    fn read_on(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            match std::mem::replace(&mut self.state, StreamPosition::End) {
                StreamPosition::End | StreamPosition::Failed(_) => return Ok(0),
                StreamPosition::Between(mut input) => {
                    self.member = input.at;
                    match input.fill_buf()?.first() {
                        Some(0x1f) => {
                            self.state = StreamPosition::Member(Box::new(GzDecoder::new(input)))
                        }
                        _ => return pass_padding(&mut input).map(|()| 0),
                    }
                }
                StreamPosition::Member(mut decoder) => {
                    let read = decoder.read(buffer)?;
                    if read > 0 {
                        self.state = StreamPosition::Member(decoder);
                        return Ok(read);
                    }
                    self.state = StreamPosition::Between(decoder.into_inner());
                }
            }
        }
    }
}

/// A reader and its offset in the file.
struct Counted<R> {
    bytes: R,
    at: u64,
}

impl<R: BufRead> Read for Counted<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.bytes.read(buffer)?;
        self.at += read as u64;
        Ok(read)
    }
}

impl<R: BufRead> BufRead for Counted<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        self.bytes.fill_buf()
    }

    fn consume(&mut self, bytes: usize) {
        self.at += bytes as u64;
        self.bytes.consume(bytes);
    }
}

/// Checks that only zeros follow.
fn pass_padding(input: &mut impl BufRead) -> io::Result<()> {
    loop {
        let padding = input.fill_buf()?;
        if padding.is_empty() {
            return Ok(());
        }
        if padding.iter().any(|&byte| byte != 0) {
            return Err(io::Error::new(
                io::ErrorKind::InvalidData,
                "something else follows the compressed data",
            ));
        }
        let length = padding.len();
        input.consume(length);
    }
}

#[cfg(test)]
mod tests {
    use super::GzipStream;
    use std::io::{self, BufReader, Read};

    /// A reader that fails once, in the middle.
    struct Faulty<'b>(&'b [u8], bool);

    impl Read for Faulty<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            if self.0.len() < 20 && !std::mem::replace(&mut self.1, true) {
                return Err(io::Error::from_raw_os_error(5));
            }
            self.0.read(&mut buffer[..1])
        }
    }

    #[test]
    fn an_error_is_no_end() {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::none());
        io::Write::write_all(&mut encoder, b">a\nACGT\nACGTACGTACGTACGT\n").unwrap();
        let bytes = encoder.finish().unwrap();
        let mut stream = GzipStream::new(BufReader::new(Faulty(&bytes, false)));
        for _ in 0..2 {
            let error = stream.read_to_end(&mut Vec::new()).unwrap_err();
            assert_eq!(error.raw_os_error(), Some(5));
        }
    }
}
