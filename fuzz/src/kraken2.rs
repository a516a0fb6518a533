//! Kraken 2 databases: small, built once, changed, and used for classification.

use std::path::Path;
use std::sync::OnceLock;

use merganser_io::{Input, OutputSet, ReadInput};
use merganser_kraken2::{
    Error, Kraken2BuildConfig, Kraken2Config, Kraken2Database, Kraken2Library, Kraken2Sequence,
};

use merganser_seq::masking::Masking;
use merganser_taxonomy::Dump;
use merganser_taxreport::output::Outputs;

use crate::databases::{letters, context, write_taxonomy};
use crate::files::{folder, write};

/// Returns the options, taxonomy and Kraken table of a database of two short genomes with a common half.
pub fn sound() -> &'static [Vec<u8>; 3] {
    static BYTES: OnceLock<[Vec<u8>; 3]> = OnceLock::new();
    BYTES.get_or_init(|| {
        let folder = folder();
        write_taxonomy(folder.path());
        let shared = letters(100, 1);
        let genome =
            |taxid, seed| format!(">kraken:taxid|{taxid}|\n{shared}{}\n", letters(100, seed));
        let library = folder.path().join("library.fa");
        write(&library, genome(3, 2) + &genome(4, 3));
        let dump = Dump::read(folder.path()).expect("a taxonomy");
        let taxids = |sequences: &[Kraken2Sequence]| -> Result<Vec<Option<u32>>, Error> {
            Ok(sequences.iter().map(Kraken2Sequence::taxid).collect())
        };
        let inputs = [Input::File(library)];
        let library = Kraken2Library { inputs: &inputs, taxids: &taxids, taxonomy: &dump, strict: false };
        let config = Kraken2BuildConfig {
            k: 21,
            minimizer_len: 15,
            minimizer_spaces: 2,
            masked: Masking::None,
            ..Kraken2BuildConfig::default()
        };
        let outputs = OutputSet::new();
        let to = (folder.path(), &outputs);
        Kraken2Database::build_with(&config, library, to, &context())
            .expect("a database");
        outputs.commit().expect("written");
        Kraken2Database::files(folder.path()).map(|path| std::fs::read(path).expect("a file"))
    })
}

/// Writes the files of a database to a folder.
pub fn write_to(folder: &Path, files: &[Vec<u8>]) {
    Kraken2Database::files(folder).iter().zip(files).for_each(|(path, bytes)| write(path, bytes));
}

/// Opens a database, verifies it and classifies reads with it; returns the lines of the reads if it can be used. None
/// of these may panic.
pub fn walk(folder: &Path) -> Option<String> {
    let database = Kraken2Database::open(folder).ok()?;
    let sound = database.verify(&context().threads(1)).is_ok();
    let reads = folder.join("reads.fa");
    let text = format!(">x\n{}\n>y\n{}NA\n>z\nAC\n", letters(90, 1), letters(70, 2));
    write(&reads, text);
    let (mut lines, config) =
        (Vec::new(), Kraken2Config { report_minimizer_data: true, ..Kraken2Config::default() });
    let mut outputs = Outputs { lines: Some(&mut lines), ..Outputs::default() };
    let segments = [ReadInput::Single(Input::File(reads))];
    let context = context();
    let run = merganser_kraken2::run_with(&config, &database, &segments, &mut outputs, &context);
    let Ok(outcome) = run else {
        assert!(!sound, "a sound database was rejected");
        return None;
    };
    assert_eq!(outcome.records, 3);
    let mut report = Vec::new();
    let tally = outcome.tally(&database);
    tally.write_kraken(database.tree(), Default::default(), &mut report).expect("writing to memory");
    Some(String::from_utf8_lossy(&lines).into_owned())
}
