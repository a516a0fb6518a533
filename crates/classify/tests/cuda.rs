//! Compares a device, real or emulated, with the CPU backend. Without a device, the tests are skipped with a note;
//! `MERGANSER_REQUIRE_GPU=1` makes that a failure.
#![allow(clippy::unwrap_used, clippy::print_stderr, reason = "a test ends by panicking")]
#![cfg(feature = "cuda")]

mod comparable;

use std::fs;
use std::io::Read;
use std::path::Path;

use merganser_classify::{
    BuildConfig, Candidate, Database, Outputs, Params, PartConfig, Preset, Query, QueryParams,
    RunConfig, SketchConfig, run_with,
};
use merganser_io::{AtomicFile, Input, ReadInput};
use merganser_kraken2::Kraken2Config;
use merganser_library::expand_references;
use merganser_run::{Context, DeviceChoice};
use merganser_seq::masking::Masking;
use merganser_taxonomy::Rank;
use merganser_taxreport::by_database::DatabaseReads;
use merganser_taxreport::report::Tally;

use comparable::comparable;
use merganser_test_random::Random;

fn usable() -> bool {
    let usable = merganser_gpu::availability().usable().next().is_some();
    if !usable {
        assert!(std::env::var_os("MERGANSER_REQUIRE_GPU").is_none(), "no GPU");
        eprintln!("skipped: no GPU here");
    }
    usable
}

/// Writes a taxonomy and strains of a few species with a repeat in each; returns the strains.
fn references(folder: &Path, random: &mut Random) -> Vec<Vec<u8>> {
    let nodes = "1\t|\t1\t|\tno rank\t|\n2\t|\t1\t|\tdomain\t|\n10\t|\t2\t|\tgenus\t|\n\
        11\t|\t10\t|\tspecies\t|\n12\t|\t10\t|\tspecies\t|\n13\t|\t10\t|\tspecies\t|\n";
    let strain = |number: u64| format!("{}\t|\t{}\t|\tstrain\t|\n", 20 + number, 11 + number % 3);
    let nodes = nodes.to_owned() + &(0..9).map(strain).collect::<String>();
    fs::write(folder.join("nodes.dmp"), nodes).unwrap();
    fs::write(folder.join("names.dmp"), "1\t|\troot\t|\t\t|\tscientific name\t|\n").unwrap();
    let ancestor = random.bases(2500);
    let repeat = random.bases(60);
    let mut text = Vec::new();
    let mut targets = Vec::new();
    for number in 0..9 {
        let mut letters = random.mutated(&ancestor, 15 + 10 * number);
        letters.truncate(500 + random.below(2000));
        letters.extend(repeat.repeat(random.below(20)));
        text.extend(format!(">t{number}|kraken:taxid|{}\n", 20 + number).bytes());
        text.extend(&letters);
        text.push(b'\n');
        targets.push(letters);
    }
    // A sequence without windows.
    text.extend(b">none|kraken:taxid|11\nACG\n");
    fs::write(folder.join("refs.fa"), text).unwrap();
    targets
}

/// Builds a database on a device, and asserts that the host builds the same.
fn build(params: Params, parts: usize, folder: &Path) -> Database {
    let inputs = expand_references(&[folder.join("refs.fa")]).unwrap();
    let on = |context: Context, name: &str| {
        let (config, context) = (
            BuildConfig {
                parts: PartConfig { parts, max_part_size: None },
                ..BuildConfig::new(params)
            },
            context.memory(1 << 30),
        );
        let path = folder.join(name);
        let file = AtomicFile::create(&path).unwrap();
        let inputs = &inputs[..];
        let built = merganser_classify::build_with(&config, inputs, folder, file, &context);
        (built.unwrap().0, fs::read(path).unwrap())
    };
    let (_, expected) = on(gpus(&[], None), "host.mgdb");
    let (database, found) = on(gpus(&[0, 0], Some(200 << 20)), "device.mgdb");
    assert!(found == expected, "{params:?}");
    database
}

/// Parameters with 16 features per base.
const MANY: Params = Params {
    preset: Preset::MetaCache,
    k: 16,
    sketch: 64,
    window: 143,
    stride: 4,
    density: 256,
    max_locations: 254,
    masking: Masking::None,
};

