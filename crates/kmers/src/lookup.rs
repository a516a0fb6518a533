//! Looks up k-mers in tables in random order. The table is in memory as a whole if it fits. Otherwise ranges of
//! it, by the first bits of k-mers, are loaded one after the other for each batch of letters. For a few k-mers,
//! only the blocks that may contain them are read.

mod device_panel;
mod device_sections;
mod devices;
mod kernels;
mod lines;
mod load;
mod pair;
mod panel;
mod panel_slots;
mod ranged;
mod resident;
mod sliding;
mod sorted_queries;
mod staging;

use merganser_run::{Budget, Cancel, Context, Progress, Work};
use merganser_seq::kmer::{Kmer, Wide};

use crate::Error;
use crate::algebra::{Cut, Session};
use crate::tables::AnyTable;
use crate::tables::temporary::Temporary;
pub use device_panel::DevicePanel;
use kernels::SeekKmer;
use load::{Loading, Sections};
pub use pair::Pair;
pub use panel::{Panel, PanelSection};
pub use panel_slots::{AssignSlots, Distribution};
use ranged::Ranged;
use resident::Resident;
use sorted_queries::SortedQueries;

/// A table in which k-mers are looked up by their letters, for any width of k-mers and any location of the table.
pub trait Lookup: Send + Sync {
    /// Returns the length of k-mers.
    fn k(&self) -> usize;

    /// Returns the number of counts for each k-mer: 1, or 2 for a [`Pair`] of tables.
    fn width(&self) -> usize {
        1
    }

    /// Returns the number of letters that should be looked up in one call.
    fn letters_at_once(&self) -> usize;

    /// Returns the memory that the table takes, in bytes; `None` if it takes all that is available.
    fn resident_bytes(&self) -> Option<u64> {
        None
    }

    /// Whether one call keeps all threads busy. If not, one call per thread should run at a time.
    fn takes_all_threads(&self) -> bool;

    /// Replaces `counts` by those of the k-mers that begin at every `stride`th letter, from the first letter
    /// on. The count is 0 if the table does not have the k-mer, if it contains a letter that is not a base, or
    /// if fewer than k letters are left. Texts that must not form k-mers together need such a letter between
    /// them.
    ///
    /// # Errors
    /// If the table cannot be read, or [`Error::Cancelled`].
    fn counts(&self, letters: &[u8], stride: usize, counts: &mut Vec<u32>) -> Result<(), Error>;

    /// Returns the count of one k-mer, in either case, on either strand if the table is canonical; 0 if the table does
    /// not have it, or if it has not exactly k bases.
    ///
    /// # Errors
    /// Fails as [`Lookup::counts`] does.
    fn get(&self, kmer: &str) -> Result<u32, Error> {
        if kmer.len() != self.k() {
            return Ok(0);
        }
        let mut counts = Vec::new();
        self.counts(kmer.as_bytes(), kmer.len(), &mut counts)?;
        Ok(counts.first().copied().unwrap_or(0))
    }

    /// Replaces `counts` by those of k-mers of up to 32 bases that are given as integers (A C G T = 0 1 2 3,
    /// the first base most significant), on either strand if the table is canonical. The count is 0 if the
    /// table does not have the k-mer, or the integer has more than k bases.
    ///
    /// # Errors
    /// Fails as [`Lookup::counts`] does.
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

/// The purpose of look-ups, which determines how the table is opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Use {
    /// All k-mers of reads.
    Reads,
    /// Single k-mers, with their approximate number if it is known. For a few k-mers, an `.mgk` table is not
    /// loaded; only the blocks that may contain them are read.
    Kmers(Option<u64>),
}

/// A table is loaded if at least one k-mer is looked up for this many k-mers of the table: then loading takes
/// as long as reading single blocks.
const FEW: u64 = 16;

/// The resources and the purpose of look-ups.
#[derive(Clone, Copy, Debug)]
pub struct LookupOptions<'o> {
    /// The threads, the memory and the directory for temporary files.
    pub context: &'o Context,
    /// The cut of the table: k-mers with other counts are not found.
    pub cut: Cut,
    /// The purpose of the look-ups.
    pub purpose: Use,
    /// The memory that the caller needs for itself, in bytes.
    pub reserved: u64,
    /// The approximate size of the text that will be looked up, in bytes; `None` if it is unknown.
    /// [`DeviceChoice::Auto`](merganser_run::DeviceChoice::Auto) depends on it.
    pub input: Option<u64>,
}

