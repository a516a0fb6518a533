//! Repetitions in a text: a table of where each hash was last seen, and no second try.

/// The shortest repetition looked for. On BAM of reads, 4 costs 60 % more time for a file 0.5 % larger,
/// 6 saves little time and costs 0.5 % of size.
pub(super) const LEAST: usize = 5;
/// The longest that can be said, and how far back it may lie.
const LONGEST: usize = 258;
const FARTHEST: usize = 32_768;
/// After every `1 << PATIENCE` positions without one, one more is left out at a time.
const PATIENCE: u32 = 3;
/// Positions are looked up in a table of 16 KiB.
const HASH_BITS: u32 = 13;
const NOWHERE: u16 = u16::MAX;
/// Words are read whole, so that the last bytes are literals.
const LAST: usize = 16;

/// Literals, and what is repeated after them: `len` bytes that stand `distance` before; with 0, nothing.
#[derive(Clone, Copy)]
pub(super) struct Sequence {
    pub(super) literals: u16,
    pub(super) len: u16,
    pub(super) distance: u16,
}

pub(super) struct Finder {
    /// Where the last bytes of each hash stand.
    table: Box<[u16; 1 << HASH_BITS]>,
    sequences: Vec<Sequence>,
}

impl Finder {
    pub(super) fn new() -> Finder {
        Finder { table: Box::new([NOWHERE; 1 << HASH_BITS]), sequences: Vec::new() }
    }

    /// The text, of at most 65,535 bytes, in order and without gaps; the last one repeats nothing.
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
            let len = (back + LEAST + forwards(text, at + LEAST, before + LEAST)).min(LONGEST);
            self.sequences.push(Sequence {
                literals: (at - back - begin) as u16,
                len: len as u16,
                distance: (at - before) as u16,
            });
            begin = at - back + len;
            // What follows is often followed by the same again.
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

/// The first [`LEAST`] bytes from there on, above all others.
fn first(text: &[u8], at: usize) -> u64 {
    word(text, at) << (64 - 8 * LEAST)
}

fn hash(first: u64) -> usize {
    (first.wrapping_mul(0x9e37_79b1_85eb_ca87) >> (64 - HASH_BITS)) as usize
}

/// How many bytes before both places are the same, of those from `begin` on.
fn backwards(text: &[u8], begin: usize, at: usize, before: usize) -> usize {
    let own = text[begin..at].iter().rev();
    let other = text[..before].iter().rev();
    own.zip(other).take(LONGEST - LEAST).take_while(|(own, other)| own == other).count()
}

/// How many bytes from both places on are the same, up to about [`LONGEST`].
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
