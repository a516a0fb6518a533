//! The decision for each line whether its reads are extracted.

use std::collections::HashMap;

use super::ExtractConfig;
use super::lines::ReadLine;

/// Decides on lines by their taxids, and counts lines with unknown ones.
pub(super) struct Decisions<'c> {
    config: &'c ExtractConfig,
    /// For each taxid that occurred, whether its reads are extracted, and whether it is known.
    taxids: HashMap<u64, (bool, bool)>,
    unknown: u64,
    first_unknown: Option<(u64, String)>,
}

impl<'c> Decisions<'c> {
    pub(super) fn new(config: &'c ExtractConfig) -> Decisions<'c> {
        Decisions { config, taxids: HashMap::new(), unknown: 0, first_unknown: None }
    }

    /// Whether the reads of a line are extracted. Must be called once for each line.
    pub(super) fn extracts(&mut self, line: &ReadLine) -> bool {
        let Some(known) = &self.config.known else { return self.config.wants(line.taxid) };
        let decide = || {
            let is_known = line.taxid == 0 || known.binary_search(&line.taxid).is_ok();
            (self.config.wants(line.taxid), is_known)
        };
        let (extracted, is_known) = *self.taxids.entry(line.taxid).or_insert_with(decide);
        if !is_known {
            self.unknown += 1;
            self.first_unknown.get_or_insert_with(|| {
                (line.taxid, String::from_utf8_lossy(&line.name).into_owned())
            });
        }
        extracted
    }

    /// Whether the reads of a line are extracted, for a line that was counted before.
    pub(super) fn wants(&self, line: &ReadLine) -> bool {
        self.config.wants(line.taxid)
    }

    /// Returns the number of lines with unknown taxids, and the taxid and read name of the first.
    pub(super) fn unknown(self) -> (u64, Option<(u64, String)>) {
        (self.unknown, self.first_unknown)
    }
}
