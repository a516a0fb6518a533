//! `merganser.matrix`: the counts of k-mers in several tables.

use std::collections::HashSet;
use std::io::{self, BufRead};
use std::path::{Path, PathBuf};

use arrow_array::builder::{StringBuilder, UInt32Builder};
use merganser_io::{OutputCompression, OutputFormat, OutputSet};
use merganser_kmers::Error;
use merganser_kmers::algebra::Cut;
use merganser_kmers::matrix::{MatrixConfig, MatrixFormat, MatrixOutcome, matrix_with as make};
use merganser_kmers::tables::AnyTable;
use merganser_run::counted;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::columns::Columns;
use crate::errors::{OrRaise, mistyped, wrong};
use crate::keywords::Keywords;
use crate::outputs::check;
use crate::rows::Rows;
use crate::table::{Owned, Table};
use crate::{call, pipe};

/// The largest number of bytes of k-mers in rows.
const MAX_TEXT: usize = i32::MAX as usize;

/// Makes a matrix of tables: a row for each k-mer, a column for each table.
///
/// Args:
///     tables: Tables or the files of tables: at least one.
///     names: The names of the columns; None for the names of the files without suffix, and "table1" and so on for
///         temporary tables.
///     output: The file: .tsv, .tsv.gz, or .mgx for the binary format; None to return the rows.
///     format: "tsv" or "dense" (that of .mgx); None for that of the suffix.
///     presence: Write 1 instead of the count of a k-mer.
///     solid: Counts of this or more are solid.
///     min_samples: Keep only k-mers that are solid in this many tables or more.
///     rescue: Keep counts that are not solid if the k-mer is solid in this many tables or more; None for none.
///     threads: As for `count`.
///     memory: As for `count`.
///     tmp_dir: As for `count`.
///     progress: As for `count`.
///
/// Returns:
///     Without `output`, `Rows` with the columns `kmer` and one of uint32 for each table, in the order of the k-mers'
///     bases. With `output`, a dict of numbers: rows, kmers (of all tables).
///
/// Raises:
///     ArgumentError: If an argument is out of range, or two columns have the same name.
///     InputError: If tables were not counted in the same way, or are damaged.
///     OutputError: If the output cannot be written.
///
/// >>> import merganser
/// >>> one = merganser.count([b"ACGTTA"], k=5, min_count=1)
/// >>> other = merganser.count([b"CGTTAC"], k=5, min_count=1)
/// >>> rows = merganser.matrix([one, other], names=["one", "other"])
/// >>> rows["kmer"], rows["one"].tolist(), rows["other"].tolist()
/// (['AACGT', 'CGTTA', 'GTAAC'], [1, 1, 0], [0, 1, 1])
#[pyfunction]
#[pyo3(
    signature = (tables, **options),
    text_signature = "(tables, *, names=None, output=None, format=None, presence=False, solid=1, min_samples=1, rescue=None, \
        threads=None, memory=None, tmp_dir=None, progress=None)"
)]
pub(crate) fn matrix<'py>(
    py: Python<'py>,
    tables: &Bound<'py, PyAny>,
    options: Option<&Bound<'py, PyDict>>,
) -> PyResult<Bound<'py, PyAny>> {
    let keywords = Keywords::new(py, "matrix", options)?;
    keywords.refuse(&["device"], "is not an option of this job: only the CPU makes matrices")?;
    let (context, progress) = (keywords.context()?, keywords.object("progress")?);
    let (given, output) = (keywords.take::<Vec<String>>("names")?, keywords.path("output")?);
    let tables = Given::all(tables)?;
    let names = names(py, &tables, given)?;
    let config = config(py, names.clone(), output.as_deref(), &keywords)?;
    keywords.finish()?;
    let tables = tables.iter().map(|given| given.open(py)).collect::<PyResult<Vec<_>>>()?;
    check_kmers(py, &names, &tables)?;
    let files: Vec<PathBuf> = tables.iter().flat_map(AnyTable::files).collect();
    check(py, &files, output.as_deref().map(|path| ("output", path)))?;
    let done = call::run(py, &context, progress.as_ref(), |context| {
        let set = OutputSet::new();
        let job = |path: &Path| make(&config, &tables, path, &set, context);
        let done = match &output {
            Some(path) => (job(path)?, Counts::new(&names)),
            None => pipe::through::<_, _, Error>(job, |text| Counts::new(&names).read(text))?,
        };
        set.commit()?;
        Ok::<_, Error>(done)
    })?;
    match (output, done) {
        (Some(_), (outcome, _)) => Ok(numbers(py, &outcome)?.into_any()),
        (None, (_, counts)) => Ok(Bound::new(py, counts.rows()?)?.into_any()),
    }
}

