//! Compares runs in rounds with runs that have the whole table.

use std::fmt::Write;
use std::path::{Path, PathBuf};

use merganser_gpu::GpuConfig;
use merganser_io::Input;
use merganser_run::Silent;
use merganser_test_random::Random;

use super::super::plan::RoundPlan;
use super::super::{Kraken2Config, Kraken2ReportOptions, Kraken2Taxonomy};
use super::*;
use merganser_taxreport::output::ReadOutput;

/// A folder with reads and a table of random cells, `filled` per cent of which are in use.
struct World(tempfile::TempDir);

impl World {
    /// Creates the files. With few bits for keys, many minimizers of random reads are found.
    fn new(cells: u64, filled: u64, bits: [u64; 2]) -> World {
        let folder = tempfile::tempdir().unwrap();
        let mut random = Random(cells + bits[0]);
        write_database(folder.path(), [cells, filled], bits, &mut random);
        for name in ["1.fq", "2.fq"] {
            std::fs::write(folder.path().join(name), reads(&mut random)).unwrap();
        }
        World(folder)
    }

    /// Adds another database, with a table of other cells.
    fn with_other(self, cells: u64, bits: [u64; 2]) -> World {
        let other = self.file("other");
        std::fs::create_dir(&other).unwrap();
        write_database(&other, [cells, 30], bits, &mut Random(cells));
        self
    }

    fn open(&self) -> Result<Kraken2Database, Error> {
        let folders = [self.0.path().to_owned(), self.file("other")];
        Kraken2Database::open_all(folders.iter().filter(|folder| folder.exists()))
    }

    fn file(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn segments(&self, paired: bool) -> Vec<ReadInput> {
        let [one, two] = ["1.fq", "2.fq"].map(|name| Input::File(self.file(name)));
        match paired {
            true => vec![ReadInput::Pair(one, two)],
            false => vec![ReadInput::Single(one), ReadInput::Single(two)],
        }
    }
}

/// Writes a database with a table of random cells.
fn write_database(
    folder: &Path,
    [cells, filled]: [u64; 2],
    [key_bits, value_bits]: [u64; 2],
    random: &mut Random,
) {
    let mut below = |bound: u64| random.below(bound as usize) as u64;
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/data/kraken2");
    for name in ["opts.k2d", "taxo.k2d"] {
        std::fs::copy(data.join(name), folder.join(name)).unwrap();
    }
    let nodes = Kraken2Taxonomy::read(&data.join("taxo.k2d")).unwrap().len() as u64;
    let (mut table, mut size) = (Vec::new(), 0);
    let width = (key_bits + value_bits) as usize / 8;
    for _ in 0..cells {
        let is_filled = below(100) < filled;
        let value = if is_filled { 1 + below(nodes - 1) } else { 0 };
        let key = below(1 << key_bits);
        size += u64::from(is_filled);
        table.extend_from_slice(&(key << value_bits | value).to_le_bytes()[..width]);
    }
    let header = [cells, size, key_bits, value_bits].map(u64::to_le_bytes).concat();
    std::fs::write(folder.join("hash.k2d"), [header, table].concat()).unwrap();
}

/// Random reads of any length, with some letters that are not bases and some bases of low quality.
fn reads(random: &mut Random) -> String {
    let mut text = String::new();
    for number in 0..300 {
        let length = random.below(300) + 2000 * usize::from(number % 100 == 99);
        let letters: String = (0..length)
            .map(|_| if random.below(200) == 0 { 'N' } else { b"ACGT"[random.below(4)].into() })
            .collect();
        let quality: String =
            (0..length).map(|_| if random.below(90) == 0 { '#' } else { 'I' }).collect();
        writeln!(text, "@r{number}\n{letters}\n+\n{quality}").unwrap();
    }
    text
}

/// The lines, segments and report, the reads, and the partial results of a run.
type All = ([Vec<u8>; 3], [[Vec<u8>; 2]; 2], Vec<u8>);

fn apart([one, two]: &mut [Vec<u8>; 2], paired: bool) -> ReadOutput<'_> {
    match paired {
        true => ReadOutput { mates: Some([one, two]), ..ReadOutput::default() },
        false => ReadOutput { single: Some(one), ..ReadOutput::default() },
    }
}

fn run(
    world: &World,
    config: &Kraken2Config,
    paired: bool,
    threads: usize,
    rounds: Option<RoundPlan>,
) -> Result<(All, u64), Error> {
    run_on(None, world, config, paired, threads, rounds)
}

