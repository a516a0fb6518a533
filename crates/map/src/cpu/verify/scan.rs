//! Verification by scanning the text with bit vectors that have a bit for each base of the query (Myers, 1999).
//! It handles any query, window and letters.

use merganser_run::Cancel;

use super::{End, Window};
use crate::NMode;
use crate::queries::Query;
use crate::reference::Text;

/// Working space of one thread.
#[derive(Debug, Default)]
pub(crate) struct Scan {
    /// The bases of the query that match a letter of the text, by the letter's code, then by word.
    equal: Vec<u64>,
    up: Vec<u64>,
    down: Vec<u64>,
    cancel: Cancel,
}

/// The number of words that are computed between two checks for cancellation: a few milliseconds.
const WORDS: usize = 1 << 20;

impl Scan {
    /// Creates a scan that checks `cancel`. After a cancellation, ends are missing.
    pub(crate) fn of_run(cancel: &Cancel) -> Scan {
        Scan { cancel: cancel.clone(), ..Scan::default() }
    }

    /// Appends the good ends of a window, contig by contig.
    pub(crate) fn ends(
        &mut self,
        number: u32,
        query: &Query<'_>,
        window: &Window,
        text: &Text<'_>,
        mode: NMode,
        ends: &mut Vec<End>,
    ) {
        let [from, to] = window.reach(query);
        let bounds = window.ends(query);
        self.load(query, mode);
        let mut contig = text.contig_at(from);
        while let Some(within) = text.contigs.get(contig).filter(|c| i64::from(c.start) < to) {
            let start = from.max(i64::from(within.start)) as usize;
            let end = to.min(i64::from(within.end())).max(0) as usize;
            let mut found = |position: usize, edits: usize| {
                if (bounds[0]..bounds[1]).contains(&(position as i64)) {
                    let (position, edits) = (position as u32, edits as u32);
                    ends.push(End { query: number, position, edits });
                }
            };
            if start < end {
                self.run(query, text, start, end, &mut found);
            }
            contig += 1;
        }
    }

    fn load(&mut self, query: &Query<'_>, mode: NMode) {
        let words = query.low.len();
        self.equal.clear();
        self.equal.resize(5 * words, 0);
        for word in 0..words {
            let kept = u64::MAX >> (64 - (query.len - 64 * word).min(64));
            let (low, high) = (query.low[word], query.high[word]);
            let others = query.others.get(word).copied().unwrap_or(0);
            let of_base = [!low & !high, low & !high, !low & high, low & high];
            for (code, bits) in of_base.into_iter().enumerate() {
                let bits = if mode == NMode::Match { bits | others } else { bits & !others };
                self.equal[code * words + word] = bits & kept;
            }
            self.equal[4 * words + word] = if mode == NMode::Match { kept } else { 0 };
        }
    }

    /// Calls `found` with each good end of the text from `start` to `end`.
    fn run(
        &mut self,
        query: &Query<'_>,
        text: &Text<'_>,
        start: usize,
        end: usize,
        found: &mut impl FnMut(usize, usize),
    ) {
        let words = query.low.len();
        self.up.clear();
        self.up.resize(words, u64::MAX);
        self.down.clear();
        self.down.resize(words, 0);
        let last = 1u64 << ((query.len - 1) % 64);
        let mut score = query.len;
        let stretch = (WORDS / words).max(1);
        for position in start..end {
            if (position - start).is_multiple_of(stretch) && self.cancel.is_cancelled() {
                return;
            }
            let code = usize::from(text.code(position));
            let equal = &self.equal[code * words..(code + 1) * words];
            let (mut less, mut more) = (0, 0);
            for (word, &equal) in equal.iter().enumerate() {
                let (up, down) = (self.up[word], self.down[word]);
                let with = equal | less;
                let zero = ((with & up).wrapping_add(up) ^ up) | with | down;
                let (mut plus, mut minus) = (down | !(zero | up), zero & up);
                if word + 1 == words {
                    score += usize::from(plus & last != 0);
                    score -= usize::from(minus & last != 0);
                }
                let (plus_out, minus_out) = (plus >> 63, minus >> 63);
                plus = plus << 1 | more;
                minus = minus << 1 | less;
                self.up[word] = minus | !(zero | plus);
                self.down[word] = plus & zero;
                (less, more) = (minus_out, plus_out);
            }
            if score <= query.edits {
                found(position, score);
            }
        }
    }
}
