//! The certificate of `merganser deplete filter --confirm`.

use std::fs::File;
use std::io::{ErrorKind, Read};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use anyhow::{Context as _, Result};
use merganser_deplete::{Error, Haplotypes};
use merganser_io::{Input, OutputSet, is_regular};
use merganser_run::Cancel;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::filter::Finished;
use super::summary::put_json;

/// The version of the certificate's keys.
const FORMAT: u32 = 1;

/// The digests of the files that all samples share; `None` until they have been read.
#[derive(Default)]
pub(super) struct SharedDigests(Mutex<Option<Shared>>);

/// The digests of the program, the set and the index.
type Shared = [Option<String>; 3];

/// The digests of the files that a run reads.
pub(super) struct Digests {
    shared: Shared,
    inputs: Vec<Option<String>>,
}

impl Digests {
    /// Reads the files; the set and the index only once for all samples. Pipes have no digest.
    ///
    /// # Errors
    /// If a file cannot be read, or the run is cancelled.
    pub(super) fn of(
        (set, index): (&Path, &Path),
        inputs: &[Input],
        known: &SharedDigests,
        cancel: &Cancel,
    ) -> Result<Digests> {
        let digest = |path: &Path| digest(path, cancel);
        let of_input = |input: &Input| input.path().map_or(Ok(None), digest);
        let inputs = inputs.iter().map(of_input).collect::<Result<_>>()?;
        let mut known = known.0.lock().unwrap_or_else(PoisonError::into_inner);
        let shared = match &*known {
            Some(shared) => shared.clone(),
            None => {
                let program = std::env::current_exe().context("the program's own file")?;
                let shared = [digest(&program)?, digest(set)?, digest(index)?];
                known.insert(shared).clone()
            }
        };
        Ok(Digests { shared, inputs })
    }
}

/// Returns the SHA-256 digest of a regular file, in hexadecimal digits.
fn digest(path: &Path, cancel: &Cancel) -> Result<Option<String>> {
    if !is_regular(path) {
        return Ok(None);
    }
    let failed = |source| Error::File { path: path.to_owned(), source };
    let mut file = File::open(path).map_err(failed)?;
    let (mut hash, mut buffer) = (Sha256::new(), vec![0; 1 << 20]);
    loop {
        cancel.check().map_err(Error::from)?;
        match file.read(&mut buffer) {
            Ok(0) => break,
            Ok(count) => hash.update(&buffer[..count]),
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(failed(error).into()),
        }
    }
    Ok(Some(hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect()))
}

/// Writes the certificate of a finished run, whose outputs are complete but have not appeared yet.
///
/// # Errors
/// If an output cannot be read, or the certificate cannot be written.
pub(super) fn write(
    finished: &Finished<'_>,
    haplotypes: &Haplotypes,
    digests: &Digests,
    set: &OutputSet,
    path: &Path,
) -> Result<()> {
    let of_output = |path: &PathBuf| -> Result<Value> {
        let digest = match set.finished(path) {
            Some(temporary) => digest(&temporary, &finished.context.cancel)?,
            None => None,
        };
        Ok(file(path.display(), &digest))
    };
    let outputs = finished.kept.iter().map(of_output).collect::<Result<Vec<Value>>>()?;
    put_json(&certificate(finished, haplotypes, digests, outputs), path, set)
}

fn file(name: impl ToString, digest: &Option<String>) -> Value {
    json!({ "name": name.to_string(), "sha256": digest })
}

fn certificate(
    finished: &Finished<'_>,
    haplotypes: &Haplotypes,
    digests: &Digests,
    outputs: Vec<Value>,
) -> Value {
    let (args, outcome) = (finished.args, finished.outcome);
    let [program, set, index] = &digests.shared;
    let confirmed = outcome.confirmed.clone().unwrap_or_default();
    let inputs = finished.inputs.iter().zip(&digests.inputs);
    let inputs: Vec<Value> = inputs.map(|(input, digest)| file(input, digest)).collect();
    let of_contig = |at: usize| confirmed.by_contig.get(at).copied().unwrap_or(0);
    let contigs = haplotypes.index().contigs().iter().enumerate().map(
        |(at, contig)| json!({ "name": contig.name, "length": contig.len, "reads": of_contig(at) }),
    );
    let contigs: Vec<Value> = contigs.collect();
    let kept = confirmed.kept_by_edits.iter().enumerate().filter(|(_, reads)| **reads > 0);
    let kept: Vec<Value> =
        kept.map(|(edits, reads)| json!({ "edits": edits, "reads": reads })).collect();
    json!({
        "certificate": "merganser deplete filter --confirm",
        "format": FORMAT,
        "version": env!("CARGO_PKG_VERSION"),
        "program": file("merganser", program),
        "set": file(args.set.display(), set),
        "index": file(haplotypes.index().source().display(), index),
        "inputs": inputs,
        "outputs": outputs,
        "edits": haplotypes.threshold().to_string(),
        "searched_edits": haplotypes.bound().to_string(),
        "reads": outcome.records,
        "bases": outcome.bases,
        "reads_removed_by_set": outcome.records - outcome.kept_records - confirmed.removed,
        "reads_removed_by_confirmation": confirmed.removed,
        "reads_too_short_to_tell": confirmed.too_short,
        "kept_reads": outcome.kept_records,
        "kept_bases": outcome.kept_bases,
        "nearest_kept_edits": confirmed.nearest_kept(),
        "kept_reads_by_edits": kept,
        "removed_reads_by_contig": contigs,
    })
}
