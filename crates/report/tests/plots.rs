//! Plots every chart of ordinary, hostile, large and empty results in every format.
#![allow(clippy::unwrap_used, reason = "a test ends by panicking")]

use merganser_report::data::{
    Assembly, AssemblyQuality, Class, ClassSpectrum, Contig, Data, Decisions, Haplotypes, Mapping,
    Model, PatternHits, Search, Spectrum, Taxa, Taxon,
};
use merganser_report::plot::{Chart, Options, Unfit, plot};

const HOSTILE: &str = "</text><script>\u{0}\u{202E}&\"' \u{4E2D}\u{1F9EC}";

/// Returns results of every kind, with names that begin with `name` and lists of this length.
fn results(name: &str, length: u64) -> Data {
    let rows: Vec<(u64, u64)> = (1..=length).map(|at| (at, 1 + (at * 7919) % 1000)).collect();
    let model = Model {
        ploidy: 2,
        coverage: 20.0,
        genome_size: 5e6,
        unique_size: 4e6,
        heterozygosity: 0.01,
        duplication: 0.0,
        bias: None,
        error_rate: Some(0.001),
        standard_errors: None,
        explained: 0.98,
        from: 4,
        expected: rows.iter().map(|row| row.1 as f64).collect(),
    };
    let taxon = |at: u64| Taxon {
        depth: 1,
        rank: "S".to_owned(),
        taxid: at,
        name: format!("{name} {at}"),
        clade: at,
        own: at,
        bases: Some(100 * at),
        kmers: Some(10 * at),
        distinct: Some(9 * at),
        abundance: None,
    };
    let reads = length * (length + 1) / 2 + 7;
    let judged = |at: u64| AssemblyQuality {
        name: format!("{name} {at}"),
        kmers: 1000,
        only: at,
        quality: (at > 0).then_some(30.0 + at as f64),
        error_rate: 0.001,
        completeness: Some(0.9),
        sequences: Vec::new(),
    };
    let contig = |at: u64| Contig {
        name: format!("{name} {at}"),
        length: 100 * at,
        reads: at,
        bases: 50 * at,
        windows: Vec::new(),
    };
    let class = |at: u64| Class { name: format!("{name} {at}"), rows: rows.clone() };
    Data {
        spectrum: Some(Spectrum {
            k: 21,
            rows: rows.clone(),
            model: (length > 0).then_some(model),
        }),
        taxa: Some(Taxa {
            reads: if length == 0 { 0 } else { reads },
            unclassified: 7.min(length),
            bases: None,
            unclassified_bases: None,
            rows: (1..=length).map(taxon).collect(),
        }),
        assembly: Some(Assembly {
            k: 21,
            judged: (0..length.min(3)).map(judged).collect(),
            spectra: vec![ClassSpectrum {
                title: format!("{name}.spectra-cn"),
                classes: (0..length.min(4)).map(class).collect(),
                only: vec![30, 4],
                solid: 5,
            }],
            haplotypes: Some(Haplotypes {
                parents: [format!("{name} m"), format!("{name} f")],
                contigs: (0..length)
                    .map(|at| ((at % 2) as usize, at, length - at, 100 + at))
                    .collect(),
                blocks: (0..length)
                    .map(|at| ((at % 2) as usize, 1000 + at, (at % 2) as usize))
                    .collect(),
            }),
        }),
        mapping: Some(Mapping {
            reads,
            mapped: reads,
            hits: rows.clone(),
            edits: rows.clone(),
            inserts: rows.clone(),
            pairs: Some(reads / 2),
            qualities: rows.clone(),
            window: None,
            contigs: (1..=length).map(contig).collect(),
        }),
        decisions: Some(Decisions {
            pairs: reads,
            accepted: reads,
            undefined: 0,
            edits: rows,
            is_exact: true,
        }),
        search: Some(Search {
            texts: 2,
            letters: 5000,
            edits: vec![(0, 3), (1, 0), (2, 40)],
            patterns: vec![PatternHits {
                name: "guide 1".into(),
                letters: "ACGTNN".into(),
                hits: vec![3, 0, 40],
            }],
        }),
        ..Data::new("0.2.0", "test", name)
    }
}

fn is_of_one(chart: Chart) -> bool {
    matches!(chart, Chart::Spectra | Chart::Blobs | Chart::Blocks | Chart::Depth)
}

/// Returns the size of a PNG, and the number of its pixels that are not white.
fn ink(png: &[u8]) -> ((u32, u32), usize) {
    let pixels = resvg::tiny_skia::Pixmap::decode_png(png).unwrap();
    let inked = pixels.pixels().iter().filter(|pixel| pixel.red() < 200 || pixel.green() < 200);
    ((pixels.width(), pixels.height()), inked.count())
}