impl<'o> LookupOptions<'o> {
    /// Look-ups of single k-mers in a whole table.
    pub fn new(context: &'o Context) -> LookupOptions<'o> {
        LookupOptions {
            context,
            cut: Cut::NONE,
            purpose: Use::Kmers(None),
            reserved: 0,
            input: None,
        }
    }
}

impl AnyTable {
    /// Prepares the table for look-ups of single k-mers.
    ///
    /// ```
    /// use merganser_kmers::tables::AnyTable;
    ///
    /// let folder = tempfile::tempdir()?;
    /// let path = folder.path().join("table.tsv");
    /// std::fs::write(&path, "ACG\t4\nCCA\t2\n")?;
    /// let lookup = AnyTable::open(&path)?.lookup(&merganser_run::Context::new())?;
    /// // CGT is the reverse complement of ACG.
    /// assert_eq!((lookup.get("CGT")?, lookup.get("TTT")?), (4, 0));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Fails as [`open_lookup`] does.
    pub fn lookup(&self, context: &Context) -> Result<Box<dyn Lookup>, Error> {
        open_lookup(self.reopen(context)?, &LookupOptions::new(context))
    }
}

/// Prepares a table for look-ups. A table in a format other than `.mgk` is converted to a temporary `.mgk`
/// table if it does not fit into memory, or if GPUs are used.
///
/// The progress stages are `gathering` and `loading`, in bytes of the table.
///
/// # Errors
/// If the table cannot be read, or not even a range of it fits into memory.
pub fn open_lookup(table: AnyTable, options: &LookupOptions<'_>) -> Result<Box<dyn Lookup>, Error> {
    let (progress, cancel) = (&*options.context.progress, &options.context.cancel);
    let work = match options.purpose {
        Use::Reads => Work::Profile,
        Use::Kmers(_) => Work::Query,
    };
    let usable = merganser_gpu::usable;
    let gpus = options.context.choose_gpus(work, options.input, usable)?;
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
        let session = Session::new(std::slice::from_ref(&table), 1, options.context)?;
        let ranges = session.ranges::<K>(progress, cancel)?;
        // The gathered and the loaded k-mers are in memory at the same time.
        let most = room(&table, options).saturating_sub(session.gathered_bytes());
        let loading = Loading {
            session: &session,
            ranges: &ranges,
            cut: options.cut,
            without_counts: false,
            cancel,
        };
        if gpus.is_empty() && loading.bytes() <= most {
            let sections = loading.all(u64::MAX, progress)?;
            return Ok(Box::new(Resident::new(&table, sections.unwrap_or_default(), cancel)));
        }
        Temporary::write(&session, &ranges, options.cut, progress, cancel)?
    };
    progress.note(&format!(
        "{}: look-ups use a temporary .mgk table ({})",
        table.path().display(),
        merganser_run::format_size(temporary.bytes())
    ));
    let options = LookupOptions { cut: Cut::NONE, ..*options };
    open_own::<K>(temporary.into_table(), &options, gpus, progress, cancel)
}

/// Prepares an `.mgk` table.
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
        let session = Session::new(std::slice::from_ref(&table), 1, options.context)?;
        let ranges = session.ranges::<K>(progress, cancel)?;
        let loading = Loading {
            session: &session,
            ranges: &ranges,
            cut: options.cut,
            without_counts: false,
            cancel,
        };
        // With a cut, the size is known only after loading.
        match options.cut == Cut::NONE && loading.bytes() > most {
            true => None,
            false => loading.all(most, progress)?,
        }
    };
    match sections {
        Some(sections) => Ok(Box::new(Resident::new(&table, sections, cancel))),
        None if options.purpose != Use::Reads => {
            let threads = options.context.threads;
            Ok(Box::new(SortedQueries::<K>::new(table, options.cut, threads, cancel)))
        }
        None => {
            let ranged = Ranged::<K>::new(table, options, most, cancel)?;
            progress.note(&ranged.describe());
            Ok(Box::new(ranged))
        }
    }
}

/// Whether so few k-mers are looked up that the table need not be loaded.
fn seek(table: &AnyTable, purpose: Use) -> bool {
    let kmers = table.description().kmers.unwrap_or(0);
    match purpose {
        Use::Reads => false,
        Use::Kmers(wanted) => wanted.is_none_or(|wanted| wanted < kmers / FEW),
    }
}

/// Returns the memory that look-ups may use, in bytes.
fn room(table: &AnyTable, options: &LookupOptions<'_>) -> u64 {
    budget(table, options).left()
}

/// Returns the memory, of which everything but look-ups has its part.
fn budget(table: &AnyTable, options: &LookupOptions<'_>) -> Budget {
    let context = options.context;
    let table = table.resident(context.threads);
    Session::budget(context).with(table).with(options.reserved)
}