/// Tables for which a device has no room are made in several runs or on the host, with the same pruning.
#[test]
fn little_memory_gives_the_same_database() {
    if !usable() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    references(folder.path(), &mut Random(5));
    let inputs = expand_references(&[folder.path().join("refs.fa")]).unwrap();
    let metacache = Params { max_locations: 5, ..Preset::MetaCache.params() };
    let sensitive = Preset::Sensitive.params();
    // A batch takes 9.18, 8.59 and 12.69 MB.
    let table = [
        (metacache, false, None, 9_190_000, Some(0)),
        (MANY, true, None, 11_600_000, None),
        (metacache, true, None, 200 << 20, Some(1)),
        (metacache, false, Some(Rank::Species), 200 << 20, Some(0)),
        (sensitive, false, None, 12_700_000, Some(0)),
    ];
    for (params, drop_overfull, drop_ambiguous, memory, runs) in table {
        let memory = gpus(&[0], Some(memory));
        let config = BuildConfig {
            sketches: SketchConfig { drop_overfull, drop_ambiguous, ..params.into() },
            parts: PartConfig { parts: 2, max_part_size: None },
            ..BuildConfig::default()
        };
        let on = |context: &Context, name: &str| {
            let path = folder.path().join(name);
            let (inputs, taxonomy) = (&inputs[..], folder.path());
            let file = AtomicFile::create(&path).unwrap();
            let built = merganser_classify::build_with(&config, inputs, taxonomy, file, context);
            (fs::read(path).unwrap(), built.unwrap().1)
        };
        let (expected, _) = on(&gpus(&[], None), "host.mgdb");
        let (found, notes) = on(&memory, "device.mgdb");
        assert!(found == expected, "{config:?} {memory:?}");
        match runs {
            Some(runs) => assert_eq!(notes.device_runs, runs, "{memory:?}"),
            None => assert!(notes.device_runs > 1, "{memory:?} {notes:?}"),
        }
    }
}

/// Sequences without a taxon, placed between others, are left out as on the host. Those in databases of earlier
/// versions are never candidates.
#[test]
fn sequences_without_a_taxon_are_left_out_and_ignored() {
    if !usable() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let mut random = Random(7);
    references(folder.path(), &mut random);
    let known = fs::read_to_string(folder.path().join("refs.fa")).unwrap();
    let mut mixed = String::new();
    for (number, record) in known.split_inclusive('\n').collect::<Vec<_>>().chunks(2).enumerate() {
        let unknown = number % 3 != 1;
        mixed += &record.concat();
        let letters =
            String::from_utf8(random.mutated(record[1].trim_end().as_bytes(), 30)).unwrap();
        mixed += &if unknown { format!(">lost{number}\n{letters}\n") } else { String::new() };
    }
    fs::write(folder.path().join("refs.fa"), mixed).unwrap();
    for (params, parts) in
        [(Preset::MetaCache.params(), 1), (Preset::Sensitive.params(), 2), (MANY, 3)]
    {
        let database = build(params, parts, folder.path());
        assert_eq!((database.targets().len(), database.left_out()), (10, 7));
    }
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/data/unmapped");
    let unpacked = |name: &str| {
        let mut bytes = Vec::new();
        merganser_io::open_text(&data.join(name)).unwrap().read_to_end(&mut bytes).unwrap();
        bytes
    };
    let text = String::from_utf8(unpacked("reads.fa.gz")).unwrap();
    let reads: Vec<[Vec<u8>; 2]> =
        text.lines().skip(1).step_by(2).map(|read| [read.into(), Vec::new()]).collect();
    let long = [reads.iter().flat_map(|read| read[0].repeat(20)).collect(), Vec::new()];
    let reads = [reads, vec![long]].concat();
    for (preset, lowest, near) in
        [("metacache", Rank::Sequence, 0), ("sensitive", Rank::Species, 8)]
    {
        let path = folder.path().join("old.mgdb");
        fs::write(&path, unpacked(&format!("{preset}.mgdb.gz"))).unwrap();
        let database = Database::open(&path).unwrap();
        let options = QueryParams { lowest, max_candidates: 2, insert: 0, near };
        let expected = find(&Query::new(&database, options), &reads);
        let root = database.taxonomy().root();
        let node = |one: &Candidate| database.targets()[one.target as usize].node;
        assert!(!expected.0.is_empty() && expected.0.iter().all(|one| node(one) != root));
        let query = Query::new(&database, options).on_gpus(&gpus(&[0], None)).unwrap();
        assert_eq!(find(&query, &reads), expected, "{preset}");
    }
}

