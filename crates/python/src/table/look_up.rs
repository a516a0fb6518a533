//! Looks up the counts of single k-mers. The first call loads the table into memory.

use std::sync::Arc;

use merganser_kmers::Error;
use merganser_kmers::algebra::Cut;
use merganser_kmers::lookup::{Lookup, LookupOptions, Use, open_lookup};
use merganser_run::locks::lock;
use merganser_run::{Context, DeviceChoice, each_in_order};
use pyo3::prelude::*;

use super::Table;
use crate::call;
use crate::errors::{OrRaise, wrong};
use crate::kmers::{Kmers, MAX_K, check, with_kmer};

/// The number of k-mers that a thread looks up at a time.
const AT_ONCE: usize = 1 << 14;

/// The queried k-mers: words, or letters with a line end after each k-mer.
enum Asked<'a> {
    Words(&'a [u64]),
    Letters(&'a [u8]),
}

impl Table {
    /// Returns the table in memory. A thread that waits for it does not hold the interpreter's lock.
    fn loaded(
        &self,
        py: Python<'_>,
        context: impl FnOnce() -> Context,
    ) -> PyResult<Arc<dyn Lookup>> {
        let opened = self.opened()?;
        if let Some(lookup) = py.detach(|| lock(&self.lookup).clone()) {
            return Ok(lookup);
        }
        let context = context().device(DeviceChoice::Cpu);
        call::run(py, &context, None, |context| {
            let mut loaded = lock(&self.lookup);
            if let Some(lookup) = &*loaded {
                return Ok(Arc::clone(lookup));
            }
            let options = LookupOptions {
                context,
                cut: Cut::NONE,
                purpose: Use::Reads,
                reserved: 0,
                input: None,
            };
            let lookup = open_lookup(opened.again()?, &options)?;
            Ok::<_, Error>(Arc::clone(loaded.insert(Arc::from(lookup))))
        })
    }

    /// Returns the count of a k-mer; 0 if the table does not have it.
    pub(super) fn count_of(&self, py: Python<'_>, kmer: &Bound<'_, PyAny>) -> PyResult<u32> {
        let k = self.opened()?.header.k;
        let lookup = self.loaded(py, Context::new)?;
        with_kmer("kmer", kmer, |letters| {
            check(letters, k).map_err(|problem| wrong(py, "kmer", problem))?;
            let mut counts = Vec::new();
            lookup.counts(letters, k + 1, &mut counts).or_raise(py)?;
            Ok(counts.first().copied().unwrap_or(0))
        })
    }

    /// Returns the counts of the k-mers in an array of words or of letters, or in an iterable of `str` and `bytes`.
    pub(super) fn look_up_all(
        &self,
        py: Python<'_>,
        kmers: &Bound<'_, PyAny>,
        context: &Context,
    ) -> PyResult<Vec<u32>> {
        let k = self.opened()?.header.k;
        let given = Kmers::of(kmers, Some(k))?;
        let asked = match &given {
            Kmers::Codes(_) if k > MAX_K => {
                let problem = format!(
                    "k is {k}: only k-mers of up to {MAX_K} bases fit into 64 bits; give letters"
                );
                return Err(wrong(py, "kmers", problem));
            }
            Kmers::Codes(codes) => Asked::Words(codes.as_slice()),
            Kmers::Letters(letters) => Asked::Letters(&letters.bytes),
        };
        let lookup = self.loaded(py, || context.clone())?;
        call::run(py, context, None, |context| match &asked {
            Asked::Words(words) => {
                let parts: Vec<&[u64]> = words.chunks(AT_ONCE).collect();
                each_part(&parts, context, |words, counts| lookup.counts_of_words(words, counts))
            }
            Asked::Letters(letters) => {
                let parts: Vec<&[u8]> = letters.chunks(AT_ONCE * (k + 1)).collect();
                each_part(&parts, context, |letters, counts| lookup.counts(letters, k + 1, counts))
            }
        })
    }
}

/// Calls `look_up` for each part with all threads; returns all counts in order.
fn each_part<P: ?Sized + Sync>(
    parts: &[&P],
    context: &Context,
    look_up: impl Fn(&P, &mut Vec<u32>) -> Result<(), Error> + Sync,
) -> Result<Vec<u32>, Error> {
    let look_up = |(): &mut (), part: usize| {
        let mut counts = Vec::new();
        look_up(parts[part], &mut counts).map(|()| counts)
    };
    let counts = each_in_order::<_, _, Error>(
        context.threads,
        0..parts.len(),
        &context.cancel,
        || (),
        look_up,
    )?;
    Ok(counts.concat())
}
