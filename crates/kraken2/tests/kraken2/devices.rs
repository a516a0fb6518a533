//! Compares a device, real or emulated, with the CPU backend. Without a device the tests are skipped with a
//! message; `MERGANSER_REQUIRE_GPU=1` makes that a failure.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use merganser_io::Input;
use merganser_kraken2::Error;
use merganser_kraken2::{Kraken2BuildConfig, Kraken2Config, Kraken2Database, Kraken2Sequence};
use merganser_run::{Context, DeviceChoice};
use merganser_taxreport::output::OutputPaths;

use crate::run::{self, Job};
use crate::{build, library};
use merganser_test_random::Random;

/// Locks the device, so that only one test uses it at a time; `None` if there is no device.
fn device() -> Option<MutexGuard<'static, ()>> {
    static DEVICE: Mutex<()> = Mutex::new(());
    if merganser_gpu::availability().usable().next().is_none() {
        assert!(std::env::var_os("MERGANSER_REQUIRE_GPU").is_none(), "no GPU");
        eprintln!("skipped: no GPU here");
        return None;
    }
    Some(DEVICE.lock().unwrap_or_else(PoisonError::into_inner))
}

/// Creates the database of a library, and reads.
fn database(folder: &Path, config: &Kraken2BuildConfig, seed: u64) -> (tempfile::TempDir, PathBuf) {
    let reads = library(folder, &mut Random(seed));
    let map = folder.join("seqid2taxid.map");
    let inputs = [folder.join("library/added/all.fna")];
    let taxonomy = folder.join("taxonomy");
    let context = Context::new().threads(1);
    let (built, _) = build::build(config, &inputs, (&map, &taxonomy), &context).unwrap();
    (built, reads)
}

/// Checks that devices give the results of the CPU; returns the number of classified reads.
#[track_caller]
fn compare(job: &Job, what: &str) -> usize {
    let here = run::run(job).unwrap();
    for (device, threads) in [(vec![0], 1), (vec![0, 0], 3)] {
        let device = DeviceChoice::Cuda(device);
        let there = run::run(&Job { device, threads, ..job.clone() }).unwrap();
        assert!(there == here, "{what}: {}", run::text(&there.lines));
    }
    run::text(&here.lines).lines().filter(|line| line.starts_with('C')).count()
}

#[test]
fn reads_get_the_same_lines_and_reports() {
    let Some(_device) = device() else { return };
    let new = Kraken2BuildConfig::default;
    let with = |k, minimizer_len, minimizer_spaces| Kraken2BuildConfig {
        k,
        minimizer_len,
        minimizer_spaces,
        ..new()
    };
    let configs = [
        new(),
        with(31, 31, 0),
        with(45, 21, 3),
        with(20, 9, 2),
        // A k-mer has more l-mers than the kernel keeps.
        with(60, 20, 0),
        Kraken2BuildConfig { max_db_size: Some(20_000), ..new() },
    ];
    for (number, config) in configs.iter().enumerate() {
        let folder = tempfile::tempdir().unwrap();
        let (built, reads) = database(folder.path(), config, number as u64);
        let mates = folder.path().join("mates.fq");
        std::fs::copy(&reads, &mates).unwrap();
        for paired in [false, true] {
            let both = [reads.clone(), mates.clone()];
            let inputs = both[..1 + usize::from(paired)].to_vec();
            let mut job = Job::new(built.path(), inputs);
            (job.paired, job.report.minimizers) = (paired, paired);
            job.batch_records = 150;
            assert!(compare(&job, &format!("{config:?}")) > 100, "{config:?}: nothing to compare");
            job.rules = Kraken2Config { quick: true, min_qual: 40, ..job.rules };
            compare(&job, &format!("{config:?}, quick"));
            (job.report.minimizers, job.rules.confidence) = (!paired, 0.3);
            (job.rules.quick, job.rules.min_qual) = (false, 30);
            compare(&job, &format!("{config:?}, confidence"));
        }
    }
}

#[test]
fn records_that_no_device_has_room_for_do_not_hold_up_others() {
    let Some(_device) = device() else { return };
    let folder = tempfile::tempdir().unwrap();
    let (built, reads) = database(folder.path(), &Kraken2BuildConfig::default(), 10);
    let mut text = std::fs::read(&reads).unwrap();
    // The first record is longer than a batch; the others are so long that each has a batch of its own.
    let random = &mut Random(11);
    for (number, length) in [5 << 20, 3 << 20, 4 << 20, 100].into_iter().enumerate() {
        let letters = random.bases(length);
        text.extend(format!("@long{number}\n").bytes());
        text.extend_from_slice(&letters);
        text.extend_from_slice(b"\n+\n");
        text.resize(text.len() + letters.len(), b'I');
        text.push(b'\n');
        text.extend(std::fs::read(&reads).unwrap());
    }
    std::fs::write(&reads, text).unwrap();
    let mut job = Job::new(built.path(), vec![reads]);
    job.batch_records = 40;
    compare(&job, "long records");
}