/// A database that stays on the device where it was built gives the same answers as on the host.
#[test]
fn what_is_built_on_a_device_is_queried_there() {
    if !usable() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let mut random = Random(6);
    let targets = references(folder.path(), &mut random);
    let inputs = expand_references(&[folder.path().join("refs.fa")]).unwrap();
    let reads = reads(&targets, 12, &mut random);
    let options = QueryParams { lowest: Rank::Sequence, max_candidates: 3, insert: 0, near: 0 };
    let metacache = Preset::MetaCache.params();
    for (params, parts, memory) in
        [(metacache, 1, None), (metacache, 3, None), (MANY, 1, Some(11_600_000))]
    {
        let config = BuildConfig {
            parts: PartConfig { parts, max_part_size: None },
            ..BuildConfig::new(params)
        };
        let build = |context: Context| {
            let (inputs, taxonomy) = (&inputs[..], folder.path());
            let built = merganser_classify::build_in_memory(&config, inputs, taxonomy, &context);
            built.unwrap()
        };
        let (expected, _) = build(gpus(&[], None));
        let expected = find(&Query::new(&expected, options), &reads);
        let (database, notes) = build(gpus(&[0], memory));
        assert_eq!(notes.device_runs > 1, memory.is_some());
        for devices in [&[0][..], &[0, 0], &[]] {
            let mut query = Query::new(&database, options);
            if !devices.is_empty() {
                query = query.on_gpus(&gpus(devices, None)).unwrap();
            }
            assert_eq!(find(&query, &reads), expected, "{parts} parts, {devices:?}");
        }
    }
}

/// Returns short reads, pairs, reads without k-mers, empty reads and long reads.
fn reads(targets: &[Vec<u8>], count: usize, random: &mut Random) -> Vec<[Vec<u8>; 2]> {
    let piece = |random: &mut Random, most: usize| {
        let target = &targets[random.below(targets.len())];
        let start = random.below(target.len());
        let end = (start + random.below(most)).min(target.len());
        random.mutated(&target[start..end], 40)
    };
    (0..count)
        .map(|number| match number % 20 {
            0 => [Vec::new(), Vec::new()],
            1 => [piece(random, 12), piece(random, 300)],
            2 => [piece(random, 3000), Vec::new()],
            3 => [targets[..3].concat(), piece(random, 3000)],
            n if n % 2 == 0 => [piece(random, 300), Vec::new()],
            _ => [piece(random, 300), piece(random, 300)],
        })
        .collect()
}

type Found = (Vec<Candidate>, Vec<usize>);

fn find(query: &Query<'_>, reads: &[[Vec<u8>; 2]]) -> Found {
    let views: Vec<[&[u8]; 2]> = reads.iter().map(|[a, b]| [&a[..], &b[..]]).collect();
    let (mut candidates, mut ends) = (Vec::new(), Vec::new());
    query.find(&views, &mut query.scratch(), &mut candidates, &mut ends).unwrap();
    let starts = std::iter::once(0).chain(ends.iter().copied());
    let each = starts.zip(&ends).flat_map(|(start, &end)| comparable(&candidates[start..end]));
    (each.collect(), ends)
}

/// Returns resources with three threads and this memory on each of the devices; only the CPU if the list is empty.
fn gpus(devices: &[u32], memory: Option<u64>) -> Context {
    let device = match devices {
        [] => DeviceChoice::Cpu,
        _ => DeviceChoice::Cuda(devices.to_vec()),
    };
    let mut context = Context::new().threads(3).device(device);
    context.gpu_memory = memory;
    context
}