fn run_on(
    range_gpu: Option<RangeGpu>,
    world: &World,
    config: &Kraken2Config,
    paired: bool,
    threads: usize,
    rounds: Option<RoundPlan>,
) -> Result<(All, u64), Error> {
    let database = world.open()?;
    let context = Context::new().threads(threads);
    let plan = Plan { record: 1 << 20, rounds, needed: 0 };
    let (context, database) = (&context, &database);
    let planned = Planned { config, context, database, plan, gpus: None, range_gpu };
    let ([mut lines, mut parts, mut report], mut reads, mut partial) = All::default();
    let [classified, unclassified] = &mut reads;
    let mut outputs = Outputs {
        lines: Some(&mut lines),
        classified: Some(apart(classified, paired)),
        unclassified: Some(apart(unclassified, paired)),
        segments: Some(&mut parts),
        partial: Some(&mut partial),
        pass: None,
    };
    let segments = world.segments(paired);
    let outcome = planned.classify(&segments, &mut outputs, &Silent, &Cancel::default())?;
    let options =
        Kraken2ReportOptions { minimizers: config.report_minimizer_data, zero_counts: true };
    outcome.counts.write_report(database.taxonomy(), options, &mut report)?;
    Ok((([lines, parts, report], reads, partial), outcome.rounds))
}

/// Opens a device, real or emulated, if there is one.
fn range_gpu(threads: usize) -> Option<RangeGpu> {
    let device = merganser_gpu::availability().usable().next()?;
    let context = Context::new().threads(threads);
    Some(RangeGpu::open(&GpuConfig::new(&context, vec![device.ordinal]), 0).unwrap())
}

/// Checks that all plans, numbers of threads and devices give the results of a run with the whole table; returns its lines.
fn check(world: &World, rules: Kraken2Config, minimizers: bool, paired: bool) -> String {
    let config =
        Kraken2Config { report_minimizer_data: minimizers, batch_records: Some(14), ..rules };
    let (expected, rounds) = run(world, &config, paired, 2, None).unwrap();
    assert_eq!(rounds, 0);
    for (waiting, range, at_least) in
        [(1, 4096, 10), (1 << 30, 30, 1), (150_000, 5000, 2), (60_000, 1 << 30, 4)]
    {
        // Searches in the file, and in ranges in memory.
        for (threads, around) in [(1, 0), (3, 0), (1, 1 << 17), (3, 1 << 17)] {
            let plan = RoundPlan { waiting, range, around };
            let (found, rounds) = run(world, &config, paired, threads, Some(plan)).unwrap();
            assert!(found == expected, "{plan:?}, {threads} threads");
            assert!(rounds >= at_least, "{plan:?}, {threads} threads: {rounds} rounds");
            // Emulated devices take most of the time: with one number of threads.
            if threads > 1
                && let Some(gpu) = range_gpu(threads)
            {
                let (found, _) =
                    run_on(Some(gpu), world, &config, paired, threads, Some(plan)).unwrap();
                assert!(found == expected, "{plan:?}, {threads} threads, a device");
            }
        }
    }
    let ([lines, ..], ..) = expected;
    String::from_utf8(lines).unwrap()
}

#[test]
fn rounds_write_what_the_whole_table_does() {
    let usual = Kraken2Config::default;
    for bits in [[8, 24], [9, 31]] {
        let world = World::new(5003, 85, bits);
        let lines = check(&world, usual(), true, false);
        let classified = lines.lines().filter(|line| line.starts_with('C')).count();
        assert!((20..580).contains(&classified), "{classified}");
        check(&world, usual(), true, true);
        check(&world, Kraken2Config { quick: true, ..usual() }, false, true);
        let strict = Kraken2Config { confidence: 0.01, min_qual: 10, ..usual() };
        check(&world, Kraken2Config { minimum_hit_groups: 1, ..strict }, true, false);
    }
}

#[test]
fn rounds_of_two_databases_write_what_whole_tables_do() {
    let world = World::new(5003, 85, [8, 24]).with_other(3001, [9, 31]);
    let two = check(&world, Kraken2Config::default(), true, false);
    let both = Kraken2Config { confidence: 0.01, ..Kraken2Config::default() };
    check(&world, both.clone(), true, true);
    let by_database = Kraken2Config { database_report: true, ..both };
    check(&world, by_database.clone(), false, true);
    check(&world, Kraken2Config { quick: true, ..by_database }, false, false);
    std::fs::remove_dir_all(world.file("other")).unwrap();
    let one = check(&world, Kraken2Config::default(), true, false);
    assert_ne!(one, two);
}

