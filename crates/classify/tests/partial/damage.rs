//! Damaged files of partial results are rejected.

use std::fs;
use std::path::Path;

use merganser_classify::Preset;
use merganser_kraken2::Kraken2Config;

use crate::jobs::write;
use crate::{joined, kraken2, own, refused};
use merganser_test_random::Random;

/// Writes a file of each kind with few reads, and one of each kind without reads.
fn files(folder: &Path) -> Vec<std::path::PathBuf> {
    let params = Preset::MetaCache.params();
    let mgdb = own::database(folder, params, 1);
    let config = crate::own::counting(true);
    let k2 = kraken2::database();
    let with_minimizers = Kraken2Config {
        report_minimizer_data: true,
        database_report: true,
        ..Kraken2Config::default()
    };
    let mut all = Vec::new();
    for number in [0, 12] {
        let path = folder.join(format!("own{number}.partial"));
        let reads = own::reads(number, &mut Random(1));
        let segment = write(&reads, 0, false, &folder.join("own"));
        own::run(&mgdb, &config, 1, &[segment], &path);
        all.push(path);
        let path = folder.join(format!("kraken{number}.partial"));
        // Enough reads for some sketches to use registers.
        let reads = kraken2::reads(40 * number, &mut Random(1));
        let segment = write(&reads, 0, false, &folder.join("kraken"));
        kraken2::run(&k2, &with_minimizers, 1, &[segment], &path);
        all.push(path);
    }
    all
}

#[test]
fn no_byte_can_change() {
    let folder = tempfile::tempdir().unwrap();
    let bad = folder.path().join("bad.partial");
    let say = |bytes: &[u8], what: &str| {
        fs::write(&bad, bytes).unwrap();
        let message = refused(std::slice::from_ref(&bad));
        let begin = format!("{}: ", bad.display());
        assert!(message.starts_with(&begin), "{what}: {message}");
    };
    for file in files(folder.path()) {
        let sound = fs::read(&file).unwrap();
        joined(&[file]);
        let mut random = Random(6);
        for at in 0..sound.len() {
            let mut bytes = sound.clone();
            bytes[at] ^= 1 << random.below(8);
            say(&bytes, &format!("byte {at}"));
        }
        for length in 0..sound.len() {
            // All lengths near both ends, and some in between.
            if length < 200 || length + 200 > sound.len() || random.below(20) == 0 {
                say(&sound[..length], &format!("length {length}"));
            }
        }
        say(&[&sound[..], b"x"].concat(), "one byte more");
        say(&[&sound[..], &sound[..]].concat(), "twice");
    }
}

#[test]
fn newer_files_are_not_read() {
    let folder = tempfile::tempdir().unwrap();
    let file = files(folder.path()).remove(0);
    let mut bytes = fs::read(&file).unwrap();
    bytes[8] = 7;
    fs::write(&file, &bytes).unwrap();
    let message = refused(std::slice::from_ref(&file));
    assert!(
        message.contains("its version is unknown, or it was changed or cut short"),
        "{message}"
    );
    let (text, sum) = bytes.split_last_chunk_mut::<4>().unwrap();
    *sum = crc32fast::hash(text).to_le_bytes();
    fs::write(&file, bytes).unwrap();
    let message = refused(&[file]);
    assert!(
        message.contains("partial results of format 7, not this program's 1 to 6: "),
        "{message}"
    );
}

/// With a corrected checksum, changed files are either rejected or joined without a panic.
#[test]
fn forged_files_are_no_harm() {
    let folder = tempfile::tempdir().unwrap();
    let forged = folder.path().join("forged.partial");
    let mut taken = 0;
    for file in files(folder.path()) {
        let sound = fs::read(&file).unwrap();
        let mut random = Random(8);
        for _ in 0..1000 {
            let mut bytes = sound.clone();
            for _ in 0..1 + random.below(3) {
                // Half of the changes are near the end, after the taxonomy.
                let span = [sound.len(), sound.len() / 4][random.below(2)];
                let at = sound.len() - 1 - random.below(span);
                bytes[at] = [random.below(256) as u8, 0, 1, 127, 128, 255][random.below(6)];
            }
            let end = bytes.len() - 4;
            let checksum = crc32fast::hash(&bytes[..end]).to_le_bytes();
            bytes[end..].copy_from_slice(&checksum);
            fs::write(&forged, bytes).unwrap();
            for paths in [vec![forged.clone()], vec![file.clone(), forged.clone()]] {
                match merganser_classify::partial::join(&paths, &Default::default()) {
                    Ok(joined) => {
                        crate::reports(&joined);
                        taken += 1;
                    }
                    Err(error) => assert!(!error.to_string().contains('\n'), "{error}"),
                }
            }
        }
    }
    assert!(taken > 300, "{taken}");
}
