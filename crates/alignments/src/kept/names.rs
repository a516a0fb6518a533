//! Names of templates, for files of alignments whose templates do not lie side by side: such a file is read twice, first
//! to decide, then to write.

use std::collections::HashMap;
use std::sync::Mutex;

use merganser_io::AlignmentHeader;
use merganser_run::format_size;
use merganser_run::locks::{into_inner, lock};

use super::KeptAlignment;

/// The memory in bytes that a name takes in addition to its letters.
const NAME: u64 = 80;

/// Names of templates, with the values of their reads.
pub(super) type NameMap = HashMap<Box<[u8]>, Values>;

/// The values of a single read, of a first mate and of a second mate; 0 for those that were not noted.
pub(super) type Values = [u32; 3];

/// The names of some templates, while they are collected.
#[derive(Debug)]
pub struct Names {
    found: Mutex<(NameMap, u64)>,
    /// The maximum number of bytes of memory.
    most: u64,
}

impl Names {
    /// Creates an empty set of names, which may take `most` bytes of memory.
    pub fn new(most: u64) -> Names {
        Names { found: Mutex::default(), most }
    }

    /// Adds the names of alignments; each item is the first of those of a read, and the value of the read.
    ///
    /// # Errors
    /// If there are too many, or reads with the same name have different values: the text of a message.
    pub(super) fn add<'a>(
        &self,
        header: &AlignmentHeader,
        alignments: impl Iterator<Item = (&'a [u8], u32)>,
    ) -> Result<(), String> {
        let mut found = lock(&self.found);
        let (names, bytes) = &mut *found;
        for (alignment, value) in alignments {
            let alignment = KeptAlignment::first_of(header, alignment);
            let (name, mate) = (alignment.name, alignment.mate());
            if let Some(values) = names.get_mut(name) {
                if values[mate] != 0 && value != 0 && values[mate] != value {
                    return Err(format!(
                        "several reads have the name '{}': make names unique",
                        String::from_utf8_lossy(name)
                    ));
                }
                values[mate] = values[mate].max(value);
                continue;
            }
            let mut values = Values::default();
            values[mate] = value;
            names.insert(name.into(), values);
            *bytes += name.len() as u64 + NAME;
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

    pub(super) fn into_map(self) -> NameMap {
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
            let all = [(&b"a\t0"[..], 5), (b"b\t65", 7), (b"b\t131", 8), (b"c\t4", 0)];
            names.add(&header, all.into_iter()).unwrap();
        }
        let message = names.add(&header, [(&b"a\t0"[..], 6)].into_iter()).unwrap_err();
        assert_eq!(message, "several reads have the name 'a': make names unique");
        let message = names.add(&header, [(&b"d\t0"[..], 0)].into_iter()).unwrap_err();
        assert!(message.contains("samtools collate"), "{message}");
        let names = names.into_map();
        assert_eq!([&b"a"[..], b"b", b"c"].map(|name| names[name]), [[5, 0, 0], [0, 7, 8], [0; 3]]);
    }
}