/// The nodes are those of looking up in each database by itself.
#[test]
fn minimizers_have_the_common_ancestor_of_their_taxa() {
    let world = World::new(5003, 60, [2, 30]).with_other(3001, [1, 31]);
    let both = world.open().unwrap();
    let each = [world.0.path().to_owned(), world.file("other")]
        .map(|folder| Kraken2Database::open(folder).unwrap());
    let minimizers: Vec<u64> = (0..5000).collect();
    let (mut found, mut kinds) = (Vec::new(), [0; 3]);
    both.look_up(&minimizers, &mut found).unwrap();
    let (mut same, mut sources) = (Vec::new(), Vec::new());
    let tree = both.taxonomy();
    both.tables.look_up_sources(&minimizers, tree, (&mut same, &mut sources)).unwrap();
    assert_eq!(same, found);
    let of_each = each.each_ref().map(|database| {
        let mut found = Vec::new();
        database.look_up(&minimizers, &mut found).unwrap();
        let taxid = |node: u32| database.taxonomy().taxid(node);
        found.into_iter().map(taxid).collect::<Vec<_>>()
    });
    for (at, &node) in found.iter().enumerate() {
        let nodes = of_each.each_ref().map(|taxids| both.tree().node(taxids[at]));
        let expected = match nodes {
            [None, None] => 0,
            [Some(only), None] | [None, Some(only)] => both.tree().taxid(only),
            [Some(one), Some(other)] => both.tree().taxid(both.tree().lca(one, other)),
        };
        kinds[nodes.iter().flatten().count()] += 1;
        let having = [0, 1].map(|table| u32::from(nodes[table].is_some()) << table);
        assert_eq!(sources[at], having[0] | having[1]);
        assert_eq!(both.taxonomy().taxid(node), expected, "{of_each:?}");
    }
    assert!(kinds.iter().all(|&count| count > 10), "{kinds:?}");
}

/// Searches that visit all cells of a table and end where they began.
#[test]
fn rounds_end_in_tables_without_an_empty_cell() {
    for bits in [[16, 16], [24, 16]] {
        check(&World::new(257, 100, bits), Kraken2Config::default(), true, false);
        check(&World::new(1, 100, bits), Kraken2Config::default(), true, true);
    }
}

/// An error in the input is reported as by a run with the whole table, whichever round it occurs in.
#[test]
fn failures_are_the_same() {
    let world = World::new(5003, 70, [12, 20]);
    let text = std::fs::read_to_string(world.file("2.fq")).unwrap();
    std::fs::write(world.file("2.fq"), &text[..text.len() * 2 / 3]).unwrap();
    for paired in [false, true] {
        let config = Kraken2Config {
            report_minimizer_data: true,
            batch_records: Some(14),
            ..Kraken2Config::default()
        };
        let message =
            |rounds| run(&world, &config, paired, 3, rounds).map(drop).unwrap_err().to_string();
        let expected = message(None);
        assert!(expected.contains("2.fq: "), "{expected}");
        for waiting in [1, 60_000, 1 << 30] {
            assert_eq!(
                message(Some(RoundPlan { waiting, range: 4096, around: 1 << 17 })),
                expected
            );
        }
    }
}

/// A cell whose taxon does not exist is an error as well.
#[test]
fn damage_is_named() {
    let world = World::new(5003, 70, [12, 20]);
    let mut table = std::fs::read(world.file("hash.k2d")).unwrap();
    table[32..].chunks_exact_mut(4).filter(|cell| cell[0] > 0).for_each(|cell| cell[1] |= 15);
    std::fs::write(world.file("hash.k2d"), table).unwrap();
    let plan = RoundPlan { waiting: 60_000, range: 4096, around: 1 << 17 };
    for gpu in std::iter::once(None).chain(range_gpu(2).map(Some)) {
        let config = Kraken2Config::default();
        let error = run_on(gpu, &world, &config, false, 2, Some(plan)).unwrap_err();
        assert!(error.to_string().contains("hash.k2d: a cell has taxon "), "{error}");
    }
}

#[test]
fn memory_that_does_not_hold_the_table_has_rounds() {
    let world = World::new(50_021, 80, [12, 20]);
    let database = Kraken2Database::open(world.0.path()).unwrap();
    let plan = |memory: u64, on_gpus| {
        let context = Context::new().threads(1).memory(memory);
        Plan::new(&context, &database, on_gpus)
    };
    let fixed = (64 << 20) + 112 * database.taxonomy().len() as u64;
    // The table is so small that it fits in the minimum memory of a round.
    assert_eq!(plan(fixed + database.table_bytes(), false).unwrap().rounds, None);
    let error = plan(fixed, false).unwrap_err().to_string();
    assert!(error.contains("classifying with 1 threads by this database needs"), "{error}");
    assert!(plan(fixed, true).is_err());
    let unlimited = Context::new().threads(1);
    assert_eq!(Plan::new(&unlimited, &database, false).unwrap().rounds, None);
    assert!(!Plan::takes_rounds(&unlimited, &database));
}