/// A table, or the path of one.
enum Given<'py> {
    Table(Bound<'py, Table>),
    Path(PathBuf),
}

impl<'py> Given<'py> {
    /// Returns the items of a list of tables and paths.
    fn all(tables: &Bound<'py, PyAny>) -> PyResult<Vec<Given<'py>>> {
        let is_one = tables.is_instance_of::<Table>() || tables.extract::<PathBuf>().is_ok();
        if is_one {
            return Err(mistyped("tables", "give a list of tables or of files"));
        }
        let one = |item: PyResult<Bound<'py, PyAny>>| {
            let item = item?;
            if let Ok(table) = item.cast::<Table>() {
                return Ok(Given::Table(table.clone()));
            }
            let kind = item.get_type().name()?;
            let problem = format!("a table must be a Table, str or PathLike, not {kind}");
            item.extract().map(Given::Path).map_err(|_| mistyped("tables", problem))
        };
        let all: Vec<Given<'py>> = tables.try_iter()?.map(one).collect::<PyResult<_>>()?;
        match all.is_empty() {
            true => Err(wrong(tables.py(), "tables", "give at least one table")),
            false => Ok(all),
        }
    }

    fn open(&self, py: Python<'_>) -> PyResult<AnyTable> {
        match self {
            Given::Table(table) => table.get().again(py),
            Given::Path(path) => py.detach(|| AnyTable::open(path)).or_raise(py),
        }
    }

    /// Returns the name of the table's file, unless it is temporary.
    fn path(&self) -> PyResult<Option<PathBuf>> {
        match self {
            Given::Table(table) => Ok(match &table.get().file()?.file {
                Owned::Kept(path) => Some(path.clone()),
                Owned::Temporary(_) => None,
            }),
            Given::Path(path) => Ok(Some(path.clone())),
        }
    }
}

