//! Measures demultiplexing of simulated reads: 96 barcodes of 24 letters, 8 % errors, reads of 2,000 letters on average.

use std::fmt::Write as _;
use std::time::Instant;

use merganser_io::{Input, OutputSet};
use merganser_run::Context;
use merganser_search::{BarcodeOptions, ReadFiles, Samples, Threshold, UNASSIGNED, demultiplex_in};

/// A generator of numbers (xorshift).
struct Random(u64);

impl Random {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) % limit
    }

    fn letters(&mut self, count: u64) -> String {
        (0..count).map(|_| b"ACGT"[self.below(4) as usize] as char).collect()
    }

    /// Returns a text with errors in 8 % of the letters: substitutions, insertions and deletions.
    fn with_errors(&mut self, text: &str) -> String {
        let mut out = String::new();
        for letter in text.chars() {
            match self.below(300) {
                0..8 => out += &self.letters(1),
                8..16 => {}
                16..24 => {
                    out.push(letter);
                    out += &self.letters(1);
                }
                _ => out.push(letter),
            }
        }
        out
    }
}

/// Returns the CPU time of this process in seconds (proc(5), with 100 ticks per second).
fn cpu_seconds() -> Option<f64> {
    let stat = std::fs::read_to_string("/proc/self/stat").ok()?;
    let mut fields = stat.rsplit(')').next()?.split_whitespace().skip(11);
    let mut ticks = || fields.next()?.parse::<f64>().ok();
    Some((ticks()? + ticks()?) / 100.0)
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().collect();
    let [_, folder, reads, threads, edits] = &arguments[..] else {
        return Err("give FOLDER READS THREADS EDITS".into());
    };
    let (count, threads): (u64, usize) = (reads.parse()?, threads.parse()?);
    let folder = std::path::Path::new(folder);
    let mut random = Random(88_172_645_463_325_252);
    let barcodes: Vec<String> = (0..96).map(|_| random.letters(24)).collect();
    let mut table = String::new();
    for (number, barcode) in barcodes.iter().enumerate() {
        writeln!(table, "s{number}\t{barcode}")?;
    }
    std::fs::write(folder.join("samples.tsv"), table)?;
    let mut text = String::new();
    for number in 0..count {
        let sample = random.below(96) as usize;
        let (before, length) = (random.below(60), 1000 + random.below(2000));
        let barcode = random.with_errors(&barcodes[sample]);
        let letters = random.letters(before) + &barcode + &random.letters(length);
        let quality = "5".repeat(letters.len());
        writeln!(text, "@r{number}_s{sample}\n{letters}\n+\n{quality}")?;
    }
    std::fs::write(folder.join("reads.fq"), text)?;
    let samples = Samples::read(&folder.join("samples.tsv"))?;
    let names = samples.all().iter().map(|sample| sample.name()).chain([UNASSIGNED]);
    let outputs: Vec<_> = names.map(|name| folder.join(format!("{name}.fq"))).collect();
    let (context, set) = (Context::new().threads(threads), OutputSet::new());
    let (begun, cpu, options) = (Instant::now(), cpu_seconds(), BarcodeOptions::default());
    let threshold = Threshold::Edits(edits.parse()?);
    let reads = [Input::from(folder.join("reads.fq"))];
    let files = ReadFiles { reads: &reads, outputs: &outputs, set: &set };
    let outcome = demultiplex_in(threshold, &options, &samples, files, &context)?;
    set.commit()?;
    if let (Some(before), Some(after)) = (cpu, cpu_seconds()) {
        println!("{:.2} s of CPU time", after - before);
    }
    println!("{:.2} s, {:?}", begun.elapsed().as_secs_f64(), outcome.stages);
    let mut right = 0;
    for number in 0..96 {
        let text = std::fs::read_to_string(folder.join(format!("s{number}.fq")))?;
        let is_right =
            |line: &&str| line.starts_with("@r") && line.ends_with(&format!("_s{number}"));
        right += text.lines().filter(is_right).count() as u64;
    }
    println!("right {right}, wrong {}", outcome.assigned().reads - right);
    println!("ambiguous {}, none {}", outcome.ambiguous.reads, outcome.none.reads);
    Ok(())
}
