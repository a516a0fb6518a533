//! Names of reads with the decisions about them, within a limited amount of memory.

use std::hash::{BuildHasher, RandomState};

use hashbrown::HashTable;

/// The number of bytes of names that are allocated at a time.
const CHUNK: usize = 1 << 20;

/// A hash map from names to whether their reads are extracted.
#[derive(Debug)]
pub(super) struct NameTable {
    /// The names; each comes after its length (4 bytes, little-endian) and a byte for its decision.
    chunks: Vec<Vec<u8>>,
    /// The capacity of all chunks in bytes.
    held: usize,
    /// The positions of entries: the chunk in the upper half, the offset in the lower half.
    places: HashTable<u64>,
    /// A random hasher, so that input cannot be made to contain names that collide.
    hasher: RandomState,
    most: u64,
}

/// The outcome of adding a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Added {
    /// The name is in the map; it may have been there before.
    Yes,
    /// The name was there with the opposite decision.
    Contradiction,
    /// There is no memory for the name.
    NoRoom,
}

impl NameTable {
    /// Returns an empty map of up to `most` bytes.
    pub(super) fn new(most: u64) -> NameTable {
        let (places, hasher) = (HashTable::new(), RandomState::new());
        NameTable { chunks: Vec::new(), held: 0, places, hasher, most }
    }

    /// Returns the number of names.
    pub(super) fn len(&self) -> usize {
        self.places.len()
    }

    /// Adds a name.
    pub(super) fn add(&mut self, name: &[u8], extracted: bool) -> Added {
        if let Some(known) = self.get(name) {
            return if known == extracted { Added::Yes } else { Added::Contradiction };
        }
        let needed = name.len() + 5;
        let has_room = |chunk: &Vec<u8>| chunk.capacity() - chunk.len() >= needed;
        let more = if self.chunks.last().is_some_and(has_room) { 0 } else { CHUNK.max(needed) };
        if !self.fits(more) {
            return Added::NoRoom;
        }
        if more > 0 {
            self.chunks.push(Vec::with_capacity(more));
            self.held += more;
        }
        let at = self.chunks.len() - 1;
        let chunk = &mut self.chunks[at];
        let place = (at as u64) << 32 | chunk.len() as u64;
        chunk.extend_from_slice(&(name.len() as u32).to_le_bytes());
        chunk.push(u8::from(extracted));
        chunk.extend_from_slice(name);
        let NameTable { chunks, places, hasher, .. } = self;
        let hash = |place: &u64| hasher.hash_one(entry(chunks, *place).1);
        places.insert_unique(hasher.hash_one(name), place, hash);
        Added::Yes
    }

    /// Returns whether the reads of a name are extracted; `None` if the name is unknown.
    pub(super) fn get(&self, name: &[u8]) -> Option<bool> {
        let same = |place: &u64| entry(&self.chunks, *place).1 == name;
        let place = self.places.find(self.hasher.hash_one(name), same)?;
        Some(entry(&self.chunks, *place).0)
    }

    /// Whether `more` bytes of names and one more position fit. The set of positions may have to double, and both
    /// versions exist for a moment.
    fn fits(&self, more: usize) -> bool {
        let table = self.places.allocation_size();
        let growing = if self.places.len() == self.places.capacity() { 2 * table } else { 0 };
        (self.held + more + table + growing) as u64 <= self.most
    }
}

/// Returns the decision and the name at a position.
fn entry(chunks: &[Vec<u8>], place: u64) -> (bool, &[u8]) {
    let bytes = &chunks[(place >> 32) as usize][place as u32 as usize..];
    let length = u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]) as usize;
    (bytes[4] != 0, &bytes[5..5 + length])
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashMap;

    #[test]
    fn names_are_found_again() {
        let mut table = NameTable::new(1 << 30);
        let mut oracle: HashMap<Vec<u8>, bool> = HashMap::new();
        for number in 0..50_000u32 {
            let name = format!("read:{}:{}", number % 40_000, "x".repeat(number as usize % 60));
            let extracted = number % 3 == 0;
            let expected = match oracle.get(name.as_bytes()) {
                Some(&known) if known != extracted => Added::Contradiction,
                _ => Added::Yes,
            };
            assert_eq!(table.add(name.as_bytes(), extracted), expected);
            oracle.entry(name.into_bytes()).or_insert(extracted);
        }
        assert_eq!(table.add(&[7; 3 << 20], true), Added::Yes);
        assert_eq!(table.get(&[7; 3 << 20]), Some(true));
        assert_eq!((table.len(), table.get(b"other")), (oracle.len() + 1, None));
        assert!(oracle.iter().all(|(name, &extracted)| table.get(name) == Some(extracted)));
    }

    #[test]
    fn memory_has_a_bound() {
        let mut table = NameTable::new(4 << 20);
        let full = (0..1_000_000u32).find(|n| table.add(&n.to_le_bytes(), true) == Added::NoRoom);
        assert!((50_000..500_000).contains(&full.unwrap()), "{full:?}");
        assert_eq!(table.get(&7u32.to_le_bytes()), Some(true));
        assert_eq!(NameTable::new(0).add(b"a", true), Added::NoRoom);
    }
}
