//! What becomes of the reads of a line.

use std::collections::HashMap;

use super::ExtractConfig;
use super::lines::ReadLine;

/// Decides lines by their taxids, and counts those with unknown ones.
pub(super) struct Decisions<'c> {
    config: &'c ExtractConfig,
    /// Taxids of lines: whether their reads are extracted, and whether they are known.
    taxids: HashMap<u64, (bool, bool)>,
    unknown: u64,
    first_unknown: Option<(u64, String)>,
}

impl<'c> Decisions<'c> {
    pub(super) fn new(config: &'c ExtractConfig) -> Decisions<'c> {
        Decisions { config, taxids: HashMap::new(), unknown: 0, first_unknown: None }
    }

    /// Whether the reads of a line are extracted. Each line comes once.
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

    /// How many lines had unknown taxids, and the first: its taxid and the name of its read.
    pub(super) fn unknown(self) -> (u64, Option<(u64, String)>) {
        (self.unknown, self.first_unknown)
    }
}
