//! Databases: built once, changed, and read in every way.

use std::path::Path;
use std::sync::OnceLock;

use merganser_classify::{Outputs, RunConfig, run_with};
use merganser_classify::{BuildConfig, Database, PartConfig, Preset};
use merganser_io::{AtomicFile, Input, ReadInput};
use merganser_kraken2::Kraken2Config;
use merganser_run::{DeviceChoice, Context};

use crate::files::{folder, write};
pub use crate::mend::database as mend;

const NODES: &str = "1\t|\t1\t|\tno rank\t|\n2\t|\t1\t|\tgenus\t|\n3\t|\t2\t|\tspecies\t|\n\
    4\t|\t2\t|\tspecies\t|\n";
const NAMES: &str =
    "1\t|\troot\t|\t\t|\tscientific name\t|\n2\t|\tOne\t|\t\t|\tscientific name\t|\n";

/// Returns `count` letters that look random and are always the same for a given `state`.
pub(crate) fn letters(count: usize, mut state: u32) -> String {
    let mut next = || {
        state = state.wrapping_mul(0x9e37_79b1).wrapping_add(0x7f4a_7c15);
        b"ACGT"[(state >> 29) as usize & 3] as char
    };
    (0..count).map(|_| next()).collect()
}

/// Returns resources of one thread on the CPU. The amount of memory is queried once.
pub fn context() -> Context {
    static RESOURCES: OnceLock<Context> = OnceLock::new();
    let asked = || Context::new().threads(1).device(DeviceChoice::Cpu);
    RESOURCES.get_or_init(asked).clone()
}

/// Writes nodes.dmp and names.dmp of two species of a genus.
pub fn write_taxonomy(folder: &Path) {
    write(folder.join("nodes.dmp"), NODES);
    write(folder.join("names.dmp"), NAMES);
}

/// Returns a database of two genomes with a common half, in two parts.
pub fn sound() -> &'static [u8] {
    static BYTES: OnceLock<Vec<u8>> = OnceLock::new();
    BYTES.get_or_init(|| {
        let folder = folder();
        let path = |name: &str| folder.path().join(name);
        write_taxonomy(folder.path());
        let shared = letters(300, 1);
        let genomes = format!(
            ">a|taxid|3\n{shared}{}\n>b|taxid|4\n{shared}{}\n",
            letters(300, 2),
            letters(300, 3)
        );
        write(path("g.fa"), genomes);
        let config = BuildConfig {
            parts: PartConfig { parts: 2, max_part_size: None },
            ..BuildConfig::new(Preset::MetaCache.params())
        };
        let inputs = [Input::File(path("g.fa"))];
        let to = path("db");
        merganser_classify::build_with(&config, &inputs, folder.path(), AtomicFile::create(&to).expect("a temporary file"), &context().memory(512 << 20))
        .expect("a database");
        std::fs::read(to).expect("the database")
    })
}

/// Whether a database opens and verifies.
pub fn is_sound(path: &Path) -> bool {
    Database::open(path).is_ok_and(|database| database.verify(&context().threads(1)).is_ok())
}

/// Opens the database at `path`, verifies it and classifies reads with it. None of these may panic.
pub fn walk(path: &Path) {
    let Ok(database) = Database::open(path) else { return };
    let sound = database.verify(&context().threads(1)).is_ok();
    // A forged length may request more memory than this test has.
    if database.windows() > 1 << 20 {
        return;
    }
    let reads = path.with_extension("fa");
    let text = format!(">x\n{}\n>y\n{}\n", letters(300, 1), letters(400, 2));
    write(&reads, text);
    let kraken2 = Kraken2Config { report_minimizer_data: true, ..Kraken2Config::default() };
    let config = RunConfig { kraken2, references: true, ..RunConfig::default() };
    let segments = [ReadInput::Single(Input::File(reads))];
    let mut lines = Vec::new();
    let mut outputs = Outputs { lines: Some(&mut lines), ..Outputs::default() };
    let context = context();
    let done = run_with(&config, &database, &segments, &mut outputs, &context);
    let Ok(result) = done else {
        assert!(!sound, "a sound database was rejected");
        return;
    };
    let mut report = Vec::new();
    result
        .tally
        .write_kraken(database.taxonomy(), Default::default(), &mut report)
        .expect("writing to memory");
    assert_eq!(result.records, 2);
}
