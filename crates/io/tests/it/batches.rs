//! Helpers that return all batches of some segments, in order.

use std::path::{Path, PathBuf};
use std::sync::Mutex;

use crate::common::Record;
use merganser_io::{Error, Header, Input, Keep, ReadInput, RecordBatch, Records};
use merganser_run::{StartError, run_workers};

/// The record options of these tests.
pub(crate) type RecordOptions = merganser_io::RecordOptions<crate::Formats>;

/// A batch: its number, the number of reads before it, whether it is paired, and its records.
pub(crate) type Batch = (u64, u64, bool, Vec<Record>);

pub(crate) type AnyError = Box<dyn std::error::Error + Send + Sync>;

/// All batches in order, and the error with the smallest number.
pub(crate) type Listed = (Vec<Batch>, Option<(u64, Error)>);

/// Reads everything, with all workers.
pub(crate) fn read_all(segments: &[ReadInput], options: &RecordOptions) -> Result<Listed, Error> {
    let records = Records::open(segments, options.clone())?;
    let (batches, failed) = (Mutex::new(Vec::new()), Mutex::new(Vec::new()));
    run_workers::<StartError, _>(options.workers, |_| {
        let mut batch = RecordBatch::default();
        loop {
            match records.next(&mut batch) {
                Ok(Some(_)) => batches.lock().unwrap().push(listed(&batch)),
                Ok(None) => return Ok(()),
                Err(error) => failed.lock().unwrap().push((batch.number(), error)),
            }
        }
    })
    .unwrap();
    let mut batches = batches.into_inner().unwrap();
    batches.sort();
    let failed = failed.into_inner().unwrap();
    let first = failed.into_iter().min_by_key(|(number, _)| *number);
    if let Some((number, _)) = &first {
        // A batch with an error is incomplete.
        batches.retain(|batch| batch.0 < *number);
    }
    Ok((batches, first))
}

pub(crate) fn listed(batch: &RecordBatch) -> Batch {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let record = |at: usize| {
        let merganser_io::Record { name, header, letters, quality } = batch.record(at);
        assert_eq!(name, &header[..name.len()]);
        assert!(!name.iter().any(u8::is_ascii_whitespace));
        Record { header: text(header), sequence: text(letters), quality: quality.map(text) }
    };
    let records = (0..batch.len()).map(record).collect();
    (batch.number(), batch.first(), batch.is_paired(), records)
}

pub(crate) fn write(folder: &Path, name: &str, text: &str) -> PathBuf {
    let path = folder.join(name);
    std::fs::write(&path, text).unwrap();
    path
}

pub(crate) const ALL: Keep = Keep { header: Header::Whole, qualities: true };

/// Returns the warnings after reading a file of single reads, without `DIR/`.
pub(crate) fn warned(text: &str) -> Vec<String> {
    let folder = tempfile::tempdir().unwrap();
    let segments = [ReadInput::Single(Input::File(write(folder.path(), "r", text)))];
    let options = RecordOptions { find_pairs: true, ..RecordOptions::default() };
    let (batches, failed) = read_all(&segments, &options).unwrap();
    assert!(failed.is_none() && batches.iter().all(|batch| !batch.2));
    let root = format!("{}/", folder.path().display());
    options.warnings.all().iter().map(|warning| warning.replace(&root, "")).collect()
}
