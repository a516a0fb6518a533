//! rANS as CRAM 3.0 has it: four states in turn, a byte at a time, each symbol by the one before it
//! (CRAM codec specification, section 2, order 1).

/// Frequencies add up to at most 2 to this power.
const BITS: u32 = 12;
const TOTAL: u32 = 1 << BITS;
/// The least value of a state.
const LEAST: u32 = 1 << 23;
/// Symbols.
const ALL: usize = 256;
/// Content with fewer bytes is not worth the tables.
pub(super) const SHORTEST: usize = 512;

/// Packs contents.
pub(super) struct Rans {
    /// How often each symbol follows each other one, then these normalised,
    counts: Vec<[u32; ALL]>,
    /// and where each begins.
    starts: Vec<[u32; ALL]>,
    /// The states' bytes, from last to first.
    reversed: Vec<u8>,
}

impl Rans {
    pub(super) fn new() -> Rans {
        let (counts, starts) = (vec![[0; ALL]; ALL], vec![[0; ALL]; ALL]);
        Rans { counts, starts, reversed: Vec::new() }
    }

    /// Appends content of at least [`SHORTEST`] bytes.
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

    /// Counts symbols behind each other one. Each quarter begins as if behind a zero.
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

    /// Encodes from the last symbol to the first, as decoders go the other way.
    fn encode(&mut self, content: &[u8]) {
        self.reversed.clear();
        let quarter = content.len() / 4;
        let mut states = [LEAST; 4];
        let before = |at: usize, state: usize| match at == state * quarter {
            true => 0,
            false => content[at - 1],
        };
        // The last state has what four do not divide.
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
        let most = ((LEAST >> BITS) << 8) * count;
        while *state >= most {
            self.reversed.push(*state as u8);
            *state >>= 8;
        }
        *state = ((*state / count) << BITS) + *state % count + start;
    }
}

/// Makes counts add up to the total, each that is not zero at least 1.
fn normalise(counts: &mut [u32; ALL]) {
    let sum: u64 = counts.iter().map(|&count| u64::from(count)).sum();
    if sum == 0 {
        return;
    }
    // Those that would be 0 are 1, which takes at most so many from the others.
    let room = u64::from(TOTAL) - counts.iter().filter(|&&count| count > 0).count() as u64;
    for count in counts.iter_mut().filter(|count| **count > 0) {
        *count = (u64::from(*count) * room / sum) as u32 + 1;
    }
    let rest = TOTAL - counts.iter().sum::<u32>();
    if let Some(most) = counts.iter_mut().max() {
        *most += rest;
    }
}

/// Appends the symbols that are there, what is said of each, and a zero. Of neighbours the third and
/// those behind it are told by their number.
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
