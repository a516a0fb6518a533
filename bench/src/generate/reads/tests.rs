//! Tests of complete files.

use super::*;
use std::io::Read as _;

fn genome() -> Sequences {
    let options = Options {
        repeat_fraction: 0.1,
        repeat_length: 500,
        repeat_divergence: 0.02,
        repeat_families: 4,
        n_runs: 3,
        n_run_length: 400,
    };
    Genome::new(300_000, 5, &options).unwrap().sequences(1).unwrap()
}

/// Returns the files that a model makes.
fn files(model: &Model, seed: u64, threads: usize) -> Vec<String> {
    let folder = tempfile::tempdir().unwrap();
    let output = folder.path().join("reads.fq");
    let paths = if model.paired { mates(&output).unwrap() } else { vec![output] };
    write(model, genome(), seed, threads, &paths).unwrap();
    paths.iter().map(|path| std::fs::read_to_string(path).unwrap()).collect()
}

#[test]
fn a_zipped_file_has_the_same_text() {
    let (model, folder) = (Model::single(100, 30_000, 0.01), tempfile::tempdir().unwrap());
    let path = folder.path().join("reads.fq.gz");
    write(&model, genome(), 9, 2, std::slice::from_ref(&path)).unwrap();
    let mut text = String::new();
    merganser_io::open_text(&path).unwrap().read_to_string(&mut text).unwrap();
    assert!(text == files(&model, 9, 1)[0]);
    assert!(std::fs::read(&path).unwrap().ends_with(&BgzfBlocks::END));
}

#[test]
fn bytes_do_not_depend_on_threads() {
    let pairs = Model::pairs(20.0, 0.01);
    let long = Model {
        mean_length: Some(4000.0),
        rates: Rates { substitutions: 0.02, insertions: 0.01, deletions: 0.02, n_rate: 0.001 },
        paired: false,
        ..pairs.clone()
    };
    for model in [pairs, long] {
        let one = files(&model, 9, 1);
        assert!(one == files(&model, 9, 3));
        assert!(one != files(&model, 10, 1));
    }
}

#[test]
fn a_shallow_data_set_begins_a_deep_one() {
    let shallow = files(&Model::pairs(1.0, 0.01), 9, 2);
    let deep = files(&Model::pairs(3.0, 0.01), 9, 2);
    assert!(deep[0].starts_with(&shallow[0]) && deep[1].starts_with(&shallow[1]));
}

#[test]
fn pairs_are_fastq_of_the_coverage_asked_for() {
    let files = files(&Model::pairs(10.0, 0.01), 9, 2);
    let mut bases = 0;
    for (mate, text) in files.iter().enumerate() {
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines.len() % 4, 0);
        for (index, record) in lines.chunks(4).enumerate() {
            assert!(record[0].starts_with(&format!("@r{index}/{} genome:", mate + 1)));
            assert_eq!(record[2], "+");
            assert_eq!((record[1].len(), record[3].len()), (150, 150));
            assert!(record[3].bytes().all(|q| (b'#'..=b'K').contains(&q)));
            bases += 150;
        }
    }
    assert!((3_000_000..3_000_600).contains(&bases));
}

#[test]
fn reads_avoid_unknown_stretches() {
    let files = files(&Model::pairs(5.0, 0.0), 9, 1);
    let unknown = files[0].lines().skip(1).step_by(4).flat_map(str::bytes).filter(|&b| b == b'N');
    // Fewer than a tenth of the bases of any fragment; runs of N are 0.4 % of the genome.
    assert!(unknown.count() < 1000);
}

#[test]
fn fasta_has_two_lines_a_read_and_reads_can_be_numbered() {
    let model = Model {
        coverage: None,
        reads: Some(7),
        paired: false,
        length: Some(33),
        format: Format::Fasta,
        ..Model::pairs(0.0, 0.0)
    };
    let text = &files(&model, 9, 2)[0];
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines.len(), 14);
    assert!(lines[12].starts_with(">r6 genome:"));
    assert_eq!(lines[13].len(), 33);
}

#[test]
fn mates_are_named_before_the_extension() {
    let names = mates(Path::new("a.b/reads.fq")).unwrap();
    assert_eq!(names, [Path::new("a.b/reads_1.fq"), Path::new("a.b/reads_2.fq")]);
    let zipped = mates(Path::new("reads.fq.gz")).unwrap();
    assert_eq!(zipped, ["reads_1.fq.gz", "reads_2.fq.gz"].map(PathBuf::from));
    assert!(mates(Path::new("-")).is_err());
}
