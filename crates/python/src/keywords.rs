//! Keyword arguments of calls with many options.

use std::fmt::Display;
use std::ops::RangeInclusive;
use std::path::PathBuf;
use std::str::FromStr;

use merganser_filter::Threshold;
use merganser_io::QualityOffset;
use merganser_run::Context;
use pyo3::conversion::FromPyObjectOwned;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::errors::{mistyped, wrong};
use crate::integers::{Int, Whole};
use crate::options::{Memory, Options, named};

/// The keyword arguments of a call, from which the values of known names are taken. `None` means the default.
pub(crate) struct Keywords<'py> {
    /// The function in the module, such as `Table.open`.
    function: &'static str,
    given: Bound<'py, PyDict>,
    /// The names of all given keywords.
    names: Vec<String>,
}

impl<'py> Keywords<'py> {
    /// Wraps the keyword arguments of a call of `function`.
    pub(crate) fn new(
        py: Python<'py>,
        function: &'static str,
        given: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Keywords<'py>> {
        let given = given.map_or_else(|| Ok(PyDict::new(py)), |given| given.copy())?;
        let names = given.keys().extract()?;
        Ok(Keywords { function, given, names })
    }

    pub(crate) fn py(&self) -> Python<'py> {
        self.given.py()
    }

    /// Takes the object of a keyword.
    pub(crate) fn object(&self, name: &str) -> PyResult<Option<Bound<'py, PyAny>>> {
        let Some(object) = self.given.get_item(name)? else { return Ok(None) };
        self.given.del_item(name)?;
        Ok((!object.is_none()).then_some(object))
    }

    /// Takes the value of a keyword.
    pub(crate) fn take<T: FromPyObjectOwned<'py>>(&self, name: &str) -> PyResult<Option<T>> {
        let Some(object) = self.object(name)? else { return Ok(None) };
        let value = object.extract::<T>().map_err(|error| {
            let error: PyErr = error.into();
            let reason = error.value(self.py()).to_string();
            match error.is_instance_of::<pyo3::exceptions::PyOverflowError>(self.py()) {
                true => wrong(self.py(), name, format!("{object} is out of range")),
                false => mistyped(name, reason),
            }
        });
        value.map(Some)
    }

    /// Takes the value of a keyword, or returns the default.
    pub(crate) fn or<T: FromPyObjectOwned<'py>>(&self, name: &str, default: T) -> PyResult<T> {
        Ok(self.take(name)?.unwrap_or(default))
    }

    /// Takes an integer.
    pub(crate) fn int<T: Whole>(&self, name: &str) -> PyResult<Option<T>> {
        Int::of_option(self.take(name)?, self.py(), name)
    }

    /// Takes an integer, or returns the default.
    pub(crate) fn int_or<T: Whole>(&self, name: &str, default: T) -> PyResult<T> {
        Ok(self.int(name)?.unwrap_or(default))
    }

    /// Takes an integer in `range`.
    pub(crate) fn within<T: Whole>(
        &self,
        name: &str,
        range: RangeInclusive<i64>,
    ) -> PyResult<Option<T>> {
        let given: Option<Int> = self.take(name)?;
        given.map(|given| given.within(self.py(), name, range)).transpose()
    }

    /// Takes a flag, false by default.
    pub(crate) fn flag(&self, name: &str) -> PyResult<bool> {
        self.or(name, false)
    }

    /// Takes the path of a file.
    pub(crate) fn path(&self, name: &str) -> PyResult<Option<PathBuf>> {
        self.object(name)?.map(|object| self.path_of(name, &object)).transpose()
    }

    /// Returns the path in an argument.
    pub(crate) fn path_of(&self, name: &str, object: &Bound<'_, PyAny>) -> PyResult<PathBuf> {
        object.extract().map_err(|_| match object.get_type().name() {
            Ok(kind) => {
                let hint = match (name, self.function) {
                    ("output", "extract" | "MinimizerSet.filter") => {
                        "; second mates go to output2, or to a # in the name of output"
                    }
                    _ => "",
                };
                mistyped(name, format!("give one file, a str or PathLike, not {kind}{hint}"))
            }
            Err(error) => error,
        })
    }

    /// Takes a value that has a name.
    pub(crate) fn named<T>(&self, name: &str) -> PyResult<Option<T>>
    where
        T: FromStr<Err: Display>,
    {
        let Some(text) = self.take::<String>(name)? else { return Ok(None) };
        named(self.py(), name, &text).map(Some)
    }

    /// Takes a maximum number of edits.
    pub(crate) fn edits(&self, name: &str) -> PyResult<Option<Threshold>> {
        self.object(name)?.map(|object| edits(name, &object)).transpose()
    }

    /// Takes a percentage as a number of tenths of a per cent.
    pub(crate) fn per_mille(&self, name: &str) -> PyResult<Option<u32>> {
        let Some(percent) = self.take::<f64>(name)? else { return Ok(None) };
        let tenths = 10.0 * percent;
        if !(0.0..=1000.0).contains(&tenths) || (tenths - tenths.round()).abs() > 1e-6 {
            let problem = "give per cent from 0 to 100, with at most one decimal";
            return Err(wrong(self.py(), name, format!("{percent}: {problem}")));
        }
        Ok(Some(tenths.round() as u32))
    }

    /// Takes a size in bytes.
    pub(crate) fn size(&self, name: &str) -> PyResult<Option<u64>> {
        let size = self.take::<Memory>(name)?;
        size.map(|size| size.bytes(self.py(), name)).transpose()
    }

    /// Takes the offset of FASTQ qualities.
    pub(crate) fn quality_offset(&self) -> PyResult<QualityOffset> {
        let Some(number) = self.int::<u64>("quality_offset")? else {
            return Ok(QualityOffset::default());
        };
        let offset = u8::try_from(number).ok().and_then(QualityOffset::of_number);
        offset.ok_or_else(|| {
            let problem = format!("{number} is neither 33 nor 64");
            wrong(self.py(), "quality_offset", problem)
        })
    }

    /// Takes the options for resources: `device`, `threads`, `memory` and `tmp_dir`.
    pub(crate) fn context(&self) -> PyResult<Context> {
        let device = self.take::<String>("device")?;
        let options = Options {
            device: device.as_deref(),
            threads: self.within("threads", 1..=i64::MAX)?,
            memory: self.take("memory")?,
            tmp_dir: self.path("tmp_dir")?,
        };
        options.context(self.py())
    }

    /// Refuses keywords that cannot be used here.
    ///
    /// # Errors
    /// Names the first of `names` that was given with another value than `None` and `False`.
    pub(crate) fn refuse(&self, names: &[&str], reason: &str) -> PyResult<()> {
        for name in names {
            if let Some(given) = self.given.get_item(name)?
                && !given.is_none()
                && given.is_truthy()?
            {
                return Err(wrong(self.py(), name, reason));
            }
            if self.given.contains(name)? {
                self.given.del_item(name)?;
            }
        }
        Ok(())
    }

    /// Checks that all keywords were taken, and are those of the function.
    ///
    /// # Errors
    /// Names the first unknown one, and the nearest known one.
    pub(crate) fn finish(self) -> PyResult<()> {
        if self.names.is_empty() {
            return Ok(());
        }
        let known = self.known()?;
        let is_unknown =
            |name: &&String| !known.contains(*name) || self.given.contains(name).unwrap_or(true);
        let Some(name) = self.names.iter().find(is_unknown) else { return Ok(()) };
        let difflib = self.py().import("difflib")?;
        let nearest: Vec<String> =
            difflib.call_method1("get_close_matches", (name, known, 1))?.extract()?;
        let hint = match nearest.first() {
            Some(nearest) => format!(": did you mean {nearest}?"),
            None => String::new(),
        };
        let function = self.function;
        let problem = format!("{function}() got an unexpected keyword argument '{name}'{hint}");
        Err(PyTypeError::new_err(problem))
    }

    /// Returns the names of the function's arguments.
    fn known(&self) -> PyResult<Vec<String>> {
        let mut found = self.py().import("merganser._core")?.into_any();
        for name in self.function.split('.') {
            found = found.getattr(name)?;
        }
        let signature: String = found.getattr("__text_signature__")?.extract()?;
        let names = signature.trim_matches(['(', ')']).split(',');
        let names = names.map(|name| name.split('=').next().unwrap_or_default().trim().to_owned());
        Ok(names.collect())
    }
}

/// Parses a maximum number of edits: a number, or a text such as "4%", which is per cent of the read's length.
pub(crate) fn edits(name: &str, given: &Bound<'_, PyAny>) -> PyResult<Threshold> {
    let py = given.py();
    let remedy = "give an int, or per cent of the read's length as a str such as \"4%\"";
    if let Ok(path) = given.extract::<PathBuf>() {
        let text = path.to_string_lossy();
        return text.replace(' ', "").parse().map_err(|_: String| {
            let is_file = text.contains(['.', '/']) || path.exists();
            let hint = if is_file { "; second mates are given as mates=" } else { "" };
            wrong(py, name, format!("'{text}' is not a number of edits: {remedy}{hint}"))
        });
    }
    match given.extract::<Int>()? {
        Int::Other(kind) => Err(mistyped(name, format!("{remedy}, not {kind}"))),
        edits => edits.of(py, name).map(Threshold::Edits),
    }
}
