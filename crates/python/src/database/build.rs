//! Building of databases of both kinds.

use std::path::{Path, PathBuf};

use merganser_classify::{
    BuildConfig, Error, FULL_DENSITY, MAX_K, MAX_LOCATIONS, MAX_SKETCH, MAX_WINDOW, PartConfig,
    SketchConfig, TaxidConfig,
};
use merganser_io::{MadeDirectories, OutputSet, reason};
use merganser_kraken2::{
    Kraken2BuildConfig, Kraken2Database, Kraken2Library, Kraken2Sequence, taxids_of_library,
};
use merganser_library::{LibraryMaps, References};
use merganser_run::Context;
use merganser_taxonomy::{Dump, TaxonomySource};
use pyo3::prelude::*;

use super::opened::Opened;
use crate::errors::{Arguments, require, wrong};
use crate::keywords::Keywords;
use crate::sequences::paths;

/// The options that only databases of Merganser have.
const OWN: [&str; 11] = [
    "preset",
    "sketch",
    "window",
    "stride",
    "density",
    "max_locations",
    "drop_overfull",
    "drop_ambiguous",
    "max_ambiguous",
    "parts",
    "max_part_size",
];
/// The options that only databases of Kraken 2 have.
const KRAKEN2: [&str; 3] = ["minimizer_len", "minimizer_spaces", "max_db_size"];

/// A build: its input, output and options.
pub(super) struct Build {
    pub(super) genomes: Vec<PathBuf>,
    pub(super) taxonomy: TaxonomySource,
    pub(super) output: Option<PathBuf>,
    taxids: TaxidConfig,
    format: Format,
}

enum Format {
    Own(Box<BuildConfig>),
    Kraken2(Kraken2BuildConfig),
}

impl Build {
    /// Takes the options of a build.
    pub(super) fn of(
        genomes: Vec<PathBuf>,
        taxonomy: Vec<PathBuf>,
        keywords: &Keywords<'_>,
    ) -> PyResult<Build> {
        let output = keywords.path("output")?;
        let map = match keywords.object("map")? {
            Some(map) => paths("map", &map)?,
            None => Vec::new(),
        };
        let taxids = TaxidConfig { map, strict: keywords.flag("strict")? };
        let format = match keywords.or("format", "mgdb".to_owned())?.as_str() {
            "mgdb" => {
                keywords.refuse(&KRAKEN2, "requires format=\"kraken2\"")?;
                Format::Own(Box::new(own(keywords)?))
            }
            "kraken2" => {
                keywords.refuse(&OWN, "cannot be used with format=\"kraken2\"")?;
                if output.is_none() {
                    let problem = "a database of Kraken 2 needs a folder: give output";
                    return Err(wrong(keywords.py(), "output", problem));
                }
                Format::Kraken2(kraken2(keywords)?)
            }
            other => {
                let problem = format!("'{other}' is unknown: give mgdb or kraken2");
                return Err(wrong(keywords.py(), "format", problem));
            }
        };
        require(keywords.py(), "taxonomy", &taxonomy)?;
        let taxonomy = taxonomy.as_slice().into();
        Ok(Build { genomes, taxonomy, output, taxids, format })
    }

    /// Returns the names of the arguments of all files.
    pub(super) fn arguments(&self) -> Arguments {
        let arguments = Arguments::default().with("genomes", &self.genomes);
        let arguments = arguments.with("taxonomy", self.taxonomy.files());
        arguments.with("map", &self.taxids.map).with("output", &self.output)
    }

    /// Returns the files that are written, with the names of their arguments.
    pub(super) fn written(&self) -> Vec<(&'static str, PathBuf)> {
        let Some(output) = &self.output else { return Vec::new() };
        match self.format {
            Format::Own(_) => vec![("output", output.clone())],
            Format::Kraken2(_) => {
                Kraken2Database::files(output).into_iter().map(|path| ("output", path)).collect()
            }
        }
    }

    /// Builds the database.
    pub(super) fn run(self, context: &Context) -> Result<Opened, Error> {
        let found = References::expand(&self.genomes)?;
        let Build { taxonomy, output, mut taxids, format, .. } = self;
        taxids.map.extend(found.manifests.clone());
        match (format, output) {
            (Format::Own(config), output) => {
                let config = BuildConfig { taxids, maps_beside: found.maps.clone(), ..*config };
                run_own(&config, (&found, &taxonomy), output.as_deref(), context)
            }
            (Format::Kraken2(config), Some(folder)) => {
                run_kraken2(&config, &taxids, (&found, &taxonomy), &folder, context)?;
                Opened::open(&[folder])
            }
            // `of` refuses this.
            (Format::Kraken2(_), None) => Err(Error::Config(merganser_run::ConfigError::new(
                "`output`: a database of Kraken 2 needs a folder",
            ))),
        }
    }
}

