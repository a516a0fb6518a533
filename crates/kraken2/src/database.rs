//! A database: a folder with three files.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use super::options::Kraken2Options;
use super::table::Table;
use super::taxonomy::Kraken2Taxonomy;
use merganser_io::look_up;
use merganser_run::locks::lock;
use merganser_run::{Cancel, DeviceChoice, Progress, Resources, Warnings, Work};

use crate::Error;
use crate::cuda::Kraken2Gpus;
use merganser_gpu::GpuConfig;
use merganser_taxonomy::Taxonomy;

/// The files of a database.
const FILES: [&str; 3] = ["opts.k2d", "taxo.k2d", "hash.k2d"];

/// A database that Kraken 2 made. Its table is mapped: processes that use it at the same time share
/// the memory that it takes.
#[derive(Debug)]
pub struct Kraken2Database {
    options: Kraken2Options,
    taxonomy: Kraken2Taxonomy,
    tree: Taxonomy,
    pub(super) table: Table,
    on_gpus: Mutex<Option<OnGpus>>,
}

/// Devices that have the table, and what they were asked for with.
#[derive(Debug)]
struct OnGpus {
    config: GpuConfig,
    minimizers: bool,
    gpus: Arc<Kraken2Gpus>,
}

impl Kraken2Database {
    /// Opens the database in `folder`: opts.k2d and taxo.k2d are read and checked, hash.k2d is mapped
    /// and its header held against its length. It has no checksum: cells are looked at as reads need
    /// them. (Where nodes that the root of the taxonomy does not reach are among others, all are looked at.)
    ///
    /// # Errors
    /// If a file is missing, cannot be read, is damaged, or is of proteins.
    pub fn open(folder: &Path) -> Result<Kraken2Database, Error> {
        Self::open_files(&Self::files(folder))
    }

    /// Opens the database of these three files: options, taxonomy, table.
    ///
    /// # Errors
    /// As [`open`](Self::open).
    pub fn open_files([options, taxonomy, table]: &[PathBuf; 3]) -> Result<Kraken2Database, Error> {
        let options = Kraken2Options::read(options)?;
        let taxonomy = Kraken2Taxonomy::read(taxonomy)?;
        let table = Table::open(table, options.minimum_hash, taxonomy.len() as u32)?;
        if !taxonomy.holes().is_empty() {
            table.refuse_values(taxonomy.holes())?;
        }
        let tree = taxonomy.to_tree();
        Ok(Kraken2Database { options, taxonomy, tree, table, on_gpus: Mutex::default() })
    }

    /// The devices that `resources` asks for, for so many bytes of letters, with the table; `None` where the
    /// CPU does all. GPUs that nobody asked for, and that have no room for it, are left alone.
    ///
    /// # Errors
    /// If a device that was asked for is not there, cannot be used, or has too little memory.
    pub(crate) fn choose_gpus(
        &self,
        resources: &Resources,
        bytes: Option<u64>,
        minimizers: bool,
        progress: &dyn Progress,
    ) -> Result<Option<Arc<Kraken2Gpus>>, Error> {
        let work = Work::Kraken2 { table: self.table_bytes() };
        let gpus = resources.choose_gpus(work, bytes, merganser_gpu::usable, progress)?;
        if gpus.is_empty() {
            return Ok(None);
        }
        match self.on_gpus(GpuConfig::new(resources, gpus), minimizers) {
            Err(error @ Error::GpuMemory(_)) if resources.device == DeviceChoice::Auto => {
                progress.note(&format!("computing on the CPU: {error}"));
                Ok(None)
            }
            gpus => gpus.map(Some),
        }
    }

    /// Devices with the table, which they keep for the next run that asks for the same ones.
    ///
    /// # Errors
    /// If a device cannot be used, or has too little memory.
    fn on_gpus(&self, config: GpuConfig, minimizers: bool) -> Result<Arc<Kraken2Gpus>, Error> {
        let mut kept = lock(&self.on_gpus);
        if let Some(kept) = &*kept
            && kept.config == config
            && kept.minimizers == minimizers
        {
            return Ok(Arc::clone(&kept.gpus));
        }
        // Their memory is needed for the others.
        *kept = None;
        let cells = self.table.all_cells();
        let gpus = Arc::new(Kraken2Gpus::new(&self.options, &cells, &config, minimizers)?);
        *kept = Some(OnGpus { config, minimizers, gpus: Arc::clone(&gpus) });
        Ok(gpus)
    }

    /// Whether `folder` is meant to be such a database: it has a table.
    ///
    /// # Errors
    /// If the system cannot tell.
    pub fn is_one(folder: &Path) -> Result<bool, Error> {
        let [.., table] = Self::files(folder);
        let there = look_up(&table).map_err(|source| Error::File { path: table, source })?;
        Ok(there.is_some_and(|at| !at.is_dir()))
    }

    /// The files of a database in `folder`: options, taxonomy, table.
    pub fn files(folder: &Path) -> [PathBuf; 3] {
        FILES.map(|name| folder.join(name))
    }

    /// How its minimizers are made.
    pub fn options(&self) -> &Kraken2Options {
        &self.options
    }

    /// Its taxa.
    pub fn taxonomy(&self) -> &Kraken2Taxonomy {
        &self.taxonomy
    }

    /// The same taxa as other databases have them, for reports.
    pub fn tree(&self) -> &Taxonomy {
        &self.tree
    }

    /// Cells of the table,
    pub fn cells(&self) -> u64 {
        self.table.cells()
    }

    /// and how many of them are not empty, as the file says.
    pub fn filled(&self) -> u64 {
        self.table.filled()
    }

    /// Sees to it that all cells are sound: that as many are filled as the file says, and that each
    /// leads to a taxon. There is no checksum: what else has changed cannot be seen.
    ///
    /// # Errors
    /// What is wrong, or [`Error::Cancelled`].
    pub fn verify(&self, threads: usize, cancel: &Cancel) -> Result<(), Error> {
        self.table.verify(threads, cancel)
    }

    /// Returns the CRC-32 of the table's file, which is read as a whole.
    ///
    /// # Errors
    /// [`Error::Cancelled`].
    pub(crate) fn table_checksum(&self, cancel: &Cancel) -> Result<u32, Error> {
        self.table.checksum(cancel)
    }

    /// Tells `progress` of nodes that are ignored, and warns of a table without minimizers.
    pub(crate) fn tell(&self, progress: &dyn Progress, warnings: &Warnings) {
        let path = self.table.path().display();
        let unreached = self.taxonomy.unreached();
        if unreached > 0 {
            progress.note(&format!(
                "{unreached} nodes of taxo.k2d are ignored, as Kraken 2 does: the root does not reach them \
                 (the map that the database was built with has taxids that nodes.dmp lacks)"
            ));
        }
        if self.filled() == 0 {
            warnings.push(format!(
                "{path}: there are no minimizers in it, so that no read is classified: build the database \
                 again, of nucleotide sequences"
            ));
        }
    }

    /// Bytes of the table, which is mapped.
    pub fn table_bytes(&self) -> u64 {
        self.table.bytes()
    }
}