/// Returns the names of the columns: those that are given, or those of the files.
fn names(
    py: Python<'_>,
    tables: &[Given<'_>],
    given: Option<Vec<String>>,
) -> PyResult<Vec<String>> {
    let names = match given {
        Some(names) if names.len() != tables.len() => {
            let names = counted(names.len() as u64, "name");
            let tables = counted(tables.len() as u64, "table");
            let problem = format!("{names} for {tables}: give equal numbers");
            return Err(wrong(py, "names", problem));
        }
        Some(names) => names,
        None => {
            let name = |(number, table): (usize, &Given<'_>)| {
                let path = table.path()?;
                let stem = path.as_deref().and_then(Path::file_stem);
                let stem = stem.map(|stem| stem.to_string_lossy().into_owned());
                Ok(stem.unwrap_or_else(|| format!("table{}", number + 1)))
            };
            tables.iter().enumerate().map(name).collect::<PyResult<_>>()?
        }
    };
    let mut seen = HashSet::from(["kmer"]);
    if let Some(name) = names.iter().find(|name| !seen.insert(name)) {
        let problem = format!("two columns would be called {name}: give different names");
        return Err(wrong(py, "names", problem));
    }
    if let Some(problem) =
        names.iter().find_map(|name| merganser_io::check_cell(name.as_ref()).err())
    {
        return Err(wrong(py, "names", &problem));
    }
    Ok(names)
}

/// Checks that the tables have k-mers of the same length and strands.
fn check_kmers(py: Python<'_>, names: &[String], tables: &[AnyTable]) -> PyResult<()> {
    let kind = |table: &AnyTable| {
        let of = table.description();
        format!("{} {}-mers", if of.canonical { "canonical" } else { "forward" }, of.k)
    };
    let first = kind(&tables[0]);
    match names.iter().zip(tables).find(|(_, table)| kind(table) != first) {
        None => Ok(()),
        Some((name, table)) => {
            let problem = format!("{name} has {}, and {} has {first}", kind(table), names[0]);
            let remedy = "count all tables in the same way";
            Err(wrong(py, "tables", format!("{problem}: {remedy}")))
        }
    }
}

fn config(
    py: Python<'_>,
    names: Vec<String>,
    output: Option<&Path>,
    keywords: &Keywords<'_>,
) -> PyResult<MatrixConfig> {
    let of = MatrixConfig::with_cuts(names.into_iter().map(|name| (name, Cut::NONE)).collect());
    let format = keywords.named::<MatrixFormat>("format")?;
    if format.is_some() && output.is_none() {
        return Err(wrong(py, "format", "requires output"));
    }
    if format == Some(MatrixFormat::Parquet) {
        let problem = "parquet is not available in Python: take the rows, and write them with Polars or pyarrow";
        return Err(wrong(py, "format", problem));
    }
    let format = match (format, output) {
        (Some(format), _) => format,
        (None, Some(path)) => format_of(py, path)?,
        (None, None) => MatrixFormat::Tsv,
    };
    Ok(MatrixConfig {
        presence: keywords.flag("presence")?,
        solid: keywords.int_or("solid", of.solid)?,
        min_samples: keywords.int_or("min_samples", of.min_samples)?,
        rescue: keywords.int("rescue")?,
        format,
        ..of
    })
}

/// Returns the format of the file's suffix.
fn format_of(py: Python<'_>, path: &Path) -> PyResult<MatrixFormat> {
    match (OutputFormat::of_name(path), OutputCompression::of_name(path)) {
        (Some(OutputFormat::Tsv), _) => Ok(MatrixFormat::Tsv),
        (Some(OutputFormat::Matrix), None) => Ok(MatrixFormat::Dense),
        _ => {
            let problem = "the name does not tell the format: give .tsv, .tsv.gz or .mgx, or format: tsv or dense";
            Err(wrong(py, "output", format!("{}: {problem}", path.display())))
        }
    }
}

fn numbers<'py>(py: Python<'py>, outcome: &MatrixOutcome) -> PyResult<Bound<'py, PyDict>> {
    let numbers = PyDict::new(py);
    numbers.set_item("rows", outcome.rows)?;
    numbers.set_item("kmers", outcome.kmers)?;
    Ok(numbers)
}

/// The columns of a matrix.
struct Counts<'n> {
    names: &'n [String],
    kmers: StringBuilder,
    counts: Vec<UInt32Builder>,
}

impl<'n> Counts<'n> {
    fn new(names: &'n [String]) -> Counts<'n> {
        let counts = names.iter().map(|_| UInt32Builder::new()).collect();
        Counts { names, kmers: StringBuilder::new(), counts }
    }

    /// Adds the rows of a matrix in TSV, after its line of names.
    fn read(mut self, text: &mut impl BufRead) -> io::Result<Counts<'n>> {
        let mut line = String::new();
        text.read_line(&mut line)?;
        loop {
            line.clear();
            if text.read_line(&mut line)? == 0 {
                return Ok(self);
            }
            self.row(line.trim_end()).ok_or_else(|| io::Error::other("a row is malformed"))?;
            if self.kmers.values_slice().len() > MAX_TEXT - line.len() {
                return Err(io::Error::other(
                    "the matrix has more than 2 GiB of k-mers: give output= to write it to a file",
                ));
            }
        }
    }

    /// Adds a row. Returns `None` if it is malformed.
    fn row(&mut self, line: &str) -> Option<()> {
        let mut fields = line.split('\t');
        self.kmers.append_value(fields.next()?);
        for counts in &mut self.counts {
            counts.append_value(fields.next()?.parse().ok()?);
        }
        Some(())
    }

    /// Returns the rows.
    fn rows(mut self) -> PyResult<Rows> {
        let columns = Columns::new().with("kmer", self.kmers.finish());
        let counts = self.names.iter().zip(&mut self.counts);
        counts.fold(columns, |columns, (name, counts)| columns.with(name, counts.finish())).rows()
    }
}
