//! The names and lengths of all texts, which the header of SAM has before the first hit.

use std::collections::HashSet;

use merganser_alignments::{RecordOptions, warn_of_names};
use merganser_io::{Header, Input, Keep, ReadInput, RecordBatch, Records};
use merganser_run::{Budget, Context, Shortage, Unit, thousands};

use crate::Error;
use crate::output::TextLengths;

/// The number of letters of a text that are read at a time.
const STRETCH: usize = 1 << 20;
/// The memory of a text in bytes, without its name, which is held twice, in the header and in a set.
const TEXT: u64 = 160;

/// Reads all texts, and returns their names and lengths. The progress has one stage, in bytes of input.
///
/// # Errors
/// If a text is no regular file, as it is read again afterwards; if the header cannot have a name or a length, or would
/// not fit into `budget`; if a text cannot be read.
pub(super) fn measure(
    texts: &[Input],
    budget: Budget,
    context: &Context,
) -> Result<TextLengths, Error> {
    if let Some(stream) = texts.iter().find(|input| !input.is_file()) {
        return Err(Error::Input(format!(
            "{stream}: it is a pipe or stdin, and would be read twice for SAM and BAM, whose header has \
             the lengths of all sequences: write it to a file first, or choose TSV or BED"
        )));
    }
    let segments: Vec<ReadInput> = texts.iter().cloned().map(ReadInput::Single).collect();
    let options = RecordOptions {
        keep: Keep { header: Header::Name, qualities: false },
        stretches: Some((STRETCH, 0)),
        workers: context.threads,
        cancel: context.cancel.clone(),
        ..RecordOptions::default()
    };
    let records = Records::open(&segments, options)?;
    context.progress.stage("measure", Unit::Bytes, records.bytes_total());
    let mut header = HeaderTexts::new(budget);
    let (mut batch, mut open) = (RecordBatch::default(), 0);
    while let Some(bytes) = records.next(&mut batch)? {
        context.progress.advance(bytes);
        let stretch = batch.stretch();
        for at in 0..batch.len() {
            open += batch.letters(at).len() as u64;
            if stretch.is_none_or(|stretch| stretch.ends) {
                header.add(&batch, at, std::mem::take(&mut open))?;
            }
        }
    }
    warn_of_names(header.texts.contigs(), &context.warnings);
    Ok(header.texts)
}

/// The texts that were read so far.
struct HeaderTexts {
    texts: TextLengths,
    names: HashSet<String>,
    bytes: u64,
    budget: Budget,
}

impl HeaderTexts {
    fn new(budget: Budget) -> HeaderTexts {
        HeaderTexts { texts: TextLengths::default(), names: HashSet::new(), bytes: 0, budget }
    }

    fn add(&mut self, batch: &RecordBatch, at: usize, letters: u64) -> Result<(), Error> {
        let wrong = |problem: String| {
            let (file, number) = batch.place(at);
            Error::Input(format!("{file}: record {number}: {problem}"))
        };
        let Ok(name) = std::str::from_utf8(batch.name(at)) else {
            return Err(wrong("its name is not UTF-8, as names in SAM are: rename it".into()));
        };
        self.bytes += TEXT + 2 * name.len() as u64;
        let what = format_args!("the names of {} sequences in the header need", self.count());
        self.budget.with(self.bytes).check(what, Shortage::FEWER_THREADS)?;
        self.texts.push(name.to_owned(), letters);
        let last = self.texts.last();
        if let Some(problem) = last.and_then(|last| last.unnameable().or_else(|| last.too_long())) {
            return Err(wrong(problem));
        }
        if !self.names.insert(name.to_owned()) {
            let problem = format!(
                "another sequence has the name {name}, too, which SAM does not allow: rename one, or \
                 choose TSV or BED"
            );
            return Err(wrong(problem));
        }
        Ok(())
    }

    fn count(&self) -> String {
        thousands(self.names.len() as u64 + 1)
    }
}