/// Overwrites bytes of a database's file.
fn change(folder: &Path, name: &str, at: usize, bytes: &[u8]) {
    let path = folder.join(name);
    let mut text = std::fs::read(&path).unwrap();
    text[at..at + bytes.len()].copy_from_slice(bytes);
    std::fs::write(path, text).unwrap();
}

#[test]
fn old_complements_other_masks_and_wide_cells_are_read() {
    let Some(_device) = device() else { return };
    let folder = tempfile::tempdir().unwrap();
    let (built, reads) = database(folder.path(), &Kraken2BuildConfig::default(), 7);
    let job = Job::new(built.path(), vec![reads]);
    change(built.path(), "opts.k2d", 24, &0x0123_4567_89ab_cdefu64.to_le_bytes());
    compare(&job, "toggle mask");
    change(built.path(), "opts.k2d", 48, &[0; 4]);
    compare(&job, "old complement");

    // Cells of 40 bits with values of 31 bits: chains are long, and keys are often equal.
    let random = &mut Random(8);
    let cells = 1009u64;
    let mut table = [cells, 0, 9, 31].map(u64::to_le_bytes).concat();
    let mut filled = 0;
    for _ in 0..cells {
        let value = if random.below(10) == 0 { 0 } else { 1 + random.below(6) as u32 };
        filled += u64::from(value != 0);
        table.extend((value | (random.below(2) as u32) << 31).to_le_bytes());
        table.push(random.below(256) as u8);
    }
    table[8..16].copy_from_slice(&filled.to_le_bytes());
    std::fs::write(built.path().join("hash.k2d"), table).unwrap();
    assert!(compare(&job, "wide cells") > 20);
}

/// Creates three databases, each with some sequences of a library, and reads.
fn databases(folder: &Path, seed: u64) -> ([tempfile::TempDir; 3], PathBuf) {
    let reads = library(folder, &mut Random(seed));
    let text = std::fs::read_to_string(folder.join("library/added/all.fna")).unwrap();
    let sequences: Vec<String> = text.split_inclusive('\n').map(str::to_owned).collect();
    let [map, taxonomy] = ["seqid2taxid.map", "taxonomy"].map(|name| folder.join(name));
    // A sequence has two lines.
    let databases = [0..4, 4..8, 8..10].map(|lines| {
        let path = folder.join("some.fna");
        std::fs::write(&path, sequences[lines].concat()).unwrap();
        let (config, context) = (Kraken2BuildConfig::default(), Context::new().threads(1));
        build::build(&config, &[path], (&map, &taxonomy), &context).unwrap().0
    });
    (databases, reads)
}

#[test]
fn several_databases_give_the_results_of_the_cpu() {
    let Some(_device) = device() else { return };
    let folder = tempfile::tempdir().unwrap();
    let ([first, others @ ..], reads) = databases(folder.path(), 13);
    let mut job = Job::new(first.path(), vec![reads]);
    let alone = run::run(&job).unwrap().lines;
    job.beside = others.iter().map(|other| other.path().to_owned()).collect();
    job.batch_records = 150;
    assert!(compare(&job, "several") > 100, "nothing to compare");
    assert_ne!(run::run(&job).unwrap().lines, alone);
    job.report.minimizers = true;
    compare(&job, "minimizers of several");
    job.rules = Kraken2Config { confidence: 0.2, min_qual: 40, ..job.rules };
    compare(&job, "confidence with several");

    // Reads by database are in the partial results.
    let without = run::run(&job).unwrap().partial;
    job.rules.database_report = true;
    assert_ne!(run::run(&job).unwrap().partial, without);
    compare(&job, "reads by database");
    job.report.minimizers = false;
    compare(&job, "reads by database, of joined minimizers");
    job.rules.quick = true;
    compare(&job, "reads by database, quick");
    (job.rules.database_report, job.rules.quick) = (false, false);

    set_unknown_nodes(others[0].path());
    let errors = [DeviceChoice::Cuda(vec![0]), DeviceChoice::Cpu].map(|device| {
        run::run(&Job { device, ..job.clone() }).err().map(|error| error.to_string())
    });
    assert!(errors[0].is_some() && errors[0] == errors[1], "{errors:?}");
    job.beside = vec![job.database.clone(); 16];
    job.device = DeviceChoice::Cuda(vec![0]);
    let error = run::run(&job).err().map(|error| error.to_string()).unwrap();
    assert!(error.contains("more than 16 databases"), "{error}");
}

