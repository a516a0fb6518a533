//! Data of evaluated assemblies.

use merganser_assembly::output::{Names, Phasing, SequenceQuality};
use merganser_assembly::{AssemblyQuality, Copies, OfAssembly, Outcome, Trio};
use merganser_kmers::Histogram;
use merganser_report::data;

/// Returns the results of an evaluation, with the names of Merqury's files.
pub(crate) fn of(
    names: &Names,
    judgement: &Outcome,
    sequences: &[Vec<SequenceQuality>],
    phasings: &[Phasing],
) -> data::Assembly {
    let all = names.assemblies().iter().map(String::as_str).chain(names.together());
    let judged = all.zip(judgement.assemblies.iter().chain(&judgement.both));
    // All assemblies together have no sequences of their own.
    let rows = sequences.iter().map(Vec::as_slice).chain(std::iter::repeat(&[][..]));
    data::Assembly {
        k: judgement.k,
        judged: judged.map(|(name, of)| one(name, of)).zip(rows).map(with).collect(),
        spectra: spectra(names, judgement),
        haplotypes: names.haplotypes().map(|parents| haplotypes(parents, phasings)),
    }
}

/// Adds the qualities of its sequences to an assembly's.
fn with((judged, rows): (data::AssemblyQuality, &[SequenceQuality])) -> data::AssemblyQuality {
    let row = |row: &SequenceQuality| data::SequenceQuality {
        name: row.name.clone(),
        kmers: row.kmers,
        only: row.missing,
        quality: row.quality.is_finite().then_some(row.quality),
    };
    data::AssemblyQuality { sequences: rows.iter().map(row).collect(), ..judged }
}

fn one(name: &str, of: &AssemblyQuality) -> data::AssemblyQuality {
    data::AssemblyQuality {
        name: name.to_owned(),
        kmers: of.kmers,
        only: of.only.instances,
        quality: of.quality.is_finite().then_some(of.quality),
        error_rate: if of.error_rate.is_finite() { of.error_rate } else { 1.0 },
        completeness: of.completeness().map(|percent| percent / 100.0),
        sequences: Vec::new(),
    }
}

fn spectra(names: &Names, judgement: &Outcome) -> Vec<data::ClassSpectrum> {
    let (spectra, solid) = (&judgement.spectra, judgement.solid);
    let assemblies = names.assemblies().iter().zip(&spectra.assemblies);
    let mut all: Vec<data::ClassSpectrum> =
        assemblies.map(|(name, of)| copies(format!("{name}.spectra-cn"), of, solid)).collect();
    if judgement.both.is_some() {
        all.push(copies("spectra-cn".to_owned(), &spectra.both, solid));
    }
    let sources = names.sources();
    let classes = sources.into_iter().zip(&spectra.sources);
    all.push(data::ClassSpectrum {
        title: "spectra-asm".to_owned(),
        classes: classes.map(|(name, rows)| class(name, rows)).collect(),
        only: spectra.only.clone(),
        solid,
    });
    all.extend(judgement.trio.iter().flat_map(|trio| of_hapmers(names, trio)));
    all
}

/// Returns the copy-number spectra of each parent's hap-mers in each assembly.
fn of_hapmers(names: &Names, trio: &Trio) -> Vec<data::ClassSpectrum> {
    let mut all = Vec::new();
    for (name, spectra) in names.assemblies().iter().zip(&trio.spectra_of_hapmers) {
        for ((parent, spectrum), solid) in trio.names.iter().zip(spectra).zip(trio.inherited) {
            let classes = Copies::ALL.iter().zip(spectrum);
            let classes = classes.map(|(copies, rows)| class(copies.name_of_hapmers(parent), rows));
            all.push(data::ClassSpectrum {
                title: format!("{name}.{parent}.spectra-cn"),
                classes: classes.collect(),
                // Every hap-mer is in the reads.
                only: vec![0],
                solid,
            });
        }
    }
    all
}

fn copies(title: String, of: &OfAssembly, solid: u32) -> data::ClassSpectrum {
    let classes = Copies::ALL.iter().zip(&of.copies);
    data::ClassSpectrum {
        title,
        classes: classes.map(|(copies, rows)| class(copies.name(), rows)).collect(),
        only: vec![of.only.distinct, of.only.instances - of.only.distinct],
        solid,
    }
}

fn class(name: String, rows: &Histogram) -> data::Class {
    let rows = rows.iter().map(|(count, kmers)| (count.into(), kmers));
    data::Class { name, rows: rows.collect() }
}

fn haplotypes(parents: &[String; 2], phasings: &[Phasing]) -> data::Haplotypes {
    let contigs = phasings.iter().enumerate().flat_map(|(assembly, phasing)| {
        let of = move |contig: &merganser_assembly::output::Contig| {
            let [one, other] = contig.markers;
            (assembly, one, other, contig.kmers)
        };
        phasing.contigs.iter().map(of)
    });
    let blocks = phasings.iter().enumerate().flat_map(|(assembly, phasing)| {
        phasing.blocks.iter().map(move |block| (assembly, block.end - block.start, block.haplotype))
    });
    data::Haplotypes {
        parents: parents.clone(),
        contigs: contigs.collect(),
        blocks: blocks.collect(),
    }
}
