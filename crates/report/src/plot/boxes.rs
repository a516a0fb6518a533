//! Checks that no text of a chart is cut or over another one, for random names and numbers.

use proptest::prelude::*;

use super::{Chart, Options, plot};
use crate::data::{
    Assembly, AssemblyQuality, Class, ClassSpectrum, Contig, Data, Haplotypes, Mapping, Rows,
    Spectrum, Taxa, Taxon,
};
use crate::draw::{Picture, meet};

/// Returns what is wrong with the texts of a picture. A pixel is allowed, which no eye sees.
fn faults(picture: &Picture) -> Vec<String> {
    let Picture(scene) = picture;
    let boxes: Vec<_> = scene.words.iter().map(|words| (words, words.bounds())).collect();
    let mut faults = Vec::new();
    for (at, (words, [left, top, right, bottom])) in boxes.iter().enumerate() {
        if *left < -1.0 || *top < -1.0 || *right > scene.width + 1.0 || *bottom > scene.height + 1.0
        {
            faults.push(format!("{:?} is cut: {left:.0} to {right:.0}", words.text));
        }
        let small = [left + 0.5, top + 0.5, right - 0.5, bottom - 0.5];
        for (other, bounds) in &boxes[at + 1..] {
            if meet(small, *bounds) {
                faults.push(format!("{:?} is over {:?}", words.text, other.text));
            }
        }
    }
    faults
}

fn names() -> impl Strategy<Value = Vec<String>> {
    let name =
        prop_oneof!["[A-Z][a-z]{2,20}( [a-z]{2,25}){0,3}", "[WMil\u{4E2D} ]{1,80}", "\\PC{0,40}"];
    prop::collection::vec(name, 1..30)
}

fn number() -> impl Strategy<Value = u64> {
    prop_oneof![0..10u64, 0..1000u64, 0..10_000_000_000u64]
}

fn rows() -> impl Strategy<Value = Rows> {
    let value = prop_oneof![1..70u64, 1..3000u64];
    prop::collection::btree_map(value, number(), 0..60).prop_map(|rows| rows.into_iter().collect())
}

fn taxa(names: &[String], numbers: &[u64]) -> Taxa {
    let row = |(at, name): (usize, &String)| Taxon {
        depth: 1,
        rank: "S".to_owned(),
        taxid: at as u64,
        name: name.clone(),
        clade: numbers[at % numbers.len()],
        own: numbers[at % numbers.len()],
        bases: None,
        kmers: None,
        distinct: Some(numbers[(at + 1) % numbers.len()]),
        abundance: None,
    };
    let rows: Vec<Taxon> = names.iter().enumerate().map(row).collect();
    let reads = rows.iter().map(|row| row.clade).sum::<u64>() + numbers[0];
    let unclassified = numbers[0];
    Taxa { reads, unclassified, bases: None, unclassified_bases: None, rows }
}

fn results(sample: &str, names: &[String], numbers: &[u64], rows: &Rows) -> Data {
    let of = |at: usize| numbers[at % numbers.len()];
    let judged = |(at, name): (usize, &String)| AssemblyQuality {
        name: name.clone(),
        kmers: 1000,
        only: of(at),
        quality: (at % 3 > 0).then_some(of(at) as f64 % 97.0),
        error_rate: 0.001,
        completeness: None,
        sequences: Vec::new(),
    };
    let class = |name: &String| Class { name: name.clone(), rows: rows.clone() };
    let contig = |(at, name): (usize, &String)| Contig {
        name: name.clone(),
        length: of(at) + 1,
        reads: of(at),
        bases: of(at + 1),
        windows: Vec::new(),
    };
    Data {
        spectrum: Some(Spectrum { k: 21, rows: rows.clone(), model: None }),
        taxa: Some(taxa(names, numbers)),
        assembly: Some(Assembly {
            k: 21,
            judged: names.iter().enumerate().map(judged).collect(),
            spectra: vec![ClassSpectrum {
                title: names[0].clone(),
                classes: names.iter().take(8).map(class).collect(),
                only: vec![of(0) % 1000],
                solid: 5,
            }],
            haplotypes: Some(Haplotypes {
                parents: [names[0].clone(), sample.to_owned()],
                contigs: (0..9).map(|at| (0, of(at), of(at + 1), of(at + 2))).collect(),
                blocks: (0..9).map(|at| (0, of(at), at % 2)).collect(),
            }),
        }),
        mapping: Some(Mapping {
            reads: 9,
            mapped: 9,
            hits: rows.clone(),
            edits: rows.clone(),
            inserts: rows.clone(),
            pairs: None,
            qualities: Vec::new(),
            window: None,
            contigs: names.iter().enumerate().map(contig).collect(),
        }),
        ..Data::new("0.2.0", "test", sample)
    }
}

proptest! {
    #[test]
    fn no_text_is_cut_or_over_another(
        names in names(),
        samples in names(),
        numbers in prop::collection::vec(number(), 1..20),
        rows in rows(),
        log in any::<[bool; 2]>(),
    ) {
        let [log_x, log_y] = log;
        let options = Options { log_x, log_y, ..Options::default() };
        let data = |sample: &String| results(sample, &names, &numbers, &rows);
        let data: Vec<Data> = samples.iter().take(12).map(data).collect();
        for &chart in Chart::ALL {
            let is_of_one = matches!(chart, Chart::Spectra | Chart::Blobs | Chart::Blocks | Chart::Depth);
            for some in [&data[..1], &data[..]] {
                if is_of_one && some.len() > 1 {
                    continue;
                }
                let picture = plot(some, chart, &options).expect("results of every kind");
                let faults = faults(&picture);
                prop_assert!(faults.is_empty(), "{chart:?}: {faults:?}");
            }
        }
    }
}

#[test]
fn names_of_species_are_whole_and_on_the_chart() {
    let names = ["Alphainfluenzavirus influenzae", "Severe acute respiratory syndrome coronavirus"];
    let names = names.map(str::to_owned);
    let data = [results("sample", &names, &[300, 90_000, 4000], &vec![(1, 1)])];
    for chart in [Chart::Taxa, Chart::Evidence] {
        let svg = plot(&data, chart, &Options::default()).expect("taxa").svg();
        for name in &names {
            assert!(svg.contains(&format!(">{name}<")), "{chart:?}: {name}");
        }
    }
}
