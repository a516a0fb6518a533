//! The pictures of a judgement: what Merqury draws, under its names.

use std::io::Write;
use std::path::PathBuf;

use anyhow::Result;
use merganser_assembly::output::Names;
use merganser_assembly::{Copies, Error, Judgement, OfAssembly};
use merganser_io::OutputSet;
use merganser_kmers::Histogram;
use merganser_report::classes::{Class, Classes, Style, png, svg};

/// The spectra of assemblies of these names: what names of files have between prefix and style.
fn spectra(names: &Names) -> Vec<String> {
    let assemblies = names.assemblies();
    let mut all: Vec<String> = assemblies.iter().map(|name| format!("{name}.spectra-cn")).collect();
    if assemblies.len() == 2 {
        all.push("spectra-cn".to_owned());
    }
    all.push("spectra-asm".to_owned());
    all
}

/// A picture's file.
fn path(names: &Names, spectrum: &str, style: Style, suffix: &str) -> PathBuf {
    names.path(&format!("{spectrum}.{}.{suffix}", style.short()))
}

/// All pictures' files.
pub(super) fn paths(names: &Names) -> Vec<PathBuf> {
    let mut paths = Vec::new();
    for spectrum in spectra(names) {
        for style in Style::ALL {
            paths.extend(["png", "svg"].map(|suffix| path(names, &spectrum, style, suffix)));
        }
    }
    paths
}

/// Draws all of them.
///
/// # Errors
/// If one cannot be written.
pub(super) fn write(names: &Names, judgement: &Judgement, set: &OutputSet) -> Result<()> {
    let spectra_of = &judgement.spectra;
    let solid = judgement.solid;
    let both = judgement.both.map(|_| &spectra_of.both);
    let copies = spectra_of.assemblies.iter().chain(both).map(|of| copies(of, solid));
    let all = copies.chain([sources(names, judgement)]);
    for (spectrum, classes) in spectra(names).iter().zip(all) {
        let classes = Classes { title: spectrum.clone(), ..classes };
        for style in Style::ALL {
            let pictures = [
                ("png", png(&classes, style).map_err(Error::from)?),
                ("svg", svg(&classes, style).into_bytes()),
            ];
            for (suffix, bytes) in pictures {
                let mut output =
                    set.output(&path(names, spectrum, style, suffix)).map_err(Error::from)?;
                output.write_all(&bytes).map_err(Error::from)?;
                output.finish().map_err(Error::from)?;
            }
        }
    }
    Ok(())
}

fn copies(of: &OfAssembly, solid: u32) -> Classes {
    let classes = Copies::ALL.iter().zip(&of.copies);
    Classes {
        title: String::new(),
        classes: classes.map(|(copies, rows)| class(copies.name(), rows)).collect(),
        only: vec![of.only.distinct, of.only.instances - of.only.distinct],
        solid,
    }
}

fn sources(names: &Names, judgement: &Judgement) -> Classes {
    let spectra = &judgement.spectra;
    let names = names.sources();
    let only = spectra.only[..names.len() - 1].to_vec();
    let classes = names.into_iter().zip(&spectra.sources).map(|(name, rows)| class(name, rows));
    Classes { title: String::new(), classes: classes.collect(), only, solid: judgement.solid }
}

fn class(name: String, rows: &Histogram) -> Class {
    Class { name, rows: rows.iter().collect() }
}
