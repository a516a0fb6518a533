//! The line of a read in Kraken's format, written into a buffer that is reserved once for the whole line. Numbers
//! are copied as words of four bytes with three digits each, of which the first ones count. A line has half a dozen
//! numbers, and reserving and copying each separately would take most of the time.

/// The maximum bytes that a number needs, including a separator after it.
pub const NUMBER: usize = 24;

/// The three digits of each number below 1,000, and how many of them remain without leading zeros.
static DIGITS: [[u8; 4]; 1000] = digits();

const fn digits() -> [[u8; 4]; 1000] {
    let mut all = [[0; 4]; 1000];
    let mut number = 0;
    while number < 1000 {
        all[number] = [
            b'0' + (number / 100) as u8,
            b'0' + (number / 10 % 10) as u8,
            b'0' + (number % 10) as u8,
            1 + (number >= 10) as u8 + (number >= 100) as u8,
        ];
        number += 1;
    }
    all
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
    /// The taxid and the name of the taxon, which may be empty unless `names` is set; `None` for an unclassified read.
    pub taxon: Option<(u32, &'a [u8])>,
    /// Whether the name of the taxon is written as well.
    pub names: bool,
    /// The numbers of bases of the mates.
    pub lengths: (usize, Option<usize>),
}

impl LineHead<'_> {
    /// Appends a line with these columns and the text that `write` adds: up to `more` bytes, where each number
    /// counts as [`NUMBER`] bytes.
    ///
    /// # Panics
    /// If `write` adds more.
    #[inline]
    pub fn append(&self, more: usize, text: &mut Vec<u8>, write: impl FnOnce(&mut LineText<'_>)) {
        let name = self.taxon.map_or(0, |(_, name)| name.len());
        let most = self.name.len() + name + 3 * NUMBER + 40;
        let start = text.len();
        text.resize(start + most + more + NUMBER, 0);
        let mut line = LineText { room: &mut text[start..], end: 0 };
        self.put(&mut line);
        write(&mut line);
        let end = start + line.end;
        text.truncate(end);
    }

    /// Adds C or U, the name, the taxid (after the name of the taxon with `names`; 0 for an unclassified read), and
    /// the length of the read or of both mates (`100|98`), each followed by a tab.
    #[inline]
    fn put(&self, line: &mut LineText<'_>) {
        line.words(if self.taxon.is_some() { b"C\t" } else { b"U\t" });
        line.words(self.name);
        line.push(b'\t');
        let (taxid, name) = self.taxon.unwrap_or((0, b"unclassified"));
        if self.names {
            line.words(name);
            line.words(b" (taxid ");
            line.number(taxid.into());
            line.push(b')');
        } else {
            line.number(taxid.into());
        }
        line.push(b'\t');
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

    /// Adds a number in decimal.
    #[inline]
    pub fn number(&mut self, number: u64) {
        if number < 1000 {
            return self.first_digits(number);
        }
        let (above, below) = (number / 1000, number % 1000);
        if above < 1000 {
            self.first_digits(above);
        } else {
            self.number_above(above);
        }
        self.word(DIGITS[below as usize], 3);
    }

    /// Writes the upper digits of a number of one million or more.
    fn number_above(&mut self, number: u64) {
        self.number(number);
    }

    /// Adds a number below 1,000.
    #[inline]
    fn first_digits(&mut self, number: u64) {
        let [a, b, c, count] = DIGITS[number as usize];
        let word = u32::from_le_bytes([a, b, c, 0]) >> (24 - 8 * u32::from(count));
        self.word(word.to_le_bytes(), count.into());
    }

    /// Adds the first `count` bytes of a word.
    #[inline]
    fn word(&mut self, word: [u8; 4], count: usize) {
        self.room[self.end..self.end + 4].copy_from_slice(&word);
        self.end += count;
    }
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
            let mut text = b"before\n".to_vec();
            let numbers = numbers.iter().map(|(number, bits)| number >> bits);
            let edges = [0, 9, 10, 99, 100, 999, 1000, 999_999, 1_000_000, u64::MAX];
            let numbers: Vec<u64> = numbers.chain(edges).collect();
            let head = LineHead { name: b"r", taxon: None, names: false, lengths: (7, None) };
            head.append(numbers.len() * NUMBER + 1, &mut text, |line| {
                numbers.iter().for_each(|&number| {
                    line.number(number);
                    line.push(b' ');
                });
                line.push(b'\n');
            });
            let shown: String = numbers.iter().map(|number| format!("{number} ")).collect();
            prop_assert_eq!(String::from_utf8(text).unwrap(), format!("before\nU\tr\t0\t7\t{shown}\n"));
        }
    }
}
