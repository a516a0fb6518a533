//! `merganser kmers histogram --model` on simulated genomes with known values.

use std::collections::HashMap;

use merganser_test_support::oracle::complement;
use merganser_test_support::reads::Random;
use merganser_test_support::{Dir, shared};

/// Simulates reads of 100 bases with 0.4 % errors, with coverage `depth` of each haplotype; returns FASTA.
fn reads(haplotypes: &[Vec<u8>], depth: usize, seed: u64) -> Vec<u8> {
    let mut random = Random(seed);
    let mut text = Vec::new();
    for haplotype in haplotypes {
        for _ in 0..haplotype.len() * depth / 100 {
            let start = random.below(haplotype.len() - 100);
            let mut read = haplotype[start..start + 100].to_vec();
            for base in &mut read {
                if random.below(250) == 0 {
                    *base = complement(&[*base])[0];
                }
            }
            text.extend_from_slice(b">r\n");
            text.extend(if random.below(2) == 0 { complement(&read) } else { read });
            text.push(b'\n');
        }
    }
    text
}

/// Returns a genome of `bases` whose last twentieth repeats the first.
fn genome(bases: usize, seed: u64) -> Vec<u8> {
    let mut genome = Random(seed).bases(bases - bases / 20);
    genome.extend_from_within(..bases / 20);
    genome
}

/// Returns the printed values by name.
fn values(text: &str) -> HashMap<&str, f64> {
    let lines = text.lines().filter_map(|line| line.split_once('\t'));
    lines.filter_map(|(key, value)| Some((key, value.parse().ok()?))).collect()
}

#[track_caller]
fn close(values: &HashMap<&str, f64>, key: &str, wanted: f64, within: f64) {
    let found = values[key];
    assert!((found - wanted).abs() <= within * wanted, "{key}: {found}, not {wanted}: {values:?}");
}

#[test]
fn a_diploid_of_known_size_and_heterozygosity() {
    let dir = Dir::new();
    for (rate, depth) in [(100, 25), (400, 30)] {
        let one = genome(300_000, 5);
        let mut other = one.clone();
        let mut random = Random(rate);
        let differ = |base: &mut u8| {
            if random.below(rate as usize) == 0 {
                *base = b"ACGT"[random.below(4)];
            }
        };
        other.iter_mut().for_each(differ);
        let differences = one.iter().zip(&other).filter(|(a, b)| a != b).count();
        dir.write("r.fa", reads(&[one, other], depth, 9));
        dir.run("count -q -k 21 --min-count 1 -o t.mgk --histogram h r.fa").ok();
        let text = dir.run("kmers histogram --model --plot p.svg t.mgk").ok();
        let found = values(&text);
        // A read of 100 bases has 80 21-mers, of which (1 - 0.004)^21 are without an error.
        let coverage = depth as f64 * 0.8 * 0.996f64.powi(21);
        close(&found, "kmer_coverage", coverage, 0.02);
        close(&found, "genome_size", 300_000.0, 0.03);
        close(&found, "heterozygosity", differences as f64 / 300_000.0, 0.1);
        close(&found, "error_rate", 0.004, 0.1);
        assert!(found["repeats"] > 0.05 && found["repeats"] < 0.15, "{found:?}");
        dir.run("kmers histogram --model --plot p.PNG t.mgk").ok();
        let (width, pixels) = pixels(&dir.read("p.PNG"));
        assert_eq!((width, pixels.len()), (1360, 1360 * 840));
        let share = |colour: [u8; 3]| pixels.iter().filter(|pixel| **pixel == colour).count();
        // Count the pixels of bars, background, letters, the model, and dashed lines at peaks; edges are smooth.
        assert!(share([0x78, 0xc3, 0xed]) > 10_000 && share([0xff; 3]) > 600_000);
        assert!(share([0; 3]) > 2_000 && share([0xd5, 0x5e, 0]) > 500);
        assert!(share([0x5b, 0x63, 0x6d]) > 300);
        let svg = String::from_utf8(dir.read("p.svg")).unwrap();
        assert!(svg.starts_with("<svg ") && svg.ends_with("</svg>\n"));
        assert_eq!(svg.matches("stroke-dasharray").count(), 2);
        // The histogram alone has the same model, if k is given.
        assert_eq!(dir.run("kmers histogram --model -k 21 h").ok(), text);
        dir.run("kmers histogram --model h").fails(2);
        let picture: Vec<&str> = text.lines().filter(|line| line.starts_with("# ")).collect();
        assert!(picture.len() > 20 && picture.iter().any(|line| line.contains('o')));
    }
}

/// Ambiguities are reported: a histogram with two explanations (the less heterozygous one is used), unknown values
/// of a table with a minimum count, and a higher ploidy than that of the model.
#[test]
fn doubts_are_told() {
    let dir = Dir::new();
    // A repeat with two copies makes up two fifths of the genome.
    let mut repeats = Random(7).bases(160_000);
    repeats.extend_from_within(..40_000);
    dir.write("r.fa", reads(&[repeats], 40, 11));
    dir.run("count -q -k 21 --min-count 1 -o t.mgk r.fa").ok();
    let ran = dir.run("kmers histogram --model t.mgk");
    let (told, text) = (ran.stderr.clone(), ran.ok());
    let found = values(&text);
    close(&found, "genome_size", 200_000.0, 0.03);
    assert!(found["heterozygosity"] < 0.001, "{found:?}");
    assert!(
        told.starts_with("warning: t.mgk: a genome of ") && told.lines().count() == 1,
        "{told}"
    );
    assert!(told.contains("explains this histogram as well"), "{told}");
    // By default, `count` omits k-mers that occur once.
    dir.run("count -q -k 21 -o cut.mgk r.fa").ok();
    let ran = dir.run("kmers histogram --model cut.mgk");
    assert!(ran.stderr.contains("the error rate is unknown"), "{}", ran.stderr);
    let text = ran.ok();
    assert!(text.contains("\nerror_rate\tNA\n") && text.contains("\nerror_kmers\tNA\n"), "{text}");
    close(&values(&text), "genome_size", 200_000.0, 0.03);
    // Three equal haplotypes, and one that differs at one base in 100.
    let one = Random(8).bases(60_000);
    let mut other = one.clone();
    other.iter_mut().step_by(100).for_each(|base| *base = complement(&[*base])[0]);
    dir.write("r.fa", reads(&[one.clone(), one.clone(), one, other], 15, 12));
    dir.run("count -q -k 21 --min-count 1 -o t.mgk r.fa").ok();
    let ran = dir.run("kmers histogram --model t.mgk");
    assert!(ran.stderr.contains("a genome of higher ploidy"), "{}", ran.stderr);
    ran.ok();
}

