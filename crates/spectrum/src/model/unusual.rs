//! Tests with histograms that were cut, have organelles or repeats, or have high counts: the values are right,
//! or a doubt tells why they may not be.

use super::simulated::{BASES, Copies, K, diploid, histogram_to, homozygous};
use super::{Doubt, Error, Model, Settings};

/// Returns the coverage of a haplotype at a depth: reads of 100 bases with 0.5 % errors have 80 21-mers.
fn coverage(depth: f64) -> f64 {
    depth * 0.8 * 0.995f64.powi(K as i32)
}

/// Returns the histogram with all counts from `last` on in one row.
fn piled(histogram: &[(u32, u64)], last: u32) -> Vec<(u32, u64)> {
    let split = histogram.partition_point(|row| row.0 < last);
    let (below, beyond) = histogram.split_at(split);
    let pile = beyond.iter().map(|row| row.1).sum();
    [below, &[(last, pile)]].concat()
}

fn is_right(model: &Model, rate: f64) -> bool {
    (model.genome_size / BASES - 1.0).abs() < 0.02
        && (model.heterozygosity - rate).abs() <= 0.02 * rate.max(0.005)
}

/// Returns a genome with satellites: two hundred k-mers with a thousand copies.
fn with_satellite() -> Copies {
    vec![(1.0, 0.9), (1000.0, 1e-4)]
}

#[test]
fn a_pile_is_told_wherever_it_is() {
    let whole = histogram_to(&with_satellite(), 1.0, 40.0, 0.3, 40_000);
    let model = Model::fit(&whole, K, 1).unwrap();
    assert!(is_right(&model, 0.0) && model.doubts.is_empty(), "{model:?}");
    for last in [50, 64, 100, 101, 255, 1000, 1001, 10_000, 10_001, 20_000] {
        let made = piled(&whole, last);
        let model = Model::fit(&made, K, 1).unwrap();
        let kmers = made.last().unwrap().1;
        assert_eq!(model.doubts, [Doubt::LastRow { count: last, kmers }], "{last}");
        assert!((model.coverage / coverage(40.0) - 1.0).abs() < 0.01, "{last}: {model:?}");
        // The known number of all occurrences compensates for the pile.
        let total = whole.iter().map(|row| u64::from(row.0) * row.1).sum();
        let settings = Settings { ploidy: 1, total: Some(total), ..Settings::default() };
        let model = Model::fit_with(&made, K, &settings).unwrap();
        assert!(is_right(&model, 0.0) && model.doubts.is_empty(), "{model:?}");
    }
}

#[test]
fn a_main_peak_in_the_last_row_has_no_model() {
    for (copies, ploidy) in [(homozygous(0.1, 2), 1.0), (diploid(0.01), 2.0)] {
        let whole = histogram_to(&copies, ploidy, 60.0, 0.3, 1500);
        for last in [10, 17, 20, 30, 40] {
            let made = piled(&whole, last);
            let why = Model::fit(&made, K, 2).unwrap_err();
            assert_eq!(why, Error::BeyondEnd(last));
            // Without that row, the slope of the peak reveals it.
            let told = match Model::fit(&made[..made.len() - 1], K, 2) {
                Ok(model) => model.doubts.contains(&Doubt::End(last - 1)),
                Err(why) => why == Error::BeyondEnd(last - 1) || last <= 20,
            };
            assert!(told, "{ploidy} {last}");
        }
    }
}