#[test]
fn every_chart_of_every_kind_of_results() {
    let many: Vec<Data> = (0..100).map(|at| results(&format!("sample {at}"), 20)).collect();
    for (samples, what) in [
        (vec![results("sample", 80)], "ordinary"),
        (vec![results(HOSTILE, 30)], "hostile"),
        (vec![results(&"long".repeat(2500), 30)], "long"),
        (vec![results("one", 1)], "one row"),
        (vec![results("large", 100_000)], "many rows"),
        (vec![results("a", 40), results("b", 60), results("c", 0)], "three"),
        (many, "hundred"),
    ] {
        for &chart in Chart::ALL {
            let samples = if is_of_one(chart) { &samples[..1] } else { &samples[..] };
            let picture = plot(samples, chart, &Options::default()).unwrap();
            let svg = picture.svg();
            assert!(!svg.contains("<script") && !svg.contains('\u{0}'), "{what} {chart:?}");
            assert!(svg.len() < 20 << 20, "{what} {chart:?}: {}", svg.len());
            let (_, inked) = ink(&picture.png(72).unwrap());
            assert!(inked > 1000, "{what} {chart:?}: {inked}");
            // The same results make the same bytes.
            assert_eq!(plot(samples, chart, &Options::default()).unwrap().svg(), svg);
        }
    }
}

#[test]
fn results_of_nothing_say_so() {
    for &chart in Chart::ALL {
        let picture = plot(&[results("nothing", 0)], chart, &Options::default()).unwrap();
        let says = matches!(chart, Chart::Spectra | Chart::Blobs | Chart::Blocks);
        assert!(says || picture.svg().contains(">no data<"), "{chart:?}");
        assert!(picture.pdf().unwrap().starts_with(b"%PDF"));
    }
}

#[test]
fn formats() {
    let picture = plot(&[results("a", 60)], Chart::Spectrum, &Options::default()).unwrap();
    let of_72 = ink(&picture.png(72).unwrap());
    let of_300 = ink(&picture.png(300).unwrap());
    // 680 by 420 units at 96 units per inch.
    assert_eq!((of_72.0, of_300.0), ((510, 315), (2125, 1313)));
    assert!(of_300.1 > 10 * of_72.1);
    let png = picture.png(300).unwrap();
    let at = png.windows(4).position(|four| four == b"pHYs").unwrap();
    assert_eq!(png[at + 4..at + 8], 11_811u32.to_be_bytes());
    assert!(picture.png(40_000).unwrap_err().to_string().contains("too large"));
    let pdf = picture.pdf().unwrap();
    let has = |text: &[u8]| pdf.windows(text.len()).any(|part| part == text);
    assert!(has(b"/FontFile") && has(b"DejaVuSans"));
    assert_eq!(picture.pdf().unwrap(), pdf);
}

#[test]
fn options_change_the_picture() {
    let data = [results("a", 60)];
    let of = |chart, change: fn(&mut Options)| {
        let mut options = Options::default();
        change(&mut options);
        plot(&data, chart, &options).unwrap().svg()
    };
    let plain = of(Chart::Spectrum, |_| ());
    for other in [
        of(Chart::Spectrum, |options| options.log_x = true),
        of(Chart::Spectrum, |options| options.log_y = true),
        of(Chart::Spectrum, |options| options.most = Some(30)),
    ] {
        assert_ne!(other, plain);
    }
    let genera = of(Chart::Taxa, |options| options.rank = "G".to_owned());
    assert_ne!(genera, of(Chart::Taxa, |_| ()));
    let named = of(Chart::Spectra, |options| options.spectrum = Some("a.spectra-cn".to_owned()));
    assert_eq!(named, of(Chart::Spectra, |_| ()));
}

#[test]
fn unfit_results_are_named() {
    let only = Data { taxa: results("a", 3).taxa, ..Data::new("0.2.0", "classify", "a") };
    let said = |data: &[Data], chart, options: &Options| plot(data, chart, options).unwrap_err();
    let why = said(std::slice::from_ref(&only), Chart::Depth, &Options::default());
    assert_eq!(why.to_string(), "a: these results (classify) have no mapped reads");
    assert_eq!(said(&[], Chart::Taxa, &Options::default()), Unfit::Nothing);
    let two = [results("a", 3), results("b", 3)];
    assert_eq!(said(&two, Chart::Blobs, &Options::default()), Unfit::Several(2));
    let options = Options { spectrum: Some("x".to_owned()), ..Options::default() };
    let why = said(&two[..1], Chart::Spectra, &options).to_string();
    assert_eq!(why, "no spectrum is named x: there are a.spectra-cn");
}
