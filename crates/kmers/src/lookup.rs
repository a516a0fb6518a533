//! Tables to look k-mers up in at random: in memory as a whole where that fits, else in ranges of
//! their first bits, one after the other for each batch of letters; and for a few k-mers where these
//! may be.

mod device_sections;
mod devices;
mod kernels;
mod lines;
mod load;
mod ranged;
mod resident;
mod sliding;
mod sorted_queries;

use merganser_run::{Cancel, Progress, Resources, Work};
use merganser_seq::kmer::{Kmer, Wide};

use crate::Error;
use crate::algebra::{Cut, Session};
use crate::tables::AnyTable;
use crate::tables::temporary::Temporary;
use kernels::SeekKmer;
use load::{Loading, Sections};
use ranged::Ranged;
use resident::Resident;
use sorted_queries::SortedQueries;

/// The counts of k-mers given by their letters, whatever their width and wherever the table is.
pub trait Lookup: Send + Sync {
    /// Bases of a k-mer.
    fn k(&self) -> usize;

    /// How many letters should be looked up together.
    fn letters_at_once(&self) -> usize;

    /// Bytes of memory that the table takes; `None`: all that there is for it.
    fn resident_bytes(&self) -> Option<u64> {
        None
    }

    /// Whether one call keeps all threads busy. If not, as many threads should call at once.
    fn takes_all_threads(&self) -> bool;

    /// Replaces `counts` by those of the k-mers that begin at every `stride`th letter, from the first
    /// on; 0 for those that are not in the table, that hold a letter that is no base, and for which
    /// no letters are left. Texts that shall share no k-mer have such a letter between them.
    ///
    /// # Errors
    /// If the table cannot be read, or [`Error::Cancelled`].
    fn counts(&self, letters: &[u8], stride: usize, counts: &mut Vec<u32>) -> Result<(), Error>;

    /// Replaces `counts` by those of k-mers of up to 32 bases that are given as integers (A C G T = 0 1 2 3, the first base most
    /// significant), on either strand if the table is canonical; 0 for those that are not in the table, as are integers
    /// of more than k bases.
    ///
    /// # Errors
    /// As [`Lookup::counts`].
    fn counts_of_words(&self, kmers: &[u64], counts: &mut Vec<u32>) -> Result<(), Error> {
        let k = self.k();
        let mut letters = Vec::with_capacity(kmers.len() * (k + 1));
        for &kmer in kmers {
            match k < 32 && kmer >> (2 * k) != 0 {
                true => letters.resize(letters.len() + k, b'N'),
                false => kmer.write_letters(k, &mut letters),
            }
            letters.push(b'\n');
        }
        self.counts(&letters, k + 1, counts)
    }
}

/// What a table is looked up for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Use {
    /// All k-mers of reads.
    Reads,
    /// Single k-mers, about so many if that is known. For few of them a table of ours is not loaded,
    /// but read where they may be.
    Kmers(Option<u64>),
}

/// A table is loaded for one k-mer in so many of it: then loading takes as long as reading it where
/// the k-mers may be.
const FEW: u64 = 16;

/// What a look-up may use, and what it should know.
#[derive(Clone, Copy, Debug)]
pub struct LookupOptions<'o> {
    /// Threads, memory, and a place for temporary files.
    pub resources: &'o Resources,
    /// Only k-mers whose counts lie within are in the table.
    pub cut: Cut,
    /// What for.
    pub purpose: Use,
    /// Bytes of memory that whoever looks up needs for itself.
    pub reserved: u64,
    /// Bytes of text that will be looked up, about; `None` if nobody knows. By it
    /// [`DeviceChoice::Auto`](merganser_run::DeviceChoice::Auto) decides on GPUs.
    pub input: Option<u64>,
}

