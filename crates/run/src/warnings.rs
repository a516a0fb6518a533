//! Warnings about inputs and results that do not end a run.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The warning about inputs without reads.
pub const NO_READS: &str = "there are no reads in the input";

/// The warnings of a run, one line each, which says what is doubtful, how often, in which
/// file, and what to do. As in errors, fields of configurations are in backticks
/// ([`with_names`](crate::with_names)). Clones share one list; each message is kept once.
///
/// ```
/// let warnings = merganser_run::Warnings::default();
/// warnings.clone().push("reads.bam: ends without its end-of-file block");
/// warnings.push("reads.bam: ends without its end-of-file block");
/// assert_eq!(warnings.all(), ["reads.bam: ends without its end-of-file block"]);
/// ```
#[derive(Clone, Debug, Default)]
pub struct Warnings(Arc<Mutex<Vec<String>>>);

impl Warnings {
    /// Adds a warning, unless the same one has been added before.
    pub fn push(&self, message: impl Into<String>) {
        let message = message.into();
        let mut all = self.lock();
        if !all.contains(&message) {
            all.push(message);
        }
    }

    /// Warns if the number of reads is 0.
    pub fn expect_reads(&self, reads: u64) {
        if reads == 0 {
            self.push(NO_READS);
        }
    }

    /// Returns the number of warnings so far.
    pub fn count(&self) -> usize {
        self.lock().len()
    }

    /// Returns all warnings so far, in the order in which they were added.
    pub fn all(&self) -> Vec<String> {
        self.since(0)
    }

    /// Returns the warnings from number `first`, counted from 0, in the order in which they were added.
    pub fn since(&self, first: usize) -> Vec<String> {
        self.lock().get(first..).unwrap_or_default().to_vec()
    }

    /// Locks the list, also after a panic. Does not use [`crate::locks`], whose locks become loom's while
    /// the models are tested, and the models have no warnings.
    fn lock(&self) -> MutexGuard<'_, Vec<String>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
