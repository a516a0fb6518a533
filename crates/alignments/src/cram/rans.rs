//! The order-1 rANS codec of CRAM 3.0: four interleaved states, byte-wise renormalisation; the context of a symbol is
//! the symbol before it (CRAM codec specification, section 2).

/// The base-2 logarithm of the sum of normalised frequencies.
const BITS: u32 = 12;
const TOTAL: u32 = 1 << BITS;
/// The lower bound of a state.
const MIN: u32 = 1 << 23;
/// The number of symbols.
const ALL: usize = 256;
/// The minimum length of content, in bytes: the tables outweigh the gain for shorter content.
pub(super) const SHORTEST: usize = 512;

/// An encoder, which keeps its tables to reuse their memory.
pub(super) struct Rans {
    /// The frequency of each symbol after each other symbol; normalised after counting.
    counts: Vec<[u32; ALL]>,
    /// The cumulative frequency before each symbol, for each preceding symbol.
    starts: Vec<[u32; ALL]>,
    /// The encoded bytes, from last to first.
    reversed: Vec<u8>,
}

impl Rans {
    pub(super) fn new() -> Rans {
        let (counts, starts) = (vec![[0; ALL]; ALL], vec![[0; ALL]; ALL]);
        Rans { counts, starts, reversed: Vec::new() }
    }

    /// Appends content of at least [`SHORTEST`] bytes, encoded.
    pub(super) fn pack(&mut self, content: &[u8], out: &mut Vec<u8>) {
        let begin = out.len();
        out.push(1);
        out.extend_from_slice(&[0; 4]);
        out.extend_from_slice(&(content.len() as u32).to_le_bytes());
        self.count(content);
        self.put_tables(out);
        self.encode(content);
        out.extend(self.reversed.iter().rev());
        let packed = (out.len() - begin - 9) as u32;
        out[begin + 1..begin + 5].copy_from_slice(&packed.to_le_bytes());
    }

    /// Counts each symbol by its predecessor. The predecessor of the first symbol of each quarter is 0.
    fn count(&mut self, content: &[u8]) {
        self.counts.iter_mut().for_each(|counts| counts.fill(0));
        let mut last = 0;
        for &symbol in content {
            self.counts[usize::from(last)][usize::from(symbol)] += 1;
            last = symbol;
        }
        let quarter = content.len() / 4;
        for state in 1..4 {
            self.counts[0][usize::from(content[state * quarter])] += 1;
        }
        for (counts, starts) in self.counts.iter_mut().zip(&mut self.starts) {
            normalise(counts);
            let mut start = 0;
            for (own, count) in starts.iter_mut().zip(counts.iter()) {
                *own = start;
                start += count;
            }
        }
    }

    fn put_tables(&self, out: &mut Vec<u8>) {
        let is_there = |context: usize| self.counts[context].iter().any(|&count| count > 0);
        put_symbols(is_there, out, |context, out| {
            let counts = &self.counts[context];
            put_symbols(
                |symbol| counts[symbol] > 0,
                out,
                |symbol, out| {
                    let count = counts[symbol];
                    if count >= 128 {
                        out.push(128 | (count >> 8) as u8);
                    }
                    out.push(count as u8);
                },
            );
        });
    }

    /// Encodes from the last symbol to the first: decoders work in the opposite direction.
    fn encode(&mut self, content: &[u8]) {
        self.reversed.clear();
        let quarter = content.len() / 4;
        let mut states = [MIN; 4];
        let before = |at: usize, state: usize| match at == state * quarter {
            true => 0,
            false => content[at - 1],
        };
        // The last state also encodes the remainder of the division by 4.
        for at in (4 * quarter..content.len()).rev() {
            self.put(&mut states[3], before(at, 3), content[at]);
        }
        for offset in (0..quarter).rev() {
            for state in (0..4).rev() {
                let at = state * quarter + offset;
                self.put(&mut states[state], before(at, state), content[at]);
            }
        }
        for state in states.into_iter().rev() {
            self.reversed.extend_from_slice(&state.to_be_bytes());
        }
    }

    #[inline]
    fn put(&mut self, state: &mut u32, context: u8, symbol: u8) {
        let (context, symbol) = (usize::from(context), usize::from(symbol));
        let (count, start) = (self.counts[context][symbol], self.starts[context][symbol]);
        let most = ((MIN >> BITS) << 8) * count;
        while *state >= most {
            self.reversed.push(*state as u8);
            *state >>= 8;
        }
        *state = ((*state / count) << BITS) + *state % count + start;
    }
}

/// Scales counts to the sum `TOTAL`. Counts that are not zero stay at least 1.
fn normalise(counts: &mut [u32; ALL]) {
    let sum: u64 = counts.iter().map(|&count| u64::from(count)).sum();
    if sum == 0 {
        return;
    }
    // Every symbol with a count gets 1; the remaining frequencies are shared out in proportion.
    let room = u64::from(TOTAL) - counts.iter().filter(|&&count| count > 0).count() as u64;
    for count in counts.iter_mut().filter(|count| **count > 0) {
        *count = (u64::from(*count) * room / sum) as u32 + 1;
    }
    let rest = TOTAL - counts.iter().sum::<u32>();
    if let Some(most) = counts.iter_mut().max() {
        *most += rest;
    }
}

/// Appends the symbols for which `is_there` holds, the data of each, and a terminating zero. Runs of consecutive
/// symbols are abbreviated: the first two are listed, and the second is followed by the number of the others.
fn put_symbols(
    is_there: impl Fn(usize) -> bool,
    out: &mut Vec<u8>,
    mut put: impl FnMut(usize, &mut Vec<u8>),
) {
    let mut run = 0;
    for symbol in (0..ALL).filter(|&symbol| is_there(symbol)) {
        if run > 0 {
            run -= 1;
        } else {
            out.push(symbol as u8);
            if symbol > 0 && is_there(symbol - 1) {
                run = (symbol + 1..ALL).take_while(|&next| is_there(next)).count();
                out.push(run as u8);
            }
        }
        put(symbol, out);
    }
    out.push(0);
}