/// The model finds the size of a tetraploid genome in which one haplotype differs from the others at one base in
/// 100, and two differ from the other two at one base in 250.
#[test]
fn a_tetraploid_of_known_size() {
    let dir = Dir::new();
    let one = genome(80_000, 21);
    let changed = |from: &[u8], start: usize, step: usize| {
        let mut other = from.to_vec();
        let places = other.iter_mut().skip(start).step_by(step);
        places.for_each(|base| *base = complement(&[*base])[0]);
        other
    };
    let two = changed(&one, 60, 250);
    let haplotypes = [changed(&one, 0, 100), one, two.clone(), two];
    dir.write("r.fa", reads(&haplotypes, 30, 22));
    dir.run("count -q -k 21 --min-count 1 -o t.mgk r.fa").ok();
    let text = dir.run("kmers histogram --model --ploidy 4 t.mgk").ok();
    let found = values(&text);
    close(&found, "genome_size", 80_000.0, 0.03);
    close(&found, "kmer_coverage", 30.0 * 0.8 * 0.996f64.powi(21), 0.03);
    close(&found, "error_rate", 0.004, 0.1);
    assert!(found["aaab"] > 0.005 && found["aabb"] > 0.001, "{found:?}");
    let peaks = text.lines().find(|line| line.starts_with("peaks\t")).unwrap();
    assert_eq!(peaks.split(',').count(), 4);
    // The start value may be given; another topology is another model.
    let begun =
        dir.run("kmers histogram --model --ploidy 4 --lambda 20 --max-count 300 t.mgk").ok();
    close(&values(&begun), "genome_size", 80_000.0, 0.03);
    let chain = dir.run("kmers histogram --model --ploidy 4 --topology 1 t.mgk").ok();
    assert!(chain.contains("\naaab\t") && !chain.contains("\naabb\t"), "{chain}");
}

#[test]
fn a_haploid_of_known_size() {
    let Some(path) = shared("genomes/Blochmannia_vafer_BVAF.fna.gz") else { return };
    let dir = Dir::new();
    let text = merganser_test_support::gunzip(&path);
    let lines = text.split(|&byte| byte == b'\n').filter(|line| !line.starts_with(b">"));
    let genome: Vec<u8> = lines.flatten().copied().collect();
    dir.write("r.fa", reads(std::slice::from_ref(&genome), 40, 3));
    dir.run("count -q -k 25 --min-count 1 --format kmc -o t r.fa").ok();
    let text = dir.run("kmers histogram --model --ploidy 1 t").ok();
    let found = values(&text);
    close(&found, "genome_size", genome.len() as f64, 0.02);
    close(&found, "kmer_coverage", 40.0 * 0.76 * 0.996f64.powi(25), 0.02);
    close(&found, "error_rate", 0.004, 0.1);
    assert!(!found.contains_key("heterozygosity"));
}

#[test]
fn what_has_no_peak_has_no_model() {
    let dir = Dir::new();
    dir.write("h", "1\t1000\n2\t100\n3\t10\n");
    dir.write("bad", "1\t1000\n2\tmany\n");
    dir.write("empty.fa", "");
    dir.run("count -q -k 21 -o e.mgk empty.fa").ok();
    let mut text = String::new();
    for args in ["--strict -k 21 h", "-k 21 bad", "e.mgk", "-k 20 e.mgk", "gone"] {
        text += &dir.run(&format!("kmers histogram -q --model {args}")).fails(1);
    }
    for args in ["--ploidy 2 --topology 1", "--ploidy 4 --topology 3", "--lambda 0"] {
        text += &dir.run(&format!("kmers histogram -q --model -k 21 {args} h")).fails(1);
    }
    insta::assert_snapshot!("no_model", text);
    // The histogram and its plot are still written.
    let ran = dir.run("kmers histogram --model --plot p.svg -k 21 h");
    assert!(ran.stderr.starts_with("warning: h: no peak behind the errors"), "{}", ran.stderr);
    assert_eq!(ran.ok(), "1\t1000\n2\t100\n3\t10\n");
    assert!(dir.read("p.svg").starts_with(b"<svg"));
}

/// Returns the width of a PNG and the red, green and blue of its pixels.
fn pixels(png: &[u8]) -> (usize, Vec<[u8; 3]>) {
    let mut reader = png::Decoder::new(png).read_info().unwrap();
    let mut bytes = vec![0; reader.output_buffer_size()];
    let info = reader.next_frame(&mut bytes).unwrap();
    assert_eq!((info.color_type, info.bit_depth), (png::ColorType::Rgba, png::BitDepth::Eight));
    let pixels = bytes[..info.buffer_size()].chunks(4);
    (info.width as usize, pixels.map(|pixel| [pixel[0], pixel[1], pixel[2]]).collect())
}
