//! Builds a database of three genomes in memory, and classifies reads of a bacterium and fragments of a phage on
//! two threads. Run it in the root of the repository: `cargo run --release --example classify`.
#![allow(clippy::print_stdout, reason = "an example")]

use std::collections::BTreeMap;
use std::error::Error;
use std::path::Path;
use std::sync::Arc;
use std::thread;

use merganser::classify::{
    BuildConfig, Preset, SharedClassifier, TaxidConfig, Thresholds, build_in_memory,
    expand_references,
};
use merganser::io::{Input, ReadInput, RecordBatch, RecordOptions, Records};
use merganser::run::Context;

pub(crate) fn report(data: &Path) -> Result<String, Box<dyn Error>> {
    let genomes = data.join("genomes");
    let params = Preset::Sensitive.params();
    let taxids = TaxidConfig { map: vec![genomes.join("seqid2taxid.map")], strict: false };
    let config = BuildConfig { taxids, ..BuildConfig::new(params) };
    let context = Context::new();
    let references = expand_references(std::slice::from_ref(&genomes))?;
    let taxonomy = data.join("taxonomy");
    let (database, _) = build_in_memory(&config, &references, &taxonomy, &context)?;
    let classifier = SharedClassifier::new(Arc::new(database), Thresholds::new(&params), &context)?;

    let bacterium = data.join("ERR1438863_1.fastq.gz");
    let phage = genomes.join("Escherichia_phage_lambda.fna.gz");
    let workers = [bacterium, phage].map(|path| {
        let classifier = classifier.clone();
        thread::spawn(move || {
            taxa(&classifier, Input::File(path)).map_err(|error| error.to_string())
        })
    });
    let mut text = String::new();
    for worker in workers {
        for (name, reads) in worker.join().map_err(|_| "a thread panicked")?? {
            text += &format!("{reads}\t{name}\n");
        }
        text += "\n";
    }
    Ok(text)
}

/// Classifies all fragments of 100 bases of a file's records and counts them by taxon.
fn taxa(
    classifier: &SharedClassifier,
    input: Input,
) -> Result<BTreeMap<String, u32>, Box<dyn Error>> {
    let records = Records::open(&[ReadInput::Single(input)], RecordOptions::default())?;
    let (mut batch, mut session) = (RecordBatch::default(), classifier.session());
    let mut taxa = BTreeMap::new();
    while records.next(&mut batch)?.is_some() {
        let letters = (0..batch.len()).map(|at| batch.record(at).letters);
        for taxon in session.classify(letters.flat_map(|letters| letters.chunks(100)))? {
            let name = taxon.map_or("unclassified".into(), |taxon| {
                format!("{} (taxid {}, {})", taxon.name, taxon.taxid, taxon.rank.name())
            });
            *taxa.entry(name).or_default() += 1;
        }
    }
    Ok(taxa)
}

fn main() -> Result<(), Box<dyn Error>> {
    print!("{}", report(Path::new("tests/data"))?);
    Ok(())
}