#[test]
fn organelles_are_told_and_can_be_left_out() {
    // The copies in both haplotypes together, and the number of k-mers relative to the genome.
    let genomes: [(&str, Copies, f64); 5] = [
        ("plastid", vec![(400.0, 0.075)], 2.0),
        ("mitochondrion", vec![(100.0, 0.008)], 2.0),
        ("both", vec![(100.0, 0.008), (250.0, 0.075)], 2.0),
        ("plasmid", vec![(10.0, 0.02)], 1.0),
        ("spike-in", vec![(60.0, 0.0027)], 1.0),
    ];
    for (name, organelles, ploidy) in genomes {
        let rate = if ploidy > 1.0 { 0.01 } else { 0.0 };
        let genome = if ploidy > 1.0 { diploid(rate) } else { vec![(1.0, 1.0)] };
        let all = [genome, organelles].concat();
        let found = histogram_to(&all, ploidy, 30.0 * ploidy, 0.3, 14_000);
        let fit = |exclude_above| {
            let settings = Settings { ploidy: ploidy as u32, exclude_above, ..Settings::default() };
            Model::fit_with(&found, K, &settings).unwrap()
        };
        let model = fit(None);
        let told = model.doubts.iter().find_map(|doubt| match doubt {
            Doubt::HighCopies { above, genome_size, .. } => Some((*above, *genome_size)),
            _ => None,
        });
        let (above, genome_size) = told.unwrap_or_else(|| panic!("{name}: {model:?}"));
        assert!((genome_size / BASES - 1.0).abs() < 0.02, "{name}: {model:?}");
        let model = fit(Some(above));
        assert!(is_right(&model, rate) && model.doubts.is_empty(), "{name}: {model:?}");
    }
}

/// The number of repeats decreases with their copies: they are no pile, no cut and no organelle.
#[test]
fn repeats_of_any_number_of_copies_are_no_organelles() {
    for power in [-2.0, -2.5, -3.0] {
        let repeats =
            (2..300).map(|copies| (f64::from(copies), 0.05 * f64::from(copies).powf(power)));
        let part: f64 = repeats.clone().map(|(copies, part)| copies * part).sum();
        let copies = [(1.0, 1.0 - part)].into_iter().chain(repeats).collect();
        for depth in [30.0, 60.0] {
            let found = histogram_to(&copies, 1.0, depth, 0.5, 20_000);
            let model = Model::fit(&found, K, 1).unwrap();
            // There are no k-mers beyond the last simulated count.
            let end =
                |doubt: &Doubt| matches!(doubt, Doubt::HighCopies { .. } | Doubt::LastRow { .. });
            assert!(
                !model.doubts.iter().any(end),
                "{power} {depth}: {} {:?}",
                model.genome_size,
                model.doubts
            );
            assert!(
                (model.genome_size / BASES - 1.0).abs() < 0.05,
                "{power} {depth}: {} {:?}",
                model.genome_size,
                model.doubts
            );
        }
    }
    // Six rRNA operons in 1.9 Mb, as in Streptococcus pyogenes.
    let copies = vec![(1.0, 0.976), (6.0, 0.004)];
    let model = Model::fit(&histogram_to(&copies, 1.0, 60.0, 0.1, 3000), K, 1).unwrap();
    assert!(is_right(&model, 0.0) && model.doubts.is_empty(), "{model:?}");
}

#[test]
fn values_do_not_depend_on_the_coverage() {
    for (depth, most) in [(900.0, 8000), (3000.0, 16_000), (12_000.0, 60_000), (40_000.0, 180_000)]
    {
        for bias in [0.0, 0.01 * depth] {
            let found = histogram_to(&diploid(0.01), 2.0, depth, bias, most);
            let model = Model::fit(&found, K, 2).unwrap();
            assert!(is_right(&model, 0.01), "{depth} {bias}: {model:?}");
            assert!(model.doubts.is_empty(), "{depth} {bias}: {:?}", model.doubts);
            let found = model.coverage / coverage(depth / 2.0);
            assert!((found - 1.0).abs() < 0.01, "{depth} {bias}: {found}");
            assert!(model.explained > 0.99, "{depth} {bias}: {}", model.explained);
        }
    }
}

/// Arbitrary counts of a file take no more memory than those of deep sequencing.
#[test]
fn counts_beyond_all_are_fitted_in_little_memory() {
    let number = |off: u32| (1_000_000_000 + 100_000 * off, u64::from(500 - 10 * off.abs_diff(50)));
    let found: Vec<(u32, u64)> = (1..100).map(number).chain([(1, 9000), (2, 800)]).collect();
    if let Ok(model) = Model::fit(&found, K, 1) {
        assert!(model.observed.len() <= (1 << 20) + 1);
    }
}
