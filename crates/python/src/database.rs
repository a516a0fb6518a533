//! Databases of reference genomes, and classification of reads.

mod build;
mod config;
mod files;
mod lines;
mod opened;
mod run;
mod taxa;

use std::path::PathBuf;
use std::sync::Arc;

use merganser_classify::Error;
use merganser_classify::{Outputs, RunConfig};
use merganser_run::{counted, thousands};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

use crate::call::Watch;
use crate::errors::{OrRaise, malformed, mistyped};
use crate::held::Held;
use crate::keywords::Keywords;
use crate::options::named;
use crate::outputs::check;
use crate::reads::Reads;
use crate::reports::Report;
use crate::rows::Rows;
use crate::sequences::paths;
use crate::stream::RowStream;
use crate::{call, html};
use build::Build;
use files::Files;
use lines::Lines;
use opened::Opened;
use run::Run;

/// A database of reference genomes for classifying reads: a file of Merganser (.mgdb) or a folder of Kraken 2. Threads
/// may share it. `with` closes it.
///
/// >>> import merganser, pathlib, random, tempfile
/// >>> folder = pathlib.Path(tempfile.mkdtemp())
/// >>> _ = (folder / "nodes.dmp").write_text("1\t|\t1\t|\tno rank\t|\n7\t|\t1\t|\tspecies\t|\n")
/// >>> names = "1\t|\troot\t|\t\t|\tscientific name\t|\n7\t|\tA virus\t|\t\t|\tscientific name\t|\n"
/// >>> _ = (folder / "names.dmp").write_text(names)
/// >>> genome = bytes(random.Random(1).choices(b"ACGT", k=500))
/// >>> _ = (folder / "genome.fa").write_bytes(b">kraken:taxid|7|g\n" + genome + b"\n")
/// >>> with merganser.Database.build(folder / "genome.fa", folder) as database:
/// ...     database.classify([genome[100:250], b"T" * 100]).read_all()["name"]
/// ['A virus', None]
#[pyclass(frozen, module = "merganser")]
pub(crate) struct Database {
    opened: Held<Opened>,
    /// The files or folders; none if it is in memory.
    paths: Vec<PathBuf>,
}

impl Database {
    /// Returns the database in an object or at a path, and its files.
    pub(crate) fn given(
        py: Python<'_>,
        given: &Bound<'_, PyAny>,
    ) -> PyResult<(Arc<Opened>, Vec<PathBuf>)> {
        let (opened, paths) = match given.cast::<Database>() {
            Ok(database) => (database.get().opened.get()?, database.get().paths.clone()),
            Err(_) => {
                let kind = given.get_type().name()?;
                let problem = format!("give a Database, or the path of one, not {kind}");
                let path: PathBuf = given.extract().map_err(|_| mistyped("database", problem))?;
                let paths = vec![path];
                (Arc::new(py.detach(|| Opened::open(&paths)).or_raise(py)?), paths)
            }
        };
        let files = opened.files(&paths);
        Ok((opened, files))
    }
}

