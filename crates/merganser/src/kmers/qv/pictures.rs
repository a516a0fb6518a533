//! The pictures of a judgement: what Merqury draws, under its names.

use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::Result;
use merganser_assembly::output::{Contig, Names, Phasing};
use merganser_assembly::{Copies, Error, Judgement, OfAssembly};
use merganser_io::OutputSet;
use merganser_kmers::Histogram;
use merganser_report::classes::{Class, Classes, Style, png, svg};
use merganser_report::haplotypes::{self, Blob, Stretch};

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

/// The pictures of haplotypes: what names of files have behind the prefix.
fn haplotype_pictures(names: &Names) -> Vec<String> {
    if names.haplotypes().is_none() {
        return Vec::new();
    }
    let of = |name: &String| ["block", "continuity"].map(|what| format!("{name}.{what}.N"));
    let of_assemblies = names.assemblies().iter().flat_map(of);
    [String::from("hapmers.blob")].into_iter().chain(of_assemblies).collect()
}

/// All pictures' files.
pub(super) fn paths(names: &Names) -> Vec<PathBuf> {
    let mut paths = Vec::new();
    for picture in haplotype_pictures(names) {
        paths.extend(["png", "svg"].map(|suffix| names.path(&format!("{picture}.{suffix}"))));
    }
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
            put(
                &path(names, spectrum, style, "png"),
                &png(&classes, style).map_err(Error::from)?,
                set,
            )?;
            put(&path(names, spectrum, style, "svg"), svg(&classes, style).as_bytes(), set)?;
        }
    }
    Ok(())
}

/// Draws how haplotypes lie in assemblies, if the parents are known.
///
/// # Errors
/// If one cannot be written.
pub(super) fn write_haplotypes(names: &Names, phasings: &[Phasing], set: &OutputSet) -> Result<()> {
    let Some([one, other]) = names.haplotypes() else { return Ok(()) };
    let parents = [one.as_str(), other];
    let assemblies: Vec<&str> = names.assemblies().iter().map(String::as_str).collect();
    let blobs = phasings.iter().enumerate().flat_map(|(assembly, phasing)| {
        let blob =
            move |contig: &Contig| Blob { markers: contig.markers, size: contig.kmers, assembly };
        phasing.contigs.iter().map(blob)
    });
    let blobs: Vec<Blob> = blobs.collect();
    let mut pictures = vec![haplotypes::blobs("hapmers", parents, &assemblies, &blobs)];
    for (name, phasing) in assemblies.iter().zip(phasings) {
        let blocks = phasing.blocks.iter();
        let blocks: Vec<Stretch> = blocks
            .map(|block| Stretch { bases: block.end - block.start, haplotype: block.haplotype })
            .collect();
        let lengths = blocks.iter().map(|block| block.bases).collect();
        let sequences = phasing.contigs.iter().map(|contig| contig.bases).collect();
        let title = format!("{name}: phase blocks");
        pictures.push(haplotypes::blocks(&title, parents, &blocks));
        let kinds = [("block", lengths), ("sequence", sequences)];
        pictures.push(haplotypes::continuity(&format!("{name}: continuity"), &kinds));
    }
    for (name, picture) in haplotype_pictures(names).iter().zip(pictures) {
        let png = picture.png().map_err(Error::from)?;
        put(&names.path(&format!("{name}.png")), &png, set)?;
        put(&names.path(&format!("{name}.svg")), picture.svg().as_bytes(), set)?;
    }
    Ok(())
}

fn put(path: &Path, bytes: &[u8], set: &OutputSet) -> Result<()> {
    let mut output = set.output(path).map_err(Error::from)?;
    output.write_all(bytes).map_err(Error::from)?;
    output.finish().map_err(Error::from)?;
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