/// Prepares a table for look-ups. Other formats than our own are made into a temporary table of ours
/// where they do not fit into the memory, and for GPUs.
///
/// Progress stages: `gathering` and `loading`, in bytes of the table.
///
/// # Errors
/// If the table cannot be read, or the memory is too little for even a part of it.
pub fn open_lookup(
    table: AnyTable,
    options: &LookupOptions<'_>,
    progress: &dyn Progress,
    cancel: &Cancel,
) -> Result<Box<dyn Lookup>, Error> {
    let work = match options.purpose {
        Use::Reads => Work::Profile,
        Use::Kmers(_) => Work::Query,
    };
    let usable = merganser_gpu::usable;
    let gpus = options.resources.choose_gpus(work, options.input, usable, progress)?;
    let opened = match table.description().k {
        0..=32 => open::<u64>(table, options, &gpus, progress, cancel),
        33..=64 => open::<u128>(table, options, &gpus, progress, cancel),
        _ => open::<Wide>(table, options, &gpus, progress, cancel),
    };
    progress.finish();
    cancel.over_error(opened)
}

fn open<K: SeekKmer>(
    table: AnyTable,
    options: &LookupOptions<'_>,
    gpus: &[u32],
    progress: &dyn Progress,
    cancel: &Cancel,
) -> Result<Box<dyn Lookup>, Error> {
    if table.as_mgk().is_some() {
        return open_own::<K>(table, options, gpus, progress, cancel);
    }
    let temporary = {
        let session = Session::new(std::slice::from_ref(&table), 1, options.resources)?;
        let ranges = session.ranges::<K>(progress, cancel)?;
        // What is gathered and what is loaded are there at once.
        let most = room(&table, options).saturating_sub(session.gathered_bytes());
        let loading = Loading { session: &session, ranges: &ranges, cut: options.cut, cancel };
        if gpus.is_empty() && loading.bytes() <= most {
            let sections = loading.all(u64::MAX, progress)?;
            return Ok(Box::new(Resident::new(&table, sections.unwrap_or_default(), cancel)));
        }
        Temporary::write(&session, &ranges, options.cut, progress, cancel)?
    };
    progress.note(&format!(
        "{}: is looked up in a temporary table of ours ({})",
        table.path().display(),
        merganser_run::format_size(temporary.bytes())
    ));
    let options = LookupOptions { cut: Cut::NONE, ..*options };
    open_own::<K>(temporary.into_table(), &options, gpus, progress, cancel)
}

/// Of our own format.
fn open_own<K: SeekKmer>(
    table: AnyTable,
    options: &LookupOptions<'_>,
    gpus: &[u32],
    progress: &dyn Progress,
    cancel: &Cancel,
) -> Result<Box<dyn Lookup>, Error> {
    let most = room(&table, options);
    if !gpus.is_empty() {
        return devices::lookup::<K>(table, options, gpus, most, progress, cancel);
    }
    let sections: Option<Sections<K>> = if seek(&table, options.purpose) {
        None
    } else {
        let session = Session::new(std::slice::from_ref(&table), 1, options.resources)?;
        let ranges = session.ranges::<K>(progress, cancel)?;
        let loading = Loading { session: &session, ranges: &ranges, cut: options.cut, cancel };
        // A cut may leave few: that is seen on the way.
        match options.cut == Cut::NONE && loading.bytes() > most {
            true => None,
            false => loading.all(most, progress)?,
        }
    };
    match sections {
        Some(sections) => Ok(Box::new(Resident::new(&table, sections, cancel))),
        None if options.purpose != Use::Reads => {
            let threads = options.resources.threads;
            Ok(Box::new(SortedQueries::<K>::new(table, options.cut, threads, cancel)))
        }
        None => {
            let ranged = Ranged::<K>::new(table, options, most, cancel)?;
            progress.note(&ranged.describe());
            Ok(Box::new(ranged))
        }
    }
}

/// Whether so few k-mers are wanted that the table need not be loaded.
fn seek(table: &AnyTable, purpose: Use) -> bool {
    let kmers = table.description().kmers.unwrap_or(0);
    match purpose {
        Use::Reads => false,
        Use::Kmers(wanted) => wanted.is_none_or(|wanted| wanted < kmers / FEW),
    }
}

/// Bytes that may be spent on look-ups.
fn room(table: &AnyTable, options: &LookupOptions<'_>) -> u64 {
    let resources = options.resources;
    let table = table.resident(resources.threads);
    Session::budget(resources).with(table).with(options.reserved).left()
}
