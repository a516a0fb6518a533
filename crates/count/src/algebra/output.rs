//! Writing a result while it is computed: encoded by all workers, written in order.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use merganser_io::{AtomicFile, Output};

use crate::Error;
use crate::emit::{Encoder, Sink, Totals};
use crate::kff::{KffFormat, KffSink};
use crate::kmc::{KmcFormat, KmcSink, Layout};
#[cfg(feature = "parquet")]
use crate::parquet::{ParquetFormat, ParquetSink};
use crate::table::{Header, MgkFormat, MgkSink};
use crate::text::{Style, TextFormat};

/// How a result is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TableFormat {
    /// Our own table.
    Mgk,
    /// A KMC1 database.
    Kmc,
    /// A KFF file.
    Kff,
    /// `KMER<TAB>COUNT` lines.
    Tsv,
    /// `>COUNT`, then `KMER` on its own line.
    Fasta,
    /// `KMER COUNT` lines.
    Jellyfish,
    /// Columns `kmer` and `count`, with the feature `parquet`.
    Parquet,
    /// Not at all: histogram and numbers only.
    None,
}

/// Open files.
pub(super) enum Target {
    Mgk(AtomicFile),
    Kmc([AtomicFile; 2]),
    Kff(AtomicFile),
    Text(Output, Style),
    #[cfg(feature = "parquet")]
    Parquet(AtomicFile),
    None,
}

impl Target {
    pub(super) fn create(format: TableFormat, path: Option<&Path>) -> Result<Target, Error> {
        let path = || path.ok_or_else(|| Error::Config("an output file is needed: -o FILE".into()));
        let text = |style| Ok::<_, Error>(Target::Text(Output::create(path()?)?, style));
        Ok(match format {
            TableFormat::Mgk => Target::Mgk(AtomicFile::create(path()?)?),
            TableFormat::Kmc => {
                let [prefixes, suffixes] = KmcSink::names(path()?);
                Target::Kmc([AtomicFile::create(&prefixes)?, AtomicFile::create(&suffixes)?])
            }
            TableFormat::Kff => Target::Kff(AtomicFile::create(path()?)?),
            TableFormat::Tsv => text(Style::Tsv)?,
            TableFormat::Fasta => text(Style::Fasta)?,
            TableFormat::Jellyfish => text(Style::Jellyfish)?,
            #[cfg(feature = "parquet")]
            TableFormat::Parquet => Target::Parquet(AtomicFile::create(path()?)?),
            #[cfg(not(feature = "parquet"))]
            TableFormat::Parquet => return Err(Error::Config(crate::NO_PARQUET.into())),
            TableFormat::None => Target::None,
        })
    }

    /// Gives `writing` the encoder and the sink of this target, for the table that `header`
    /// describes: its k-mers are an upper bound, as is `largest`.
    pub(super) fn open<K, W: Writing<K>>(
        self,
        header: Header,
        largest: u32,
        writing: W,
    ) -> Result<W::Written, Error>
    where
        K: merganser_seq::kmer::Kmer,
    {
        let k = header.k;
        match self {
            Target::Mgk(file) => writing.write(&MgkFormat, MgkSink::new(file, header)?),
            Target::Kmc(files) => {
                let layout = Layout::best(k, header.kmers, largest);
                writing.write(&KmcFormat { layout }, KmcSink::new(files, layout, header)?)
            }
            Target::Kff(file) => {
                let format = KffFormat::new(k, largest);
                let sink = KffSink::new(file, header, &format)?;
                writing.write(&format, sink)
            }
            Target::Text(output, style) => writing.write(&TextFormat { k, style }, output),
            #[cfg(feature = "parquet")]
            Target::Parquet(file) => {
                writing.write(&ParquetFormat { k }, ParquetSink::new(file, &header)?)
            }
            Target::None => writing.write(&Nothing, Nothing),
        }
    }
}

/// What is done with an encoder and a sink, whatever they are.
pub(super) trait Writing<K> {
    type Written;
    fn write<E: Encoder<K>, S: Sink<E::Part>>(
        self,
        encoder: &E,
        sink: S,
    ) -> Result<Self::Written, Error>;
}

/// Writes nothing.
struct Nothing;

impl<K> Encoder<K> for Nothing {
    type Part = ();
    fn encode(&self, _kmers: &[(K, u32)]) {}
}

impl Sink<()> for Nothing {
    fn write(&mut self, _part: ()) -> Result<(), Error> {
        Ok(())
    }

    fn finish(self) -> Result<Duration, Error> {
        Ok(Duration::ZERO)
    }
}

/// Parts that came before their turn wait here, and if too many do, those who bring more.
pub(super) struct InOrder<P, S> {
    state: Mutex<State<P, S>>,
    turn: Condvar,
    /// k-mers that may wait.
    most: u64,
}

struct State<P, S> {
    /// The section whose turn it is.
    next: usize,
    waiting: BTreeMap<usize, Waiting<P>>,
    kmers: u64,
    /// Somebody will not bring what is missing.
    abandoned: bool,
    sink: S,
}

struct Waiting<P> {
    parts: Vec<(P, u64)>,
    whole: bool,
}

impl<P, S: Sink<P>> InOrder<P, S> {
    pub(super) fn new(sink: S, most: u64) -> InOrder<P, S> {
        let waiting = BTreeMap::new();
        let state = State { next: 0, waiting, kmers: 0, abandoned: false, sink };
        InOrder { state: Mutex::new(state), turn: Condvar::new(), most }
    }

    fn lock(&self) -> MutexGuard<'_, State<P, S>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes the next part of a section, which has `kmers` k-mers; `last` if it is whole with it.
    /// False if the output was abandoned.
    pub(super) fn hand_in(
        &self,
        section: usize,
        part: P,
        kmers: u64,
        last: bool,
    ) -> Result<bool, Error> {
        let mut state = self.lock();
        // Whoever brings the section whose turn it is never waits, and so this ends.
        while section != state.next && state.kmers + kmers > self.most && !state.abandoned {
            state = self.turn.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        if state.abandoned {
            return Ok(false);
        }
        let waiting = state.waiting.entry(section);
        let waiting = waiting.or_insert_with(|| Waiting { parts: Vec::new(), whole: false });
        waiting.parts.push((part, kmers));
        waiting.whole = last;
        state.kmers += kmers;
        state.write()?;
        drop(state);
        self.turn.notify_all();
        Ok(true)
    }

    /// Nobody needs to wait any more: a part will be missing.
    pub(super) fn abandon(&self) {
        self.lock().abandoned = true;
        self.turn.notify_all();
    }

    pub(super) fn finish(self, totals: &Totals) -> Result<Duration, Error> {
        let mut sink = self.state.into_inner().unwrap_or_else(PoisonError::into_inner).sink;
        sink.totals(totals);
        sink.finish()
    }
}

impl<P, S: Sink<P>> State<P, S> {
    /// Writes all whose turn it is.
    fn write(&mut self) -> Result<(), Error> {
        while let Some(mut waiting) = self.waiting.remove(&self.next) {
            for (part, kmers) in waiting.parts.drain(..) {
                self.kmers -= kmers;
                self.sink.write(part)?;
            }
            if !waiting.whole {
                break;
            }
            self.next += 1;
        }
        Ok(())
    }
}