/// Sets all values of a database's table to a number that is not a node.
fn set_unknown_nodes(folder: &Path) {
    let path = folder.join("hash.k2d");
    let mut text = std::fs::read(&path).unwrap();
    // Values with one bit more than the nodes need.
    let value_bits = text[24] + 1;
    (text[16], text[24]) = (32 - value_bits, value_bits);
    for cell in text[32..].chunks_exact_mut(4) {
        let value = u32::from_le_bytes(cell.try_into().unwrap()) | ((1 << value_bits) - 1);
        cell.copy_from_slice(&value.to_le_bytes());
    }
    std::fs::write(&path, text).unwrap();
}

#[test]
fn a_damaged_table_and_a_small_device_are_errors() {
    let Some(_device) = device() else { return };
    let folder = tempfile::tempdir().unwrap();
    let (built, reads) = database(folder.path(), &Kraken2BuildConfig::default(), 9);
    let device = DeviceChoice::Cuda(vec![0]);
    let job = Job { device, ..Job::new(built.path(), vec![reads]) };
    let small = Job { gpu_memory: Some(1 << 20), ..job.clone() };
    let error = run::run(&small).unwrap_err();
    assert!(matches!(error, Error::GpuMemory(_)), "{error}");
    assert!(error.to_string().contains("the table of the database"), "{error}");

    set_unknown_nodes(built.path());
    assert!(Kraken2Database::open(built.path()).is_ok());
    let [there, here] = [job.device.clone(), DeviceChoice::Cpu]
        .map(|device| run::run(&Job { device, ..job.clone() }).unwrap_err().to_string());
    assert_eq!(there, here);
}

#[test]
fn the_table_is_copied_once_and_a_table_cut_meanwhile_is_an_error() {
    let Some(_device) = device() else { return };
    let folder = tempfile::tempdir().unwrap();
    let (built, reads) = database(folder.path(), &Kraken2BuildConfig::default(), 9);
    let table = Kraken2Database::open(built.path()).unwrap();
    let context = Context::new().threads(3).device(DeviceChoice::Cuda(vec![0, 0]));
    let run = |table: &Kraken2Database| {
        let (config, input) = (Kraken2Config::default(), Input::File(reads.clone()));
        merganser_kraken2::run(&config, table, [input], &OutputPaths::new(), &context)
    };
    let [first, second] = [(); 2].map(|()| run(&table).unwrap());
    // Cells of both devices, in whole words; the header is not copied.
    let expected = 2 * (table.table_bytes() - 32).next_multiple_of(8);
    assert_eq!([first.uploaded.bytes, second.uploaded.bytes], [expected, 0]);
    assert!(first.classified > 0 && first.classified == second.classified);

    let table = Kraken2Database::open(built.path()).unwrap();
    let file = std::fs::File::options().write(true).open(built.path().join("hash.k2d")).unwrap();
    file.set_len(table.table_bytes() / 2).unwrap();
    let error = run(&table).unwrap_err().to_string();
    assert!(error.contains("hash.k2d: ") && !error.contains('\n'), "{error}");
    assert!(error.ends_with("run again with an unchanging file"), "{error}");
}

#[test]
fn distributions_are_those_of_the_cpu() {
    let Some(_device) = device() else { return };
    let folder = tempfile::tempdir().unwrap();
    let (built, _) = database(folder.path(), &Kraken2BuildConfig::default(), 11);
    // Sequences of many pieces, made of the library's letters with changes, and short ones.
    let random = &mut Random(12);
    let library = std::fs::read_to_string(folder.path().join("library/added/all.fna")).unwrap();
    let letters: Vec<u8> =
        library.lines().filter(|line| !line.starts_with('>')).collect::<String>().into();
    let mut text = String::new();
    for (number, length) in [(0, 40_000), (1, 4_130), (2, 34), (3, 35), (4, 4_096)] {
        let mut sequence = Vec::new();
        while sequence.len() < length {
            let start = random.below(letters.len() - 600);
            sequence.extend(random.mutated(&letters[start..start + 600], 200));
        }
        sequence.truncate(length);
        text += &format!(">s{number}\n{}\n", String::from_utf8(sequence).unwrap());
    }
    let path = folder.path().join("long.fna");
    std::fs::write(&path, text).unwrap();
    let database = Kraken2Database::open(built.path()).unwrap();
    let inputs = [Input::File(path)];
    let taxids = |sequences: &[Kraken2Sequence]| Ok(vec![Some(11); sequences.len()]);
    let distribution = |device: DeviceChoice, threads, length| {
        let context = Context::new().threads(threads).device(device);
        let made = merganser_kraken2::distribution(&database, (&inputs, &taxids), length, &context);
        made.unwrap().text()
    };
    for length in [35, 150, 4_100] {
        let here = distribution(DeviceChoice::Cpu, 1, length);
        assert!(here.lines().count() > 2, "{here}");
        for (device, threads) in [(vec![0], 1), (vec![0, 0], 3)] {
            assert_eq!(distribution(DeviceChoice::Cuda(device), threads, length), here, "{length}");
        }
    }
}
