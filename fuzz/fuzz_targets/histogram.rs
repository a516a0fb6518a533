//! Arbitrary text, or bytes of FastK, as a histogram: rejected, or written and read back unchanged. Fitting a model
//! must not panic.
#![no_main]

use libfuzzer_sys::fuzz_target;
use merganser_kmers::{Histogram, HistogramFormat};
use merganser_spectrum::{Model, is_flat_valley, peaks, smudges, solid_threshold};

/// The largest count that is fitted: the time of a fit depends on it.
const MAX: u32 = 100;

fuzz_target!(|input: &[u8]| {
    let [k, ploidy, rest @ ..] = input else { return };
    let text = std::str::from_utf8(rest).ok().and_then(|text| Histogram::parse(text).ok());
    let Some(file) = text.or_else(|| Histogram::of_fastk(rest)) else { return };
    let histogram = file.histogram;
    let mut written = Vec::new();
    histogram.write(HistogramFormat::Tsv, 1, None, &mut written).expect("writing to memory");
    let written = String::from_utf8(written).expect("text");
    let again = Histogram::parse(&written).map(|file| file.histogram);
    assert!(again.is_ok_and(|again| again.iter().eq(histogram.iter())));
    let rows: Vec<(u32, u64)> = histogram.iter().take_while(|row| row.0 <= MAX).collect();
    let solid = solid_threshold(&rows);
    let _ = (is_flat_valley(&rows), peaks(&rows, solid.unwrap_or(1), 6));
    // Fits take longer than everything else, so only some inputs have one.
    match ploidy % 8 {
        ploidy @ 1..=2 => {
            if let Ok(model) = Model::fit(&rows, usize::from(k % 128) + 1, u32::from(ploidy)) {
                assert!(model.coverage.is_finite() && model.genome_size.is_finite(), "{model:?}");
            }
        }
        3 => {
            let pair = |two: &[(u32, u64)]| ((two[0].0, two[1].0), two[0].1.min(two[1].1));
            let bases = usize::from(k % 128) + 1;
            let _ = smudges::ploidy(&rows.windows(2).map(pair).collect::<Vec<_>>(), bases, &rows);
        }
        _ => {}
    }
});
