//! Counting only the k-mers of a panel: each is looked up in a table in memory that has a counter for each k-mer, so that
//! memory and time do not depend on the k-mers of the reads.

use std::path::Path;

use merganser_io::{Input, OutputSet, TemporaryFolder};
use merganser_kmers::Histogram;
use merganser_kmers::lookup::Panel;
use merganser_kmers::tables::AnyTable;
use merganser_run::{Cancel, ConfigError, Context, DeviceChoice, each};
use merganser_seq::kmer::Kmer;

use crate::config::Format;
use crate::emit::{Sections, Stretch, Stretches, TableContents};
use crate::fragments::{Consumer, Fragment};
use crate::{Config, Error};

/// The number of k-mers that are looked up in one call.
const AT_ONCE: usize = 256;

/// The open table of a panel, and the folder that it is in if it was made from sequences.
pub(crate) struct PanelTable {
    pub(crate) table: AnyTable,
    _folder: Option<TemporaryFolder>,
}

/// Opens a panel: a table, or sequences, all k-mers of which are counted into a temporary table.
///
/// # Errors
/// If the panel cannot be read, or its k-mers are not like those that `config` counts.
pub(crate) fn open(path: &Path, config: &Config, context: &Context) -> Result<PanelTable, Error> {
    if path.as_os_str() == "-" || !AnyTable::is_of_sequences(path)? {
        let table = AnyTable::open_with(path, config.is_canonical(), context)?;
        check(&table, config)?;
        return Ok(PanelTable { table: table.sorted(context)?, _folder: None });
    }
    let folder = TemporaryFolder::create(&context.temp_dir)?;
    let (file, outputs) = (folder.file("panel.mgk")?, OutputSet::new());
    let own = Config {
        panel: None,
        min_count: Some(1),
        max_count: None,
        min_qual: None,
        format: Format::Mgk,
        ..config.clone()
    };
    let inputs = [Input::from(path.to_owned())];
    let context = context.clone().device(DeviceChoice::Cpu);
    crate::run_quietly(&own, &inputs, Some(&file), &outputs, &context)?;
    outputs.commit()?;
    Ok(PanelTable { table: AnyTable::open(&file)?, _folder: Some(folder) })
}

/// Checks that the k-mers of the reads can be in the table.
fn check(table: &AnyTable, config: &Config) -> Result<(), Error> {
    let (panel, path) = (table.description(), table.path().display());
    let fail = |message: String| Err(Error::Config(ConfigError::new(message)));
    if panel.k != config.k {
        return fail(format!(
            "`k` {}: the k-mers of the `panel` {path} have {} bases",
            config.k, panel.k
        ));
    }
    if panel.canonical != config.is_canonical() {
        let what = if panel.canonical {
            "are canonical: leave `forward_only` out"
        } else {
            "are not canonical: use `forward_only`"
        };
        return fail(format!("`panel`: the k-mers of {path} {what}"));
    }
    if panel.header.is_some() && panel.homopolymer_compressed != config.hpc {
        let what = if config.hpc {
            "were not homopolymer-compressed: leave `hpc` out"
        } else {
            "were homopolymer-compressed: use `hpc`"
        };
        return fail(format!("`panel`: the reads of {path} {what}"));
    }
    Ok(())
}

/// A worker that counts the k-mers of reads which a panel has.
pub(crate) struct PanelCounter<'p, K> {
    panel: &'p Panel<K>,
    k: usize,
    canonical: bool,
    waiting: Vec<K>,
    /// The number of k-mers of the reads, whether the panel has them or not.
    pub(crate) kmers: u64,
}

impl<'p, K: Kmer> PanelCounter<'p, K> {
    pub(crate) fn new(panel: &'p Panel<K>, config: &Config) -> PanelCounter<'p, K> {
        let (k, canonical) = (config.k, config.is_canonical());
        PanelCounter { panel, k, canonical, waiting: Vec::with_capacity(AT_ONCE), kmers: 0 }
    }

    fn send(&mut self) {
        self.panel.add(&self.waiting);
        self.kmers += self.waiting.len() as u64;
        self.waiting.clear();
    }
}

impl<K: Kmer> Consumer for PanelCounter<'_, K> {
    fn batch(&mut self, codes: &[u8], fragments: &[Fragment]) -> Result<(), Error> {
        let (k, mask) = (self.k, K::mask(self.k));
        for fragment in fragments {
            let (mut forward, mut reverse) = (K::default(), K::default());
            for (at, &code) in codes[fragment.start..fragment.end].iter().enumerate() {
                forward = forward.push(code, mask);
                reverse = reverse.push_complement(code, k);
                if at + 1 < k {
                    continue;
                }
                self.waiting.push(if self.canonical { forward.least(reverse) } else { forward });
                if self.waiting.len() == AT_ONCE {
                    self.send();
                }
            }
        }
        self.send();
        Ok(())
    }
}

/// The results of a panel: its k-mers whose counts are within the limits of the configuration.
pub(crate) struct PanelResults<'p, K> {
    panel: &'p Panel<K>,
    least: u32,
    most: u32,
}

impl<'p, K: Kmer> PanelResults<'p, K> {
    pub(crate) fn new(panel: &'p Panel<K>, config: &Config) -> PanelResults<'p, K> {
        PanelResults { panel, least: config.least(), most: config.most() }
    }

    /// Returns the histogram of all k-mers that occur, and the number of those that do not.
    pub(crate) fn histogram(
        &self,
        threads: usize,
        cancel: &Cancel,
    ) -> Result<(Histogram, u64), Error> {
        let parts = each(threads, 0..1 << self.panel.section_bits(), cancel, |numbers| {
            let (mut histogram, mut absent, mut kmers) = (Histogram::default(), 0, Vec::new());
            for number in numbers {
                self.panel.section(number, &mut kmers);
                for &(_, count) in &kmers {
                    match count {
                        0 => absent += 1,
                        _ => histogram.add(count),
                    }
                }
            }
            Ok::<_, Error>((histogram, absent))
        })?;
        let mut all = (Histogram::default(), 0);
        for (histogram, absent) in parts {
            all.0.merge(&histogram);
            all.1 += absent;
        }
        Ok(all)
    }
}

impl<K: Kmer> TableContents<K> for PanelResults<'_, K> {
    fn sections(&self) -> Box<dyn Sections<K> + Send + '_> {
        Box::new(PanelSections { results: self, kmers: Vec::new() })
    }
}

/// A worker that reads sections out.
struct PanelSections<'r, 'p, K> {
    results: &'r PanelResults<'p, K>,
    kmers: Vec<(K, u32)>,
}

impl<K: Kmer> Sections<K> for PanelSections<'_, '_, K> {
    fn section(
        &mut self,
        section: usize,
        section_bits: u32,
        each: Stretches<'_, K>,
    ) -> Result<(), Error> {
        let PanelResults { panel, least, most } = *self.results;
        // The table has at most the k-mers of the panel, and so no more sections.
        let parts = 1 << (panel.section_bits() - section_bits);
        for part in 0..parts {
            panel.section(section * parts + part, &mut self.kmers);
            self.kmers.retain(|&(_, count)| (least..=most).contains(&count));
            each(Stretch::Kmers(&self.kmers), part + 1 == parts)?;
        }
        Ok(())
    }
}
