//! Kraken 2 databases: folders with three files.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use super::options::Kraken2Options;
use super::table::Table;
use super::tables::Tables;
use super::taxonomy::Kraken2Taxonomy;
use super::together::join_taxonomies;
use merganser_io::look_up;
use merganser_run::locks::lock;
use merganser_run::{Cancel, ConfigError, Context, DeviceChoice, Progress, Warnings, Work};

use crate::Error;
use crate::cuda::{Kraken2Gpus, MAX_TABLES, RangeGpu, Wanted};
use merganser_gpu::{GpuConfig, Uploaded};
use merganser_taxonomy::{Dump, JointTaxonomy, Taxonomy, TaxonomyNotes, unite};

/// The files of a database.
const FILES: [&str; 3] = ["opts.k2d", "taxo.k2d", "hash.k2d"];

/// A Kraken 2 database, or several that are [used together](Self::open_all). Its table is memory-mapped: processes that
/// use it at the same time share its memory.
#[derive(Debug)]
pub struct Kraken2Database {
    options: Kraken2Options,
    taxonomy: Kraken2Taxonomy,
    tree: Taxonomy,
    pub(super) tables: Tables,
    /// The number of nodes that the root does not reach.
    unreached: usize,
    /// Messages about databases whose taxonomies differ.
    differences: Vec<String>,
    on_gpus: Mutex<Option<OnGpus>>,
}

/// Devices for the table, and the configuration that they were opened with.
#[derive(Debug)]
struct OnGpus {
    config: GpuConfig,
    wanted: Wanted,
    gpus: Arc<Kraken2Gpus>,
}

impl Kraken2Database {
    /// Opens the database in `folder`: reads and checks opts.k2d and taxo.k2d, maps hash.k2d and compares
    /// its header with its length. hash.k2d has no checksum, so a cell is checked only when a read needs it.
    /// (All cells are checked if taxo.k2d has unreachable nodes among the others.)
    ///
    /// # Errors
    /// If a file is missing, unreadable or damaged, or if the database is of proteins.
    pub fn open(folder: impl AsRef<Path>) -> Result<Kraken2Database, Error> {
        Self::open_files(&Self::files(folder.as_ref()))
    }

    /// Opens the database of these files: options, taxonomy, table.
    ///
    /// # Errors
    /// The errors of [`open`](Self::open).
    pub fn open_files([options, taxonomy, table]: &[PathBuf; 3]) -> Result<Kraken2Database, Error> {
        let options = Kraken2Options::read(options)?;
        let taxonomy = Kraken2Taxonomy::read(taxonomy)?;
        let table = Table::open(table, options.minimum_hash, taxonomy.len() as u32)?;
        if !taxonomy.holes().is_empty() {
            table.refuse_values(taxonomy.holes())?;
        }
        let (tree, unreached) = (taxonomy.to_tree(), taxonomy.unreached());
        Ok(Kraken2Database {
            options,
            taxonomy,
            tree,
            tables: Tables::of(table),
            unreached,
            differences: Vec::new(),
            on_gpus: Mutex::default(),
        })
    }

    /// Opens databases that are used together, as one: a minimizer has the lowest common ancestor of the taxa that the
    /// databases have for it, in their taxonomies joined by taxid. A database that was cut in parts gives the results of
    /// the whole, except for minimizers that collide in one of the compact tables and not in the other. Minimizers that
    /// one table leaves out because of its maximum size are looked up in none.
    ///
    /// Taxa that differ in parent, rank or name are as in the first database that has them; a run warns of them. Devices
    /// take up to 16 databases.
    ///
    /// # Errors
    /// The errors of [`open`](Self::open). If the parameters of the minimizers differ, or the taxonomies are different
    /// ones: most taxids that they share have other names.
    pub fn open_all(
        folders: impl IntoIterator<Item = impl AsRef<Path>>,
    ) -> Result<Kraken2Database, Error> {
        let open = |folder: &dyn AsRef<Path>| {
            let path = folder.as_ref().to_owned();
            Ok((Self::open(&path)?, path))
        };
        let all: Vec<_> =
            folders.into_iter().map(|folder| open(&folder)).collect::<Result<_, Error>>()?;
        if all.len() > 1 {
            return Self::joined(all);
        }
        let only = all.into_iter().next().map(|(only, _)| only);
        only.ok_or_else(|| Error::Input("there is no database".to_owned()))
    }

    fn joined(all: Vec<(Kraken2Database, PathBuf)>) -> Result<Kraken2Database, Error> {
        let options = all[0].0.options;
        let paths = all.iter().map(|(database, path)| (path.as_path(), database));
        let JointTaxonomy { taxonomy: tree, differences } = join_taxonomies(paths)?;
        let taxonomy = Kraken2Taxonomy::of_tree(&tree)?;
        let unreached = all.iter().map(|(database, _)| database.unreached).sum();
        let (tables, own): (Vec<Tables>, Vec<Kraken2Taxonomy>) =
            all.into_iter().map(|(database, _)| (database.tables, database.taxonomy)).unzip();
        let members = tables.into_iter().flat_map(Tables::into_all).zip(&own);
        let tables = Tables::joined(members, &taxonomy);
        let options = Kraken2Options { minimum_hash: tables.minimum_hash(), ..options };
        let (tree, on_gpus) = (taxonomy.to_tree(), Mutex::default());
        Ok(Kraken2Database { options, taxonomy, tree, tables, unreached, differences, on_gpus })
    }

