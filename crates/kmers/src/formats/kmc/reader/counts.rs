//! The counts of a database: they stand at the ends of its records, whose order is of no account.

use std::sync::atomic::{AtomicU64, Ordering};

use merganser_run::{Cancel, run_workers_collect};

use super::{Database, SCAN_RECORDS};
use crate::{Error, Histogram};

impl Database {
    /// How many k-mers occur how often.
    pub(crate) fn histogram(&self, threads: usize, cancel: &Cancel) -> Result<Histogram, Error> {
        let next = AtomicU64::new(0);
        let parts = run_workers_collect(threads, |_| {
            let (mut histogram, mut bytes) = (Histogram::default(), Vec::new());
            loop {
                let at = next.fetch_add(SCAN_RECORDS, Ordering::Relaxed);
                if at >= self.header.kmers {
                    return Ok(histogram);
                }
                if cancel.is_cancelled() {
                    return Err(Error::Cancelled);
                }
                let number = SCAN_RECORDS.min(self.header.kmers - at);
                self.read_records(at, number as usize, &mut bytes)?;
                for record in 0..number as usize {
                    let count = self.header.count(&bytes[record * self.record_bytes()..]);
                    count.into_iter().for_each(|count| histogram.add(count));
                }
            }
        })?;
        let mut histogram = Histogram::default();
        parts.iter().for_each(|part| histogram.merge(part));
        Ok(histogram)
    }
}
