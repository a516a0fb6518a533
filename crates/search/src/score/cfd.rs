//! Cutting frequency determination (CFD): the probability that SpCas9 cuts a site, relative to the guide's own.
//!
//! Source: Doench et al. 2016, "Optimized sgRNA design to maximize activity and minimize off-target effects of
//! CRISPR-Cas9", Nature Biotechnology 34:184-191, supplementary table 19. The values are those of `mismatch_score.pkl` and
//! `pam_scores.pkl`, the files of its authors, as CRISPOR has them (github.com/maximilianh/crisporWebsite, CFD_Scoring);
//! those of FlashFry (github.com/mckennalab/FlashFry) are equal.

use merganser_seq::base::code;

/// The number of letters of a guide.
pub(super) const LETTERS: usize = 20;

/// The factors of mismatches: by the base of the guide, then by that of the site on the strand of the guide, both A, C, G,
/// T, then by position from the end that is far from the PAM. The tables of the paper name the base of the other strand.
#[rustfmt::skip]
const MISMATCHES: [[[f64; LETTERS]; 4]; 4] = [
    [
        [1.0; 20],
        [
            0.857142857, 0.785714286, 0.428571429, 0.352941176, 0.5, 0.454545455, 0.4375,
            0.428571429, 0.571428571, 0.333333333, 0.4, 0.263157895, 0.210526316, 0.214285714,
            0.272727273, 0.0, 0.176470588, 0.19047619, 0.206896552, 0.227272727,
        ],
        [
            1.0, 0.8, 0.611111111, 0.625, 0.72, 0.714285714, 0.705882353, 0.733333333, 0.666666667,
            0.555555556, 0.65, 0.722222222, 0.652173913, 0.466666667, 0.65, 0.192307692,
            0.176470588, 0.4, 0.375, 0.764705882,
        ],
        [
            1.0, 0.727272727, 0.705882353, 0.636363636, 0.363636364, 0.714285714, 0.4375,
            0.428571429, 0.6, 0.882352941, 0.307692308, 0.333333333, 0.3, 0.533333333, 0.2, 0.0,
            0.133333333, 0.5, 0.538461538, 0.6,
        ],
    ],
    [
        [
            1.0, 0.727272727, 0.866666667, 0.842105263, 0.571428571, 0.928571429, 0.75, 0.65,
            0.857142857, 0.866666667, 0.75, 0.714285714, 0.384615385, 0.35, 0.222222222, 1.0,
            0.466666667, 0.538461538, 0.428571429, 0.5,
        ],
        [1.0; 20],
        [
            0.913043478, 0.695652174, 0.5, 0.5, 0.6, 0.5, 0.470588235, 0.642857143, 0.619047619,
            0.388888889, 0.25, 0.444444444, 0.136363636, 0.0, 0.05, 0.153846154, 0.058823529,
            0.133333333, 0.125, 0.058823529,
        ],
        [
            1.0, 0.909090909, 0.6875, 0.8, 0.636363636, 0.928571429, 0.8125, 0.875, 0.875,
            0.941176471, 0.307692308, 0.538461538, 0.7, 0.733333333, 0.066666667, 0.307692308,
            0.466666667, 0.642857143, 0.461538462, 0.3,
        ],
    ],
    [
        [
            0.9, 0.846153846, 0.75, 0.9, 0.866666667, 1.0, 1.0, 1.0, 0.642857143, 0.933333333, 1.0,
            0.933333333, 0.923076923, 0.75, 0.941176471, 1.0, 0.933333333, 0.692307692, 0.714285714,
            0.9375,
        ],
        [
            0.714285714, 0.692307692, 0.384615385, 0.529411765, 0.785714286, 0.681818182, 0.6875,
            0.615384615, 0.538461538, 0.4, 0.428571429, 0.529411765, 0.421052632, 0.428571429,
            0.272727273, 0.0, 0.235294118, 0.476190476, 0.448275862, 0.428571429,
        ],
        [1.0; 20],
        [
            1.0, 0.636363636, 0.5, 0.363636364, 0.3, 0.666666667, 0.571428571, 0.625, 0.533333333,
            0.8125, 0.384615385, 0.384615385, 0.3, 0.266666667, 0.142857143, 0.0, 0.25, 0.666666667,
            0.666666667, 0.7,
        ],
    ],
    [
        [
            1.0, 0.846153846, 0.714285714, 0.476190476, 0.5, 0.866666667, 0.875, 0.8, 0.928571429,
            0.857142857, 0.75, 0.8, 0.692307692, 0.619047619, 0.578947368, 0.909090909, 0.533333333,
            0.666666667, 0.285714286, 0.5625,
        ],
        [
            0.857142857, 0.857142857, 0.428571429, 0.647058824, 1.0, 0.909090909, 0.6875, 1.0,
            0.923076923, 0.533333333, 0.666666667, 0.947368421, 0.789473684, 0.285714286,
            0.272727273, 0.666666667, 0.705882353, 0.428571429, 0.275862069, 0.090909091,
        ],
        [
            0.956521739, 0.84, 0.5, 0.625, 0.64, 0.571428571, 0.588235294, 0.733333333, 0.619047619,
            0.5, 0.4, 0.5, 0.260869565, 0.0, 0.05, 0.346153846, 0.117647059, 0.333333333, 0.25,
            0.176470588,
        ],
        [1.0; 20],
    ],
];

