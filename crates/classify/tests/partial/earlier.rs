//! Files of earlier versions, which have no bases, are joined as before.

use std::fs;
use std::path::{Path, PathBuf};

use merganser_classify::Preset;
use merganser_classify::partial::join;
use merganser_io::ReadInput;
use merganser_kraken2::Kraken2Config;
use merganser_run::Cancel;
use merganser_taxreport::partial::{Ascending, Decoder, Encoder, Fields, Origin};

use crate::jobs::write;
use crate::{joined, kraken2, own, written};
use merganser_test_random::Random;

fn put_fields(encoder: &mut Encoder<'_>, fields: &Fields) {
    encoder.number(fields.len() as u64).unwrap();
    for (name, value) in fields {
        encoder.text(name.as_bytes()).unwrap();
        encoder.text(value.as_bytes()).unwrap();
    }
}

fn number(decoder: &mut Decoder) -> u64 {
    decoder.number().unwrap()
}

fn pairs(decoder: &mut Decoder) -> Vec<(u32, u64)> {
    let mut pairs = Vec::new();
    decoder
        .each_pair(1 << 20, |key, value| {
            pairs.push((key, value));
            Ok(())
        })
        .unwrap();
    pairs
}

/// Copies the counts of a Kraken 2 database, without minimizers.
fn copy_kraken2(decoder: &mut Decoder, encoder: &mut Encoder<'_>) {
    encoder.number(number(decoder)).unwrap();
    number(decoder);
    let (mut from, mut to) = (Ascending::default(), Ascending::default());
    while let Some(node) = decoder.next_of(&mut from, 1 << 20).unwrap() {
        encoder.number(to.step_to(node)).unwrap();
        let [reads, _bases, minimizers] = [(); 3].map(|()| number(decoder));
        encoder.number(reads).unwrap();
        encoder.number(minimizers).unwrap();
    }
    encoder.end_list().unwrap();
    encoder.number(number(decoder)).unwrap();
}

/// Copies the counts of a database of merganser, without features.
fn copy_own(decoder: &mut Decoder, encoder: &mut Encoder<'_>) {
    encoder.number(number(decoder)).unwrap();
    for _ in 0..2 {
        encoder.pairs(pairs(decoder).into_iter()).unwrap();
    }
    let (mut from, mut to) = (Ascending::default(), Ascending::default());
    while let Some(target) = decoder.next_of(&mut from, 1 << 20).unwrap() {
        encoder.number(to.step_to(target)).unwrap();
        encoder.number(number(decoder)).unwrap();
        encoder.number(number(decoder)).unwrap();
        encoder.text(decoder.text().unwrap().as_bytes()).unwrap();
    }
    encoder.end_list().unwrap();
    number(decoder);
    for _ in 0..3 {
        pairs(decoder);
    }
    encoder.number(number(decoder)).unwrap();
}

/// Writes a file as an earlier version wrote it: format 1, without bases.
fn made_earlier(path: &Path) -> PathBuf {
    let mut decoder = Decoder::open(path).unwrap();
    let origin = Origin::read(&mut decoder).unwrap();
    let mut bytes = Vec::new();
    let mut encoder = Encoder::new(&mut bytes);
    encoder.bytes(&fs::read(path).unwrap()[..8]).unwrap();
    encoder.bytes(&1u32.to_le_bytes()).unwrap();
    encoder.number(origin.is_kraken2.into()).unwrap();
    put_fields(&mut encoder, &origin.database);
    put_fields(&mut encoder, &origin.parameters);
    encoder.bytes(&origin.reads.to_le_bytes()).unwrap();
    let (length, mut taxonomy) = (number(&mut decoder), Vec::new());
    decoder.each_block(length, |block| taxonomy.extend_from_slice(block)).unwrap();
    encoder.text(&taxonomy).unwrap();
    match origin.is_kraken2 {
        true => copy_kraken2(&mut decoder, &mut encoder),
        false => copy_own(&mut decoder, &mut encoder),
    }
    decoder.finish().unwrap();
    encoder.finish().unwrap();
    let earlier = path.with_extension("1.partial");
    fs::write(&earlier, bytes).unwrap();
    earlier
}

/// Asserts that earlier files have the same reports of reads, alone and with a new file, and no bases.
fn have_no_bases(files: &[PathBuf; 2]) {
    let earlier = files.each_ref().map(|path| made_earlier(path));
    let report = |paths: &[PathBuf]| written(|text| joined(paths).write_report(true, text));
    let expected = report(files);
    let mixed = [files[0].clone(), earlier[1].clone()];
    assert!(report(&earlier) == expected && report(&mixed) == expected);
    joined(files).in_bases().unwrap();
    for paths in [&earlier, &mixed] {
        let message = join(paths, &Cancel::default()).unwrap().in_bases().unwrap_err().to_string();
        assert!(
            message.contains(".1.partial: has no bases, because an earlier version"),
            "{message}"
        );
    }
}

#[test]
fn earlier_files_have_no_bases() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let mut random = Random(31);
    let database = own::database(folder, Preset::MetaCache.params(), 1);
    let segment = |name: &str, reads: &crate::jobs::Reads| -> ReadInput {
        write(reads, 0, false, &folder.join(name))
    };
    let files = ["a", "b"].map(|name| {
        let path = folder.join(format!("{name}.partial"));
        let reads = own::reads(60, &mut random);
        own::run(&database, &own::counting(false), 1, &[segment(name, &reads)], &path);
        path
    });
    have_no_bases(&files);
    let files = ["c", "d"].map(|name| {
        let path = folder.join(format!("{name}.partial"));
        let reads = kraken2::reads(60, &mut random);
        let config = Kraken2Config::default();
        kraken2::run(&kraken2::database(), &config, 1, &[segment(name, &reads)], &path);
        path
    });
    have_no_bases(&files);
}
