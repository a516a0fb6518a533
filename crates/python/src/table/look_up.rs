//! Looks up the counts of single k-mers. The first call loads the table into memory.

use std::sync::Arc;

use merganser::kmers::Error;
use merganser::kmers::algebra::Cut;
use merganser::kmers::lookup::{Lookup, LookupOptions, Use, open_lookup};
use merganser::run::locks::lock;
use merganser::run::{Cancel, DeviceChoice, Resources, Silent, each_in_order};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyString};

use super::Table;
use crate::arrow;
use crate::errors::{OrRaise, wrong};
use crate::numpy::Words;
use crate::sequences::with_letters;

/// The number of k-mers that a thread looks up at a time.
const AT_ONCE: usize = 1 << 14;

/// The queried k-mers: words, or letters with a line end after each k-mer.
enum Asked<'a> {
    Words(&'a [u64]),
    Letters(Vec<u8>),
}

impl Table {
    /// Returns the table in memory. A thread that waits for it does not hold the interpreter's lock.
    fn loaded(&self, py: Python<'_>) -> PyResult<Arc<dyn Lookup>> {
        let loaded = py.detach(|| {
            let mut loaded = lock(&self.lookup);
            if let Some(lookup) = &*loaded {
                return Ok(Arc::clone(lookup));
            }
            let resources = Resources::new().device(DeviceChoice::Cpu);
            let options = LookupOptions {
                resources: &resources,
                cut: Cut::NONE,
                purpose: Use::Reads,
                reserved: 0,
                input: None,
            };
            let lookup = open_lookup(self.again()?, &options, &Silent, &Cancel::default())?;
            Ok::<_, Error>(Arc::clone(loaded.insert(Arc::from(lookup))))
        });
        loaded.or_raise(py)
    }

    /// Returns the count of a k-mer; 0 if the table does not have it.
    pub(super) fn count_of(&self, py: Python<'_>, kmer: &Bound<'_, PyAny>) -> PyResult<u32> {
        let k = self.header().k;
        let lookup = self.loaded(py)?;
        with_letters(kmer, |letters| {
            check(letters, k, None).map_err(|what| wrong(py, what))?;
            let mut counts = Vec::new();
            lookup.counts(letters, k + 1, &mut counts).or_raise(py)?;
            Ok(counts.first().copied().unwrap_or(0))
        })
    }

    /// Returns the counts of the k-mers in an array of words, in Arrow strings, or in an iterable of `str` and
    /// `bytes`.
    pub(super) fn look_up_all(
        &self,
        py: Python<'_>,
        kmers: &Bound<'_, PyAny>,
        threads: Option<usize>,
    ) -> PyResult<Vec<u32>> {
        let k = self.header().k;
        let words = Words::of(kmers)?;
        let asked = match &words {
            Some(_) if k > 32 => {
                return Err(wrong(
                    py,
                    format!(
                        "k is {k}: only k-mers of up to 32 bases fit into 64 bits; give strings"
                    ),
                ));
            }
            Some(words) => Asked::Words(words.as_slice()),
            None => Asked::Letters(self.letters(kmers)?),
        };
        let lookup = self.loaded(py)?;
        let threads = threads.unwrap_or_else(|| Resources::new().threads).max(1);
        let found = py.detach(|| match asked {
            Asked::Words(words) => {
                each(threads, words, |words, counts| lookup.counts_of_words(words, counts))
            }
            Asked::Letters(letters) => {
                let kmers: Vec<&[u8]> = letters.chunks(AT_ONCE * (k + 1)).collect();
                let parts = each_part(threads, &kmers, |letters, counts| {
                    lookup.counts(letters, k + 1, counts)
                });
                parts.map(|parts| parts.concat())
            }
        });
        found.or_raise(py)
    }

    fn letters(&self, kmers: &Bound<'_, PyAny>) -> PyResult<Vec<u8>> {
        let k = self.header().k;
        let mut letters = Vec::new();
        let mut number = 0;
        let mut add = |kmer: &[u8]| {
            number += 1;
            check(kmer, k, Some(number)).map_err(PyValueError::new_err)?;
            letters.extend_from_slice(kmer);
            letters.push(b'\n');
            Ok(())
        };
        if kmers.is_instance_of::<PyString>() || kmers.is_instance_of::<PyBytes>() {
            with_letters(kmers, &mut add)?;
        } else if arrow::is_arrow(kmers)? {
            arrow::for_each_text(kmers, |text| add(text.unwrap_or_default()))?;
        } else {
            for kmer in kmers.try_iter()? {
                with_letters(&kmer?, &mut add)?;
            }
        }
        Ok(letters)
    }
}

/// Checks a k-mer; the error is a message.
fn check(kmer: &[u8], k: usize, number: Option<u64>) -> Result<(), String> {
    let which = number.map_or_else(String::new, |number| format!("k-mer {number}: "));
    if kmer.len() != k {
        let (letters, shown) = (kmer.len(), String::from_utf8_lossy(kmer));
        return Err(format!(
            "{which}'{shown}' has {letters} letters: the k-mers of this table have {k}"
        ));
    }
    match kmer.iter().find(|letter| !merganser::seq::base::is_base(**letter)) {
        None => Ok(()),
        Some(letter) => Err(format!(
            "{which}it has the letter '{}': k-mers are made of A C G T (or U)",
            char::from(*letter)
        )),
    }
}

/// Looks up all words with all threads.
fn each(
    threads: usize,
    words: &[u64],
    look_up: impl Fn(&[u64], &mut Vec<u32>) -> Result<(), Error> + Sync,
) -> Result<Vec<u32>, Error> {
    let parts: Vec<&[u64]> = words.chunks(AT_ONCE).collect();
    each_part(threads, &parts, look_up).map(|parts| parts.concat())
}

/// Calls `look_up` for each part with all threads; returns the results in order.
fn each_part<P: ?Sized + Sync>(
    threads: usize,
    parts: &[&P],
    look_up: impl Fn(&P, &mut Vec<u32>) -> Result<(), Error> + Sync,
) -> Result<Vec<Vec<u32>>, Error> {
    let look_up = |(): &mut (), part: usize| {
        let mut counts = Vec::new();
        look_up(parts[part], &mut counts).map(|()| counts)
    };
    each_in_order(threads, 0..parts.len(), &Cancel::default(), || (), look_up)
}
