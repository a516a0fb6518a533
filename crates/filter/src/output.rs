//! Output of decisions.

mod text;

use std::io::Write;
use std::time::Duration;

use merganser_io::{Output, finish_all};
use merganser_run::InOrderSink;

use crate::Error;
pub(crate) use text::{DecisionText, append};

merganser_run::named! {
    /// The format of the decisions.
    #[derive(Default)]
    pub enum Format {
        /// A header, then `index<TAB>accept<TAB>edits` lines.
        #[default]
        Tsv = "tsv",
        /// GateKeeper-GPU's two files: one with `1` or `0` per line, one with the edits per line.
        GateKeeper = "gatekeeper",
        /// No output.
        None = "none",
    }
}

/// The open outputs of a run: one for [`Format::Tsv`], two for [`Format::GateKeeper`].
#[derive(Debug)]
pub struct Writer {
    format: Format,
    outputs: Vec<Output>,
    begun: bool,
}

impl Writer {
    /// Creates a writer to the outputs of a format.
    ///
    /// # Panics
    /// If the format requires a different number of outputs.
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

    /// Writes the header before the first decisions. It is not written earlier, so that an error at the
    /// beginning of the input leaves nothing on stdout.
    fn begin(&mut self) -> Result<(), Error> {
        if self.format == Format::Tsv && !self.begun {
            self.outputs[0].write_all(b"index\taccept\tedits\n")?;
        }
        self.begun = true;
        Ok(())
    }

    /// Completes the files and makes them appear. Returns the time of syncing them to disk.
    pub(crate) fn finish(mut self) -> Result<Duration, Error> {
        self.begin()?;
        Ok(finish_all(self.outputs)?)
    }
}

impl InOrderSink<DecisionText> for Writer {
    type Error = Error;

    fn write(&mut self, mut texts: DecisionText) -> Result<Option<DecisionText>, Error> {
        self.begin()?;
        for (output, text) in self.outputs.iter_mut().zip(&texts) {
            output.write_all(text)?;
        }
        texts.iter_mut().for_each(Vec::clear);
        Ok(Some(texts))
    }
}