    /// Returns the taxonomy of this database, in `folder`, with the further taxa of another one, for a database that is
    /// used [together](Self::open_all) with it. A taxon that both have is as in this database; a warning names the first
    /// that differs.
    ///
    /// # Errors
    /// If they are different taxonomies: most taxids that both have are other taxa.
    pub fn extend(
        &self,
        folder: &Path,
        other: Option<Dump>,
        warnings: &Warnings,
    ) -> Result<Dump, Error> {
        let Some(other) = other else {
            return Ok(Dump {
                taxonomy: self.tree.clone(),
                deleted: Vec::new(),
                notes: TaxonomyNotes::default(),
                folder: None,
                accessions: None,
            });
        };
        other.refuse_other_numbers(&self.tree)?;
        let other_path = other.folder.as_deref().unwrap_or(Path::new("the tables of GTDB"));
        let (taxonomy, difference) = unite((folder, &self.tree), (other_path, &other.taxonomy))?;
        difference.into_iter().for_each(|difference| warnings.push(difference));
        Ok(Dump { taxonomy, ..other })
    }

    /// Returns the devices that `context` chooses for `bytes` bytes of letters, which are to be
    /// [filled](Self::fill), or `None` to use only the CPU. A GPU that was chosen automatically and has too little
    /// memory is not used.
    ///
    /// # Errors
    /// If a device that was requested does not exist, cannot be used, or has too little memory.
    pub(crate) fn choose_gpus(
        &self,
        context: &Context,
        bytes: Option<u64>,
        wanted: Wanted,
    ) -> Result<Option<Arc<Kraken2Gpus>>, Error> {
        if self.tables.all().count() > MAX_TABLES {
            return match context.device {
                DeviceChoice::Auto | DeviceChoice::Cpu => Ok(None),
                _ => Err(ConfigError::new(format!(
                    "more than {MAX_TABLES} databases are used on the CPU only: leave out `device`"
                ))
                .into()),
            };
        }
        let progress = &*context.progress;
        let work = Work::Kraken2 { table: self.table_bytes() };
        let gpus = context.choose_gpus(work, bytes, merganser_gpu::usable)?;
        if gpus.is_empty() {
            return Ok(None);
        }
        match self.on_gpus(GpuConfig::new(context, gpus), wanted) {
            Err(error @ Error::GpuMemory(_)) if context.device == DeviceChoice::Auto => {
                progress.note(&format!("computing on the CPU: {error}"));
                Ok(None)
            }
            gpus => gpus.map(Some),
        }
    }

    /// Returns the first device that `context` requests, for searches in ranges of tables that are too large for it.
    ///
    /// # Errors
    /// If it does not exist, cannot be used, or has too little memory.
    pub(crate) fn choose_range_gpu(&self, context: &Context) -> Result<RangeGpu, Error> {
        let work = Work::Kraken2 { table: self.table_bytes() };
        let gpus = context.choose_gpus(work, None, merganser_gpu::usable)?;
        RangeGpu::open(&GpuConfig::new(context, gpus), self.tables.least_range())
    }

    /// Copies the tables to devices, unless they have them.
    ///
    /// # Errors
    /// If a table cannot be read, or a device fails; if cancelled.
    pub(crate) fn fill(&self, gpus: &Kraken2Gpus, context: &Context) -> Result<Uploaded, Error> {
        gpus.fill((&self.tables, &self.taxonomy), context.threads, &context.cancel)
    }

    /// Replaces `nodes` with the node of each minimizer; 0 for those without one.
    ///
    /// # Errors
    /// If the database turns out to be damaged.
    pub(super) fn look_up(&self, minimizers: &[u64], nodes: &mut Vec<u32>) -> Result<(), Error> {
        self.tables.look_up(minimizers, &self.taxonomy, nodes)
    }

    /// Checks the largest node that devices found in the tables.
    ///
    /// # Errors
    /// If it is not a node of the taxonomy.
    pub(super) fn check_node(&self, most: u32) -> Result<(), Error> {
        self.tables.check_node(most, self.taxonomy.len())
    }

    /// Opens devices, and keeps them for the next run with the same configuration.
    ///
    /// # Errors
    /// If a device cannot be used, or has too little memory.
    fn on_gpus(&self, config: GpuConfig, wanted: Wanted) -> Result<Arc<Kraken2Gpus>, Error> {
        let mut kept = lock(&self.on_gpus);
        if let Some(kept) = &*kept
            && kept.config == config
            && kept.wanted == wanted
        {
            return Ok(Arc::clone(&kept.gpus));
        }
        // Frees their memory for the new devices.
        *kept = None;
        let tables = (&self.tables, &self.taxonomy);
        let gpus = Arc::new(Kraken2Gpus::open(&self.options, tables, &config, wanted)?);
        *kept = Some(OnGpus { config, wanted, gpus: Arc::clone(&gpus) });
        Ok(gpus)
    }

