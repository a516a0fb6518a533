//! Names of templates, for files of alignments whose templates do not lie side by side: such a file is read twice, first
//! to decide, then to write.

use std::collections::HashSet;
use std::sync::Mutex;

use merganser_io::AlignmentHeader;
use merganser_run::format_size;
use merganser_run::locks::{into_inner, lock};

use super::KeptAlignment;

/// The memory in bytes that a name takes in addition to its letters.
const NAME: u64 = 64;

/// Names of templates.
pub(super) type NameSet = HashSet<Box<[u8]>>;

/// The names of some templates, while they are collected.
#[derive(Debug)]
pub struct Names {
    found: Mutex<(NameSet, u64)>,
    /// The maximum number of bytes of memory.
    most: u64,
}

impl Names {
    /// Creates an empty set of names, which may take `most` bytes of memory.
    pub fn new(most: u64) -> Names {
        Names { found: Mutex::default(), most }
    }

    /// Adds the names of alignments; each item is the first of those of a read.
    ///
    /// # Errors
    /// If there are too many: the text of a message.
    pub(super) fn add<'a>(
        &self,
        header: &AlignmentHeader,
        alignments: impl Iterator<Item = &'a [u8]>,
    ) -> Result<(), String> {
        let mut found = lock(&self.found);
        let (names, bytes) = &mut *found;
        for alignment in alignments {
            let name = KeptAlignment::first_of(header, alignment).name;
            if !names.contains(name) {
                names.insert(name.into());
                *bytes += name.len() as u64 + NAME;
            }
        }
        if *bytes <= self.most {
            return Ok(());
        }
        Err(format!(
            "the names of reads up to here take more than the {} that there are for them: give more `memory`, or \
             bring the alignments of each read together with samtools collate",
            format_size(self.most)
        ))
    }

    pub(super) fn into_set(self) -> NameSet {
        into_inner(self.found).0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_count_once_and_have_a_limit() {
        let header = AlignmentHeader::Sam(Vec::new());
        let names = Names::new(3 * (NAME + 1));
        for _ in 0..2 {
            names.add(&header, [&b"a\t0"[..], b"b\t16", b"c\t4"].into_iter()).unwrap();
        }
        let message = names.add(&header, [&b"d\t0"[..]].into_iter()).unwrap_err();
        assert!(message.contains("samtools collate"), "{message}");
        assert!(names.into_set().contains(&b"b"[..]));
    }
}
