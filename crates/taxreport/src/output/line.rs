//! Lines of reads in Kraken's format. A line has half a dozen numbers, and reserving, clearing and copying memory for
//! each of them, or for each line, would take most of the time. So a line is written into memory that was cleared for
//! the lines of an earlier batch; numbers are copied as words of four bytes with three digits each, of which the first
//! ones count; and the taxids of all nodes are formatted once.

/// The maximum bytes that a number needs, including a separator after it.
pub const NUMBER: usize = 24;

/// The three digits of each number below 1,000.
static DIGITS: [[u8; 4]; 1000] = digits(false);
/// The digits of each number below 1,000 without leading zeros, and blanks.
static FIRST_DIGITS: [[u8; 4]; 1000] = digits(true);

const fn digits(first: bool) -> [[u8; 4]; 1000] {
    let mut all = [[b' '; 4]; 1000];
    let mut number = 0;
    while number < 1000 {
        let digits = [number / 100, number / 10 % 10, number % 10];
        let [a, b, c] = [b'0' + digits[0] as u8, b'0' + digits[1] as u8, b'0' + digits[2] as u8];
        all[number] = match number {
            0..10 if first => [c, b' ', b' ', b' '],
            10..100 if first => [b, c, b' ', b' '],
            _ => [a, b, c, b' '],
        };
        number += 1;
    }
    all
}

/// The lines of a batch.
#[derive(Debug, Default)]
pub struct Lines {
    /// The lines, and bytes of earlier lines after them.
    room: Vec<u8>,
    /// The end of the lines.
    end: usize,
}

impl Lines {
    /// Returns the text of all lines.
    pub fn text(&self) -> &[u8] {
        &self.room[..self.end]
    }

    /// Removes all lines. Their memory is kept.
    pub fn clear(&mut self) {
        self.end = 0;
    }

    /// Returns the memory of the lines in bytes.
    pub fn capacity(&self) -> usize {
        self.room.capacity()
    }

    /// Adds the text that `write` appends.
    pub fn add(&mut self, write: impl FnOnce(&mut Vec<u8>)) {
        self.room.truncate(self.end);
        write(&mut self.room);
        self.end = self.room.len();
    }

    /// Adds the text that `write` writes, up to `most` bytes.
    #[inline]
    fn add_line(&mut self, most: usize, write: impl FnOnce(&mut LineText<'_>)) {
        let until = self.end + most;
        if self.room.len() < until {
            self.grow(until);
        }
        let mut line = LineText { room: &mut self.room[self.end..until], end: 0 };
        write(&mut line);
        self.end += line.end;
    }

    #[cold]
    fn grow(&mut self, until: usize) {
        self.room.resize(until.max(2 * self.room.len()), 0);
    }
}

/// The text of a taxid and a colon. The last byte is its length.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TaxidText([u8; 16]);

impl TaxidText {
    /// Formats a taxid.
    pub fn new(taxid: u32) -> TaxidText {
        let mut text = [0; 16];
        let mut line = LineText { room: &mut text, end: 0 };
        line.number(taxid.into());
        line.push(b':');
        text[15] = line.end as u8;
        TaxidText(text)
    }
}

/// A line being written.
pub struct LineText<'r> {
    room: &'r mut [u8],
    end: usize,
}

/// The first columns of a read's line, which are the same for all kinds of databases.
#[derive(Clone, Copy, Debug)]
pub struct LineHead<'a> {
    /// The name of the read.
    pub name: &'a [u8],
    /// The taxid of the taxon, or of 0 for an unclassified read.
    pub taxid: TaxidText,
    /// Whether the read has a taxon.
    pub is_classified: bool,
    /// The name of the taxon, if it is written as well.
    pub taxon: Option<&'a [u8]>,
    /// The numbers of bases of the mates.
    pub lengths: (usize, Option<usize>),
}