#[test]
fn every_parameter_gives_the_hosts_candidates() {
    if !usable() {
        return;
    }
    let metacache = Preset::MetaCache.params();
    let sensitive = Preset::Sensitive.params();
    let rare = Params { max_locations: 65_535, ..metacache };
    let table = [
        (metacache, 1, 16),
        (sensitive, 1, 16),
        (Params { max_locations: 3, ..metacache }, 3, 12),
        (Params { k: 32, sketch: 128, window: 1024, stride: 500, ..sensitive }, 1, 12),
        (Params { k: 16, sketch: 128, window: 300, stride: 100, ..metacache }, 2, 8),
        (Params { k: 1, sketch: 2, window: 30, stride: 30, ..metacache }, 1, 8),
        (Params { k: 8, sketch: 1, window: 25, stride: 25, ..rare }, 1, 12),
        (Params { k: 32, sketch: 7, window: 32, stride: 32, density: 230, ..sensitive }, 1, 12),
        (Params { k: 5, sketch: 16, window: 132, stride: 100, density: 200, ..metacache }, 1, 12),
    ];
    for (number, (params, parts, count)) in table.into_iter().enumerate() {
        let folder = tempfile::tempdir().unwrap();
        let mut random = Random(number as u64);
        let targets = references(folder.path(), &mut random);
        let database = build(params, parts, folder.path());
        let reads = reads(&targets, count, &mut random);
        let (lowest, max_candidates, near) =
            [(Rank::Sequence, 2, 0), (Rank::Species, 9, 8)][number % 2];
        let insert = number as u64 * 100;
        let options = QueryParams { lowest, max_candidates, insert, near };
        let expected = find(&Query::new(&database, options), &reads);
        let query = Query::new(&database, options).on_gpus(&gpus(&[0], None)).unwrap();
        assert_eq!(find(&query, &reads), expected, "{params:?}");
        let notes = query.gpu_notes().unwrap();
        assert_eq!((notes.parts_on_host, notes.reads_on_host), (0, 0), "{params:?}");
    }
}

/// Several databases used together have the candidates of one of all genomes on devices, too.
#[test]
fn several_databases_give_the_candidates_of_one() {
    if !usable() {
        return;
    }
    for (number, (params, parts)) in
        [(Preset::MetaCache.params(), 1), (Preset::Sensitive.params(), 2)].into_iter().enumerate()
    {
        let folder = tempfile::tempdir().unwrap();
        let mut random = Random(number as u64 + 40);
        let targets = references(folder.path(), &mut random);
        let reads = reads(&targets, 40, &mut random);
        let whole = build(params, 1, folder.path());
        let text = fs::read_to_string(folder.path().join("refs.fa")).unwrap();
        let records: Vec<String> = text
            .split_inclusive('\n')
            .collect::<Vec<_>>()
            .chunks(2)
            .map(<[&str]>::concat)
            .collect();
        let joint = || {
            let of = |range: std::ops::Range<usize>| {
                fs::write(folder.path().join("refs.fa"), records[range].concat()).unwrap();
                build(params, parts, folder.path())
            };
            Database::joined([of(0..3), of(3..4), of(4..records.len())]).unwrap()
        };
        let joint = joint();
        assert_eq!(joint.targets(), whole.targets());
        for (lowest, max_candidates, near) in [(Rank::Sequence, 2, 0), (Rank::Species, 9, 8)] {
            let options = QueryParams { lowest, max_candidates, insert: 0, near };
            let expected = find(&Query::new(&whole, options), &reads);
            assert_eq!(find(&Query::new(&joint, options), &reads), expected);
            for (devices, memory) in [(&[0][..], None), (&[0, 0], None), (&[0], Some(4 << 20))] {
                let query = Query::new(&joint, options).on_gpus(&gpus(devices, memory)).unwrap();
                assert_eq!(find(&query, &reads), expected, "{params:?} {devices:?} {memory:?}");
            }
        }
        let input = write_pairs(folder.path(), &reads);
        let host = Context::new().device(DeviceChoice::Cpu).memory(1 << 30).threads(2);
        let expected = by_database(&joint, &input, &host);
        assert!(expected.1.sums().values().sum::<u64>() > 10, "{expected:?}");
        for (devices, memory) in [(&[0][..], None), (&[0, 0], None), (&[0], Some(4 << 20))] {
            let found = by_database(&joint, &input, &gpus(devices, memory));
            assert_eq!(found, expected, "{params:?} {devices:?} {memory:?}");
        }
    }
}

