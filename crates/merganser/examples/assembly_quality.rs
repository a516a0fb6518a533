//! Evaluates an assembly by the k-mers of its reads: QV and completeness, as Merqury does. The reads may also be a
//! table that was counted with a minimum of 1.
//!
//! `cargo run --release --example assembly_quality -- reads.fq.gz assembly.fa`
#![allow(clippy::print_stdout, reason = "an example")]

use std::env;
use std::error::Error;

use merganser::assembly::{Assembly, Config, Reads, Subject};
use merganser::{Context, assembly};

fn main() -> Result<(), Box<dyn Error>> {
    let args: Vec<String> = env::args().skip(1).collect();
    let [reads, assembly] = &args[..] else {
        return Err("usage: assembly_quality READS ASSEMBLY".into());
    };

    let context = Context::new();
    let subject = Subject {
        reads: Reads::open(reads, false, &context)?,
        parents: None,
        assemblies: vec![Assembly::of(assembly.into())],
    };
    let outcome = assembly::run(&Config::default(), subject, &context)?;
    let quality = &outcome.assemblies[0];
    println!("k             {}", outcome.k);
    println!("QV            {:.2}", quality.quality);
    println!("error rate    {:.2e}", quality.error_rate);
    println!("completeness  {:.2} %", quality.completeness().unwrap_or_default());
    Ok(())
}