impl LineHead<'_> {
    /// Adds a line with these columns and the text that `write` adds: up to `more` bytes, where each number counts as
    /// [`NUMBER`] bytes.
    ///
    /// # Panics
    /// If `write` adds more.
    #[inline]
    pub fn add(&self, more: usize, lines: &mut Lines, write: impl FnOnce(&mut LineText<'_>)) {
        let most = self.name.len() + self.taxon.map_or(0, <[u8]>::len) + 4 * NUMBER + 40;
        lines.add_line(most + more, |line| {
            self.put(line);
            write(line);
        });
    }

    /// Adds C or U, the name, the taxid (after the name of the taxon, if there is one), and the length of the read or of
    /// both mates (`100|98`), each followed by a tab.
    #[inline]
    fn put(&self, line: &mut LineText<'_>) {
        line.words(if self.is_classified { b"C\t" } else { b"U\t" });
        line.words(self.name);
        line.push(b'\t');
        if let Some(taxon) = self.taxon {
            line.words(taxon);
            line.words(b" (taxid ");
        }
        line.taxid(&self.taxid);
        if self.taxon.is_some() {
            line.replace_last(b')');
            line.push(b'\t');
        } else {
            line.replace_last(b'\t');
        }
        line.number(self.lengths.0 as u64);
        if let Some(second) = self.lengths.1 {
            line.push(b'|');
            line.number(second as u64);
        }
        line.push(b'\t');
    }
}

impl LineText<'_> {
    /// Adds a character.
    #[inline]
    pub fn push(&mut self, letter: u8) {
        self.room[self.end] = letter;
        self.end += 1;
    }

    /// Adds text.
    #[inline]
    pub fn words(&mut self, words: &[u8]) {
        self.room[self.end..self.end + words.len()].copy_from_slice(words);
        self.end += words.len();
    }

    /// Replaces the last character, which must be one of this line.
    #[inline]
    pub fn replace_last(&mut self, letter: u8) {
        self.room[self.end - 1] = letter;
    }

    /// Adds a taxid, a colon, a number and a blank.
    #[inline]
    pub fn taxid_number(&mut self, taxid: &TaxidText, number: u64) {
        self.taxid(taxid);
        if number < 1000 {
            self.word(FIRST_DIGITS[number as usize], first_digits(number) + 1);
        } else {
            self.large_number(number);
            self.push(b' ');
        }
    }

    /// Adds a taxid and a colon.
    #[inline]
    pub fn taxid(&mut self, TaxidText(text): &TaxidText) {
        self.room[self.end..self.end + text.len()].copy_from_slice(text);
        self.end += usize::from(text[15]);
    }

    /// Adds a number in decimal.
    #[inline]
    pub fn number(&mut self, number: u64) {
        if number < 1000 {
            self.word(FIRST_DIGITS[number as usize], first_digits(number));
        } else {
            self.large_number(number);
        }
    }

    fn large_number(&mut self, number: u64) {
        self.number(number / 1000);
        self.word(DIGITS[(number % 1000) as usize], 3);
    }

    /// Adds the first `count` bytes of a word.
    #[inline]
    fn word(&mut self, word: [u8; 4], count: usize) {
        self.room[self.end..self.end + 4].copy_from_slice(&word);
        self.end += count;
    }
}

/// Returns the number of digits of a number below 1,000.
#[inline]
fn first_digits(number: u64) -> usize {
    1 + usize::from(number >= 10) + usize::from(number >= 100)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn numbers_are_written_as_everybody_does(
            numbers in proptest::collection::vec((any::<u64>(), 0u32..64), 0..20),
        ) {
            let mut lines = Lines::default();
            let numbers = numbers.iter().map(|(number, bits)| number >> bits);
            let edges = [0, 9, 10, 99, 100, 999, 1000, 999_999, 1_000_000, u64::from(u32::MAX), u64::MAX];
            let numbers: Vec<u64> = numbers.chain(edges).collect();
            let taxid = TaxidText::new(0);
            let head =
                LineHead { name: b"r", taxid, is_classified: false, taxon: None, lengths: (7, None) };
            // The second time in memory that was used before.
            for before in ["before\n", "b"] {
                lines.clear();
                lines.add(|text| text.extend_from_slice(before.as_bytes()));
                head.add(2 * numbers.len() * NUMBER + 1, &mut lines, |line| {
                    numbers.iter().for_each(|&number| {
                        line.number(number);
                        line.push(b' ');
                        line.taxid_number(&TaxidText::new(number as u32), number);
                    });
                    line.replace_last(b'\n');
                });
                let shown = numbers.iter().map(|number| format!("{number} {}:{number} ", *number as u32));
                let shown = shown.collect::<String>();
                let shown = shown.trim_end();
                let text = String::from_utf8(lines.text().to_vec()).unwrap();
                prop_assert_eq!(text, format!("{before}U\tr\t0\t7\t{shown}\n"));
            }
        }
    }
}
