//! The text of a line, put together in room that is made once for all of it. Numbers come as words of four
//! bytes, three digits each, of which the first ones count: where a line has half a dozen numbers, most of
//! its time would go into asking for room, and how much is to be copied, for each of them.

/// Bytes that a number takes at most, with what is written behind it.
pub(super) const NUMBER: usize = 24;

/// For each number below 1,000 its three digits, and how many there are without zeros in front.
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

/// A line that is being written.
pub(super) struct LineText<'r> {
    room: &'r mut [u8],
    end: usize,
}

/// Appends a line of up to `most` bytes: [`NUMBER`] for each number, and those of all words.
#[inline]
pub(super) fn append(text: &mut Vec<u8>, most: usize, write: impl FnOnce(&mut LineText<'_>)) {
    let start = text.len();
    text.resize(start + most + NUMBER, 0);
    let mut line = LineText { room: &mut text[start..], end: 0 };
    write(&mut line);
    let end = start + line.end;
    text.truncate(end);
}

impl LineText<'_> {
    /// Adds a character.
    #[inline]
    pub(super) fn push(&mut self, letter: u8) {
        self.room[self.end] = letter;
        self.end += 1;
    }

    /// Adds words.
    #[inline]
    pub(super) fn words(&mut self, words: &[u8]) {
        self.room[self.end..self.end + words.len()].copy_from_slice(words);
        self.end += words.len();
    }

    /// Adds a number in decimal.
    #[inline]
    pub(super) fn number(&mut self, number: u64) {
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

    /// The rare ones.
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

    /// Adds so many bytes of a word.
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
            append(&mut text, numbers.len() * NUMBER + 3, |line| {
                line.words(b"C\t");
                numbers.iter().for_each(|&number| {
                    line.number(number);
                    line.push(b' ');
                });
                line.push(b'\n');
            });
            let shown: String = numbers.iter().map(|number| format!("{number} ")).collect();
            prop_assert_eq!(String::from_utf8(text).unwrap(), format!("before\nC\t{shown}\n"));
        }
    }
}
