//! Builds a database in memory and prints a taxid for each read, as Kraken's first three columns: `candidates
//! PRESET TAXONOMY REFERENCES READS MAP`. Times are written to stderr.
#![allow(missing_docs, clippy::print_stderr, reason = "an example")]

use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::time::Instant;

use merganser_alignments::ReaderOptions;
use merganser_classify::{
    BuildConfig, Preset, Query, TaxidConfig, Thresholds, Verdict, build_in_memory,
};
use merganser_io::{Chunk, Input, Reader, Sink};
use merganser_library::expand_references;
use merganser_run::Context;

#[derive(Default)]
struct Reads(Vec<(String, Vec<u8>)>);

impl Sink for Reads {
    fn begin(&mut self, header: &[u8]) {
        let name = header.split(u8::is_ascii_whitespace).next().unwrap_or_default();
        self.0.push((String::from_utf8_lossy(name).into_owned(), Vec::new()));
    }
    fn resume(&mut self) {}
    fn sequence(&mut self, line: &[u8], _quality: Option<&[u8]>) {
        if let Some(read) = self.0.last_mut() {
            read.1.extend_from_slice(line);
        }
    }
    fn end(&mut self) {}
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [preset, taxonomy, references, reads, map] = &args[..] else {
        return Err("give PRESET TAXONOMY REFERENCES READS MAP".into());
    };
    let preset = if preset == "metacache" { Preset::MetaCache } else { Preset::Sensitive };
    let mut params = preset.params();
    let number = |name: &str, default: u32| {
        std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
    };
    params.k = number("K", params.k);
    // Windows overlap by k - 1 bases, so that each k-mer is in exactly one.
    params.window = params.stride + params.k - 1;
    params.density = number("DENSITY", params.density);
    params.sketch = number("SKETCH", params.sketch);
    let taxids = TaxidConfig { map: vec![PathBuf::from(map)], strict: false };
    let (config, context) = (BuildConfig { taxids, ..BuildConfig::new(params) }, Context::new());
    let inputs = expand_references(&[PathBuf::from(references)])?;
    let started = Instant::now();
    let taxonomy = Path::new(taxonomy);
    let (database, built_of) = build_in_memory(&config, &inputs, taxonomy, &context)?;
    let built = started.elapsed();
    let mut rule = Thresholds::new(&params);
    rule.hitdiff = number("DIFF", rule.hitdiff);
    rule.hitmin = number("MIN", rule.hitmin);
    if std::env::var("LOWEST").is_ok() {
        rule.lowest = merganser_taxonomy::Rank::Species;
    }
    let query = Query::new(&database, rule.query_params());
    let nodes: Vec<u32> = database.targets().iter().map(|target| target.node).collect();
    let reader = Reader::open(&[Input::File(reads.into())], ReaderOptions::default())?;
    let (mut chunk, mut all) = (Chunk::default(), Reads::default());
    while reader.next_chunk(&mut chunk)? {
        chunk.parse(&mut all)?;
    }
    let mut out = BufWriter::new(std::io::stdout().lock());
    let (mut scratch, mut candidates, mut ends) = (query.scratch(), Vec::new(), Vec::new());
    let views: Vec<[&[u8]; 2]> = all.0.iter().map(|read| [&read.1[..], &[][..]]).collect();
    let queried = Instant::now();
    query.candidates(&views, &mut scratch, &mut candidates, &mut ends);
    let queried = queried.elapsed();
    let mut start = 0;
    for ((name, letters), &end) in all.0.iter().zip(&ends) {
        let own = &candidates[start..end];
        start = end;
        let verdict = rule.decide(own, letters.len() as u64, database.taxonomy(), &nodes);
        let node = match verdict {
            Verdict::Unclassified => None,
            Verdict::Target(target) => Some(nodes[target as usize]),
            Verdict::Taxon(node) => Some(node),
        };
        match node {
            Some(node) => writeln!(out, "C\t{name}\t{}", database.taxonomy().taxid(node))?,
            None => writeln!(out, "U\t{name}\t0")?,
        }
    }
    eprintln!(
        "build {:.2} s ({} bases, {:.2} bytes per base, {} unmapped), query {:.2} s on one thread",
        built.as_secs_f64(),
        built_of.bases,
        database.bytes() as f64 / built_of.bases as f64,
        built_of.unmapped.len(),
        queried.as_secs_f64()
    );
    Ok(())
}
