//! The plots of an evaluation: those of Merqury, under the same names.

use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::Result;
use merganser_assembly::output::{Names, Phasing};
use merganser_assembly::{Block, Error};
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
    if names.together().is_some() {
        all.push("spectra-cn".to_owned());
    }
    all.push("spectra-asm".to_owned());
    let parents = names.haplotypes().map_or(&[][..], |parents| parents);
    let of_hapmers = assemblies
        .iter()
        .flat_map(|name| parents.iter().map(move |parent| format!("{name}.{parent}.spectra-cn")));
    all.extend(of_hapmers);
    all
}

/// Returns the parts of file names after the prefix, one for each plot of haplotypes.
fn haplotype_pictures(names: &Names) -> Vec<String> {
    if names.haplotypes().is_none() {
        return Vec::new();
    }
    let of = |name: &String| {
        let blob = names.phase_blocks(name).map(|blocks| format!("{blocks}.blob"));
        let sizes = ["block", "continuity"].map(|what| format!("{name}.{what}.N"));
        blob.into_iter().chain(sizes).collect::<Vec<_>>()
    };
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

/// Draws and writes all plots; `contigs` has the lengths of each assembly's contigs in bases.
///
/// # Errors
/// If one cannot be written.
pub(super) fn write(
    names: &Names,
    assembly: &Assembly,
    phasings: &[Phasing],
    contigs: &[Vec<u64>],
    set: &OutputSet,
) -> Result<()> {
    for (name, spectrum) in spectra(names).iter().zip(&assembly.spectra) {
        for style in Style::ALL {
            let file = format!("{name}.{}", style.short());
            put(names, &file, &classes::picture(spectrum, style), set)?;
        }
    }
    let Some(of_parents) = &assembly.haplotypes else { return Ok(()) };
    let pictures = of_haplotypes(names, of_parents, phasings, contigs);
    for (name, picture) in haplotype_pictures(names).iter().zip(pictures) {
        put(names, name, &picture, set)?;
    }
    Ok(())
}

/// Plots haplotypes: blobs of all assemblies; of each assembly blobs of its blocks, the blocks, and the continuity.
fn of_haplotypes(
    names: &Names,
    of: &Haplotypes,
    phasings: &[Phasing],
    contigs: &[Vec<u64>],
) -> Vec<Picture> {
    let parents = of.parents.each_ref().map(String::as_str);
    let assemblies: Vec<&str> = names.assemblies().iter().map(String::as_str).collect();
    let blob = |&(assembly, one, other, size): &(usize, u64, u64, u64)| Blob {
        markers: [one, other],
        size,
        assembly,
    };
    let blobs: Vec<Blob> = of.contigs.iter().map(blob).collect();
    let mut pictures = vec![haplotypes::blobs("hapmers", parents, &assemblies, &blobs)];
    for ((name, phasing), contigs) in assemblies.iter().zip(phasings).zip(contigs) {
        let of_blocks: Vec<Blob> = phasing.blocks.iter().map(of_block).collect();
        let title = format!("{name}: phase blocks");
        pictures.push(haplotypes::blobs(&title, parents, &parents, &of_blocks));
        let blocks: Vec<Stretch> = phasing.blocks.iter().map(stretch).collect();
        pictures.push(haplotypes::blocks(&title, parents, &blocks));
        let kinds = continuity(&blocks, contigs, phasing);
        pictures.push(haplotypes::continuity(&format!("{name}: continuity"), &kinds));
    }
    pictures
}

fn of_block(block: &Block) -> Blob {
    let size = block.end - block.start;
    Blob { markers: block.of_haplotypes(), size, assembly: block.haplotype }
}

fn stretch(block: &Block) -> Stretch {
    Stretch { bases: block.end - block.start, haplotype: block.haplotype }
}

/// Returns the lengths of blocks and contigs and, if there are gaps, of scaffolds.
fn continuity(
    blocks: &[Stretch],
    contigs: &[u64],
    phasing: &Phasing,
) -> Vec<(&'static str, Vec<u64>)> {
    let blocks = blocks.iter().map(|block| block.bases).collect();
    let mut kinds = vec![("block", blocks), ("contig", contigs.to_vec())];
    let scaffolds: Vec<u64> = phasing.contigs.iter().map(|contig| contig.bases).collect();
    if scaffolds.iter().sum::<u64>() > contigs.iter().sum() {
        kinds.push(("scaffold", scaffolds));
    }
    kinds
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