#[pymethods]
impl Database {
    #[new]
    #[pyo3(signature = (*_arguments, **_options))]
    fn new(
        _arguments: &Bound<'_, PyTuple>,
        _options: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Database> {
        Err(PyTypeError::new_err(
            "make a database with Database.build(genomes, taxonomy), or open one with Database.open(path)",
        ))
    }

    /// Opens a database, or several that are used together as one. Files are mapped into memory and read on demand.
    ///
    /// Args:
    ///     path: A file (.mgdb), or a folder of Kraken 2 with hash.k2d, opts.k2d and taxo.k2d; or several of the same kind.
    ///
    /// Returns:
    ///     The database.
    ///
    /// Raises:
    ///     ArgumentError: If there are both files and folders of Kraken 2.
    ///     FileNotFound: If there is no such file or folder.
    ///     InputError: If one is damaged or not a database, or several cannot be used together.
    #[staticmethod]
    fn open(py: Python<'_>, path: &Bound<'_, PyAny>) -> PyResult<Database> {
        let given = paths("path", path)?;
        let opened = py.detach(|| Opened::open(&given)).or_raise(py)?;
        Ok(Database { opened: Held::new("database", opened), paths: given })
    }

    /// Builds a database from genomes.
    ///
    /// Args:
    ///     genomes: FASTA files, folders of them, or libraries made by `merganser db prepare`: one or several.
    ///     taxonomy: A folder with nodes.dmp and names.dmp from NCBI, or one or several files of GTDB.
    ///     output: The file (.mgdb), or the folder for `format="kraken2"`; None to keep a database of Merganser in memory.
    ///     format: "mgdb" for a database of Merganser, or "kraken2" for one that Kraken 2 can read, too.
    ///     map: Files that map sequence IDs or assemblies to taxids: one or several.
    ///     strict: Fail if a sequence has no taxon, or an ID occurs twice.
    ///     preset: "sensitive", or "metacache" for the parameters and the rule of MetaCache; the options below override
    ///         single parameters.
    ///     k: The length of k-mers in bases.
    ///     sketch: The maximum number of features of a window, 1 to 128.
    ///     window: The window length in bases, k to 1,024.
    ///     stride: The bases between the starts of consecutive windows.
    ///     density: Use only this many of 256 k-mers, those with the lowest hashes, 1 to 256.
    ///     max_locations: Keep at most this many locations of a feature.
    ///     masked: The regions to leave out: "none" or "low-complexity"; None for the format's default.
    ///     drop_overfull: Leave out features with more than `max_locations` locations.
    ///     drop_ambiguous: Leave out features that occur in more than `max_ambiguous` taxa of this rank.
    ///     max_ambiguous: The maximum number of taxa of a feature.
    ///     parts: The number of parts of the database, which can be queried one after the other.
    ///     max_part_size: Make enough parts for each to have about this size: bytes, or a text such as "8G".
    ///     minimizer_len: For Kraken 2: the length of a minimizer in bases, 31 by default.
    ///     minimizer_spaces: For Kraken 2: the bases of a minimizer that are ignored, 7 by default.
    ///     max_db_size: For Kraken 2: the maximum size of the table: bytes, or a text such as "8G".
    ///     device: As for `count`.
    ///     threads: As for `count`.
    ///     memory: As for `count`.
    ///     tmp_dir: As for `count`.
    ///     progress: As for `count`.
    ///
    /// Returns:
    ///     The database.
    ///
    /// Raises:
    ///     ArgumentError: If an argument is out of range, or belongs to the other format.
    ///     InputError: If a genome, the taxonomy or a map is invalid, or if no sequence has a taxon.
    ///     OutputError: If the database cannot be written.
    #[staticmethod]
    #[pyo3(
        signature = (genomes, taxonomy, **options),
        text_signature = "(genomes, taxonomy, *, output=None, format='mgdb', map=None, strict=False, preset=None, k=None, \
            sketch=None, window=None, stride=None, density=None, max_locations=None, masked=None, drop_overfull=False, \
            drop_ambiguous=None, max_ambiguous=None, parts=1, max_part_size=None, minimizer_len=31, \
            minimizer_spaces=7, max_db_size=None, device=None, threads=None, memory=None, tmp_dir=None, progress=None)"
    )]
    fn build(
        py: Python<'_>,
        genomes: &Bound<'_, PyAny>,
        taxonomy: &Bound<'_, PyAny>,
        options: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Database> {
        let keywords = Keywords::new(py, "Database.build", options)?;
        let (context, progress) = (keywords.context()?, keywords.object("progress")?);
        let build = Build::of(paths("genomes", genomes)?, paths("taxonomy", taxonomy)?, &keywords)?;
        keywords.finish()?;
        let written = build.written();
        let written = written.iter().map(|(name, path)| (*name, path.as_path()));
        check(py, build.genomes.iter().cloned().chain(build.taxonomy.files()), written)?;
        let paths = build.output.iter().cloned().collect();
        let arguments = build.arguments();
        let opened = call::run(py, &context, progress.as_ref(), |context| {
            build.run(context).map_err(|error| arguments.name(error))
        })?;
        Ok(Database { opened: Held::new("database", opened), paths })
    }

    /// The file or folder of the database; None if it is in memory, or several that are used together.
    #[getter]
    fn path(&self) -> Option<PathBuf> {
        match &self.paths[..] {
            [path] => Some(path.clone()),
            _ => None,
        }
    }

    /// The files or folders of the database; empty if it is in memory.
    #[getter]
    fn paths(&self) -> Vec<PathBuf> {
        self.paths.clone()
    }

    /// The format: "mgdb" for a database of Merganser, "kraken2" for one of Kraken 2.
    #[getter]
    fn format(&self) -> PyResult<&'static str> {
        Ok(self.opened.get()?.format())
    }

    /// A summary of the database. Both formats: format, k, taxa, bytes. Merganser: preset, sequences, left_out,
    /// features, parts. Kraken 2: minimizer_len, minimizers, cells (of the table).
    #[getter]
    fn info<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let (opened, info) = (self.opened.get()?, PyDict::new(py));
        info.set_item("format", opened.format())?;
        info.set_item("taxa", opened.taxonomy().len())?;
        match &*opened {
            Opened::Own(database) => {
                info.set_item("k", database.params().k)?;
                info.set_item("preset", database.params().preset.name())?;
                info.set_item("sequences", database.targets().len())?;
                info.set_item("left_out", database.left_out())?;
                info.set_item("features", database.features())?;
                info.set_item("parts", database.parts())?;
                info.set_item("bytes", database.bytes())?;
            }
            Opened::Kraken2(database) => {
                info.set_item("k", database.options().k)?;
                info.set_item("minimizer_len", database.options().l)?;
                info.set_item("minimizers", database.filled())?;
                info.set_item("cells", database.cells())?;
                info.set_item("bytes", database.table_bytes())?;
            }
        }
        Ok(info)
    }

    /// Returns the taxa of the database, in the order of the taxonomy, which is depth first.
    ///
    /// Args:
    ///     rank: Return only the taxa of this rank, such as "species".
    ///
    /// Returns:
    ///     `Rows` with `taxid` (uint32), `rank`, `name`, `parent` (uint32), and the numbers of reference sequences and
    ///     their bases, of the taxon itself and of its clade: `sequences`, `bases`, `clade_sequences`, `clade_bases`
    ///     (uint64). Databases of Kraken 2 do not have these columns.
    ///
    /// Raises:
    ///     ArgumentError: If the rank is unknown.
    #[pyo3(signature = (rank=None))]
    fn taxa(&self, py: Python<'_>, rank: Option<&str>) -> PyResult<Rows> {
        let opened = self.opened.get()?;
        let rank = rank.map(|rank| named(py, "rank", rank)).transpose()?;
        let targets = match &*opened {
            Opened::Own(database) => Some(database.targets()),
            Opened::Kraken2(_) => None,
        };
        taxa::taxa(opened.taxonomy(), targets, rank)
    }

    /// Returns the reference sequences of a database of Merganser.
    ///
    /// Returns:
    ///     `Rows` with `sequence` (its name), `taxid` (uint32), `rank`, `name` (of the taxon), `bases` (uint64) and
    ///     `windows` (uint32).
    ///
    /// Raises:
    ///     InputError: If the database is one of Kraken 2, which does not have the names of sequences.
    fn sequences(&self, py: Python<'_>) -> PyResult<Rows> {
        let opened = self.opened.get()?;
        match &*opened {
            Opened::Own(database) => taxa::sequences(database.taxonomy(), database.targets()),
            Opened::Kraken2(_) => {
                let problem = "databases of Kraken 2 do not contain the names of sequences";
                Err(malformed(py, problem, self.path().as_deref()))
            }
        }
    }

    fn __repr__(&self) -> String {
        match self.opened.get() {
            Ok(opened) => match &*opened {
                Opened::Own(database) => {
                    let sequences = counted(database.targets().len() as u64, "sequence");
                    format!("<merganser.Database of {sequences}>")
                }
                Opened::Kraken2(database) => {
                    let taxa = database.tree().len();
                    let noun = if taxa == 1 { "taxon" } else { "taxa" };
                    format!("<merganser.Database of {taxa} {noun}, of Kraken 2>")
                }
            },
            Err(_) => "<merganser.Database, closed>".to_owned(),
        }
    }

    fn _repr_html_(&self, py: Python<'_>) -> PyResult<String> {
        let mut shown = vec![(
            "file".to_owned(),
            match &self.paths[..] {
                [] => "in memory".to_owned(),
                paths => paths
                    .iter()
                    .map(|path| path.display().to_string())
                    .collect::<Vec<_>>()
                    .join(", "),
            },
        )];
        for (name, value) in self.info(py)? {
            let text = match value.extract::<u64>() {
                Ok(number) => thousands(number),
                Err(_) => value.to_string(),
            };
            shown.push((name.to_string(), text));
        }
        let shown: Vec<(&str, String)> =
            shown.iter().map(|(name, value)| (name.as_str(), value.clone())).collect();
        Ok(html::summary("merganser.Database", &shown))
    }

    /// Releases the database. Later uses raise ValueError.
    fn close(&self) {
        self.opened.close();
    }

    fn __enter__(this: PyRef<'_, Self>) -> PyResult<PyRef<'_, Self>> {
        this.opened.get()?;
        Ok(this)
    }

    #[pyo3(signature = (*_exception))]
    fn __exit__(&self, _exception: &Bound<'_, PyTuple>) {
        self.close();
    }

    /// Classifies reads, in the order of the input.
    ///
    /// Args:
    ///     reads: Files or sequences, as for `count`.
    ///     mates: The second mates, the same number of files or sequences as `reads`.
    ///     interleaved: First and second mates alternate in `reads`.
    ///     any_names: Pair mates by position, even if their names differ.
    ///     reference: The reference as FASTA, which reads in CRAM need.
    ///     confidence: The minimum share of a read's k-mers (with a database of Merganser: about the share of k-mers
    ///         of 35 bases that its k-mers imply) that must be in the clade of its taxon, 0 to 1.
    ///     hitmin: The minimum number of hits of the best candidate; None for the preset's.
    ///     hitmin_per_kb: The minimum number of hits per 1,000 bases, used if larger than `hitmin`.
    ///     hitmin_contested: Additional hits that the best candidate needs if there is a second candidate.
    ///     hitdiff: The percentage of the best candidate's hits that another candidate must exceed to be considered.
    ///     near: Compare candidates that are fewer than this many hits behind the best one by the features of all
    ///         sequences of their taxa; 0 by their best sequences alone.
    ///     lowest: The lowest rank at which taxa are distinguished, such as "species".
    ///     highest: The highest rank of a taxon; reads whose taxon is above it are unclassified.
    ///     max_cand: The maximum number of candidates of a read.
    ///     insert: The longest insert of a pair in bases.
    ///     min_fraction: The fraction of a read's windows that must hit the clade of its taxon; None for 0.
    ///     cov_percentile: Ignore the sequences with the lowest coverage that together have at most this percentage of
    ///         the total coverage.
    ///     min_read_len: Ignore mates with fewer bases.
    ///     max_read_len: Ignore mates with more bases.
    ///     minimum_hit_groups: For Kraken 2: the minimum number of hit groups of a classified read.
    ///     quick: For Kraken 2: stop looking at a read when it has that many hit groups.
    ///     min_qual: Treat bases of a lower quality as N.
    ///     quality_offset: As for `count`.
    ///     mapped_only: Return only the reads that have a taxon.
    ///     device: As for `count`.
    ///     threads: As for `count`.
    ///     memory: As for `count`.
    ///     tmp_dir: As for `count`.
    ///     progress: As for `count`; it is called while rows are consumed.
    ///
    /// Returns:
    ///     A `RowStream`, which makes rows while earlier ones are consumed. Columns: `read` (its name; for a sequence
    ///     its number, from 1, not from 0 as in `map`), `taxid` (uint32, 0 for unclassified), `name` and `rank` (of the taxon, null for
    ///     unclassified), `length` (bases, "a|b" for a pair), and scores: with a database of Merganser `hits` (uint32,
    ///     of the best candidate); with one of Kraken 2 `hits` (k-mers in the clade of the taxon) and `kmers` (all k-mers
    ///     without ambiguous letters), whose quotient is compared with `confidence`; both are null with `quick`.
    ///
    /// Raises:
    ///     ArgumentError: If an argument is out of range, or belongs to the other kind of database.
    ///     FileNotFound: If an input does not exist; raised when rows are consumed, as all that follow.
    ///     InputError: If a read is invalid; it has `file` and `record`.
    ///     OutputError: If a temporary file cannot be written.
    ///     MemoryLimitError: If `memory` is too small.
    ///     DeviceError: If a requested GPU cannot be used.
    ///     InternalError: If the package has an error.
    #[pyo3(
        signature = (reads, mates=None, **options),
        text_signature = "($self, reads, mates=None, *, interleaved=False, any_names=False, reference=None, \
            confidence=0.0, hitmin=None, \
            hitmin_per_kb=None, hitmin_contested=None, hitdiff=None, near=None, lowest=None, highest=None, \
            max_cand=None, insert=None, min_fraction=None, cov_percentile=0, min_read_len=None, max_read_len=None, minimum_hit_groups=2, \
            quick=False, min_qual=0, quality_offset=33, mapped_only=False, device=None, threads=None, memory=None, \
            tmp_dir=None, progress=None)"
    )]
    fn classify(
        &self,
        py: Python<'_>,
        reads: &Bound<'_, PyAny>,
        mates: Option<&Bound<'_, PyAny>>,
        options: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<RowStream> {
        let opened = self.opened.get()?;
        let keywords = Keywords::new(py, "Database.classify", options)?;
        let (context, progress) = (keywords.context()?, keywords.object("progress")?);
        let reads = Reads::of(reads, mates, &keywords, &context.temp_dir)?;
        reads.warn_of_mates("classified", &context.warnings);
        let config = config::of(&opened, &reads, &keywords)?;
        keywords.finish()?;
        let watch = Watch::new(progress.as_ref())?;
        let mut context = context;
        if let Some(watch) = &watch {
            context.progress = watch.receiver();
        }
        let (cancel, warnings) = (context.cancel.clone(), context.warnings.clone());
        let schema = lines::schema_of(&opened);
        RowStream::start(schema, "merganser-classify", warnings, cancel, move |sender| {
            let mut lines = Lines::new(&opened, sender);
            let mut outputs = Outputs { lines: Some(&mut lines), ..Outputs::default() };
            let run = Run { config: &config, context: &context, reads: &reads };
            run.records(&opened, &mut outputs)?;
            Ok::<_, Error>(lines.finish()?)
        })
        .map(|stream| stream.watched(watch))
    }

    /// Classifies reads and writes files with the same bytes as `merganser classify`.
    ///
    /// Args:
    ///     reads: As for `classify`; also `mates` and all of its other arguments.
    ///     output: The file for one line per read, in the format of Kraken 2; None for no such file. At least one
    ///         output of any kind is needed. All are compressed if their names end in .gz.
    ///     report: The file for a report in the format of Kraken 2.
    ///     report_bases: The file for a report of bases in place of reads.
    ///     bases: Add columns of bases to `abundance` and `bracken_output`.
    ///     report_zero_counts: Include taxa without reads in `report`, `report_bases` and `mpa`.
    ///     report_minimizer_data: Add the columns of minimizers to the report: all, and distinct ones.
    ///     mpa: The file for a MetaPhlAn-style table.
    ///     krona: The file for the text of Krona's ktImportText.
    ///     abundance: The file for estimated abundances of all taxa at every rank.
    ///     cami: The file for estimated abundances as a CAMI profile.
    ///     sample_id: The name of the sample in `cami`.
    ///     min_reads: The reads that a taxon needs to be present in `abundance` and `cami`.
    ///     bracken: The distribution of the database for `bracken_output`.
    ///     bracken_output: The file for Bracken's table.
    ///     bracken_report: The file for a report with the reads that Bracken estimates.
    ///     bracken_level: The rank code of the taxa that Bracken assigns reads to.
    ///     bracken_threshold: The reads that a taxon needs for Bracken to consider it present.
    ///     segments_out: The file for the taxa of the segments of each read, which tells chimeric reads.
    ///     segment_length: The length of these segments in bases; None for 1,000.
    ///     hits_per_ref: The file for a table of the reference sequences that were hit.
    ///     partial: The file for partial results, which `Report.merge` and `merganser classify join` merge.
    ///     classified_out: The file for reads that have a taxon; # in the name becomes _1 and _2 for pairs
    ///         (in `MinimizerSet.filter` 1 and 2). A name in .sam, .bam or .cram gets all alignments of the reads, with the
    ///         tags tx and tn.
    ///     unclassified_out: The file for reads without a taxon; named as `classified_out`.
    ///     use_names: Write `NAME (taxid TAXID)` instead of the taxid.
    ///     format: The format of the lines: "kraken" or "metacache".
    ///     tophits: For "metacache": show the candidates with their hits; also `allhits`, `locations`, `lineage`,
    ///         `queryids`, `taxids`, `taxids_only`, `omit_ranks`, `separate_cols`, `separator` and `comment`, as the
    ///         options of the program.
    ///     progress: As for `count`.
    ///
    /// Returns:
    ///     The `Report`.
    ///
    /// Raises:
    ///     ArgumentError: If an argument is out of range, or belongs to the other kind of database.
    ///     InputError: If a read is invalid; it has `file` and `record`.
    ///     OutputError: If an output cannot be written; then no output appears.
    #[pyo3(
        signature = (reads, mates=None, **options),
        text_signature = "($self, reads, mates=None, *, output=None, interleaved=False, any_names=False, reference=None, confidence=0.0, \
            hitmin=None, hitmin_per_kb=None, hitmin_contested=None, hitdiff=None, near=None, lowest=None, \
            highest=None, max_cand=None, insert=None, min_fraction=None, cov_percentile=0, min_read_len=None, max_read_len=None, \
            minimum_hit_groups=2, quick=False, min_qual=0, quality_offset=33, mapped_only=False, report=None, \
            report_bases=None, bases=False, report_zero_counts=False, report_minimizer_data=False, mpa=None, krona=None, abundance=None, cami=None, \
            sample_id='sample', min_reads=0, bracken=None, bracken_output=None, bracken_report=None, \
            bracken_level='S', bracken_threshold=10, segments_out=None, segment_length=None, hits_per_ref=None, partial=None, classified_out=None, \
            unclassified_out=None, use_names=False, format='kraken', tophits=False, allhits=False, locations=False, \
            lineage=False, queryids=False, taxids=False, taxids_only=False, omit_ranks=False, separate_cols=False, \
            separator=None, comment=None, device=None, threads=None, memory=None, tmp_dir=None, progress=None)"
    )]
    fn classify_to(
        &self,
        py: Python<'_>,
        reads: &Bound<'_, PyAny>,
        mates: Option<&Bound<'_, PyAny>>,
        options: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Report> {
        let opened = self.opened.get()?;
        let keywords = Keywords::new(py, "Database.classify_to", options)?;
        let (context, progress) = (keywords.context()?, keywords.object("progress")?);
        let reads = Reads::of(reads, mates, &keywords, &context.temp_dir)?;
        reads.warn_of_mates("classified", &context.warnings);
        let config = config::to_files(config::of(&opened, &reads, &keywords)?, &opened, &keywords)?;
        let files = Files::of(&reads, &config.kraken2, &keywords)?;
        keywords.finish()?;
        let config = RunConfig { references: files.hits_per_ref.is_some(), ..config };
        let database = opened.files(&self.paths);
        let read = reads.files().into_iter().chain(database).chain(files.read().map(Into::into));
        check(py, read, files.all())?;
        let text = call::run(py, &context, progress.as_ref(), |context| {
            let run = Run { config: &config, context, reads: &reads };
            run.files(&opened, &files)
        })?;
        Report::of_text(py, &text)
    }

    /// Supports pickling of a database with a file: the receiving process opens the file.
    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        if self.paths.is_empty() {
            return Err(PyTypeError::new_err(
                "a database in memory cannot be pickled: build it with output=",
            ));
        }
        let open = py.get_type::<Database>().getattr("open")?;
        let paths: Vec<PathBuf> =
            self.paths.iter().map(std::path::absolute).collect::<Result<_, _>>()?;
        (open, (paths,)).into_pyobject(py)
    }
}
