//! gzip as a stream: any number of members, and the zeros that some tapes put behind them.

use flate2::bufread::GzDecoder;
use std::io::{self, BufRead, Read};

/// Decompresses all members of a gzip file. Unlike flate2's own reader of several members, it
/// takes zeros after the last one for padding (as gzip does) and anything else for an error.
pub(crate) struct GzipStream<R> {
    state: State<R>,
}

enum State<R> {
    Member(Box<GzDecoder<R>>),
    /// Where a member, padding or the end follows.
    Between(R),
    End,
}

impl<R: BufRead> GzipStream<R> {
    /// `input` begins with a member; no input at all is an empty stream.
    pub(crate) fn new(input: R) -> Self {
        Self { state: State::Between(input) }
    }
}

impl<R: BufRead> Read for GzipStream<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if buffer.is_empty() {
            return Ok(0);
        }
        loop {
            match std::mem::replace(&mut self.state, State::End) {
                State::End => return Ok(0),
                State::Between(input) => self.state = after_member(input)?,
                State::Member(mut decoder) => {
                    let read = decoder.read(buffer)?;
                    if read > 0 {
                        self.state = State::Member(decoder);
                        return Ok(read);
                    }
                    self.state = State::Between(decoder.into_inner());
                }
            }
        }
    }
}

fn after_member<R: BufRead>(mut input: R) -> io::Result<State<R>> {
    match input.fill_buf()?.first() {
        Some(0x1f) => Ok(State::Member(Box::new(GzDecoder::new(input)))),
        _ => pass_padding(&mut input).map(|()| State::End),
    }
}

/// Sees to it that nothing but zeros follows.
pub(crate) fn pass_padding(input: &mut impl BufRead) -> io::Result<()> {
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
