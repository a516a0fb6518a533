//! Counts the accepted pairs of a file of `READ<TAB>SEGMENT` lines, and measures the time per pair:
//!
//!     cargo run --release -p merganser-filter --example accepted -- FILE METHOD E...

#![allow(clippy::print_stdout, reason = "an example shows its result")]

use merganser_filter::{Config, Filter, Method, PairBatch, REJECTED, Scratch, Threshold};
use std::time::{Duration, Instant};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut args = std::env::args().skip(1);
    let (file, method) = (args.next().ok_or("no file")?, args.next().ok_or("no method")?);
    let method = match method.as_str() {
        "exact" => Method::Exact,
        "gatekeeper" => Method::GateKeeper,
        "snake" => Method::Snake,
        "gatekeeper-original" => Method::GateKeeperOriginal,
        other => return Err(format!("no method {other}").into()),
    };
    for e in args {
        let e = e.parse()?;
        let filter = Filter::new(Config { method, ..Config::new(Threshold::Edits(e)) })?;
        let (mut batch, mut scratch) = (PairBatch::new(), Scratch::default());
        let (mut decisions, mut accepted, mut pairs) = (Vec::new(), 0u64, 0u64);
        let mut spent = Duration::ZERO;
        let mut decide = |batch: &mut PairBatch<'_>| {
            let started = Instant::now();
            filter.run_codes(batch, &mut scratch, &mut decisions);
            spent += started.elapsed();
            accepted += decisions.iter().filter(|&&edits| edits != REJECTED).count() as u64;
            pairs += batch.len() as u64;
            batch.clear();
        };
        let mut text = std::io::BufReader::with_capacity(1 << 20, std::fs::File::open(&file)?);
        let mut line = String::new();
        while std::io::BufRead::read_line(&mut text, &mut line)? > 0 {
            let (read, segment) = line.trim_end().split_once('\t').ok_or("one column")?;
            batch.push(read.as_bytes(), segment.as_bytes())?;
            line.clear();
            if batch.len() == 4096 {
                decide(&mut batch);
            }
        }
        decide(&mut batch);
        let each = spent.as_secs_f64() * 1e9 / pairs as f64;
        println!("e {e}: {accepted} of {pairs} accepted, {each:.1} ns a pair");
    }
    Ok(())
}
