//! Decides all pairs of a file of `READ<TAB>SEGMENT` lines several times on the CPU, to count the instructions of a pass
//! (`bench/instructions/README.md`):
//!
//!     cargo run --release -p merganser-filter --example passes -- FILE exact:5 PASSES
//!
//! The method is `exact`, `semiglobal`, `gatekeeper`, `snake` or `pack`, which only packs the pairs.

#![allow(clippy::print_stdout, reason = "an example shows its result")]

use merganser_filter::{Align, Config, Filter, Method, PairBatch, REJECTED, Scratch, Threshold};
use merganser_seq::simd::Level;

type Failure = Box<dyn std::error::Error>;

fn main() -> Result<(), Failure> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [file, what, passes] = &args[..] else {
        return Err("give FILE METHOD:EDITS PASSES".into());
    };
    let (method, edits) = what.split_once(':').ok_or("a method and edits: exact:5")?;
    let config = Config::new(Threshold::Edits(edits.parse()?));
    let config = match method {
        "exact" | "pack" => config,
        "semiglobal" => Config { align: Align::SemiGlobal, ..config },
        "gatekeeper" => Config { method: Method::GateKeeper, ..config },
        "snake" => Config { method: Method::Snake, ..config },
        other => return Err(format!("no method {other}").into()),
    };
    let (filter, text) = (Filter::new(config)?, std::fs::read(file)?);
    let mut batch = PairBatch::new();
    pack(&text, &mut batch)?;
    let (mut scratch, mut decisions) = (Scratch::default(), Vec::new());
    for _ in 0..passes.parse::<usize>()? {
        if method == "pack" {
            batch.clear();
            pack(&text, &mut batch)?;
        } else {
            filter.run_codes(&batch, &mut scratch, &mut decisions);
        }
    }
    let accepted = decisions.iter().filter(|&&edits| edits != REJECTED).count();
    println!("{}: {accepted} of {} accepted", Level::best().name(), batch.len());
    Ok(())
}

fn pack(text: &[u8], batch: &mut PairBatch<'_>) -> Result<(), Failure> {
    for line in text.split(|&byte| byte == b'\n').filter(|line| !line.is_empty()) {
        let tab = line.iter().position(|&byte| byte == b'\t').ok_or("one column")?;
        batch.push(&line[..tab], &line[tab + 1..])?;
    }
    Ok(())
}
