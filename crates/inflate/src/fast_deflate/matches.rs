//! Finds matches in a text with a table of the last position of each hash; there is a single candidate per position.

/// The minimum length of a match in bytes. On BAM of reads, 4 takes 60 % more time for a file that is 0.5 % larger; 6
/// saves little time and makes the file 0.5 % larger.
pub(super) const MIN: usize = 5;
/// The maximum length of a match in bytes.
const LONGEST: usize = 258;
/// The maximum distance of a match in bytes.
const FARTHEST: usize = 32_768;
/// The step grows by one position after every `1 << PATIENCE` positions without a match.
const PATIENCE: u32 = 3;
/// The base-2 logarithm of the number of entries of the hash table, which has 16 KiB.
const HASH_BITS: u32 = 13;
const NOWHERE: u16 = u16::MAX;
/// The number of bytes at the end of the text that are always literals, as words are read whole.
const LAST: usize = 16;

/// Literals, followed by a match of `len` bytes at `distance` before; no match if `len` is 0.
#[derive(Clone, Copy)]
pub(super) struct Sequence {
    pub(super) literals: u16,
    pub(super) len: u16,
    pub(super) distance: u16,
}

pub(super) struct Finder {
    /// The last position of each hash.
    table: Box<[u16; 1 << HASH_BITS]>,
    sequences: Vec<Sequence>,
}

impl Finder {
    pub(super) fn new() -> Finder {
        Finder { table: Box::new([NOWHERE; 1 << HASH_BITS]), sequences: Vec::new() }
    }

    /// Returns the text, of at most 65,535 bytes, as consecutive sequences. The last one has no match.
    pub(super) fn find(&mut self, text: &[u8]) -> &[Sequence] {
        self.table.fill(NOWHERE);
        self.sequences.clear();
        let end = text.len().saturating_sub(LAST);
        let (mut at, mut begin, mut tries) = (0, 0, 0usize);
        while at < end {
            let least = first(text, at);
            let slot = &mut self.table[hash(least)];
            let before = usize::from(std::mem::replace(slot, at as u16));
            let near = before < at && at - before <= FARTHEST;
            if !near || first(text, before) != least {
                tries += 1;
                at += 1 + (tries >> PATIENCE);
                continue;
            }
            let back = backwards(text, begin, at, before);
            let len = (back + MIN + forwards(text, at + MIN, before + MIN)).min(LONGEST);
            self.sequences.push(Sequence {
                literals: (at - back - begin) as u16,
                len: len as u16,
                distance: (at - before) as u16,
            });
            begin = at - back + len;
            // The text after a match often matches what followed the earlier occurrence.
            if begin < end {
                self.table[hash(first(text, begin - 2))] = (begin - 2) as u16;
            }
            (at, tries) = (begin, 0);
        }
        self.sequences.push(Sequence {
            literals: (text.len() - begin) as u16,
            len: 0,
            distance: 0,
        });
        &self.sequences
    }
}

fn word(text: &[u8], at: usize) -> u64 {
    let mut word = [0; 8];
    word.copy_from_slice(&text[at..at + 8]);
    u64::from_le_bytes(word)
}

/// Returns the first [`MIN`] bytes at `at`, in the high bytes of the word.
fn first(text: &[u8], at: usize) -> u64 {
    word(text, at) << (64 - 8 * MIN)
}

fn hash(first: u64) -> usize {
    (first.wrapping_mul(0x9e37_79b1_85eb_ca87) >> (64 - HASH_BITS)) as usize
}

/// Returns the number of equal bytes before both positions, not before `begin`.
fn backwards(text: &[u8], begin: usize, at: usize, before: usize) -> usize {
    let own = text[begin..at].iter().rev();
    let other = text[..before].iter().rev();
    own.zip(other).take(LONGEST - MIN).take_while(|(own, other)| own == other).count()
}

/// Returns the number of equal bytes from both positions on, up to about [`LONGEST`].
fn forwards(text: &[u8], at: usize, before: usize) -> usize {
    let mut len = 0;
    while len < LONGEST && at + len + 8 <= text.len() {
        let differ = word(text, at + len) ^ word(text, before + len);
        if differ != 0 {
            return len + (differ.trailing_zeros() / 8) as usize;
        }
        len += 8;
    }
    let own = text[at + len..].iter();
    len + own.zip(&text[before + len..]).take_while(|(own, other)| own == other).count()
}