/// Writes pairs as two files. Mates without bases become N.
fn write_pairs(folder: &Path, reads: &[[Vec<u8>; 2]]) -> ReadInput {
    let paths = [0, 1].map(|mate| {
        let letters = |read: &[Vec<u8>; 2]| match &read[mate][..] {
            [] => "N".to_owned(),
            letters => String::from_utf8_lossy(letters).into_owned(),
        };
        let records = reads.iter().enumerate();
        let text = records.map(|(number, read)| format!(">r{number}\n{}\n", letters(read)));
        let path = folder.join(format!("{mate}.reads"));
        fs::write(&path, text.collect::<String>()).unwrap();
        Input::File(path)
    });
    let [first, second] = paths;
    ReadInput::Pair(first, second)
}

/// Returns the reads by taxon, and by the databases that support it.
fn by_database(
    database: &Database,
    input: &ReadInput,
    context: &Context,
) -> (Tally, DatabaseReads) {
    let kraken2 = Kraken2Config { database_report: true, ..Kraken2Config::default() };
    let config = RunConfig { kraken2, ..RunConfig::default() };
    let input = std::slice::from_ref(input);
    let outcome = run_with(&config, database, input, &mut Outputs::default(), context).unwrap();
    (outcome.by_genome, outcome.by_database)
}

/// Writes species whose strains recombine: at each position, a strain has one of two alleles, which are nearly the
/// same in all species. Returns the alleles of each species.
fn strains(folder: &Path, [species, each]: [u64; 2], random: &mut Random) -> Vec<[Vec<u8>; 2]> {
    let mut nodes = "1\t|\t1\t|\tno rank\t|\n2\t|\t1\t|\tdomain\t|\n".to_owned();
    let ancestor = random.bases(1500);
    let other = random.mutated(&ancestor, 25);
    let (mut text, mut all) = (Vec::new(), Vec::new());
    for number in 0..species {
        nodes += &format!("{}\t|\t2\t|\tspecies\t|\n", 10 + number);
        let alleles = [&ancestor, &other].map(|allele| random.mutated(allele, 400));
        for _ in 0..each {
            let letters = recombined(&alleles, random);
            text.extend(format!(">t{}|kraken:taxid|{}\n", text.len(), 10 + number).bytes());
            text.extend(&letters);
            text.push(b'\n');
        }
        all.push(alleles);
    }
    fs::write(folder.join("nodes.dmp"), nodes).unwrap();
    fs::write(folder.join("names.dmp"), "1\t|\troot\t|\t\t|\tscientific name\t|\n").unwrap();
    fs::write(folder.join("refs.fa"), text).unwrap();
    all
}

/// Returns a strain of one species.
fn recombined(alleles: &[Vec<u8>; 2], random: &mut Random) -> Vec<u8> {
    let mut letters = Vec::new();
    while letters.len() < alleles[0].len() {
        let end = (letters.len() + 30 + random.below(100)).min(alleles[0].len());
        let allele = &alleles[random.below(2)];
        letters.extend_from_slice(&allele[letters.len()..end]);
    }
    letters
}

/// Returns reads of strains without a reference: short ones, pairs, and some just short enough to be pooled or just
/// too long.
fn reads_of_strains(
    species: &[[Vec<u8>; 2]],
    count: usize,
    random: &mut Random,
) -> Vec<[Vec<u8>; 2]> {
    let mut read = |number| {
        let strain = recombined(&species[random.below(species.len())], random);
        let bases = match number % 10 {
            0 => 300 + random.below(600),
            1 => 1023 + random.below(3),
            _ => 50 + random.below(150),
        };
        let start = random.below(1500 - bases);
        let mut mates = [strain[start..start + bases].to_vec(), Vec::new()];
        if number % 3 == 0 {
            let rest = mates[0].split_off(random.below(bases));
            mates[1] = random.mutated(&rest, 50);
        }
        mates
    };
    (0..count).map(&mut read).collect()
}

