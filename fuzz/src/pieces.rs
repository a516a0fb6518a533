//! Pieces of a count: its shards, and the ranges of k-mers made from them.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use merganser_count::Config;
use merganser_io::OutputSet;
use merganser_kmers::algebra::{Expression, Mode, Operation, concat, join, open_pieces};
use merganser_kmers::formats::TableFormat;
use merganser_run::Shard;

use crate::databases::letters;
use crate::files::{folder, write};
use crate::tables::{calculation, config, make, context};

/// The pieces of a count in two shards.
pub struct Pieces {
    /// The shards.
    pub shards: [Vec<u8>; 2],
    /// The ranges that the shards are joined to.
    pub ranges: [Vec<u8>; 2],
    /// The whole table.
    pub whole: Vec<u8>,
}

/// Returns the pieces of counts for three values of k, each of a different k-mer width.
pub fn written() -> &'static [Pieces; 3] {
    static PIECES: OnceLock<[Pieces; 3]> = OnceLock::new();
    PIECES.get_or_init(|| [5, 31, 40].map(of))
}

/// The numbers of the two pieces.
pub const BOTH: [u16; 2] = [1, 2];

fn shard(number: u16) -> Shard {
    Shard::new(number, 2).expect("a valid shard")
}

fn of(k: usize) -> Pieces {
    let folder = folder();
    let path = |name: &str| folder.path().join(name);
    let read = |path: &PathBuf| std::fs::read(path).expect("a table");
    let records = (0..4).map(|seed| format!(">{seed}\n{}\n", letters(60, seed / 2)));
    let reads: String = records.collect();
    let count = |name: &str, shard: Option<Shard>| {
        let to = path(name);
        make(&Config { shard, ..config(k) }, reads.as_bytes(), &to).expect("a table");
        to
    };
    let paths = [count("1", Some(shard(1))), count("2", Some(shard(2)))];
    let ranges = BOTH.map(|number| {
        let to = path(&format!("range{number}"));
        assert!(join_to(&paths, Some(shard(number)), &to), "a range");
        read(&to)
    });
    Pieces { shards: paths.each_ref().map(read), ranges, whole: read(&count("whole", None)) }
}

/// Joins shards to a range or to the whole table; returns whether that is possible.
pub fn join_to(paths: &[PathBuf], range: Option<Shard>, to: &Path) -> bool {
    let Ok(tables) = open_pieces(paths, true, &context()) else { return false };
    let operands = (0..tables.len()).map(Expression::Table).collect();
    let union = Expression::Of { operation: Operation::Union, mode: Mode::Sum, operands };
    let calculation = calculation(union, Some(to.to_owned()), TableFormat::Mgk);
    let (context, outputs) = (context(), OutputSet::alone());
    join(&calculation, range, &tables, &outputs, &context).is_ok()
}

/// Concatenates ranges; returns whether that is possible.
pub fn concat_to(paths: &[PathBuf], to: &Path) -> bool {
    let Ok(tables) = open_pieces(paths, true, &context()) else { return false };
    let calculation = calculation(Expression::Table(0), Some(to.to_owned()), TableFormat::Mgk);
    let (context, outputs) = (context(), OutputSet::alone());
    concat(&calculation, &tables, &outputs, &context).is_ok()
}

/// Writes both pieces and joins them; returns the bytes of the whole table if that is possible.
pub fn whole(folder: &Path, pieces: &[Vec<u8>], are_ranges: bool) -> Option<Vec<u8>> {
    let paths: Vec<PathBuf> = BOTH.iter().map(|number| folder.join(number.to_string())).collect();
    paths.iter().zip(pieces).for_each(|(path, bytes)| write(path, bytes));
    let to = folder.join("whole");
    let done = if are_ranges { concat_to(&paths, &to) } else { join_to(&paths, None, &to) };
    done.then(|| {
        let bytes = std::fs::read(&to).expect("a table");
        std::fs::remove_file(&to).expect("a table");
        bytes
    })
}
