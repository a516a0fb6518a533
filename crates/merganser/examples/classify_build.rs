//! Builds a database for classification from genomes, which may be files or folders of files, and a taxonomy: the
//! folder of NCBI's taxdump. Taxids are found in maps in the folders (`seqid2taxid.map`) and in headers.
//!
//! `cargo run --release --example classify_build -- taxonomy viruses.mgdb genomes`
#![allow(clippy::print_stdout, reason = "an example")]

use std::env;
use std::error::Error;
use std::path::PathBuf;

use merganser::classify::{BuildConfig, Preset, References, TaxidConfig};
use merganser::{Context, classify};

fn main() -> Result<(), Box<dyn Error>> {
    let args: Vec<PathBuf> = env::args_os().skip(1).map(PathBuf::from).collect();
    let [taxonomy, output, genomes @ ..] = &args[..] else {
        return Err("usage: classify_build TAXONOMY OUTPUT GENOMES...".into());
    };

    let References { inputs, manifests, maps, .. } = References::expand(genomes)?;
    let config = BuildConfig {
        taxids: TaxidConfig { map: manifests, strict: false },
        maps_beside: maps,
        ..BuildConfig::new(Preset::Sensitive.params())
    };
    let context = Context::new();
    let (database, outcome) = classify::build(&config, inputs, taxonomy, output, &context)?;
    for (name, reason) in &outcome.unmapped {
        println!("left out: {name}: {reason}");
    }
    println!("{} sequences, {} bases", database.targets().len(), outcome.bases);
    Ok(())
}
