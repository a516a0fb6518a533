//! The plots of an evaluation: those of Merqury, under the same names.

use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::Result;
use merganser_assembly::Error;
use merganser_assembly::output::Names;
use merganser_io::OutputSet;
use merganser_report::Picture;
use merganser_report::classes::{self, Style};
use merganser_report::data::{Assembly, Haplotypes};
use merganser_report::haplotypes::{self, Blob, Stretch};

/// The resolution of PNG files in dots per inch: 1800 × 1500 pixels.
const DPI: u32 = 288;

/// Returns the parts of file names between prefix and style, one for each spectrum.
fn spectra(names: &Names) -> Vec<String> {
    let assemblies = names.assemblies();
    let mut all: Vec<String> = assemblies.iter().map(|name| format!("{name}.spectra-cn")).collect();
    if assemblies.len() == 2 {
        all.push("spectra-cn".to_owned());
    }
    all.push("spectra-asm".to_owned());
    all
}

/// Returns the parts of file names after the prefix, one for each plot of haplotypes.
fn haplotype_pictures(names: &Names) -> Vec<String> {
    if names.haplotypes().is_none() {
        return Vec::new();
    }
    let of = |name: &String| ["block", "continuity"].map(|what| format!("{name}.{what}.N"));
    let of_assemblies = names.assemblies().iter().flat_map(of);
    [String::from("hapmers.blob")].into_iter().chain(of_assemblies).collect()
}

/// Returns the paths of all plots.
pub(super) fn paths(names: &Names) -> Vec<PathBuf> {
    let spectra = spectra(names)
        .into_iter()
        .flat_map(|spectrum| Style::ALL.map(|style| format!("{spectrum}.{}", style.short())));
    let pictures = haplotype_pictures(names).into_iter().chain(spectra);
    let both = |picture: String| ["png", "svg"].map(|end| names.path(&format!("{picture}.{end}")));
    pictures.flat_map(both).collect()
}

/// Draws and writes all plots; `sequences` has the lengths of each assembly's sequences in bases.
///
/// # Errors
/// If one cannot be written.
pub(super) fn write(
    names: &Names,
    assembly: &Assembly,
    sequences: &[Vec<u64>],
    set: &OutputSet,
) -> Result<()> {
    for (name, spectrum) in spectra(names).iter().zip(&assembly.spectra) {
        for style in Style::ALL {
            let file = format!("{name}.{}", style.short());
            put(names, &file, &classes::picture(spectrum, style), set)?;
        }
    }
    let Some(of_parents) = &assembly.haplotypes else { return Ok(()) };
    let pictures = of_haplotypes(names, of_parents, sequences);
    for (name, picture) in haplotype_pictures(names).iter().zip(pictures) {
        put(names, name, &picture, set)?;
    }
    Ok(())
}

/// Plots haplotypes: blobs of all assemblies, and blocks and continuity of each.
fn of_haplotypes(names: &Names, of: &Haplotypes, sequences: &[Vec<u64>]) -> Vec<Picture> {
    let parents = of.parents.each_ref().map(String::as_str);
    let assemblies: Vec<&str> = names.assemblies().iter().map(String::as_str).collect();
    let blob = |&(assembly, one, other, size): &(usize, u64, u64, u64)| Blob {
        markers: [one, other],
        size,
        assembly,
    };
    let blobs: Vec<Blob> = of.contigs.iter().map(blob).collect();
    let mut pictures = vec![haplotypes::blobs("hapmers", parents, &assemblies, &blobs)];
    for (number, (name, sequences)) in assemblies.iter().zip(sequences).enumerate() {
        let own = of.blocks.iter().filter(|block| block.0 == number);
        let blocks: Vec<Stretch> =
            own.map(|&(_, bases, haplotype)| Stretch { bases, haplotype }).collect();
        let lengths = blocks.iter().map(|block| block.bases).collect();
        pictures.push(haplotypes::blocks(&format!("{name}: phase blocks"), parents, &blocks));
        let kinds = [("block", lengths), ("sequence", sequences.clone())];
        pictures.push(haplotypes::continuity(&format!("{name}: continuity"), &kinds));
    }
    pictures
}

/// Writes a plot in both formats.
fn put(names: &Names, name: &str, picture: &Picture, set: &OutputSet) -> Result<()> {
    write_bytes(&names.path(&format!("{name}.png")), &picture.png(DPI)?, set)?;
    write_bytes(&names.path(&format!("{name}.svg")), picture.svg().as_bytes(), set)
}

fn write_bytes(path: &Path, bytes: &[u8], set: &OutputSet) -> Result<()> {
    let mut output = set.output(path).map_err(Error::from)?;
    output.write_all(bytes).map_err(Error::from)?;
    output.finish().map_err(Error::from)?;
    Ok(())
}
