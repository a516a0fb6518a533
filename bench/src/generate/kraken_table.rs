//! `merganser-bench gen kraken-table`: large Kraken tables from small ones.
//!
//! A table of c cells that is repeated n times has n · c cells. A search begins at cell hash mod (n · c), which is cell
//! hash mod c of one of the copies, and finds the cells of the small table in the same order: the end of a copy is
//! followed by the beginning of the next, as the end of the small table by its beginning. So reads have the same taxa
//! by both tables, and only the memory accesses are those of a large one.

use std::fs::File;
use std::io::{BufReader, Read, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};

/// `merganser-bench gen kraken-table …`
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Folder of a Kraken 2 database
    database: PathBuf,
    /// Number of copies of its table
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    times: u64,
    /// Output folder
    #[arg(short, long, value_name = "FOLDER")]
    output: PathBuf,
}

/// Copies a database, with its table repeated.
pub(crate) fn run(args: &Args) -> Result<()> {
    std::fs::create_dir_all(&args.output)?;
    let [from, to] = [args.database.canonicalize()?, args.output.canonicalize()?];
    ensure!(from != to, "{}: the output is the database itself", to.display());
    for name in ["opts.k2d", "taxo.k2d"] {
        let (from, to) = (args.database.join(name), args.output.join(name));
        std::fs::copy(&from, to).with_context(|| from.display().to_string())?;
    }
    let [from, to] = [&args.database, &args.output].map(|folder| folder.join("hash.k2d"));
    repeat(&from, &to, args.times).with_context(|| from.display().to_string())
}

/// Writes a table repeated `times` times.
fn repeat(from: &Path, to: &Path, times: u64) -> Result<()> {
    let mut output = File::create(to)?;
    for copy in 0..times {
        let mut table = BufReader::with_capacity(1 << 20, File::open(from)?);
        let mut header = [0; 32];
        table.read_exact(&mut header)?;
        if copy == 0 {
            // The number of cells, and of those in use.
            for field in header[..16].as_chunks_mut::<8>().0 {
                let repeated = u64::from_le_bytes(*field).checked_mul(times);
                ensure!(repeated.is_some(), "too many copies");
                *field = repeated.unwrap_or_default().to_le_bytes();
            }
            output.write_all(&header)?;
        }
        std::io::copy(&mut table, &mut output)?;
    }
    Ok(output.sync_all()?)
}
