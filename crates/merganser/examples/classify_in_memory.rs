//! Classifies reads in memory on several threads, which share a database, and prints the number of reads by taxon.
//!
//! `cargo run --release --example classify_in_memory -- viruses.mgdb reads.fq.gz 4`
#![allow(clippy::print_stdout, reason = "an example")]

use std::collections::BTreeMap;
use std::error::Error;
use std::num::NonZero;
use std::sync::Arc;
use std::{env, thread};

use merganser::Context;
use merganser::classify::{Database, SharedClassifier, Thresholds};
use merganser::io::{RecordBatch, RecordOptions, Records};

type Result<T> = std::result::Result<T, Box<dyn Error + Send + Sync>>;

fn main() -> Result<()> {
    let args: Vec<String> = env::args().skip(1).collect();
    let [database, reads, threads] = &args[..] else {
        return Err("usage: classify_in_memory DATABASE READS THREADS".into());
    };

    let database = Arc::new(Database::open(database)?);
    let thresholds = Thresholds::new(database.params());
    let classifier = SharedClassifier::new(database, thresholds, &Context::new())?;
    let workers = threads.parse::<NonZero<usize>>()?.get();
    let records = Records::open([reads], RecordOptions { workers, ..RecordOptions::default() })?;

    // Each thread takes batches of reads, and has its own session.
    let work = || -> Result<Vec<&str>> {
        let (mut batch, mut session) = (RecordBatch::default(), classifier.session());
        let mut names = Vec::new();
        while records.next(&mut batch)?.is_some() {
            let taxa = session.classify((0..batch.len()).map(|at| batch.record(at).letters))?;
            names.extend(taxa.iter().map(|taxon| taxon.map_or("unclassified", |taxon| taxon.name)));
        }
        Ok(names)
    };
    let mut taxa: BTreeMap<&str, u64> = BTreeMap::new();
    thread::scope(|scope| -> Result<()> {
        let running: Vec<_> = (0..workers).map(|_| scope.spawn(work)).collect();
        for thread in running {
            let names = thread.join().map_err(|_| "a thread panicked")??;
            names.into_iter().for_each(|name| *taxa.entry(name).or_default() += 1);
        }
        Ok(())
    })?;
    taxa.iter().for_each(|(name, reads)| println!("{reads}\t{name}"));
    Ok(())
}