/// The factors of the last two letters of the PAM, A, C, G, T each.
const PAMS: [[f64; 4]; 4] = [
    [0.0, 0.0, 0.259259259, 0.0],
    [0.0, 0.0, 0.107142857, 0.0],
    [0.069444444, 0.022222222, 1.0, 0.016129032],
    [0.0, 0.0, 0.038961039, 0.0],
];

/// Returns the score of a site, 0 to 1: the product of the factors of its mismatches and its PAM. The site has the letters
/// of the guide's direction, with the PAM. `None` if a letter is no base.
pub(super) fn score(guide: &[u8], site: &[u8]) -> Option<f64> {
    let base = |letter: &u8| code(*letter).map(usize::from);
    let (protospacer, pam) = site.split_at_checked(LETTERS)?;
    let mut score = 1.0;
    for (at, (guide, site)) in guide.iter().zip(protospacer).enumerate() {
        score *= MISMATCHES[base(guide)?][base(site)?][at];
    }
    let [.., first, second] = pam else { return None };
    Some(score * PAMS[base(first)?][base(second)?])
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Examples in the documentation of `calcCfdScore` of CRISPOR (crispor.py).
    #[test]
    fn scores_are_those_of_crispor() {
        for (guide, site, expected) in [
            ("GGGGGGGGGGGGGGGGGGGG", "GGGGGGGGGGGGGGGGGAAAGGG", 0.4635989007074176),
            ("GGGGGGGGGGGGGGGGGGGG", "GGGGGGGGGGGGGGGGGGGGGGG", 1.0),
            ("GGGGGGGGGGGGGGGGGGGG", "aaaaGaGaGGGGGGGGGGGGGGG", 0.5140384614450001),
            ("ATGGTCGGACTCCCTGCCAG", "ATGGTGGGACTCCCTGCCAGAGG", 0.5),
            ("ATGGTCGGACTCCCTGCCAG", "ATGATCCAAATCCCTGCCAGAGG", 0.53625000020625),
            ("ATGTGGAGATTGCCACCTAC", "ATCTGGAGATTGCCACCTACAGG", 0.384615385),
        ] {
            let found = score(guide.as_bytes(), site.as_bytes()).unwrap();
            assert!((found - expected).abs() < 1e-12, "{site}: {found}");
        }
    }

    /// Examples of the tests of FlashFry (Doench2016CFDScoreTest.scala), which were computed by the paper's program.
    #[test]
    fn scores_are_those_of_flashfry() {
        for (site, expected) in [
            ("GACCTGCATACGAAGCCTTT", 0.249237473),
            ("TTCTTGCATCAGAAGCCGCT", 0.244514106),
            ("GACCTGCATCCAAAGCCAGA", 0.235180995),
            ("GGCTGGCATCCCAAGCCAGT", 0.187656109),
            ("GACTTGCCTCCCAAACCTGT", 0.142362828),
        ] {
            let found = score(b"GACTTGCATCCGAAGCCGGT", format!("{site}AGG").as_bytes()).unwrap();
            assert!((found - expected).abs() < 1e-9, "{site}: {found}");
        }
    }

    /// Examples of the tests of crisprScore (test-offtargets.R), with three decimals.
    #[test]
    fn scores_of_other_pams_are_those_of_crisprscore() {
        let guide = "ATCGATGCTGATGCTAGATA";
        for (site, pam, expected) in [
            (guide, "AGG", "1.000"),
            (guide, "AAG", "0.259"),
            (guide, "AGA", "0.069"),
            (guide, "AGT", "0.016"),
            ("TTCGATGCTGATGCTAGATA", "AGG", "1.000"),
            ("TTCGATGCTGATGCTAGATG", "AGG", "0.765"),
            ("TTCGATGCTAATCCTAGATG", "AGG", "0.301"),
        ] {
            let found = score(guide.as_bytes(), format!("{site}{pam}").as_bytes()).unwrap();
            assert_eq!(format!("{found:.3}"), expected, "{site} {pam}");
        }
    }

    #[test]
    fn letters_that_are_no_bases_have_no_score() {
        let guide = b"GGGGGGGGGGGGGGGGGGGG";
        for site in
            ["GGGGGGGGGGGGGGGGGGGRGGG", "GGGGGGGGGGGGGGGGGGGGGGN", "GGGGGGGGGGGGGGGGGGGGG", "G"]
        {
            assert_eq!(score(guide, site.as_bytes()), None, "{site}");
        }
        assert_eq!(
            score(guide, b"GGGGGGGGGGGGGGGGGGGUNGG"),
            score(guide, b"GGGGGGGGGGGGGGGGGGGTNGG")
        );
    }
}
