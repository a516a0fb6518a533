//! Indexes as texts: the bytes are those of the FASTA file. Stretches are short in tests.

use merganser_io::{Input, Output};
use merganser_run::Context;

use super::case;
use crate::{
    Config, Format, Lengths, Pattern, PrimerPair, Threshold, Writer, run_primers, run_with,
};

/// Returns the bytes of a search in all formats, and of amplicons between the first two patterns.
fn outputs(text: &Input, config: &Config, patterns: &[Pattern], threads: usize) -> Vec<Vec<u8>> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("hits");
    let context = Context::new().threads(threads);
    let texts = [text.clone()];
    let mut all = Vec::new();
    for &format in Format::ALL {
        let writer = Writer::new(format, Output::create(&path).unwrap());
        run_with(config, patterns, &texts, writer, &context).unwrap();
        all.push(std::fs::read(&path).unwrap());
    }
    let [forward, reverse] = [0, 1].map(|at| patterns[at].clone());
    let pairs = [PrimerPair { name: "pair".into(), forward, reverse }];
    let output = (Format::Tsv, Output::create(&path).unwrap());
    run_primers(config, Lengths::default(), &pairs, &texts, output, &context).unwrap();
    all.push(std::fs::read(&path).unwrap());
    all
}

#[test]
fn indexes_have_the_hits_of_their_files() {
    let folder = tempfile::tempdir().unwrap();
    let [fasta, index] = ["t.fa", "t.mgi"].map(|name| folder.path().join(name));
    for seed in 0..12 {
        let (texts, patterns) = case(seed, false);
        let mut text = String::new();
        for (number, letters) in texts.iter().enumerate() {
            let letters = String::from_utf8(letters.clone()).unwrap();
            let letters = if number == 1 { letters.to_lowercase() + "NNNA" } else { letters };
            text += &format!(">t{number} topology=circular\n{letters}\n");
        }
        std::fs::write(&fasta, &text).unwrap();
        merganser_map::build(&fasta, &index, &Context::new()).unwrap();
        let config =
            Config { n_matches: seed % 2 == 0, ..Config::new(Threshold::Edits(seed as u32 % 5)) };
        let of = |path: &std::path::PathBuf| {
            outputs(&path.into(), &config, &patterns, 1 + seed as usize % 3)
        };
        assert!(of(&fasta) == of(&index), "{text}");
    }
}