/// Devices pool near candidates: as they are found, or when those of all parts are known; for any number of
/// candidates, and any memory for their hits.
#[test]
fn strains_that_recombine_are_pooled_on_devices() {
    if !usable() {
        return;
    }
    let sensitive = Preset::Sensitive.params();
    let metacache = Preset::MetaCache.params();
    let dense = Params { k: 18, sketch: 60, window: 100, stride: 9, ..sensitive };
    let narrow = Params { k: 13, window: 400, stride: 350, sketch: 128, ..sensitive };
    // Parameters, parts, [species, strains of each], candidates, near, reads.
    let table = [
        (sensitive, 1, [6, 4], 8, 8, 120),
        (sensitive, 3, [6, 4], 8, 8, 60),
        (sensitive, 1, [12, 2], 17, 100, 40),
        // More candidates than are pooled.
        (sensitive, 1, [70, 2], 80, 100, 12),
        (sensitive, 2, [70, 2], 80, 100, 12),
        // More hits than fit where they are sorted.
        (sensitive, 1, [4, 30], 3, 30, 20),
        (dense, 1, [4, 3], 3, 20, 12),
        (dense, 4, [4, 3], 4, 20, 12),
        (narrow, 1, [5, 3], 4, 9, 30),
        (metacache, 2, [5, 3], 2, 4, 60),
    ];
    for (number, (params, parts, sizes, max_candidates, near, count)) in
        table.into_iter().enumerate()
    {
        let folder = tempfile::tempdir().unwrap();
        let mut random = Random(100 + number as u64);
        let species = strains(folder.path(), sizes, &mut random);
        let database = build(params, parts, folder.path());
        let reads = reads_of_strains(&species, count, &mut random);
        let options = QueryParams { lowest: Rank::Species, max_candidates, insert: 0, near };
        let expected = find(&Query::new(&database, options), &reads);
        let pooled = expected.0.iter().filter(|one| one.pooled != one.hits).count();
        assert!(pooled > count / 4, "{params:?}: {pooled} candidates are pooled");
        for (devices, memory) in [(&[0][..], None), (&[0, 0], Some(24 << 20))] {
            let context = gpus(devices, memory);
            let query = Query::new(&database, options).on_gpus(&context).unwrap();
            let found = find(&query, &reads);
            assert_eq!(found, expected, "{params:?}, {parts} parts, {devices:?}");
            let notes = query.gpu_notes().unwrap();
            assert_eq!(notes.parts_on_host, 0, "{params:?}");
            assert!(notes.reads_on_host == 0 || memory.is_some(), "{params:?} {notes:?}");
        }
        // Without near candidates, nothing is pooled.
        let options = QueryParams { near: 0, ..options };
        let expected = find(&Query::new(&database, options), &reads);
        assert!(expected.0.iter().all(|one| one.pooled == one.hits));
        let query = Query::new(&database, options).on_gpus(&gpus(&[0], None)).unwrap();
        assert_eq!(find(&query, &reads), expected, "{params:?}");
    }
}

/// Reads and parts for which a device has no room, and several devices.
#[test]
fn what_devices_have_no_room_for_the_host_does() {
    if !usable() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let mut random = Random(77);
    let params = Params { sketch: 64, stride: 60, ..Preset::MetaCache.params() };
    let targets = references(folder.path(), &mut random);
    let database = build(params, 8, folder.path());
    let reads = reads(&targets, 7, &mut random);
    let options = QueryParams { lowest: Rank::Species, max_candidates: 3, insert: 0, near: 8 };
    let expected = find(&Query::new(&database, options), &reads);
    // The same device twice if there is only one.
    let other = u32::from(merganser_gpu::availability().usable().count() > 1);
    let [twice, both, swapped] = [[0, 0], [0, other], [other, 0]];
    for (devices, memory) in
        [(&twice[..], None), (&both, None), (&[0], Some(17 << 18)), (&swapped, Some(17 << 18))]
    {
        let config = gpus(devices, memory);
        let query = Query::new(&database, options).on_gpus(&config).unwrap();
        assert_eq!(find(&query, &reads), expected, "{config:?}");
        let notes = query.gpu_notes().unwrap();
        assert_eq!(notes.devices.iter().map(|at| at.ordinal).collect::<Vec<_>>(), devices);
        let lone = devices.len() == 1;
        assert_eq!(notes.parts_on_host > 0, lone, "{config:?} {notes:?}");
        assert!(notes.reads_on_host > 0 || memory.is_none(), "{config:?} {notes:?}");
    }
    let none = Query::new(&database, options).on_gpus(&gpus(&[0], Some(3 << 20)));
    let message = none.unwrap_err().to_string();
    assert!(message.contains("raise `gpu_memory`"), "{message}");
}