    /// Whether `folder` looks like a Kraken 2 database: it contains a table.
    ///
    /// # Errors
    /// If the file system cannot be queried.
    pub fn is_one(folder: &Path) -> Result<bool, Error> {
        let [.., table] = Self::files(folder);
        let there = look_up(&table).map_err(|source| Error::File { path: table, source })?;
        Ok(there.is_some_and(|at| !at.is_dir()))
    }

    /// Whether databases that are to be used together are all folders of Kraken 2; false if none is.
    ///
    /// # Errors
    /// [`Error::Config`] if only some are; if the file system cannot be queried.
    pub fn are_all(paths: &[impl AsRef<Path>]) -> Result<bool, Error> {
        let [mut own, mut others] = [None, None];
        for path in paths.iter().map(AsRef::as_ref) {
            let first = if Self::is_one(path)? { &mut own } else { &mut others };
            first.get_or_insert(path.display());
        }
        match (own, others) {
            (Some(own), Some(other)) => Err(Error::Config(ConfigError::new(format!(
                "{own} is a database of Kraken 2, and {other} is of another kind: several databases in one run must be \
                 of the same kind; classify with each kind by itself"
            )))),
            (own, _) => Ok(own.is_some()),
        }
    }

    /// Returns the paths of a database's files in `folder`: options, taxonomy, table.
    pub fn files(folder: &Path) -> [PathBuf; 3] {
        FILES.map(|name| folder.join(name))
    }

    /// Returns the parameters of the database's minimizers.
    pub fn options(&self) -> &Kraken2Options {
        &self.options
    }

    /// Returns the taxonomy of the database.
    pub fn taxonomy(&self) -> &Kraken2Taxonomy {
        &self.taxonomy
    }

    /// Returns the same taxonomy in the form that reports use.
    pub fn tree(&self) -> &Taxonomy {
        &self.tree
    }

    /// Returns the number of cells of all tables.
    pub fn cells(&self) -> u64 {
        self.tables.all().map(Table::cells).sum()
    }

    /// Returns the number of cells in use, as stated in the headers of the tables.
    pub fn filled(&self) -> u64 {
        self.tables.all().map(Table::filled).sum()
    }

    /// Checks all cells: as many must be in use as the header states, and each must have a known taxon.
    /// There is no checksum, so other changes remain undetected.
    ///
    /// # Errors
    /// If a check fails, or [`Error::Cancelled`].
    pub fn verify(&self, context: &Context) -> Result<(), Error> {
        self.tables.verify(context.threads, &context.cancel)
    }

    /// Reads all cells, and returns the nodes of [`tree`](Self::tree) that minimizers have, with the number of minimizers of
    /// each, in the order of the nodes. A minimizer of several tables counts in each.
    ///
    /// # Errors
    /// If a cell has an unknown taxon, or [`Error::Cancelled`].
    pub fn minimizers(&self, context: &Context) -> Result<Vec<(u32, u64)>, Error> {
        let (threads, cancel) = (context.threads, &context.cancel);
        let counts = self.tables.count_nodes(self.taxonomy.len(), threads, cancel)?;
        // Empty cells have node 0.
        let counted = (0..).zip(&counts).skip(1).filter(|(_, count)| **count > 0);
        let of_tree = counted
            .filter_map(|(node, &count)| Some((self.tree.node(self.taxonomy.taxid(node))?, count)));
        let mut of_tree: Vec<(u32, u64)> = of_tree.collect();
        of_tree.sort_unstable();
        Ok(of_tree)
    }

    /// Reads the whole file of the table and returns its CRC-32; of several tables, the CRC-32 of theirs.
    ///
    /// # Errors
    /// [`Error::Cancelled`] if the run is cancelled.
    pub(crate) fn table_checksum(&self, cancel: &Cancel) -> Result<u32, Error> {
        self.tables.checksum(cancel)
    }

    /// Notes nodes that are ignored, and warns if a table has no minimizers or taxonomies differ.
    pub(crate) fn tell(&self, progress: &dyn Progress, warnings: &Warnings) {
        if self.unreached > 0 {
            let unreached = self.unreached;
            progress.note(&format!(
                "{unreached} nodes of taxo.k2d are ignored, as Kraken 2 does: the root does not reach them \
                 (the map that the database was built with has taxids that nodes.dmp lacks)"
            ));
        }
        self.differences.iter().for_each(|difference| warnings.push(difference.clone()));
        for table in self.tables.all().filter(|table| table.filled() == 0) {
            let path = table.path().display();
            warnings.push(format!(
                "{path}: there are no minimizers in it, so no read can be classified: build the database \
                 again from nucleotide sequences"
            ));
        }
    }

    /// Returns the size of the mapped tables in bytes.
    pub fn table_bytes(&self) -> u64 {
        self.tables.bytes()
    }
}
