//! Decisions as text.

use std::io::Write;
use std::time::Duration;

use merganser_io::Output;

use crate::{Decision, Error, REJECTED};

/// How decisions are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Format {
    /// A header, then `index<TAB>accept<TAB>edits` lines.
    #[default]
    Tsv,
    /// GateKeeper-GPU's two files: `1` or `0` a line, and the edits a line.
    GateKeeper,
    /// Nothing is written.
    None,
}

/// Open outputs: one for [`Format::Tsv`], two for [`Format::GateKeeper`].
#[derive(Debug)]
pub struct Writer {
    format: Format,
    outputs: Vec<Output>,
    begun: bool,
}

/// The text of some decisions, for each output.
pub(crate) type Part = [Vec<u8>; 2];

impl Writer {
    /// A writer to as many outputs as the format has.
    ///
    /// # Panics
    /// If there are more or fewer.
    pub fn new(format: Format, outputs: Vec<Output>) -> Writer {
        let needed = match format {
            Format::Tsv => 1,
            Format::GateKeeper => 2,
            Format::None => 0,
        };
        assert_eq!(outputs.len(), needed, "{format:?} has {needed} outputs");
        Writer { format, outputs, begun: false }
    }

    pub(crate) fn format(&self) -> Format {
        self.format
    }

    /// Not before there is something to write, so that an error at the beginning of the input
    /// leaves nothing on stdout.
    fn begin(&mut self) -> Result<(), Error> {
        if self.format == Format::Tsv && !self.begun {
            self.outputs[0].write_all(b"index\taccept\tedits\n")?;
        }
        self.begun = true;
        Ok(())
    }

    pub(crate) fn write(&mut self, part: &Part) -> Result<(), Error> {
        self.begin()?;
        for (output, text) in self.outputs.iter_mut().zip(part) {
            output.write_all(text)?;
        }
        Ok(())
    }

    /// Makes the files appear, and returns how long the disk took.
    pub(crate) fn finish(mut self) -> Result<Duration, Error> {
        self.begin()?;
        let mut spent = Duration::ZERO;
        for output in self.outputs {
            spent += output.finish()?;
        }
        Ok(spent)
    }
}

/// Appends the decisions on the pairs from the index `first` on.
pub(crate) fn format(format: Format, first: u64, decisions: &[Decision], part: &mut Part) {
    match format {
        Format::Tsv => {
            for (index, &edits) in (first..).zip(decisions) {
                decimal(index, &mut part[0]);
                part[0].extend_from_slice(if edits == REJECTED { b"\t0\t" } else { b"\t1\t" });
                signed(edits, &mut part[0]);
            }
        }
        Format::GateKeeper => {
            for &edits in decisions {
                part[0].extend_from_slice(if edits == REJECTED { b"0\n" } else { b"1\n" });
                signed(edits, &mut part[1]);
            }
        }
        Format::None => {}
    }
}

fn signed(edits: Decision, text: &mut Vec<u8>) {
    if edits < 0 {
        text.push(b'-');
    }
    decimal(u64::from(edits.unsigned_abs()), text);
    text.push(b'\n');
}

/// Appends a number's digits; faster than `write!`, which would take longer than to decide.
fn decimal(mut number: u64, text: &mut Vec<u8>) {
    let mut digits = [0; 20];
    let mut at = digits.len();
    loop {
        at -= 1;
        digits[at] = b'0' + (number % 10) as u8;
        number /= 10;
        if number == 0 {
            break;
        }
    }
    text.extend_from_slice(&digits[at..]);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_written_as_everybody_does() {
        for number in [0, 9, 10, 99, 100, 12_345, u64::MAX] {
            let mut text = Vec::new();
            decimal(number, &mut text);
            assert_eq!(text, number.to_string().as_bytes());
        }
    }

    #[test]
    fn both_formats() {
        let mut part = Part::default();
        format(Format::Tsv, 9, &[3, -1, -2], &mut part);
        assert_eq!(part[0], b"9\t1\t3\n10\t0\t-1\n11\t1\t-2\n");
        let mut part = Part::default();
        format(Format::GateKeeper, 9, &[3, -1, -2], &mut part);
        assert_eq!(part, [b"1\n0\n1\n".to_vec(), b"3\n-1\n-2\n".to_vec()]);
    }
}
