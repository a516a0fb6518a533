//! Builds a Kraken 2 database (hash.k2d, opts.k2d, taxo.k2d) in a folder, from genomes and NCBI's taxdump.
//!
//! `cargo run --release --example kraken2_build -- taxonomy k2_viral genomes`
#![allow(clippy::print_stdout, reason = "an example")]

use std::error::Error;
use std::path::PathBuf;
use std::{env, fs};

use merganser::Context;
use merganser::classify::References;
use merganser::classify::kraken2::{
    Kraken2BuildConfig, Kraken2Database, Kraken2Library, Kraken2Sequence, LibraryMaps,
    taxids_of_library,
};
use merganser::classify::taxonomy::Dump;

fn main() -> Result<(), Box<dyn Error>> {
    let args: Vec<PathBuf> = env::args_os().skip(1).map(PathBuf::from).collect();
    let [taxonomy, folder, genomes @ ..] = &args[..] else {
        return Err("usage: kraken2_build TAXONOMY FOLDER GENOMES...".into());
    };

    let (context, dump) = (Context::new(), Dump::read(taxonomy)?);
    let References { inputs, manifests, maps, .. } = References::expand(genomes)?;
    let maps =
        LibraryMaps { given: &manifests, beside: &maps, taxonomy: Some(&dump), context: &context };
    let taxids = |sequences: &[Kraken2Sequence]| taxids_of_library(sequences, &inputs, &maps);
    let library =
        Kraken2Library { inputs: &inputs, taxids: &taxids, taxonomy: &dump, strict: false };

    fs::create_dir_all(folder)?;
    let config = Kraken2BuildConfig::default();
    let notes = Kraken2Database::build(&config, library, folder, &context)?;
    println!("{} sequences, {} bases, {} taxa", notes.sequences, notes.bases, notes.taxa);
    println!("{} of {} cells are used", notes.size, notes.capacity);
    Ok(())
}