fn run_own(
    config: &BuildConfig,
    (found, taxonomy): (&References, &TaxonomySource),
    output: Option<&Path>,
    context: &Context,
) -> Result<Opened, Error> {
    let inputs = &found.inputs;
    let Some(path) = output else {
        let built = merganser_classify::build_in_memory(config, inputs, taxonomy, context)?;
        return Ok(Opened::Own(Box::new(built.0)));
    };
    let outputs = OutputSet::new();
    let file = outputs.file(path)?;
    let built = merganser_classify::build_with(config, inputs, taxonomy, file, context)?;
    outputs.commit()?;
    Ok(Opened::Own(Box::new(built.0)))
}

fn run_kraken2(
    config: &Kraken2BuildConfig,
    taxids: &TaxidConfig,
    (found, taxonomy): (&References, &TaxonomySource),
    folder: &Path,
    context: &Context,
) -> Result<(), Error> {
    // The folder is removed again if it stays empty. It is dropped after the outputs, which are removed first.
    let _folder = MadeDirectories::ensure(folder).map_err(|error| {
        let (path, reason) = (folder.to_owned(), reason(&error));
        Error::from(merganser_io::Error::Create { path, reason })
    })?;
    let outputs = OutputSet::new();
    let dump = Dump::read(taxonomy)?;
    let maps =
        LibraryMaps { given: &taxids.map, beside: &found.maps, taxonomy: Some(&dump), context };
    let find = |sequences: &[Kraken2Sequence]| taxids_of_library(sequences, &found.inputs, &maps);
    let (inputs, strict) = (&found.inputs[..], taxids.strict);
    let library = Kraken2Library { inputs, taxids: &find, taxonomy: &dump, strict };
    Kraken2Database::build_with(config, library, (folder, &outputs), context)?;
    outputs.commit()?;
    Ok(())
}

fn own(keywords: &Keywords<'_>) -> PyResult<BuildConfig> {
    let of = PartConfig::default();
    let sketches = SketchConfig {
        preset: keywords.named("preset")?,
        k: keywords.int("k")?,
        sketch: keywords.int("sketch")?,
        window: keywords.int("window")?,
        stride: keywords.int("stride")?,
        density: keywords.int("density")?,
        max_locations: keywords.int("max_locations")?,
        masked: keywords.named("masked")?,
        drop_overfull: keywords.flag("drop_overfull")?,
        drop_ambiguous: keywords.named("drop_ambiguous")?,
        max_ambiguous: keywords.int("max_ambiguous")?,
    };
    let parts = PartConfig {
        parts: keywords.int_or("parts", of.parts)?,
        max_part_size: keywords.size("max_part_size")?,
    };
    let config = BuildConfig { sketches, parts, ..BuildConfig::default() };
    check_ranges(keywords.py(), &config)?;
    Ok(config)
}

/// Checks the ranges of parameters.
///
/// # Errors
/// Names the argument that is out of range.
fn check_ranges(py: Python<'_>, config: &BuildConfig) -> PyResult<()> {
    let of = config.params();
    for (argument, value, least, most) in [
        ("k", of.k, 1, MAX_K),
        ("sketch", of.sketch, 1, MAX_SKETCH),
        ("window", of.window, of.k, MAX_WINDOW),
        ("stride", of.stride, 1, of.window),
        ("density", of.density, 1, FULL_DENSITY),
        ("max_locations", of.max_locations, 1, MAX_LOCATIONS),
    ] {
        if !(least..=most).contains(&value) {
            let problem = format!("{value} is out of range: {least} to {most}");
            return Err(wrong(py, argument, problem));
        }
    }
    // Only the number of parts remains.
    config.validate().map_err(|error| wrong(py, "parts", error.to_string()))
}

fn kraken2(keywords: &Keywords<'_>) -> PyResult<Kraken2BuildConfig> {
    let of = Kraken2BuildConfig::default();
    Ok(Kraken2BuildConfig {
        k: keywords.int_or("k", of.k)?,
        minimizer_len: keywords.int_or("minimizer_len", of.minimizer_len)?,
        minimizer_spaces: keywords.int_or("minimizer_spaces", of.minimizer_spaces)?,
        max_db_size: keywords.size("max_db_size")?,
        masked: keywords.named("masked")?.unwrap_or(of.masked),
        ..of
    })
}
